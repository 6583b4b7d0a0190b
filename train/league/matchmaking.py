"""Prioritised fictitious self-play: how often each opponent is met, and who sits where.

An opponent against whom the learner scores ``s_i`` points a hand is drawn with probability

    share_i = uniform / n + (1 - uniform) * exp(-s_i / temperature) / sum_j exp(-s_j / temperature)

so the hard ones come often, and the easy ones often enough to keep their scores fresh. A hand is
pure self-play with probability ``self_share``; else one opponent holds all seats that are not the
learner's, whose number ``k`` of 1 … S - 1 is drawn by its weights and whose places are drawn
uniformly. Seats are drawn before the deal, without regard to the cards: roles come about in the
hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["SEATING", "Plan", "Seating", "draw_seats", "opponent_shares"]

Seating = Literal["drawn", "emperor_camp", "rebel_camp"]
SEATING: Final = ("drawn", "emperor_camp", "rebel_camp")
NOBODY_ELSE: Final = -1  # no opponent: pure self-play

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How the hands that are dealt from now on are seated.

    Attributes:
        names: of the opponents.
        shares: probability of each in hands against an opponent; they sum to 1.
        self_share: probability of pure self-play.
        seats: weights of 1, 2, … S - 1 seats of the learner.
        word: seeds the draws, together with the runner's number.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]
    self_share: float
    seats: tuple[float, ...]
    word: int


def opponent_shares(scores: Sequence[float], temperature: float, uniform: float) -> F64:
    """``[n]`` probabilities of opponents by the learner's mean scores against them; see above."""
    values = -np.asarray(scores, np.float64) / temperature
    weights = np.exp(values - values.max())
    shares: F64 = uniform / len(values) + (1 - uniform) * weights / weights.sum()
    return shares


def draw_seats(
    plan: Plan, hands: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Line-ups of some hands.

    Args:
        plan: how.
        hands: H.
        rng: gives the same number of draws for every hand.

    Returns:
        ``opponents [H]``, a place in ``plan.names`` or -1 for pure self-play, and
        ``learner [H, S]``, which seats are the learner's: all in pure self-play, else 1 … S - 1.
    """
    draws = rng.random((hands, 3 + len(plan.seats) + 1))
    alone = draws[:, 0] < plan.self_share
    if not plan.names:
        alone[:] = True
    opponents = np.full(hands, NOBODY_ELSE)
    if not alone.all():
        opponents[~alone] = _pick(plan.shares, draws[~alone, 1])
    number = 1 + _pick(plan.seats, draws[:, 2])
    rank = draws[:, 3:].argsort(axis=1).argsort(axis=1)
    return opponents, alone[:, None] | (rank < number[:, None])


def _pick(weights: Sequence[float], draws: F64) -> npt.NDArray[np.int64]:
    """Places by their weights, from draws in [0, 1)."""
    steps = np.cumsum(np.asarray(weights, np.float64))
    places = np.searchsorted(steps, draws * steps[-1], side="right")
    # rounding may end above the last weight that is not 0
    last = int(np.flatnonzero(np.asarray(weights))[-1])
    return np.minimum(places, last).astype(np.int64)
