"""``lupai replay --belief``: what predictors say of who is guard, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lupai.agents.belief import HandViews, PublicLog, ask_predictor, load_predictor
from lupai.agents.belief.base import ALONE, CLASSES
from lupai.envs.baohuang.state import Solo
from lupai.envs.errors import RecordError
from lupai.envs.replay import Replay
from lupai.envs.seats import NOBODY
from lupai.train.belief.decisions import joined
from lupai.train.cli.words import Words, clean, flow

__all__ = ["Beliefs", "beliefs_of"]


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


def beliefs_of(replay: Replay, names: Sequence[str], seat: int | None) -> Beliefs:
    """Ask predictors about a hand.

    Args:
        replay: the hand.
        names: of the predictors.
        seat: whose view; None: a spectator's.

    Raises:
        BeliefError: a predictor that is not there, of other rules, or that says no chances.
        RecordError: a move of the record that cannot be read.
    """
    predictors = [load_predictor(name, str(replay.engine.rules)) for name in names]
    called = [predictor.name for predictor in predictors]
    if len(set(called)) == len(called):  # shorter than the folders they came from
        names = called
    steps = [step for step in replay.steps if _open(step.state, seat)]
    numbers = np.array([step.number for step in steps], np.int64)
    if not steps:
        return Beliefs(numbers, {name: np.zeros((0, CLASSES)) for name in names}, NOBODY, NOBODY)
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
        {
            name: ask_predictor(predictor, views)
            for name, predictor in zip(names, predictors, strict=True)
        },
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
