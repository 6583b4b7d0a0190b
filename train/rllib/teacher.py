"""The first part of a run: the policy learns the moves of an agent that is there already.

While it lasts the sampler's seats are played by that agent, and the learner raises the likelihood
of its moves instead of PPO's surrogate. Critic and role head learn from the same hands, so that PPO
begins with a value network that knows the game. The column :data:`TAUGHT` says of each decision how
it came about: hands that run when the imitation ends are of both kinds.
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, ask
from lupai.agents.streams import agent_seed, table_lanes
from lupai.train.config import TrainConfig
from lupai.train.rllib.tables import Tables

__all__ = ["TAUGHT", "Teacher", "set_teacher"]

TAUGHT: Final = "taught"


class Teacher:
    """Plays for the learner.

    Args:
        agent: who.
        seed: of its own draws. worker: number of the sampler.
    """

    def __init__(self, agent: Agent, seed: int, worker: int = 0) -> None:
        self.agent = agent
        self.agent.reset(agent_seed(seed, worker))

    def moves(self, tables: Tables) -> npt.NDArray[np.int64]:
        """``[N] int64`` its moves at the tables that wait."""
        seats = tables.seats
        lanes = table_lanes(np.asarray(tables.state.seeds)[tables.rows, 0], seats)
        return ask(self.agent, tables.views(), lanes).astype(np.int64)


def set_teacher(algorithm: Any, config: TrainConfig, steps: int, packed: bytes | None) -> None:
    """Tell all runners whether the agent still plays after ``steps`` decisions of the run.

    Args:
        packed: the agent; may be None when it does not play any more.
    """
    section, group = config.imitation, algorithm.env_runner_group
    if not section.steps:
        return
    if steps >= section.steps:
        group.foreach_env_runner(_dismiss)
    elif any(group.foreach_env_runner(_lacks)):
        assert packed is not None
        group.foreach_env_runner(partial(_take, packed=packed, seed=config.seed))


def _lacks(runner: Any) -> bool:
    return runner.teacher is None


def _take(runner: Any, packed: bytes, seed: int) -> None:
    if runner.teacher is None:
        runner.teacher = Teacher(pickle.loads(packed), seed, runner.worker_index or 0)


def _dismiss(runner: Any) -> None:
    runner.teacher = None
