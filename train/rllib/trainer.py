"""RLlib's PPO as a :class:`~lupai.train.loop.Trainer`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lupai.agents.checkpoint import CheckpointAgent
from lupai.envs.baohuang.engine import Engine
from lupai.train.checkpoints import Saved
from lupai.train.config import TrainConfig
from lupai.train.export import AgentPart, agent_of, write_agent
from lupai.train.league.coach import League
from lupai.train.rllib.export import live_policy
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.setup import algorithm_config, set_shaping
from lupai.train.run_folder import Progress, TrainingError
from lupai.train.sampling.teacher import set_teacher

__all__ = ["RLlibTrainer", "metrics", "train_once"]

# Our name of each of the learner's metrics; those that are not here keep theirs behind `loss/`.
LEARNED: Final = {
    "policy_loss": "loss/policy",
    "imitation_log_loss": "loss/imitation",
    "vf_loss": "loss/value",
    "vf_explained_var": "loss/value_explained",
    "gradients_default_optimizer_global_norm": "loss/gradient_norm",
    "role_log_loss": "role/log_loss",
    "role_check_log_loss": "role/check_log_loss",
    "role_grounded_log_loss": "role/grounded_log_loss",
    "role_value_explained": "value_explained",  # by role
    "role_entropy": "entropy",  # by role
}
# RLlib's bookkeeping, and what says nothing here.
UNSAID: Final = frozenset(
    {
        "vf_loss_unclipped", "total_loss", "mean_kl_loss", "curr_kl_coeff", "curr_entropy_coeff",
        "weights_seq_no", "num_trainable_parameters", "num_non_trainable_parameters",
        "diff_num_grad_updates_vs_sampler_policy", "num_module_steps_trained",
        "num_module_steps_trained_lifetime", "num_module_steps_trained_throughput",
        "num_module_steps_trained_lifetime_throughput", "module_train_batch_size_mean",
    }
)  # fmt: skip


class RLlibTrainer:
    """One run's algorithm.

    Args:
        config: the run.
        progress: its counters; read for seeds and provenance.
        cluster: whether it runs on a cluster, whose nodes may go away.
        coach: looks after its opponents; None: there are none.
    """

    def __init__(
        self,
        config: TrainConfig,
        progress: Progress,
        cluster: bool = False,
        coach: League | None = None,
    ) -> None:
        for name in ("ray", "ray.rllib"):  # else every build explains the new API
            logging.getLogger(name).setLevel(logging.ERROR)
        self._config, self._progress, self._cluster = config, progress, cluster
        self._coach = coach
        self.algorithm = algorithm_config(config, progress.iteration, cluster).build_algo()

    def train(self) -> dict[str, float]:
        """One iteration; see :class:`~lupai.train.loop.Trainer`."""
        set_shaping(self.algorithm, self._config, self._progress.steps)
        set_teacher(self, self._config, self._progress.steps)
        if self._coach is not None:
            self._coach.before(self)
        result = train_once(self.algorithm)
        row = metrics(result)
        if self._coach is not None:
            done = replace(
                self._progress,
                iteration=self._progress.iteration + 1,
                steps=self._progress.steps + int(row["steps"]),
                hands=self._progress.hands + int(row["hands"]),
            )
            imitates = self._progress.steps < self._config.imitation.steps
            row |= self._coach.after(self, done, imitates)
        restarts = row.get("cluster/restarts", 0)
        if self._cluster and restarts > self._config.workers.restarts:
            raise TrainingError(
                f"{restarts:.0f} runners were lost and replaced in this session, more than "
                f"workers.restarts ({self._config.workers.restarts}): nodes that fail, or a fault "
                f"of the engine; workers.runners=0 shows the latter"
            )
        return row

    def each_sampler(self, function: Callable[[Any], Any]) -> list[Any]:
        """See :class:`~lupai.train.league.coach.Learner`."""
        results: list[Any] = self.algorithm.env_runner_group.foreach_env_runner(function)
        return results

    def write_agent(self, folder: Path, progress: Progress) -> None:
        """See :class:`~lupai.train.league.coach.Learner`."""
        engine = Engine(self._config.rules_string)
        policy = live_policy(self.algorithm, self._config, engine)
        write_agent(policy, self._config, engine, folder, progress)

    def agent(self) -> CheckpointAgent:
        """The policy as it is now."""
        engine = Engine(self._config.rules_string)
        return agent_of(live_policy(self.algorithm, self._config, engine), self._config, engine)

    def parts(self) -> Mapping[str, Saved]:
        """The agent's folder, and RLlib's own state."""
        parts: dict[str, Saved] = {
            "agent": AgentPart(self, self._progress),
            "rllib": _State(self),
        }
        return parts if self._coach is None else parts | {"league": self._coach}

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


def metrics(result: dict[str, Any]) -> dict[str, float]:
    """Flat metrics of RLlib's result, under our names."""
    played, learned = result["env_runners"], result["learners"][POLICY]
    timers = result.get("timers", {})
    sampling, learning = (
        timers.get(name) for name in ("env_runner_sampling_timer", "learner_update_timer")
    )
    row: dict[str, Any] = {
        "steps": int(played["num_env_steps_sampled"]),
        "hands": count(played.get("num_episodes")),
        "time/sampling_mean": sampling,
        "time/learning_mean": learning,
        "play/decisions_per_hand": played.get("decisions_per_hand"),
        "play/solo_share": played.get("solo_share"),
        "play/illegal_actions": played.get("illegal_actions"),
    }
    whole = timers.get("training_step") or timers.get("training_iteration")
    if sampling and learning and whole:
        row["time/sampling_share"] = sampling / whole
        row["time/learning_share"] = learning / whole
        if busy := played.get("sampling_seconds"):
            row["time/inference_share"] = sampling / whole * played["inference_seconds"] / busy
    for role, score in sorted(played.get("role_score", {}).items()):
        row[f"score/{role}"] = score
    for key, value in sorted(learned.items()):
        if key not in UNSAID:
            row |= dict(flat(LEARNED.get(key, f"loss/{key}"), value))
    faults = result.get("fault_tolerance", {})
    if faults.get("num_healthy_workers"):
        row["cluster/runners"] = faults["num_healthy_workers"]
        row["cluster/restarts"] = faults.get("num_remote_worker_restarts", 0)
    return {k: v for k, v in row.items() if v is not None and v == v}


def flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Numbers of a value that may be a dict of dicts, with their paths as names."""
    if isinstance(value, dict):
        for key, inner in sorted(value.items()):
            yield from flat(f"{name}/{key}", inner)
    elif isinstance(value, int | float):
        yield name, value


def count(value: Any) -> int:
    """RLlib's own runner sums to NaN where some runner finished no game."""
    return 0 if value is None or value != value else int(value)
