"""What every trainer does around its own algorithm: opponents, an imitated agent, windows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lupai.agents.base import Agent
from lupai.train.checkpoints import Saved
from lupai.train.config import TrainConfig
from lupai.train.export import AgentPart
from lupai.train.league.coach import League
from lupai.train.league.frozen import pack
from lupai.train.learning.windows import Windows
from lupai.train.run_folder import Progress

__all__ = ["CoachedTrainer"]


class CoachedTrainer:
    """Base of the trainers; see :class:`~lupai.train.loop.Trainer`.

    Args:
        config: the run.
        progress: its counters.
        coach: looks after its opponents; None: there are none.
        teacher: whom it imitates; None: nobody, or not any more.
    """

    def __init__(
        self, config: TrainConfig, progress: Progress, coach: League | None, teacher: Agent | None
    ) -> None:
        self._config, self._progress, self._coach = config, progress, coach
        self._teacher = None if teacher is None else pack(teacher)
        self._imitates = False
        self._windows = Windows()

    def _take_turn(self, steps: int) -> None:
        """Note who plays the hands that are counted next: those after ``steps`` decisions."""
        imitates = steps < self._config.imitation.steps
        if self._windows.taught and not imitates:
            self._windows.forget_hands()  # they were the imitated agent's
        self._imitates = self._windows.taught = imitates

    def after(self, progress: Progress) -> dict[str, float]:
        """Scores against opponents, snapshots, gates; see :class:`~lupai.train.loop.Trainer`."""
        if self._coach is None:
            return {}
        begin = time.monotonic()
        row = self._coach.after(self, progress, self._imitates)
        return row | {"time/league": time.monotonic() - begin}

    def _parts(self, name: str, state: Saved) -> Mapping[str, Saved]:
        """The agent's folder, the algorithm's own ``state``, the windows, and the league."""
        parts: dict[str, Saved] = {
            "agent": AgentPart(self, self._progress),
            name: state,
            "windows": self._windows,
        }
        return parts if self._coach is None else parts | {"league": self._coach}

    def each_sampler(self, function: Callable[[Any], Any]) -> list[Any]:
        """See :class:`~lupai.train.league.coach.Learner`."""
        raise NotImplementedError

    def write_agent(self, folder: Path, progress: Progress) -> None:
        """See :class:`~lupai.train.league.coach.Learner`."""
        raise NotImplementedError
