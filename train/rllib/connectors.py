"""From episodes' infos to the learner's batch: what the critic and the role head's labels need."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
import torch
from ray.rllib.connectors.connector_v2 import ConnectorV2
from torch.nn import functional

from lupai.train.privileged import FEATURES, GROUNDED, PRIVILEGED, PRIVILEGED_LAYOUT
from lupai.train.rllib.env import OBSERVATION

__all__ = ["PrivilegedColumns", "privileged_columns"]

CHECK_WINDOW: Final = 20  # iterations over which the two log losses below are averaged
LEAST_CHANCE: Final = 1e-6  # so that one impossible truth is no infinity


class PrivilegedColumns(ConnectorV2):
    """Adds the column PRIVILEGED ``[N, 104] int8`` to a learner's batch.

    Also compares the role head's log loss with that of the grounded chances, on decisions that
    carry them and before anything of their hand is learned from (a head that has seen a hand
    remembers its guard): ``role_check_log_loss`` and ``role_grounded_log_loss``, in nats.
    """

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Any],
        explore: bool | None = None,
        shared_data: dict[str, Any] | None = None,
        metrics: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Runs on episodes to which RLlib has added a row for bootstrapping."""
        checks: dict[str, list[tuple[Any, Any, int]]] = defaultdict(list)
        for episode in self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False):
            count = len(episode)
            infos = episode.get_infos(slice(0, count))
            rows = np.zeros((count, PRIVILEGED_LAYOUT.size), np.int8)
            for i, info in enumerate(infos):
                # The last row stands after the last decision and may have nothing to see.
                if PRIVILEGED in info:
                    rows[i] = info[PRIVILEGED]
                elif i < count - 1:
                    raise RuntimeError(f"a decision of {episode.id_} lacks its privileged row")
                if GROUNDED in info and i < count - 1 and episode.t_started == 0:
                    seen = episode.get_observations(i)[OBSERVATION]
                    checks[episode.module_id].append((seen, info[GROUNDED], int(rows[i, FEATURES])))
            self.add_n_batch_items(
                batch,
                PRIVILEGED,
                items_to_add=list(rows),
                num_items=count,
                single_agent_episode=episode,
            )
        if metrics is not None:
            for module_id, rows_of_module in checks.items():
                _log_check(rl_module[module_id].unwrapped(), module_id, rows_of_module, metrics)
        return batch


def privileged_columns(observation_space: Any, action_space: Any) -> PrivilegedColumns:
    """For ``AlgorithmConfig.training(learner_connector=…)``; a function, so that it pickles."""
    return PrivilegedColumns(observation_space, action_space)


def _log_check(module: Any, module_id: str, rows: list[tuple[Any, Any, int]], metrics: Any) -> None:
    if getattr(module, "role_head", None) is None:
        return
    observation, chances, labels = (np.stack(column) for column in zip(*rows, strict=True))
    truth = torch.from_numpy(labels)
    device = next(module.parameters()).device
    with torch.no_grad():
        logits = module.role_logits(torch.from_numpy(observation).to(device)).cpu()
        own = functional.cross_entropy(logits, truth)
    grounded = torch.from_numpy(chances).clamp_min(LEAST_CHANCE).log()
    metrics.log_dict(
        {
            "role_check_log_loss": own.item(),
            "role_grounded_log_loss": functional.nll_loss(grounded, truth).item(),
        },
        key=module_id,
        window=CHECK_WINDOW,
    )
