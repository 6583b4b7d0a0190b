"""Predictors that learn nothing: uniform, grounded, and what ``tactical`` goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import candidates
from lupai.agents.belief.views import HandViews
from lupai.agents.tactical.beliefs import heuristic
from lupai.envs.view import Views

__all__ = ["Grounded", "TacticalBelief", "Uniform", "grounded_of"]

F64 = npt.NDArray[np.float64]


def grounded_of(views: Views) -> F64:
    """``[N, 6] float64`` chances if all deals that agree with the record are equally likely."""
    if isinstance(views, HandViews):
        return views.grounded
    engine: Any = views.engine
    chances: F64 = engine.guard_chances(views.state, views.seats)
    return chances


class Uniform:
    """Everybody who comes into question by role and seat alike, and nobody as one of them."""

    name = "uniform"

    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``."""
        some = candidates(views)
        shares: F64 = some / some.sum(axis=1, keepdims=True)
        return shares


class Grounded:
    """All deals that agree with the record and the own hand equally likely, exactly; nothing is
    read from how somebody plays."""

    name = "grounded"

    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``."""
        return grounded_of(views)


class TacticalBelief:
    """The rule of thumb of the agent ``tactical``: by hand sizes."""

    name = "tactical"

    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``."""
        state: Any = views.state
        return heuristic(views.engine.rules, state, np.asarray(views.seats, np.intp))
