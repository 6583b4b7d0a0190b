"""The shared policy as an RLModule.

One module plays all five seats; each sees its own role in its observation. Moves are sampled here,
and only the move and its log-probability leave for the episodes: scores of thousands of actions
never enter an episode, a batch or another process.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from lupai.agents.network import (
    MoveScorer,
    NetworkConfig,
    ValueNetwork,
    move_table,
    segment_argmax,
    segment_chosen,
    segment_entropy,
    segment_log_softmax,
    segment_sample,
    unpack_legal,
)
from lupai.envs.baohuang.engine import Engine
from lupai.train.rllib.env import LEGAL, OBSERVATION

LOG_PROB: Final = "lupai_log_prob"
ENTROPY: Final = "lupai_entropy"


class LupaiModule(TorchRLModule, ValueFunctionAPI, InferenceOnlyAPI):
    """Policy (``pi``) and, where it learns, a value network (``vf``).

    ``model_config``: ``rules`` (string) and ``network`` (``NetworkConfig.to_json()``).
    """

    pi: MoveScorer
    vf: ValueNetwork

    def setup(self) -> None:
        """Build the networks; the value network only where it is trained."""
        config = NetworkConfig.from_json(self.model_config["network"])
        table = move_table(Engine(self.model_config["rules"]).observation_layout)
        self.pi = MoveScorer(table, config)
        if not self.inference_only:
            self.vf = ValueNetwork(table, config)

    def get_non_inference_attributes(self) -> list[str]:
        """What runners do without."""
        return ["vf"]

    def _scores(self, batch: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, int]:
        """``(log_probs [T], rows [T], ids [T], N)`` of a batch."""
        obs = batch[Columns.OBS]
        rows, ids = unpack_legal(obs[LEGAL])
        count = obs[LEGAL].shape[0]
        logits = self.pi(obs[OBSERVATION], rows, ids)
        return segment_log_softmax(logits, rows, count), rows, ids, count

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            log_probs, rows, ids, count = self._scores(batch)
            uniform = torch.rand(count, dtype=torch.float64, device=log_probs.device)
            place = segment_sample(log_probs, rows, count, uniform)
            _demand_moves(place)
            return {Columns.ACTIONS: ids[place], Columns.ACTION_LOGP: log_probs[place]}

    def _forward_inference(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            log_probs, rows, ids, count = self._scores(batch)
            place = segment_argmax(log_probs, rows, count)
            _demand_moves(place)
            return {Columns.ACTIONS: ids[place]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        # Rows that RLlib appends for bootstrapping have no legal move; they give 0 and no gradient.
        log_probs, rows, ids, count = self._scores(batch)
        chosen = batch[Columns.ACTIONS].to(torch.int64)
        return {
            LOG_PROB: segment_chosen(log_probs, rows, ids, chosen),
            ENTROPY: segment_entropy(log_probs, rows, count),
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Values ``[N] float32`` in units of reward."""
        values: Tensor = self.vf(batch[Columns.OBS][OBSERVATION])
        return values


def _demand_moves(place: Tensor) -> None:
    """A decision without legal moves is a fault upstream, never something to play on from."""
    if bool((place < 0).any()):
        raise RuntimeError("a decision without any legal move reached the policy")
