"""PPO's loss from the ragged policy: it needs the behaviour's log-probability, not its logits."""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.algorithms.ppo.ppo import (
    LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY,
    LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY,
    PPOConfig,
)
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.torch_utils import explained_variance
from torch import Tensor

from lupai.train.learning.distil import distil_loss, judged_moves
from lupai.train.learning.heads import FEW_LABELS, role_loss
from lupai.train.learning.role_stats import RoleStats
from lupai.train.privileged import LABEL, PRIVILEGED
from lupai.train.rllib.batching import RandomOrder, StandardAdvantages
from lupai.train.rllib.env import OBSERVATION
from lupai.train.rllib.module import ENTROPY, JUDGED_LOGITS, LOG_PROB, ROLE_LOGITS
from lupai.train.sampling.judged import CANDIDATES, STAKES, WORTH
from lupai.train.sampling.teacher import TAUGHT


class LupaiLearner(PPOTorchLearner):
    """Clipped surrogate, squared value error, entropy bonus and, where there is a role head, its
    log loss; rows outside LOSS_MASK count nothing.

    ``value_loss_coeff`` and ``clip_param`` come from the PPOConfig, the weight of the role loss
    from its ``learner_config_dict`` (``role_head``). Logged beside RLlib's own names:
    ``approx_kl``, ``clip_fraction`` and, once an update and over all its minibatches, what
    :class:`RoleStats` gives.
    """

    def build(self) -> None:
        """Add to RLlib's own pipeline, where it is used, what makes both samplers alike; and to
        either one what puts the decisions in random order."""
        super().build()
        self._stats: dict[str, RoleStats] = {}
        pipeline = self._learner_connector
        if pipeline is None:
            return
        if self.config.add_default_connectors_to_learner_pipeline:
            pipeline.append(StandardAdvantages())
        pipeline.append(RandomOrder(self.config.learner_config_dict["stream"]))

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Log what was gathered over the minibatches of one update."""
        super().after_gradient_based_update(timesteps=timesteps)
        for module_id, stats in self._stats.items():
            self.metrics.log_dict(stats.results(), key=module_id, window=1)
        self._stats.clear()

    def compute_loss_for_module(
        self,
        *,
        module_id: str,
        config: PPOConfig,
        batch: dict[str, Any],
        fwd_out: dict[str, Tensor],
    ) -> Tensor:
        """Scalar loss of one minibatch."""
        module = self.module[module_id].unwrapped()
        log_prob, entropy = fwd_out[LOG_PROB], fwd_out[ENTROPY]
        mask = batch.get(Columns.LOSS_MASK)
        mask = torch.ones_like(log_prob, dtype=torch.bool) if mask is None else mask.bool()

        def mean(values: Tensor, rows: Tensor = mask) -> Tensor:
            # where() and not a product: a masked row must not pass on an infinity as NaN.
            total = torch.where(rows, values, torch.zeros_like(values)).sum()
            return total / rows.sum().clamp_min(1)

        advantages = batch[Postprocessing.ADVANTAGES]
        targets = batch[Postprocessing.VALUE_TARGETS]
        log_ratio = log_prob - batch[Columns.ACTION_LOGP]
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip_param, 1 + config.clip_param)
        surrogate = torch.min(advantages * ratio, advantages * clipped)
        coeff = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        gain, own = surrogate + coeff * entropy, mask
        if TAUGHT in batch:  # moves of another agent, which are to become likely
            taught = batch[TAUGHT].bool()
            gain, own = torch.where(taught, log_prob, gain), mask & ~taught
        distilled = None
        if CANDIDATES in batch:
            judged = (batch[CANDIDATES][:, 0] >= 0) & mask  # who is judged is told by nothing else
            if judged.any():
                distilled = self._distilled(batch, fwd_out[JUDGED_LOGITS])
                gain, own = torch.where(judged, torch.zeros_like(gain), gain), own & ~judged
        values = module.compute_values(batch)
        value_error = (values - targets).square()
        value_loss = value_error.clamp(max=config.vf_clip_param)
        loss = mean(config.vf_loss_coeff * value_loss - gain)
        if distilled is not None:
            loss = loss + config.learner_config_dict["distillation"]["weight"] * distilled
            self.metrics.log_value((module_id, "distillation_loss"), distilled.detach(), window=1)
        stats = self._stats.setdefault(module_id, RoleStats(module.table))
        if ROLE_LOGITS in fwd_out:
            total, count = role_loss(fwd_out[ROLE_LOGITS], batch[PRIVILEGED][:, LABEL], mask)
            weight = config.learner_config_dict["role_head"]
            loss = loss + weight * total / count.clamp_min(FEW_LABELS)
            stats.add_guesses(total.detach(), count)
        with torch.no_grad():
            stats.add(batch[Columns.OBS][OBSERVATION], mask, targets, values, entropy)
            if TAUGHT in batch and not own.all():
                others = mask & taught
                self.metrics.log_value(
                    (module_id, "imitation_log_loss"), -mean(log_prob, others), window=1
                )
            self.metrics.log_dict(
                {
                    POLICY_LOSS_KEY: -mean(surrogate, own),
                    VF_LOSS_KEY: mean(value_loss),
                    LEARNER_RESULTS_VF_LOSS_UNCLIPPED_KEY: mean(value_error),
                    LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY: explained_variance(
                        targets[mask], values[mask]
                    ),
                    ENTROPY_KEY: mean(entropy),
                    "approx_kl": mean(ratio - 1 - log_ratio, own),
                    "clip_fraction": mean((ratio != clipped).float(), own),
                },
                key=module_id,
                window=1,
            )
        return loss

    def _distilled(self, batch: dict[str, Any], logits: Tensor) -> Tensor:
        """Mean loss of the decisions with judged moves, in stakes."""
        options = self.config.learner_config_dict
        rows, places, _ = judged_moves(batch[CANDIDATES])
        points = logits * (options["distillation"]["temperature"] / options["scale"])
        worth = batch[WORTH][rows, places]
        count = len(batch[CANDIDATES])
        total, judged = distil_loss(points / batch[STAKES][rows], worth, rows, count)
        return total / judged.clamp_min(1)
