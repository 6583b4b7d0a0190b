"""The first part of a run: the sampler's seats are played by an agent that is there already.

PPO raises the likelihood of its moves meanwhile, instead of its surrogate; critic and role head
learn from the same hands, so that PPO begins with a value network that knows the game. Deep Monte
Carlo learns what its moves are worth. The column :data:`TAUGHT` says of each decision how
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
from lupai.train.league.coach import Learner, load_opponent
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

    def moves(self, tables: Tables, some: npt.NDArray[np.intp] | None = None) -> npt.NDArray[Any]:
        """``[N] int64`` its moves at the tables that wait, or at ``some [n]`` of them."""
        seats, rows = tables.seats, tables.rows
        if some is not None:
            seats, rows = seats[some], rows[some]
        lanes = table_lanes(np.asarray(tables.state.seeds)[rows, 0], seats)
        return ask(self.agent, tables.views(some), lanes).astype(np.int64)


def set_teacher(learner: Learner, config: TrainConfig, steps: int) -> None:
    """Tell all samplers whether the agent still plays after ``steps`` decisions of the run."""
    section = config.imitation
    if section.steps:
        name = section.agent if steps < section.steps else None
        rules, seed = config.rules_string, config.seed
        learner.each_sampler(partial(_set, name=name, rules=rules, seed=seed))


def _set(sampler: Any, name: str | None, rules: str, seed: int) -> None:
    if name is None:
        sampler.teacher = None
    elif sampler.teacher is None:
        sampler.teacher = Teacher(name, rules, seed, sampler.worker_index or 0)
