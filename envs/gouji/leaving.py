"""Going out: places, and when a hand ends (§3, §4, §6)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.orders import ALL, SEATS
from lupai.envs.gouji.state import LAST_PLACE, REVOLTER_PLACE, State
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

_SIDES: Final = (0b010101, 0b101010)
_ALL_PLACES: Final = (1 << LAST_PLACE + 1) - 2
_SETS: Final = range(max(ALL, _ALL_PLACES) + 1)
_LOWEST: Final = np.array([(m & -m).bit_length() - 1 for m in _SETS], np.int8)
_HIGHEST: Final = np.array([m.bit_length() - 1 for m in _SETS], np.int8)
# by option ``end``: [64], whether the hand is over when these seats are left
ENDS: Final = {
    end: np.array(
        [
            m.bit_count() <= 1 or (end == "side_out" and any(m & side == 0 for side in _SIDES))
            for m in range(ALL + 1)
        ]
    )
    for end in ("side_out", "last_player")
}


def next_place(left: Any, revolter: Any) -> Any:
    """The place of whoever goes out next, by how many have: a revolter's is left out."""
    place = left + 1
    return place + ((revolter != NOBODY) & (place >= REVOLTER_PLACE))


def _open_places(state: State, t: Ints) -> Ints:
    taken = np.bitwise_or.reduce(1 << state.places[t].astype(np.int32), axis=1)
    open_places: Ints = _ALL_PLACES & ~taken
    return open_places


def place_last(state: State, t: Ints, seats: Ints) -> None:
    """One seat at each table ``[N]`` failed to burn: it gets the last open place."""
    state.places[t, seats] = _HIGHEST[_open_places(state, t)]


def place_the_one_left(state: State, t: Ints, alive: Ints) -> None:
    """Where one seat of ``alive [N]`` is left when a hand ends, it gets the open place."""
    one = np.flatnonzero((alive & (alive - 1) == 0) & (alive != 0))
    state.places[t[one], _LOWEST[alive[one]]] = _LOWEST[_open_places(state, t[one])]


assert len(_LOWEST) >= 1 << SEATS
