"""Who is asked about a set, and who leads: §3 to §5 of the rules.

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

Arithmetic only, so that the same lines serve one table as Python ints and N tables as arrays: a
truth value times a number is the number or 0.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lupai.envs.gouji.orders import (
    ALL,
    BURNERS,
    EMPTY,
    GAP,
    IN_TURN,
    OPPOSITE_LAST,
    SEATS,
    queue_table,
)
from lupai.envs.gouji.state import COLUMN, Kind
from lupai.envs.seats import NOBODY, members, next_seat

_SETS: Final = ALL + 1  # sets of seats: row seat * _SETS + set of the tables below


class Tables(NamedTuple):
    """Lookup tables; by seat the last entry, index -1, is nobody's."""

    bit: Any  # [7] bit of a seat in a set of seats
    opposite: Any  # [7] 对头
    in_turn: Any  # [6 * 64] queues, see orders.py
    opposite_last: Any
    burners: Any
    leader: Any  # [6 * 64] by owner and seats in: the owner, or who inherits from him (接风)
    behind: Any  # [7] the two seats behind the 对头 of a seat


def _tables() -> Tables:
    seat = np.arange(SEATS)
    by_seat = [queue_table(order).ravel() for order in (IN_TURN, OPPOSITE_LAST, BURNERS)]
    leader = np.where(members(SEATS), seat, next_seat(SEATS)).T.ravel()
    behind = [1 << (s + 4) % SEATS | 1 << (s + 5) % SEATS for s in range(SEATS)]
    made = ([*(1 << seat), 0], [*((seat + 3) % SEATS), NOBODY], *by_seat, leader, [*behind, 0])
    return Tables(*(np.asarray(table, np.int32) for table in made))


MANY: Final = _tables()
ONE: Final = Tables(*(table.tolist() for table in MANY))  # for Python ints

_NAMES: Final = (
    "actor", "queue", "standing", "owner", "burning", "kind", "bottom", "passed", "yielded", "duty",
    "burned", "headless", "melee", "alive", "left", "deaths", "goujis", "burns",
)  # fmt: skip
_PLACES: Final = tuple(COLUMN[name] for name in _NAMES)
CHANGED: Final = slice(_PLACES[0], _PLACES[-1] + 1)  # what :func:`after` gives, in this order
assert list(_PLACES) == list(range(len(COLUMN)))[CHANGED]
(
    _ACTOR, _QUEUE, _STANDING, _OWNER, _BURNING, _KIND, _BOTTOM, _PASSED, _YIELDED, _DUTY, _BURNED,
    _HEADLESS, _MELEE, _ALIVE, _LEFT, _DEATHS, _GOUJIS, _BURNS,
) = _PLACES  # fmt: skip
_REVOLTER: Final = COLUMN["revolter"]


class Answer(NamedTuple):
    """What the actor answered: truth values and numbers of one table, or ``[N]`` of each.

    Attributes:
        plays: a set. passes, yields: these words; else silent.
        standing: place of the set, whatever number where there is none.
        gouji: by its cards it is a 够级牌. dead: it holds R.
        empty: it is the player's last. place: his place then.
        fails: he broke the promise of a burner, and is placed last.
        ends: the hand ends with it.
    """

    plays: Any
    passes: Any
    yields: Any
    standing: Any
    gouji: Any
    dead: Any
    empty: Any
    place: Any
    fails: Any
    ends: Any


def may_yield(was: Any, tables: Tables) -> Any:
    """Whether the actor may let the two behind him go first (让牌).

    Args:
        was: columns, by number. tables: :data:`ONE` or :data:`MANY`.
    """
    actor, owner, passed = was[_ACTOR], was[_OWNER], was[_PASSED]
    mine = (actor == tables.opposite[owner]) & (owner != NOBODY)
    plain = was[_KIND] | was[_MELEE] | was[_BOTTOM] | was[_YIELDED]
    open_ = tables.behind[owner] & was[_ALIVE] & ~passed
    return mine & (plain == 0) & (open_ != 0) & (passed & tables.bit[actor] == 0)


