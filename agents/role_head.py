"""The head that guesses who is guard, learned beside a policy and kept beside it. Needs torch.

An agent plays without it; :mod:`lupai.agents.belief.role_head` asks it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lupai.envs.baohuang.state import SEATS

__all__ = ["RoleHead"]

_CLASSES = SEATS  # the four other seats from 下家 on, then nobody


class RoleHead(nn.Module):
    """Who is guard, from the policy's state vector: the four other seats from 下家
    on, or nobody.

    An iteration has few hands, and a head that learns each of their decisions soon knows these
    hands by heart and is confident, and wrong, about the next. So of a seat's decisions in a hand
    one is learned, and the logits are means over the units: Adam moves each weight by about the
    learning rate, however little its loss weighs, and 128 units at once move a sum far.

    Args:
        units: H, of the state vector.
        policies: how many policies there are; each has a trunk of its own, so each has a head.
    """

    def __init__(self, units: int, policies: int) -> None:
        super().__init__()
        self._policies = policies
        self.head = nn.Linear(units, policies * _CLASSES)
        nn.init.zeros_(self.head.weight)  # start from "all alike"
        nn.init.zeros_(self.head.bias)

    def forward(self, embedding: Tensor, which: Tensor) -> Tensor:
        """Logits ``[N, 5] float32`` of ``embedding [N, H]`` by policy ``which [N]``."""
        every = self.head(embedding / embedding.shape[1])
        every = every.reshape(len(embedding), self._policies, _CLASSES)
        logits: Tensor = every[torch.arange(len(which), device=which.device), which]
        return logits
