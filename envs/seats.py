"""Sets of seats as bit masks, and who comes next, as lookup tables.

A set of seats is an integer whose bit ``i`` stands for seat ``i``; with five or six seats that is
a number below 64, so every question about it is one gather.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

NOBODY: Final = -1


@cache
def next_seat(seats: int, step: int = 1) -> npt.NDArray[np.int8]:
    """Table ``[2**seats, seats] int8``: first member of a set met when walking from a seat.

    Row ``m``, column ``i`` is the first of ``i + step, i + 2·step, …`` (mod ``seats``) whose bit is
    in ``m``; seat ``i`` itself is met last; :data:`NOBODY` for the empty set.
    """
    table = np.full((1 << seats, seats), NOBODY, dtype=np.int8)
    for mask in range(1 << seats):
        for seat in range(seats):
            for distance in range(1, seats + 1):
                other = (seat + step * distance) % seats
                if mask >> other & 1:
                    table[mask, seat] = other
                    break
    table.setflags(write=False)
    return table


@cache
def members(seats: int) -> npt.NDArray[np.int8]:
    """Table ``[2**seats, seats] int8``: 1 where a seat is in the set."""
    masks = np.arange(1 << seats)
    table = ((masks[:, None] >> np.arange(seats)) & 1).astype(np.int8)
    table.setflags(write=False)
    return table
