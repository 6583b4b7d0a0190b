"""Legal moves, for many tables at once and never capped.

The hot path of the engine. The sets that one player may play are held as one 25-bit word per row
(a rank, or jokers alone) and identity flag: which combos of small and big jokers may hang there.
An answer's number of naturals follows from the size to beat; a lead may take any number from 1 to
what is held. So 29 words describe a lead of a thousand sets exactly, and ids are written out only
when somebody asks (:meth:`Legal.ids`, ragged; :meth:`Legal.dense`). What is legal is worked out in
:mod:`lupai.envs.baohuang.moves`; here are the words and how to read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, CALL, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.tables import (
    BIT_OF,
    BY_ANSWER,
    FIRST_ID,
    IS_RANK,
    JOKERS_OF,
    NATURALS_OF,
    SIZE_OF,
    UNIT_OF,
    UNITS,
    Ints,
    kth_bit,
    permuted,
    set_of_action,
)
from lupai.envs.cards import NUM_KINDS
from lupai.envs.seats import NOBODY
from lupai.envs.sets import COMBOS, ROWS, U32

__all__ = ["Ints", "Legal", "set_of_action", "verb_mask"]

I64 = npt.NDArray[np.int64]
_KEY: Final = 1 << 14  # more than there are action ids; row * _KEY + id sorts by row, then id
assert ACTIONS.size <= _KEY


def verb_mask(*verbs: str) -> np.uint32:
    """Bits of some verbs in :attr:`Legal.verbs`."""
    return np.uint32(sum(1 << VERB_ID[v] for v in verbs))


_IDLE: Final = verb_mask("pass", "yield", "claim")
_PASS: Final = verb_mask("pass")


@dataclass
class Legal:
    """Legal moves of one player at each of N tables.

    Attributes:
        words: ``[N, 29] uint32`` verbs, then rows of sets without and with the identity flag; see
            :mod:`lupai.envs.baohuang.tables` for the meaning of the bits.
        held: ``[N, 29] int8`` naturals available in each unit, which bounds a lead.
        size: ``[N] int16`` cards of the set to beat, 0 for a lead.
        flag_cards: cards that the identity flag adds to a set: 1 where it is X, else 0.
        calls: ``[N, 54] int8``: 1 ``call c``, 2 ``call c open`` and ``call c secret``; None where
            nobody calls.
        extra: ``[N, 2] int32`` action ids beside those, -1 for none: sets that an option allows
            outside of the rule of equal sizes, or of which only one number of naturals is legal.
            None where there are none.
    """

    words: U32
    held: npt.NDArray[np.int8]
    size: npt.NDArray[np.int16]
    flag_cards: int
    calls: npt.NDArray[np.int8] | None = None
    extra: npt.NDArray[np.int32] | None = None

    @classmethod
    def empty(cls, n: int, flag_cards: int = 0) -> Legal:
        """No legal move at any of n tables."""
        held = np.zeros((n, UNITS), np.int8)
        return cls(np.zeros((n, UNITS), np.uint32), held, np.zeros(n, np.int16), flag_cards)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def verbs(self) -> U32:
        """``[N] uint32``, bit ``v`` for verb id ``v``."""
        return self.words[:, 0]

    def _by_unit(self) -> npt.NDArray[np.int16]:
        """``[N, 29]`` number of moves in each unit."""
        count = np.bitwise_count(self.words).astype(np.int16)
        lead = np.flatnonzero(self.size == 0)
        count[lead] *= np.maximum(self.held[lead], 1)
        return count

    def counts(self) -> I64:
        """``[N] int64`` number of legal moves."""
        total: I64 = self._by_unit().sum(axis=1, dtype=np.int64)
        if self.calls is not None:
            total += self.calls.sum(axis=1, dtype=np.int64)
        if self.extra is not None:
            total += (self.extra >= 0).sum(axis=1)
        return total

    def idle(self, counts: I64 | None = None) -> npt.NDArray[np.bool_]:
        """``[N] bool``: pass is legal, and nothing but pass, yield and claim is.

        Args:
            counts: what :meth:`counts` gives, where the caller has it.
        """
        words = np.bitwise_count(self.verbs & _IDLE)
        every = self.counts() if counts is None else counts
        found: npt.NDArray[np.bool_] = (every == words) & (self.verbs & _PASS != 0)
        return found

    def _in_words(self) -> tuple[I64, I64]:
        """Row and id of every move of the words, ascending."""
        place = np.flatnonzero(self.words != 0)
        words = self.words.reshape(-1)[place]
        row, unit = np.divmod(place, UNITS)
        rank = IS_RANK[unit]
        lead = self.size[row] == 0
        answer = np.flatnonzero(rank & ~lead)
        words[answer] = permuted(words[answer])
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        at = np.flatnonzero(bits.view(bool))
        entry, bit = at >> 5, at & 31
        naturals = np.zeros(len(words), np.int64)
        naturals[answer] = self.size[row[answer]]
        many = np.flatnonzero(lead & rank)
        if many.size:  # a lead: one id for each number of naturals
            own = np.bitwise_count(words).astype(np.int64)
            times = np.ones(len(words), np.int64)
            times[many] = self.held.reshape(-1)[place[many]]
            first, total = np.cumsum(own) - own, own * times
            entry = np.repeat(np.arange(len(words)), total)
            within = np.arange(len(entry)) - (np.cumsum(total) - total)[entry]
            more = within // own[entry]
            bit = bit[first[entry] + within - more * own[entry]]
            naturals[many] = 1
        else:
            more = np.zeros(len(bit), np.int64)
        filled = naturals[entry] + more
        if answer.size:
            answers = np.zeros(len(words), bool)
            answers[answer] = True
            i = np.flatnonzero(answers[entry])
            bit[i] = BY_ANSWER[bit[i]]
            filled[i] -= JOKERS_OF[bit[i]] + self.flag_cards * (unit[entry[i]] > ROWS)
        return row[entry], FIRST_ID[unit[entry]] + COMBOS * filled + bit

    def _beside(self) -> list[tuple[I64, I64]]:
        """Rows and ids of calls and extras."""
        parts = []
        if self.calls is not None:
            for count, ways in ((1, (0,)), (2, (1, 2))):
                row, kind = np.nonzero(self.calls == count)
                parts += [(row, CALL + way * NUM_KINDS + kind) for way in ways]
        if self.extra is not None:
            row, slot = np.nonzero(self.extra >= 0)
            parts.append((row, self.extra[row, slot].astype(np.int64)))
        return parts

    def ids(self) -> tuple[npt.NDArray[np.int32], I64]:
        """All legal ids, ragged.

        Returns:
            ``(flat [total] int32, offsets [N + 1] int64)``; row i has
            ``flat[offsets[i]:offsets[i + 1]]``, ascending.
        """
        row, flat = self._in_words()
        beside = self._beside()
        if beside:
            parts = [(row, flat), *beside]
            keys = np.concatenate([r * _KEY + i for r, i in parts])
            keys.sort()
            row, flat = keys >> 14, keys & (_KEY - 1)
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=len(self)), out=offsets[1:])
        return flat.astype(np.int32), offsets

    def dense(self) -> npt.NDArray[np.int8]:
        """``[N, A] int8`` mask, 1 where legal."""
        mask = np.zeros((len(self), ACTIONS.size), np.int8)
        flat = mask.reshape(-1)
        if len(self) == 1:
            for part in self._by_word():
                flat[part] = 1
            parts = self._beside()
        else:
            parts = [self._in_words(), *self._beside()]
        for row, ids in parts:
            flat[row * ACTIONS.size + ids] = 1
        return mask

    def _by_word(self) -> list[npt.NDArray[np.int16]]:
        """Ids of each word of a single table."""
        size, held = int(self.size[0]), self.held[0].tolist()
        return [
            _ids_of(unit, word, size, 0 if size else held[unit], self.flag_cards)
            for unit, word in enumerate(self.words[0].tolist())
            if word
        ]

    def pick(self, draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """One legal id at each table: of n ids, ascending, the one at ``int(draw * n)``.

        The same as from :meth:`ids`, without writing them out. Every table must have a legal move.

        Args:
            draws: ``[N] float64`` in [0, 1).

        Returns:
            ``[N] int32``.
        """
        beside = self._rows_beside()
        chosen = self._pick_words(draws)
        if beside.size:
            flat, offsets = self.take(beside).ids()
            place = (draws[beside] * np.diff(offsets)).astype(np.int64)
            chosen[beside] = flat[offsets[:-1] + place]
        return chosen

    def _rows_beside(self) -> I64:
        """Rows with a call or an extra."""
        some = np.zeros(len(self), bool)
        if self.calls is not None:
            some |= self.calls.any(axis=1)
        if self.extra is not None:
            some |= (self.extra >= 0).any(axis=1)
        return np.flatnonzero(some)

    def _pick_words(self, draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        count = self._by_unit()
        upto = np.cumsum(count, axis=1, dtype=np.int16)
        k = (draws * upto[:, -1]).astype(np.int16)
        unit = (upto > k[:, None]).argmax(axis=1)
        place = np.arange(0, count.size, UNITS) + unit
        word = self.words.reshape(-1)[place]
        k -= upto.reshape(-1)[place] - count.reshape(-1)[place]
        naturals = np.zeros(len(k), np.int16)
        ranks = np.flatnonzero(IS_RANK[unit])
        lead = self.size[ranks] == 0
        i = ranks[lead]
        own = np.bitwise_count(word[i])
        more, k[i] = np.divmod(k[i], own)
        naturals[i] = more + 1
        i = ranks[~lead]
        word[i] = permuted(word[i])
        bit = kth_bit(word, k)
        bit[i] = BY_ANSWER[bit[i]]
        naturals[i] = self.size[i] - JOKERS_OF[bit[i]] - self.flag_cards * (unit[i] > ROWS)
        chosen: npt.NDArray[np.int32] = FIRST_ID[unit] + COMBOS * naturals + bit
        return chosen

    def contains(self, actions: Ints) -> npt.NDArray[np.bool_]:
        """``[N] bool``: whether one id per table is legal."""
        one = len(actions) == 1 and self.calls is None and self.extra is None
        if one:  # numbers instead of arrays
            a: Any = int(actions[0])
            if not 0 <= a < ACTIONS.size:
                return np.zeros(1, bool)
            place: Any = UNIT_OF[a]
            size: Any = self.size[0]
        else:
            known = actions.astype(np.uint64) < ACTIONS.size
            if np.count_nonzero(known) < len(known):
                return known & self.contains(np.where(known, actions, 0))
            a, size = actions, self.size
            place = np.arange(0, self.words.size, UNITS) + UNIT_OF[a]
        naturals = NATURALS_OF[a]
        cards = SIZE_OF[a] + self.flag_cards * (a >= SET_IDENTITY)
        lead = (size == 0) & (naturals <= self.held.reshape(-1)[place])
        answer = (naturals == 0) | (cards == size)
        ok = (lead | answer) & ((self.words.reshape(-1)[place] >> BIT_OF[a]) & 1 == 1)
        if one:
            return np.array([ok])
        if self.calls is not None:
            i = np.flatnonzero((actions >= CALL) & (actions < SET))
            way, kind = np.divmod(actions[i] - CALL, NUM_KINDS)
            ok[i] = self.calls[i, kind] == np.where(way == 0, 1, 2)
        if self.extra is not None:
            ok |= (self.extra == actions[:, None]).any(axis=1)
        found: npt.NDArray[np.bool_] = ok
        return found

    def take(self, rows: Ints) -> Legal:
        """Legal moves of some of the tables."""
        return Legal(
            self.words[rows], self.held[rows], self.size[rows], self.flag_cards,
            None if self.calls is None else self.calls[rows],
            None if self.extra is None else self.extra[rows],
        )  # fmt: skip

    def put(self, rows: Ints, other: Legal) -> None:
        """Overwrite the legal moves of some of the tables."""
        self.words[rows] = other.words
        self.held[rows] = other.held
        self.size[rows] = other.size
        if other.calls is not None or self.calls is not None:
            if self.calls is None:
                self.calls = np.zeros((len(self), NUM_KINDS), np.int8)
            self.calls[rows] = 0 if other.calls is None else other.calls
        if other.extra is not None or self.extra is not None:
            if self.extra is None:
                self.extra = np.full((len(self), 2), NOBODY, np.int32)
            self.extra[rows] = NOBODY if other.extra is None else other.extra


@lru_cache(maxsize=1 << 13)
def _ids_of(unit: int, word: int, size: int, held: int, flag_cards: int) -> npt.NDArray[np.int16]:
    """Ids of one word: most words of a hand came up before."""
    one = Legal.empty(1, flag_cards)
    one.words[0, unit], one.held[0, unit], one.size[0] = word, held, size
    ids = one._in_words()[1].astype(np.int16)
    ids.setflags(write=False)
    return ids
