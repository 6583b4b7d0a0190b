"""Deep Monte Carlo as a :class:`~lupai.train.loop.Trainer`.

With samplers of their own the work goes in step: while a batch is learned, the next one is played
with the weights from before it. So a run depends on its seed and the number of samplers alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from lupai.agents.base import Agent
from lupai.agents.checkpoint import CheckpointAgent
from lupai.envs.game import make_game
from lupai.train.checkpoints import Saved
from lupai.train.config import TrainConfig
from lupai.train.dmc.actors import Here, make_samplers
from lupai.train.dmc.decisions import Columns, concatenated
from lupai.train.dmc.learner import Learner
from lupai.train.dmc.sampler import Sampler, Weights
from lupai.train.dmc.schedule import epsilon, learning_rate
from lupai.train.dmc.tally import Tally
from lupai.train.export import agent_of, policy_with, write_agent
from lupai.train.league.coach import League
from lupai.train.learning.base import CoachedTrainer
from lupai.train.run_folder import Progress
from lupai.train.sampling.judged import set_judging
from lupai.train.sampling.teacher import set_teacher

__all__ = ["DMCTrainer"]

SHUFFLE_KEY: Final = 0x73687566  # stream of the order in which decisions are learned
NETWORKS_FILE: Final = "networks.pt"
GAMES_FILE: Final = "games.npz"

Batch = tuple[Columns, Tally]


class DMCTrainer(CoachedTrainer):
    """One run's algorithm.

    Args:
        config: the run.
        progress: its counters.
        coach: looks after its opponents; None: there are none.
        teacher: whom it imitates; None: nobody, or not any more.
    """

    def __init__(
        self,
        config: TrainConfig,
        progress: Progress,
        coach: League | None = None,
        teacher: Agent | None = None,
    ) -> None:
        # As for RLlib: with more threads small batches are many times slower as soon as another
        # process runs. This holds for OpenMP and MKL too, whenever torch was imported.
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        super().__init__(config, progress, coach, teacher)
        self._engine = make_game(config.game, config.rules_string)
        self.learner = Learner(config)
        key = [config.seed, progress.iteration]
        self._rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(key, spawn_key=(SHUFFLE_KEY,)))
        )
        self.samplers = make_samplers(config, progress.iteration)
        self._next: Batch | None = None  # played ahead

    def train(self) -> dict[str, float]:
        """One iteration; see :class:`~lupai.train.loop.Trainer`."""
        begin, steps = time.perf_counter(), self._progress.steps
        if self._next is None:
            self._play(steps)
            self._next = self._played()
        (columns, tally), self._next = self._next, None
        made = tally.decided
        if self.samplers.ahead:
            self._play(steps + made)
        began = time.perf_counter()
        row = self.learner.learn(columns, learning_rate(self._config, steps), self._rng)
        learning = time.perf_counter() - began
        if self.samplers.ahead:
            self._next = self._played()
        self._take_turn(steps)
        row |= tally.metrics(self._windows) | {
            "steps": made,
            "dmc/epsilon": epsilon(self._config, steps),
        }
        whole = time.perf_counter() - begin
        row |= {
            "time/sampling": tally.seconds,
            "time/learning": learning,
            "time/sampling_share": tally.seconds / whole,
            "time/learning_share": learning / whole,
            "time/inference_share": tally.inference / whole,
        }
        return {name: value for name, value in row.items() if value == value}

    def _play(self, steps: int) -> None:
        """Begin to play the batch after ``steps`` decisions of the run."""
        if self._coach is not None:
            self._coach.plan()
            self._coach.tell(self)
        set_teacher(self, self._config, steps, self._teacher)
        set_judging(self, self._config, steps)
        runners = max(1, self._config.workers.runners)
        share = -(-self._config.dmc.batch_size // runners)
        weights = {k: v.detach().numpy() for k, v in self.learner.policy.state_dict().items()}
        if self.samplers.ahead:  # they are read while these are learned on
            weights = {name: array.copy() for name, array in weights.items()}
        now = epsilon(self._config, steps)
        self.samplers.begin(partial(_sample, weights=weights, epsilon=now, decisions=share))

    def _played(self) -> Batch:
        parts = self.samplers.results()
        tally = Tally(self._config.game)
        for _, part in parts:
            tally += part
        tally.seconds, tally.inference = tally.seconds / len(parts), tally.inference / len(parts)
        return concatenated([columns for columns, _ in parts]), tally

    def each_sampler(self, function: Callable[[Any], Any]) -> list[Any]:
        """See :class:`~lupai.train.league.coach.Learner`."""
        self.samplers.begin(function)
        return self.samplers.results()

    def write_agent(self, folder: Path, progress: Progress) -> None:
        """See :class:`~lupai.train.league.coach.Learner`."""
        learner = self.learner
        write_agent(learner.policy, self._config, self._engine, folder, progress, learner.role_head)

    def agent(self) -> CheckpointAgent:
        """The network as it is now, playing the moves of highest value."""
        policy = policy_with(self.learner.policy.state_dict(), self._config, self._engine)
        return agent_of(policy, self._config, self._engine)

    def parts(self) -> Mapping[str, Saved]:
        """The agent's folder, and what else it takes to go on."""
        return self._parts("dmc", _State(self))

    def close(self) -> None:
        """Give everything back."""
        self.samplers.close()

    # --- going on ----------------------------------------------------------------------------

    def save(self, folder: Path) -> dict[str, Any]:
        """Networks, optimiser, random states and, of one sampler in this process, its games."""
        learner = self.learner
        state = {name: network.state_dict() for name, network in learner.networks.items()}
        torch.save(state | {"optimiser": learner.optimiser.state_dict()}, folder / NETWORKS_FILE)
        values: dict[str, Any] = {"shuffle": self._rng.bit_generator.state}
        if isinstance(self.samplers, Here) and self._coach is None:
            arrays, games = self.samplers.sampler.running()
            np.savez(folder / GAMES_FILE, allow_pickle=False, **arrays)
            values["games"] = games
        return values

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Go on from :meth:`save`; games are dealt anew where their tables are not these."""
        stored = torch.load(folder / NETWORKS_FILE, map_location="cpu", weights_only=True)
        for name, network in self.learner.networks.items():
            network.load_state_dict(stored[name])
        self.learner.optimiser.load_state_dict(stored["optimiser"])
        self._rng.bit_generator.state = state["shuffle"]
        if "games" in state and isinstance(self.samplers, Here) and self._coach is None:
            with np.load(folder / GAMES_FILE, allow_pickle=False) as file:
                arrays = dict(file)
            if len(arrays["hands"]) == self._config.workers.envs_per_runner:
                self.samplers.sampler.go_on(arrays, state["games"])


class _State:
    """The trainer as a part of a checkpoint."""

    def __init__(self, trainer: DMCTrainer) -> None:
        self.save, self.restore = trainer.save, trainer.restore


def _sample(sampler: Sampler, weights: Weights, epsilon: float, decisions: int) -> Batch:
    sampler.take(weights, epsilon)
    return sampler.sample(decisions)
