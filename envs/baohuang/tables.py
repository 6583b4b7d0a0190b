"""Lookup tables of the hot path: what a standing set asks for, and how words of moves are read.

Made once, when first imported, from the tables of :mod:`lupai.envs.sets`; each says how, and
tests/envs/test_tables.py rebuilds it by brute force. A *unit* is a word of legal moves: the verbs,
then the rows (13 ranks, jokers alone) without the identity flag, then with it. Bit i of a unit is

* verbs: verb i;
* a rank: the joker combo i = ``b * 5 + r`` beside some naturals of the rank;
* jokers alone: the i-th id of their block, so the combo i + 1, and last no joker (X alone).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, CALL, SET, SET_IDENTITY
from lupai.envs.baohuang.sets import MAX_SIZE, PARTS, SET_SIZE
from lupai.envs.cards import NATURAL_RANKS
from lupai.envs.sets import (
    ALL_COMBOS,
    COMBOS,
    MAX_NATURALS,
    ROW_JOKERS,
    ROWS,
    U32,
    answer_table,
    fit_table,
    joker_table,
    only_table,
)

I8 = npt.NDArray[np.int8]
I16 = npt.NDArray[np.int16]
Ints = npt.NDArray[np.integer]

UNITS: Final = 1 + 2 * ROWS
LEAD_FIT: Final = (MAX_SIZE + 1) * (MAX_NATURALS + 1)  # where the row of a lead begins in FITS
HALF: Final = 13  # bits of a word that are looked up at a time


def set_of_action(actions: Ints) -> Ints:
    """Set id of ``play`` action ids, flag dropped."""
    return actions - np.where(actions >= SET_IDENTITY, SET_IDENTITY, SET)


def unit_of(rank: int, *, flag: bool = False) -> int:
    """Unit of a row."""
    return 1 + ROWS * flag + rank


def _fits() -> U32:
    lead = np.full((1, MAX_NATURALS + 1), ALL_COMBOS, np.uint32)
    lead[0, :1] = 0
    return np.concatenate([fit_table(), lead]).reshape(-1)


# [27 * 17]: fit_table by size * 17 + naturals held, then a row for a lead: any combo where at least
# one natural is held.
FITS: Final = _fits()
# [25]: joker_table by (small jokers) * 5 + big jokers.
JOKERS: Final = joker_table().reshape(-1)

# By the action id of a standing set, the last row (index -1) for a lead. Ids that never stand:
# nothing beats them.
_SETS: Final = np.arange(SET, ACTIONS.size)
_PARTS: Final = PARTS[set_of_action(_SETS)].astype(np.intp)
_HAS_X: Final = _SETS >= SET_IDENTITY  # a flag on the table is always an X
_SIZES: Final = SET_SIZE[set_of_action(_SETS)].astype(np.intp) + _HAS_X
_COMBO: Final = _PARTS[:, 2] * 5 + _PARTS[:, 3]


def _by_standing(sets: npt.NDArray[Any], lead: int, dtype: type) -> npt.NDArray[Any]:
    table = np.zeros((ACTIONS.size + 1, *sets.shape[1:]), dtype)
    table[SET : ACTIONS.size] = sets
    table[-1] = lead
    table.setflags(write=False)
    return table


def _jokers_alone(x: int) -> U32:
    """Combos of an answer without naturals; without X at least one joker."""
    some = np.uint32(ALL_COMBOS - (0 if x else 1))
    sets = np.where(_HAS_X, 0, answer_table()[x, _COMBO] & only_table()[np.maximum(_SIZES - x, 0)])
    return _by_standing(sets & some, int(some), np.uint32)


# Cards of the set, 0 for a lead.
STANDING_SIZE: Final[I16] = _by_standing(_SIZES, 0, np.int16)
# [, 13]: 1 for the ranks above.
ABOVE: Final[I8] = _by_standing(np.arange(NATURAL_RANKS)[None, :] > _PARTS[:, :1], 1, np.int8)
# [2 (x of the answer)][]: where the row of the answer's naturals and jokers begins in FITS.
FIT_ROW: Final[list[Ints]] = [
    _by_standing(np.maximum(_SIZES - x, 0) * (MAX_NATURALS + 1), LEAD_FIT, np.intp) for x in (0, 1)
]
# [2][]: answer_table of the set, nothing where it has an X.
ANSWERS: Final[list[U32]] = [
    _by_standing(np.where(_HAS_X, 0, answer_table()[x, _COMBO]), ALL_COMBOS, np.uint32)
    for x in (0, 1)
]
# [2][]: the same for jokers alone, of the right size.
ALONE: Final[list[U32]] = [_jokers_alone(x) for x in (0, 1)]

# --- reading words -------------------------------------------------------------------------------


def _first_ids() -> npt.NDArray[np.int32]:
    table = np.zeros(UNITS, np.int32)
    for flag, block in enumerate((SET, SET_IDENTITY)):
        for rank in range(NATURAL_RANKS):
            table[unit_of(rank, flag=bool(flag))] = block + (rank * MAX_NATURALS - 1) * COMBOS
        table[unit_of(ROW_JOKERS, flag=bool(flag))] = block + NATURAL_RANKS * MAX_NATURALS * COMBOS
    return table


# [29]: id of a move = FIRST_ID[unit] + 25 * naturals + bit.
FIRST_ID: Final = _first_ids()
# [29]: whether the unit is that of a rank.
IS_RANK: Final = np.isin(np.arange(UNITS), [0, ROWS, 2 * ROWS], invert=True)
# [25]: jokers of a combo.
JOKERS_OF: Final = (np.arange(COMBOS) // 5 + np.arange(COMBOS) % 5).astype(np.int16)
# [25]: combos by id of an answer, whose naturals fill up the size: most jokers first.
BY_ANSWER: Final = np.lexsort((np.arange(COMBOS), -JOKERS_OF))


def _permuted(first: int, bits: int) -> U32:
    """``[2**bits]``: words with their bits, from ``first`` on, in the order of BY_ANSWER."""
    halves = np.arange(1 << bits, dtype=np.uint32)
    out = np.zeros(1 << bits, np.uint32)
    for i in range(bits):
        place = int(BY_ANSWER.tolist().index(first + i))
        out |= ((halves >> np.uint32(i)) & 1) << np.uint32(place)
    return out


# [2**13], [2**12]: words of answers reordered by BY_ANSWER, by their low and their high half.
PERMUTED_LOW: Final = _permuted(0, HALF)
PERMUTED_HIGH: Final = _permuted(HALF, COMBOS - HALF)


def _select() -> npt.NDArray[np.uint8]:
    halves = np.arange(1 << HALF)
    table = np.zeros((1 << HALF, HALF), np.uint8)
    for i in range(HALF):
        has = (halves >> i) & 1 == 1
        table[has, np.bitwise_count(halves[has] & ((1 << i) - 1))] = i
    return table.reshape(-1)


# [2**13 * 13]: place of the k-th lowest bit of a half word, by half * 13 + k.
SELECT: Final = _select()


def permuted(words: U32) -> U32:
    """Words of ranks with bit i for the combo ``BY_ANSWER[i]``."""
    out: U32 = PERMUTED_LOW[words & ((1 << HALF) - 1)]
    out |= PERMUTED_HIGH[words >> HALF]
    return out


def kth_bit(words: U32, k: Ints) -> Ints:
    """Place of the k-th lowest bit, counted from 0, of each word of at most 26 bits."""
    low = words & ((1 << HALF) - 1)
    count = np.bitwise_count(low)
    upper = k >= count
    half = np.where(upper, words >> HALF, low).astype(np.intp)
    place: Ints = SELECT[half * HALF + (k - count * upper)] + HALF * upper
    return place


# --- reading ids ---------------------------------------------------------------------------------


def _bits() -> npt.NDArray[np.uint32]:
    bits = np.full(ACTIONS.size, 31, np.uint32)  # calls have no bit
    bits[:CALL] = np.arange(CALL)
    bits[SET:] = np.where(_PARTS[:, 0] == ROW_JOKERS, (_COMBO - 1) % COMBOS, _COMBO)
    return bits


def _of_sets(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    table = np.zeros((ACTIONS.size, *values.shape[1:]), values.dtype)
    table[SET:] = values
    return table


# By action id; 0 for words.
UNIT_OF: Final[npt.NDArray[np.intp]] = _of_sets(1 + ROWS * _HAS_X + _PARTS[:, 0])
BIT_OF: Final = _bits()
PARTS_OF: Final[I8] = _of_sets(PARTS[set_of_action(_SETS)])  # rank, n, b, r
NATURALS_OF: Final[I8] = _of_sets(PARTS_OF[SET:, 1])
SIZE_OF: Final[I16] = _of_sets(SET_SIZE[set_of_action(_SETS)].astype(np.int16))  # without X
