"""From a training config to RLlib's: one place that knows RLlib's option names and their traps."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.policy.policy import PolicySpec
from ray.rllib.utils.metrics import (
    ENV_RUNNER_SAMPLING_TIMER,
    LEARNER_UPDATE_TIMER,
    TIMERS,
    TRAINING_ITERATION_TIMER,
)

from lupai.train.config import TrainConfig
from lupai.train.export import network_config
from lupai.train.league.coach import seating
from lupai.train.rewards import coefficient
from lupai.train.rllib.batching import TrajectoriesToBatch
from lupai.train.rllib.callbacks import LupaiCallbacks
from lupai.train.rllib.connectors import privileged_columns
from lupai.train.rllib.env import LupaiEnv
from lupai.train.rllib.learner import LupaiLearner
from lupai.train.rllib.mapping import POLICY, policy_mapping
from lupai.train.rllib.module import LupaiModule
from lupai.train.rllib.runner import BatchEnvRunner
from lupai.train.sampling.judged import columns_judged

# Keys of the learner's draws, where deals have the number of their worker.
ORDER: Final = 0x6F726465
LABELS: Final = 0x6C616265


class LupaiPPO(PPO):
    """PPO whose timers are the seconds of one iteration, not slow running means, and that leaves no
    empty folder in ``~/ray_results`` for every build.

    Attributes:
        tell_runners: called when runners were replaced and have their weights, before they play.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.tell_runners: Callable[[], Any] = lambda: None
        super().__init__(*args, **kwargs)

    def setup(self, config: Any) -> None:
        """Build it."""
        super().setup(config)
        for timer in (ENV_RUNNER_SAMPLING_TIMER, LEARNER_UPDATE_TIMER, TRAINING_ITERATION_TIMER):
            # Who logs first decides how it is reduced.
            self.metrics.log_value((TIMERS, timer), 0.0, reduce="sum")

    def _setup_logdir(self) -> None:
        self._logdir = tempfile.gettempdir()


def learning_rate(config: TrainConfig) -> Any:
    """RLlib's schedule: a number, or points ``[decisions, rate]`` joined by straight lines."""
    ppo, imitation = config.ppo, config.imitation
    lr: list[list[float]] = [[0, ppo.lr]]
    if ppo.lr_end is not None:
        lr.append([imitation.steps + ppo.lr_steps, ppo.lr_end])
    if imitation.steps:
        lr[:1] = [[0, imitation.lr], [imitation.steps, ppo.lr]]
    return lr if len(lr) > 1 else ppo.lr


