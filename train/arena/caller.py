"""The neutral caller: plays everything before the first lead, the same for all sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ACTIONS, VERB_ID
from lupai.envs.baohuang.state import Solo
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

__all__ = ["Calling", "NeutralCaller", "call_hands"]

Calling = Literal["neutral", "solo", "grab"]
CALLER_KEY: Final = np.uint64(0x6C7570616963616C)  # its draws are no agent's and no deal's

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


class NeutralCaller:
    """Plays everything before the first lead in formats where camps are given.

    It never grabs, calls a card that it holds three times (uniformly among those), cedes if it has
    none, goes solo only where the rules leave it no other call, and never declares. Its draws
    depend on the deal alone.

    Args:
        calling: ``neutral``, or one of two that differ in one thing: with ``solo`` the emperor
            secretly plays alone where his cards and the rules let him, with ``grab`` one seat,
            drawn by the deal, grabs the crown.
    """

    def __init__(self, calling: Calling = "neutral") -> None:
        self._grab = calling == "grab"
        order = np.full(ACTIONS.size, 2, dtype=np.int8)
        for name in ("decline", "silent", "keep", "refuse"):
            order[VERB_ID[name]] = 0
        order[VERB_ID["cede"]] = 1
        for name in ("grab", "declare", "solo"):
            order[VERB_ID[name]] = 3
        start = ACTIONS.offsets["call"]
        order[start : start + 54] = 0
        if calling == "solo":
            start = ACTIONS.offsets["call_secret"]
            order[start : start + 54] = -1
        self._order = order

    def choose(self, views: Views, hand_seeds: U64, moves: npt.NDArray[np.integer]) -> I64:
        """Action ids ``[N]`` for decisions of the deals ``hand_seeds [N]`` after ``moves [N]``."""
        ids, offsets = views.legal.ids()
        rows = np.repeat(np.arange(len(hand_seeds)), np.diff(offsets))
        words = _mix(hand_seeds.astype(np.uint64) ^ CALLER_KEY)
        order = self._order[ids]
        if self._grab:
            grabs = views.seats == (_mix(words) % np.uint64(views.engine.seats)).astype(np.int64)
            order[(ids == VERB_ID["grab"]) & grabs[rows]] = -1
        good = np.flatnonzero(order == np.minimum.reduceat(order, offsets[:-1])[rows])
        count = np.bincount(rows[good], minlength=len(hand_seeds))
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        draw = _mix(words + moves.astype(np.uint64))
        pick = first + (draw % count.astype(np.uint64)).astype(np.int64)
        return np.asarray(ids[good[pick]], dtype=np.int64)


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
        # a void deal is dealt anew: its number of redeals makes its draws others
        moves = state.moves[rows].astype(np.int64) + (state.redeals[rows].astype(np.int64) << 20)
        actions = caller.choose(views, state.seeds[rows, 0], moves)
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


def _mix(x: U64) -> U64:
    """SplitMix64's finaliser."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
