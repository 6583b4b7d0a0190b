"""Signals that end a training loop cleanly, and processes that do not hear them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

__all__ = ["held", "starting", "stop_signals"]


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


@contextmanager
def held(*numbers: signal.Signals) -> Iterator[None]:
    """These signals wait until the end; a process started here never hears them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def starting(*numbers: signal.Signals) -> Iterator[None]:
    """What a process started here inherits: none of these signals, and one thread for linear
    algebra where ``OMP_NUM_THREADS`` says nothing else."""
    resource_tracker.ensure_running()  # started with the first process, it would undo the mask
    threads = os.environ.get("OMP_NUM_THREADS")
    with held(*numbers):
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # busy processes are slow with more
        try:
            yield
        finally:
            if threads is None:
                os.environ.pop("OMP_NUM_THREADS", None)
