"""A hand as sets to get rid of: what each costs, which win the lead, which need help.

All cards of a rank below 2 make one set. One that nobody will beat costs little: it brings the lead
back. The others (losers) cost a turn each, unless a joker is hung on them or 2s make them larger.
A 够级牌 has one opponent who may answer it, any other set five. 2s are no set of their own.
"""

from __future__ import annotations

import numpy as np

from lupai.agents.chances import F32, SIZES
from lupai.agents.gouji.tactical.counting import (
    FULL,
    I64,
    NATURAL_GOUJI,
    OTHERS,
    Bools,
    Count,
)
from lupai.agents.gouji.tactical.weights import FEW
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R
from lupai.envs.gouji.sets import ROW_TWOS

_SIZE = np.arange(SIZES)


class Plan:
    """Costs of the sets of N hands.

    Attributes:
        hold: ``[N, 13, SIZES]`` chance that a later lead of so many cards of a row wins.
        weak: the contrary, 0 for no card.
        dump: of this, the share that will find a set to answer.
        sets: ``[N]`` ranks below 2 held.
        losers: ``[N]`` expected sets that need help.
        strong: ``[N]`` sets that are 够级牌 and will probably win.
        full: ``[N]`` share of a full hand that is left.
        spare: ``[N]`` share of the own jokers that no set needs.
    """

    def __init__(self, count: Count, nat: F32, hung: F32) -> None:
        n = len(count.me)
        self.count = count
        can = count.can[:, :, :ROW_TWOS]
        beat = np.empty((n, OTHERS, NATURAL_RANKS, SIZES - 1), np.float32)
        help_one = (count.help[0] * hung)[:, :, None, None]
        naturals = beat[:, :, :ROW_TWOS]
        np.multiply(can[..., 1:], nat[:, :, None, None], out=naturals)
        np.subtract(1, naturals, out=naturals)
        naturals *= 1 - can[..., :-1] * help_one
        np.subtract(1, naturals, out=naturals)
        beat[:, :, ROW_TWOS] = count.joker_tail[..., 1:] * hung[:, :, None]
        beat *= (_SIZE[1:] <= count.sizes[:, :, None])[:, :, None, :]
        ordinary, gouji = (np.prod(1 - beat * may[:, :, None, None], axis=1) for may in count.later)
        self.hold = np.ones((n, NATURAL_RANKS, SIZES), np.float32)
        self.hold[..., 1:] = np.where(NATURAL_GOUJI[None, :, 1:], gouji, ordinary)
        self.weak = 1 - self.hold
        self.weak[:, :, 0] = 0
        # how many lower sets of just this size are to be expected in the other hands
        lower = np.zeros((n, NATURAL_RANKS, SIZES), np.float32)
        for rank in range(1, NATURAL_RANKS):
            np.add(lower[:, rank - 1], count.exact[:, rank - 1], out=lower[:, rank])
        self.dump = lower / (lower + 2) * self.weak
        held = np.minimum(count.own[:, :ROW_TWOS], SIZES - 1)
        row = np.arange(n)[:, None]
        ranks = np.arange(ROW_TWOS)
        weak = self.weak[row, ranks, held]
        self.losers = weak.sum(axis=1)
        self.sets = (held > 0).sum(axis=1)
        self.strong = ((1 - weak) * NATURAL_GOUJI[ranks, held]).sum(axis=1)
        self.full = np.clip(count.my_size / FULL, 0, 1)
        mine = count.own[:, RANK_B] + count.own[:, RANK_R]
        self.spare = 1 - np.clip(self.losers / np.maximum(mine, 1), 0, 1)
        self._sure()

    def _sure(self) -> None:
        """Ranks that can be beaten as they are held, and how many can."""
        count = self.count
        held = count.own[:, :ROW_TWOS]
        spare = count.bigs + count.smalls + count.twos
        stock = count.most_above[:, :ROW_TWOS] + spare[:, None]
        self.limit = np.minimum(stock, count.largest[:, None])  # beatable up to this size
        self.loses = (held > 0) & (held <= self.limit)
        self.certain_losers = self.loses.sum(axis=1)

    def runs_out(self, at: I64, row: I64, n: I64, t: I64, b: I64, r: I64) -> Bools:
        """``[C]``: whether after each of these sets, if it wins, the rest surely goes out: all
        further sets but the last cannot be beaten, with jokers hung on those that need them."""
        count = self.count
        natural = row < ROW_TWOS
        rank = np.where(natural, row, 0)
        left = count.own[at, rank] - n
        was = self.loses[at, rank] & natural
        now = (left > 0) & (left <= self.limit[at, rank]) & natural
        losers = self.certain_losers[at] - was + now
        # a big joker makes a set unbeatable, so do more small ones than there are bigs out
        helped = count.own[at, RANK_R] - r
        helped = helped + (count.own[at, RANK_B] - b) // (count.bigs[at] + 1)
        good: Bools = losers - helped <= 1
        return good

    def soft(self, at: I64, losers: F32, twos: I64, smalls: I64, bigs: I64) -> F32:
        """Sets in need of help beyond the last and those that jokers and 2s help, ``[C]``.

        Args:
            losers: expected sets that need help; then 2s and jokers spent.
        """
        own = self.count.own
        helped = (
            own[at, RANK_R] - bigs + 0.7 * (own[at, RANK_B] - smalls)
            + 0.4 * (own[at, ROW_TWOS] - twos)
        )  # fmt: skip
        need: F32 = np.maximum(losers - helped - 1, 0).astype(np.float32)
        return need

    def few(self, at: I64, less: Bools) -> F32:
        """How near the hand is to its last set, ``[C]``, with one less of them where said."""
        near: F32 = np.exp(-(self.sets[at] - less) / FEW).astype(np.float32)
        return near
