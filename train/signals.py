"""Signals that end a training loop cleanly."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["stop_signals"]


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM end the loop after the running iteration; a second one ends it at once.

    Where there is a Ray it is entered after ``ray.init``, which puts its own handler in place.
    """
    seen: list[int] = []

    def handle(number: int, frame: Any) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)
        print("\nstopping after this iteration; once more to stop at once", file=sys.stderr)

    old = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            old[number] = signal.signal(number, handle)
        except ValueError:  # not in the main thread: whoever runs us there handles signals
            break
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
