"""Who is asked about a set, and who leads: §3 to §5 of the rules, on columns of N tables.

====================  ==========================================================================
ordinary set of P     in turn from P+1; his 对头 may yield, and is asked once more after the two
                      behind him; a 对头 who is out of the trick is asked last
够级 of P             first P+2, P+4, P+1, P+5 whether they burn it (烧牌), then in turn his 对头
                      and every headless player
够死级                burners only
set of a headless P   everybody in turn, whatever it is
四人乱缠              everybody in turn, a pass binds for one set
dead set              nobody
====================  ==========================================================================
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.orders import (
    BURNERS,
    EMPTY,
    GAP,
    IN_TURN,
    OPPOSITE_LAST,
    SEATS,
    append,
    behead,
    head,
    queue_table,
)
from lupai.envs.gouji.state import Kind
from lupai.envs.seats import NOBODY, next_seat

Ints = npt.NDArray[Any]

_IN_TURN: Final = queue_table(IN_TURN)
_OPPOSITE_LAST: Final = queue_table(OPPOSITE_LAST)
_BURNERS: Final = queue_table(BURNERS)
_NEXT: Final = next_seat(SEATS).astype(np.int32)
_BIT: Final = np.array([1 << seat for seat in range(SEATS)] + [0], np.int32)  # nobody, -1: none
OPPOSITE: Final = np.array([(seat + 3) % SEATS for seat in range(SEATS)] + [NOBODY], np.int32)


def may_yield(c: Columns) -> npt.NDArray[np.bool_]:
    """``[N] bool``: whether the actor may let the two behind him go first (让牌)."""
    behind = _BIT[(c.owner + 4) % SEATS] | _BIT[(c.owner + 5) % SEATS]
    can: npt.NDArray[np.bool_] = (
        (c.standing != NOBODY)
        & (c.actor == OPPOSITE[c.owner])
        & (c.kind == Kind.ORDINARY)
        & (c.melee == 0)
        & (c.bottom == 0)
        & (c.yielded == 0)
        & (c.passed & _BIT[c.actor] == 0)
        & (behind & c.alive & ~c.passed != 0)
    )
    return can


def ask_about_set(c: Columns, i: Ints, dead: npt.NDArray[np.bool_]) -> None:
    """Whom to ask about the set that the owner of each row in ``i`` has just laid.

    Args:
        dead: ``[N']`` which of these sets are dead (死牌).
    """
    owner, passed, kind = c.owner[i], c.passed[i], c.kind[i]
    others = c.alive[i] & ~_BIT[owner]
    opposite = _BIT[OPPOSITE[owner]]
    in_trick = others & ~passed
    melee = c.melee[i] == 1
    death = kind == Kind.DEATH
    free = melee | ((c.headless[i] & _BIT[owner] != 0) & ~death)
    burn = ~free & (kind != Kind.ORDINARY)
    late = ~free & ~burn & (c.bottom[i] == 0) & (passed & others & opposite != 0)
    asked = np.where(melee, others, np.where(free | burn, in_trick, in_trick | others & opposite))
    queue = np.where(late, _OPPOSITE_LAST[owner, asked], _IN_TURN[owner, asked])
    queue = np.where(burn, _BURNERS[owner, in_trick & ~c.headless[i]], queue)
    c.queue[i] = np.where(dead, EMPTY, queue)
    c.burning[i] = burn & ~dead


def ask_the_entitled(c: Columns, i: Ints) -> None:
    """After the burners: the 对头, and in turn with him the headless; nobody after a 够死级."""
    owner = c.owner[i]
    others = c.alive[i] & ~_BIT[owner]
    asked = others & (_BIT[OPPOSITE[owner]] | c.headless[i] & ~c.passed[i])
    asked = np.where(c.kind[i] == Kind.DEATH, 0, asked)
    c.queue[i] = _IN_TURN[owner, asked]
    c.burning[i] = 0


def note_word(c: Columns, i: Ints, passes: npt.NDArray[np.bool_], yields: Any) -> None:
    """Take a word that is no set: ``passes`` and ``yields`` ``[N']`` say which; else silent."""
    actor = c.actor[i]
    binding = passes & (c.melee[i] == 0)
    c.passed[i] |= np.where(binding, _BIT[actor], 0)
    c.yielded[i] |= yields
    c.queue[i] = np.where(yields, append(c.queue[i], actor), c.queue[i])


def next_question(c: Columns, i: Ints) -> None:
    """Go on to the next seat of each row in ``i``, or to the next lead where nobody is left."""
    done = i[head(c.queue[i]) == GAP]
    burned = done[c.burning[done] == 1]
    if burned.size:
        ask_the_entitled(c, burned)
        done = i[head(c.queue[i]) == GAP]
    c.actor[i] = head(c.queue[i])
    c.queue[i] = behead(c.queue[i])
    if done.size:
        end_trick(c, done, leader_after(c, done))


def leader_after(c: Columns, i: Ints) -> Ints:
    """The owner of a set that nobody beat, or where he is out the next player in (接风)."""
    owner = c.owner[i]
    return np.where(c.alive[i] & _BIT[owner] != 0, owner, _NEXT[c.alive[i], owner])


def lose_opposite(c: Columns, i: Ints) -> None:
    """Where the standing set is the 底牌 of 头科, his 对头 is headless from now on."""
    first = c.bottom[i] == 1
    c.headless[i] |= np.where(first, _BIT[OPPOSITE[c.owner[i]]], 0)


def end_trick(c: Columns, i: Ints, leader: Ints) -> None:
    """A new trick, led by ``leader``; 四人乱缠 where two have gone out."""
    lose_opposite(c, i)
    c.actor[i] = leader
    c.burning[i] = 0
    c.queue[i] = EMPTY
    c.standing[i] = NOBODY
    c.owner[i] = NOBODY
    c.kind[i] = Kind.ORDINARY
    c.bottom[i] = 0
    c.passed[i] = 0
    c.yielded[i] = 0
    melee = c.left[i] >= 2
    c.melee[i] |= melee
    c.duty[i] = np.where(melee, NOBODY, c.duty[i])
    c.burned[i] = np.where(melee, NOBODY, c.burned[i])
    c.deaths[i] = np.where(melee, 0, c.deaths[i])


def lay(c: Columns, i: Ints, gouji: npt.NDArray[np.bool_], empty: Any, place: Ints) -> None:
    """The actors of rows ``i`` lay a set: what that makes of it, of the duty and of the headless.

    Sets ``standing``, ``owner`` and places are the caller's before or after; here ``owner`` is
    still that of the set that was beaten, nobody in a lead.

    Args:
        gouji: ``[N']`` whether the set is a 够级牌 by its cards.
        empty: ``[N']`` whether it is the player's last.
        place: ``[N']`` his place then.
    """
    actor, owner = c.actor[i], c.owner[i]
    answers = owner != NOBODY
    played = c.melee[i] == 0
    lose_opposite(c, i)
    # one who burned is free when his set is beaten, or when he is out
    duty = c.duty[i]
    duty = np.where(answers & (duty == owner) | (duty == actor) & empty, NOBODY, duty)
    burns = c.burning[i] == 1
    held = burns & ~empty
    c.burned[i] = np.where(held, owner, np.where(duty == NOBODY, NOBODY, c.burned[i]))
    c.duty[i] = np.where(held, actor, duty)
    c.burns[i] += burns
    was_gouji = answers & (c.kind[i] != Kind.ORDINARY)
    opposite = answers & (actor == OPPOSITE[owner])
    c.goujis[i] += was_gouji & opposite & ~burns & played
    # kinds
    gouji = played & (gouji | was_gouji)
    kills = played & opposite & (c.bottom[i] > 0)
    own = gouji & (c.deaths[i] > 0) & (actor == OPPOSITE[c.revolter[i]])
    c.deaths[i] -= own
    c.headless[i] |= np.where(own & (c.deaths[i] == 0), _BIT[actor], 0)
    c.kind[i] = np.where(kills | own, Kind.DEATH, np.where(gouji, Kind.GOUJI, Kind.ORDINARY))
    c.bottom[i] = np.where(empty & played & (place <= 2), place, 0)
    c.yielded[i] = 0
