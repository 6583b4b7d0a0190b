"""The constants of the rules of thumb, one set for each preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

NEAR: Final = 6.0  # hand size over which the nearness of somebody's end fades
LAST: Final = 1.5  # the same for hardly a card left
FEW: Final = 2.0  # sets over which the nearness of an empty hand fades
SPAN: Final = 1.5  # sets in need of help over which the nearness of the own run-out fades

# Weights of the terms of lupai.agents.tactical.play; a weak set less counts 1. Found by
# tools/tune_tactical.py.
# fmt: off
_TABLE: Final = {
    #            with a guard: qingdao, shiwei, weihai; alone: the same
    "set": (-0.083, -0.147, -0.163, 0.158, 0.090, -0.232),
    "set_late": (0.285, 0.232, 0.376, 0.418, 0.389, 0.642),
    "set_few": (-0.249, -0.365, -0.176, -0.017, -0.263, -0.173),
    "hold_few": (0.383, 0.765, -0.200, 0.308, 0.445, 0.165),
    "lead_hold": (0.073, -0.142, -0.026, 0.002, -0.119, -0.012),
    "lead_cards": (0.141, 0.231, 0.145, 0.166, 0.120, 0.104),
    "lead_weak": (-0.064, -0.093, -0.021, -0.265, -0.013, -0.228),
    "lead_dump": (-0.067, -0.215, -0.180, 0.118, -0.275, -0.118),
    "joker_foe": (-0.209, -0.142, -0.024, 0.282, 0.247, 0.518),
    "weak": (1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    "dump": (-0.690, -0.540, -0.629, -0.670, -0.702, -0.410),
    "cards": (-0.242, -0.252, -0.181, -0.344, -0.253, -0.130),
    "small": (-0.363, -0.239, -0.285, -0.468, -0.644, -0.336),
    "small_full": (-0.063, -0.223, -0.019, 0.023, 0.353, -0.201),
    "small_spare": (0.140, -0.014, 0.358, 0.145, -0.114, 0.393),
    "big": (-0.766, -0.652, -0.671, -0.825, -1.181, -1.227),
    "big_full": (0.021, -0.187, 0.024, 0.060, 0.604, 0.477),
    "big_spare": (-0.099, 0.394, 0.014, -0.034, 0.111, 0.007),
    "x": (-0.027, -1.202, -0.032, -0.022, -0.755, -0.021),
    "x_full": (-0.027, -0.287, -0.032, -0.022, -0.214, -0.021),
    "lead_small": (-0.015, -0.008, -0.234, -0.208, 0.223, 0.084),
    "lead_big": (-0.070, 0.197, -0.128, -0.191, 0.232, -0.049),
    "hold": (0.016, 0.012, -0.172, 0.041, -0.339, -0.045),
    "hold_full": (0.498, 0.584, 0.414, 0.128, 0.232, 0.669),
    "hold_late": (0.452, 0.341, 0.436, 0.519, 0.890, 0.172),
    "hold_foe": (0.172, 0.143, 0.261, 0.391, 0.188, 0.731),
    "hold_friend": (-0.142, -0.043, 0.234, 0.126, 0.150, 0.270),
    "hold_weak": (-0.149, -0.155, -0.099, 0.010, 0.066, -0.181),
    "to_friend": (-0.030, -0.117, -0.080, -0.088, -0.242, -0.027),
    "over": (-0.046, 0.067, -0.008, -0.175, 0.017, 0.014),
    "over_near": (0.145, -0.063, 0.018, -0.349, -0.849, -0.456),
    "reveal": (-0.290, 0.000, -0.136, -0.288, 0.000, 0.089),
    "pass": (0.008, 0.070, -0.019, -0.119, 0.056, 0.017),
    "left_friend": (0.123, 0.244, 0.303, 0.681, 0.111, 0.681),
    "left_friend_near": (0.056, 0.180, 0.336, 0.469, 0.758, 0.471),
    "left_foe": (-0.389, -0.598, -0.368, -0.222, -0.613, -0.599),
    "left_foe_near": (-0.420, -0.603, -0.953, -0.587, -1.334, -1.133),
    "left_me": (0.310, 0.487, 0.348, 0.172, 0.260, 0.198),
    "left_late": (0.231, 0.389, 0.321, 0.128, 0.201, 0.171),
    "left_friend_last": (0.287, 0.356, 0.399, 0.296, 0.584, 0.342),
    "left_foe_last": (-0.435, -0.615, -0.474, -0.331, -0.725, -0.411),
}
# fmt: on
# These go before all others: to go out, then to go out surely, and never to pass but to yield.
FIXED: Final = {"goes_out": 2000.0, "runs_out": 1000.0, "yield": 2e-3, "claim": 1e-3}
PRESETS: Final = ("qingdao", "shiwei", "weihai")
TERMS: Final = (*FIXED, *_TABLE)


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
    """Weights of the terms by name, those where the emperor is known to be alone, and wills."""

    terms: dict[str, float]
    alone: dict[str, float]
    wills: Wills = Wills()


def _column(i: int) -> dict[str, float]:
    return FIXED | {name: row[i] for name, row in _TABLE.items()}


WEIGHTS: Final = {
    preset: Weights(_column(i), _column(i + len(PRESETS))) for i, preset in enumerate(PRESETS)
}
