"""A trained policy that is drawn from, as a behaviour: its own probabilities. Needs torch."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.network import offsets_to_rows, segment_chosen, segment_log_softmax
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.view import Views

F64 = npt.NDArray[np.float64]
_ROWS_AT_ONCE: Final = 1024  # bounds the memory of one forward pass: a lead may have 860 moves


class Softmax:
    """Probabilities of a :class:`~lupai.agents.trained.CheckpointAgent` that samples.

    Args:
        agent: the agent; its temperature and what it does in idle decisions come from its card.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.name: str = agent.name

    @torch.inference_mode()
    def chances(self, views: Views, actions: npt.NDArray[np.integer]) -> F64:
        """See :class:`~lupai.agents.belief.behaviour.Behaviour`.

        Raises:
            RulesError: the agent was trained under other rules.
        """
        agent = self._agent
        agent._check_rules(views.engine)
        flat, offsets = views.legal.ids()
        observation = views.observation
        out = np.zeros(len(views))
        device = next(agent.policy.parameters()).device
        for start in range(0, len(views), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(views))
            part = slice(int(offsets[start]), int(offsets[stop]))
            rows = offsets_to_rows(
                torch.tensor(offsets[start : stop + 1] - offsets[start], device=device)
            )
            ids = torch.tensor(flat[part].astype(np.int64), device=device)
            seen = torch.tensor(observation[start:stop], device=device)
            played = torch.tensor(np.asarray(actions[start:stop], np.int64), device=device)
            logits = agent.policy(seen, rows, ids)
            logs = segment_log_softmax(logits / agent.card.temperature, rows, stop - start)
            out[start:stop] = segment_chosen(logs, rows, ids, played).exp().double().cpu().numpy()
        if agent.card.idle == "pass":
            idle = views.legal.idle()
            out[idle] = np.asarray(actions)[idle] == VERB_ID["pass"]
        return out