def algorithm_config(config: TrainConfig, iteration: int = 0, cluster: bool = False) -> PPOConfig:
    """RLlib's config of a run.

    Args:
        config: the run.
        iteration: iterations done before. RLlib restores neither random states nor running games,
            so a resumed run would deal its first hands again; seeds move with the iteration.
        cluster: whether nodes may go away, so that lost runners are replaced.
    """
    ppo, workers, learners = config.ppo, config.workers, config.learners
    network = config.network
    role_head = config.network.role_head > 0
    stream = [config.seed, iteration]
    privileged = role_head or config.network.critic == "perfect"
    settings = (
        PPOConfig(algo_class=LupaiPPO)
        .environment(
            LupaiEnv,
            env_config={
                "game": config.game,
                "rules": config.rules_string,
                "skip": config.env.skip,
                "reward": {
                    "kind": config.reward.kind,
                    "scale": config.reward.scale,
                    "gamma": ppo.gamma,
                    "coefficient": config.reward.coefficient,
                },
                "stream": stream,
                "seating": seating(config),
                "privileged": privileged,
                "grounded": role_head,
                "imitation": config.imitation.steps > 0,
                "candidates": columns_judged(config),
                "advised": network.candidates if network.advice != "none" else 0,
            },
            disable_env_checking=True,  # RLlib's checker plays unmasked moves
        )
        .env_runners(
            env_runner_cls=BatchEnvRunner if workers.sampler == "batch" else None,
            num_env_runners=workers.runners,
            num_envs_per_env_runner=workers.envs_per_runner,
            num_cpus_per_env_runner=workers.cpus_per_runner,
            # Whole episodes would throw unfinished games away; cut ones are accounted for rightly.
            batch_mode="truncate_episodes",
            rollout_fragment_length="auto",
            episodes_to_numpy=False,  # True converts finished games again at every step
            sample_timeout_s=600,
        )
        .multi_agent(policies={POLICY: PolicySpec()}, policy_mapping_fn=policy_mapping)
        # A single spec: with a MultiRLModuleSpec runners would build a stale value network.
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=LupaiModule,
                model_config={
                    "game": config.game,
                    "rules": config.rules_string,
                    "network": network_config(config).to_json(),
                    "critic": config.network.critic,
                    "role_head": role_head,
                },
            )
        )
        .learners(
            num_learners=learners.num,
            num_cpus_per_learner=learners.cpus if learners.num else "auto",
            num_gpus_per_learner=learners.gpus,
            learner_class=LupaiLearner,
            learner_config_dict={
                "role_head": config.network.role_head,
                "stream": [*stream, ORDER],
                "distillation": config.distillation.model_dump(),
                "scale": config.reward.scale,
            },
        )
        .training(
            train_batch_size_per_learner=ppo.batch_size // max(1, learners.num),
            minibatch_size=ppo.minibatch_size,
            num_epochs=ppo.epochs,
            lr=learning_rate(config),
            gamma=ppo.gamma,
            lambda_=ppo.lambda_,
            clip_param=ppo.clip,
            entropy_coeff=ppo.entropy,
            vf_loss_coeff=ppo.value_coeff,
            vf_clip_param=float("inf"),  # the default cuts squared errors above 10
            grad_clip=ppo.grad_clip,
            grad_clip_by="global_norm",
            use_kl_loss=False,
            kl_coeff=0.0,
        )
        .callbacks(LupaiCallbacks)
        .debugging(seed=config.seed + iteration, log_level="ERROR")
        # A fault of the engine must stop the run; restarted runners would hide it for ever. On a
        # cluster nodes do go away; there the trainer counts restarts and stops at its limit.
        .fault_tolerance(
            restart_failed_env_runners=cluster,
            max_num_env_runner_restarts=workers.restarts,
            delay_between_env_runner_restarts_s=1.0,
        )
    )
    if workers.sampler == "batch":
        settings.learners(
            learner_connector=partial(
                _batching, gamma=ppo.gamma, lambda_=ppo.lambda_, stream=[*stream, LABELS]
            ),
            add_default_connectors_to_learner_pipeline=False,
        )
    elif privileged:
        columns = partial(privileged_columns, stream=[*stream, LABELS], game=config.game)
        settings.learners(learner_connector=columns)
    return settings


def _batching(observation_space: Any, action_space: Any, **arguments: Any) -> TrajectoriesToBatch:
    return TrajectoriesToBatch(observation_space, action_space, module=POLICY, **arguments)


def set_stream(algorithm: Any, iteration: int) -> list[int]:
    """Tell all runners how many iterations are done: who begins now keys its deals by that number,
    so that a runner in the place of a lost one does not deal the session's first hands again.

    Returns:
        Numbers of the remote runners that hear it for the first time.
    """
    found = algorithm.env_runner_group.foreach_env_runner(
        partial(_set_iteration, iteration=iteration)
    )
    return [number for number in found if number]


def _set_iteration(runner: Any, iteration: int) -> int:
    fresh = not getattr(runner, "told", False)
    if fresh:
        runner.told = True
        if isinstance(runner, BatchEnvRunner):
            runner.stream[1:] = [iteration]
        elif runner.env is not None:
            for env in runner.env.envs:
                env.unwrapped.stream[1:] = [iteration]
    return runner.worker_index or 0 if fresh else 0


def count_as_lost(algorithm: Any, numbers: Iterable[int]) -> None:
    """Let RLlib restore remote runners that it has not missed: who died and was started again
    between two iterations would play with the weights of a new network."""
    for number in numbers:
        algorithm.env_runner_group._worker_manager.set_actor_state(number, healthy=False)


def set_shaping(algorithm: Any, config: TrainConfig, steps: int) -> None:
    """Tell all runners the coefficient of the shaping after ``steps`` decisions of the run."""
    if config.reward.kind == "potential":
        section = config.reward
        value = coefficient(section.coefficient, section.anneal_steps, steps)
        algorithm.env_runner_group.foreach_env_runner(partial(_set_coefficient, value=value))


def _set_coefficient(runner: Any, value: float) -> None:
    if isinstance(runner, BatchEnvRunner):
        runner.rewards.coefficient = value
    elif runner.env is not None:
        for env in runner.env.envs:
            env.unwrapped.rewards.coefficient = value
