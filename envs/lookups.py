"""Sections of a vector that follow from a few small numbers of a table, looked up in one table.

The numbers are columns of ``State.numbers`` and the seat of the viewer. What a :class:`Lookup`
writes is worked out once for all values that its numbers can take; those rows lie in mixed radix
order, so a row number is linear in the numbers, and one matrix product gives the row numbers of all
lookups at all tables (exact in float32: they are far below 2**24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.packed import PackedTables

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[np.integer]

VIEWER: Final = "viewer"
WIDTH: Final = 18  # bytes of a row; what is wider takes several


@dataclass(frozen=True)
class Lookup:
    """Neighbouring sections that follow from some numbers; a game's subclass has the class
    attributes.

    Class attributes:
        ranges: smallest and largest value of each number.
        tables: class of the states whose columns they are.

    Attributes:
        sections: their names, in the order of the layout.
        numbers: columns, and :data:`VIEWER`.
        write: what the sections hold, ``[n, bytes]``, given ``[n]`` values of each number.
    """

    ranges: ClassVar[Mapping[str, tuple[int, int]]]
    tables: ClassVar[type[PackedTables]]

    sections: tuple[str, ...]
    numbers: tuple[str, ...]
    write: Callable[..., npt.NDArray[Any]]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many values each number takes."""
        return tuple(self.ranges[name][1] - self.ranges[name][0] + 1 for name in self.numbers)

    def combinations(self) -> list[Ints]:
        """Values of each number in all combinations, the last number running fastest."""
        grid = np.indices(self.counts).reshape(len(self.numbers), -1)
        return [
            column + self.ranges[name][0] for name, column in zip(self.numbers, grid, strict=True)
        ]

    def rows(self) -> I8:
        """``[combinations, bytes] int8``."""
        return self.write(*self.combinations()).astype(np.int8)


class LookupTable:
    """Some lookups as one table.

    Attributes:
        rows: ``[R, WIDTH] int8``, filled up with zeros.
        weights: ``[F, K] float32``: what each number adds to the K row numbers.
        by_viewer: ``[S, K] float32``: what the viewer adds, and where each lookup's rows begin.
        spans: where each lookup's bytes are in the ``[N, K * WIDTH]`` that are taken.
    """

    def __init__(self, lookups: Sequence[Lookup]) -> None:
        pieces: list[I8] = []
        weights: list[npt.NDArray[np.float64]] = []
        self.spans: list[tuple[slice, slice]] = []
        first = 0
        column, seats = lookups[0].tables.COLUMN, lookups[0].ranges[VIEWER][1] + 1
        for lookup in lookups:
            values = lookup.rows()
            start = len(pieces) * WIDTH
            self.spans.append((slice(None), slice(start, start + values.shape[1])))
            of_numbers, of_viewer = np.zeros(len(column)), np.zeros(seats)
            for i, name in enumerate(lookup.numbers):
                step = prod(lookup.counts[i + 1 :])
                if name == VIEWER:
                    of_viewer += step * np.arange(seats)
                else:
                    of_numbers[column[name]] = step
                    of_viewer -= step * lookup.ranges[name][0]
            for left in range(0, values.shape[1], WIDTH):
                part = values[:, left : left + WIDTH]
                pieces.append(np.pad(part, ((0, 0), (0, WIDTH - part.shape[1]))))
                weights.append(np.concatenate([of_numbers, of_viewer + first]))
                first += len(part)
        self.rows = np.concatenate(pieces)
        assert len(self.rows) < 1 << 24
        together = np.stack(weights, axis=1).astype(np.float32)
        self.weights, self.by_viewer = together[: len(column)], together[len(column) :]

    def take(self, numbers: npt.NDArray[np.integer], viewer: Ints) -> list[I8]:
        """``[N, bytes] int8`` of each lookup.

        Args:
            numbers: ``[N, F]`` rows of ``State.numbers``.
            viewer: ``[N] intp`` seats.
        """
        index = np.dot(numbers.astype(np.float32), self.weights)
        index += self.by_viewer.take(viewer, axis=0)
        taken = self.rows.take(index.astype(np.intp), axis=0).reshape(len(numbers), -1)
        return [taken[span] for span in self.spans]
