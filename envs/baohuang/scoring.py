"""Scores of a finished hand (rules §6).

Place values are +2, +1, 0, -1, -2. With a guard T = v(emperor) + v(guard) and m the multiplier:
emperor 2Tm, guard Tm, each rebel -Tm, which is the 6/3/0/-3/-6 camp sum of S3 split two thirds to
one third and S4's table of ten pairs. From 扭 on (m >= 4) emperor and guard share equally. Alone,
the emperor gets the solo table times m and each other minus a quarter of it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.seats import NOBODY

I64 = npt.NDArray[np.int64]

PLACE_VALUE: Final = np.array([0, 2, 1, 0, -1, -2], dtype=np.int64)  # by place 1 … 5
EQUAL_SPLIT_FROM: Final = 4  # multiplier from which emperor and guard share equally


def _table(grab: tuple[int, ...], open_: tuple[int, ...], secret: tuple[int, ...]) -> I64:
    none = (0,) * SEATS
    table = np.array([none, grab, open_, secret], dtype=np.int64)  # in the order of Solo
    return np.concatenate([np.zeros((len(Solo), 1), np.int64), table], axis=1)


# [solo, place 0 … 5]: score of the emperor alone at m = 1
SOLO_VALUE: Final = {
    "called_card": _table(
        grab=(40, -40, -40, -40, -40), open_=(32, 8, 0, -8, -32), secret=(16, 4, 0, -4, -16)
    ),
    "marks": _table(
        grab=(0, 0, 0, 0, 0), open_=(24, -24, -24, -24, -24), secret=(12, 0, -12, -12, -12)
    ),
}


@cache
def _solo_decided(roles_by: str) -> npt.NDArray[np.bool_]:
    table = SOLO_VALUE[roles_by]
    out = np.zeros((len(Solo), SEATS + 1), bool)
    for solo in (Solo.GRAB, Solo.OPEN, Solo.SECRET):
        for gone in range(SEATS):
            out[solo, gone] = len(set(table[solo, gone + 1 :].tolist())) == 1
    return out


def solo_decided(rules: Rules) -> npt.NDArray[np.bool_]:
    """``[solo, players out] bool``: all places left are worth the same to an emperor alone.

    With a guard the hand is decided only when a camp is out, since places differ in value.
    """
    return _solo_decided(rules.roles_by)


def half_shares(
    multiplier: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """``([B], [B]) int64`` shares of emperor and guard in T m, in halves: 4 and 2, or 3 and 3."""
    equal = multiplier >= EQUAL_SPLIT_FROM
    return np.where(equal, 3, 4), np.where(equal, 3, 2)


def final_scores(state: State, rules: Rules) -> I64:
    """Scores ``[B, S] int64`` of tables that are over; zeros for the others and for void hands.

    Where an early end left places open, every way to fill them gives these scores.
    """
    row = np.arange(len(state))
    emperor = np.maximum(state.emperor, 0).astype(np.intp)
    guard = state.guard.astype(np.intp)
    places = _filled(state.places)
    multiplier = state.multiplier.astype(np.int64)

    alone = SOLO_VALUE[rules.roles_by][state.solo, places[row, emperor]] * multiplier
    alone = np.where(state.abandoned == 1, -(rules.abandon_penalty or 0), alone)
    scores = np.repeat(-(alone // 4)[:, None], SEATS, axis=1)
    scores[row, emperor] = alone

    pair = np.flatnonzero(guard != NOBODY)
    if pair.size:
        i = np.arange(len(pair))
        value = PLACE_VALUE[places[pair]]
        camp = (value[i, emperor[pair]] + value[i, guard[pair]]) * multiplier[pair]
        share_emperor, share_guard = half_shares(multiplier[pair])
        scores[pair] = -camp[:, None]
        scores[pair, emperor[pair]] = camp * share_emperor // 2
        scores[pair, guard[pair]] = camp * share_guard // 2
    scores[~state.over | (state.emperor == NOBODY)] = 0
    return scores


def _filled(places: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Places with the open ones given out in seat order."""
    still_in = places == 0
    if not still_in.any():
        return places
    taken = SEATS - still_in.sum(axis=1, keepdims=True)
    return np.where(still_in, taken + np.cumsum(still_in, axis=1), places).astype(np.int8)
