"""Tables of the numbers of ways to lay cards kind by kind, and draws back through them.

A *table* ``[G, M, …]`` holds, for each number of places that are taken of each unit but the last
(whose places follow), the number of ways so far; G are guesses, and mark 1 of M says that the seat
that was asked in a forced call has its triple. Every operation makes the next table out of one and
undoes itself for draws; what a unit is says :mod:`lupai.envs.baohuang.ways`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import factorial, prod
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_KINDS

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
NO: Final = -1
#: Logarithms of 0! … 216!
LOG_FACTORIAL: Final = np.cumsum(np.log(np.maximum(np.arange(4 * NUM_KINDS + 1), 1)))


@dataclass
class Draws:
    """Where draws stand in a table: guess, mark ``[n]``, places taken ``[D, n]``."""

    guess: I64
    mark: I64
    taken: I64


class Operation(Protocol):
    """What makes a table of another."""

    def forward(self, table: F64) -> F64:
        """The next table."""
        ...

    def back(self, table: F64, draws: Draws, rng: np.random.Generator) -> I64 | None:
        """Move draws of the next table back into this one; cards that were laid ``[n, U]``."""
        ...


@lru_cache(maxsize=256)
def splits(copies: int, takes: tuple[bool, ...]) -> tuple[I64, F64]:
    """All splits ``[K, U]`` of copies among the units that take them, and how many ways with
    distinct copies each stands for ``[K]``."""
    ranges = [range(copies + 1) if one else range(1) for one in takes]
    found = [split for split in product(*ranges) if sum(split) == copies]
    ways = [factorial(copies) / prod(map(factorial, split)) for split in found]
    return np.array(found, np.int64).reshape(-1, len(takes)), np.array(ways)


@dataclass
class Lay:
    """Lay the copies of a kind.

    Attributes:
        kind: which.
        seats: those of each unit.
        places: ``[U]`` places of the units.
        takes: ``[K, U]`` splits among them. ways: ``[K]`` of each.
        to: ``[G, M, K] int8`` mark after it, by guess and mark before; -1: the evidence says no.
    """

    kind: int
    seats: list[list[int]]
    places: I64
    takes: I64
    ways: F64
    to: npt.NDArray[np.int8]

    def forward(self, table: F64) -> F64:
        old = table.shape[2:]
        most = self.takes.max(axis=0, initial=0)[:-1]
        new = np.minimum(np.array(old, np.int64) + most, self.places[:-1] + 1)
        out = np.zeros((*table.shape[:2], *new.tolist()))
        marks = range(table.shape[1])
        for number, (split, ways) in enumerate(zip(self.takes.tolist(), self.ways, strict=True)):
            size = np.minimum(old, new - split[:-1]).tolist()
            if min(size, default=1) <= 0:
                continue
            source = [slice(n) for n in size]
            target = [slice(a, a + n) for a, n in zip(split[:-1], size, strict=True)]
            for mark, goal in product(marks, marks):
                g = self.to[:, mark, number] == goal
                which: Any = slice(None) if g.all() else g  # a slice is no copy
                if g.any():
                    out[(which, goal, *target)] += ways * table[(which, mark, *source)]
        return out

    def back(self, table: F64, draws: Draws, rng: np.random.Generator) -> I64 | None:
        n, marks = len(draws.mark), table.shape[1]
        old = draws.taken[:, :, None] - self.takes.T[:-1, None, :]  # [D, n, K]
        shape = np.array(table.shape[2:], np.int64)[:, None, None]
        good = ((old >= 0) & (old < shape)).all(axis=0)
        at = np.where(good, old, 0)
        chance = np.empty((n, marks, len(self.ways)))
        for was in range(marks):
            fits = good & (self.to[draws.guess, was] == draws.mark[:, None])
            ways = table[(draws.guess[:, None], was, *at)] * self.ways
            chance[:, was] = np.where(fits, ways, 0)
        choice = pick(np.cumsum(chance.reshape(n, -1), axis=1), rng.random(n))
        was_, number = np.divmod(choice, len(self.ways))
        draws.mark, draws.taken = was_, old[:, np.arange(n), number]
        return self.takes[number]


@dataclass
class Open:
    """Begin to guess.

    Attributes:
        odds: ``[G]`` of the guesses.
    """

    odds: F64

    def forward(self, table: F64) -> F64:
        return table * self.odds.reshape(-1, *[1] * (table.ndim - 1))

    def back(self, table: F64, draws: Draws, rng: np.random.Generator) -> I64 | None:
        draws.guess = np.zeros_like(draws.guess)
        return None


class Close:
    """Add up the guesses."""

    def forward(self, table: F64) -> F64:
        added: F64 = table.sum(axis=0, keepdims=True)
        return added

    def back(self, table: F64, draws: Draws, rng: np.random.Generator) -> I64 | None:
        chance = table[(slice(None), draws.mark, *draws.taken)].T
        draws.guess = pick(np.cumsum(chance, axis=1), rng.random(len(chance)))
        return None


@dataclass
class Merge:
    """Of a unit everything that is proved has been used: it joins the last unit.

    Attributes:
        unit: which.
        places: ``[U]`` places of the units before.
        laid: cards laid so far.
    """

    unit: int
    places: I64
    laid: int

    def _split(self, table: F64) -> F64:
        """The table with each number times the ways to share the places that are left."""
        taken = np.indices(table.shape[2:], np.int64)
        mine = self.places[self.unit] - taken[self.unit]
        theirs = self.places[-1] - self.laid + taken.sum(axis=0)
        good = (mine >= 0) & (theirs >= 0)
        mine, theirs = np.maximum(mine, 0), np.maximum(theirs, 0)
        both = np.minimum(mine + theirs, len(LOG_FACTORIAL) - 1)
        log = LOG_FACTORIAL[both] - LOG_FACTORIAL[mine] - LOG_FACTORIAL[theirs]
        return table * np.where(good, np.exp(log), 0)

    def forward(self, table: F64) -> F64:
        added: F64 = self._split(table).sum(axis=2 + self.unit, keepdims=True)
        return added

    def back(self, table: F64, draws: Draws, rng: np.random.Generator) -> I64 | None:
        here = np.moveaxis(self._split(table), 2 + self.unit, -1)
        others = np.delete(draws.taken, self.unit, axis=0)
        chance = here[(draws.guess, draws.mark, *others)]
        draws.taken[self.unit] = pick(np.cumsum(chance, axis=1), rng.random(len(chance)))
        return None


def pick(cum: F64, u: F64) -> I64:
    """Columns ``[n]`` that numbers ``u [n]`` in [0, 1) fall on, by running sums ``[K]`` or
    ``[n, K]``, of which none of no weight is picked."""
    if cum.ndim == 1:
        at = np.searchsorted(cum, u * cum[-1], side="right")
        last = np.searchsorted(cum, cum[-1], side="left")
    else:
        at = (u[:, None] * cum[:, -1:] >= cum).sum(axis=1)
        last = (cum < cum[:, -1:]).sum(axis=1)
    columns: I64 = np.minimum(at, last).astype(np.int64)
    return columns
