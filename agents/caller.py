"""A neutral caller: plays everything before the first lead where roles shall not depend on players.

Matches by camps and the single-agent environment with a role use it.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, VERB_ID
from lupai.envs.deals import GAMMA, mix
from lupai.envs.view import Views

__all__ = ["Calling", "NeutralCaller"]

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
        return self.pick(ids, offsets, views.seats, hand_seeds, moves, views.engine.seats)

    def chances(self, views: Views, actions: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """Chance ``[N]`` of each action over all deals with what the seats see: those that it draws
        among are as likely. Of the calling ``neutral``."""
        ids, offsets = views.legal.ids()
        good = _first(self._order[ids], offsets)
        rows = np.repeat(np.arange(len(views)), np.diff(offsets))
        hit = good & (ids == np.asarray(actions)[rows])
        share: npt.NDArray[np.float64] = np.add.reduceat(hit, offsets[:-1], dtype=np.float64)
        return share / np.add.reduceat(good, offsets[:-1], dtype=np.float64)

    def pick(
        self,
        ids: npt.NDArray[np.int32],
        offsets: I64,
        seats: npt.NDArray[np.integer],
        hand_seeds: U64,
        moves: npt.NDArray[np.integer],
        players: int,
    ) -> I64:
        """The same from ragged legal ids and the asked ``seats [N]`` of so many players, which are
        all that it looks at."""
        rows = np.repeat(np.arange(len(hand_seeds)), np.diff(offsets))
        words = mix((hand_seeds.astype(np.uint64) ^ CALLER_KEY) + GAMMA)
        order = self._order[ids]
        if self._grab:
            grabs = seats == (mix(words + GAMMA) % np.uint64(players)).astype(np.int64)
            order[(ids == VERB_ID["grab"]) & grabs[rows]] = -1
        good = np.flatnonzero(_first(order, offsets))
        count = np.bincount(rows[good], minlength=len(hand_seeds))
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        draw = mix(words + moves.astype(np.uint64) + GAMMA)
        place = first + (draw % count.astype(np.uint64)).astype(np.int64)
        return np.asarray(ids[good[place]], dtype=np.int64)


def _first(order: npt.NDArray[np.int8], offsets: I64) -> npt.NDArray[np.bool_]:
    """``[T]`` entries that are the least of their ragged row."""
    best: npt.NDArray[np.bool_] = order == np.repeat(
        np.minimum.reduceat(order, offsets[:-1]), np.diff(offsets)
    )
    return best
