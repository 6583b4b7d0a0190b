"""Tricks: every legal move is described by the same few terms; the best weighted sum is played.

Terms of a set (0 for a pass), counted in sets, cards or chances:

``goes_out``    it empties the hand
``runs_out``    nobody can beat it, and the rest then surely goes out
``set``         it leaves no card of its rank behind; ``set_late`` as the rest is about to run out,
                ``set_few`` as few sets are left
``weak``        by how much it lowers the expected number of sets that will not win their trick
``dump``        of these, how many would have found a set to answer
``cards``       its cards, in threes
``small`` …     jokers spent: ``small``, ``big``, ``x``; ``*_full`` times the share of the hand that
                is left; ``*_spare`` times how far they are more than there are sets in need;
                ``joker_foe`` as an opponent is about to go out
``lead_*``      cards, weak sets, dumps and jokers of a lead
``hold``        chance that it wins the lead; ``hold_full`` times the share of the hand that is
                left; ``hold_late`` as the rest is about to run out, ``hold_few`` as few sets are
                left, ``hold_foe`` as an opponent is about to go out, ``hold_friend`` as a friend
                is; ``hold_weak`` per weak set left; ``lead_hold`` for a lead
``over``        it beats a friend's set; ``over_near`` as that friend is about to go out
``reveal``      it shows the identity card

Terms of a pass (0 for a set): ``pass``; ``yield`` and ``claim`` where it is one; ``left_friend``,
``left_foe`` the chance that the standing set wins, and who then leads, ``*_near`` as he is about to
go out, ``*_last`` with hardly a card left; ``left_me``, ``left_late`` if that is the player (接风).
A term of both: ``to_friend``, a friend beats the set.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.chances import F32, SIZES
from lupai.agents.tactical.beliefs import Belief, friends
from lupai.agents.tactical.counting import I64, Count
from lupai.agents.tactical.planning import Plan
from lupai.agents.tactical.weights import FEW, LAST, NEAR, SPAN, TERMS, Wills
from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.sets import NUM_SETS, PARTS
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import RANK_B, RANK_R
from lupai.envs.seats import NOBODY, members, next_seat
from lupai.envs.sets import ROW_JOKERS

Columns = dict[str, npt.NDArray[Any]]

_NEXT: Final = next_seat(SEATS)
_MEMBERS: Final = members(SEATS).astype(bool)
_YIELD: Final = VERB_ID["yield"]
_CLAIM: Final = VERB_ID["claim"]
_SET_PARTS: Final = np.zeros((ACTIONS.size, 5), np.int64)  # rank, n, b, r, identity
_SET_PARTS[SET:SET_IDENTITY, :4] = PARTS[:NUM_SETS]
_SET_PARTS[SET_IDENTITY:, :4] = PARTS
_SET_PARTS[SET_IDENTITY:, 4] = 1


class Trick:
    """What N players know of their tables in the middle of play.

    Args:
        state: masked tables, all in play.
        me: ``[N]`` the players.
    """

    def __init__(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], wills: Wills, belief: Belief
    ) -> None:
        self.rules, self.state, self.me = rules, state, me
        self.count = Count(rules, state, me)
        friend = friends(rules, state, me, self.count.seats, belief).astype(np.float32)
        self.friend = friend
        self.nat, self.hung = wills.blend(friend, self.count.sizes / self.count.start)
        self.plan = Plan(rules, self.count, self.nat, self.hung)
        self.near = np.exp(-self.count.sizes / NEAR).astype(np.float32) * self.count.alive
        self.near_foe = (self.near * (1 - friend)).max(axis=1)
        self.near_friend = (self.near * friend).max(axis=1)
        standing = state.standing.astype(np.int64)
        self.owner = state.owner.astype(np.intp)
        relative = (self.owner - me) % SEATS
        theirs = (standing != NOBODY) & (relative > 0)
        row = np.arange(len(me))
        column = np.maximum(relative - 1, 0)
        self.over = np.where(theirs, friend[row, column], 0)
        self.over_near = self.over * self.near[row, column]

    def terms(self, ids: npt.NDArray[np.int32], rows: I64) -> Columns:
        """Terms by name, each ``[C]``, of legal id i at table ``rows[i]``."""
        columns: Columns = {name: np.zeros(len(ids), np.float32) for name in TERMS}
        sets = np.flatnonzero(ids >= SET)
        if sets.size:
            for name, values in self._of_sets(ids[sets], rows[sets]).items():
                columns[name][sets] = values
        rest = np.flatnonzero(ids < SET)
        if rest.size:
            for name, values in self._of_passing().items():
                columns[name][rest] = values[rows[rest]]
            columns["yield"][rest] = ids[rest] == _YIELD
            columns["claim"][rest] = ids[rest] == _CLAIM
        return columns

    def _of_sets(self, ids: npt.NDArray[np.int32], at: I64) -> Columns:
        count, plan = self.count, self.plan
        rank, n, b, r, flag = _SET_PARTS[ids].T
        x = flag * self.rules.supreme
        size = n + b + r + x
        row = np.where(rank < ROW_JOKERS, rank, 0)
        held = np.where(rank < ROW_JOKERS, count.own[at, row], 0)
        before = np.minimum(held, SIZES - 1)
        after = np.minimum(held - n, SIZES - 1)
        weak = plan.weak[at, row, before] - plan.weak[at, row, after]
        dump = plan.dump[at, row, before] - plan.dump[at, row, after]
        answers = count.beaten(at, rank, n, b, r, x, self.nat[at], self.hung[at])
        answers = answers * count.to_answer[at]
        hold = np.prod(1 - answers, axis=1)
        soft = self._soft(at, plan.losers[at] - weak, b, r, x)
        late = np.exp(-np.maximum(soft, 0) / SPAN)
        breaks = (held > n) & (n > 0)
        whole = (n > 0) & ~breaks
        few = np.exp(-(plan.sets[at] - whole) / FEW)
        leads = self.state.standing[at] < 0
        columns: Columns = {
            "set": whole, "set_late": whole * late, "set_few": whole * few,
            "weak": weak,
            "dump": dump,
            "cards": size / 3,
            "small": b, "small_full": b * plan.full[at], "small_spare": b * plan.spare[at],
            "big": r, "big_full": r * plan.full[at], "big_spare": r * plan.spare[at],
            "x": x, "x_full": x * plan.full[at],
            "lead_small": b * leads, "lead_big": (r + x) * leads,
            "lead_cards": size * leads / 3, "lead_weak": weak * leads, "lead_dump": dump * leads,
            "joker_foe": (b + r + x) * self.near_foe[at],
            "hold": hold, "hold_full": hold * plan.full[at], "hold_late": hold * late,
            "hold_few": hold * few, "lead_hold": hold * leads,
            "hold_foe": hold * self.near_foe[at],
            "hold_friend": hold * self.near_friend[at],
            "hold_weak": hold * (plan.losers[at] - weak) / 4,
            "to_friend": (answers * self.friend[at]).sum(axis=1) * (1 - hold),
            "over": self.over[at],
            "over_near": self.over_near[at],
            "reveal": flag * (not self.rules.supreme),
        }  # fmt: skip
        sure = count.sure(at, rank, n, b, r, x, self.rules.three_twos_beat_big)
        columns["goes_out"] = size == count.my_size[at]
        columns["runs_out"] = sure & plan.runs_out(at, rank, n, b, r, x)
        return columns

    def _soft(self, at: I64, losers: F32, b: I64, r: I64, x: I64) -> F32:
        """Sets in need of help beyond the last and those that jokers help."""
        own = self.count.own
        bigs = own[at, RANK_R] - r + self.count.own_x[at] - x
        soft: F32 = losers - bigs - 0.6 * (own[at, RANK_B] - b) - 1
        return soft

    def _of_passing(self) -> Columns:
        """Terms ``[N]`` of leaving the standing set to the others; 0 for a lead."""
        state, count = self.state, self.count
        standing = state.standing.astype(np.int64)
        names = (
            "pass", "left_friend", "left_friend_near", "left_friend_last", "left_foe",
            "left_foe_near", "left_foe_last", "left_me", "left_late", "to_friend",
        )  # fmt: skip
        out: Columns = {name: np.zeros(len(self.me), np.float32) for name in names}
        i = np.flatnonzero(standing >= 0)
        if not i.size:
            return out
        rank, n, b, r, flag = _SET_PARTS[standing[i]].T
        x = flag * self.rules.supreme
        later = np.where(state.circle[i] == 1, state.yielded[i], 0)
        still = (state.to_ask[i] | later).astype(np.int64) & ~(1 << self.me[i])
        asked = _MEMBERS[still, :][np.arange(len(i))[:, None], count.seats[i]]
        beat = count.beaten(i, rank, n, b, r, x, self.nat[i], self.hung[i]) * asked
        stands = np.prod(1 - beat, axis=1)
        owner = self.owner[i]
        alive = state.alive[i].astype(np.intp)
        heir = np.where(alive >> owner & 1 == 1, owner, _NEXT[alive, owner])
        relative = (heir - self.me[i]) % SEATS
        mine = relative == 0
        column = np.where(mine, 0, relative - 1)
        friend = np.where(mine, 0, self.friend[i, column])
        foe = np.where(mine, 0, 1 - self.friend[i, column])
        near = self.near[i, column]
        last = np.exp((1 - count.sizes[i, column]) / LAST)
        none = np.zeros(len(i), np.int64)
        soft = self._soft(i, self.plan.losers[i], none, none, none)
        values: Columns = {
            "pass": np.ones(len(i)),
            "left_friend": stands * friend, "left_friend_near": stands * friend * near,
            "left_friend_last": stands * friend * last, "left_foe_last": stands * foe * last,
            "left_foe": stands * foe, "left_foe_near": stands * foe * near,
            "left_me": stands * mine,
            "to_friend": (beat * self.friend[i]).sum(axis=1) * (1 - stands),
            "left_late": stands * mine * np.exp(-np.maximum(soft, 0) / SPAN),
        }  # fmt: skip
        for name, value in values.items():
            out[name][i] = value
        return out