def after(was: Any, said: Answer, tables: Tables) -> tuple[Any, ...]:
    """Columns :data:`CHANGED` after an answer in play.

    Args:
        was: columns before it, by number: lists of ints, or ``[F, N]``.
        said: the answer.
        tables: :data:`ONE` or :data:`MANY`.
    """
    bit, opposite = tables.bit, tables.opposite
    actor, before = was[_ACTOR], was[_OWNER]
    puts, keeps = said.plays, said.plays ^ True
    me, melee = bit[actor], was[_MELEE]
    played = puts & (melee == 0)
    answers = puts & (before != NOBODY)
    burns = puts & (was[_BURNING] == 1)
    out = said.empty | said.fails
    alive = was[_ALIVE] & ~(me * out)
    left = was[_LEFT] + said.empty

    # whose set was beaten, and what that ends
    headless = was[_HEADLESS] | bit[opposite[before]] * (puts & (was[_BOTTOM] == 1))
    free = (answers & (was[_DUTY] == before)) | ((was[_DUTY] == actor) & out)
    bound = burns & (said.empty ^ True)
    duty = (was[_DUTY] * (free ^ True) - free) * (bound ^ True) + actor * bound
    free = free | (was[_DUTY] == NOBODY)
    burned = (was[_BURNED] * (free ^ True) - free) * (bound ^ True) + before * bound

    # what the new set is
    counted = answers & (was[_KIND] != Kind.ORDINARY)
    opposes = answers & (actor == opposite[before])
    gouji = played & (said.gouji | counted)
    kills = played & opposes & (was[_BOTTOM] > 0)
    own = gouji & (was[_DEATHS] > 0) & (actor == opposite[was[_REVOLTER]])
    deaths = was[_DEATHS] - own
    headless = headless | me * (own & (deaths == 0))
    death = kills | own
    kind = was[_KIND] * keeps + gouji * Kind.GOUJI + death * (Kind.DEATH - gouji)
    last = said.empty & played & (said.place <= 2)
    bottom = was[_BOTTOM] * keeps + said.place * last
    standing = said.standing * puts + was[_STANDING] * keeps
    owner = actor * puts + before * keeps

    # words
    passed = was[_PASSED] | me * (said.passes & (melee == 0))
    yielded = (was[_YIELDED] | said.yields) * keeps

    # who is asked
    others = alive & ~bit[owner]
    in_trick = others & ~passed
    foe = others & bit[opposite[owner]]
    row = owner * _SETS
    everybody = melee == 1
    unbound = everybody | ((headless & bit[owner] != 0) & (death ^ True))
    bound = unbound ^ True
    burning = bound & (gouji | death)
    plain = bound & (burning ^ True)
    late = plain & (bottom == 0) & (passed & foe != 0)
    asked = others * everybody + (in_trick | foe * plain) * (everybody ^ True)
    queue = tables.in_turn[row + asked] * (late ^ True) + tables.opposite_last[row + asked] * late
    queue = queue * (burning ^ True) + tables.burners[row + (in_trick & ~headless)] * burning
    nobody = said.dead | said.fails | said.ends
    burning = burning & (nobody ^ True)
    queue = queue + (EMPTY - queue) * nobody
    again = tables.opposite_last[row + (in_trick & tables.behind[owner] | me)]
    rest = was[_QUEUE] + (again - was[_QUEUE]) * said.yields
    queue = queue * puts + rest * keeps
    burning = burning * puts + was[_BURNING] * keeps

    # after the burners the 对头 and the headless; nobody after a 够死级
    done = (queue & GAP == GAP) & (burning == 1)
    entitled = (foe | (headless & in_trick)) * (kind != Kind.DEATH)
    queue = queue + (tables.in_turn[row + entitled] - queue) * done
    burning = burning * (done ^ True)

    # 扣牌
    closed = queue & GAP == GAP
    goes = closed ^ True
    headless = headless | bit[opposite[owner]] * (closed & (bottom == 1))
    leader = tables.leader[row + alive]
    if np.any(said.fails):
        heir = was[_BURNED]
        there = said.fails & (bit[heir] & alive != 0)
        leader = leader + (heir - leader) * there
    ends = said.ends ^ True
    melee = melee | (closed & (left >= 2) & ends)
    calm = melee == 0
    return (
        ((queue & GAP) * goes + leader * closed) * ends - said.ends,
        queue >> 3 | GAP << 3 * (SEATS - 1),
        standing * goes - closed,
        owner * goes - closed,
        burning * goes,
        kind * goes,
        bottom * goes,
        passed * goes,
        yielded * goes,
        duty * calm - (calm ^ True),
        burned * calm - (calm ^ True),
        headless,
        melee,
        alive,
        left,
        deaths * calm,
        was[_GOUJIS] + (counted & opposes & (burns ^ True) & played),
        was[_BURNS] + burns,
    )
