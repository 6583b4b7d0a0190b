"""What is counted while hands are played; the same names as of the RLlib trainer."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lupai.train.games import DEFAULT, training_game
from lupai.train.learning.windows import Windows
from lupai.train.sampling.tables import Finished

__all__ = ["Tally"]


@dataclass
class Tally:
    """Sums over the hands and decisions of one call of a sampler.

    Attributes:
        game: which game.
        made: decisions. greedy: those whose move was the one of highest value (or the teacher's).
        illegal: those whose move was not legal.
        hands: hands that ended. decided: decisions in them. solos: those with the rare
            role of the game, such as a soloist.
        points, seats: ``[R]`` scores of the learner's seats, and their number, by role.
        seconds: of sampling. inference: of these, until the network had answered.
    """

    game: str = DEFAULT
    made: int = 0
    greedy: int = 0
    illegal: int = 0
    hands: int = 0
    decided: int = 0
    solos: int = 0
    points: Any = 0.0
    seats: Any = 0.0
    seconds: float = 0.0
    inference: float = 0.0

    def __post_init__(self) -> None:
        zeros = np.zeros(len(training_game(self.game).roles))
        self.points, self.seats = self.points + zeros, self.seats + zeros

    def end(self, hand: Finished, decisions: int) -> None:
        """Count a hand with so many decisions of the learner."""
        self.hands += 1
        self.decided += decisions
        game = training_game(self.game)
        if game.rare:
            self.solos += int((hand.roles == game.roles.index(game.rare)).any())
        mine = np.flatnonzero(hand.learner)
        np.add.at(self.points, hand.roles[mine], hand.scores[mine])
        np.add.at(self.seats, hand.roles[mine], 1)

    def __add__(self, other: Tally) -> Tally:
        names = [f.name for f in fields(self) if f.name != "game"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Tally(self.game, **sums)

    def metrics(self, windows: Windows) -> dict[str, float]:
        """Under the names of ``metrics.jsonl``; the run's ``windows`` take it in."""
        game = training_game(self.game)
        sums: dict[str, float] = {"decisions": self.decided}
        if game.rare:
            sums[game.rare] = self.solos
        for role, points, seats in zip(game.roles, self.points, self.seats, strict=True):
            if seats:
                sums |= {f"points/{role}": float(points), f"seats/{role}": float(seats)}
        return {
            "hands": self.hands,
            **windows.add_hands(self.hands, sums),
            "play/illegal_actions": self.illegal,
            "dmc/greedy_share": self.greedy / max(1, self.made),
        }
