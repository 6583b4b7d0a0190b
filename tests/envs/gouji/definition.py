"""Gouji's sets by their definition, one table and one set at a time: the oracle of these tests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.sets import GoujiSet

B, R = 13, 14


def cards_of(s: GoujiSet) -> list[int]:
    """Ranks from high to low, attached 2s as the rank that they count as."""
    naturals = [s.row] * (s.n + s.t) if s.n else [12] * s.t
    return [R] * s.r + [B] * s.b + naturals


def literally_beats(answer: GoujiSet, standing: GoujiSet) -> bool:
    """As many cards, each strictly higher than the one at the same place."""
    high, low = cards_of(answer), cards_of(standing)
    return len(high) == len(low) and all(a > b for a, b in zip(high, low, strict=True))


def sets_within(ranks: Sequence[int]) -> list[GoujiSet]:
    """Every set of a hand, ascending in (row, n, t, b, r)."""
    twos, b, r = (range(ranks[k] + 1) for k in (12, B, R))
    jokers = list(itertools.product(b, r))
    found = [
        GoujiSet(row, n, t, *combo)
        for row in range(12)
        for n in range(1, ranks[row] + 1)
        for t in twos
        for combo in jokers
    ]
    found += [GoujiSet(12, 0, t, *combo) for t in twos if t for combo in jokers]
    return found + [GoujiSet(13, 0, 0, *combo) for combo in jokers if any(combo)]


def left_after(ranks: Sequence[int], s: GoujiSet) -> list[int]:
    """Cards left in a hand by rank."""
    left = list(ranks)
    for rank, count in ((s.row, s.n), (12, s.t), (B, s.b), (R, s.r)):
        if count:
            left[rank] -= count
    return left


def keeps_the_promise(ranks: Sequence[int], s: GoujiSet, mode: int) -> bool:
    """烧牌: he can go on so that each later set but the last holds a joker."""
    left = left_after(ranks, s)
    if not any(left):
        return True
    if mode == 2 and not s.b + s.r:
        return False
    different = sum(count > 0 for count in left[:12])
    if not different and left[12]:
        different = 1
    return left[B] + left[R] >= different - 1


def legal_sets(ranks: Sequence[int], standing: GoujiSet | None, mode: int) -> list[GoujiSet]:
    """Every legal set, ascending."""
    if mode == 3:
        return []
    return [
        s
        for s in sets_within(ranks)
        if (standing is None or literally_beats(s, standing))
        and (mode == 0 or keeps_the_promise(ranks, s, mode))
    ]


def random_hands(rng: np.random.Generator, tables: int, most: int = 36) -> npt.NDArray[np.int8]:
    """``[tables, 15]`` hands of 1 … ``most`` cards out of four packs, by rank."""
    pack = np.repeat(np.arange(15), [16] * 13 + [4, 4])
    hands = np.zeros((tables, 15), np.int8)
    for row in range(tables):
        cards = rng.choice(pack, rng.integers(1, most + 1), replace=False)
        hands[row] = np.bincount(cards, minlength=15)
    return hands
