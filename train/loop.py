"""The loop around any trainer: count, watch, log, save, stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TextIO

from lupai.agents.base import Agent
from lupai.train.checkpoints import (
    Saved,
    mark_best,
    read_best,
    restore_parts,
    save_checkpoint,
    writing,
)
from lupai.train.monitor import Monitor
from lupai.train.run_folder import Progress, Start
from lupai.train.watch import Watch

__all__ = ["Trainer", "train_loop"]


class Trainer(Protocol):
    """An algorithm: what the loop asks of it."""

    def train(self) -> dict[str, float]:
        """One iteration.

        Returns:
            Its metrics under stable names; ``steps`` and ``hands`` count this iteration alone.
        """

    def after(self, progress: Progress) -> dict[str, float]:
        """What follows an iteration and is no training, such as measuring; its metrics.

        Args:
            progress: counters, that iteration among them; no minutes are added for this.
        """

    def agent(self) -> Agent:
        """The policy as it is now, playing its most probable moves."""

    def parts(self) -> Mapping[str, Saved]:
        """What a checkpoint holds, by name; ``agent`` is a folder that plays without the rest."""

    def close(self) -> None:
        """Give everything back."""


def train_loop(
    trainer: Trainer,
    start: Start,
    stopped: Callable[[], bool],
    out: TextIO | None = None,
    begin: Callable[[], None] | None = None,
) -> None:
    """Train until a limit of ``config.stop``, or until ``stopped()``; the state is saved then.

    Args:
        trainer: the algorithm, as built anew.
        start: the run, its folder, counters, which are counted on, and checkpoint.
        stopped: asked after each iteration.
        out: where the progress bar goes; None: stderr.
        begin: writes that it begins, as ``start.commit``, which it is by default; called when the
            checkpoint is restored and nothing can refuse the run any more.

    Raises:
        TrainingError: an iteration failed, the folder cannot be written, or the checkpoint cannot
            be read; then the folder is as it was.
    """
    config, path, progress = start.config, start.path, start.progress
    watch = Watch(config)
    parts = {**trainer.parts(), "watch": watch}
    if start.checkpoint is not None:
        restore_parts(start.checkpoint, parts)
        watch.best = read_best(path)
    with writing(path):
        (begin or start.commit)()
    saved, saved_at = progress.iteration, time.monotonic()
    with Monitor(path, config, progress, out) as monitor:
        while progress.share(config) < 1 and not stopped():
            row = _iteration(trainer, progress)
            row |= trainer.after(progress)
            improved = False
            if watch.due(progress.iteration, progress.share(config) >= 1):
                row |= watch.measure(trainer.agent())
                improved = watch.improved
            monitor.write(_rounded(row), watch.warnings(row))
            late = time.monotonic() - saved_at >= 60 * config.checkpoint.every_minutes
            if improved or late:
                made = save_checkpoint(path, config, progress, parts)
                saved, saved_at = progress.iteration, time.monotonic()
                if improved:
                    mark_best(path, made, watch.best)
        if saved != progress.iteration or progress.iteration == 0:
            save_checkpoint(path, config, progress, parts)


def _iteration(trainer: Trainer, progress: Progress) -> dict[str, float]:
    """Metrics of one iteration; counts ``progress`` on."""
    start = time.monotonic()
    row = trainer.train()
    seconds = time.monotonic() - start
    steps = int(row.pop("steps"))
    progress.iteration += 1
    progress.steps += steps
    progress.hands += int(row.pop("hands"))
    progress.minutes += seconds / 60
    counters = {
        "iteration": progress.iteration,
        "steps": progress.steps,
        "hands": progress.hands,
        "minutes": progress.minutes,
        "time/seconds": seconds,
        "time/steps_per_second": steps / seconds,
    }
    return counters | row


def _rounded(row: dict[str, float]) -> dict[str, float]:
    return {k: v if isinstance(v, int) else round(float(v), 6) for k, v in row.items()}
