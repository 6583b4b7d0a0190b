"""What is told by role: explained variance and entropy, over all minibatches of an update."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from lupai.agents.network import MoveTable
from lupai.agents.policies import OWN_ROLES, own_role

__all__ = ["ROLES", "RoleStats"]

ROLES: Final = (*OWN_ROLES, "solo")  # an emperor who knows that he is alone is "solo" here
_SUMS: Final = 6


class RoleStats:
    """Running sums; roles are those that the deciding seat sees in its own observation.

    Args:
        table: says where they stand in the observation.
    """

    def __init__(self, table: MoveTable) -> None:
        self._table = table
        self._sums = torch.zeros(len(ROLES), _SUMS, dtype=torch.float64)
        self._drawn = False  # whether entropies were given
        self._guesses = torch.zeros(2, dtype=torch.float64)

    def add(
        self,
        observation: Tensor,
        mask: Tensor,
        targets: Tensor,
        values: Tensor,
        entropy: Tensor | None = None,
    ) -> None:
        """Count rows in.

        Args:
            observation: ``[N, D] int8``. mask: ``[N] bool``, rows that count.
            targets, values: ``[N] float32`` value targets and values. entropy: ``[N]`` in nats;
                None: there is none.
        """
        if self._table.roles is None:
            return
        self._drawn |= entropy is not None
        solo = (observation[:, self._table.roles[1]] != 0).any(1)
        role = own_role(observation, self._table)
        role = torch.where((role == OWN_ROLES.index("emperor")) & solo, ROLES.index("solo"), role)
        error = targets - values
        nats = torch.zeros_like(error) if entropy is None else entropy
        columns = torch.stack(
            [torch.ones_like(error), targets, targets.square(), error, error.square(), nats], 1
        )
        columns = torch.where(mask[:, None], columns, 0.0).double()
        sums = torch.zeros(len(ROLES), _SUMS, dtype=torch.float64, device=columns.device)
        self._sums += sums.index_add_(0, role, columns).cpu()

    def add_guesses(self, total: Tensor, count: Tensor) -> None:
        """Count ``count`` guesses of who is guard in, whose log losses sum to ``total``."""
        self._guesses += torch.stack([total.double(), count.double()]).cpu()

    def results(self) -> dict[str, Any]:
        """``role_value_explained`` and, where entropies were given, ``role_entropy``, dicts by
        those of ROLES that were there; ``role_log_loss`` where anything was to be guessed.

        Explained is 1 - variance of the error / variance of the targets, left out where the
        targets do not vary.
        """
        explained: dict[str, float] = {}
        entropies: dict[str, float] = {}
        for role, (n, t, tt, e, ee, h) in zip(ROLES, self._sums.tolist(), strict=True):
            if n == 0:
                continue
            entropies[role] = h / n
            variance = tt / n - (t / n) ** 2
            if variance > 1e-9:
                explained[role] = 1 - (ee / n - (e / n) ** 2) / variance
        found: dict[str, Any] = {"role_value_explained": explained}
        if self._drawn:
            found["role_entropy"] = entropies
        total, count = self._guesses.tolist()
        if count:
            found["role_log_loss"] = total / count
        return found
