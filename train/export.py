"""A trained network as an agent, and as an agent folder; the same for every trainer."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

import lupai
from lupai.agents.card import AgentCard, Idle, NetworkConfig, advice_of
from lupai.agents.checkpoint import CheckpointAgent, save_agent
from lupai.agents.network import table_of
from lupai.agents.policies import Policy, build_policy, policy_names
from lupai.agents.role_head import RoleHead
from lupai.envs.game import Game
from lupai.train.arena.provenance import commit, machine
from lupai.train.config import TrainConfig
from lupai.train.files import writing_folder
from lupai.train.run_folder import Progress

__all__ = [
    "AgentPart",
    "agent_of",
    "network_config",
    "policy_with",
    "role_head_with",
    "write_agent",
]


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
        section.advice,
        section.candidates,
        config.dmc.heads,
        config.dmc.win_weight,
    )


def policy_with(weights: Mapping[str, Tensor], config: TrainConfig, engine: Game) -> Policy:
    """A run's policy, or all of them, on the CPU and with copies of these weights."""
    with torch.random.fork_rng(devices=[]):  # first weights are drawn; who is exported plays on
        table = table_of(engine)
        policy = build_policy(table, network_config(config))
    policy.load_state_dict(weights)
    return policy


def role_head_with(weights: Mapping[str, Tensor], config: TrainConfig) -> RoleHead | None:
    """A run's role head on the CPU with copies of these weights; None where there are none."""
    if not weights:
        return None
    sizes = network_config(config)
    with torch.random.fork_rng(devices=[]):
        head = RoleHead(sizes.hidden[-1], len(policy_names(sizes)))
    head.load_state_dict(weights)
    return head


def agent_of(policy: Policy, config: TrainConfig, engine: Game) -> CheckpointAgent:
    """An agent that plays the moves with the highest output."""
    card = AgentCard(
        game=engine.game,
        rules=config.rules_string,
        action_layout=engine.actions.hash,
        observation_layout=engine.observation_layout.hash,
        network=network_config(config),
        weights_sha256="",  # they are in memory
        idle=_idle(config),
        temperature=config.temperature,
        advice=advice_of(network_config(config), engine),
    )
    return CheckpointAgent(policy, card, name=config.name)


def write_agent(
    policy: Policy,
    config: TrainConfig,
    engine: Game,
    folder: Path,
    progress: Progress,
    role_head: RoleHead | None = None,
) -> None:
    """Write a network as an agent folder, with its role head if it has one; an old one of that name
    is replaced."""
    with writing_folder(folder) as new:
        save_agent(
            new,
            policy,
            network_config(config),
            engine,
            idle=_idle(config),
            temperature=config.temperature,
            role_head=role_head,
            provenance={
                "name": config.name,
                "algorithm": config.algorithm,
                "seed": config.seed,
                **asdict(progress),
                "lupai": lupai.__version__,
                "torch": torch.__version__,
                "python": platform.python_version(),
                **_origin(),
            },
        )


class _Writer(Protocol):
    def write_agent(self, folder: Path, progress: Progress) -> None: ...


class AgentPart:
    """The agent folder of a checkpoint; written for players, never read back."""

    def __init__(self, writer: _Writer, progress: Progress) -> None:
        self._writer, self._progress = writer, progress

    def save(self, folder: Path) -> None:
        """See :class:`lupai.train.checkpoints.Saved`."""
        self._writer.write_agent(folder, self._progress)

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Nothing."""


@cache
def _origin() -> dict[str, Any]:
    """Commit and machine; asked once, for every checkpoint has them."""
    return {"commit": commit(), "machine": machine()}


def _idle(config: TrainConfig) -> Idle:
    return "pass" if config.env.skip == "idle" else "choose"
