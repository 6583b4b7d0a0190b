"""够级 (Gouji) in training: what a critic sees, and by which side scores are told.

Letters: ``N`` decisions, ``S`` = 6 seats. Nobody has a hidden role; only cards are hidden, and
while a revolution is asked for who answered that he makes one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_RANKS
from lupai.envs.gouji import scoring
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import State
from lupai.envs.layout import Layout, Section
from lupai.envs.seats import NOBODY
from lupai.train.games.base import Bands, TrainingGame
from lupai.train.privileged import PRIVILEGED, UNLABELLED

__all__ = ["GAME", "LAYOUT", "ROLES", "privileged_rows", "seat_roles"]

ROLES: Final = ("none", "leading_side", "other_side")  # leading: that of the first leader

LAYOUT: Final = Layout(
    "gouji privileged",
    1,
    (
        Section("ranks", (SEATS, NUM_RANKS), "cards held", high=16, axes="seat; rank"),
        Section("headless", (SEATS,), "无头", axes="seat"),
        Section("duty", (SEATS,), "who burned and has to go on so", axes="seat"),
        Section("revolter", (SEATS,), "who laid his cards down", axes="seat"),
        Section("revolts", (SEATS,), "who answered revolt in the running poll", axes="seat"),
        Section(
            "role_label", (1,), "nobody has a hidden role: -1", high=UNLABELLED, low=UNLABELLED
        ),
    ),
)
# A revolution is rare, so no band of its rates would be told from chance.
RATES: Final[dict[str, Bands]] = {"shandong": {"revolt": (0.0, 1.0), "waive": (0.0, 1.0)}}
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS
_AT: Final = LAYOUT.slices

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[np.integer[Any]]


def privileged_rows(state: State, seats: Ints) -> I8:
    """WARNING, god's eye: ``[N, 115] int8`` by LAYOUT, seats counted from ``seats``.

    Args:
        state: N tables.
        seats: ``[N]`` the seat at each table from which is counted, the one that decides.
    """
    seats = np.asarray(seats, np.intp)
    n = len(seats)
    order = _ORDER[seats]
    out = np.empty((n, LAYOUT.size), np.int8)
    out[:, _AT["ranks"]] = state.ranks[np.arange(n)[:, None], order].reshape(n, -1)
    out[:, _AT["headless"]] = np.asarray(state.headless)[:, None] >> order & 1
    out[:, _AT["duty"]] = order == np.asarray(state.duty)[:, None]
    out[:, _AT["revolter"]] = order == np.asarray(state.revolter)[:, None]
    out[:, _AT["revolts"]] = np.asarray(state.revolts)[:, None] >> order & 1
    out[:, _AT["role_label"]] = UNLABELLED
    return out


def learner_columns(
    engine: Any, state: State, seats: Ints, check: Any = None
) -> dict[str, npt.NDArray[Any]]:
    """WARNING, god's eye: PRIVILEGED, the rows of :func:`privileged_rows`.

    Raises:
        ValueError: grounded chances are wanted, of roles that this game has not.
    """
    if check is not None:
        raise ValueError("check: there are no hidden roles in Gouji, so no chances of them")
    return {PRIVILEGED: privileged_rows(state, seats)}


def seat_roles(state: State) -> I8:
    """``[B, 6] int8`` index into ROLES of every seat; none: the hand was not played."""
    leader = np.asarray(state.first_leader)[:, None]
    roles = np.where((_SEATS - leader) % 2 == 0, 1, 2)
    unplayed = (np.asarray(state.void)[:, None] != 0) | (leader == NOBODY)
    return np.where(unplayed, 0, roles).astype(np.int8)


def _points(state: State, rules: Rules) -> npt.NDArray[np.int64]:
    return scoring.scores(state)


GAME: Final = TrainingGame(
    name="gouji",
    seats=SEATS,
    roles=ROLES,
    seat_roles=seat_roles,
    layout=LAYOUT,
    privileged_rows=privileged_rows,
    learner_columns=learner_columns,
    points=_points,
    rates=RATES,
)
