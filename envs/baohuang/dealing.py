"""Dealing cards to places at random, for many worlds at once, in the tiers of ranks that
:mod:`lupai.envs.baohuang.plans` tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.evidence import TOP, Evidence
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import KIND_B, NUM_KINDS, RANK_OF_KIND

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
_SLOTS: Final = 64  # a power of two above the kinds
_PAD: Final = 63  # stands for no place
_RANDOM: Final = ~np.uint64(0xFF)


class Tiers:
    """Cards to be laid in tiers of ranks from the top.

    Args:
        pool: ``[N, 54]`` cards.
        position: ``[N, S]`` from which on a seat takes cards: 0 … 12 the natural ranks from the
            top, 13 the jokers.
        more: ``[N, 14] bool`` more positions at which a tier begins.

    Attributes:
        tier: ``[N, 14]`` of each position.
        first: ``[N, S]`` tier from which on a seat takes cards.
        upper: cards of each tier but the last, ``[N, M]`` kinds in a row, and their number ``[N]``.
        lowest: ``[N, M] uint64`` kinds of the last tier, which fills all places that are left.
    """

    def __init__(
        self,
        pool: npt.NDArray[np.integer],
        position: I64,
        more: npt.NDArray[np.bool_] | bool = False,
    ) -> None:
        cut = (np.arange(TOP + 2) == position[:, :, None]).any(axis=1) | more
        cut[:, 0] = False
        self.tier = np.cumsum(cut, axis=1)
        self.first = np.take_along_axis(self.tier, position, axis=1)
        of_kind = self.tier[:, np.minimum(TOP - RANK_OF_KIND, TOP + 1)]
        of_kind[:, KIND_B:] = self.tier[:, -1:]
        self.upper = [
            (_listed(mine), mine.sum(axis=1))
            for t in range(int(self.tier.max(initial=0)))
            for mine in (pool * ((of_kind == t) & (t < self.tier[:, -1:])),)
        ]
        self.lowest = _listed(pool * (of_kind == self.tier[:, -1:])).astype(np.uint64)


@dataclass
class Made:
    """Worlds in the making: ``rows`` says of which table each is."""

    rows: I64
    hands: I8
    room: I64
    marked: I64

    @classmethod
    def of(cls, proofs: Evidence, rows: I64) -> Made:
        marked = proofs.marked[rows].astype(np.int64)
        return cls(rows, proofs.known[rows], proofs.room[rows], marked)

    @classmethod
    def joined(cls, parts: list[Made]) -> Made:
        """Some after others."""
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.hands for part in parts]),
            np.concatenate([part.room for part in parts]),
            np.concatenate([part.marked for part in parts]),
        )

    def keep(self, good: npt.NDArray[np.bool_]) -> None:
        if not good.all():
            self.rows, self.hands = self.rows[good], self.hands[good]
            self.room, self.marked = self.room[good], self.marked[good]

    def add(self, cards: I8) -> None:
        """Cards ``[C, S, 54]``."""
        self.hands += cards
        self.room -= cards.sum(axis=2, dtype=np.int64)

    def give(self, which: I64, seats: Ints, kinds: Ints) -> None:
        """The secret card of some of them."""
        self.hands[which, seats, kinds] += 1
        self.room[which, seats] -= 1
        self.marked[which] = seats


def finish(made: Made, tiers: Tiers, rng: np.random.Generator) -> None:
    """Lay cards of one table that are left, the same for all worlds in the making."""
    rows = np.zeros(len(made.rows), np.int64)
    for t in range(len(tiers.upper)):
        lay(made, tiers, t, rows, rng)
    made.hands += scatter(tiers.lowest[rows], made.room, rng)


def _listed(counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """``[N, M]`` each card of ``counts [N, 54]`` by its kind; shorter rows end with no cards."""
    total = counts.sum(axis=1)
    codes = np.full((len(counts), int(total.max(initial=0))), _PAD)
    kinds = np.broadcast_to(np.arange(NUM_KINDS), counts.shape).ravel()
    codes[np.arange(codes.shape[1]) < total[:, None]] = np.repeat(kinds, counts.ravel())
    return codes


def strew(counts: I64, room: I64, rng: np.random.Generator) -> I8:
    """Lay cards ``counts [C, 54]`` at random into places ``room [C, S]``, of which some stay empty;
    as :func:`scatter`."""
    codes = np.full((len(counts), int(room.sum(axis=1).max(initial=0))), _PAD)
    listed = _listed(counts)
    codes[:, : listed.shape[1]] = listed
    return scatter(codes.astype(np.uint64), room, rng)


def scatter(codes: npt.NDArray[np.uint64], room: I64, rng: np.random.Generator) -> I8:
    """Lay cards ``[C, M]`` at random into the places ``room [C, S]``, which they fill.

    Returns:
        ``[C, S, 54]`` how many of each kind lie with each seat.
    """
    c, most = codes.shape
    until = np.cumsum(room, axis=1, dtype=np.int16)
    place = np.arange(most, dtype=np.int16)
    keys = rng.integers(0, 1 << 64, (c, most), dtype=np.uint64)
    keys &= _RANDOM
    keys |= codes
    if (until[:, -1] < most).any():
        keys[place >= until[:, -1:]] = _RANDOM | np.uint64(_PAD)
    keys.sort(axis=1)
    seat = np.zeros((c, most), np.uint8)
    for s in range(SEATS - 1):
        seat += place >= until[:, s, None]
    index = keys.view(np.int64)
    index &= _SLOTS - 1
    index += seat.astype(np.int64) * _SLOTS
    index += np.arange(0, c * SEATS * _SLOTS, SEATS * _SLOTS)[:, None]
    counts = np.bincount(index.ravel(), minlength=c * SEATS * _SLOTS)
    return counts.astype(np.int8).reshape(c, SEATS, _SLOTS)[:, :, :NUM_KINDS]


def lay(made: Made, tiers: Tiers, t: int, rows: I64, rng: np.random.Generator) -> None:
    """Lay the cards of upper tier ``t``, one after the other, into places of seats that take them.

    Args:
        rows: ``[C]`` whose tiers each world has.
    """
    codes, count = tiers.upper[t]
    takes = tiers.first <= t
    some = count[rows] > 0
    whole = bool(some.all())
    i = np.arange(len(some)) if whole else np.flatnonzero(some)
    rows = rows if whole else rows[i]
    room = made.room[i]
    open_ = np.ascontiguousarray((room * takes[rows]).T)
    before = open_.copy()
    free = open_.sum(axis=0)
    count = count[rows]
    least = int(count.min(initial=codes.shape[1]))
    for k in range(codes.shape[1]):
        j = np.arange(len(rows)) if k < least else np.flatnonzero(count > k)
        place = (rng.random(len(j)) * free[j]).astype(np.int64)
        seat = np.zeros(len(j), np.int64)
        until = np.zeros(len(j), np.int64)
        for s in range(SEATS - 1):
            until += open_[s, j]
            seat += place >= until
        open_[seat, j] -= 1
        free[j] -= 1
        made.hands[i[j], seat, codes[rows[j], k]] += 1
    made.room[i] = room - (before - open_).T
