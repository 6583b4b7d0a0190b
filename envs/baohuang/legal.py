"""Legal moves, for many tables at once and never capped.

The hot path of the engine. The sets that one player may play are held as one 25-bit word per row
(a rank, or jokers alone) and identity flag: which combos of small and big jokers may hang there.
An answer's number of naturals follows from the size to beat; a lead may take any number from 1 to
what is held. So ``[N, 2, 14]`` words describe a lead of a thousand sets exactly, and ids are
written out only when somebody asks (:meth:`Legal.ids`, ragged; :meth:`Legal.dense`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ACTIONS, CALL, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.rules import Rules
from lupai.envs.cards import NATURAL_RANKS, NUM_KINDS, RANK_B, RANK_R, RANKS
from lupai.envs.seats import NOBODY
from lupai.envs.sets import (
    ALL_COMBOS,
    COMBOS,
    COMBOS_WITH_B,
    COMBOS_WITH_R,
    NUM_SETS,
    PARTS,
    ROW_JOKERS,
    ROWS,
    SET_SIZE,
    U32,
    CardSet,
    answer_table,
    fit_table,
    joker_table,
    only_table,
    set_id,
)  # fmt: skip

I64 = npt.NDArray[np.int64]
Ints = npt.NDArray[np.integer]
_KEY: Final = 1 << 14  # more than there are action ids; row * _KEY + id sorts by row, then id
assert ACTIONS.size <= _KEY
_BITS: Final = np.arange(COMBOS, dtype=np.uint32)
_VERB_BITS: Final = np.arange(len(VERB_ID), dtype=np.uint32)
_STAR_COMBOS: Final = np.full(RANK_R + 1, ALL_COMBOS, dtype=np.uint32)
_STAR_COMBOS[RANK_B], _STAR_COMBOS[RANK_R] = COMBOS_WITH_B, COMBOS_WITH_R
_NOT_EMPTY: Final = np.uint32(ALL_COMBOS - 1)  # jokers alone are at least one card
_SIX: Final = RANKS.index("6")
_TWO: Final = RANKS.index("2")
_THREE_TWOS: Final = CardSet(_TWO, 3).id
_SINGLE_R: Final = SET + CardSet(ROW_JOKERS, 0, 0, 1).id
_ABOVE: Final = np.arange(ROWS)[None, :] > np.arange(ROWS)[:, None]  # [standing rank, row]


def verb_mask(*verbs: str) -> np.uint32:
    """Bits of some verbs in :attr:`Legal.verbs`."""
    return np.uint32(sum(1 << VERB_ID[v] for v in verbs))


def set_of_action(actions: Ints) -> Ints:
    """Set id of ``play`` action ids, flag dropped."""
    return actions - np.where(actions >= SET_IDENTITY, SET_IDENTITY, SET)


@dataclass
class Legal:
    """Legal moves of one player at each of N tables.

    Attributes:
        verbs: ``[N] uint32``, bit ``v`` for verb id ``v``.
        calls: ``[N, 54] int8``: 1 ``call c``, 2 ``call c open`` and ``call c secret``.
        combos: ``[N, 2, 14] uint32`` words, without and with the identity flag.
        held: ``[N, 2, 14] int8`` naturals available in each row; bounds a lead.
        size: ``[N] int16`` cards of the set to beat, 0 for a lead.
        flag_cards: cards that the identity flag adds to a set: 1 where it is X, else 0.
        extra: ``[N, 2] int32`` action ids beside those, -1 for none: sets that an option allows
            outside of the rule of equal sizes, or of which only one number of naturals is legal.
    """

    verbs: U32
    calls: npt.NDArray[np.int8]
    combos: U32
    held: npt.NDArray[np.int8]
    size: npt.NDArray[np.int16]
    flag_cards: int
    extra: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, n: int, flag_cards: int = 0) -> Legal:
        """No legal move at any of n tables."""
        return cls(
            np.zeros(n, np.uint32),
            np.zeros((n, NUM_KINDS), np.int8),
            np.zeros((n, 2, ROWS), np.uint32),
            np.zeros((n, 2, ROWS), np.int8),
            np.zeros(n, np.int16),
            flag_cards,
            np.full((n, 2), NOBODY, np.int32),
        )

    def __len__(self) -> int:
        return len(self.verbs)

    def counts(self) -> I64:
        """``[N] int64`` number of legal moves."""
        words = np.bitwise_count(self.combos).astype(np.int64)
        lead = self.size == 0
        if lead.any():
            words[lead, :, :ROW_JOKERS] *= self.held[lead, :, :ROW_JOKERS]
        sets = words.sum(axis=(1, 2))
        total: I64 = sets + np.bitwise_count(self.verbs)
        total += self.calls.sum(axis=1, dtype=np.int64) + (self.extra >= 0).sum(axis=1)
        return total

    def _keys(self) -> I64:
        """``row * _KEY + id`` of every legal move, ascending."""
        row, verb = np.nonzero((self.verbs[:, None] >> _VERB_BITS) & 1)
        parts = [row * _KEY + verb]
        if self.calls.any():
            row, kind = np.nonzero(self.calls == 1)
            parts.append(row * _KEY + CALL + kind)
            row, kind = np.nonzero(self.calls == 2)
            parts.append(row * _KEY + CALL + NUM_KINDS + kind)
            parts.append(row * _KEY + CALL + 2 * NUM_KINDS + kind)
        row, slot = np.nonzero(self.extra >= 0)
        if row.size:
            parts.append(row * _KEY + self.extra[row, slot])
        place = np.flatnonzero(self.combos)
        if place.size:
            entry, combo = np.nonzero((self.combos.reshape(-1)[place, None] >> _BITS) & 1)
            place = place[entry]
            row, rest = np.divmod(place, 2 * ROWS)
            flag, rank = np.divmod(rest, ROWS)
            n = self.size[row] - combo // 5 - combo % 5 - flag * self.flag_cards
            n[rank == ROW_JOKERS] = 0
            grow = np.flatnonzero((self.size[row] == 0) & (rank < ROW_JOKERS))
            if grow.size:  # a lead: one id for each number of naturals
                n[grow] = 1
                times = np.ones(len(n), np.int64)
                times[grow] = self.held.reshape(-1)[place[grow]]
                first = np.cumsum(times) - times
                index = np.repeat(np.arange(len(n)), times)
                within = np.arange(len(index)) - first[index]
                row, flag, rank, combo = row[index], flag[index], rank[index], combo[index]
                n = n[index] + within
            natural = rank * (16 * COMBOS) + (n - 1) * COMBOS + combo
            alone = NATURAL_RANKS * 16 * COMBOS + (combo + COMBOS - 1) % COMBOS
            ids = np.where(n == 0, alone, natural) + np.where(flag == 1, SET_IDENTITY, SET)
            parts.append(row * _KEY + ids)
        keys = np.concatenate(parts).astype(np.int64, copy=False)
        keys.sort()
        return keys

    def ids(self) -> tuple[npt.NDArray[np.int32], I64]:
        """All legal ids, ragged.

        Returns:
            ``(flat [total] int32, offsets [N + 1] int64)``; row i has
            ``flat[offsets[i]:offsets[i + 1]]``, ascending.
        """
        keys = self._keys()
        rows = keys >> 14
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=len(self)), out=offsets[1:])
        return (keys & (_KEY - 1)).astype(np.int32), offsets

    def dense(self) -> npt.NDArray[np.int8]:
        """``[N, A] int8`` mask, 1 where legal."""
        keys = self._keys()
        mask = np.zeros((len(self), ACTIONS.size), np.int8)
        mask[keys >> 14, keys & (_KEY - 1)] = 1
        return mask

    def contains(self, actions: Ints) -> npt.NDArray[np.bool_]:
        """``[N] bool``: whether one id per table is legal."""
        a = actions.astype(np.int64)
        row = np.arange(len(a))
        verb = (self.verbs >> np.clip(a, 0, 31).astype(np.uint32)) & 1
        ok: npt.NDArray[np.bool_] = (a >= 0) & (a < CALL) & (verb == 1)
        call = (a >= CALL) & (a < SET)
        if call.any():
            way, kind = np.divmod(np.where(call, a - CALL, 0), NUM_KINDS)
            ok |= call & (self.calls[row, kind] == np.where(way == 0, 1, 2))
        play = (a >= SET) & (a < ACTIONS.size)
        if play.any():
            flag = (a >= SET_IDENTITY).astype(np.int64)
            parts = PARTS[np.where(play, set_of_action(a), 0)].astype(np.int64)
            rank, n, b, r = parts.T
            bit = (self.combos[row, flag, rank] >> (b * 5 + r).astype(np.uint32)) & 1
            size = n + b + r + flag * self.flag_cards
            fits = np.where(self.size == 0, n <= self.held[row, flag, rank], size == self.size)
            ok |= play & (bit == 1) & (fits | ((n == 0) & (self.size == 0)))
            ok |= play & (self.extra == a[:, None]).any(axis=1)
        return ok

    def take(self, rows: Ints) -> Legal:
        """Legal moves of some of the tables."""
        return Legal(
            self.verbs[rows], self.calls[rows], self.combos[rows], self.held[rows],
            self.size[rows], self.flag_cards, self.extra[rows],
        )  # fmt: skip

    def put(self, rows: Ints, other: Legal) -> None:
        """Overwrite the legal moves of some of the tables."""
        for name in ("verbs", "calls", "combos", "held", "size", "extra"):
            getattr(self, name)[rows] = getattr(other, name)


def play_moves(
    ranks: npt.NDArray[np.int8],
    identity_rank: Ints,
    standing: Ints,
    verbs: U32,
    rules: Rules,
) -> Legal:
    """Legal moves in a trick.

    Args:
        ranks: ``[N, 15] int8`` cards held by rank, the identity card with its rank.
        identity_rank: ``[N]`` rank of the identity card where the player holds it and it makes a
            difference (the role is hidden, or it is 特画), else -1.
        standing: ``[N]`` action id of the set to beat, -1 for a lead.
        verbs: ``[N] uint32`` words allowed beside the sets (pass, yield, claim).
        rules: for 特画, 憋6, and three twos.
    """
    supreme = int(rules.supreme)
    legal = Legal.empty(len(ranks), supreme)
    legal.verbs = verbs.astype(np.uint32)
    row = np.arange(len(ranks))
    hides = identity_rank >= 0
    plain = ranks
    if hides.any():  # without the flag the identity card stays in the hand
        plain = ranks.copy()
        plain[row[hides], identity_rank[hides]] -= 1

    lead = standing == NOBODY
    beaten = np.where(lead, 0, set_of_action(standing))
    holds_x = ~lead & (standing >= SET_IDENTITY)  # only an X keeps its flag on the table
    size = np.where(lead, 0, SET_SIZE[beaten] + holds_x).astype(np.int16)
    legal.size = size
    above = _ABOVE[PARTS[beaten, 0]] | lead[:, None]
    combo = np.where(lead, 0, PARTS[beaten, 2] * 5 + PARTS[beaten, 3])
    answers = np.where(holds_x, np.uint32(0), answer_table()[:, combo])  # [2, N]; a lead: all

    legal.combos[:, 0] = _rows(plain, plain, size, lead, answers[0], above)
    legal.combos[:, 0, ROW_JOKERS] &= _NOT_EMPTY
    legal.held[:, 0, :NATURAL_RANKS] = plain[:, :NATURAL_RANKS]
    if hides.any():
        i = np.flatnonzero(hides)
        if supreme:
            _add_x(legal, i, plain[i], size[i], lead[i], answers[1, i], above[i])
        else:
            _add_stars(legal, i, plain[i], ranks[i], identity_rank[i], answers[0, i], above[i])
    if rules.hold_sixes:
        _hold_sixes(legal, ranks, plain, hides)
    if rules.three_twos_beat_big:
        _three_twos(legal, ranks, plain, hides & (identity_rank == _TWO), standing)
    return legal


def _add_x(
    legal: Legal,
    i: Ints,
    plain: npt.NDArray[np.int8],
    size: npt.NDArray[np.int16],
    lead: npt.NDArray[np.bool_],
    answer: U32,
    above: npt.NDArray[np.bool_],
) -> None:
    """Sets with 特画, at tables ``i`` whose player holds it: one card more than is listed."""
    rest = np.maximum(size - 1, 0).astype(np.int16)
    legal.combos[i, 1] = _rows(plain, plain, rest, lead, answer, above)
    legal.held[i, 1, :NATURAL_RANKS] = plain[:, :NATURAL_RANKS]


def _add_stars(
    legal: Legal,
    i: Ints,
    plain: npt.NDArray[np.int8],
    ranks: npt.NDArray[np.int8],
    rank: Ints,
    answer: U32,
    above: npt.NDArray[np.bool_],
) -> None:
    """Sets with the hidden identity card of rank ``rank``; players of tables ``i`` hold it."""
    size = legal.size[i]
    lead = size == 0
    stars = _rows(plain, ranks, size, lead, answer & _STAR_COMBOS[rank], above)
    stars[:, ROW_JOKERS] &= _NOT_EMPTY
    natural = rank < NATURAL_RANKS
    if natural.any():  # a natural identity card is of one rank only
        j = np.flatnonzero(natural)
        own = _rows(ranks[j], ranks[j], size[j], lead[j], answer[j], above[j])
        keep = np.arange(ROWS)[None, :] == rank[j][:, None]
        stars[j] = np.where(keep, own, np.uint32(0))
    legal.combos[i, 1] = stars
    legal.held[i, 1, :NATURAL_RANKS] = np.where(
        np.arange(NATURAL_RANKS)[None, :] == rank[:, None],
        ranks[:, :NATURAL_RANKS],
        plain[:, :NATURAL_RANKS],
    )


def _rows(
    naturals: npt.NDArray[np.int8],
    jokers: npt.NDArray[np.int8],
    size: npt.NDArray[np.int16],
    lead: npt.NDArray[np.bool_],
    answer: U32,
    above: npt.NDArray[np.bool_],
) -> U32:
    """Words ``[N, 14]`` of one flag: joker combos held, that answer, and that make the size."""
    have = joker_table()[jokers[:, RANK_B], jokers[:, RANK_R]] & answer
    count = naturals[:, :NATURAL_RANKS]
    fits = np.where(
        lead[:, None],
        np.where(count > 0, np.uint32(ALL_COMBOS), np.uint32(0)),
        fit_table()[size[:, None], count],
    )
    words = np.empty((len(size), ROWS), np.uint32)
    words[:, :ROW_JOKERS] = np.where(above[:, :ROW_JOKERS], fits & have[:, None], np.uint32(0))
    words[:, ROW_JOKERS] = np.where(lead, np.uint32(ALL_COMBOS), only_table()[size]) & have
    return words


def _hold_sixes(
    legal: Legal,
    ranks: npt.NDArray[np.int8],
    plain: npt.NDArray[np.int8],
    hides: npt.NDArray[np.bool_],
) -> None:
    """憋6: a set of sixes is legal only where it is the whole hand, which is one set."""
    flag = hides.astype(np.intp)  # the whole hand has the identity card in it
    own = plain if legal.flag_cards else ranks
    n, b, r = (own[:, k].astype(np.int64) for k in (_SIX, RANK_B, RANK_R))
    total = ranks.sum(axis=1, dtype=np.int64)
    whole = (n > 0) & (n + b + r + flag * legal.flag_cards == total)
    row = np.arange(len(ranks))
    bit = (legal.combos[row, flag, _SIX] >> (b * 5 + r).astype(np.uint32)) & 1
    fits = (legal.size == 0) | (legal.size == total)
    ids = set_id(np.full(len(n), _SIX), n, b, r) + np.where(flag == 1, SET_IDENTITY, SET)
    legal.extra[:, 0] = np.where(whole & (bit == 1) & fits, ids, NOBODY)
    legal.combos[:, :, _SIX] = 0


def _three_twos(
    legal: Legal,
    ranks: npt.NDArray[np.int8],
    plain: npt.NDArray[np.int8],
    hides_two: npt.NDArray[np.bool_],
    standing: Ints,
) -> None:
    """A standing single R is beaten by exactly 222 (S1: 三个二打一个大花)."""
    big = standing == _SINGLE_R
    legal.extra[big & (plain[:, _TWO] >= 3), 0] = SET + _THREE_TWOS
    if not legal.flag_cards:
        legal.extra[big & hides_two & (ranks[:, _TWO] >= 3), 1] = SET_IDENTITY + _THREE_TWOS


assert NUM_SETS == SET_IDENTITY - SET
