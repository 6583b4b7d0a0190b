"""Which sets may be played: the words of :class:`~lupai.envs.baohuang.legal.Legal` from hands."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import SET, SET_IDENTITY
from lupai.envs.baohuang.legal import Legal
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.sets import CardSet, set_id
from lupai.envs.baohuang.tables import (
    ABOVE,
    ALONE,
    ANSWERS,
    FIT_ROW,
    FITS,
    JOKERS,
    STANDING_SIZE,
    UNITS,
    Ints,
    unit_of,
)
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R, RANKS
from lupai.envs.seats import NOBODY
from lupai.envs.sets import ALL_COMBOS, COMBOS, COMBOS_WITH_B, COMBOS_WITH_R, ROW_JOKERS, ROWS, U32

_STAR_COMBOS: Final = np.full(RANK_R + 1, ALL_COMBOS, dtype=np.uint32)
_STAR_COMBOS[RANK_B], _STAR_COMBOS[RANK_R] = COMBOS_WITH_B, COMBOS_WITH_R
_SIX: Final = RANKS.index("6")
_TWO: Final = RANKS.index("2")
_THREE_TWOS: Final = CardSet(_TWO, 3).id
_SINGLE_R: Final = SET + CardSet(ROW_JOKERS, 0, 0, 1).id
_PLAIN: Final = slice(1, 1 + ROWS)  # units without the identity flag
_PLAIN_RANKS: Final = slice(1, 1 + NATURAL_RANKS)
_FLAGGED: Final = slice(1 + ROWS, UNITS)


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
    legal = Legal.empty(len(ranks), int(rules.supreme))
    hides = np.flatnonzero(identity_rank >= 0)
    plain = ranks
    if hides.size:  # without the flag the identity card stays in the hand
        plain = ranks.copy()
        plain[hides, identity_rank[hides]] -= 1
    legal.size = STANDING_SIZE[standing]
    legal.words[:, 0] = verbs
    _rows(legal.words[:, _PLAIN], plain, plain, standing)
    legal.held[:, _PLAIN_RANKS] = plain[:, :NATURAL_RANKS]
    if hides.size:
        words = np.empty((len(hides), ROWS), np.uint32)
        held = plain[hides]
        if rules.supreme:  # one card more than is listed
            _rows(words, held, held, standing[hides], x=1)
        else:
            _stars(words, held, ranks[hides], identity_rank[hides], standing[hides])
        legal.words[hides, _FLAGGED] = words
        legal.held[hides, 1 + ROWS : UNITS - 1] = held[:, :NATURAL_RANKS]
    if rules.hold_sixes:
        _hold_sixes(legal, ranks, plain, identity_rank >= 0)
    if rules.three_twos_beat_big:
        _three_twos(legal, ranks, plain, identity_rank == _TWO, standing)
    return legal


def one_play(ranks: npt.NDArray[np.int8], standing: int, verbs: np.uint32, rules: Rules) -> Legal:
    """:func:`play_moves` of one player who hides nothing, under plain rules: without the axis N.

    Args:
        ranks: ``[15]``.
    """
    legal = Legal.empty(1, int(rules.supreme))
    legal.size[0] = STANDING_SIZE[standing]
    words = legal.words[0]
    words[0] = verbs
    _rows(words[_PLAIN], ranks, ranks, standing)
    legal.held[0, _PLAIN_RANKS] = ranks[:NATURAL_RANKS]
    return legal


def _rows(
    words: U32, naturals: npt.NDArray[np.int8], jokers: npt.NDArray[np.int8], standing: Ints | int,
    x: int = 0, combos: U32 | None = None,
) -> None:  # fmt: skip
    """Write words ``[N, 14]`` of one flag: joker combos held, that answer, and make the size.

    One table may be given without the axis N, which spares a third of the time.

    Args:
        naturals, jokers: ``[N, 15]`` hands that the naturals and the jokers are taken from.
        x: 1 where the set holds an X beside them.
        combos: ``[N]`` the only ones to take.
    """
    have = JOKERS[jokers[..., RANK_B] * 5 + jokers[..., RANK_R]]
    if combos is not None:
        have &= combos
    alone = ALONE[x][standing] & have
    have = have & ANSWERS[x][standing]
    fits = FIT_ROW[x][standing][..., None] + naturals[..., :NATURAL_RANKS] * ABOVE[standing]
    np.bitwise_and(FITS[fits], have[..., None], out=words[..., :ROW_JOKERS])
    words[..., ROW_JOKERS] = alone >> 1  # the order of the ids of jokers alone
    if x:
        words[..., ROW_JOKERS] |= (alone & 1) << (COMBOS - 1)


def _stars(
    words: U32, plain: npt.NDArray[np.int8], ranks: npt.NDArray[np.int8], rank: Ints, standing: Ints
) -> None:
    """Sets with the hidden identity card of rank ``rank``, which all these players hold.

    ``plain`` becomes the naturals that may be taken: of its own rank the identity card too.
    """
    row = np.arange(len(rank))
    natural = rank < NATURAL_RANKS
    plain[row[natural], rank[natural]] += 1
    _rows(words, plain, ranks, standing, combos=_STAR_COMBOS[rank])
    # a natural identity card is in sets of its own rank only
    words[natural[:, None] & (np.arange(ROWS) != rank[:, None])] = 0


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
    bit = (legal.words[row, unit_of(_SIX) + ROWS * flag] >> (b * 5 + r).astype(np.uint32)) & 1
    fits = (legal.size == 0) | (legal.size == total)
    ids = set_id(np.full(len(n), _SIX), n, b, r) + np.where(flag == 1, SET_IDENTITY, SET)
    legal.extra = np.full((len(n), 2), NOBODY, np.int32)
    legal.extra[:, 0] = np.where(whole & (bit == 1) & fits, ids, NOBODY)
    legal.words[:, [unit_of(_SIX), unit_of(_SIX, flag=True)]] = 0


def _three_twos(
    legal: Legal,
    ranks: npt.NDArray[np.int8],
    plain: npt.NDArray[np.int8],
    hides_two: npt.NDArray[np.bool_],
    standing: Ints,
) -> None:
    """A standing single R is beaten by exactly 222 (S1: 三个二打一个大花)."""
    big = standing == _SINGLE_R
    if not big.any():
        return
    if legal.extra is None:
        legal.extra = np.full((len(big), 2), NOBODY, np.int32)
    legal.extra[big & (plain[:, _TWO] >= 3), 0] = SET + _THREE_TWOS
    if not legal.flag_cards:
        legal.extra[big & hides_two & (ranks[:, _TWO] >= 3), 1] = SET_IDENTITY + _THREE_TWOS
