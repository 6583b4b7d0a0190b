"""In which order seats are asked about a set, as lookup tables.

A queue of seats is a number, three bits for each seat, the next one lowest; :data:`GAP` stands
where there is none, so the empty queue is all gaps.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

SEATS: Final = 6
GAP: Final = 7
EMPTY: Final = (1 << 3 * SEATS) - 1
ALL: Final = (1 << SEATS) - 1

I32 = npt.NDArray[np.int32]

IN_TURN: Final = (1, 2, 3, 4, 5)
OPPOSITE_LAST: Final = (1, 2, 4, 5, 3)  # 对头的非够级牌: he is out of the trick, and asked last
BURNERS: Final = (2, 4, 1, 5)  # mates first
FROM_HERE: Final = (0, 1, 2, 3, 4, 5)


@cache
def queue_table(distances: tuple[int, ...]) -> I32:
    """``[6, 64] int32``: queue of the members of a set of seats, by distance from a seat."""
    table = np.full((SEATS, ALL + 1), EMPTY, np.int32)
    for seat in range(SEATS):
        for mask in range(ALL + 1):
            order = [(seat + d) % SEATS for d in distances]
            table[seat, mask] = pack([s for s in order if mask >> s & 1])
    table.setflags(write=False)
    return table


def pack(seats: list[int]) -> int:
    """Queue of seats in this order."""
    queue = EMPTY
    for seat in reversed(seats):
        queue = (queue << 3 | seat) & EMPTY
    return queue


def unpack(queue: int) -> list[int]:
    """Seats of a queue."""
    seats = []
    while queue & GAP != GAP:
        seats.append(queue & GAP)
        queue = queue >> 3 | GAP << 3 * (SEATS - 1)
    return seats


def head(queue: Any) -> Any:
    """Next seat of each queue; :data:`GAP` where it is empty."""
    return queue & GAP


def behead(queue: Any) -> Any:
    """Each queue without its next seat."""
    return queue >> 3 | GAP << 3 * (SEATS - 1)
