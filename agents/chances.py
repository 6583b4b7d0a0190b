"""Tables of chances about unseen cards, for players that count."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.sets import MAX_NATURALS

F32 = npt.NDArray[np.float32]

SIZES: Final = 10  # sets of 9 and more count as one size, which nobody is expected to beat
LEVELS: Final = 64  # shares of the unseen cards that one player may hold, in steps of 1/64


@cache
def tails() -> F32:
    """``[LEVELS + 1, 17, SIZES]``: chance that a player who holds this share of the unseen cards
    has at least so many of a rank of which so many copies are unseen."""
    share = np.arange(LEVELS + 1) / LEVELS
    out = np.zeros((LEVELS + 1, MAX_NATURALS + 1, SIZES), np.float64)
    for copies in range(MAX_NATURALS + 1):
        chance = np.zeros((LEVELS + 1, copies + 1))
        chance[:, 0] = 1
        for _ in range(copies):
            chance[:, 1:] = chance[:, 1:] * (1 - share[:, None]) + chance[:, :-1] * share[:, None]
            chance[:, 0] *= 1 - share
        at_least = chance[:, ::-1].cumsum(axis=1)[:, ::-1]
        upto = min(copies, SIZES - 2)
        out[:, copies, : upto + 1] = at_least[:, : upto + 1]
    return out.astype(np.float32)


@cache
def log_misses() -> F32:
    """Logarithm of the chance of the contrary of :func:`tails`, bounded."""
    return np.log(np.maximum(1 - tails(), 1e-4)).astype(np.float32)
