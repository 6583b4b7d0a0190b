"""A hand as sets to get rid of: what each costs, which win the lead, which need help.

All cards of a rank make one set. One that nobody will beat costs little: it brings the lead back.
The others (losers) cost a turn each, unless a joker is hung on them.
"""

from __future__ import annotations

import numpy as np

from lupai.agents.chances import F32, SIZES
from lupai.agents.tactical.counting import I64, Bools, Count
from lupai.envs.baohuang.rules import Rules
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R, RANKS

_SIX = RANKS.index("6")
_SIZE = np.arange(SIZES)


class Plan:
    """Costs of the sets of N hands.

    Attributes:
        hold: ``[N, 13, SIZES]`` chance that a lead of so many of a rank wins.
        weak: the contrary, 0 for no card.
        dump: of this, the share that will find a set to answer.
        sets: ``[N]`` ranks held.
        losers: ``[N]`` expected sets that need help.
        full: ``[N]`` share of a full hand that is left.
        spare: ``[N]`` share of the own jokers that no set needs.
    """

    def __init__(self, rules: Rules, count: Count, nat: F32, hung: F32) -> None:
        n = len(count.me)
        self.count, self.rules = count, rules
        can = count.can[:, :, :NATURAL_RANKS]
        joker = (count.has_joker * hung)[:, :, None, None]
        safe = 1 - can[..., 1:] * nat[:, :, None, None]
        safe *= 1 - can[..., :-1] * joker
        np.maximum(safe, (_SIZE[1:] > count.sizes[:, :, None])[:, :, None, :], out=safe)
        self.hold = np.ones((n, NATURAL_RANKS, SIZES), np.float32)
        self.hold[..., 1:] = safe[:, 0] * safe[:, 1] * (safe[:, 2] * safe[:, 3])
        self.weak = 1 - self.hold
        self.weak[:, :, 0] = 0
        if rules.hold_sixes:
            self.weak[:, _SIX, 1:] = 1
        # how many lower sets of just this size are to be expected in the other hands
        lower = np.zeros((n, NATURAL_RANKS, SIZES), np.float32)
        exact = count.exact
        for rank in range(1, NATURAL_RANKS):
            np.add(lower[:, rank - 1], exact[:, rank - 1], out=lower[:, rank])
        self.dump = lower / (lower + 2) * self.weak
        held = np.minimum(count.own[:, :NATURAL_RANKS], SIZES - 1)
        self.losers = self.weak[np.arange(n)[:, None], np.arange(NATURAL_RANKS), held].sum(axis=1)
        self.sets = (held > 0).sum(axis=1)
        self.full = np.clip(count.my_size / count.start, 0, 1)
        mine = count.own[:, RANK_B] + count.own[:, RANK_R] + count.own_x
        self.spare = 1 - np.clip(self.losers / np.maximum(mine, 1), 0, 1)
        self._sure()

    def _sure(self) -> None:
        """Ranks that cannot be beaten as they are held, and how many cannot."""
        count = self.count
        held = count.own[:, :NATURAL_RANKS]
        stock = count.most_above[:, :NATURAL_RANKS] + count.jokers[:, None]
        self.limit = np.minimum(stock, count.largest_later[:, None])  # beatable up to this size
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
