"""The constants of the rules of thumb, one set for each preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

NEAR: Final = 6.0  # hand size over which the nearness of somebody's end fades
LAST: Final = 1.5  # hand size over which the nearness of the last card fades
FEW: Final = 2.0  # sets over which the nearness of an empty hand fades
SPAN: Final = 1.5  # sets in need of help over which the nearness of the own run-out fades

# Weights of the terms of lupai.agents.tactical.play; a weak set less counts 1. Found by
# tools/tune_tactical.py.
# fmt: off
_TABLE: Final = {
    #            with a guard: qingdao, shiwei, weihai; alone: the same
    "set": (-0.062, -0.129, -0.163, 0.158, 0.090, -0.232),
    "set_late": (0.195, 0.216, 0.376, 0.418, 0.389, 0.642),
    "set_few": (-0.301, -0.349, -0.176, -0.017, -0.263, -0.173),
    "hold_few": (0.370, 0.778, -0.200, 0.308, 0.445, 0.165),
    "lead_hold": (0.064, -0.094, -0.026, 0.002, -0.119, -0.012),
    "lead_cards": (0.208, 0.248, 0.145, 0.166, 0.120, 0.104),
    "lead_weak": (-0.078, -0.104, -0.021, -0.265, -0.013, -0.228),
    "lead_dump": (0.023, -0.143, -0.180, 0.118, -0.275, -0.118),
    "joker_foe": (-0.159, -0.216, -0.024, 0.282, 0.247, 0.518),
    "weak": (1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    "dump": (-0.651, -0.532, -0.629, -0.670, -0.702, -0.410),
    "cards": (-0.244, -0.266, -0.181, -0.344, -0.253, -0.130),
    "small": (-0.384, -0.260, -0.285, -0.468, -0.644, -0.336),
    "small_full": (-0.031, -0.208, -0.019, 0.023, 0.353, -0.201),
    "small_spare": (0.117, 0.003, 0.358, 0.145, -0.114, 0.393),
    "big": (-0.800, -0.658, -0.671, -0.825, -1.181, -1.227),
    "big_full": (0.029, -0.067, 0.024, 0.060, 0.604, 0.477),
    "big_spare": (-0.117, 0.303, 0.014, -0.034, 0.111, 0.007),
    "x": (-0.026, -1.066, -0.032, -0.022, -0.755, -0.021),
    "x_full": (-0.026, -0.254, -0.032, -0.022, -0.214, -0.021),
    "lead_small": (-0.058, 0.006, -0.234, -0.208, 0.223, 0.084),
    "lead_big": (-0.065, 0.192, -0.128, -0.191, 0.232, -0.049),
    "hold": (-0.012, -0.009, -0.172, 0.041, -0.339, -0.045),
    "hold_full": (0.494, 0.558, 0.414, 0.128, 0.232, 0.669),
    "hold_late": (0.493, 0.361, 0.436, 0.519, 0.890, 0.172),
    "hold_foe": (0.234, 0.144, 0.261, 0.391, 0.188, 0.731),
    "hold_friend": (-0.170, 0.019, 0.234, 0.126, 0.150, 0.270),
    "hold_weak": (-0.137, -0.151, -0.099, 0.010, 0.066, -0.181),
    "to_friend": (-0.022, -0.070, -0.080, -0.088, -0.242, -0.027),
    "over": (-0.088, 0.090, -0.008, -0.175, 0.017, 0.014),
    "over_near": (0.188, -0.089, 0.018, -0.349, -0.849, -0.456),
    "reveal": (-0.302, 0.000, -0.136, -0.288, 0.000, 0.089),
    "pass": (-0.026, 0.030, -0.019, -0.119, 0.056, 0.017),
    "left_friend": (0.118, 0.387, 0.303, 0.681, 0.111, 0.681),
    "left_friend_near": (0.046, 0.247, 0.336, 0.469, 0.758, 0.471),
    "left_foe": (-0.361, -0.561, -0.368, -0.222, -0.613, -0.599),
    "left_foe_near": (-0.412, -0.478, -0.953, -0.587, -1.334, -1.133),
    "left_me": (0.261, 0.405, 0.348, 0.172, 0.260, 0.198),
    "left_late": (0.207, 0.325, 0.321, 0.128, 0.201, 0.171),
    "left_friend_last": (0.300, 0.355, 0.399, 0.296, 0.584, 0.342),
    "left_foe_last": (-0.444, -0.501, -0.474, -0.331, -0.725, -0.411),
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
