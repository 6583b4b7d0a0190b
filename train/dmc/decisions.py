"""Decisions as plain columns that wait until their hand has ended, and are paid its score then.

Pure numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["SCORE", "Columns", "Waiting", "concatenated", "one_of_each"]

SCORE: Final = "score"

Columns = dict[str, npt.NDArray[Any]]  # each ``[N, ...]``, one row for each decision


def concatenated(parts: Sequence[Mapping[str, npt.NDArray[Any]]]) -> Columns:
    """Rows of all parts, which have the same columns, one after another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def one_of_each(
    hands: npt.NDArray[np.integer],
    seats: npt.NDArray[np.integer],
    some: npt.NDArray[np.bool_],
    draws: npt.NDArray[np.float64],
) -> npt.NDArray[np.bool_]:
    """``[N] bool`` of each seat's decisions in a hand that are among ``some``, one.

    Args:
        hands, seats: ``[N]`` whose they are. some: ``[N]``.
        draws: ``[N]`` uniform; the one with the lowest is taken.
    """
    rows = np.flatnonzero(some)
    key = hands[rows].astype(np.int64) * 8 + seats[rows]
    order = np.lexsort((draws[rows], key))
    kept = np.zeros(len(some), np.bool_)
    kept[rows[order[np.flatnonzero(np.diff(key[order], prepend=-1))]]] = True
    return kept


class Waiting:
    """Decisions of hands that have not ended.

    Attributes:
        columns: ``hand`` and ``seat`` among them; empty: none so far.
    """

    def __init__(self) -> None:
        self.columns: Columns = {}
        self._new: list[Columns] = []

    def add(self, columns: Columns) -> None:
        """Add decisions ``[n, ...]``, the same columns at every call, with ``hand`` (a number that
        is never used for another one) and ``seat``."""
        self._new.append(columns)

    def pay(self, hands: npt.NDArray[np.int64], scores: npt.NDArray[np.int64]) -> Columns:
        """Take out the decisions of the hands that ended.

        Args:
            hands: ``[K]`` their numbers. scores: ``[K, 5]`` final ones.

        Returns:
            Columns ``[N, ...]`` in the order in which they were made, with SCORE ``[N] float32``.
        """
        parts = ([self.columns] if self.columns else []) + self._new
        every, self._new = concatenated(parts), []
        done = np.isin(every["hand"], hands)
        self.columns = {name: column[~done] for name, column in every.items()}
        out = {name: column[done] for name, column in every.items()}
        order = np.argsort(hands)
        which = order[np.searchsorted(hands[order], out["hand"])]
        out[SCORE] = scores[which, out["seat"]].astype(np.float32)
        return out
