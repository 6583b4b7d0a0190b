"""The number of deals that agree with all evidence at a table, by the place of the secret card.

:mod:`lupai.envs.baohuang.ways` counts them. Where the suits of added cards matter it does so once
for each unit that the card which makes the role can be in, else for all at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.evidence import Evidence
from lupai.envs.baohuang.laying import pick
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.baohuang.ways import Batch, Seen, Ways
from lupai.envs.cards import KIND_B, RANK_OF_KIND
from lupai.envs.seats import NOBODY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
MOST_AT_ONCE: Final = 1 << 23  # numbers: 64 MB


class Count:
    """The ways at one table.

    Args:
        proofs: evidence of N tables, in none of which marks make the roles.
        table: the table.
        rules: for the kinds that may be called.
        told: ``[S] bool`` seats of which it counts what a forced call proves; without it all.

    Attributes:
        secret: kind of the card whose place is open, or -1.
        operations: about how many additions counting takes.
        kept: how many numbers are kept at once for draws.
        at_once: whether what draws need is kept of all passes from the first to the last draw,
            else of one after the other, each counted again.
    """

    def __init__(
        self, proofs: Evidence, table: int, rules: Rules, told: Bools | None = None
    ) -> None:
        seen = Seen.of(proofs, table, rules, told)
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
        total = sum(kept for _, kept in sizes)
        self.at_once = total <= MOST_AT_ONCE
        self.kept = total if self.at_once else max(kept for _, kept in sizes)
        self._weights: F64 | None = None

    @property
    def is_ready(self) -> bool:
        """Whether draws need no more counting."""
        kept = self.at_once and all(one.is_kept for _, one in self._passes)
        return kept and self._weights is not None

    def forget(self) -> None:
        """Give the memory back that draws need."""
        for _, one in self._passes:
            one.forget()

    def weights(self, keep: bool = False) -> F64:
        """``[S]`` ways with the secret card at each seat, up to a factor; without one the sum of
        all ways at seat 0. All zero: no deal agrees with the evidence.

        Args:
            keep: keep what draws need, if it is not too much, so that nothing is counted twice.
        """
        if self._weights is None:
            logs = [one.log_ways(keep and self.at_once) for _, one in self._passes]
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
            if not self.at_once:
                one.forget()
