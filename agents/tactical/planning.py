"""A hand as sets to get rid of: what each costs, which win the lead, which need help.

All cards of a rank make one set. One that nobody will beat costs little: it brings the lead back.
The others (losers) cost a turn each, unless a joker is hung on them.
"""

from __future__ import annotations

import numpy as np

from lupai.agents.tactical.counting import F32, I64, SIZES, Bools, Count
from lupai.agents.tactical.weights import Weights
from lupai.envs.baohuang.rules import Rules
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R, RANKS

_SIX = RANKS.index("6")
_SIZE = np.arange(SIZES)


class Plan:
    """Costs of the sets of N hands.

    Attributes:
        cost: ``[N, 13, SIZES]`` cost of holding so many of a rank.
        weak: ``[N, 13, SIZES]`` chance that it needs help to win a lead.
        losers: ``[N]`` expected sets that need help.
        joker, big, x: ``[N]`` worth of each joker in hand.
        late: ``[N]`` share of a full hand that is gone.
    """

    def __init__(self, rules: Rules, count: Count, nat: F32, hung: F32, w: Weights) -> None:
        n = len(count.me)
        self.count, self.rules, self.w = count, rules, w
        can = count.can[:, :, :NATURAL_RANKS]
        beat = np.zeros_like(can)
        one_less = can[:, :, :, :-1]
        joker = (count.has_joker * hung)[:, :, None, None]
        beat[..., 1:] = 1 - (1 - can[..., 1:] * nat[:, :, None, None]) * (1 - one_less * joker)
        beat *= (_SIZE <= count.sizes[:, :, None])[:, :, None, :]
        self.hold = np.prod(1 - beat, axis=1)  # [N, 13, SIZES]
        self.weak = 1 - self.hold
        self.weak[:, :, 0] = 0
        self.cost = self._costs()
        if rules.hold_sixes:
            self.cost[:, _SIX, 1:] = w.sixes
            self.weak[:, _SIX, 1:] = 1
        held = np.minimum(count.own[:, :NATURAL_RANKS], SIZES - 1)
        at = np.arange(n)[:, None], np.arange(NATURAL_RANKS), held
        self.losers = self.weak[at].sum(axis=1)
        self._jokers()
        self._sure()

    def _costs(self) -> F32:
        count, w = self.count, self.w
        # how many lower sets of just this size are to be expected in the other hands
        lower = np.zeros((len(count.me), NATURAL_RANKS, SIZES), np.float32)
        exact = count.exact.sum(axis=1)
        for rank in range(1, NATURAL_RANKS):
            np.add(lower[:, rank - 1], exact[:, rank - 1], out=lower[:, rank])
        dump = lower / (lower + 2.0)
        cost: F32 = 1 - w.hold * self.hold - w.dump * dump * self.weak
        cost[:, :, 0] = 0
        return cost

    def _jokers(self) -> None:
        count, w = self.count, self.w
        full = np.clip(count.my_size / count.start, 0, 1)
        self.full = full
        mine = count.own[:, RANK_B] + count.own[:, RANK_R] + count.own_x
        scarce = np.clip(self.losers / np.maximum(mine, 1), 0, 1)
        keep = 1 - w.spare * (1 - scarce)
        self.small = (w.small_empty + (w.small_full - w.small_empty) * full) * keep
        self.big = (w.big_empty + (w.big_full - w.big_empty) * full) * keep
        self.x = (w.x_empty + (w.x_full - w.x_empty) * full) * keep

    def _sure(self) -> None:
        """Ranks that cannot be beaten as they are held, and how many cannot."""
        count = self.count
        held = count.own[:, :NATURAL_RANKS]
        stock = count.most_above[:, :NATURAL_RANKS] + count.jokers[:, None]
        self.limit = np.minimum(stock, count.largest[:, None] - 0)  # beatable up to this size
        loses = (held > 0) & (held <= self.limit)
        if self.rules.hold_sixes:
            loses[:, _SIX] = held[:, _SIX] > 0
        self.loses = loses
        self.certain_losers = loses.sum(axis=1)

    def runs_out(self, at: I64, rank: I64, n: I64, b: I64, r: I64, x: I64) -> Bools:
        """``[C]``: whether after each of these sets, if it wins, the rest surely goes out: all
        further sets but the last cannot be beaten, with jokers hung on those that need them."""
        count = self.count
        natural = rank < NATURAL_RANKS
        row = np.where(natural, rank, 0)
        held = count.own[at, row]
        left = held - n
        limit = self.limit[at, row]
        six = self.rules.hold_sixes & (row == _SIX)
        was = self.loses[at, row] & natural
        now = (left > 0) & ((left <= limit) | six) & natural
        losers = self.certain_losers[at] - was + now
        small = count.own[at, RANK_B] - b
        big = count.own[at, RANK_R] - r
        own_x = count.own_x[at] - x
        # a big joker makes a set unbeatable (two against 特画), so do more small ones than
        # there are bigs out
        helped = np.where(count.unseen_x[at], big // 2, big) + own_x
        helped = helped + small // (count.bigs[at] + 1)
        last = 1
        if self.rules.hold_sixes:  # the last set is the sixes, which no joker helps
            sixes = count.own[at, _SIX] - np.where(row == _SIX, n * natural, 0) > 0
            losers, last = losers - sixes, 1 - sixes
        good: Bools = losers - helped <= last
        return good
