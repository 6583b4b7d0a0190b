"""What surrounds a training loop: a Ray of its own, and signals that end it cleanly."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lupai.train.config import TrainConfig

__all__ = ["ray_session", "stop_signals"]


@contextmanager
def ray_session(config: TrainConfig) -> Iterator[None]:
    """A Ray of its own that leaves no process and no file behind; or the one that runs already."""
    # Both before torch and Ray are imported; see lupai.train.rllib for the reason.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    import torch

    # Where torch was imported before us the variable came too late; this works at any time.
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if ray.is_initialized():
        yield
        return
    # Short, because Ray puts sockets below it, whose paths may have 107 letters.
    scratch = tempfile.mkdtemp(prefix="lupai-")
    try:
        ray.init(
            num_cpus=config.workers.cpus or max(os.cpu_count() or 1, config.workers.runners + 1),
            include_dashboard=False,
            object_store_memory=config.workers.object_store_mb * 1_000_000,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=scratch,
        )
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM end the loop after the running iteration; a second one ends it at once.

    Entered after ``ray.init``, which puts its own handler in place.
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
