"""Files that appear whole or not at all; every module of lupai.train writes through here."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["sync_folder", "write_whole", "writing_whole"]


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write bytes to, which replaces ``path`` in one step at the end.

    They go to a hidden file beside it and are on the disk before it is renamed. An old file keeps
    its permissions, a new one gets those of the umask. After an error the old file is as it was.
    """
    old = path.stat() if path.exists() else None
    new = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}")
    # Not tempfile, which makes private files: to undo that, the umask would have to be set.
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            os.chmod(new, stat.S_IMODE(old.st_mode))
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file in one step; text as UTF-8."""
    with writing_whole(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def sync_folder(folder: Path) -> None:
    """Wait until all files below a folder are on the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
