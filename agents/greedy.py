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
from lupai.agents.choosing import Choosing
from lupai.envs.baohuang.actions import CALL, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.sets import set_id
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.cards import NUM_KINDS, RANK_B, RANK_OF_KIND, RANK_R
from lupai.envs.game import Game
from lupai.envs.sets import ALL_COMBOS, COMBOS, MAX_NATURALS, ROW_JOKERS, ROWS

LATE: Final = 10  # from this hand size on jokers are hung; 0, 5, 20 and 44 score less against it

I64 = npt.NDArray[np.int64]

_PASS: Final = VERB_ID["pass"]
_DEAR: Final = 1 << 30  # more than any price
_PLAIN: Final = slice(1, 1 + ROW_JOKERS)  # of legal.words: ranks, without the identity card


def _early_order(lowest: bool) -> I64:
    """Ids of all that is no set, first choice first; of calls the lowest or highest card first."""
    safe = [VERB_ID[verb] for verb in ("decline", "silent", "keep", "refuse")]
    calls = np.arange(CALL, CALL + NUM_KINDS)
    idle = [_PASS, VERB_ID["cede"]]
    risk = np.setdiff1d(np.arange(SET), [*safe, *idle, *calls])
    return np.concatenate([sorted(safe), calls if lowest else calls[::-1], sorted(idle), risk])


_EARLY_ORDER: Final = (_early_order(False), _early_order(True))

# Small and big jokers (combo = b * 5 + r) by what they are worth, of equals the fewer cards; and
# the best place in this order among the combos of a 25-bit word, by its lower and its upper bits.
_WORTH: Final = np.arange(COMBOS) // 5 + 2 * (np.arange(COMBOS) % 5)
_BY_WORTH: Final = np.lexsort((np.arange(COMBOS), _WORTH))
_LOW_BITS: Final = 13


def _best_places(first: int, bits: int) -> npt.NDArray[np.int8]:
    """``[2 ** bits]``: least place in :data:`_BY_WORTH` among combos ``first`` … that are set."""
    places = np.argsort(_BY_WORTH)[first : first + bits]
    words = (np.arange(1 << bits)[:, None] >> np.arange(bits)) & 1
    best: npt.NDArray[np.int8] = np.where(words == 1, places, COMBOS).min(axis=1).astype(np.int8)
    return best


_BEST_LOW: Final = _best_places(0, _LOW_BITS)
_BEST_HIGH: Final = _best_places(_LOW_BITS, COMBOS - _LOW_BITS)


class GreedyAgent(Choosing):
    """Plays as the module says; draws nothing."""

    name = "greedy"

    def choose(self, engine: Game, state: Any, legal: Any, rows: I64, lanes: Any) -> I32:
        """Legal moves ``[N]`` of the seats asked at ``rows``; see
        :class:`~lupai.agents.rollout.Policy`."""
        supreme = bool(engine.rules.supreme)
        playing = state.phase[rows] == PHASE_PLAY
        if playing.all():
            return _in_trick(state, legal, rows, supreme)
        chosen = np.zeros(len(rows), np.int32)
        early, late = np.flatnonzero(~playing), np.flatnonzero(playing)
        chosen[early] = _before_play(legal.take(early), supreme)
        if late.size:
            chosen[late] = _in_trick(state, legal.take(late), rows[late], supreme)
        return chosen


def _before_play(legal: Any, supreme: bool) -> I32:
    verbs = (legal.verbs[:, None] >> np.arange(len(VERB_ID), dtype=np.uint32)) & 1
    calls = np.zeros((len(verbs), NUM_KINDS), np.int8) if legal.calls is None else legal.calls
    solo = calls == 2  # open and secret
    order = _EARLY_ORDER[supreme]
    possible = np.concatenate([verbs == 1, calls == 1, solo, solo], axis=1)[:, order]
    chosen: I32 = order[possible.argmax(axis=1)].astype(np.int32)
    return chosen


