"""One policy for all seats, or one for each role, behind one interface.

``role``: four networks of the same sizes, ``emperor``, ``guard``, ``rebel``, and ``bidder`` for the
answers before there are roles. Which one decides is read from the observer's own role in its
observation, so it depends on nothing that the seat does not know: a hidden guard knows that he is
guard, a rebel knows that he is none. A soloist is an emperor who knows it.

They are one module and not four of RLlib's: a seat becomes emperor or guard in the middle of its
game, and a game cut there would be valued by a network that never saw what follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor, nn

from lupai.agents.network import MoveScorer, MoveTable, NetworkConfig, combined, head_columns

__all__ = ["OWN_ROLES", "Policy", "RolePolicies", "build_policy", "own_role", "policy_names"]

OWN_ROLES: Final = ("bidder", "emperor", "guard", "rebel")


def own_role(observation: Tensor, table: MoveTable) -> Tensor:
    """``[N] int64`` index into OWN_ROLES of the observer at ``observation [N, D] int8``.

    Raises:
        ValueError: the observation has no roles.
    """
    if table.roles is None:
        raise ValueError("one policy for each role: the observation has no roles")
    known = observation[:, table.roles[0]] != 0
    return torch.where(known.any(1), known.int().argmax(1) + 1, 0)


class RolePolicies(nn.Module):
    """The policy of each of OWN_ROLES; the same methods as a MoveScorer."""

    def __init__(self, table: MoveTable, config: NetworkConfig) -> None:
        super().__init__()
        if table.roles is None:
            raise ValueError("one policy for each role: the observation has no roles")
        self._table = table
        self.width, self.columns = config.hidden[-1], head_columns(config)
        self.win_weight = config.win_weight
        self.members = nn.ModuleDict({name: MoveScorer(table, config) for name in OWN_ROLES})
        for member in self.members.values():  # the same for all: hold it once
            member.constants = self.members[OWN_ROLES[0]].constants

    def which(self, observation: Tensor) -> Tensor:
        """``[N] int64`` number of the policy that decides each row."""
        return own_role(observation, self._table)

    def embed(self, observation: Tensor) -> Tensor:
        """State vectors ``[N, hidden[-1]] float32``, each by its row's policy."""
        which = self.which(observation)
        out = torch.zeros(observation.shape[0], self.width, device=observation.device)
        for _, member, index in self._groups(which):
            out = out.index_copy(0, index, member.embed(observation.index_select(0, index)))
        return out

    def score(
        self,
        embedding: Tensor,
        observation: Tensor,
        rows: Tensor,
        ids: Tensor,
        advice: Tensor | None = None,
    ) -> Tensor:
        """Logits ``[T] float32`` from :meth:`embed`'s vectors; the rest as in :meth:`forward`."""
        return combined(self.heads(embedding, observation, rows, ids, advice), self.win_weight)

    def heads(
        self,
        embedding: Tensor,
        observation: Tensor,
        rows: Tensor,
        ids: Tensor,
        advice: Tensor | None = None,
    ) -> Tensor:
        """What each head says, see :meth:`MoveScorer.heads`; each move by its row's policy."""
        which = self.which(observation)
        deciding = which.index_select(0, rows)
        out = torch.zeros(ids.shape[0], self.columns, device=observation.device)
        place = torch.zeros_like(which)  # of each row within its policy's rows
        for number, member, index in self._groups(which):
            place[index] = torch.arange(index.shape[0], device=index.device)
            moves = (deciding == number).nonzero().squeeze(1)
            part = member.heads(
                embedding.index_select(0, index),
                observation.index_select(0, index),
                place[rows.index_select(0, moves)],
                ids.index_select(0, moves),
                None if advice is None else advice.index_select(0, moves),
            )
            out = out.index_copy(0, moves, part)
        return out

    def forward(
        self, observation: Tensor, rows: Tensor, ids: Tensor, advice: Tensor | None = None
    ) -> Tensor:
        """Logits ``[T] float32``; arguments as of :meth:`MoveScorer.forward`."""
        return self.score(self.embed(observation), observation, rows, ids, advice)

    def _groups(self, which: Tensor) -> Iterator[tuple[int, MoveScorer, Tensor]]:
        """Number, network and rows ``[n] int64`` of each policy that has something to do."""
        for number, member in enumerate(self.members.values()):
            assert isinstance(member, MoveScorer)
            index = (which == number).nonzero().squeeze(1)
            # While learning, a policy without a row still needs a gradient (of zero): RLlib's
            # learner does not take None for one. And what is exported is the same for all inputs.
            if torch.compiler.is_exporting() or torch.is_grad_enabled() or len(index):
                yield number, member, index


Policy = MoveScorer | RolePolicies


def build_policy(table: MoveTable, config: NetworkConfig) -> Policy:
    """The untrained policy that a config describes.

    Raises:
        ValueError: it needs what the observation lacks: roles, or the latest moves.
    """
    return (RolePolicies if config.policies == "role" else MoveScorer)(table, config)


def policy_names(config: NetworkConfig) -> tuple[str, ...]:
    """Names of the policies within, by the numbers that ``which`` gives."""
    return OWN_ROLES if config.policies == "role" else ("shared",)
