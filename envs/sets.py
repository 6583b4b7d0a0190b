"""What the sets (一套牌) of all games have in common: jokers beside naturals, and beating.

A set holds ``n`` natural cards (of one rank, but for attached 2s in Gouji) and ``b`` small and
``r`` big jokers. B beats A iff they have the same number of cards and, both sorted from high to
low, every card of B is strictly higher than the card of A at the same place. For the jokers this
has a closed form, :func:`jokers_beat`; what is left are naturals against naturals.

A *combo* is ``b * 5 + r``, and the combos that may be added to some naturals are a 25-bit word. A
*row* is a rank (13 of them), or jokers alone. That a legal answer has ``n = size - b - r`` makes
one word per row enough to say all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NATURAL_RANKS, RANK_LETTERS

MAX_NATURALS: Final = 16
MAX_JOKERS: Final = 4
COMBOS: Final = 25
ROWS: Final = NATURAL_RANKS + 1
ROW_JOKERS: Final = NATURAL_RANKS
_LARGEST: Final = MAX_NATURALS + 2 * MAX_JOKERS + 1

U32 = npt.NDArray[np.uint32]
Complaint = Callable[[str], Exception]


def jokers_beat(r: Any, x: Any, standing_b: Any, standing_r: Any) -> Any:
    """Whether every joker of a standing set lies under a higher card of an answer of its size.

    Numbers or arrays. An R needs an X above it, a B an R or X.

    Args:
        r, x: big jokers and cards above them (特画) of the answer.
        standing_b, standing_r: small and big jokers of the set to beat, which has no X.
    """
    return (x >= standing_r) & (r + x >= standing_r + standing_b)


# --- text ----------------------------------------------------------------------------------------


def read_ranks(letters: Sequence[str], fail: Complaint) -> list[int]:
    """Ranks, as places in :data:`~lupai.envs.cards.RANK_LETTERS`, of the letters of a set.

    Raises:
        Exception: ``fail(why)`` for a letter that is no rank.
    """
    unknown = [c for c in letters if c not in RANK_LETTERS]
    if unknown:
        raise fail(f"{unknown[0]!r} is no rank")
    return [RANK_LETTERS.index(c) for c in letters]


def check_ranks(ranks: Sequence[int], fail: Complaint) -> None:
    """Raise ``fail(why)`` where ranks are out of order, or more than there are in four packs."""
    if list(ranks) != sorted(ranks):
        raise fail("cards are out of order")
    counts = [ranks.count(rank) for rank in range(len(RANK_LETTERS))]
    if max(counts[:NATURAL_RANKS]) > MAX_NATURALS:
        most = max(counts[:NATURAL_RANKS])
        raise fail(f"{most} cards of a rank, at most {MAX_NATURALS} exist")
    for rank, limit in ((NATURAL_RANKS, MAX_JOKERS), (NATURAL_RANKS + 1, MAX_JOKERS), (-1, 1)):
        if counts[rank] > limit:
            raise fail(f"{counts[rank]} cards {RANK_LETTERS[rank]}, at most {limit} exist")


# --- tables of the move generators; tests/envs/test_sets.py rebuilds each by brute force ---------


def combo_mask(allowed: npt.NDArray[np.bool_]) -> U32:
    """Pack ``[..., 5, 5]`` booleans over (b, r) into one word, bit ``b * 5 + r``."""
    bits = allowed.reshape(*allowed.shape[:-2], COMBOS).astype(np.uint32)
    words: U32 = (bits << np.arange(COMBOS, dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)
    return words


_B, _R = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")


@cache
def joker_table() -> U32:
    """``[5, 5]``: combos within a hand of (small, big) jokers."""
    have = np.arange(5)
    return combo_mask((have[:, None, None, None] >= _B) & (have[None, :, None, None] >= _R))


@cache
def fit_table(naturals: int = MAX_NATURALS, largest: int = _LARGEST) -> U32:
    """``[largest + 1, naturals + 1]``: combos that make a set of this size with 1 … count
    naturals."""
    n = np.arange(largest + 1)[:, None, None, None] - _B - _R
    return combo_mask((n >= 1) & (n <= np.arange(naturals + 1)[None, :, None, None]))


@cache
def only_table(largest: int = _LARGEST) -> U32:
    """``[largest + 1]``: combos that make a set of this size alone."""
    return combo_mask(np.arange(largest + 1)[:, None, None] == _B + _R)


@cache
def answer_table() -> U32:
    """``[2 (x of the answer), 25 (combo of the standing set)]``: joker part of a beating answer.

    For standing sets without X; one with X is beaten by nothing.
    """
    x = np.arange(2)[:, None, None, None]
    b_standing = (np.arange(COMBOS) // 5)[None, :, None, None]
    r_standing = (np.arange(COMBOS) % 5)[None, :, None, None]
    return combo_mask(jokers_beat(_R, x, b_standing, r_standing))


COMBOS_WITH_B: Final = int(combo_mask(_B >= 1))
COMBOS_WITH_R: Final = int(combo_mask(_R >= 1))
ALL_COMBOS: Final = (1 << COMBOS) - 1
