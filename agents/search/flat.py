"""Flat Monte-Carlo: every candidate in the same worlds, the worse ones dropped on the way.

Several decisions go through side by side, so that a step and a look through the network serve all
of them. What comes out for one depends on its own draws only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.search import imagine
from lupai.agents.search.imagine import F64, Decision
from lupai.agents.search.judge import Judge
from lupai.agents.search.options import Options
from lupai.envs.baohuang.state import State

DROP: Final = 2.5  # standard errors behind the best at which a candidate is dropped
_TABLES: Final = 8192  # that are stepped at once


def choose(
    engine: Any,
    decisions: Sequence[Decision],
    judge: Judge,
    options: Options,
    more: Callable[[], bool],
) -> list[int]:
    """Places of the best among each decision's candidates.

    Args:
        more: whether there is time for another block of worlds.
    """
    races = [_Race(decision, options) for decision in decisions]
    while running := [race for race in races if race.winner is None]:
        group: list[_Race] = []
        tables = 0
        for race in running:
            group.append(race)
            tables += race.next * len(race.alive)
            if tables >= _TABLES:
                _run(engine, group, judge)
                group, tables = [], 0
        if group:
            _run(engine, group, judge)
        late = not more()
        for race in running:
            race.settle(engine.rules, late)
    return [race.winner or 0 for race in races]


def _run(engine: Any, group: list[_Race], judge: Judge) -> None:
    """One block of worlds for each of some races."""
    drawn = [imagine.draw(engine, race.decision, race.next) for race in group]
    worlds = imagine.join(drawn)
    rows, actions, starts = [], [], [0]
    first = 0
    for race, own in zip(group, drawn, strict=True):
        rows.append(np.tile(np.arange(first, first + len(own)), len(race.alive)))
        actions.append(np.repeat(race.decision.candidates[race.alive], len(own)))
        first += len(own)
        starts.append(starts[-1] + len(rows[-1]))
    state: State = worlds.take(np.concatenate(rows))
    engine.step(state, np.concatenate(actions))
    lanes = [
        race.decision.rng.integers(1 << 40) + np.arange(len(own) * len(race.alive))
        for race, own in zip(group, drawn, strict=True)
    ]
    scores = judge.scores(state, np.concatenate(lanes))
    for i, (race, own) in enumerate(zip(group, drawn, strict=True)):
        mine = scores[starts[i] : starts[i + 1], race.decision.seat]
        race.add(mine.reshape(len(race.alive), len(own)), imagine.guards(own))


class _Race:
    """Candidates of one decision.

    Attributes:
        alive: places of the candidates that are still looked at.
        next: worlds of the next block.
        winner: place of the chosen one, when it is known.
    """

    def __init__(self, decision: Decision, options: Options) -> None:
        self.decision, self.options = decision, options
        self.alive = np.arange(len(decision.candidates))
        self.winner: int | None = None
        self._values: list[list[F64]] = [[] for _ in self.alive]
        self._guards: list[npt.NDArray[np.intp]] = []
        self._left = options.simulations
        self._plan()

    def _plan(self) -> None:
        self.next = self.options.worlds
        if self.options.milliseconds is None:
            self.next = min(self.next, max(2, self._left // len(self.alive)))

    def add(self, values: F64, guard: npt.NDArray[np.intp]) -> None:
        """Scores ``[alive, worlds]`` of a block."""
        for place, row in zip(self.alive, values, strict=True):
            self._values[place].append(row)
        self._guards.append(guard)
        self._left -= values.size

    def settle(self, rules: Any, late: bool) -> None:
        """Drop what is behind; name the winner when simulations or time are used up."""
        table = np.stack([np.concatenate(self._values[place]) for place in self.alive])
        weight = imagine.weights(
            rules, self.decision, np.concatenate(self._guards), self.options.role_belief
        )
        prior = self.decision.prior[self.alive]
        top, gap, error = compare(table, weight, prior)
        timed = self.options.milliseconds is not None
        if late or (not timed and self._left < 2 * len(self.alive)):
            first = self.alive[0] == 0 and gap[0] < self.options.sure * error[0]
            self.winner = 0 if first else int(self.alive[top])
            return
        keep = gap <= DROP * error
        keep[top] = True
        self.alive = self.alive[keep]
        if len(self.alive) == 1:
            self.winner = int(self.alive[0])
        else:
            self._plan()


def compare(table: F64, weight: F64, prior: F64) -> tuple[int, F64, F64]:
    """The best row of ``[K, W]`` scores in the same W worlds, by how much each row's mean is below
    it, ``[K]``, and the standard errors of that. Points ``prior [K]`` are added to the means."""
    total = weight.sum()
    top = int(((table * weight).sum(axis=1) / total + prior).argmax())
    delta = table[top] - table
    gap = (delta * weight).sum(axis=1) / total
    spread = ((delta - gap[:, None]) ** 2 * weight**2).sum(axis=1)
    return top, gap + prior[top] - prior, np.sqrt(spread) / total