def _in_trick(state: Any, legal: Any, t: I64, supreme: bool) -> I32:
    """Moves of tables ``t``, from the words of :class:`lupai.envs.baohuang.legal.Legal`: no id is
    written out but the chosen one."""
    row, seat, size = np.arange(len(t)), state.actor[t], legal.size
    ranks, in_hand, lead = state.ranks[t, seat], state.sizes[t, seat], size == 0
    hides = state.identity_seat[t] == seat
    if supreme:  # 特画 is no card of its rank
        ranks[hides, RANK_OF_KIND[state.identity_kind[t[hides]]]] -= 1
    count = ranks[:, :ROW_JOKERS]

    # Without jokers and identity card, which is bit 0 of a word: as leader the lowest rank; as
    # answer the lowest that is used up, else the lowest.
    plain = (legal.words[:, _PLAIN] & 1).astype(np.bool_)
    used_up = plain & ((count == size[:, None]) | lead[:, None])
    rank = np.concatenate([used_up, plain], axis=1).argmax(axis=1) % ROW_JOKERS
    found = plain[row, rank]
    n = np.where(lead, legal.held[row, 1 + rank], size)
    ids = SET + rank * (MAX_NATURALS * COMBOS) + (n - 1) * COMBOS
    chosen = np.where(found, ids, _PASS).astype(np.int32)

    whole = lead & ((count > 0).sum(axis=1) <= 1)  # the hand is one set
    if whole.any():
        found |= whole
        own, most = ranks[whole].astype(np.int64), count[whole].argmax(axis=1)
        n = own[np.arange(len(own)), most]
        ids = set_id(most, n, own[:, RANK_B], own[:, RANK_R])
        chosen[whole] = ids + np.where(hides[whole], SET_IDENTITY, SET)

    spends = lead | (in_hand <= LATE) | (in_hand == size)  # may hang jokers
    others = np.flatnonzero(~found & (spends | hides))
    if others.size:
        place, move = _cheapest(legal.take(others), count[others], spends[others])
        chosen[others[place]] = move

    if legal.extra is not None:  # without jokers, or the whole hand
        beside = legal.extra >= 0
        first = np.where(beside[:, 0], legal.extra[:, 0], legal.extra[:, 1])
        chosen = np.where(beside.any(axis=1), first, chosen)
    return chosen


def _cheapest(
    legal: Any, count: npt.NDArray[np.int8], spends: npt.NDArray[np.bool_]
) -> tuple[I64, I64]:
    """Rows that have a set worth playing, and its ids.

    Args:
        legal: moves in a trick.
        count: ``[N, 13]`` cards held by rank.
        spends: ``[N]``: jokers may be in it.
    """
    at, row = np.nonzero(legal.words[:, 1:])  # of each word the best joker part is enough
    flag, rank = np.divmod(row, ROWS)
    word = legal.words[at, 1 + row]
    alone = rank == ROW_JOKERS  # bit i is combo i + 1, the last one no joker
    word = np.where(alone, (word << 1 & ALL_COMBOS) | word >> (COMBOS - 1), word)
    low, high = word & ((1 << _LOW_BITS) - 1), word >> _LOW_BITS
    combo = _BY_WORTH[np.minimum(_BEST_LOW[low], _BEST_HIGH[high])]
    x = flag * legal.flag_cards
    lead = legal.size[at] == 0
    n = np.where(lead, legal.held[at, 1 + row], legal.size[at] - combo // 5 - combo % 5 - x)
    n[alone] = 0
    left = np.where(alone, 0, count[at, np.minimum(rank, ROW_JOKERS - 1)] - n)
    jokers = _WORTH[combo] + 3 * x
    breaks = (left > 0) & ~lead
    price = (((jokers * 2 + flag) * 2 + breaks) * 16 + rank) * 32 + left
    price[(jokers > 0) & ~spends[at]] = _DEAR
    least = np.full(len(spends), _DEAR)
    np.minimum.at(least, at, price)
    best = np.flatnonzero((price == least[at]) & (price < _DEAR))  # no two prices are equal
    b, r = np.divmod(combo[best], 5)
    ids = set_id(rank[best], n[best], b, r) + np.where(flag[best] == 1, SET_IDENTITY, SET)
    return at[best], ids
