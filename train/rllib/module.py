"""Policy, critic and role head as one RLModule.

One module plays all seats; each sees its own role in its observation. Moves are sampled here,
and only the move and its log-probability leave for the episodes: scores of thousands of actions
never enter an episode, a batch or another process.

The policy reads ``obs`` and nothing else. Only ``compute_values`` reads the column of all hands
and true roles, and only a learner's batch has it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from lupai.agents.network import (
    NetworkConfig,
    ValueNetwork,
    advised_moves,
    segment_argmax,
    segment_chosen,
    segment_entropy,
    segment_log_softmax,
    segment_sample,
    table_of,
    unpack_legal,
    unpack_words,
)
from lupai.agents.policies import Policy, build_policy, policy_names
from lupai.agents.role_head import RoleHead
from lupai.envs.game import make_game
from lupai.train.games import DEFAULT, training_game
from lupai.train.learning.distil import judged_moves
from lupai.train.learning.heads import PerfectValueNetwork, value_network
from lupai.train.privileged import PRIVILEGED
from lupai.train.rllib.env import LEGAL, OBSERVATION
from lupai.train.sampling.advised import ADVICE, ADVISED
from lupai.train.sampling.judged import CANDIDATES
from lupai.train.sampling.tables import WORDS

LOG_PROB: Final = "lupai_log_prob"
ENTROPY: Final = "lupai_entropy"
ROLE_LOGITS: Final = "lupai_role_logits"
JUDGED_LOGITS: Final = "lupai_judged_logits"


class _Scores(NamedTuple):
    """Of the T moves of N decisions; see :mod:`lupai.agents.network`."""

    log_probs: Tensor  # [T]
    logits: Tensor  # [T]
    rows: Tensor  # [T]
    ids: Tensor  # [T]
    number: int  # N; tuples have a method `count`
    embedding: Tensor  # [N, H] state vectors


class LupaiModule(TorchRLModule, ValueFunctionAPI, InferenceOnlyAPI):
    """Policy (``pi``) and, where it learns, a critic (``vf``) and a role head (``role_head``).

    ``model_config``: ``game``, ``rules`` (string), ``network`` (``NetworkConfig.to_json()``),
    ``critic`` (``"observation"`` or ``"perfect"``) and ``role_head`` (bool).
    """

    pi: Policy
    vf: ValueNetwork | PerfectValueNetwork
    role_head: RoleHead | None

    def setup(self) -> None:
        """Build the networks; critic and role head only where they are trained."""
        config = NetworkConfig.from_json(self.model_config["network"])
        game = self.model_config.get("game", DEFAULT)
        engine = make_game(game, self.model_config["rules"])
        self.table = table_of(engine)
        self.pi = build_policy(self.table, config)
        self.role_head = None
        if self.inference_only:
            return
        perfect = self.model_config.get("critic") == "perfect"
        layout = training_game(game).layout if perfect else None
        self.vf = value_network(self.table, config, layout)
        if self.model_config.get("role_head"):
            self.role_head = RoleHead(config.hidden[-1], len(policy_names(config)))

    def get_non_inference_attributes(self) -> list[str]:
        """What runners do without."""
        return ["vf", "role_head"]

    def _scores(self, batch: dict[str, Any]) -> _Scores:
        obs = batch[Columns.OBS]
        observation, advice = obs[OBSERVATION], None
        if ADVISED in obs:
            rows, ids, advice = advised_moves(obs[ADVISED], obs[ADVICE])
        elif WORDS in obs:
            rows, ids = unpack_words(obs[WORDS])
        else:
            rows, ids = unpack_legal(obs[LEGAL])
        embedding = self.pi.embed(observation)
        logits = self.pi.score(embedding, observation, rows, ids, advice)
        count = len(observation)
        log_probs = segment_log_softmax(logits, rows, count)
        return _Scores(log_probs, logits, rows, ids, count, embedding)

    def _forward_exploration(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            log_probs, _, rows, ids, count, _ = self._scores(batch)
            uniform = torch.rand(count, dtype=torch.float64, device=log_probs.device)
            place = segment_sample(log_probs, rows, count, uniform)
            _demand_moves(place)
            return {Columns.ACTIONS: ids[place], Columns.ACTION_LOGP: log_probs[place]}

    def _forward_inference(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        with torch.no_grad():
            log_probs, _, rows, ids, count, _ = self._scores(batch)
            place = segment_argmax(log_probs, rows, count)
            _demand_moves(place)
            return {Columns.ACTIONS: ids[place]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        # Rows that RLlib appends for bootstrapping have no legal move; they give 0 and no gradient.
        log_probs, logits, rows, ids, count, embedding = self._scores(batch)
        chosen = batch[Columns.ACTIONS].to(torch.int64)
        out = {
            LOG_PROB: segment_chosen(log_probs, rows, ids, chosen),
            ENTROPY: segment_entropy(log_probs, rows, count),
        }
        if CANDIDATES in batch:
            obs = batch[Columns.OBS]
            if ADVISED in obs:  # the same moves, where they are judged
                out[JUDGED_LOGITS] = logits[batch[CANDIDATES][obs[ADVISED] >= 0] >= 0]
            else:
                rows, _, ids = judged_moves(batch[CANDIDATES])
                out[JUDGED_LOGITS] = self.pi.score(embedding, obs[OBSERVATION], rows, ids)
        if self.role_head is not None:
            which = self.pi.which(batch[Columns.OBS][OBSERVATION])
            out[ROLE_LOGITS] = self.role_head(embedding, which)
        return out

    def role_logits(self, observation: Tensor) -> Tensor:
        """Logits ``[N, ROLE_CLASSES] float32`` of ``observation [N, D] int8``: who is guard.

        Raises:
            RuntimeError: there is no role head here.
        """
        if self.role_head is None:
            raise RuntimeError("this module has no role head")
        logits: Tensor = self.role_head(self.pi.embed(observation), self.pi.which(observation))
        return logits

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Values ``[N] float32`` in units of reward.

        Raises:
            KeyError: a perfect-information critic without the column PRIVILEGED.
        """
        observation = batch[Columns.OBS][OBSERVATION]
        if isinstance(self.vf, PerfectValueNetwork):
            return self.vf(observation, batch[PRIVILEGED])
        return self.vf(observation)


def _demand_moves(place: Tensor) -> None:
    """A decision without legal moves is a fault upstream, never something to play on from."""
    if bool((place < 0).any()):
        raise RuntimeError("a decision without any legal move reached the policy")
