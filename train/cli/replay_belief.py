"""``lupai replay --belief``: what predictors say of who is guard, step by step, as text or bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lupai.agents.belief import (
    HandViews,
    Predictor,
    PublicLog,
    ask_predictor,
    load_predictor,
)
from lupai.agents.belief.base import ALONE, CLASSES
from lupai.envs.baohuang.state import Solo
from lupai.envs.errors import RecordError
from lupai.envs.replay import Replay
from lupai.envs.seats import NOBODY
from lupai.train.belief.decisions import joined
from lupai.train.cli.words import Words, clean, flow

__all__ = ["Beliefs", "beliefs_of", "load_all"]


@dataclass(frozen=True)
class Beliefs:
    """Chances over a hand.

    Attributes:
        steps: ``[n]`` numbers of the steps at which the viewer does not know who is guard.
        chances: ``[n, 6]`` by name of the predictor.
        emperor: seat; -1 where there is no such step.
        label: WARNING, god's eye: the true class; -1 where there is no such step.
    """

    steps: npt.NDArray[np.int64]
    chances: dict[str, npt.NDArray[np.float64]]
    emperor: int
    label: int

    def lines(self, number: int, words: Words) -> list[str]:
        """What is said at a step, a line for each predictor; none where nothing is to be said."""
        at = np.flatnonzero(self.steps == number)
        if not at.size:
            return []
        out = []
        for name, rows in self.chances.items():
            row = rows[at[0]]
            parts = [
                f"{words('belief_nobody') if c == ALONE else words('seat', c)} {100 * row[c]:.0f} %"
                for c in range(CLASSES)
                if c != self.emperor and row[c] > 0
            ]
            out += flow([words("belief", clean(name)), *parts], indent="", gap="  ")
        return out

    def bars(self, seat: int | None) -> dict[int, list[list[float | None]]]:
        """By number of the step: for each predictor the six chances, in thousandths; None for who
        does not come into question: the emperor, the viewer ``seat``, and for an emperor nobody."""
        barred = {self.emperor, seat, ALONE if seat == self.emperor else None}
        rounded = np.stack(list(self.chances.values()), axis=1).round(3)
        return {
            int(step): [
                [None if c in barred else value for c, value in enumerate(row)] for row in rows
            ]
            for step, rows in zip(self.steps, rounded.tolist(), strict=True)
        }


def load_all(names: Sequence[str], rules: str) -> dict[str, Predictor]:
    """Predictors by their own names, or where two are called alike by those that are given.

    Raises:
        BeliefError: one that is not there, or of other rules.
    """
    predictors = [load_predictor(name, rules) for name in names]
    called = [predictor.name for predictor in predictors]
    if len(set(called)) == len(called):  # shorter than the folders they came from
        names = called
    return dict(zip(names, predictors, strict=True))


def beliefs_of(replay: Replay, predictors: Mapping[str, Predictor], seat: int | None) -> Beliefs:
    """Ask predictors about a hand.

    Args:
        replay: the hand.
        predictors: by the names that are shown, from :func:`load_all`.
        seat: whose view; None: a spectator's.

    Raises:
        BeliefError: a predictor says no chances.
        RecordError: a move of the record that cannot be read.
    """
    steps = [step for step in replay.steps if _open(step.state, seat)]
    numbers = np.array([step.number for step in steps], np.int64)
    if not steps:
        return Beliefs(
            numbers, {name: np.zeros((0, CLASSES)) for name in predictors}, NOBODY, NOBODY
        )
    last = steps[-1].number
    texts = [str(step.public) for step in replay.steps[1 : last + 1]]
    if any(int(step.state.moves[0]) != step.number for step in steps):
        raise RecordError("the steps of the hand are not its moves")
    views = HandViews(
        replay.engine,
        joined([step.state for step in steps]),
        NOBODY if seat is None else seat,
        hand=np.zeros(len(steps), np.intp),
        log=PublicLog.of_texts(replay.engine, [texts]),
        texts=[texts],
    )
    state = steps[-1].state
    guard = int(state.guard[0])
    return Beliefs(
        numbers,
        {name: ask_predictor(predictor, views) for name, predictor in predictors.items()},
        int(state.emperor[0]),
        ALONE if guard == NOBODY else guard,
    )


def _open(state: object, seat: int | None) -> bool:
    """Whether somebody is asked, there is a hidden role, and the viewer does not know it."""
    emperor, guard, solo, public, over = (
        int(getattr(state, name)[0]) for name in ("emperor", "guard", "solo", "public", "over")
    )
    secret = solo == Solo.SECRET
    if over or public or emperor == NOBODY or (guard == NOBODY and not secret):
        return False
    return seat is None or not (seat == guard or (secret and seat == emperor))
