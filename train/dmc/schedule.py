"""What changes over a run, by the decisions that were made so far."""

from __future__ import annotations

import numpy as np

from lupai.train.config import TrainConfig

__all__ = ["epsilon", "learning_rate"]


def epsilon(config: TrainConfig, steps: int) -> float:
    """Share of decisions that are played at random."""
    section = config.dmc
    points = [0, section.epsilon_steps], [section.epsilon, section.epsilon_end]
    return float(np.interp(steps, *points))


def learning_rate(config: TrainConfig, steps: int) -> float:
    """Of Adam: straight lines between that of an imitation, ``dmc.lr`` and ``dmc.lr_end``."""
    section, imitation = config.dmc, config.imitation
    places, rates = [imitation.steps], [section.lr]
    if imitation.steps:
        places.insert(0, 0)
        rates.insert(0, imitation.lr)
    if section.lr_end is not None:
        places.append(imitation.steps + section.lr_steps)
        rates.append(section.lr_end)
    return float(np.interp(steps, places, rates))
