"""From a training config to RLlib's: one place that knows RLlib's option names and their traps."""

from __future__ import annotations

import tempfile
from typing import Any

from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.policy.policy import PolicySpec

from lupai.agents.network import NetworkConfig
from lupai.train.config import TrainConfig
from lupai.train.rllib.callbacks import LupaiCallbacks
from lupai.train.rllib.connectors import privileged_columns
from lupai.train.rllib.env import LupaiEnv
from lupai.train.rllib.learner import LupaiLearner
from lupai.train.rllib.mapping import POLICY, policy_mapping
from lupai.train.rllib.module import LupaiModule
from lupai.train.rllib.runner import BatchEnvRunner


class LupaiPPO(PPO):
    """PPO that leaves no empty folder in ``~/ray_results`` for every build."""

    def _setup_logdir(self) -> None:
        self._logdir = tempfile.gettempdir()


def network_config(config: TrainConfig) -> NetworkConfig:
    """What the networks are made of."""
    section = config.network
    return NetworkConfig(
        section.hidden,
        section.move_hidden,
        section.value_hidden,
        section.history,
        section.history_units,
        config.selfplay.policies,
    )


def algorithm_config(config: TrainConfig, iteration: int = 0) -> PPOConfig:
    """RLlib's config of a run.

    Args:
        config: the run.
        iteration: iterations done before. RLlib restores neither random states nor running games,
            so a resumed run would deal its first hands again; seeds move with the iteration.
    """
    ppo, workers, network = config.ppo, config.workers, config.network
    role_head = network.role_head > 0
    privileged = role_head or network.critic == "perfect"
    lr: Any = ppo.lr
    if ppo.lr_end is not None:
        lr = [[0, ppo.lr], [ppo.lr_steps, ppo.lr_end]]
    return (
        PPOConfig(algo_class=LupaiPPO)
        .environment(
            LupaiEnv,
            env_config={
                "rules": config.rules_string,
                "skip": config.env.skip,
                "reward_scale": config.env.reward_scale,
                "stream": [config.seed, iteration],
                "privileged": privileged,
                "grounded": role_head,
            },
            disable_env_checking=True,  # RLlib's checker plays unmasked moves
        )
        .env_runners(
            env_runner_cls=BatchEnvRunner if workers.sampler == "batch" else None,
            num_env_runners=workers.runners,
            num_envs_per_env_runner=workers.envs_per_runner,
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
                    "rules": config.rules_string,
                    "network": network_config(config).to_json(),
                    "critic": network.critic,
                    "role_head": role_head,
                },
            )
        )
        .learners(
            num_learners=0,
            learner_class=LupaiLearner,
            learner_connector=privileged_columns if privileged else None,
            learner_config_dict={"role_head": network.role_head},
        )
        .training(
            train_batch_size_per_learner=ppo.batch_size,
            minibatch_size=ppo.minibatch_size,
            num_epochs=ppo.epochs,
            lr=lr,
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
        # A fault of the engine must stop the run; restarted runners would hide it for ever.
        .fault_tolerance(restart_failed_env_runners=False)
    )
