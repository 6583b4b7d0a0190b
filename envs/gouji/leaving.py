"""Going out, places, the burner who fails, and the end of a hand (§3, §4, §6)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import LAST_PLACE, REVOLTER_PLACE, Phase, State
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

_SIDES: Final = (0b010101, 0b101010)
_ALL_PLACES: Final = (1 << LAST_PLACE + 1) - 2
_LOWEST: Final = np.array([(m & -m).bit_length() - 1 for m in range(1 << LAST_PLACE + 1)], np.int8)
_HIGHEST: Final = np.array([m.bit_length() - 1 for m in range(1 << LAST_PLACE + 1)], np.int8)
_MEMBERS: Final = np.array([m.bit_count() for m in range(1 << SEATS)], np.int8)


def next_place(c: Columns, i: Ints) -> Ints:
    """The place of whoever goes out next: a revolter's is left out."""
    place = c.left[i] + 1
    return place + ((c.revolter[i] != NOBODY) & (place >= REVOLTER_PLACE))


def go_out(state: State, t: Ints, c: Columns, i: Ints, place: Ints) -> None:
    """The actors of rows ``i`` have played their last card."""
    state.places[t[i], c.actor[i]] = place
    c.left[i] += 1
    c.alive[i] &= ~(1 << c.actor[i])


def _open_places(state: State, t: Ints) -> Ints:
    taken = np.bitwise_or.reduce(1 << state.places[t].astype(np.int32), axis=1)
    return _ALL_PLACES & ~taken


def place_last(state: State, t: Ints, c: Columns, i: Ints) -> None:
    """The actors of rows ``i`` failed to burn: the last open place, and out of the hand."""
    state.places[t[i], c.actor[i]] = _HIGHEST[_open_places(state, t[i])]
    c.alive[i] &= ~(1 << c.actor[i])
    c.duty[i] = NOBODY
    c.burned[i] = NOBODY


def end_hands(state: State, t: Ints, c: Columns, i: Ints, rules: Rules) -> Ints:
    """End the hands of rows ``i`` that are decided; the rows that go on."""
    alive = c.alive[i]
    one = _MEMBERS[alive] <= 1
    ends = one.copy()
    if rules.end == "side_out":
        for side in _SIDES:
            ends |= alive & side == 0
    last = i[one & (alive != 0)]
    if last.size:
        seat = _LOWEST[c.alive[last]]
        state.places[t[last], seat] = _LOWEST[_open_places(state, t[last])]
    over = i[ends]
    c.phase[over] = Phase.OVER
    c.actor[over] = NOBODY
    return i[~ends]
