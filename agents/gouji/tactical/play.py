"""Tricks: every move that is looked at is described by the same few terms; the best weighted sum is
played.

Terms of a set (0 for a pass), counted in sets, cards or chances:

``goes_out``    it empties the hand
``runs_out``    nobody can beat it, and the rest then surely goes out
``set``         it leaves no card of its rank behind; ``set_late`` as the rest is about to run out,
                ``set_few`` as few sets are left
``weak``        by how much it lowers the expected number of sets that will not win their trick: it
                is negative where a 够级牌 is broken
``dump``        of these, how many would have found a set to answer
``cards``       its cards, in threes
``twos`` …      spent: ``twos``, ``small``, ``big``; ``*_full`` times the share of the hand that is
                left; ``*_spare`` times how far jokers are more than there are sets in need;
                ``help_foe`` all of them, as an opponent is about to go out
``lead_*``      cards, weak sets, dumps, 2s, jokers of a lead, and whether it is a 够级牌
``hold``        chance that it wins the lead; ``hold_full`` times the share of the hand that is
                left; ``hold_late`` as the rest is about to run out, ``hold_few`` as few sets are
                left, ``hold_foe`` as an opponent is about to go out, ``hold_friend`` as a mate is;
                ``hold_weak`` per weak set left; ``hold_stake`` where 串三户 is at stake;
                ``lead_hold`` for a lead
``over``        it beats a mate's set; ``over_near`` as that mate is about to go out
``over_opposite`` it beats the 对头's set; ``*_near`` as he is about to go out
``gouji_other`` a 够级牌, or a set with 2s or jokers, is spent on the set of somebody else
``death``       it is 够死级, which nobody but burners answers
``burn``        it burns; ``burn_few`` as few sets are left; ``burn_over`` a mate's set

Terms of a pass, yield or silence (0 for a set): ``pass`` where it is one; ``yield``;
``left_friend``, ``left_foe`` the chance that the standing set wins, and who then leads, ``*_near``
as he is about to go out, ``*_last`` with hardly a card left, ``*_stake`` where 串三户 is at stake,
``left_opposite`` if that is the 对头; ``left_me``, ``left_late`` if that is the player (接风).
A term of both: ``to_friend``, a mate beats the set.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.chances import F32, SIZES
from lupai.agents.gouji.tactical.counting import (
    FRIEND,
    FULL,
    I64,
    OPPOSITE,
    Bools,
    Count,
    asked_later,
)
from lupai.agents.gouji.tactical.planning import Plan
from lupai.agents.gouji.tactical.weights import LAST, NEAR, SPAN, TERMS, Wills
from lupai.envs.cards import RANK_B, RANK_R
from lupai.envs.gouji.actions import SET, VERB_ID
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.sets import IS_GOUJI, PARTS, ROW_TWOS, SIZE
from lupai.envs.gouji.state import Kind
from lupai.envs.seats import NOBODY, next_seat

Columns = dict[str, npt.NDArray[Any]]

_NEXT: Final = next_seat(SEATS)
_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]


def worth_a_look(count: Count, standing: I64, ids: npt.NDArray[np.int32], rows: I64) -> Bools:
    """``[C] bool``: legal ids that somebody in his senses might play.

    All words and the whole hand; sets without 2s and jokers; of the others those that take all
    cards of their rank or none, as a lead with 2s one, or all, and likewise jokers; as answer those
    that need one joker at most, or as many as the set to beat has small ones.
    """
    keep = ids < SET
    sets = np.flatnonzero(~keep)
    place, at = ids[sets] - SET, rows[sets]
    row, n, t, b, r = PARTS[place].T
    own = count.own
    held = own[at, np.minimum(row, ROW_TWOS - 1)]
    twos, smalls, bigs = own[at, ROW_TWOS], own[at, RANK_B], own[at, RANK_R]
    over = standing[at]
    lead = over == NOBODY
    needed = np.where(lead, 0, PARTS[over, 3])
    helps = t + b + r
    ends = (n == held) | (n == 0)
    few = (b + r <= 1) | (b == smalls) & (r == bigs)
    led = ends & ((t <= 1) | (t == twos)) & few
    answered = ends | (helps <= np.maximum(needed, 1))
    keep[sets] = (helps == 0) | np.where(lead, led, answered)
    keep[sets] |= SIZE[place] == count.my_size[at]
    return keep


class Trick:
    """What N players know of their tables in the middle of play.

    Args:
        state: masked tables, all in play.
        me: ``[N]`` the players.
    """

    def __init__(self, state: Any, me: npt.NDArray[np.intp], wills: Wills) -> None:
        self.state, self.me = state, me
        self.count = count = Count(state, me)
        self.nat, self.hung = wills.blend(count.sizes / FULL)
        self.plan = Plan(count, self.nat, self.hung)
        self.near = np.exp(-count.sizes / NEAR).astype(np.float32) * count.alive
        self.near_foe = (self.near * (1 - FRIEND)).max(axis=1)
        self.near_friend = (self.near * FRIEND).max(axis=1)
        self.standing = state.standing.astype(np.int64)
        self.owner = state.owner.astype(np.intp)
        self.relative = np.where(self.owner == NOBODY, 0, (self.owner - me) % SEATS)
        row, column = np.arange(len(me)), np.maximum(self.relative - 1, 0)
        theirs = self.relative > 0
        near = self.near[row, column]
        self.over = theirs * FRIEND[column]
        self.opposite = theirs & (column == OPPOSITE)
        self.owner_near = near
        self.stake = self._stake()

    def _stake(self) -> F32:
        """``[N]``: 1 where one side has 头科 and 二科 and 三科 is open."""
        places = self.state.places
        first, second = ((places == place).argmax(axis=1) for place in (1, 2))
        open_third = (places == 2).any(axis=1) & ~(places == 3).any(axis=1)
        found: F32 = (open_third & (first % 2 == second % 2)).astype(np.float32)
        return found

    def terms(self, ids: npt.NDArray[np.int32], rows: I64) -> Columns:
        """Terms by name, each ``[C]``, of legal id i at table ``rows[i]``."""
        columns: Columns = {name: np.zeros(len(ids), np.float32) for name in TERMS}
        sets = np.flatnonzero(ids >= SET)
        if sets.size:
            for name, values in self._of_sets(ids[sets] - SET, rows[sets]).items():
                columns[name][sets] = values
        rest = np.flatnonzero(ids < SET)
        if rest.size:
            for name, values in self._of_passing().items():
                columns[name][rest] = values[rows[rest]]
            columns["yield"][rest] = ids[rest] == _YIELD
            columns["pass"][rest] = (ids[rest] == _PASS) | (ids[rest] == _YIELD)
        return columns

    def _of_sets(self, places: npt.NDArray[Any], at: I64) -> Columns:
        count, plan, state = self.count, self.plan, self.state
        row, n, t, b, r = PARTS[places].astype(np.int64).T
        size = n + t + b + r
        natural = row < ROW_TWOS
        rank = np.where(natural, row, 0)
        held = np.where(natural, count.own[at, rank], 0)
        before, after = (np.minimum(v, SIZES - 1) for v in (held, held - n))
        weak = plan.weak[at, rank, before] - plan.weak[at, rank, after]
        dump = plan.dump[at, rank, before] - plan.dump[at, rank, after]
        melee = state.melee[at] == 1
        leads = self.standing[at] == NOBODY
        burns = state.burning[at] == 1
        gouji = ~melee & (IS_GOUJI[places] | (state.kind[at] != Kind.ORDINARY) & ~leads)
        death = ~melee & (state.bottom[at] > 0) & self.opposite[at]
        may = count.may[np.where(gouji, 1, 0), at] & ~death[:, None]
        answers = count.beaten(at, row, n + t, b, r, self.nat, self.hung) * may
        hold = np.prod(1 - answers, axis=1)
        losers = plan.losers[at] - weak
        late = np.exp(-plan.soft(at, losers, t, b, r) / SPAN)
        whole = natural & (held == n)
        few = plan.few(at, whole)
        spends = gouji | (t + b + r > 0)
        columns: Columns = {
            "set": whole, "set_late": whole * late, "set_few": whole * few,
            "weak": weak,
            "dump": dump,
            "cards": size / 3,
            "twos": t, "twos_full": t * plan.full[at],
            "small": b, "small_full": b * plan.full[at], "small_spare": b * plan.spare[at],
            "big": r, "big_full": r * plan.full[at], "big_spare": r * plan.spare[at],
            "help_foe": (t + b + r) * self.near_foe[at],
            "lead_cards": size * leads / 3, "lead_weak": weak * leads, "lead_dump": dump * leads,
            "lead_twos": t * leads, "lead_jokers": (b + r) * leads, "lead_gouji": gouji & leads,
            "lead_hold": hold * leads,
            "hold": hold, "hold_full": hold * plan.full[at], "hold_late": hold * late,
            "hold_few": hold * few, "hold_foe": hold * self.near_foe[at],
            "hold_friend": hold * self.near_friend[at],
            "hold_weak": hold * losers / 4,
            "hold_stake": hold * self.stake[at],
            "to_friend": (answers * FRIEND).sum(axis=1) * (1 - hold),
            "over": self.over[at],
            "over_near": self.over[at] * self.owner_near[at],
            "over_opposite": self.opposite[at],
            "over_opposite_near": self.opposite[at] * self.owner_near[at],
            "gouji_other": spends & ~leads & ~self.opposite[at],
            "death": death,
            "burn": burns, "burn_few": burns * few, "burn_over": burns * self.over[at],
        }  # fmt: skip
        columns["goes_out"] = size == count.my_size[at]
        sure = count.sure(at, row, n + t, b, r)
        columns["runs_out"] = sure & plan.runs_out(at, row, n, t, b, r)
        return columns

    def _of_passing(self) -> Columns:
        """Terms ``[N]`` of leaving the standing set to the others; 0 for a lead."""
        state, count = self.state, self.count
        names = (
            "left_friend", "left_friend_near", "left_friend_last", "left_friend_stake", "left_foe",
            "left_foe_near", "left_foe_last", "left_foe_stake", "left_opposite", "left_me",
            "left_late", "to_friend",
        )  # fmt: skip
        out: Columns = {name: np.zeros(len(self.me), np.float32) for name in names}
        i = np.flatnonzero(self.standing != NOBODY)
        if not i.size:
            return out
        row, n, t, b, r = PARTS[self.standing[i]].astype(np.int64).T
        asked = count.among(asked_later(state))[i]
        beat = count.beaten(i, row, n + t, b, r, self.nat, self.hung) * asked
        stands = np.prod(1 - beat, axis=1)
        owner, alive = self.owner[i], state.alive[i].astype(np.intp)
        heir = np.where(alive >> owner & 1 == 1, owner, _NEXT[alive, owner])
        relative = (heir - self.me[i]) % SEATS
        mine = relative == 0
        column = np.maximum(relative - 1, 0)
        friend = np.where(mine, 0, FRIEND[column])
        foe = np.where(mine, 0, 1 - FRIEND[column])
        near = self.near[i, column]
        last = np.exp((1 - count.sizes[i, column]) / LAST)
        none = np.zeros(len(i), np.int64)
        soft = self.plan.soft(i, self.plan.losers[i], none, none, none)
        values: Columns = {
            "left_friend": stands * friend, "left_friend_near": stands * friend * near,
            "left_friend_last": stands * friend * last,
            "left_friend_stake": stands * friend * self.stake[i],
            "left_foe": stands * foe, "left_foe_near": stands * foe * near,
            "left_foe_last": stands * foe * last, "left_foe_stake": stands * foe * self.stake[i],
            "left_opposite": stands * (foe > 0) * (column == OPPOSITE),
            "left_me": stands * mine, "left_late": stands * mine * np.exp(-soft / SPAN),
            "to_friend": (beat * FRIEND).sum(axis=1) * (1 - stands),
        }  # fmt: skip
        for name, value in values.items():
            out[name][i] = value
        return out
