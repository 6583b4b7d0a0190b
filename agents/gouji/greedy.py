"""``greedy`` in Gouji: the reference by rules of thumb. It looks at nothing but its own hand and
the set to beat.

Before the first lead it takes no risk: it does not revolt, waives nothing, offers its lowest rank
and takes what is offered.

In play, the first of these that it can do:

1. a set that empties the hand;
2. asked whether it burns: no;
3. as leader all cards of its lowest rank, without 2s and jokers;
4. as answer a set without jokers and attached 2s: rather one that leaves no other card of its rank
   behind, then the lowest rank;
5. with at most :data:`LATE` cards in hand, or as leader bound to hang a joker, also a set with
   attached 2s and jokers: as few and as small as can be;
6. pass (it never yields).

Whose set it beats is nothing to it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, best_of_rows
from lupai.agents.choosing import Choosing
from lupai.envs.cards import RANK_B, RANK_R
from lupai.envs.game import Game
from lupai.envs.gouji.actions import OFFER, SET, VERB_ID
from lupai.envs.gouji.sets import PARTS, ROW_TWOS, SIZE, set_place
from lupai.envs.gouji.state import Phase
from lupai.envs.gouji.tables import STANDING_NEEDS, STANDING_ROW, STANDING_SIZE
from lupai.envs.seats import NOBODY
from lupai.envs.sets import ROW_JOKERS

LATE: Final = 10  # from this hand size on jokers are hung and 2s attached

I64 = npt.NDArray[np.int64]

_PASS: Final = VERB_ID["pass"]
_SILENT: Final = VERB_ID["silent"]
_TAKE: Final = VERB_ID["take"]
_ROWS: Final = np.arange(ROW_JOKERS)


class GreedyAgent(Choosing):
    """Plays as the module says; draws nothing."""

    name = "greedy"

    def choose(self, engine: Game, state: Any, legal: Any, rows: I64, lanes: Any) -> I32:
        """Legal moves ``[N]`` of the seats asked at ``rows``; see
        :class:`~lupai.agents.rollout.Policy`."""
        playing = state.phase[rows] == Phase.PLAY
        chosen = np.empty(len(rows), np.int32)
        early, late = np.flatnonzero(~playing), np.flatnonzero(playing)
        if early.size:
            chosen[early] = _before_play(legal.take(early))
        if late.size:
            part = legal if late.size == len(rows) else legal.take(late)
            chosen[late] = _in_trick(state, part, rows[late])
        return chosen


def _before_play(legal: Any) -> npt.NDArray[Any]:
    lowest = OFFER + np.bitwise_count((legal.offers & -legal.offers.astype(np.int64)) - 1)
    takes = legal.verbs >> np.uint32(_TAKE) & 1 == 1
    return np.where(legal.offers > 0, lowest, np.where(takes, _TAKE, _SILENT))


def _in_trick(state: Any, legal: Any, t: I64) -> I64:
    """Moves of tables ``t``; ids are written out only where 2s or jokers may be spent."""
    row, seat = np.arange(len(t)), state.actor[t]
    ranks, in_hand = state.ranks[t, seat].astype(np.int64), state.sizes[t, seat]
    standing = state.standing[t]
    lead, burning = standing == NOBODY, state.burning[t] == 1
    size = STANDING_SIZE[standing]

    # Without jokers and attached 2s: as leader the lowest rank; as answer the lowest that is used
    # up, else the lowest.
    held = ranks[:, :ROW_JOKERS]
    plain = (held > 0) & (held >= size[:, None]) & (STANDING_ROW[standing][:, None] < _ROWS)
    plain &= ((STANDING_NEEDS[standing] == 0) & ~burning)[:, None]
    used_up = plain & ((held == size[:, None]) | lead[:, None])
    rank = np.concatenate([used_up, plain], axis=1).argmax(axis=1) % ROW_JOKERS
    count = np.where(lead, held[row, rank], size)
    none = np.zeros_like(count)
    twos = rank == ROW_TWOS
    ids = SET + set_place(rank, np.where(twos, 0, count), np.where(twos, count, 0), none, none)
    found = plain[row, rank] & legal.contains(ids)
    chosen = np.where(found, ids, np.where(burning, _SILENT, _PASS))

    naturals = ranks[:, :ROW_TWOS]
    whole = np.flatnonzero((naturals > 0).sum(axis=1) <= 1)  # the hand is one set
    if whole.size:
        own = ranks[whole]
        of = np.where(own[:, ROW_TWOS] > 0, ROW_TWOS, ROW_JOKERS)
        of = np.where(own[:, :ROW_TWOS].any(axis=1), own[:, :ROW_TWOS].argmax(axis=1), of)
        n = own[:, :ROW_TWOS].sum(axis=1)
        ids = SET + set_place(of, n, own[:, ROW_TWOS], own[:, RANK_B], own[:, RANK_R])
        some = legal.take(whole)
        good = some.contains(ids)
        chosen[whole[good]] = ids[good]
        found[whole[good]] = True

    spends = np.flatnonzero(~found & ~burning & (lead | (in_hand <= LATE)))
    if spends.size:
        place, move = _cheapest(legal.take(spends), ranks[spends])
        chosen[spends[place]] = move
    return chosen


def _cheapest(legal: Any, ranks: I64) -> tuple[I64, I64]:
    """Rows that have a set, and its id: jokers and 2s as few and as small as can be, then no rank
    broken, then the lowest rank.

    Args:
        legal: moves in a trick, ``[N]``.
        ranks: ``[N, 15]`` cards held.
    """
    ids, offsets = legal.ids()
    at = np.repeat(np.arange(len(ranks)), np.diff(offsets))
    keep = np.flatnonzero(ids >= SET)
    at, ids = at[keep], ids[keep].astype(np.int64)
    if not at.size:
        return at, ids
    rank, n, t, b, r = PARTS[ids - SET].astype(np.int64).T
    lead = legal.size[at] == 0
    natural = rank < ROW_TWOS
    left = np.where(natural, ranks[at, np.minimum(rank, ROW_TWOS - 1)] - n, 0)
    spent = np.where(natural, t, 0) + 2 * b + 3 * r  # 2s alone are a rank like any other
    price = ((spent * 2 + ((left > 0) & ~lead)) * 16 + rank) * 64
    price += np.where(lead, 32 - SIZE[ids - SET], 0)
    found, first = np.unique(at, return_index=True)
    best = best_of_rows(-price, np.append(first, len(at)))
    return found, ids[best]
