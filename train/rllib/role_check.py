"""The role head beside the evidence: its log loss and that of the grounded chances."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

__all__ = ["GROUNDED_LOSS", "GUESSES", "GUESSES_LOSS", "log_role_check"]

GUESSES: Final = "role_guesses"
GUESSES_LOSS: Final = "role_guesses_log_loss"
GROUNDED_LOSS: Final = "role_grounded_log_loss"
LEAST_CHANCE: Final = 1e-6  # so that one impossible truth is no infinity


def log_role_check(
    module: Any,
    module_id: str,
    observation: npt.NDArray[np.int8],
    chances: npt.NDArray[np.float32],
    labels: npt.NDArray[np.integer[Any]],
    metrics: Any,
) -> None:
    """Log, before an update and as sums of this iteration, GUESSES, their number, and the log
    losses of the head, GUESSES_LOSS, and of the evidence, GROUNDED_LOSS, in nats.

    The decisions must be of hands of which nothing was learned yet: a head that has seen a hand
    remembers its guard.

    Args:
        module: with a role head; without one nothing is logged.
        module_id: where in ``metrics``.
        observation: ``[n, D]`` of decisions, n > 0.
        chances: ``[n, ROLE_CLASSES]`` :func:`~lupai.train.privileged.grounded_chances` there.
        labels: ``[n]`` class that is true.
        metrics: RLlib's MetricsLogger.
    """
    if getattr(module, "role_head", None) is None:
        return
    truth = torch.from_numpy(labels.astype(np.int64))
    device = next(module.parameters()).device
    with torch.no_grad():
        logits = module.role_logits(torch.from_numpy(observation).to(device)).cpu()
        own = functional.cross_entropy(logits, truth, reduction="sum")
    grounded = torch.from_numpy(chances).clamp_min(LEAST_CHANCE).log()
    metrics.log_dict(
        {
            GUESSES: len(labels),
            GUESSES_LOSS: own.item(),
            GROUNDED_LOSS: functional.nll_loss(grounded, truth, reduction="sum").item(),
        },
        key=module_id,
        reduce="sum",
    )
