"""What imagined tables are worth to each seat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.by_game import Greedy
from lupai.agents.choosing import Pricing
from lupai.agents.random_agent import RandomAgent
from lupai.agents.rollout import AgentPolicy, Policy, rollout
from lupai.agents.search.network import load_value
from lupai.agents.search.options import Options

F64 = npt.NDArray[np.float64]

ROLLOUT: Final = 8
_STEPS: Final = 4096.0  # scores are counted in steps of 1/4096, so that sums of them are exact


class Judge:
    """Plays tables on as far as the horizon says and judges them.

    Args:
        engine: the rules.
        options: as the agent got them. Where there is no network for the rules the horizon is
            the whole hand, with :data:`ROLLOUT` times fewer simulations: each costs that much more.
        tactical: the game's; answers on up to the first lead, and plays on where it is the policy.
    """

    def __init__(self, engine: Any, options: Options, tactical: Pricing) -> None:
        self.engine = engine
        self.tactical = tactical
        self.bidder = AgentPolicy(tactical)
        self.value = None if options.horizon == "hand" else load_value(engine.game, engine.rules)
        if self.value is None and options.horizon != "hand":
            fewer = max(options.simulations // ROLLOUT, 1)
            options = replace(options, horizon="hand", simulations=fewer)
        self.options = options
        policies: dict[str, Policy] = {"greedy": Greedy(), "tactical": self.bidder}
        self.policy = policies.get(options.policy) or RandomAgent(seed=0)

    def scores(self, state: Any, lanes: npt.NDArray[np.integer]) -> F64:
        """``[N, S]`` expected scores of tables, which are played on in place.

        Args:
            lanes: ``[N]`` streams of the policy's draws.
        """
        self._bid(state, lanes)
        if self.options.horizon == "trick":
            self._end_trick(state, lanes)
        if self.options.horizon == "hand":
            rollout(self.policy, state, self.engine, lanes=lanes, inplace=True)
        out: F64 = self.engine.scores(state).astype(np.float64)
        live = np.flatnonzero(~state.over)
        if live.size and self.value is not None:
            some = state if live.size == len(state) else state.take(live)
            out[live] = np.rint(self.value.scores(some, self.engine.rules) * _STEPS) / _STEPS
        return out

    def _bid(self, state: Any, lanes: npt.NDArray[np.integer]) -> None:
        """On to the first lead."""
        while (rows := np.flatnonzero(state.phase < state.PLAY)).size:
            self._move(self.bidder, state, rows, lanes)

    def _end_trick(self, state: Any, lanes: npt.NDArray[np.integer]) -> None:
        while (rows := np.flatnonzero((state.standing >= 0) & ~state.over)).size:
            self._move(self.policy, state, rows, lanes)

    def _move(
        self,
        policy: Policy,
        state: Any,
        rows: npt.NDArray[np.intp],
        lanes: npt.NDArray[np.integer],
    ) -> None:
        legal = self.engine.legal(state, rows)
        actions = policy.choose(self.engine, state, legal, rows, lanes[rows])
        self.engine.step(state, actions, rows, legal=legal)
