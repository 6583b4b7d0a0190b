"""Columns of some tables by name, to read and change: one contiguous array each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.state import COLUMN, I32, State

__all__ = ["Columns"]


class Columns:
    """Columns ``[N] int32`` of N tables of a state; :meth:`store` writes them back.

    Args:
        state: the tables.
        t: ``[N]`` their numbers.
    """

    def __init__(self, state: State, t: npt.NDArray[np.integer]) -> None:
        object.__setattr__(self, "array", np.ascontiguousarray(state.numbers[t].T))

    array: I32

    def __getattr__(self, name: str) -> Any:
        try:
            return self.array[COLUMN[name]]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.array[COLUMN[name]] = value

    def store(self, state: State, t: npt.NDArray[np.integer]) -> None:
        """Write all columns back."""
        state.numbers[t] = self.array.T
