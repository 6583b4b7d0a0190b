"""Deals played up to the first lead by the neutral caller, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.caller import Calling, NeutralCaller
from lupai.agents.streams import decision_numbers
from lupai.envs.baohuang.state import Solo
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

__all__ = ["Calling", "call_hands", "grabbed", "secret_guard", "secretly_alone"]

I64 = npt.NDArray[np.int64]

Step = Callable[[I64, I64, Any], None]  # action ids, table numbers, their legal moves


def call_hands(engine: Game, state: Any, calling: Calling, step: Step | None = None) -> None:
    """Let the neutral caller play all tables up to the first lead, in place.

    Args:
        state: tables as dealt.
        calling: which caller.
        step: plays the moves; ``engine.step`` if None.
    """
    caller, playing = NeutralCaller(calling), engine.phases.index("play")
    while (rows := np.flatnonzero(state.phase < playing)).size:
        views = Views(engine, state, state.actor[rows].astype(np.intp), rows)
        actions = caller.choose(views, state.seeds[rows, 0], decision_numbers(state, rows))
        if step is None:
            engine.step(state, actions, rows, legal=views.legal)
        else:
            step(actions, rows, views.legal)


def secret_guard(state: Any) -> npt.NDArray[np.bool_]:
    """``[B]``: there is a guard, and the others do not know who it is."""
    found: npt.NDArray[np.bool_] = (state.guard != NOBODY) & (state.public == 0)
    return found


def secretly_alone(state: Any) -> npt.NDArray[np.bool_]:
    """``[B]``: the emperor is alone, and the others do not know it."""
    found: npt.NDArray[np.bool_] = (state.solo == Solo.SECRET) & (state.public == 0)
    return found


def grabbed(state: Any) -> npt.NDArray[np.bool_]:
    """``[B]``: the emperor has grabbed the crown."""
    found: npt.NDArray[np.bool_] = state.solo == Solo.GRAB
    return found
