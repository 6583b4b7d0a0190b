"""What a trained agent's role head says of who is guard: ``role-head:AGENT``. Needs torch.

The head learned beside the policy (``network.role_head``) at decisions of a seat that did not know
the guard: an emperor's with a guard, or a rebel's, at his own turn. It reads the observation of the
viewing seat, so a spectator, who has none, cannot be answered for. It is asked about moments at
which others are to answer too, which it never learned.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.belief.base import ALONE, CLASSES, BeliefError, candidates
from lupai.agents.belief.naive_bayes import check_rules
from lupai.agents.checkpoint import find_agent, load_agent, load_role_head
from lupai.agents.policies import Policy
from lupai.agents.role_head import RoleHead
from lupai.envs.baohuang.state import SEATS
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

__all__ = ["RoleHeadPredictor"]

_ROWS_AT_ONCE: Final = 4096
F64 = npt.NDArray[np.float64]


class RoleHeadPredictor:
    """The predictor: the head's softmax over who comes into question by role and seat.

    Args:
        policy: makes the state vectors.
        head: reads them.
        rules: rules string that they were trained under.
        name: shown in tables.
        weights_sha256: of the agent's weights; "": of no file.
    """

    def __init__(
        self, policy: Policy, head: RoleHead, rules: str, name: str, weights_sha256: str = ""
    ) -> None:
        self._policy, self._head = policy.eval(), head.eval()
        self.rules, self.name, self.weights_sha256 = rules, name, weights_sha256

    @torch.inference_mode()
    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``.

        Raises:
            BeliefError: views of other rules, or of a spectator.
        """
        check_rules(self, views)
        seats = np.asarray(views.seats, np.int64)
        if (seats == NOBODY).any():
            raise BeliefError(
                f"predictor {self.name!r}, view {int((seats == NOBODY).argmax())}: a role head "
                f"reads what a seat sees, and a spectator has none; ask it about rebel and emperor"
            )
        logits = np.full((len(views), CLASSES), -np.inf)
        observation: Any = views.observation
        for start in range(0, len(views), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            seen = torch.tensor(observation[rows])
            said = self._head(self._policy.embed(seen), self._policy.which(seen)).double().numpy()
            row = np.arange(start, start + len(said))
            for distance in range(1, SEATS):  # seats from 下家 on
                logits[row, (seats[rows] + distance) % SEATS] = said[:, distance - 1]
            logits[row, ALONE] = said[:, SEATS - 1]
        logits[~candidates(views)] = -np.inf
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: F64 = weights / weights.sum(axis=1, keepdims=True)
        return chances

    @classmethod
    def load(cls, agent: str | os.PathLike[str], rules: str | None = None) -> RoleHeadPredictor:
        """That of a run folder, an agent folder, or an agent that comes with lupai.

        Raises:
            BeliefError: no such agent, of other rules, damaged, or without a role head.
        """
        name = f"role-head:{os.fspath(agent)}"
        try:
            place = find_agent(agent)
            loaded = load_agent(place, rules=rules)
            head = load_role_head(place)
        except LupaiError as error:
            raise BeliefError(f"predictor {name!r}: {error}") from None
        if head is None:
            raise BeliefError(
                f"predictor {name!r}: this agent comes without a role head; runs with "
                f"network.role_head above 0 keep it in their checkpoints"
            )
        return cls(loaded.policy, head, loaded.card.rules, name, loaded.card.weights_sha256)
