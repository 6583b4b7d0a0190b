"""The first part of a run: the policy learns the moves of an agent that is there already.

While it lasts the sampler's seats are played by that agent, and the learner raises the likelihood
of its moves instead of PPO's surrogate. Critic and role head learn from the same hands, so that PPO
begins with a value network that knows the game. The column :data:`TAUGHT` says of each decision how
it came about: hands that run when the imitation ends are of both kinds.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, ask
from lupai.agents.streams import agent_seed, table_lanes
from lupai.train.config import TrainConfig
from lupai.train.league.coach import load_opponent
from lupai.train.sampling.tables import Tables

__all__ = ["TAUGHT", "Teacher", "set_teacher"]

TAUGHT: Final = "taught"


class Teacher:
    """Plays for the learner.

    Args:
        name: of the agent, as ``lupai.agents.load`` takes it.
        rules: rules string. seed: of its own draws. worker: number of the sampler.
    """

    def __init__(self, name: str, rules: str, seed: int, worker: int = 0) -> None:
        self.agent: Agent = load_opponent(name, rules)
        self.agent.reset(agent_seed(seed, worker))

    def moves(self, tables: Tables) -> npt.NDArray[np.int64]:
        """``[N] int64`` its moves at the tables that wait."""
        seats = tables.seats
        lanes = table_lanes(np.asarray(tables.state.seeds)[tables.rows, 0], seats)
        return ask(self.agent, tables.views(), lanes).astype(np.int64)


def set_teacher(algorithm: Any, config: TrainConfig, steps: int) -> None:
    """Tell all runners whether the agent still plays after ``steps`` decisions of the run."""
    section = config.imitation
    if section.steps:
        name = section.agent if steps < section.steps else None
        algorithm.env_runner_group.foreach_env_runner(partial(_set, name=name, seed=config.seed))


def _set(runner: Any, name: str | None, seed: int) -> None:
    if name is None:
        runner.teacher = None
    elif runner.teacher is None:
        rules = runner.config.env_config["rules"]
        runner.teacher = Teacher(name, rules, seed, runner.worker_index or 0)
