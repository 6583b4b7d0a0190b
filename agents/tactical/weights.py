"""The constants of the rules of thumb, one set for each preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

NEAR: Final = 6.0  # hand size over which the nearness of somebody's end fades
FEW: Final = 2.0  # sets over which the nearness of an empty hand fades
SPAN: Final = 1.5  # sets in need of help over which the nearness of the own run-out fades

# Weights of the terms of lupai.agents.tactical.play; a weak set less counts 1. Found by
# tools/tune_tactical.py.
# fmt: off
_TABLE: Final = {
    #            qingdao, shiwei, weihai
    "set": (-0.339, -0.339, -0.313),
    "set_late": (0.213, 0.213, 0.444),
    "set_few": (0.000, 0.000, 0.000),
    "hold_few": (0.000, 0.000, 0.000),
    "lead_hold": (0.000, 0.000, 0.000),
    "lead_cards": (0.000, 0.000, 0.000),
    "lead_weak": (0.000, 0.000, 0.000),
    "lead_dump": (0.000, 0.000, 0.000),
    "joker_foe": (0.000, 0.000, 0.000),
    "weak": (1.000, 1.000, 1.000),
    "dump": (-0.571, -0.571, -0.501),
    "cards": (-0.058, -0.058, -0.041),
    "small": (-0.402, -0.402, -0.371),
    "small_full": (-0.189, -0.189, 0.002),
    "small_spare": (0.279, 0.279, 0.201),
    "big": (-0.752, -0.752, -0.721),
    "big_full": (-0.200, -0.200, 0.065),
    "big_spare": (0.157, 0.157, 0.151),
    "x": (-0.071, -0.902, -0.059),
    "x_full": (-0.071, -0.200, -0.059),
    "lead_small": (-0.116, -0.116, -0.347),
    "lead_big": (-0.128, -0.128, -0.127),
    "hold": (-0.066, -0.066, -0.286),
    "hold_full": (0.224, 0.224, 0.423),
    "hold_late": (0.536, 0.536, 0.699),
    "hold_foe": (0.082, 0.082, 0.138),
    "hold_friend": (-0.211, -0.211, -0.011),
    "hold_weak": (0.051, 0.051, 0.050),
    "to_friend": (-0.045, -0.045, -0.089),
    "over": (0.126, 0.126, 0.042),
    "over_near": (0.191, 0.191, -0.112),
    "wait_small": (0.125, 0.125, 0.001),
    "wait_big": (-0.133, -0.133, 0.008),
    "wait_break": (-0.143, -0.143, -0.020),
    "reveal": (-0.385, 0.000, -0.290),
    "pass": (0.021, 0.021, 0.056),
    "left_friend": (0.410, 0.410, 0.277),
    "left_friend_near": (0.070, 0.070, 0.345),
    "left_foe": (-0.361, -0.361, -0.266),
    "left_foe_near": (-0.411, -0.411, -0.700),
    "left_me": (0.324, 0.324, 0.214),
    "left_late": (0.255, 0.255, 0.177),
    "feed": (-0.500, -0.500, -0.178),
    "feed_friend": (0.240, 0.240, 0.088),
}
# fmt: on
PRESETS: Final = ("qingdao", "shiwei", "weihai")
TERMS: Final = tuple(_TABLE)


@dataclass(frozen=True)
class Wills:
    """How willing others are to beat a set that they can beat: with naturals alone, and with
    jokers hung while their hand is full and when it is empty. Measured in play with itself."""

    foe_natural: float = 0.75
    foe_full: float = 0.05
    foe_empty: float = 0.7
    friend_natural: float = 0.4
    friend_full: float = 0.02
    friend_empty: float = 0.25

    def blend(self, friend: F32, full: npt.NDArray[np.float64]) -> tuple[F32, F32]:
        """Willingness with naturals and with jokers, each ``[N, 4]``.

        Args:
            friend: chance that each is a friend.
            full: share of a full hand that each holds.
        """
        full = np.minimum(full, 1).astype(np.float32)
        foe = self.foe_empty + (self.foe_full - self.foe_empty) * full
        ally = self.friend_empty + (self.friend_full - self.friend_empty) * full
        natural = self.foe_natural + (self.friend_natural - self.foe_natural) * friend
        return natural.astype(np.float32), (foe + (ally - foe) * friend).astype(np.float32)


@dataclass(frozen=True)
class Weights:
    """Weights of the terms, by name, and wills."""

    terms: dict[str, float]
    wills: Wills = Wills()


WEIGHTS: Final = {
    preset: Weights({name: row[i] for name, row in _TABLE.items()})
    for i, preset in enumerate(PRESETS)
}
