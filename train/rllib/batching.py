"""From the sampler's trajectories to the learner's batch: values, advantages, tensors, order.

This is the whole learner pipeline of our sampler. RLlib's own, which makes lists of the steps of
thousands of episodes and stacks them again, serves RLlib's sampler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch import Tensor

from lupai.train.privileged import GROUNDED, LABEL, PRIVILEGED, UNLABELLED
from lupai.train.rllib.env import OBSERVATION
from lupai.train.rllib.role_check import log_role_check
from lupai.train.sampling.advised import ADVICE, ADVISED
from lupai.train.sampling.tables import WORDS
from lupai.train.sampling.trajectories import Trajectories, generalised_advantages

__all__ = [
    "RandomOrder",
    "StandardAdvantages",
    "TrajectoriesToBatch",
    "generator",
    "standardised",
]

# What the model finds below "obs"; every other column stands at the top of the batch.
OBSERVED: Final = (OBSERVATION, WORDS, ADVISED, ADVICE)
_LEAST_DEVIATION: Final = 1e-4  # as RLlib: advantages that are all the same stay near zero


def generator(stream: Sequence[int]) -> np.random.Generator:
    """Draws keyed by ``stream``; RLlib saves no random states, so a resumed run has another key."""
    return np.random.default_rng([int(key) for key in stream])


def standardised(advantages: Tensor) -> Tensor:
    """Mean 0 and standard deviation 1."""
    deviation = advantages.std(correction=0).clamp_min(_LEAST_DEVIATION)
    return (advantages - advantages.mean()) / deviation


class TrajectoriesToBatch(ConnectorV2):
    """Batches :class:`Trajectories`; RLlib's pieces are left out.

    Args:
        module: id of the one that learns all decisions.
        gamma: discount. lambda_: of generalised advantage estimation.
        stream: ints that key the draw of the labels, such as ``[seed, iterations before]``.
    """

    def __init__(
        self,
        input_observation_space: Any = None,
        input_action_space: Any = None,
        *,
        module: str,
        gamma: float,
        lambda_: float,
        stream: Sequence[int],
    ) -> None:
        super().__init__(input_observation_space, input_action_space)
        self.module = module
        self.gamma = gamma
        self.lambda_ = lambda_
        self._generator = generator(stream)

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Trajectories],
        metrics: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """``{module: columns}`` with ``advantages`` (standardised) and ``value_targets``; of each
        seat's decisions in a hand that have a label one keeps it, see :class:`RoleHead`."""
        data = Trajectories.concat(episodes)
        module = rl_module[self.module].unwrapped()
        if metrics is not None and GROUNDED in data.columns:
            _check(data, module, self.module, metrics)
        batch[self.module] = self._columns(data, module)
        return batch

    def _columns(self, data: Trajectories, module: Any) -> dict[str, Any]:
        device = next(module.parameters()).device
        rows: dict[str, Any] = {Columns.OBS: {}}
        for name, column in data.columns.items():
            if name == GROUNDED:
                continue
            place = rows[Columns.OBS] if name in OBSERVED else rows
            # What came from another process lies in shared memory and must not be written to.
            place[name] = torch.from_numpy(np.require(column, requirements="W")).to(device)
        with torch.no_grad():
            values = module.compute_values(rows).cpu().numpy()
        advantages, targets = generalised_advantages(data, values, self.gamma, self.lambda_)
        count = len(data)  # what follows them has given its value
        out = {name: column[:count] for name, column in rows.items() if name != Columns.OBS}
        out[Columns.OBS] = {name: column[:count] for name, column in rows[Columns.OBS].items()}
        out[Postprocessing.ADVANTAGES] = standardised(_tensor(advantages, device))
        out[Postprocessing.VALUE_TARGETS] = _tensor(targets, device)
        out[Columns.LOSS_MASK] = torch.ones(count, dtype=torch.bool, device=device)
        if PRIVILEGED in out:
            labelled = data.columns[PRIVILEGED][:count, LABEL] != UNLABELLED
            repeats = labelled & ~data.draw(labelled, self._generator)
            out[PRIVILEGED] = out[PRIVILEGED].clone()  # the trajectories keep theirs
            out[PRIVILEGED][torch.from_numpy(repeats).to(device), LABEL] = UNLABELLED
        return out


def _check(data: Trajectories, module: Any, name: str, metrics: Any) -> None:
    """Compare the role head with the evidence on the decisions that carry grounded chances."""
    count = len(data)
    chances = data.columns[GROUNDED][:count]
    some = np.flatnonzero(~np.isnan(chances[:, 0]))
    if len(some):
        labels = data.columns[PRIVILEGED][some, LABEL]
        observation = data.columns[OBSERVATION][some]
        log_role_check(module, name, observation, chances[some], labels, metrics)


def _tensor(array: Any, device: Any) -> Tensor:
    return torch.from_numpy(array.astype(np.float32)).to(device)


class StandardAdvantages(ConnectorV2):
    """Standardises over decisions only: RLlib counts its appended rows, whose numbers mean nothing.

    The last piece of RLlib's own pipeline, so that both samplers learn from the same numbers.
    """

    def __call__(self, *, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The batch, its advantages standardised anew."""
        for columns in batch.values():
            mask = columns[Columns.LOSS_MASK].bool()
            advantages = columns[Postprocessing.ADVANTAGES]
            fresh = torch.zeros_like(advantages)
            fresh[mask] = standardised(advantages[mask])
            columns[Postprocessing.ADVANTAGES] = fresh
        return batch


class RandomOrder(ConnectorV2):
    """Puts the decisions of a batch in random order; the last piece of both samplers' pipelines.

    RLlib shuffles between epochs only. In the first, minibatches would be a few whole hands each,
    in which all decisions of a seat share one score and one guard.

    Args:
        stream: ints that key the orders, such as ``[seed, iterations before]``.
    """

    def __init__(self, stream: Sequence[int]) -> None:
        super().__init__()
        self._generator = generator(stream)

    def __call__(self, *, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The batch, all columns of a module in one new order."""
        for module_id, columns in batch.items():
            count = len(columns[Columns.LOSS_MASK])
            batch[module_id] = _ordered(columns, self._generator.permutation(count))
        return batch


def _ordered(column: Any, order: npt.NDArray[np.int64]) -> Any:
    if isinstance(column, dict):
        return {name: _ordered(inner, order) for name, inner in column.items()}
    if isinstance(column, list):  # infos
        return [column[row] for row in order]
    return column[order]
