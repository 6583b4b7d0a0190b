"""Lock files that the operating system takes from a process that dies."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Literal

try:
    import fcntl
except ImportError:  # Windows: nobody is kept out there
    fcntl = None  # type: ignore[assignment]

__all__ = ["holder", "lock_state", "now", "take_lock", "write_lock"]


def take_lock(path: Path) -> tuple[int, bytes] | None:
    """Lock a file, which is made if it is not there, and write into it who has it.

    Returns:
        The open file, to be closed when the lock is given back, and what stood in it, nothing if
        it was not there; None if somebody else has it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:  # whoever had it has removed its folder just now
        return None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it may have removed the file after we opened it.
        there = os.path.samestat(os.stat(path), os.fstat(handle))
    except OSError:  # held, or removed just now
        there = False
    if not there:
        os.close(handle)
        return None
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": now()}
    before = os.read(handle, 1 << 16)
    write_lock(handle, (json.dumps(who) + "\n").encode())
    return handle, before


def write_lock(handle: int, content: bytes) -> None:
    """Replace what stands in a lock file that is held."""
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, content)


def lock_state(path: Path) -> Literal["free", "held", "left"]:
    """Whether a lock file is not there, is held, or was left by a process that died."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return "free"
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return "held"
    finally:
        os.close(handle)
    return "left"


def holder(path: Path) -> dict[str, Any]:
    """``pid``, ``host`` and ``since`` of whoever took the lock last, as far as known."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def now() -> str:
    """This moment, UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
