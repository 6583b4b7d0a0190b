"""Files that appear whole or not at all; every module of lupai.train writes through here."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["sync_folder", "sync_names", "write_whole", "writing_folder", "writing_whole"]


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write bytes to, which replaces ``path`` in one step at the end.

    They go to a hidden file beside it and are on the disk before it is renamed. An old file keeps
    its permissions, a new one gets those of the umask. After an error the old file is as it was.
    """
    old = path.stat() if path.exists() else None
    new = _beside(path)
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


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """A name beside ``path`` to make a folder under, which becomes ``path`` at the end.

    All of it is on the disk before it is renamed. An old ``path`` is moved aside first and then
    removed; after an error it is as it was. The folder above is made if needed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new, old = _beside(path), _beside(path)
    try:
        yield new
        sync_folder(new)
        if path.exists():
            path.rename(old)
        try:
            new.rename(path)
        except BaseException:
            if old.exists():
                old.rename(path)
            raise
        sync_names(path.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until a folder with all that is below it is on the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        elif path.is_dir():
            sync_names(path)
    sync_names(folder)


def sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can tell."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems
            raise
    finally:
        os.close(handle)


def _beside(path: Path) -> Path:
    """A hidden name in the same folder that is not taken."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}")
