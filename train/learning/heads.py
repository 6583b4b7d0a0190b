"""What learns beside the policy: a critic that sees all hands, and the losses of heads."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lupai.agents.network import DRAW, MoveTable, NetworkConfig, ValueNetwork, mlp
from lupai.envs.layout import Layout
from lupai.train.privileged import LABEL, UNLABELLED

__all__ = ["FEW_LABELS", "PerfectValueNetwork", "role_loss", "value_network", "win_loss"]

# Guesses in a minibatch that count in full together. Fewer count less: of one or two hands the head
# would only learn who was guard there.
FEW_LABELS: Final = 16


class PerfectValueNetwork(nn.Module):
    """Expected (scaled) score of the observing seat, all hands and true roles seen.

    Args:
        table, config: as of a ValueNetwork.
        layout: of the privileged rows, see :class:`lupai.train.games.TrainingGame`.
    """

    scale: Tensor
    factor: Tensor

    def __init__(self, table: MoveTable, config: NetworkConfig, layout: Layout) -> None:
        super().__init__()
        # Cards of a rank are few: a 16th of the deck's would leave them near 0.
        factor = layout.scale[:LABEL].copy()
        ranks = layout.slice("ranks")
        factor[ranks] = 1 / 4
        self._ranks = ranks
        for name, value in {"scale": table.scale, "factor": factor}.items():
            self.register_buffer(name, torch.from_numpy(value.astype(np.float32)), persistent=False)
        inputs = len(table.scale) + len(factor) + (ranks.stop - ranks.start)
        self.trunk = mlp(inputs, config.value_hidden)
        self.head = nn.Linear(config.value_hidden[-1], 1)
        nn.init.zeros_(self.head.weight)

    def forward(self, observation: Tensor, privileged: Tensor) -> Tensor:
        """Values ``[N] float32``.

        Args:
            observation: ``[N, D] int8`` of the seat.
            privileged: ``[N, P] int8`` rows by the layout;
                the last column, a label, is not read.
        """
        god = privileged[:, :LABEL].to(torch.float32)
        inputs = torch.cat(
            [
                observation.to(torch.float32) * self.scale,
                god * self.factor,
                (god[:, self._ranks] > 0).float(),
            ],
            1,
        )
        value: Tensor = self.head(self.trunk(inputs)).squeeze(-1)
        return value


def value_network(
    table: MoveTable, config: NetworkConfig, layout: Layout | None
) -> ValueNetwork | PerfectValueNetwork:
    """A value network that sees all hands by a ``layout``; None: one that sees the observation."""
    if layout is None:
        return ValueNetwork(table, config)
    return PerfectValueNetwork(table, config, layout)


def role_loss(logits: Tensor, labels: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What a role head learns by: the sum over max(number, FEW_LABELS).

    Args:
        logits: ``[N, 5]``. labels: ``[N]`` classes or UNLABELLED.
        mask: ``[N] bool`` rows that count; None: all.

    Returns:
        Sum of the log losses in nats over the rows that have a label, and their number.
    """
    rows = labels != UNLABELLED
    if mask is not None:
        rows = rows & mask
    losses = functional.cross_entropy(logits, labels.long().clamp_min(0), reduction="none")
    return torch.where(rows, losses, torch.zeros_like(losses)).sum(), rows.sum()


def win_loss(logits: Tensor, scores: Tensor) -> Tensor:
    """Mean log loss in nats of a win head.

    Args:
        logits: ``[N, 3]`` of :data:`~lupai.agents.network.LOSS`, DRAW and WIN, N at least 1.
        scores: ``[N]`` final ones of the seats, in any unit; their sign counts.
    """
    outcomes = DRAW + (scores > 0).long() - (scores < 0).long()
    return functional.cross_entropy(logits, outcomes)
