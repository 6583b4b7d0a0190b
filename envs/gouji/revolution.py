"""革命 (§6): all six are asked before the first lead; nobody sees an answer before the sixth."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import RANK_B, RANK_R
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.orders import ALL, FROM_HERE, GAP, SEATS, behead, head, queue_table
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import DEATHS, REVOLTER_PLACE, Phase, State

Ints = npt.NDArray[Any]

RANK_2: Final = 12
_SPECIAL: Final = 1 << RANK_2 | 1 << RANK_B | 1 << RANK_R
_REVOLT: Final = VERB_ID["revolt"]
_WAIVE: Final = VERB_ID["waive"]
_ALL_FROM: Final = queue_table(FROM_HERE)
_MEMBERS: Final = np.array([m.bit_count() for m in range(ALL + 1)], np.int8)
_LOWEST: Final = np.array([(m & -m).bit_length() - 1 for m in range(ALL + 1)], np.int8)


def may_revolt(ranks: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """``[N] bool``: hands ``[N, 15]`` without R, B and 2."""
    special = ranks[:, [RANK_2, RANK_B, RANK_R]]
    none: npt.NDArray[np.bool_] = (special == 0).all(axis=1)
    return none


def begin(c: Columns, i: Ints, rules: Rules) -> None:
    """Before the first lead: ask about a revolution, or lead at once."""
    leader = c.first_leader[i]
    c.phase[i] = Phase.PLAY
    c.actor[i] = leader
    if rules.revolution:
        queue = _ALL_FROM[leader, ALL]
        c.phase[i] = Phase.REVOLT
        c.queue[i] = behead(queue)


def answer(state: State, t: Ints, c: Columns, i: Ints, verbs: Ints) -> Ints:
    """Take answers to the poll; the rows whose deal is void by two revolts or more."""
    c.revolts[i] |= np.where(verbs == _REVOLT, 1 << c.actor[i], 0)
    done = head(c.queue[i]) == GAP
    on = i[~done]
    c.actor[on] = head(c.queue[on])
    c.queue[on] = behead(c.queue[on])
    done = i[done]
    count = _MEMBERS[c.revolts[done]]
    _lead(c, done[count == 0])
    one = done[count == 1]
    if one.size:
        seat = _LOWEST[c.revolts[one]]
        c.revolter[one] = seat
        state.places[t[one], seat] = REVOLTER_PLACE
        state.lacks[t[one], seat] |= _SPECIAL
        c.alive[one] &= ~(1 << seat.astype(np.int32))
        c.deaths[one] = DEATHS
        c.phase[one] = Phase.WAIVE
        c.actor[one] = (seat + SEATS // 2) % SEATS
    void: Ints = done[count >= 2]
    return void


def waive(c: Columns, i: Ints, verbs: Ints) -> None:
    """The revolter's 对头 keeps his three 够死级, or is headless at once."""
    waives = verbs == _WAIVE
    c.deaths[i] = np.where(waives, 0, c.deaths[i])
    c.headless[i] |= np.where(waives, 1 << c.actor[i], 0)
    _lead(c, i)


def _lead(c: Columns, i: Ints) -> None:
    leader = c.first_leader[i]
    c.phase[i] = Phase.PLAY
    c.actor[i] = np.where(leader == c.revolter[i], (leader + 1) % SEATS, leader)
