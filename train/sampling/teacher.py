"""The first part of a run: the sampler's seats are played by an agent that is there already.

PPO raises the likelihood of its moves meanwhile, instead of its surrogate; critic and role head
learn from the same hands, so that PPO begins with a value network that knows the game. The column
:data:`TAUGHT` says of each of PPO's decisions how it came about: hands that run when the imitation
ends are of both kinds. Deep Monte Carlo learns what its moves are worth.
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
from lupai.train.league.coach import Learner
from lupai.train.run_folder import TrainingError
from lupai.train.sampling.tables import Tables

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

    def moves(self, tables: Tables) -> npt.NDArray[Any]:
        """``[N] int64`` its moves at the tables that wait."""
        lanes = table_lanes(np.asarray(tables.state.seeds)[tables.rows, 0], tables.seats)
        return ask(self.agent, tables.views(), lanes).astype(np.int64)


def set_teacher(learner: Learner, config: TrainConfig, steps: int, packed: bytes | None) -> None:
    """Tell all samplers whether the imitated agent plays after ``steps`` decisions of the run.

    Args:
        packed: the agent; may be None when it has nothing to do any more.

    Raises:
        TrainingError: it has, and is None.
    """
    section = config.imitation
    if not section.steps:
        return
    if steps >= section.steps:
        learner.each_sampler(_dismiss)
    elif any(learner.each_sampler(_lacks)):
        if packed is None:
            raise TrainingError(
                f"imitation.agent {section.agent!r} has to play after {steps} decisions "
                f"(imitation.steps {section.steps}), and the trainer was made without it; give it "
                f"as teacher, or set imitation.steps=0"
            )
        learner.each_sampler(partial(_take, packed=packed, seed=config.seed))


def _lacks(sampler: Any) -> bool:
    return sampler.teacher is None


def _take(sampler: Any, packed: bytes, seed: int) -> None:
    if sampler.teacher is None:
        sampler.teacher = Teacher(pickle.loads(packed), seed, sampler.worker_index or 0)


def _dismiss(sampler: Any) -> None:
    sampler.teacher = None
