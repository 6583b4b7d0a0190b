"""In which order seats go out, by their cards: what the potentials of all games are made of.

The next to go out is drawn again and again among the seats still in, with weights 1 / cards left
(Plackett-Luce). Then seats go out as clocks ring of which the one with ``n`` cards has the rate
``1 / n``, independent of the others, and "before all of these" has a closed form.

Letters: ``N`` tables, ``S`` seats. 0 cards: not in the race any more.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

__all__ = ["chance_of_all_before", "chances_of_later"]

F64 = npt.NDArray[np.float64]


def chances_of_later(sizes: F64, seats: npt.NDArray[np.intp]) -> F64:
    """Chances ``[N, S] float64`` that just 0 … S - 1 of the others go out after a seat.

    Args:
        sizes: ``[N, S]`` cards.
        seats: ``[N]`` one at each table, in the race.
    """
    n, count = sizes.shape
    row = np.arange(n)
    sets, exactly = _sets(count - 1), _exactly(count)
    others = sizes[row[:, None], (seats[:, None] + np.arange(1, count)) % count]
    own = 1 / np.maximum(sizes[row, seats], 1)
    # "all of a set go out after the seat", for every set of others
    all_after = own[:, None] / (own[:, None] + _weights(others) @ sets.T)
    all_after[(others == 0).astype(np.float64) @ sets.T > 0] = 0  # who is out goes after nobody
    found: F64 = all_after @ exactly
    return found


def chance_of_all_before(first: F64, then: F64) -> F64:
    """Chance ``[N] float64`` that all of ``first`` go out before any of ``then``.

    Args:
        first, then: cards, ``[N, A]`` and ``[N, B]``; who is out is neither waited for nor feared.
    """
    sets = _sets(first.shape[1])
    rival = _weights(then).sum(axis=1, keepdims=True)
    # "none of a set goes out before the first of then", with signs by the size of the set
    sign = np.where(sets.sum(axis=1) % 2 == 0, 1.0, -1.0)
    slower = rival / np.where(rival > 0, rival + _weights(first) @ sets.T, 1)
    slower[(first == 0).astype(np.float64) @ sets.T > 0] = 0
    return np.where(rival[:, 0] > 0, slower @ sign, 1)


def _weights(sizes: F64) -> F64:
    return np.where(sizes > 0, 1 / np.where(sizes > 0, sizes, 1), 0)


@cache
def _sets(count: int) -> F64:
    """All sets of so many, ``[2 ** count, count]`` of 0 and 1."""
    bits: F64 = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.float64)
    return bits


@cache
def _exactly(count: int) -> F64:
    """``[2 ** (count - 1), count]``: from "all of a set" to "just 0 … count - 1"."""
    of_size = _sets(count - 1).sum(axis=1)[:, None] == np.arange(count)
    just = [
        [(-1) ** (n - k) * comb(n, k) if n >= k else 0 for k in range(count)] for n in range(count)
    ]
    found: F64 = of_size.astype(np.float64) @ np.array(just, np.float64)
    return found
