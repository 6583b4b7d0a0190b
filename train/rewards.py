"""What a seat is paid during a hand, for the trainer only.

Three kinds (letters: ``B`` tables, ``S`` seats; points are those of the rules), of which a game has
the first at least:

* ``score``: the final score, once, at the end.
* ``placement``: each finishing place's value goes to the whole camp of who takes it at the moment
  it is taken; what is known only at the end is paid there. The sum over the hand is the score,
  exactly, in integers.
* ``potential``: the score at the end and, at every decision, ``c (γ Φ(s') - Φ(s))``. Φ is the
  game's; c falls linearly to 0 over the run, see :func:`coefficient`. Over a hand the
  shaping sums to ``-c Φ(s0)`` for γ = 1, whatever is played, so it changes no preference.

Both samplers pay by the same two functions of a state: *credit*, the points paid so far, and Φ. The
reward of a seat's decision is what changed until its next decision, or until the end of the hand;
so a seat that is out gets what comes later with its last decision, and credit from before a seat's
first decision comes with the first. None of it is a part of any observation: a credit at the moment
a hidden guard goes out would tell who he is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.train.games import DEFAULT, training_game

__all__ = ["Rewards", "coefficient"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Rewards:
    """Pays by one kind.

    Args:
        rules: of the tables.
        kind: one of the game's.
        scale: reward = points x this.
        gamma: discount of the shaping.
        coefficient: c at the start; set it anew between iterations.
        game: which the rules are of.

    Attributes:
        seats: S.

    Raises:
        ValueError: a kind that the game has not.
    """

    def __init__(
        self,
        rules: Any,
        kind: str = "score",
        scale: float = 0.1,
        gamma: float = 1.0,
        coefficient: float = 0.0,
        game: str = DEFAULT,
    ) -> None:
        self._game = training_game(game)
        if kind not in (kinds := self._game.reward_kinds):
            raise ValueError(f"reward is {kind!r}; allowed: {', '.join(kinds)}")
        self.seats = self._game.seats
        self.rules = rules
        self.kind = kind
        self.scale = float(scale)
        self.gamma = float(gamma)
        self.coefficient = float(coefficient)

    def credit(self, state: Any) -> I64:
        """Points paid so far, ``[B, S] int64``; those of a hand that is over are its scores."""
        points = self._game.credits.get(self.kind, self._game.points)
        return points(state, self.rules)

    def phi(self, state: Any) -> F64:
        """Φ ``[B, S] float64``, zeros where nothing is shaped."""
        if self.kind == "potential" and self._game.potential is not None:
            return self._game.potential(state, self.rules)
        return np.zeros((len(state), self.seats))

    def at(self, state: Any, seats: Any) -> tuple[I64, F64]:
        """:meth:`credit` and :meth:`phi`, each ``[B]``, of one seat at each table, in a hand."""
        row = np.arange(len(state))
        credit = np.zeros(len(state), np.int64)
        if self.kind in self._game.credits:
            credit = self.credit(state)[row, seats]
        return credit, self.phi(state)[row, seats]

    def pay(self, credit: Any, next_credit: Any, phi: Any, next_phi: Any) -> F64:
        """Rewards, ``float64``, of decisions between two states; shapes are free but equal."""
        gained = np.asarray(next_credit, np.float64) - credit
        if self.kind == "potential":
            gained = gained + self.coefficient * (self.gamma * np.asarray(next_phi) - phi)
        return np.asarray(self.scale * gained)


def coefficient(start: float, anneal_steps: int, steps: int) -> float:
    """c after ``steps`` decisions of the run: linear from ``start`` to 0 at ``anneal_steps``."""
    return start * max(0.0, 1.0 - steps / anneal_steps)
