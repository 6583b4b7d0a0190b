"""The constants of the rules of thumb, one set for each preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NEAR: Final = 6.0  # hand size over which the nearness of somebody's end fades
SPAN: Final = 1.5  # sets in need of help over which the nearness of the own run-out fades

# name: weight; see lupai.agents.tactical.play for what each counts
TERMS: Final = {
    "set": 0.0, "set_late": 0.0, "weak": 3.0, "dump": -1.0, "cards": 0.0,
    "small": -2.4, "small_full": -2.8, "small_spare": 1.6,
    "big": -4.0, "big_full": -4.0, "big_spare": 2.8, "x": -4.0, "x_full": -4.0,
    "lead_small": 0.0, "lead_big": 0.0, "hold": 2.0, "hold_full": 0.0, "hold_late": 2.8, "hold_foe": 0.0, "hold_friend": 0.0, "hold_weak": 0.0,
    "to_friend": 0.0, "over": 0.0, "over_near": 0.0,
    "wait_small": 0.0, "wait_big": 0.0, "wait_break": 0.0, "reveal": -1.0,
    "pass": 0.0, "left_friend": 0.8, "left_friend_near": 3.2, "left_foe": -0.8,
    "left_foe_near": -4.0, "left_me": 2.0, "left_late": 2.8, "feed": -8.0, "feed_friend": 2.0,
}  # fmt: skip


@dataclass(frozen=True)
class Wills:
    """How willing others are to beat a set that they can beat, ``*_joker`` with jokers hung."""

    foe_natural: float = 0.75
    foe_joker: float = 0.3
    friend_natural: float = 0.4
    friend_joker: float = 0.1


@dataclass(frozen=True)
class Weights:
    """Weights of the terms, by name, and wills."""

    terms: dict[str, float]
    wills: Wills = Wills()


WEIGHTS = {preset: Weights(TERMS) for preset in ("qingdao", "shiwei", "weihai")}
