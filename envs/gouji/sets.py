"""Sets (一套牌) of Gouji: places, text, beating, 够级牌.

A set is ``n`` natural cards below 2 of one rank, with ``t`` 2s that count as that rank (贴钱) and
``b`` small and ``r`` big jokers; or 2s, with jokers; or jokers alone. Its *row* is its natural rank
0 … 11 (3 … A), 12 for 2s, 13 for jokers alone. B beats A iff they have the same number of cards
and, both sorted from high to low, every card of B is strictly higher than the card of A at the same
place, where an attached 2 has the rank of its row. Because the cards of a row are all alike, this
has a closed form::

    sizes equal, r_A = 0, r_B >= b_A, and (row_B = 13, or row_B > row_A)

(the first ``b_A`` places need an R above them, the others are naturals of A, which any joker and
the naturals of a higher row beat; a set with R is dead, 死牌). Jokers alone, row 13, are therefore
beaten by R's only.

Places of the 82,024 sets, ascending in (row, n, t, b, r), ``combo = b * 5 + r``:

* naturals: ``((row * 16 + n - 1) * 17 + t) * 25 + combo``: 12 · 16 · 17 · 25 = 81,600;
* 2s: ``81600 + (t - 1) * 25 + combo``: 16 · 25 = 400;
* jokers alone: ``82000 + combo - 1``: 24.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import RANK_X, RANKS, shorten
from lupai.envs.errors import NotationError
from lupai.envs.sets import (
    COMBOS,
    MAX_JOKERS,
    MAX_NATURALS,
    ROW_JOKERS,
    ROWS,
    check_ranks,
    jokers_beat,
    read_ranks,
)

Ints = npt.NDArray[np.integer]

ROW_TWOS: Final = RANKS.index("2")
ATTACHED: Final = MAX_NATURALS + 1  # numbers of attached 2s, 0 … 16
PER_NATURAL: Final = ATTACHED * COMBOS  # sets of one row and number of naturals
FIRST_TWOS: Final = ROW_TWOS * MAX_NATURALS * PER_NATURAL
FIRST_JOKERS: Final = FIRST_TWOS + MAX_NATURALS * COMBOS
NUM_SETS: Final = FIRST_JOKERS + COMBOS - 1
MAX_SIZE: Final = 2 * MAX_NATURALS + 2 * MAX_JOKERS
# [14]: a set has the place BASE[row] + n * PER_NATURAL + t * COMBOS + combo.
BASE: Final[npt.NDArray[np.int64]] = np.array(
    [(row * MAX_NATURALS - 1) * PER_NATURAL for row in range(ROW_TWOS)]
    + [FIRST_TWOS - COMBOS, FIRST_JOKERS - 1],
    np.int64,
)
BASE.setflags(write=False)
# [14]: cards of its row (attached 2s counted) that make a set without a joker a 够级牌; below T and
# for jokers alone no number does.
_NEVER: Final = MAX_SIZE + 1
GOUJI_FROM: Final = np.full(ROWS, _NEVER)
for _letter, _cards in {"T": 5, "J": 4, "Q": 3, "K": 2, "A": 2, "2": 1}.items():
    GOUJI_FROM[RANKS.index(_letter)] = _cards
GOUJI_FROM.setflags(write=False)


def set_place(row: Ints, n: Ints, t: Ints, b: Ints, r: Ints) -> npt.NDArray[np.int64]:
    """Places of sets given by their parts, as arrays of one shape."""
    place: npt.NDArray[np.int64] = BASE[row] + n * PER_NATURAL + t * COMBOS + b * 5 + r
    return place


@dataclass(frozen=True, order=True)
class GoujiSet:
    """One set; at least one card, within four packs.

    Attributes:
        row: 0 … 11 where ``n`` is at least 1; 12 where there are 2s only beside jokers; 13.
        n: naturals below 2.
        t: 2s.
        b: small jokers.
        r: big jokers.
    """

    row: int
    n: int = 0
    t: int = 0
    b: int = 0
    r: int = 0

    @property
    def size(self) -> int:
        """Number of cards."""
        return self.n + self.t + self.b + self.r

    @property
    def place(self) -> int:
        """Place among all sets, 0 … 82023."""
        return int(BASE[self.row]) + self.n * PER_NATURAL + self.t * COMBOS + self.b * 5 + self.r

    @classmethod
    def at(cls, place: int) -> GoujiSet:
        """Set of a place."""
        return cls(*PARTS[place].tolist())

    @property
    def text(self) -> str:
        """Naturals, 2s, B's, R's.

        >>> GoujiSet(10, n=2, t=1, b=1).text, GoujiSet(12, t=2, b=1).text
        ('KK2B', '22B')
        """
        naturals = RANKS[self.row] * self.n if self.n else ""
        return f"{naturals}{'2' * self.t}{'B' * self.b}{'R' * self.r}"

    @classmethod
    def parse(cls, text: str) -> GoujiSet:
        """Read a set; the inverse of :attr:`text`.

        Raises:
            NotationError: unreadable, mixed ranks, wrong order, or too many cards of a kind.
        """
        match = _SET.fullmatch(text)
        if not match or not text:
            raise _unreadable(text)
        naturals, _, twos, small, big = (match[group] or "" for group in range(1, 6))
        row = RANKS.index(naturals[0]) if naturals else ROW_TWOS if twos else ROW_JOKERS
        return cls(row, len(naturals), len(twos), len(small), len(big))


_SET: Final = re.compile(
    rf"(([{RANKS[:ROW_TWOS]}])\2{{0,{MAX_NATURALS - 1}}})?(2{{0,{MAX_NATURALS}}})"
    rf"(B{{0,{MAX_JOKERS}}})(R{{0,{MAX_JOKERS}}})"
)


def _unreadable(text: str) -> NotationError:
    """What is wrong with a text that is no set."""

    def fail(why: str) -> NotationError:
        return NotationError(
            f"unreadable set {shorten(text)!r}: {why}; a set is naturals of one rank, then 2s, "
            f"then B's, then R's, for example 9, KK2B, 22B, BR"
        )

    if not text:
        return fail("it has no card")
    try:
        ranks = read_ranks(text, fail)
        if RANK_X in ranks:
            return fail("'X' is no rank")
        check_ranks(ranks, fail)
    except NotationError as error:
        return error
    return fail("two natural ranks below 2 do not mix")


def _parts() -> npt.NDArray[np.int8]:
    row, n, t, b, r = np.indices((ROW_TWOS, MAX_NATURALS, ATTACHED, 5, 5)).reshape(5, -1)
    naturals = np.stack([row, n + 1, t, b, r], axis=1)
    t, b, r = np.indices((MAX_NATURALS, 5, 5)).reshape(3, -1)
    twos = np.stack([np.full_like(t, ROW_TWOS), np.zeros_like(t), t + 1, b, r], axis=1)
    b, r = np.divmod(np.arange(1, COMBOS), 5)
    none = np.zeros_like(b)
    jokers = np.stack([np.full_like(b, ROW_JOKERS), none, none, b, r], axis=1)
    return np.concatenate([naturals, twos, jokers]).astype(np.int8)


def _read_only(table: Any) -> Any:
    table.setflags(write=False)
    return table


# [82024, 5] int8: row, n, t, b, r of each place. The tables below are by place too.
PARTS: Final[npt.NDArray[np.int8]] = _read_only(_parts())
SIZE: Final[npt.NDArray[np.int8]] = _read_only(PARTS[:, 1:].sum(axis=1, dtype=np.int8))
HAS_JOKER: Final[npt.NDArray[np.bool_]] = _read_only(PARTS[:, 3:].any(axis=1))
# Holds R: nothing beats it (死牌).
DEAD: Final[npt.NDArray[np.bool_]] = _read_only(PARTS[:, 4] > 0)
# A 够级牌.
IS_GOUJI: Final[npt.NDArray[np.bool_]] = _read_only(
    HAS_JOKER | (PARTS[:, 1] + PARTS[:, 2] >= GOUJI_FROM[PARTS[:, 0]])
)


def beats(standing: npt.ArrayLike, answer: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether sets beat others (closed form of the module's docstring).

    Args:
        standing, answer: places, of shapes that broadcast.
    """
    low, high = np.asarray(standing, np.intp), np.asarray(answer, np.intp)
    row = PARTS[high, 0]
    found: npt.NDArray[np.bool_] = (
        (SIZE[high] == SIZE[low])
        & jokers_beat(PARTS[high, 4], 0, PARTS[low, 3], PARTS[low, 4])
        & ((row == ROW_JOKERS) | (row > PARTS[low, 0]))
    )
    return found
