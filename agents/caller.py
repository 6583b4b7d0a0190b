"""A neutral caller: plays everything before the first lead where roles shall not depend on players.

Evaluation by camps and the single-agent environment with a role use it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ACTIONS, VERB_ID
from lupai.envs.deals import mix
from lupai.envs.view import Views

I64 = npt.NDArray[np.int64]
_KEY: Final = 1  # spawn key of its stream; another one would move every evaluation
_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)


def _make_order() -> npt.NDArray[np.int8]:
    order = np.full(ACTIONS.size, 2, dtype=np.int8)
    for name in ("decline", "silent", "keep", "refuse"):
        order[VERB_ID[name]] = 0
    order[VERB_ID["cede"]] = 1
    for name in ("grab", "declare", "solo"):
        order[VERB_ID[name]] = 3
    start = ACTIONS.offsets["call"]
    order[start : start + 54] = 0
    order.setflags(write=False)
    return order


_ORDER: Final = _make_order()  # the lowest is played, drawn among equals


class NeutralCaller:
    """Plays everything before the first lead, the same for all sides.

    It never grabs, calls a card that it holds three times (uniformly among those), cedes if it has
    none, goes solo only where the rules leave it no other call, and never declares.
    """

    def __init__(self, seed: int) -> None:
        sequence = np.random.SeedSequence(seed, spawn_key=(_KEY,))
        self._seed = sequence.generate_state(1, np.uint64)[0]

    def choose(
        self, views: Views, deals: npt.NDArray[np.integer], moves: npt.NDArray[np.integer]
    ) -> I64:
        """Action ids ``[N]`` for decisions of deals ``[N]`` after ``moves [N]`` moves."""
        return self.pick(*views.legal.ids(), deals, moves)

    def pick(
        self,
        ids: npt.NDArray[np.int32],
        offsets: I64,
        deals: npt.NDArray[np.integer],
        moves: npt.NDArray[np.integer],
    ) -> I64:
        """The same from ragged legal ids, which are all that it looks at."""
        rows = np.repeat(np.arange(len(deals)), np.diff(offsets))
        order = _ORDER[ids]
        good = np.flatnonzero(order == np.minimum.reduceat(order, offsets[:-1])[rows])
        count = np.bincount(rows[good], minlength=len(deals))
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        hand = mix(self._seed + deals.astype(np.uint64) + _GAMMA)
        draw = mix(hand + moves.astype(np.uint64) + _GAMMA)
        place = first + (draw % count.astype(np.uint64)).astype(np.int64)
        return np.asarray(ids[good[place]], dtype=np.int64)
