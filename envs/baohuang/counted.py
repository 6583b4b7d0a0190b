"""Worlds of one table by the number of ways, where to draw until one fits takes too long.

Each seat of a forced call of which something is still to be proved makes counting longer by a
factor of its places. So a part of them may be left out: the ways are counted without, and worlds
are drawn until one fits what these seats prove too, which about every fifth does for each.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.dealing import Made, Tiers, finish, strew
from lupai.envs.baohuang.placing import Count
from lupai.envs.baohuang.plans import Plan, contradiction
from lupai.envs.baohuang.state import SEATS
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY

I64 = npt.NDArray[np.int64]
CHUNK: Final = 8192  # worlds that are drawn at once
SHARE: Final = 0.2  # of worlds that fit what one more seat of a forced call proves
# In the time of a draw without counting, about 5 µs:
OPERATIONS_PER_DRAW: Final = 1000
COUNTED_DRAW: Final = 30  # such a time for each draw by the number of ways
MOST_KEPT: Final = 1 << 25  # numbers kept for draws: 256 MB
MAX_DRAWS: Final = 1 << 17  # without a single world that fits
_SEATS: Final = np.arange(SEATS)


class Counted:
    """Draws at one table.

    Args:
        plan: of N tables.
        table: the table.
    """

    def __init__(self, plan: Plan, table: int) -> None:
        self.plan, self.table = plan, table
        proofs = plan.proofs
        room, forced = proofs.room[table], int(proofs.forced[table])
        told: list[int] = np.flatnonzero(proofs.skipped[table] & (room > 0)).tolist()
        if forced != NOBODY and room[forced] > 0:
            told.append(forced)
        least = 0 if plan.suited[table] >= 0 else min(1, len(told))
        # by how many seats of the forced call are left out: first the one that was asked
        self.counts = [
            Count(proofs, table, plan.rules, np.isin(_SEATS, told[:many]))
            for many in range(len(told), least - 1, -1)
        ]
        self._share = SHARE  # as far as it is known at this table

    def cost(self, n: int) -> float:
        """About how many draws without counting take as long as ``n`` worlds; infinite: too
        much."""
        return min(self._cost(left, n) for left in range(len(self.counts)))

    def _cost(self, left: int, n: int) -> float:
        count = self.counts[left]
        if count.kept > MOST_KEPT:
            return np.inf
        counting = 0.0 if count.is_ready else count.operations / OPERATIONS_PER_DRAW
        return counting + n * COUNTED_DRAW / self._share**left

    def draw(self, n: int, rng: np.random.Generator) -> Made:
        """``n`` worlds.

        Raises:
            LupaiError: no deal agrees with the evidence; or it is too much to count, and none was
                found in a great many draws.
        """
        plan, table = self.plan, self.table
        parts: list[Made] = []
        need, left, tried, found, vain = n, -1, 0, 0, 0
        while need:
            costs = [self._cost(i, need) for i in range(len(self.counts))]
            best = int(np.argmin(costs))
            if costs[best] == np.inf or vain >= MAX_DRAWS:
                raise too_much(plan, table, vain)
            if best != left:
                if left >= 0:
                    self.counts[left].forget()
                left, tried, found = best, 0, 0
            rate = self._share**left
            draws = min(CHUNK, int(np.ceil(1.1 * need / rate)) if left else need)
            made = self._some(self.counts[left], draws, rng)
            tried += draws
            if left:
                made.keep(plan.proofs.triples_fit(made.rows, made.hands, plan.rules))
                found += len(made.rows)
                prior = SHARE**-left
                self._share = ((found + 1) / (tried + prior)) ** (1 / left)
                vain = 0 if found else vain + draws
            made.keep(np.arange(len(made.rows)) < need)
            need -= len(made.rows)
            parts.append(made)
        self.counts[left].forget()
        return Made.joined(parts)

    def _some(self, count: Count, n: int, rng: np.random.Generator) -> Made:
        """``n`` worlds that fit what is counted."""
        plan, table = self.plan, self.table
        proofs = plan.proofs
        if not count.weights(keep=True).any():
            raise contradiction(plan, table)
        made = Made.of(proofs, np.full(n, table))
        for some, seat, kinds, batches in count.draw(n, rng):
            pool = np.where(kinds, 0, proofs.pool[table]).astype(np.int64)
            part = Made.of(proofs, np.full(len(some), table))
            if count.secret != NOBODY:
                pool[count.secret] -= 1
                part.give(np.arange(len(some)), seat, np.full(len(some), count.secret))
            for seats, cards in batches:
                part.add(strew(cards, part.room * np.isin(_SEATS, seats), rng))
            finish(part, Tiers(pool[None], plan.position[[table]]), rng)
            made.hands[some], made.marked[some] = part.hands, part.marked
        return made


def too_much(plan: Plan, table: int, drawn: int) -> LupaiError:
    """The error for a table whose ways cannot be counted, and at which no draw fits."""
    viewer, skips = int(plan.proofs.viewer[table]), int(plan.proofs.skipped[table].sum())
    who = "a spectator" if viewer == NOBODY else f"seat {viewer}"
    return LupaiError(
        f"table {table}: too much to count or draw for {who} after {skips} skips in a forced call: "
        f"none of {drawn} random worlds agrees with {plan.what(table)}, and counting would take "
        f"more than {MOST_KEPT * 8 >> 20} MB; ask later in the hand"
    )
