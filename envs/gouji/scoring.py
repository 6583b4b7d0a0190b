"""Scores (§7) from finishing places."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.state import State
from lupai.envs.seats import NOBODY

I64 = npt.NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)

VALUES: Final = np.array([0, 4, 2, 0, 0, -2, -4], np.int64)  # by place; 0: none yet
SWEEP: Final = 12  # 串三户
EVEN: Final = np.arange(SEATS) % 2 == 0


def even_sum(places: npt.NDArray[np.integer], revolter: npt.NDArray[np.integer]) -> I64:
    """What the even side is worth, ``[N] int64``; the odd side is worth the negative.

    Args:
        places: ``[N, 6]``, 0 where an early end left a place open: then one side is out.
        revolter: ``[N]`` seat or -1.
    """
    values: I64 = VALUES[places]
    sums = [values[:, side].sum(axis=1) for side in (EVEN, ~EVEN)]
    complete = (places[:, EVEN] > 0).all(axis=1)
    worth: I64 = np.where(complete, sums[0], -sums[1])
    # a revolter counts as 三科 where both his mates are 头科 and 二科
    third = places == 3
    at = np.flatnonzero(revolter != NOBODY)
    third[at, revolter[at]] = True
    for side, sign in ((EVEN, 1), (~EVEN, -1)):
        won = (places[:, side] == 1).any(axis=1) & (places[:, side] == 2).any(axis=1)
        won &= third[:, side].any(axis=1)
        # or these places are still open, because burners who failed were placed from the end; with
        # a revolter in place 4 the third of them has place 3
        with_revolter = (side & (np.arange(SEATS) == revolter[:, None])).any(axis=1)
        won |= (places[:, ~side] >= 4 - with_revolter[:, None]).all(axis=1)
        worth = np.where(won, sign * SWEEP, worth)
    return worth


def scores(state: State) -> I64:
    """``[B, 6] int64``; zeros where the hand is not over, or was void."""
    worth = even_sum(state.places, state.revolter)
    return by_seat(np.where(state.over & (state.void == 0), worth, 0))


def by_seat(worth: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """``[N, 6]`` of what the even side is worth, ``[N]``: its seats have it, the others lose it."""
    return np.where(EVEN, worth[:, None], -worth[:, None])
