"""Names that stand for an agent in each game: the engine at the table says which one plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents import gouji
from lupai.agents.base import I32, BatchAgent
from lupai.agents.greedy import GreedyAgent
from lupai.agents.tactical import TacticalAgent, grounded
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game
from lupai.envs.view import View, Views

__all__ = ["Bayes", "ByGame", "Greedy", "Tactical"]


class ByGame:
    """An agent made of one for each game that it plays.

    Args:
        name: shown in tables.
        agents: by the name of the game.

    Attributes:
        games: names of the games that it plays.
    """

    def __init__(self, name: str, agents: dict[str, BatchAgent]) -> None:
        self.name = name
        self.agents = agents
        self.games = tuple(agents)

    def reset(self, seed: int | None = None) -> None:
        """Reset each."""
        for agent in self.agents.values():
            agent.reset(seed)

    def act(self, view: View) -> str:
        """A legal move.

        Raises:
            LupaiError: it does not play this game.
        """
        move: str = self.of(view.engine).act(view)
        return move

    def act_batch(self, views: Views) -> I32:
        """Legal moves ``[N]``; see :meth:`act`."""
        chosen: I32 = self.of(views.engine).act_batch(views)
        return chosen

    def of(self, engine: Game) -> Any:
        """The agent that plays at the tables of an engine.

        Raises:
            LupaiError: it does not play this game.
        """
        agent = self.agents.get(engine.game)
        if agent is None:
            raise LupaiError(
                f"agent {self.name!r} does not play {engine.game}; it plays "
                f"{', '.join(self.agents)}"
            )
        return agent


class Greedy(ByGame):
    """``greedy``, which is a :class:`~lupai.agents.rollout.Policy` as well."""

    def __init__(self) -> None:
        super().__init__("greedy", {"baohuang": GreedyAgent(), "gouji": gouji.GreedyAgent()})

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """The same moves as of :meth:`act_batch`."""
        return self.act_batch(views)

    def choose(self, engine: Game, state: Any, legal: Any, rows: Any, lanes: Any) -> I32:
        """Legal moves ``[N]`` of the seats asked at ``rows``."""
        chosen: I32 = self.of(engine).choose(engine, state, legal, rows, lanes)
        return chosen


class Tactical(ByGame):
    """``tactical``."""

    def __init__(self) -> None:
        super().__init__("tactical", {"baohuang": TacticalAgent(), "gouji": gouji.TacticalAgent()})


class Bayes(ByGame):
    """``bayes``."""

    def __init__(self) -> None:
        super().__init__("bayes", {"baohuang": TacticalAgent(belief=grounded, name="bayes")})
