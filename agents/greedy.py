"""``greedy``: the reference by rules of thumb. It looks at nothing but its own hand and the table.

Before the first lead it takes no risk: it declines to grab and to play alone, keeps its crown and
refuses another's, stays silent in every poll, and cedes rather than plays alone. Where it holds a
card three times it calls: the highest such card, so that its guard is strong, or where the guard's
card becomes 特画 the lowest, which gains most by it.

In play, the first of these that it can do:

1. a set that empties the hand;
2. as leader all cards of its lowest rank, without jokers and without the identity card;
3. as answer a set without jokers: rather one that leaves no other card of its rank behind, then
   the lowest rank;
4. with at most :data:`LATE` cards in hand also a set with jokers, as few and as small as can be;
5. pass (it never yields or claims). A leader with nothing but jokers leads the least of them.

Sets with the identity card come after those without it; 特画 is the largest joker. Partners are
nothing to it: it does not ask whose set it beats.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.envs.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.cards import RANK_OF_KIND
from lupai.envs.sets import NUM_SETS, PARTS, ROW_JOKERS
from lupai.envs.view import View, Views

LATE: Final = 10  # from this hand size on jokers are hung; 0, 5, 20 and 44 score less against it

I64 = npt.NDArray[np.int64]

# Costs of moves; of the legal ones the cheapest is played, the lowest id of equals.
_EMPTIES: Final = -1
_PASS: Final = 1 << 30
_EARLY_JOKERS: Final = 1 << 31  # added: dearer than a pass
_RISK: Final = 1 << 32


def _verb_costs(lowest: bool) -> I64:
    """``[A]``: costs of what is no set, calls with the lowest or the highest card first; 0 for
    sets."""
    costs = np.zeros(ACTIONS.size, np.int64)
    costs[: len(VERB_ID)] = _RISK
    for verb in ("decline", "silent", "keep", "refuse"):
        costs[VERB_ID[verb]] = 0
    costs[[VERB_ID["pass"], VERB_ID["cede"]]] = _PASS
    for block, count in ACTIONS.blocks:
        first = ACTIONS.offsets[block]
        if block == "call":
            order = np.arange(1, count + 1)
            costs[first : first + count] = order if lowest else order[::-1]
        elif block.startswith("call"):
            costs[first : first + count] = _RISK
    costs.setflags(write=False)
    return costs


_VERB_COSTS: Final = (_verb_costs(False), _verb_costs(True))
_SET_PARTS: Final = np.zeros((ACTIONS.size, 5), np.int64)  # rank, n, b, r, identity
_SET_PARTS[SET:SET_IDENTITY, :4] = PARTS[:NUM_SETS]
_SET_PARTS[SET_IDENTITY:, :4] = PARTS
_SET_PARTS[SET_IDENTITY:, 4] = 1


class GreedyAgent:
    """Plays as the module says; draws nothing."""

    name = "greedy"

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget."""

    def act(self, view: View) -> str:
        """The cheapest legal move."""
        ids = view.legal_ids
        offsets = np.array([0, len(ids)])
        supreme = bool(view.engine.rules.supreme)
        chosen = _cheapest(view.state, np.array([view.seat]), ids, offsets, supreme)
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> I32:
        """The cheapest legal moves ``[N]``."""
        supreme = bool(views.engine.rules.supreme)
        return _cheapest(views.state, views.seats, *views.legal.ids(), supreme)


def _cheapest(
    state: Any, seats: npt.NDArray[np.intp], ids: I32, offsets: I64, supreme: bool
) -> I32:
    """Of each row's legal ids (ragged) the one of least cost."""
    tables = np.arange(len(seats))
    rows = np.repeat(tables, np.diff(offsets))
    cost = _VERB_COSTS[supreme][ids]
    sets = np.flatnonzero(ids >= SET)
    if sets.size:
        at, (rank, n, b, r, identity) = rows[sets], _SET_PARTS[ids[sets]].T
        natural = rank < ROW_JOKERS
        ranks = state.ranks[tables, seats].astype(np.int64)
        x = identity * supreme
        if supreme:  # 特画 is never played at its natural rank
            mine = np.flatnonzero(state.identity_seat == seats)
            ranks[mine, RANK_OF_KIND[state.identity_kind[mine]]] -= 1
        held = ranks[at, np.where(natural, rank, 0)]
        left = np.where(natural, held - n, 0)
        leads = state.standing[at] < 0
        in_hand = state.sizes[tables, seats].astype(np.int64)[at]

        jokers = b + 2 * r + 3 * x
        breaks = (left > 0) & ~leads
        price = (((jokers * 2 + identity) * 2 + breaks) * 16 + rank) * 32 + left
        price += np.where((jokers > 0) & ~leads & (in_hand > LATE), _EARLY_JOKERS, 0)
        empties = n + b + r + x == in_hand
        cost[sets] = np.where(empties, _EMPTIES, price)
    least = np.minimum.reduceat(cost, offsets[:-1])
    places = np.flatnonzero(cost == least[rows])
    first = np.unique(rows[places], return_index=True)[1]
    return ids[places[first]]
