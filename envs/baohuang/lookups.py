"""The numbers of a table of Baohuang from which sections of observations are looked up."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs import lookups
from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.baohuang.state import PHASE_NAMES, SEATS, Solo, State
from lupai.envs.cards import NUM_KINDS
from lupai.envs.lookups import VIEWER, LookupTable
from lupai.envs.seats import NOBODY

__all__ = ["RANGES", "VIEWER", "Ints", "Lookup", "LookupTable"]

Ints = npt.NDArray[np.integer]

_SEAT: Final = (NOBODY, SEATS - 1)
_FLAG: Final = (0, 1)
_SET: Final = (0, 2**SEATS - 1)
# smallest and largest value of each number
RANGES: Final = {
    VIEWER: (0, SEATS - 1),
    "phase": (0, len(PHASE_NAMES) - 1),
    **dict.fromkeys(("actor", "crown", "first_holder", "owner"), _SEAT),
    **dict.fromkeys(("emperor", "guard", "marked_b", "identity_seat"), _SEAT),
    "solo": (0, len(Solo) - 1),
    "identity_kind": (NOBODY, NUM_KINDS - 1),
    **dict.fromkeys(("public", "declared"), _FLAG),
    "multiplier": (0, 8),
    "votes": (0, 3),
    "standing": (NOBODY, ACTIONS.size - 1),
    "circle": (1, 2),
    **dict.fromkeys(("passed", "yielded", "claimed", "left_trick", "alive"), _SET),
}


class Lookup(lookups.Lookup):
    """Neighbouring sections of Baohuang's vectors."""

    ranges = RANGES
    tables = State
