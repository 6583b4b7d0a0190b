"""Lookup tables of Gouji's hot path: which jokers may go with a set, and how many sets that makes.

A *menu* is a set of joker combos (``combo = b * 5 + r``, a word of 25 bits) for a lead or for an
answer. Made once, when first imported; tests/envs/gouji/test_tables.py rebuilds each by brute
force.

How many sets of a row with 1 … n naturals and 0 … T twos there are is a closed form. Let ``A(x)``
be the number of combos of the menu with at most x jokers. An answer of size S with m naturals has
``S - T - m`` … ``S - m`` jokers, so there are ``A(S - m) - A(S - m - T - 1)`` of them, and with
``AA(x)``, the sum of ``A(y)`` over y <= x, the sum over m = 1 … n is ::

    AA(S - 1) - AA(S - 1 - n) - AA(S - T - 2) + AA(S - T - 2 - n)

A lead has any size. Its menu's ``A(x)`` is x times the number of combos: then each difference above
is T + 1 times the number of combos, as it should be, and one formula serves both.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.sets import ATTACHED, MAX_SIZE, PARTS, PER_NATURAL, ROW_TWOS, SIZE
from lupai.envs.sets import COMBOS, MAX_JOKERS, MAX_NATURALS, ROW_JOKERS, ROWS

I8 = npt.NDArray[np.int8]
Intp = npt.NDArray[np.intp]

DEAD_B: Final = MAX_JOKERS + 1  # big jokers that the answer to a dead set would need
MOST_JOKERS: Final = 2 * MAX_JOKERS
ORIGIN: Final = 2 * MAX_NATURALS + 2  # x = -34 … 40 stands at 0 … 74
WIDTH: Final = ORIGIN + MAX_SIZE + 1
SPAN: Final = MAX_NATURALS + MAX_SIZE + 1
LEAD: Final = 1  # bit of a menu's number: it is for a lead

_JOKERS: Final = np.arange(COMBOS) // 5 + np.arange(COMBOS) % 5


def _read_only(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    table.setflags(write=False)
    return table


def _words() -> npt.NDArray[np.uint32]:
    """``[25, 6, 2, 10]``: combos by hand, big jokers needed, least and (most + 1) jokers."""
    hand, need, least, most = np.ix_(
        np.arange(COMBOS), np.arange(DEAD_B + 1), np.arange(2), np.arange(-1, MOST_JOKERS + 1)
    )
    words = np.zeros((COMBOS, DEAD_B + 1, 2, MOST_JOKERS + 2), np.uint32)
    for combo in range(COMBOS):
        b, r = divmod(combo, 5)
        held = (b <= hand // 5) & (r <= hand % 5) & (r >= need)
        words |= (held & (b + r >= least) & (b + r <= most)).astype(np.uint32) << np.uint32(combo)
    return words


_WORDS, _inverse = np.unique(_words(), return_inverse=True)
_HAS: Final = _WORDS[:, None] >> np.arange(COMBOS, dtype=np.uint32) & 1 == 1
_HOW_MANY: Final = _HAS.sum(axis=1)
MENUS: Final = 2 * len(_WORDS)
NO_MENU: Final = 0  # no combo at all: the least word

# [3000]: menu of an answer by ((hand * 6 + big jokers needed) * 2 + least) * 10 + most + 1, where
# hand = b * 5 + r; that of a lead is the next number.
MENU_OF: Final[Intp] = _read_only(2 * _inverse.reshape(-1).astype(np.intp))
# By menu: the combos as a word; 1 where no joker at all is a combo of a lead's menu, which jokers
# alone must leave out.
WORD: Final[npt.NDArray[np.uint32]] = _read_only(np.repeat(_WORDS, 2))
NOTHING: Final[npt.NDArray[np.int32]] = _read_only(
    ((WORD & 1 == 1) & (np.arange(MENUS) % 2 == LEAD)).astype(np.int32)
)


def _within() -> npt.NDArray[np.int32]:
    x = np.arange(WIDTH) - ORIGIN
    answers = np.stack([(_HAS & (limit >= _JOKERS)).sum(axis=1) for limit in x], axis=1)
    leads = _HOW_MANY[:, None] * x
    return np.stack([answers, leads], axis=1).reshape(-1).astype(np.int32)


# [M * 75]: A(x) and AA(x) of the module's docstring (AA up to a constant) by menu * 75 + x + 34.
WITHIN: Final[npt.NDArray[np.int32]] = _read_only(_within())
SUMMED: Final[npt.NDArray[np.int32]] = _read_only(
    WITHIN.reshape(MENUS, WIDTH).cumsum(axis=1, dtype=np.int32).reshape(-1)
)


def _offsets() -> tuple[npt.NDArray[np.int16], Intp]:
    combos = np.argsort(-_JOKERS, kind="stable")  # of an answer, whose 2s fill up: few 2s first
    x = np.arange(-MAX_NATURALS, MAX_SIZE + 1)
    t = x[:, None] - _JOKERS[combos]
    answers = _HAS[:, None, combos] & (t >= 0) & (t <= MAX_NATURALS)
    place = np.broadcast_to(t * COMBOS + combos, answers.shape)[answers]
    many = answers.sum(axis=2)
    first = np.empty((len(_WORDS), 2, SPAN), np.intp)
    first[:, 0] = (np.cumsum(many) - many.reshape(-1)).reshape(many.shape)
    leads = np.broadcast_to(_HAS[:, None], (len(_WORDS), ATTACHED, COMBOS))
    total = ATTACHED * _HOW_MANY
    first[:, 1] = (len(place) + np.cumsum(total) - total)[:, None]
    numbers = np.broadcast_to(np.arange(PER_NATURAL).reshape(ATTACHED, COMBOS), leads.shape)
    return np.concatenate([place, numbers[leads]]).astype(np.int16), first.reshape(-1)


_offset, _first = _offsets()
# The sets of a menu with equal naturals, ascending: their places from that of no 2 and no joker on,
# t * 25 + combo. Those of a menu with x cards beside the naturals begin at FIRST_OFFSET, by
# menu * 57 + x + 16, with no 2, then one 2, and so on up to 16; those of a lead at any x.
OFFSETS: Final[npt.NDArray[np.int16]] = _read_only(_offset)
FIRST_OFFSET: Final[Intp] = _read_only(_first)
# [25]: jokers of a combo.
JOKERS_OF: Final[Intp] = _read_only(_JOKERS.astype(np.intp))

# --- sets ----------------------------------------------------------------------------------------


def _with_lead(values: npt.NDArray[Any], lead: int) -> Intp:
    return _read_only(np.append(values, lead).astype(np.intp))


# By the place of a standing set, the last (index -1) for a lead: its cards, 0 for a lead; its row,
# -1 for a lead; big jokers that an answer needs.
STANDING_SIZE: Final[Intp] = _with_lead(SIZE, 0)
STANDING_ROW: Final[Intp] = _with_lead(PARTS[:, 0], -1)
STANDING_NEEDS: Final[Intp] = _with_lead(np.where(PARTS[:, 4] > 0, DEAD_B, PARTS[:, 3]), 0)
# [15, 13] int8: 1 for the rows of naturals and 2s above a row; the last (index -1) for a lead.
ABOVE: Final[I8] = _read_only(
    (np.arange(ROW_JOKERS) > np.append(np.arange(ROWS), -1)[:, None]).astype(np.int8)
)


def _facts() -> I8:
    row, n, t, b, r = PARTS.T
    own = np.where(row == ROW_TWOS, t, n)
    return np.stack([np.minimum(row, ROW_TWOS), own, t, b * 5 + r, SIZE], axis=1).astype(np.int8)


# [82024, 5] int8 by place: row (jokers alone as 2s), cards of the row's own rank, 2s, combo, cards.
FACTS: Final[I8] = _read_only(_facts())
