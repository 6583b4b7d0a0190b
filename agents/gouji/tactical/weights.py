"""The constants of ``tactical`` in Gouji: all of them are here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.agents.chances import F32
from lupai.agents.gouji.tactical.counting import FRIEND

NEAR: Final = 6.0  # hand size over which the nearness of somebody's end fades
LAST: Final = 1.5  # hand size over which the nearness of the last card fades
FEW: Final = 2.0  # sets over which the nearness of an empty hand fades
SPAN: Final = 1.5  # sets in need of help over which the nearness of the own run-out fades

# Weights of the terms of lupai.agents.gouji.tactical.play; a weak set less counts 1. Found by
# tools/tune_gouji.py.
# fmt: off
_TABLE: Final = {
    #            until two are out; 四人乱缠
    "set": (-0.197, -0.301),
    "set_late": (0.444, 0.236),
    "set_few": (-0.667, -0.216),
    "weak": (1.000, 1.000),
    "dump": (-0.508, -0.730),
    "cards": (-0.164, -0.208),
    "twos": (-0.490, -0.344),
    "twos_full": (0.072, -0.055),
    "small": (-0.538, -0.286),
    "small_full": (-0.187, -0.169),
    "small_spare": (-0.249, 0.344),
    "big": (-1.199, -1.043),
    "big_full": (-0.108, -0.152),
    "big_spare": (0.167, 0.175),
    "help_foe": (0.099, -0.058),
    "lead_cards": (0.266, 0.211),
    "lead_weak": (-0.344, -0.064),
    "lead_dump": (0.074, 0.127),
    "lead_twos": (-0.374, 0.007),
    "lead_jokers": (0.025, 0.022),
    "lead_gouji": (-0.363, 0.000),
    "lead_hold": (0.354, 0.225),
    "hold": (-0.345, -0.348),
    "hold_full": (0.456, 0.588),
    "hold_late": (1.016, 0.722),
    "hold_few": (0.214, 0.468),
    "hold_foe": (0.383, -0.244),
    "hold_friend": (-0.383, -0.294),
    "hold_weak": (-0.031, -0.165),
    "hold_stake": (-0.317, -0.034),
    "to_friend": (0.049, -0.504),
    "over": (-0.008, -0.130),
    "over_near": (-0.219, -0.291),
    "over_opposite": (0.034, 0.275),
    "over_opposite_near": (-0.236, -0.007),
    "gouji_other": (0.062, 0.008),
    "death": (0.262, 0.000),
    "burn": (-0.139, 0.000),
    "burn_few": (0.543, 0.000),
    "burn_over": (-0.215, 0.000),
    "pass": (0.113, -0.364),
    "left_friend": (0.731, 0.319),
    "left_friend_near": (0.353, 0.328),
    "left_friend_last": (0.220, 0.358),
    "left_friend_stake": (0.159, 0.082),
    "left_foe": (-0.652, -0.419),
    "left_foe_near": (-0.557, -0.318),
    "left_foe_last": (-0.528, -0.416),
    "left_foe_stake": (0.031, -0.374),
    "left_opposite": (-0.190, 0.312),
    "left_me": (0.504, 0.357),
    "left_late": (0.356, 0.356),
}
# fmt: on
# These go before all others: to go out, then to go out surely, and never to pass but to yield.
FIXED: Final = {"goes_out": 2000.0, "runs_out": 1000.0, "yield": 2e-3}
TERMS: Final = (*FIXED, *_TABLE)

# Before play. ``revolt``, ``waive``: worth, in points, against silence: constant, and per 够级牌
# that will probably win; found by tools/fit_gouji_early.py. ``strong``: with fewer sets in need of
# help it does not revolt; such hands are too rare to be fitted. ``offer``: what a rank higher costs
# against a part of a set. ``refuse``: from this rank on a card is taken.
EARLY: Final = {
    "revolt": (2.08, -0.31),
    "waive": (-0.07, 0.09),
    "strong": (4,),
    "offer": (0.05,),
    "refuse": (11,),
}
STAGES: Final = ("race", "melee")


@dataclass(frozen=True)
class Wills:
    """How willing others are to beat a set that they can beat: with naturals alone, and with 2s or
    jokers while their hand is full and when it is empty."""

    foe_natural: float = 0.7
    foe_full: float = 0.15
    foe_empty: float = 0.7
    friend_natural: float = 0.3
    friend_full: float = 0.03
    friend_empty: float = 0.25

    def blend(self, full: npt.NDArray[np.float64]) -> tuple[F32, F32]:
        """Willingness with naturals and with 2s or jokers, each ``[N, 5]``.

        Args:
            full: share of a full hand that each other seat holds.
        """
        full = np.minimum(full, 1).astype(np.float32)
        foe = self.foe_empty + (self.foe_full - self.foe_empty) * full
        ally = self.friend_empty + (self.friend_full - self.friend_empty) * full
        natural = self.foe_natural + (self.friend_natural - self.foe_natural) * FRIEND
        hung = foe + (ally - foe) * FRIEND
        return np.broadcast_to(natural, full.shape).astype(np.float32), hung.astype(np.float32)


@dataclass(frozen=True)
class Weights:
    """Weights of the terms by name, until two are out and in 四人乱缠, and wills."""

    race: dict[str, float]
    melee: dict[str, float]
    wills: Wills = Wills()


def _column(stage: int) -> dict[str, float]:
    return FIXED | {name: row[stage] for name, row in _TABLE.items()}


WEIGHTS: Final = Weights(_column(0), _column(1))
