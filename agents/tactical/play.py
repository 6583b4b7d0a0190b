"""Tricks: every legal move gets a price, the best is played."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.tactical.beliefs import Belief, friends
from lupai.agents.tactical.counting import F32, I64, SIZES, Count
from lupai.agents.tactical.planning import Plan
from lupai.agents.tactical.weights import Weights
from lupai.envs.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.legal import set_of_action
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.seats import members, next_seat
from lupai.envs.sets import NUM_SETS, PARTS, ROW_JOKERS

_GOES_OUT: Final = 1000.0
_RUNS_OUT: Final = 500.0
_NEXT: Final = next_seat(SEATS)
_MEMBERS: Final = members(SEATS).astype(bool)
_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]
_CLAIM: Final = VERB_ID["claim"]
_SET_PARTS: Final = np.zeros((ACTIONS.size, 5), np.int64)  # rank, n, b, r, identity
_SET_PARTS[SET:SET_IDENTITY, :4] = PARTS[:NUM_SETS]
_SET_PARTS[SET_IDENTITY:, :4] = PARTS
_SET_PARTS[SET_IDENTITY:, 4] = 1


class Trick:
    """What N players know of their tables in the middle of play, and their prices of moves."""

    def __init__(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], w: Weights, belief: Belief
    ) -> None:
        self.rules, self.state, self.me, self.w = rules, state, me, w
        self.count = Count(rules, state, me)
        friend = friends(rules, state, me, self.count.seats, belief).astype(np.float32)
        self.friend = friend
        self.nat = (w.foe_natural + (w.friend_natural - w.foe_natural) * friend).astype(np.float32)
        self.hung = (w.foe_joker + (w.friend_joker - w.foe_joker) * friend).astype(np.float32)
        self.plan = Plan(rules, self.count, self.nat, self.hung, w)
        self._lead_values()

    def _lead_values(self) -> None:
        """What it is worth that each other seat leads, ``[N, 4]``, and that the player does."""
        w = self.w
        near = np.exp(-self.count.sizes / w.near)
        foe = w.foe_leads + w.foe_near * near
        ally = w.friend_leads + w.friend_near * near
        self.leads = self.friend * ally - (1 - self.friend) * foe

    def prices(self, ids: npt.NDArray[np.int32], rows: I64) -> npt.NDArray[np.float64]:
        """Price ``[C]`` of each legal id of table ``rows[i]``; higher is better."""
        price = np.zeros(len(ids))
        sets = ids >= SET
        i = np.flatnonzero(sets)
        if i.size:
            price[i] = self._of_sets(ids[i], rows[i])
        i = np.flatnonzero(~sets)
        if i.size:
            extra = np.where(ids[i] == _YIELD, 2e-3, np.where(ids[i] == _CLAIM, 1e-3, 0.0))
            price[i] = self._of_passing()[rows[i]] + extra
        return price

    def _of_sets(self, ids: npt.NDArray[np.int32], at: I64) -> npt.NDArray[np.float64]:
        count, plan, w = self.count, self.plan, self.w
        rank, n, b, r, flag = _SET_PARTS[ids].T
        x = flag * self.rules.supreme
        size = n + b + r + x
        natural = rank < ROW_JOKERS
        row = np.where(natural, rank, 0)
        held = np.where(natural, count.own[at, row], 0)
        before = np.minimum(held, SIZES - 1)
        after = np.minimum(held - n, SIZES - 1)
        gain = plan.cost[at, row, before] - plan.cost[at, row, after]
        gain = gain - b * plan.small[at] - r * plan.big[at] - x * plan.x[at]
        if not self.rules.supreme:
            gain = gain - flag * w.reveal
        answers = self.beaters(at, rank, n, b, r, x, self.nat[at], self.hung[at])
        hold = np.prod(1 - answers * count.to_answer[at], axis=1)
        losers = plan.losers[at] - plan.weak[at, row, before] + plan.weak[at, row, after]
        bigs = count.own[at, 14] - r + count.own_x[at] - x
        soft = losers - bigs - 0.6 * (count.own[at, 13] - b) - 1
        lead = w.lead + w.lead_late * np.exp(-np.maximum(soft, 0) / w.lead_span)
        price = gain + lead * hold
        price -= self._feeding(at, rank, n, b, r, x, size, count.to_answer[at])
        sure = count.sure(at, rank, n, b, r, x, self.rules.three_twos_beat_big)
        runs = sure & plan.runs_out(at, rank, n, b, r, x)
        price = np.where(runs, _RUNS_OUT + price, price)
        return np.where(size == count.my_size[at], _GOES_OUT + price, price)

    def beaters(
        self, at: I64, rank: I64, n: I64, b: I64, r: I64, x: I64, nat: F32, hung: F32
    ) -> F32:
        """Chance ``[C, 4]`` that each other seat beats a set of the player's."""
        return self.count.beaten(at, rank, n, b, r, x, nat, hung)

    def _feeding(
        self, at: I64, rank: I64, n: I64, b: I64, r: I64, x: I64, size: I64, asked: F32
    ) -> F32:
        """What it costs that somebody may go out by answering with his last cards."""
        ends = (self.count.sizes[at] == size[:, None]) & asked
        cost = np.zeros(len(at), np.float32)
        i = np.flatnonzero(ends.any(axis=1))
        if i.size:
            ones = np.ones((len(i), SEATS - 1), np.float32)
            beat = self.count.beaten(at[i], rank[i], n[i], b[i], r[i], x[i], ones, ones) * ends[i]
            friend = self.friend[at[i]]
            cost[i] = (beat * (self.w.feed * (1 - friend) - self.w.feed_friend * friend)).sum(1)
        return cost

    def _of_passing(self) -> npt.NDArray[np.float64]:
        """Price ``[N]`` of leaving the standing set to the others; 0 for a lead."""
        state, count, w = self.state, self.count, self.w
        standing = state.standing.astype(np.int64)
        out = np.zeros(len(self.me))
        i = np.flatnonzero(standing >= 0)
        if not i.size:
            return out
        rank, n, b, r, flag = _SET_PARTS[standing[i]].T
        x = flag * self.rules.supreme
        size = n + b + r + x
        bit = 1 << self.me[i]
        still = (state.to_ask[i].astype(np.int64) & ~bit) | state.yielded[i]
        still = np.where(state.circle[i] == 2, state.to_ask[i].astype(np.int64) & ~bit, still)
        asked = _MEMBERS[still[:, None], count.seats[i]]
        beat = self.beaters(i, rank, n, b, r, x, self.nat[i], self.hung[i]) * asked
        stands = np.prod(1 - beat, axis=1)
        owner = state.owner[i].astype(np.intp)
        alive = state.alive[i].astype(np.intp)
        heir = np.where(alive >> owner & 1 == 1, owner, _NEXT[alive, owner])
        relative = (heir - self.me[i]) % SEATS
        mine = relative == 0
        theirs = self.leads[i, np.where(mine, 0, relative - 1)]
        soft = self.plan.losers[i] - count.own[i, 14] - count.own_x[i] - 0.6 * count.own[i, 13] - 1
        my_lead = w.lead + w.lead_late * np.exp(-np.maximum(soft, 0) / w.lead_span)
        value = stands * np.where(mine, my_lead, theirs)
        out[i] = value - self._feeding(i, rank, n, b, r, x, size, asked)
        return out
