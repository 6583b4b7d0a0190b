"""Deals of Baohuang played up to the first lead by the neutral caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from lupai.agents.caller import Calling, NeutralCaller
from lupai.agents.streams import decision_numbers
from lupai.envs.game import Game
from lupai.envs.view import Views

__all__ = ["CALLINGS", "Calling", "call_hands"]

CALLINGS: Final[tuple[str, ...]] = get_args(Calling)

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
