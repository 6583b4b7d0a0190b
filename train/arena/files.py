"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file in one step; text as UTF-8."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with open(new, "wb") as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
