"""The policy of a running algorithm, and its role head."""

from __future__ import annotations

from typing import Any

import torch

from lupai.agents.policies import Policy
from lupai.agents.role_head import RoleHead
from lupai.envs.game import Game
from lupai.train.config import TrainConfig
from lupai.train.export import policy_with, role_head_with
from lupai.train.rllib.mapping import POLICY

__all__ = ["live_networks", "live_policy"]


def live_policy(algorithm: Any, config: TrainConfig, engine: Game) -> Policy:
    """The policy, or all of them, on the CPU with the weights of this moment."""
    return policy_with(_part(_weights(algorithm), "pi."), config, engine)


def live_networks(
    algorithm: Any, config: TrainConfig, engine: Game
) -> tuple[Policy, RoleHead | None]:
    """The same, and the role head of this moment if the run has one."""
    weights = _weights(algorithm)
    head = role_head_with(_part(weights, "role_head."), config)
    return policy_with(_part(weights, "pi."), config, engine), head


def _weights(algorithm: Any) -> dict[str, Any]:
    part = f"learner/rl_module/{POLICY}"
    state = algorithm.learner_group.get_state(components=part)["learner"]["rl_module"][POLICY]
    return dict(state)


def _part(weights: dict[str, Any], prefix: str) -> dict[str, torch.Tensor]:
    return {
        name.removeprefix(prefix): torch.as_tensor(value).cpu()
        for name, value in weights.items()
        if name.startswith(prefix)
    }
