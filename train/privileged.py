"""What a critic may see and a player may not: all hands and true roles, in training only.

The names are those of all games, the rows those of Baohuang; others have theirs in
:mod:`lupai.train.games`, with a label in the last column too.

Rows are made from the engine's state where games are sampled and reach nothing but the learner's
batch: from our sampler as columns beside the decisions, from RLlib's in its episodes' ``infos``. No
observation and no forward pass of a sampler holds them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.cards import NUM_RANKS
from lupai.envs.layout import Layout, Section
from lupai.envs.seats import NOBODY

__all__ = [
    "CHECK_EVERY",
    "FEATURES",
    "GROUNDED",
    "LABEL",
    "MOST_CHECKS",
    "NOBODY_IS_GUARD",
    "PRIVILEGED",
    "PRIVILEGED_LAYOUT",
    "ROLE_CLASSES",
    "UNLABELLED",
    "grounded_chances",
    "learner_columns",
    "privileged_rows",
    "role_labels",
]

PRIVILEGED: Final = "privileged"  # column of the learner's batch, and key in RLlib's infos
GROUNDED: Final = "grounded"  # the same, at a few decisions only; never in a minibatch
ROLE_CLASSES: Final = SEATS  # the four other seats from 下家 on, then nobody
NOBODY_IS_GUARD: Final = SEATS - 1
UNLABELLED: Final = -1
LABEL: Final = -1  # column of the label, the last one
# Grounded chances of who is guard have a formula, some µs each. Only where all ceded they are
# counted: 5 to 40 ms, after two or three skips 20 to 400; at most 0.1 % of hands in real play come
# to that. A sample is enough for a curve.
CHECK_EVERY: Final = 8  # steps
MOST_CHECKS: Final = 8  # decisions of such a step

PRIVILEGED_LAYOUT: Final = Layout(
    "baohuang privileged",
    1,
    (
        Section("ranks", (SEATS, NUM_RANKS), "cards held", high=16, axes="seat; rank"),
        Section("roles", (SEATS, 3), "true roles: emperor, guard, rebel", axes="seat; role"),
        Section("identity_seat", (SEATS,), "who holds the hidden identity card", axes="seat"),
        Section("marked_b", (SEATS,), "who was dealt B*", axes="seat"),
        Section("solo", (3,), "true solo: grab, open, secret"),
        Section(
            "role_label",
            (1,),
            "who is guard: other seat 0 … 3 from 下家 on, 4 nobody, -1 known or no roles yet",
            high=NOBODY_IS_GUARD,
            low=UNLABELLED,
        ),
    ),
)
FEATURES: Final = PRIVILEGED_LAYOUT.offsets["role_label"]  # what is before it is for the critic
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS
_AT: Final = PRIVILEGED_LAYOUT.slices
_SOLOS: Final = np.arange(1, len(Solo))

Ints = npt.NDArray[np.integer[Any]]
I8 = npt.NDArray[np.int8]


def privileged_rows(state: State, seats: Ints) -> I8:
    """WARNING, god's eye: ``[N, 104] int8`` by PRIVILEGED_LAYOUT, seats counted from ``seats``.

    Works in every phase; what does not exist yet is zero.

    Args:
        state: N tables.
        seats: ``[N]`` the seat at each table from which is counted, the one that decides.
    """
    seats = np.asarray(seats, np.intp)
    n = len(seats)
    order = _ORDER[seats]
    emperor, guard = state.emperor[:, None], state.guard[:, None]
    out = np.empty((n, PRIVILEGED_LAYOUT.size), np.int8)
    ranks = state.ranks[np.arange(n)[:, None], order]
    out[:, _AT["ranks"]] = ranks.reshape(n, -1)
    roles = out[:, _AT["roles"]].reshape(n, SEATS, 3)
    roles[:, :, 0] = order == emperor
    roles[:, :, 1] = order == guard
    roles[:, :, 2] = (emperor != NOBODY) & (order != emperor) & (order != guard)
    out[:, _AT["roles"]] = roles.reshape(n, -1)  # reshape may have copied
    out[:, _AT["identity_seat"]] = order == state.identity_seat[:, None]
    out[:, _AT["marked_b"]] = order == state.marked_b[:, None]
    out[:, _AT["solo"]] = state.solo[:, None] == _SOLOS
    out[:, FEATURES] = role_labels(state, seats)
    return out


def role_labels(state: State, seats: Ints) -> I8:
    """WARNING, god's eye: ``[N] int8`` who is guard, for seats that do not know it.

    0 … 3 are the other seats from the 下家 on, NOBODY_IS_GUARD a secret soloist's table, and
    UNLABELLED where there are no roles yet, where they are public, and for who knows: the guard
    himself and a soloist.
    """
    seats = np.asarray(seats, np.intp)
    emperor, guard, solo = state.emperor, state.guard, state.solo
    secret = solo == Solo.SECRET
    known = (state.public == 1) | (guard == seats) | (secret & (emperor == seats))
    exists = (emperor != NOBODY) & ((guard != NOBODY) | secret)
    seat = np.where(guard == NOBODY, NOBODY_IS_GUARD, (guard - seats - 1) % SEATS)
    return np.where(exists & ~known, seat, UNLABELLED).astype(np.int8)


def grounded_chances(
    engine: Engine, state: State, seats: Ints, rows: Ints
) -> npt.NDArray[np.float32]:
    """``[n, ROLE_CLASSES] float32``: chances of the classes of :func:`role_labels` for what the
    seats know, all consistent deals equally likely (:meth:`Engine.guard_chances`).

    Args:
        engine: of the tables.
        state: N tables.
        seats: ``[N]`` who decides at each.
        rows: ``[n]`` tables that are wanted.
    """
    seats = np.asarray(seats, np.intp)[rows]
    chances = engine.guard_chances(state, seats, rows)
    order = np.concatenate([_ORDER[seats][:, 1:], np.full((len(seats), 1), SEATS)], axis=1)
    picked: npt.NDArray[np.float32] = np.take_along_axis(chances, order, 1).astype(np.float32)
    return picked


def learner_columns(
    engine: Engine, state: State, seats: Ints, check: npt.ArrayLike | None = None
) -> dict[str, npt.NDArray[Any]]:
    """WARNING, god's eye: what only a learner may see of N decisions.

    Args:
        engine: of the tables.
        state: N tables.
        seats: ``[N]`` who decides at each.
        check: ``[N] bool`` decisions that may be compared with the grounded chances; None: the
            column GROUNDED is not wanted.

    Returns:
        PRIVILEGED, the rows of :func:`privileged_rows`, and GROUNDED ``[N, ROLE_CLASSES] float32``:
        the rows of :func:`grounded_chances` for the first MOST_CHECKS decisions of ``check`` that
        have a label, NaN for all others.
    """
    rows = privileged_rows(state, seats)
    columns: dict[str, npt.NDArray[Any]] = {PRIVILEGED: rows}
    if check is not None:
        chances = np.full((len(rows), ROLE_CLASSES), np.nan, np.float32)
        labelled = (rows[:, FEATURES] != UNLABELLED) & np.asarray(check, bool)
        checked = np.flatnonzero(labelled)[:MOST_CHECKS]
        if len(checked):
            chances[checked] = grounded_chances(engine, state, seats, checked)
        columns[GROUNDED] = chances
    return columns
