"""Advice at the tables that wait, as columns for networks that take it."""

from __future__ import annotations

from typing import Any, Final

import numpy.typing as npt

from lupai.agents.advice import Adviser
from lupai.train.config import TrainConfig
from lupai.train.sampling.tables import Tables

__all__ = ["ADVICE", "ADVISED", "advice_columns", "adviser_of"]

ADVISED: Final = "advised"  # [N, K] int32 candidates, -1: none
ADVICE: Final = "advice"  # [N, K, F] float16 their features


def adviser_of(config: TrainConfig) -> Adviser | None:
    """Who advises the networks of a run; None: nobody."""
    section = config.network
    return Adviser(section.candidates, config.game) if section.advice != "none" else None


def advice_columns(adviser: Adviser, tables: Tables) -> dict[str, npt.NDArray[Any]]:
    """ADVISED and ADVICE of the N decisions that are waited for; what is hidden is not read."""
    views = tables.views()
    ids, offsets = tables.asked.ids()
    found = adviser.advise(tables.engine.rules, views.state, views.seats, ids, offsets)
    return {ADVISED: found.ids, ADVICE: found.features}
