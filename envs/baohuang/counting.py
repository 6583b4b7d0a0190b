"""The number of deals that agree with all evidence at a table, by the place of the secret card.

:mod:`lupai.envs.baohuang.ways` counts them. Where the suits of added cards matter it does so once
for each unit that the card which makes the role can be in, else for all at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.evidence import Evidence
from lupai.envs.baohuang.laying import (
    pick,
)
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.baohuang.ways import Batch, Seen, Ways
from lupai.envs.cards import KIND_B, RANK_OF_KIND
from lupai.envs.seats import NOBODY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Count:
    """The ways at one table.

    Args:
        proofs: evidence of N tables, in none of which marks make the roles.
        table: the table.
        rules: for the kinds that may be called.

    Attributes:
        secret: kind of the card whose place is open, or -1.
        operations: about how many additions counting takes.
        cells: how many numbers the largest table holds.
    """

    def __init__(self, proofs: Evidence, table: int, rules: Rules) -> None:
        seen = Seen.of(proofs, table, rules)
        self.secret = seen.secret
        odds = np.where(seen.open_, proofs.odds[table], 0)
        if NOBODY < seen.secret < KIND_B:
            odds[RANK_OF_KIND[seen.secret] > seen.bound] = 0
        whole = Ways(seen)
        places = np.zeros(SEATS)
        for unit in whole.units:
            places[unit] = seen.room[unit].sum()
        self._shares = seen.room * odds / np.maximum(places, 1)
        # of each pass for the secret card, the units whose places for it it gives
        self._passes: list[tuple[list[list[int]], Ways]] = [(whole.units, whole)]
        if seen.secret != NOBODY and seen.suited.any():
            self._passes = [
                ([unit], Ways(seen.placed(int(unit[seen.room[unit].argmax()]))))
                for unit in whole.units
                if self._shares[unit].any()
            ]
        sizes = [one.size for _, one in self._passes]
        self.operations = sum(operations for operations, _ in sizes)
        self.cells = max((cells for _, cells in sizes), default=0.0)
        self._weights: F64 | None = None

    def weights(self) -> F64:
        """``[S]`` ways with the secret card at each seat, up to a factor; without one the sum of
        all ways at seat 0. All zero: no deal agrees with the evidence."""
        if self._weights is None:
            logs = [one.log_ways() for _, one in self._passes]
            most = max((float(log.max()) for log in logs), default=-np.inf)
            self._weights = np.zeros(SEATS)
            for log, (units, _) in zip(logs, self._passes, strict=True):
                ways = np.exp(log - most) if most > -np.inf else np.zeros(len(log))
                if self.secret == NOBODY:
                    self._weights[0] = ways[0]
                    continue
                for way, unit in zip(ways.tolist(), units, strict=True):
                    self._weights[unit] = way * self._shares[unit]
        return self._weights

    def draw(
        self, n: int, rng: np.random.Generator
    ) -> Iterator[tuple[I64, I64, Bools, list[Batch]]]:
        """``n`` exact draws in parts; :meth:`weights` must not be all zero.

        Yields:
            numbers of some draws ``[m]``; the seat of their secret card ``[m]``, -1 without one;
            ``[54] bool`` the kinds that were laid for them, never the secret card; and what was
            laid, in batches that go to random places of their seats one after the other.
        """
        seat = np.full(n, NOBODY)
        if self.secret != NOBODY:
            seat = pick(np.cumsum(self.weights()), rng.random(n))
        for units, one in self._passes:
            unit_of = np.full(SEATS + 1, 0)
            for number, unit in enumerate(units):
                unit_of[unit] = number
            some = np.arange(n)
            if self.secret != NOBODY:
                some = np.flatnonzero(np.isin(seat, [s for unit in units for s in unit]))
            if some.size:
                yield some, seat[some], one.kinds, one.draw(unit_of[seat[some]], rng)
