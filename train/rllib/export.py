"""The policy of a running algorithm as an agent, and as an agent folder."""

from __future__ import annotations

import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import lupai
from lupai.agents.checkpoint import AgentCard, CheckpointAgent, save_agent
from lupai.agents.network import move_table
from lupai.agents.policies import Policy, build_policy
from lupai.envs.baohuang.engine import Engine
from lupai.train.config import TrainConfig
from lupai.train.files import writing_folder
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.setup import network_config
from lupai.train.run_folder import Progress

__all__ = ["export_agent", "live_agent", "live_policy"]


def live_policy(algorithm: Any, config: TrainConfig, engine: Engine) -> Policy:
    """The policy, or all of them, on the CPU with the weights of this moment."""
    part = f"learner/rl_module/{POLICY}"
    state = algorithm.learner_group.get_state(components=part)["learner"]["rl_module"][POLICY]
    policy = build_policy(move_table(engine.observation_layout), network_config(config))
    policy.load_state_dict(
        {k[3:]: torch.as_tensor(v).cpu() for k, v in state.items() if k.startswith("pi.")}
    )
    return policy


def live_agent(algorithm: Any, config: TrainConfig) -> CheckpointAgent:
    """The policy of this moment as an agent that plays its most probable moves."""
    engine = Engine(config.rules_string)
    card = AgentCard(
        game=engine.game,
        rules=config.rules_string,
        action_layout=engine.actions.hash,
        observation_layout=engine.observation_layout.hash,
        network=network_config(config),
        weights_sha256="",  # they are in memory
        idle="pass" if config.env.skip == "idle" else "choose",
    )
    return CheckpointAgent(live_policy(algorithm, config, engine), card, name=config.name)


def export_agent(algorithm: Any, config: TrainConfig, folder: Path, progress: Progress) -> None:
    """Write the policy of this moment as an agent folder; an old one of that name is replaced."""
    engine = Engine(config.rules_string)
    with writing_folder(folder) as new:
        save_agent(
            new,
            live_policy(algorithm, config, engine),
            network_config(config),
            engine,
            idle="pass" if config.env.skip == "idle" else "choose",
            provenance={
                "name": config.name,
                "algorithm": config.algorithm,
                "seed": config.seed,
                **asdict(progress),
                "lupai": lupai.__version__,
                "torch": torch.__version__,
                "python": platform.python_version(),
            },
        )
