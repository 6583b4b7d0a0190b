"""Legal moves of Gouji, for many tables at once and never capped.

A lead has up to some 3,500 legal sets out of 82,024. The sets that one player may play are held as
what makes them: per row the cards that he has of it, his 2s, the size to make, and two numbers of
*menus* (:mod:`lupai.envs.gouji.tables`), which say what jokers may go with them: one for sets that
leave a card of their rank in the hand, one for those that take the last. How many sets each row
has is a closed form, and any one of them can be named by its number (:meth:`Legal.pick`); ids are
written out only when somebody asks (:meth:`Legal.ids`, ragged; :meth:`Legal.dense`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import RANK_B, RANK_R
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERB_ID
from lupai.envs.gouji.sets import (
    ATTACHED,
    BASE,
    FIRST_JOKERS,
    FIRST_TWOS,
    PER_NATURAL,
    ROW_TWOS,
)
from lupai.envs.gouji.tables import (
    ABOVE,
    DEAD_B,
    FACTS,
    FIRST_OFFSET,
    I8,
    JOKERS_OF,
    LEAD,
    MENU_OF,
    MOST_JOKERS,
    NO_MENU,
    NOTHING,
    OFFSETS,
    ORIGIN,
    SPAN,
    STANDING_NEEDS,
    STANDING_ROW,
    STANDING_SIZE,
    SUMMED,
    WIDTH,
    WITHIN,
    WORD,
    Intp,
)
from lupai.envs.sets import COMBOS, MAX_NATURALS, ROW_JOKERS, ROWS

U32 = npt.NDArray[np.uint32]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Ints = npt.NDArray[np.integer]

FREE: Final = 0
BURNING: Final = 1
DUTY: Final = 2
NO_SETS: Final = 3


def verb_mask(*verbs: str) -> np.uint32:
    """Bits of some verbs in :attr:`Legal.verbs`."""
    return np.uint32(sum(1 << VERB_ID[v] for v in verbs))


_IDLE: Final = verb_mask("pass", "yield", "silent")
_DECLINES: Final = verb_mask("pass", "silent")


@dataclass
class Legal:
    """Legal moves of one player at each of N tables.

    Attributes:
        verbs: ``[N] uint32``, bit ``v`` for verb id ``v``.
        offers: ``[N] uint32``, bit ``k`` for ``offer`` of rank ``k``.
        held: ``[N, 13] int8`` naturals that may be played, by row, and 2s that may be played
            without a natural: 0 where they would not beat.
        twos: ``[N] intp`` 2s in the hand.
        size: ``[N] intp`` cards of a legal set, 0 where any number is legal.
        menu: ``[N] intp`` menu of the sets that leave a natural of their row in the hand, of 2s and
            of jokers alone.
        last_menu: ``[N] intp`` menu of those that take the last natural of their row.
    """

    verbs: U32
    offers: U32
    held: I8
    twos: Intp
    size: Intp
    menu: Intp
    last_menu: Intp
    _upto: I32 | None = None

    @classmethod
    def empty(cls, n: int) -> Legal:
        """No legal move at any of n tables."""
        numbers = np.zeros((4, n), np.intp)
        numbers[2:] = NO_MENU
        return cls.of_sets(np.zeros((n, ROW_JOKERS), np.int8), *numbers)

    @classmethod
    def of_sets(cls, held: I8, twos: Intp, size: Intp, menu: Intp, last_menu: Intp) -> Legal:
        """Sets without verbs and offers."""
        words = np.zeros((2, len(held)), np.uint32)
        return cls(words[0], words[1], held, twos, size, menu, last_menu)

    def __len__(self) -> int:
        return len(self.verbs)

    @property
    def upto(self) -> I32:
        """``[N, 14] int32`` legal sets of this row and those before it; worked out when asked."""
        if self._upto is None:
            self._upto = _by_row(self.held, self.twos, self.size, self.menu, self.last_menu)
            np.cumsum(self._upto, axis=1, out=self._upto)
        return self._upto

    def _words(self) -> U32:
        """``[N]`` bit ``a`` for action id ``a``: verbs and offers."""
        words: U32 = self.verbs | self.offers << np.uint32(OFFER)
        return words

    def counts(self) -> I64:
        """``[N] int64`` number of legal moves."""
        return np.bitwise_count(self._words()) + self.upto[:, -1].astype(np.int64)

    def idle(self, counts: I64 | None = None) -> npt.NDArray[np.bool_]:
        """``[N] bool``: pass or silent is legal, and nothing but pass, yield and silent is.

        Args:
            counts: what :meth:`counts` gives, where the caller has it.
        """
        every = self.counts() if counts is None else counts
        found: npt.NDArray[np.bool_] = every == np.bitwise_count(self.verbs & _IDLE)
        found &= self.verbs & _DECLINES != 0
        return found

    def ids(self) -> tuple[I32, I64]:
        """All legal ids, ragged.

        Returns:
            ``(flat [total] int32, offsets [N + 1] int64)``; row i has
            ``flat[offsets[i]:offsets[i + 1]]``, ascending.
        """
        if len(self) == 1:
            one = np.flatnonzero(self.dense().view(bool))
            return one.astype(np.int32), np.array([0, len(one)])
        words = self._words()
        said = np.bitwise_count(words).astype(np.int64)
        sets = self.upto[:, -1].astype(np.int64)
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(said + sets, out=offsets[1:])
        flat = np.empty(offsets[-1], np.int32)
        some = np.flatnonzero(words)  # words stand before the sets of their table
        bits = np.unpackbits(words[some].view(np.uint8), bitorder="little").reshape(-1, 32)
        entry, action = np.nonzero(bits)
        table = some[entry]
        place = np.arange(len(table)) + (np.cumsum(sets) - sets)[table]
        flat[place] = action
        others = np.ones(len(flat), bool)
        others[place] = False
        flat[others] = self._sets()
        return flat, offsets

    def _sets(self) -> I32:
        """Ids of all legal sets, ascending at each table."""
        by_row = self.upto.copy()
        by_row[:, 1:] -= self.upto[:, :-1]
        table, row = np.nonzero(by_row)
        natural = row < ROW_TWOS
        many = np.where(natural, self.held[table, np.minimum(row, ROW_TWOS)], 1)
        entry = np.repeat(np.arange(len(many)), many)  # one for each number of naturals
        n = np.arange(1, len(entry) + 1) - (np.cumsum(many, dtype=np.int64) - many)[entry]
        count = by_row[table, row][entry]
        table, row, natural = table[entry], row[entry], natural[entry]
        n[~natural] = 0
        menu = self._menu(table, natural & (n == many[entry]))
        at = np.flatnonzero(natural)
        high = menu[at] * WIDTH + ORIGIN + self.size[table[at]] - n[at]
        count[at] = WITHIN[high] - WITHIN[high - self.twos[table[at]] - 1]
        at, first = self._first(table, menu, row, n)
        at -= np.cumsum(count) - count
        which = np.repeat(at, count)
        which += np.arange(len(which))
        ids: I32 = np.repeat(first.astype(np.int32), count)
        ids += OFFSETS[which]
        return ids

    def dense(self) -> I8:
        """``[N, A] int8`` mask, 1 where legal."""
        mask = np.zeros((len(self), ACTIONS.size), np.int8)
        if len(self) == 1:
            self._write(mask[0])
            return mask
        flat, offsets = self.ids()
        first = np.arange(0, mask.size, ACTIONS.size)
        mask.reshape(-1)[np.repeat(first, np.diff(offsets)) + flat] = 1
        return mask

    def _write(self, mask: I8) -> None:
        """Mark the moves of a single table in an empty mask: a block of each row at a time."""
        word = int(self.verbs[0]) | int(self.offers[0]) << OFFER
        while word:
            mask[word.bit_length() - 1] = 1
            word ^= 1 << word.bit_length() - 1
        menu, last_menu = int(self.menu[0]), int(self.last_menu[0])
        if not WORD[last_menu]:  # then the other, of sets that leave more, has none either
            return
        size, twos = int(self.size[0]), int(self.twos[0]) + 1
        others, last = _pattern(menu, size), _pattern(last_menu, size)
        naturals = mask[SET : SET + FIRST_TWOS].reshape(_NATURALS)
        *held, alone = self.held[0].tolist()
        for row, n in enumerate(held):
            if n:
                naturals[row, : n - 1, :twos] = others[1:n, :twos]
                naturals[row, n - 1, :twos] = last[n, :twos]
        if alone:
            in_twos = mask[SET + FIRST_TWOS : SET + FIRST_JOKERS].reshape(-1, COMBOS)
            in_twos[:alone] = others[0, 1:twos]
        mask[SET + FIRST_JOKERS :] = others[0, 0, 1:]

    def pick(self, draws: npt.NDArray[np.float64]) -> I32:
        """One legal id at each table: of n ids, ascending, the one at ``int(draw * n)``.

        The same as from :meth:`ids`, without writing them out. Every table must have a legal move.

        Args:
            draws: ``[N] float64`` in [0, 1).

        Returns:
            ``[N] int32``.
        """
        if len(self) == 1:
            flat = self.ids()[0]
            return flat[[int(draws[0] * len(flat))]]
        words = self._words()
        said = np.bitwise_count(words)
        k = (draws * (said + self.upto[:, -1])).astype(np.int64)
        plays = k >= said
        chosen = np.empty(len(self), np.int32)
        at = np.flatnonzero(~plays)
        chosen[at] = _kth_bit(words[at], k[at])
        at = np.flatnonzero(plays)
        chosen[at] = self._kth_set(at, k[at] - said[at])
        return chosen

    def _kth_set(self, table: Intp, k: I64) -> I64:
        """Id of the k-th legal set, counted from 0, of each of some tables."""
        upto = self.upto[table]
        row = (upto <= k[:, None]).sum(axis=1)
        at = np.flatnonzero(row)
        k[at] -= upto[at, row[at] - 1]
        n = np.zeros(len(table), np.int64)
        menu = self.menu[table]
        at = np.flatnonzero(row < ROW_TWOS)
        some, left = table[at], k[at]
        most = self.held[some, row[at]].astype(np.int64)
        before = self._fewer(some, menu[at], most - 1)
        takes_last = left >= before
        part = np.flatnonzero(takes_last)
        menu[at[part]] = self.last_menu[some[part]]
        left[part] -= before[part]
        n[at] = most
        part = np.flatnonzero(~takes_last)
        if part.size:
            some, own = some[part], menu[at[part]]
            numbers = np.arange(1, most[part].max())
            fewer = self._fewer(some[:, None], own[:, None], numbers)
            found = (fewer <= left[part, None]).sum(axis=1)
            n[at[part]] = found + 1
            left[part] -= self._fewer(some, own, found)
        k[at] = left
        at, first = self._first(table, menu, row, n)
        ids: I64 = first + OFFSETS[at + k]
        return ids

    def _fewer(self, table: Intp, menu: Intp, n: Ints) -> Any:
        """Sets of a row with 1 … n naturals, whether or not so many are held."""
        high = menu * WIDTH + (ORIGIN - 1) + self.size[table]
        low = high - self.twos[table] - 1
        return SUMMED[high] - SUMMED[low] - SUMMED[high - n] + SUMMED[low - n]

    def _menu(self, table: Intp, takes_last: npt.NDArray[np.bool_]) -> Intp:
        return np.where(takes_last, self.last_menu[table], self.menu[table])

    def _first(self, table: Intp, menu: Intp, row: Ints, n: Ints) -> tuple[Intp, I64]:
        """Sets of a row with n naturals: where in OFFSETS they begin, and the id to add."""
        size = self.size[table]
        at = FIRST_OFFSET[menu * SPAN + MAX_NATURALS + size - n]
        at += NOTHING[menu] * (row == ROW_JOKERS)
        some = np.flatnonzero(row == ROW_TWOS)  # without those of no 2
        high = menu[some] * WIDTH + ORIGIN + size[some]
        at[some] += WITHIN[high] - WITHIN[high - 1]
        first = SET + BASE[row]
        first += n * PER_NATURAL
        return at, first

    def contains(self, actions: Ints) -> npt.NDArray[np.bool_]:
        """``[N] bool``: whether one id per table is legal."""
        if len(self) == 1:
            return np.array([self._has(int(actions[0]))])
        a = np.asarray(actions).astype(np.int64)
        words = self._words()
        ok = (a >= 0) & (a < SET)
        ok &= words >> np.where(ok, a, 0).astype(np.uint32) & 1 == 1
        at = np.flatnonzero((a >= SET) & (a < ACTIONS.size))
        row, own, t, combo, size = FACTS[a[at] - SET].T
        held = self.held[at, row]
        menu = self._menu(at, (row < ROW_TWOS) & (own == held) & (own > 0))
        fits = (own <= held) & (t <= self.twos[at])
        fits &= (size == self.size[at]) | (menu & LEAD == LEAD)
        ok[at] = fits & (WORD[menu] >> combo.astype(np.uint32) & 1 == 1)
        return ok

    def _has(self, action: int) -> bool:
        """:meth:`contains` of a single table: numbers instead of arrays."""
        if not SET <= action < ACTIONS.size:
            word = int(self.verbs[0]) | int(self.offers[0]) << OFFER
            return 0 <= action < SET and word >> action & 1 == 1
        row, own, t, combo, size = FACTS[action - SET].tolist()
        held = int(self.held[0, row])
        takes_last = row < ROW_TWOS and 0 < own == held
        menu = int((self.last_menu if takes_last else self.menu)[0])
        fits = own <= held and t <= self.twos[0] and (menu & LEAD or size == self.size[0])
        return bool(fits and int(WORD[menu]) >> combo & 1)

    def take(self, rows: Ints) -> Legal:
        """Legal moves of some of the tables."""
        new = Legal(*(getattr(self, name)[rows] for name in _FIELDS))
        new._upto = None if self._upto is None else self._upto[rows]
        return new

    def put(self, rows: Ints, other: Legal) -> None:
        """Overwrite the legal moves of some of the tables."""
        self._upto = None
        for name in _FIELDS:
            getattr(self, name)[rows] = getattr(other, name)


_FIELDS: Final = ("verbs", "offers", "held", "twos", "size", "menu", "last_menu")
_NATURALS: Final = (ROW_TWOS, MAX_NATURALS, ATTACHED, COMBOS)


@lru_cache(maxsize=1 << 10)
def _pattern(menu: int, size: int) -> npt.NDArray[np.bool_]:
    """``[17, 17, 25]``: whether n naturals, t 2s and a combo are a set of a menu."""
    n, t = np.ix_(np.arange(MAX_NATURALS + 1), np.arange(ATTACHED))
    has = WORD[menu] >> np.arange(COMBOS, dtype=np.uint32) & 1 == 1
    pattern: npt.NDArray[np.bool_] = np.broadcast_to(
        has, (*np.broadcast(n, t).shape, COMBOS)
    ).copy()
    if not menu & LEAD:
        pattern &= (n + t)[..., None] + JOKERS_OF == size
    pattern.setflags(write=False)
    return pattern


def _kth_bit(words: U32, k: I64) -> Ints:
    """Place of the k-th lowest bit, counted from 0: few words have more than two or three."""
    words = words.copy()
    for passed in range(int(k.max(initial=0))):
        words[k > passed] &= words[k > passed] - np.uint32(1)
    place: Ints = np.bitwise_count(~words & (words - np.uint32(1)))
    return place


def sets_of(ranks: I8, standing: Ints, mode: Ints) -> Legal:
    """Sets that players may play; no verbs and no offers yet.

    Args:
        ranks: ``[N, 15] int8`` cards held by rank.
        standing: ``[N]`` place of the set to beat, -1 for a lead.
        mode: ``[N]``: :data:`FREE`; :data:`BURNING`, 烧牌: afterwards the jokers left are at least
            the number of different natural ranks left (2s only count as one) less one;
            :data:`DUTY`, a burner's later set: it holds a joker besides, or is his whole hand;
            :data:`NO_SETS`.
    """
    if len(ranks) == 1:
        legal = _sets_of_one(ranks, int(standing[0]), int(mode[0]))
        if legal is not None:
            return legal
    twos = ranks[:, ROW_TWOS].astype(np.intp)
    hand = ranks[:, RANK_B] * 5 + ranks[:, RANK_R]
    size = STANDING_SIZE[standing]
    held = ranks[:, :ROW_JOKERS] * ABOVE[STANDING_ROW[standing]]
    key = (hand.astype(np.intp) * (DEAD_B + 1) + STANDING_NEEDS[standing]) * _PER_HAND
    menu = MENU_OF[key + _ANY] + (size == 0)
    last_menu = menu.copy()
    bound = np.flatnonzero(mode)
    if bound.size:
        menu[bound], last_menu[bound] = _bound(ranks[bound], size, key[bound], mode[bound], bound)
    return Legal.of_sets(held, twos, size, menu, last_menu)


def _sets_of_one(ranks: I8, standing: int, mode: int) -> Legal | None:
    """:func:`sets_of` of a single table by numbers; None where only a last set may be legal."""
    *naturals, twos, b, r = ranks[0].tolist()
    size = int(STANDING_SIZE[standing])
    key = ((b * 5 + r) * (DEAD_B + 1) + int(STANDING_NEEDS[standing])) * _PER_HAND
    first = last = _ANY
    if mode:
        if mode == DUTY and not b + r:
            return None
        most = -2 if mode == NO_SETS else b + r + 1 - len(naturals) + naturals.count(0)
        bounded = key + (MOST_JOKERS + 2) * (mode == DUTY) + 1
        first, last = (min(max(most + one, -1), MOST_JOKERS) + bounded - key for one in (0, 1))
    lead = int(size == 0)
    menus = int(MENU_OF[key + first]) + lead, int(MENU_OF[key + last]) + lead
    held = ranks[:, :ROW_JOKERS] * ABOVE[STANDING_ROW[standing]]
    return Legal.of_sets(held, *np.array([[twos], [size], [menus[0]], [menus[1]]], np.intp))


_PER_HAND: Final = 2 * (MOST_JOKERS + 2)
_ANY: Final = MOST_JOKERS + 1  # no bounds: any number of jokers


def _bound(ranks: I8, size: Intp, key: Intp, mode: Ints, at: Intp) -> tuple[Intp, Intp]:
    """Menus where not all sets are legal: the ``at``-th tables.

    ``size`` is changed where the whole hand is the only set: its size is the one to make.
    """
    jokers = ranks[:, RANK_B].astype(np.intp) + ranks[:, RANK_R]
    different = np.count_nonzero(ranks[:, :ROW_TWOS], axis=1)
    duty = mode == DUTY
    # jokers that may be played where a set takes no rank away; one more where it does
    most = jokers + 1 - different
    most[mode == NO_SETS] = -2
    lead = size[at] == 0
    menus = [
        MENU_OF[key + (MOST_JOKERS + 2) * duty + np.clip(most + last, -1, MOST_JOKERS) + 1] + lead
        for last in (0, 1)
    ]
    # a duty without a joker: the last set, which must be the whole hand
    some = (different > 0) | (ranks[:, ROW_TWOS] > 0)
    bare = np.flatnonzero(duty & (jokers == 0) & (different <= 1) & some)
    if bare.size:
        whole = ranks[bare].sum(axis=1, dtype=np.intp)
        good = lead[bare] | (size[at[bare]] == whole)
        only = np.where(good, MENU_OF[key[bare] + _ANY], NO_MENU)
        size[at[bare]] = whole
        menus[0][bare] = np.where(different[bare] == 0, only, NO_MENU)
        menus[1][bare] = only
    return menus[0], menus[1]


def _by_row(held: I8, twos: Intp, size: Intp, menu: Intp, last_menu: Intp) -> I32:
    """``[N, 14]`` number of sets of each row."""
    count = np.empty((len(held), ROWS), np.int32)
    high = menu * WIDTH + (ORIGIN - 1) + size
    low = high - twos - 1
    naturals = held[:, :ROW_TWOS]
    upper, lower = SUMMED[high[:, None] - naturals], SUMMED[low[:, None] - naturals]
    np.subtract(lower, upper, out=count[:, :ROW_TWOS])
    count[:, :ROW_TWOS] += (SUMMED[high] - SUMMED[low])[:, None]
    count[:, ROW_TWOS] = WITHIN[high] - WITHIN[high - held[:, ROW_TWOS]]
    count[:, ROW_JOKERS] = WITHIN[high + 1] - WITHIN[high] - NOTHING[menu]
    at = np.flatnonzero(menu != last_menu)
    if at.size:  # sets that leave naturals are of one menu, those that take the last of the other
        some = held[at, :ROW_TWOS]
        fewer = np.maximum(some, 1) - 1
        high, low = high[at, None], low[at, None]
        last = (last_menu[at] - menu[at])[:, None] * WIDTH - fewer
        leaving = SUMMED[high] - SUMMED[low] - SUMMED[high - fewer] + SUMMED[low - fewer]
        taking = WITHIN[high + last] - WITHIN[low + last]
        count[at, :ROW_TWOS] = np.where(some > 0, leaving + taking, 0)
    return count
