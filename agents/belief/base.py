"""What a predictor is, and who comes into question.

Letters in shapes: ``N`` views, ``S`` = 5 seats, ``C`` = 6 classes: the absolute seats 0 … 4, last
:data:`ALONE`, nobody, because the emperor is secretly alone. They are those of
:meth:`Engine.guard_chances <lupai.envs.baohuang.engine.Engine.guard_chances>`.
"""

from __future__ import annotations

from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.state import SEATS
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

__all__ = [
    "ALONE",
    "CLASSES",
    "OBSERVERS",
    "BeliefError",
    "Predictor",
    "ask_predictor",
    "candidates",
    "observers_of",
]

ALONE: Final = SEATS
CLASSES: Final = SEATS + 1
OBSERVERS: Final = ("rebel", "emperor", "spectator")
F64 = npt.NDArray[np.float64]
_NEAR: Final = 1e-6
_SEATS: Final = np.arange(SEATS)


class BeliefError(LupaiError):
    """A predictor that is not there, cannot be read, or says what are no chances."""


@runtime_checkable
class Predictor(Protocol):
    """Says who is guard.

    One that was read from weights has besides ``weights_sha256``, their hex digest.

    Attributes:
        name: shown in tables.
    """

    name: str

    def predict(self, views: Views) -> F64:
        """Chances ``[N, 6] float64`` that each seat is guard, last that nobody is; rows sum to 1.

        All views are of seats (or of spectators, seat -1) that do not know who it is. Rows of one
        call that belong to one hand stand in the order of its decisions; what is said of one may
        depend on it and on what was public before it, and on nothing after it.
        """


def candidates(views: Views) -> npt.NDArray[np.bool_]:
    """``[N, 6] bool``: classes that come into question by role and seat alone: not the emperor, not
    the viewer, and for the emperor not "nobody", since he knows whether he is alone."""
    state: Any = views.state
    emperor = state.emperor.astype(np.intp)[:, None]
    viewer = np.asarray(views.seats)[:, None]
    out = np.ones((len(views), CLASSES), bool)
    out[:, :SEATS] = (emperor != _SEATS) & (viewer != _SEATS)
    out[:, ALONE] = viewer[:, 0] != emperor[:, 0]
    return out


def observers_of(views: Views) -> npt.NDArray[np.intp]:
    """``[N]`` who sees each view: its place in OBSERVERS."""
    state: Any = views.state
    seats = np.asarray(views.seats, np.intp)
    emperor: npt.NDArray[np.intp] = (seats == state.emperor).astype(np.intp)
    return np.where(seats == NOBODY, OBSERVERS.index("spectator"), emperor)


def ask_predictor(predictor: Predictor, views: Views) -> F64:
    """Chances ``[N, 6] float64`` of a predictor, checked.

    Raises:
        BeliefError: it answers with another shape, with numbers below 0, or with rows that do not
            sum to 1; names the predictor and the first wrong view.
    """
    chances = np.asarray(predictor.predict(views), np.float64)
    name = predictor.name
    if chances.shape != (len(views), CLASSES):
        raise BeliefError(
            f"predictor {name!r} answered {chances.shape} for {len(views)} views; right would be "
            f"{(len(views), CLASSES)}: five seats and nobody"
        )
    bad = ~np.isfinite(chances).all(axis=1) | (chances < 0).any(axis=1)
    bad |= np.abs(chances.sum(axis=1) - 1) > _NEAR
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        said = ", ".join(f"{value:.4g}" for value in chances[row])
        raise BeliefError(
            f"predictor {name!r}, view {row}: [{said}] are no chances; each is 0 … 1, and they sum "
            f"to 1"
        )
    return chances
