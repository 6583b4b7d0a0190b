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
    "set": (-0.085, -0.168, -0.248, -0.085, -0.168, -0.248),
    "set_late": (0.399, 0.067, 0.562, 0.399, 0.067, 0.562),
    "set_few": (-0.381, -0.062, -0.168, -0.381, -0.062, -0.168),
    "hold_few": (0.366, 0.574, -0.269, 0.366, 0.574, -0.269),
    "lead_hold": (0.127, 0.035, 0.033, 0.127, 0.035, 0.033),
    "lead_cards": (0.223, 0.227, 0.120, 0.223, 0.227, 0.120),
    "lead_weak": (-0.120, -0.022, -0.047, -0.120, -0.022, -0.047),
    "lead_dump": (0.173, 0.109, -0.135, 0.173, 0.109, -0.135),
    "joker_foe": (-0.014, 0.068, 0.090, -0.014, 0.068, 0.090),
    "weak": (1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    "dump": (-0.680, -0.571, -0.548, -0.680, -0.571, -0.548),
    "cards": (-0.282, -0.224, -0.182, -0.282, -0.224, -0.182),
    "small": (-0.616, -0.466, -0.367, -0.616, -0.466, -0.367),
    "small_full": (0.053, 0.080, 0.009, 0.053, 0.080, 0.009),
    "small_spare": (0.326, 0.130, 0.323, 0.326, 0.130, 0.323),
    "big": (-0.919, -0.609, -0.632, -0.919, -0.609, -0.632),
    "big_full": (-0.116, -0.083, -0.124, -0.116, -0.083, -0.124),
    "big_spare": (-0.138, 0.244, 0.070, -0.138, 0.244, 0.070),
    "x": (-0.051, -1.030, -0.040, -0.051, -1.030, -0.040),
    "x_full": (-0.051, -0.292, -0.040, -0.051, -0.292, -0.040),
    "lead_small": (-0.097, -0.149, -0.237, -0.097, -0.149, -0.237),
    "lead_big": (-0.108, -0.018, -0.153, -0.108, -0.018, -0.153),
    "hold": (0.047, 0.058, -0.172, 0.047, 0.058, -0.172),
    "hold_full": (0.550, 0.181, 0.523, 0.550, 0.181, 0.523),
    "hold_late": (0.415, 0.395, 0.539, 0.415, 0.395, 0.539),
    "hold_foe": (0.123, -0.096, 0.211, 0.123, -0.096, 0.211),
    "hold_friend": (-0.221, -0.145, 0.131, -0.221, -0.145, 0.131),
    "hold_weak": (-0.197, -0.005, -0.190, -0.197, -0.005, -0.190),
    "to_friend": (-0.093, -0.048, -0.037, -0.093, -0.048, -0.037),
    "over": (-0.012, 0.049, -0.005, -0.012, 0.049, -0.005),
    "over_near": (0.391, 0.310, -0.144, 0.391, 0.310, -0.144),
    "wait_small": (0.279, 0.073, 0.001, 0.279, 0.073, 0.001),
    "wait_big": (-0.125, -0.078, 0.005, -0.125, -0.078, 0.005),
    "wait_break": (-0.003, -0.084, -0.013, -0.003, -0.084, -0.013),
    "reveal": (-0.655, 0.000, -0.207, -0.655, 0.000, -0.207),
    "pass": (-0.024, 0.026, -0.053, -0.024, 0.026, -0.053),
    "left_friend": (0.158, 0.094, 0.383, 0.158, 0.094, 0.383),
    "left_friend_near": (-0.042, -0.024, 0.432, -0.042, -0.024, 0.432),
    "left_foe": (-0.433, -0.480, -0.391, -0.433, -0.480, -0.391),
    "left_foe_near": (-0.500, -0.466, -0.945, -0.500, -0.466, -0.945),
    "left_me": (0.393, 0.355, 0.365, 0.393, 0.355, 0.365),
    "left_late": (0.292, 0.274, 0.314, 0.292, 0.274, 0.314),
    "feed": (-0.486, -0.613, -0.125, -0.486, -0.613, -0.125),
    "feed_friend": (0.163, 0.243, 0.148, 0.163, 0.243, 0.148),
    "left_friend_last": (0.500, 0.500, 0.500, 0.500, 0.500, 0.500),
    "left_foe_last": (-0.500, -0.500, -0.500, -0.500, -0.500, -0.500),
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
