"""A trained policy as an agent, by torch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.card import AgentCard
from lupai.agents.policies import Policy
from lupai.agents.ragged import F16, F32, I64, ScoringAgent

__all__ = ["CheckpointAgent"]


class CheckpointAgent(ScoringAgent):
    """A trained policy that plays; see :class:`~lupai.agents.ragged.ScoringAgent`.

    Args:
        policy: the network, on whatever device.
        card, name, sample, seed: as there.
    """

    def __init__(
        self,
        policy: Policy,
        card: AgentCard,
        *,
        name: str = "trained",
        sample: bool = False,
        seed: int | None = 0,
    ) -> None:
        super().__init__(card, name=name, sample=sample, seed=seed)
        self.policy = policy.eval()

    @torch.inference_mode()
    def outputs(
        self, observation: npt.NDArray[np.int8], rows: I64, ids: I64, advice: F16 | None
    ) -> F32:
        """See :meth:`lupai.agents.ragged.ScoringAgent.outputs`."""
        device = next(self.policy.parameters()).device
        # torch.tensor copies: the engine's arrays may be read-only, which from_numpy warns of
        given = [observation, rows, ids, *([] if advice is None else [advice])]
        found = self.policy(*(torch.tensor(array, device=device) for array in given))
        outputs: F32 = found.cpu().numpy()
        return outputs
