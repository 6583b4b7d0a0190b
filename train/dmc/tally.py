"""What is counted while hands are played; the same names as of the RLlib trainer."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from lupai.train.learning.windows import Windows
from lupai.train.sampling.tables import ROLES, Finished

__all__ = ["Tally"]


def _zeros() -> npt.NDArray[np.float64]:
    return np.zeros(len(ROLES))


@dataclass
class Tally:
    """Sums over the hands and decisions of one call of a sampler.

    Attributes:
        made: decisions. greedy: those whose move was the one of highest value (or the teacher's).
        illegal: those whose move was not legal.
        hands: hands that ended. decided: decisions in them. solos: those with a soloist.
        points, seats: ``[ROLES]`` scores of the learner's seats, and their number.
        seconds: of sampling. inference: of these, until the network had answered.
    """

    made: int = 0
    greedy: int = 0
    illegal: int = 0
    hands: int = 0
    decided: int = 0
    solos: int = 0
    points: npt.NDArray[np.float64] = field(default_factory=_zeros)
    seats: npt.NDArray[np.float64] = field(default_factory=_zeros)
    seconds: float = 0.0
    inference: float = 0.0

    def end(self, hand: Finished, decisions: int) -> None:
        """Count a hand with so many decisions of the learner."""
        self.hands += 1
        self.decided += decisions
        self.solos += int((hand.roles == ROLES.index("solo")).any())
        mine = np.flatnonzero(hand.learner)
        np.add.at(self.points, hand.roles[mine], hand.scores[mine])
        np.add.at(self.seats, hand.roles[mine], 1)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def metrics(self, windows: Windows) -> dict[str, float]:
        """Under the names of ``metrics.jsonl``; the run's ``windows`` take it in."""
        sums: dict[str, float] = {"decisions": self.decided, "solo": self.solos}
        for role, points, seats in zip(ROLES, self.points, self.seats, strict=True):
            if seats:
                sums |= {f"points/{role}": float(points), f"seats/{role}": float(seats)}
        return {
            "hands": self.hands,
            **windows.add_hands(self.hands, sums),
            "play/illegal_actions": self.illegal,
            "dmc/greedy_share": self.greedy / max(1, self.made),
        }
