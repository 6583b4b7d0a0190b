"""进贡 and 还贡 (§8): gifts to the winners of the previous hand, and what they give back.

Gifts follow from the cards and are asked of nobody. A receiver offers cards until the giver has
taken as many as he gave; the giver may refuse a rank of which he holds no card.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_RANKS, RANK_OF_KIND
from lupai.envs.gouji.actions import OFFER, VERB_ID
from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.orders import EMPTY, GAP, SEATS, behead, head, pack
from lupai.envs.gouji.state import I8, Phase, State
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

_TAKE: Final = VERB_ID["take"]
_RANKS: Final = (12, 13, 14)  # 2, B, R
NOT_ALL: Final = 11  # below all of them: he had fewer than he owed
_GIFTS: Final = (53, 52, 48, 49, 50, 51)  # kinds that are given, the highest first: R, B, 2s


def gifts_of(previous: list[int]) -> list[tuple[int, int, int]]:
    """``(receiver, giver, cards)`` after a hand that ended in this order of seats; none inside one
    side. After a 串三户 each loser gives his 对头 one.

    >>> gifts_of([0, 1, 2, 3, 4, 5]), gifts_of([0, 2, 4, 1, 3, 5])
    ([(0, 5, 2), (1, 4, 1)], [(0, 3, 1), (2, 5, 1), (4, 1, 1)])
    """
    if len({seat % 2 for seat in previous[:3]}) == 1:
        return [(seat, (seat + 3) % SEATS, 1) for seat in previous[:3]]
    pairs = [(previous[0], previous[5], 2), (previous[1], previous[4], 1)]
    return [pair for pair in pairs if (pair[0] - pair[1]) % 2]


def most_bare(special: list[int], previous: list[int]) -> int:
    """How many seats at most can hold no R, B and 2 once all is given and returned.

    Args:
        special: how many of them each seat was dealt.
        previous: seats in the order of the previous hand; -1 for none.
    """
    bare = {seat for seat in range(SEATS) if not special[seat]}
    count = 0
    for receiver, giver, cards in gifts_of(previous) if NOBODY not in previous else []:
        if special[giver]:
            # the giver gave all and gets others back, or the receiver returns just these
            count += special[giver] <= cards or receiver in bare
            bare.discard(receiver)
    return len(bare) + count


def give(state: State, t: Ints) -> None:
    """Move the gifts of tables that have a previous hand, and open the returns."""
    for table in t[(state.previous[t] != NOBODY).all(axis=1)].tolist():
        receivers = []
        for receiver, giver, count in gifts_of(state.previous[table].tolist()):
            lowest = NOT_ALL
            for number in range(1, count + 1):
                kind = next((k for k in _GIFTS if state.hands[table, giver, k]), None)
                if kind is None:
                    break
                move_card(state, table, giver, receiver, kind)
                state.owes[table, receiver] += 1
                lowest = int(RANK_OF_KIND[kind]) if number == count else NOT_ALL
            # he gave the highest that he had: he has none above it
            state.lacks[table, giver] |= sum(1 << rank for rank in _RANKS if rank > lowest)
            if state.owes[table, receiver]:
                state.giver[table, receiver] = giver
                receivers.append(receiver)
        state.queue[table] = pack(receivers)


def move_card(state: State, table: Any, giver: Any, receiver: Any, kind: Any) -> None:
    """Hand cards from seat to seat before everybody's eyes; numbers, or arrays of different
    tables."""
    rank = RANK_OF_KIND[kind]
    for seat, sign in ((giver, np.int8(-1)), (receiver, np.int8(1))):
        state.hands[table, seat, kind] += sign
        state.ranks[table, seat, rank] += sign
        state.sizes[table, seat] += sign
    state.shown[table, receiver, kind] += np.int8(1)
    known = state.shown[table, giver, kind]
    state.shown[table, giver, kind] = np.maximum(known - 1, 0).astype(np.int8)


def open_returns(c: Columns, i: Ints) -> Ints:
    """Ask the next receiver; the rows where all is returned."""
    done = head(c.queue[i]) == GAP
    on = i[~done]
    c.phase[on] = Phase.OFFER
    c.actor[on] = head(c.queue[on])
    c.queue[on] = behead(c.queue[on])
    c.refused[on] = 0
    finished: Ints = i[done]
    c.queue[finished] = EMPTY
    return finished


def offers(state: State, t: Ints) -> npt.NDArray[np.uint32]:
    """Ranks that the offering seats may offer, bits ``[N]``: those not refused, or all where every
    rank was."""
    held = _bits(state.ranks[t, state.actor[t]] > 0)
    left = held & ~state.refused[t].astype(np.uint32)
    return np.where(left == 0, held, left)


def may_refuse(state: State, t: Ints) -> npt.NDArray[np.bool_]:
    """``[N] bool``: the giver holds no card of the rank, and did not refuse it before: a refused
    rank comes back only where every rank was refused. The receiver's hand is hidden from him."""
    rank = RANK_OF_KIND[state.offered[t]].astype(np.intp)
    new = state.refused[t] >> rank & 1 == 0
    can: npt.NDArray[np.bool_] = (state.ranks[t, state.actor[t], rank] == 0) & new
    return can


def _bits(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    values = 1 << np.arange(NUM_RANKS, dtype=np.uint32)
    bits: npt.NDArray[np.uint32] = (flags * values).sum(axis=1, dtype=np.uint32)
    return bits


def offer(state: State, t: Ints, c: Columns, i: Ints, actions: Ints, cards: I8 | None) -> None:
    """Lay a card of the offered rank before the giver: the first suit held, or the very one."""
    rank = actions - OFFER
    receiver = c.actor[i]
    if cards is None:
        held = state.hands[t[i], receiver] * (rank[:, None] == RANK_OF_KIND)
    else:
        held = cards
    c.offered[i] = (held > 0).argmax(axis=1)
    c.owner[i] = receiver
    c.phase[i] = Phase.ANSWER_OFFER
    c.actor[i] = state.giver[t[i], receiver]


def answer(state: State, t: Ints, c: Columns, i: Ints, verbs: Ints) -> Ints:
    """Take an answer to an offer; the rows where all is returned."""
    takes = verbs == _TAKE
    yes, no = i[takes], i[~takes]
    if yes.size:
        move_card(state, t[yes], c.owner[yes], c.actor[yes], c.offered[yes])
        state.owes[t[yes], c.owner[yes]] -= np.int8(1)
        c.refused[yes] = 0
    rank_bit = 1 << RANK_OF_KIND[c.offered[no]].astype(np.int32)
    c.refused[no] |= rank_bit
    state.lacks[t[no], c.actor[no]] |= rank_bit
    receiver = c.owner[i]
    c.offered[i] = NOBODY
    c.owner[i] = NOBODY
    again = (state.owes[t[i], receiver] > 0) | ~takes
    c.phase[i[again]] = Phase.OFFER
    c.actor[i[again]] = receiver[again]
    return open_returns(c, i[~again])
