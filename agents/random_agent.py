"""``random``: every legal move equally likely."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.streams import decision_numbers, lane_draws, own_generator
from lupai.envs.game import Game
from lupai.envs.view import View, Views

I64 = npt.NDArray[np.int64]


class RandomAgent:
    """Uniform over the legal moves, from a generator of its own.

    Args:
        seed: of its draws; the same seed and the same questions give the same moves.
    """

    name = "random"

    def __init__(self, seed: int | None = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Begin the stream of draws anew."""
        self._seed = secrets.randbits(64) if seed is None else seed
        self._generator = own_generator(self._seed)

    def act(self, view: View) -> str:
        """A legal move; one draw."""
        ids = view.legal_ids
        return view.move_of(int(ids[int(self._generator.random() * len(ids))]))

    def act_batch(self, views: Views) -> I32:
        """Legal moves ``[N]``; one draw for each, in order."""
        return _pick(views.legal, self._generator.random(len(views)))

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """Legal moves ``[N]``; the draw is the one of the lane and the number of the move."""
        rows = np.arange(len(views))
        return self.choose(views.engine, views.state, views.legal, rows, lanes)

    def choose(
        self, engine: Game, state: Any, legal: Any, rows: I64, lanes: npt.NDArray[np.integer]
    ) -> I32:
        """The same for the seats asked at ``rows``; see :class:`~lupai.agents.rollout.Policy`."""
        return _pick(legal, lane_draws(self._seed, lanes, decision_numbers(state, rows)))


def _pick(legal: Any, draws: npt.NDArray[np.float64]) -> I32:
    chosen: I32 = legal.pick(draws).astype(np.int32, copy=False)
    return chosen
