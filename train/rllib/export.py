"""The policy of a running algorithm."""

from __future__ import annotations

from typing import Any

import torch

from lupai.agents.policies import Policy
from lupai.envs.baohuang.engine import Engine
from lupai.train.config import TrainConfig
from lupai.train.export import policy_with
from lupai.train.rllib.mapping import POLICY

__all__ = ["live_policy"]


def live_policy(algorithm: Any, config: TrainConfig, engine: Engine) -> Policy:
    """The policy, or all of them, on the CPU with the weights of this moment."""
    part = f"learner/rl_module/{POLICY}"
    state = algorithm.learner_group.get_state(components=part)["learner"]["rl_module"][POLICY]
    weights = {k[3:]: torch.as_tensor(v).cpu() for k, v in state.items() if k.startswith("pi.")}
    return policy_with(weights, config, engine)
