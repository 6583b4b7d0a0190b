"""One name in several games: which agent plays is chosen by the engine at the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, Agent, BatchAgent
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game
from lupai.envs.view import View, Views

__all__ = ["ByGame", "ByGamePolicy"]


class ByGame:
    """An agent made of one for each game.

    Args:
        name: shown in tables.
        agents: by the name of the game.
    """

    def __init__(self, name: str, agents: dict[str, BatchAgent]) -> None:
        self.name = name
        self.agents = agents

    def reset(self, seed: int | None = None) -> None:
        """Reset each."""
        for agent in self.agents.values():
            agent.reset(seed)

    def act(self, view: View) -> str:
        """A legal move.

        Raises:
            LupaiError: there is no such agent for the game.
        """
        return self.of(view.engine).act(view)

    def act_batch(self, views: Views) -> I32:
        """Legal moves ``[N]``; see :meth:`act`."""
        return self.of(views.engine).act_batch(views)

    def of(self, engine: Game) -> Any:
        """The agent that plays at tables of an engine."""
        try:
            return self.agents[engine.game]
        except KeyError:
            raise LupaiError(
                f"agent {self.name!r} does not play {engine.game}; it plays: "
                f"{', '.join(self.agents)}"
            ) from None


class ByGamePolicy(ByGame):
    """The same of agents that are policies; see :class:`lupai.agents.rollout.Policy`."""

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """Legal moves ``[N]``."""
        return self.of(views.engine).act_lanes(views, lanes)

    def choose(self, engine: Game, state: Any, legal: Any, rows: Any, lanes: Any) -> I32:
        """Legal moves ``[N]`` of the seats asked at ``rows``."""
        return self.of(engine).choose(engine, state, legal, rows, lanes)
