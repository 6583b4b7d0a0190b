"""Scores of a finished hand (rules §6).

Place values are +2, +1, 0, -1, -2. With a guard T = v(emperor) + v(guard) and m the multiplier:
emperor 2Tm, guard Tm, each rebel -Tm, which is the 6/3/0/-3/-6 camp sum of S3 split two thirds to
one third. Alone, the emperor gets the solo table and each other minus a quarter of it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.seats import NOBODY

PLACE_VALUE: Final = np.array([0, 2, 1, 0, -1, -2], dtype=np.int64)  # by place 1 … 5
SOLO_VALUE: Final = np.zeros((len(Solo), SEATS + 1), dtype=np.int64)  # emperor's score by place
SOLO_VALUE[Solo.SECRET] = (0, 16, 4, 0, -4, -16)
SOLO_VALUE[Solo.OPEN] = 2 * SOLO_VALUE[Solo.SECRET]
SOLO_VALUE[Solo.GRAB] = (0, 40, -40, -40, -40, -40)


def final_scores(state: State) -> npt.NDArray[np.int64]:
    """Scores ``[B, S] int64`` of tables that are over; zeros for the others and for void hands."""
    row = np.arange(len(state))
    emperor = np.maximum(state.emperor, 0).astype(np.intp)
    guard = state.guard.astype(np.intp)
    own_place = state.places[row, emperor]

    alone = SOLO_VALUE[state.solo, own_place]
    scores = np.repeat(-(alone // 4)[:, None], SEATS, axis=1)
    scores[row, emperor] = alone

    pair = np.flatnonzero(guard != NOBODY)
    if pair.size:
        value = PLACE_VALUE[state.places[pair]]
        camp = value[np.arange(len(pair)), emperor[pair]] + value[np.arange(len(pair)), guard[pair]]
        camp *= state.multiplier[pair]
        scores[pair] = -camp[:, None]
        scores[pair, emperor[pair]] = 2 * camp
        scores[pair, guard[pair]] = camp
    scores[~state.over | (state.emperor == NOBODY)] = 0
    return scores
