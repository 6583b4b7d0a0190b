"""Files whose digest is known: read whole, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lupai.envs.errors import LupaiError

__all__ = ["read_verified"]


def read_verified(
    path: Path, sha256: str, *, told_by: str, owner: str, error: type[LupaiError]
) -> bytes:
    """A file's content.

    Args:
        path: of the file. sha256: hex digest that it has to have.
        told_by: name of the file that tells the digest. owner: whose file it is.
        error: what is raised.

    Raises:
        LupaiError: of the class ``error``; it cannot be read, or is another file.
    """
    try:
        content = path.read_bytes()
    except OSError as failed:
        raise error(f"{path}: cannot be read ({failed.strerror}); copy it again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise error(
            f"{path}: {len(content)} bytes with SHA-256 {found[:12]}…, but {told_by} says "
            f"{sha256[:12]}…; the file is damaged or from another {owner}: copy the folder again"
        )
    return content
