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
    "set": (-0.062, -0.062),
    "set_late": (0.195, 0.195),
    "set_few": (-0.301, -0.301),
    "weak": (1.000, 1.000),
    "dump": (-0.651, -0.651),
    "cards": (-0.100, -0.100),
    "twos": (-0.300, -0.300),
    "twos_full": (-0.100, -0.100),
    "small": (-0.500, -0.500),
    "small_full": (-0.100, -0.100),
    "small_spare": (0.117, 0.117),
    "big": (-0.800, -0.800),
    "big_full": (-0.100, -0.100),
    "big_spare": (0.000, 0.000),
    "help_foe": (-0.100, -0.100),
    "lead_cards": (0.208, 0.208),
    "lead_weak": (-0.078, -0.078),
    "lead_dump": (0.023, 0.023),
    "lead_twos": (-0.050, -0.050),
    "lead_jokers": (-0.060, -0.060),
    "lead_gouji": (-0.100, 0.000),
    "lead_hold": (0.064, 0.064),
    "hold": (0.000, 0.000),
    "hold_full": (0.494, 0.494),
    "hold_late": (0.493, 0.493),
    "hold_few": (0.370, 0.370),
    "hold_foe": (0.234, 0.234),
    "hold_friend": (-0.100, -0.100),
    "hold_weak": (-0.137, -0.137),
    "hold_stake": (0.100, 0.100),
    "to_friend": (-0.022, -0.022),
    "over": (-0.400, -0.300),
    "over_near": (-0.300, -0.300),
    "over_opposite": (0.100, 0.050),
    "over_opposite_near": (0.200, 0.100),
    "gouji_other": (-0.200, 0.000),
    "death": (0.100, 0.000),
    "burn": (-0.500, 0.000),
    "burn_few": (1.000, 0.000),
    "burn_over": (-0.500, 0.000),
    "pass": (-0.026, -0.026),
    "left_friend": (0.118, 0.118),
    "left_friend_near": (0.200, 0.200),
    "left_friend_last": (0.300, 0.300),
    "left_friend_stake": (0.100, 0.100),
    "left_foe": (-0.361, -0.361),
    "left_foe_near": (-0.412, -0.412),
    "left_foe_last": (-0.444, -0.444),
    "left_foe_stake": (-0.200, -0.200),
    "left_opposite": (-0.100, -0.050),
    "left_me": (0.261, 0.261),
    "left_late": (0.207, 0.207),
}
# fmt: on
# These go before all others: to go out, then to go out surely, and never to pass but to yield.
FIXED: Final = {"goes_out": 2000.0, "runs_out": 1000.0, "yield": 2e-3}
TERMS: Final = (*FIXED, *_TABLE)

# Before play. ``revolt``, ``waive``: worth, in points, against silence: constant, per set that
# needs help, per 够级牌 that will probably win. ``offer``: what a rank higher costs against a part
# of a set. ``refuse``: from this rank on a card is taken.
EARLY: Final = {
    "revolt": (-1.0, 0.2, -0.5),
    "waive": (-1.0, 0.0, 0.0),
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


_RACE, _MELEE = (
    FIXED | {name: row[stage] for name, row in _TABLE.items()} for stage in range(len(STAGES))
)
WEIGHTS: Final = Weights(_RACE, _MELEE)
