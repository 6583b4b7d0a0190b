"""Asking seats in order: whose answer is awaited, who is next, and what was said in public.

Seats still to be asked are a bit mask in the column ``to_ask``, public answers bits of ``said``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.packed import PackedTables
from lupai.envs.seats import next_seat

Ints = npt.NDArray[np.integer]


def seat_bit(seat: Ints) -> Ints:
    """Bit of a seat in a set of seats; nobody has none."""
    return np.where(seat >= 0, 1 << np.maximum(seat, 0).astype(np.int16), 0).astype(np.int16)


def next_asked(state: PackedTables, t: Ints, after: Ints) -> npt.NDArray[Any]:
    """``[N]`` first seat still to be asked, +1 from the seats ``after`` on; they themselves last.
    -1 where nobody is left."""
    seat: npt.NDArray[Any] = next_seat(state.sizes.shape[1])[state.to_ask[t], after]
    return seat


def ask(state: PackedTables, t: Ints, phase: int, seats: Ints | int, first: Ints) -> None:
    """Open a phase in which ``seats`` are asked, going +1, the first of them from ``first`` on."""
    state.phase[t] = phase
    state.to_ask[t] = seats
    state.actor[t] = next_asked(state, t, (first - 1) % state.sizes.shape[1])


def say(state: PackedTables, t: Ints, what: int) -> None:
    """Note a public answer, bit ``what``, of the actor."""
    state.said[t, state.actor[t]] |= 1 << what


def answered(state: PackedTables, t: Ints) -> npt.NDArray[np.bool_]:
    """Go on to the next to be asked, +1; which tables have nobody left."""
    state.to_ask[t] &= ~seat_bit(state.actor[t])
    state.actor[t] = next_asked(state, t, state.actor[t])
    nobody_left: npt.NDArray[np.bool_] = state.to_ask[t] == 0
    return nobody_left
