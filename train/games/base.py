"""The interface between training, which knows no game, and a game. Neither torch nor Ray."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.layout import Layout

__all__ = ["Bands", "TrainingGame"]

Bands = Mapping[str, tuple[float, float]]  # lowest and highest rate, by its name
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[np.integer[Any]]
Points = Callable[[Any, Any], I64]  # of a state under rules, [B, S]


def point_stakes(state: Any) -> npt.NDArray[np.float32]:
    """A point, whatever the hand."""
    return np.ones(len(state), np.float32)


@dataclass(frozen=True)
class TrainingGame:
    """A game as training sees it.

    Attributes:
        name: of the game, as its engine has it.
        seats: S, of a table.
        roles: names by which scores are told apart in the metrics.
        seat_roles: ``[B, S] int8`` index into ``roles`` of every seat at tables that are over.
        rare: role whose share of the hands is a metric of its own; "": there is none.
        layout: of the rows of what a critic may see and a player may not. The section ``ranks``
            has the cards of all hands; the last column is a label of who is guard,
            :data:`~lupai.train.privileged.UNLABELLED` in games without.
        privileged_rows: WARNING, god's eye: ``[N, D] int8`` by ``layout``, of N tables and the seat
            ``[N]`` that decides at each.
        learner_columns: WARNING, god's eye: columns of the learner's batch by name, of an engine,
            N tables, seats ``[N]`` and the decisions ``[N] bool`` that may be compared with
            grounded chances, None: none.
        points: final scores.
        credits: points paid so far, by kind of reward; the kind ``score`` is every game's.
        potential: Φ ``[B, S] float64`` of the kind of that name; None: the game has no such kind.
        stakes: ``[B] float32`` points that are one stake at each table, by which what is judged in
            different hands is made alike.
        guards: whether a seat's role may be hidden: role heads, and policies by role.
        rates: of `greedy` and `tactical`, by preset, see :mod:`lupai.train.watchdog`.
    """

    name: str
    seats: int
    roles: tuple[str, ...]
    seat_roles: Callable[[Any], I8]
    layout: Layout
    privileged_rows: Callable[[Any, Ints], I8]
    learner_columns: Callable[[Any, Any, Ints, Any], dict[str, npt.NDArray[Any]]]
    points: Points
    credits: Mapping[str, Points] = field(default_factory=dict)
    potential: Callable[[Any, Any], F64] | None = None
    stakes: Callable[[Any], npt.NDArray[np.float32]] = point_stakes
    rare: str = ""
    guards: bool = False
    rates: Mapping[str, Bands] = field(default_factory=dict)

    @property
    def reward_kinds(self) -> tuple[str, ...]:
        """Kinds of reward, see :mod:`lupai.train.rewards`."""
        return ("score", *self.credits, *(("potential",) if self.potential is not None else ()))
