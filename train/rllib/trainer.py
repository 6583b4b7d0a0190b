"""RLlib's PPO as a :class:`~lupai.train.loop.Trainer`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lupai.agents.base import Agent
from lupai.agents.checkpoint import CheckpointAgent
from lupai.envs.game import make_game
from lupai.train.checkpoints import Saved
from lupai.train.config import TrainConfig
from lupai.train.export import agent_of, write_agent
from lupai.train.league.coach import League
from lupai.train.learning.base import CoachedTrainer
from lupai.train.rllib.export import live_networks, live_policy
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.metrics import metrics
from lupai.train.rllib.setup import algorithm_config, count_as_lost, set_shaping, set_stream
from lupai.train.run_folder import Progress, TrainingError
from lupai.train.sampling.judged import set_judging
from lupai.train.sampling.teacher import set_teacher

__all__ = ["RLlibTrainer", "train_once"]


class RLlibTrainer(CoachedTrainer):
    """One run's algorithm.

    Args:
        config: the run.
        progress: its counters; read for seeds and provenance.
        cluster: whether it runs on a cluster, whose nodes may go away.
        coach: looks after its opponents; None: there are none.
        teacher: whom it imitates; None: nobody, or not any more.
    """

    def __init__(
        self,
        config: TrainConfig,
        progress: Progress,
        cluster: bool = False,
        coach: League | None = None,
        teacher: Agent | None = None,
    ) -> None:
        for name in ("ray", "ray.rllib"):  # else every build explains the new API
            logging.getLogger(name).setLevel(logging.ERROR)
        super().__init__(config, progress, coach, teacher)
        self._cluster = cluster
        self._session = 0  # iterations of this session
        self.algorithm = algorithm_config(config, progress.iteration, cluster).build_algo()
        self.algorithm.tell_runners = self._tell

    def train(self) -> dict[str, float]:
        """One iteration; see :class:`~lupai.train.loop.Trainer`."""
        self._take_turn(self._progress.steps)
        if self._coach is not None:
            self._coach.plan()
        fresh = self._tell()
        if self._session:
            count_as_lost(self.algorithm, fresh)
        self._session += 1
        row = metrics(train_once(self.algorithm), self._windows)
        restarts = row.get("cluster/restarts", 0)
        if self._cluster and restarts > self._config.workers.restarts:
            raise TrainingError(
                f"{restarts:.0f} runners were lost and replaced in this session, more than "
                f"workers.restarts ({self._config.workers.restarts}): nodes that fail, or a fault "
                f"of the engine; workers.runners=0 shows the latter"
            )
        return row

    def _tell(self) -> list[int]:
        """Tell all samplers what they have to know before they play; again when some of them were
        replaced, for who knows it already is not changed by hearing it twice.

        Returns:
            Numbers of the remote ones that were told for the first time.
        """
        fresh = set_stream(self.algorithm, self._progress.iteration)
        set_shaping(self.algorithm, self._config, self._progress.steps)
        set_teacher(self, self._config, self._progress.steps, self._teacher)
        set_judging(self, self._config, self._progress.steps)
        if self._coach is not None:
            self._coach.tell(self)
        return fresh

    def each_sampler(self, function: Callable[[Any], Any]) -> list[Any]:
        """See :class:`~lupai.train.league.coach.Learner`."""
        results: list[Any] = self.algorithm.env_runner_group.foreach_env_runner(function)
        return results

    def write_agent(self, folder: Path, progress: Progress) -> None:
        """See :class:`~lupai.train.league.coach.Learner`."""
        engine = make_game(self._config.game, self._config.rules_string)
        policy, role_head = live_networks(self.algorithm, self._config, engine)
        write_agent(policy, self._config, engine, folder, progress, role_head)

    def agent(self) -> CheckpointAgent:
        """The policy as it is now."""
        engine = make_game(self._config.game, self._config.rules_string)
        return agent_of(live_policy(self.algorithm, self._config, engine), self._config, engine)

    def parts(self) -> Mapping[str, Saved]:
        """The agent's folder, RLlib's own state, the windows of the metrics, and the league."""
        return self._parts("rllib", _State(self))

    def close(self) -> None:
        """Give everything back."""
        self.algorithm.stop()


class _State:
    """Weights, optimiser and counters, as RLlib saves them."""

    def __init__(self, trainer: RLlibTrainer) -> None:
        self._trainer = trainer

    def save(self, folder: Path) -> None:
        self._trainer.algorithm.save_to_path(str(folder.resolve()))

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        if not folder.is_dir():
            raise FileNotFoundError("the folder is missing")
        self._trainer.algorithm.restore_from_path(str(folder.resolve()))


def train_once(algorithm: Any) -> dict[str, Any]:
    """One iteration that did play.

    Raises:
        TrainingError: it failed, played nothing, or its loss is not a number.
    """
    try:
        result: dict[str, Any] = algorithm.train()
    except Exception as error:
        cause = error.__cause__ or error.__context__ or error
        raise TrainingError(
            f"an iteration failed: {type(cause).__name__}: {cause} (workers.runners=0 shows where)"
        ) from error
    # RLlib returns as if nothing had happened when its runners died.
    if not result.get("env_runners", {}).get("num_env_steps_sampled"):
        raise TrainingError(
            "no game was played in this iteration: the runners failed; run with "
            "workers.runners=0 to see their error"
        )
    learned = result.get("learners", {}).get(POLICY, {})
    # Both: the policy's is 0 while another agent is imitated.
    loss = learned.get("policy_loss", 0.0) + learned.get("total_loss", 0.0)
    if not math.isfinite(loss):
        raise TrainingError(
            f"the loss is {loss}: training has diverged; go on from an earlier checkpoint "
            f"with a smaller ppo.lr"
        )
    return result
