"""Deals that agree with the evidence, drawn at random; what is drawn is told in ``worlds``.

What a forced call and the suits of added cards prove is found by drawing again where it does not
hold. Where that takes long the ways are counted (:mod:`lupai.envs.baohuang.counted`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.counted import Counted, too_much
from lupai.envs.baohuang.dealing import Made, lay, scatter
from lupai.envs.baohuang.evidence import Evidence
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.plans import Plan
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import KIND_B, NUM_KINDS
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
CHUNK: Final = 2048  # worlds that are drawn at once
PATIENCE: Final = 4096  # draws at a table before counting is thought of
MAX_DRAWS: Final = 1 << 22  # without a single world that fits, where counting takes too much
_SEATS: Final = np.arange(SEATS)


def draw(plan: Plan, n: int, rng: np.random.Generator) -> tuple[I8, I64]:
    """``n`` worlds for each table: hands ``[N * n, S, 54]`` and who was dealt B* ``[N * n]``.

    Raises:
        LupaiError: no deal agrees with the evidence at a table; or it is too much to count, and
            none was found in a great many draws.
    """
    proofs = plan.proofs
    tables = len(proofs.room)
    hands = np.empty((tables * n, SEATS, NUM_KINDS), np.int8)
    marked = np.empty(tables * n, np.int64)
    found, drawn = np.zeros(tables, np.int64), np.zeros(tables, np.int64)
    kept = np.zeros(tables, np.int64)
    counted: dict[int, Counted] = {}
    tested = bool(plan.tested.any())
    while (need := n - kept).any():
        open_ = np.flatnonzero(need)
        late = open_[plan.tested[open_] & (drawn[open_] >= PATIENCE)].tolist() if tested else []
        for table in late:
            if table not in counted:
                counted[table] = Counted(plan, table)
            cost = counted[table].cost(int(need[table]))
            if cost <= need[table] * (drawn[table] + 2) / (found[table] + 1):
                made = counted.pop(table).draw(int(need[table]), rng)
                hands[table * n + kept[table] : (table + 1) * n] = made.hands
                marked[table * n + kept[table] : (table + 1) * n] = made.marked
                kept[table] = n
            elif found[table] == 0 and drawn[table] >= MAX_DRAWS:
                raise too_much(plan, table, int(drawn[table]))
        if late:
            need = n - kept
            open_ = np.flatnonzero(need)
            if not open_.size:
                break
        rate = np.where(plan.tested, (found + 1) / (drawn + 2), 1.0)[open_]
        tries = np.ceil(need[open_] / rate).astype(np.int64)
        tries = np.maximum(tries * min(1.0, CHUNK / tries.sum()), 1).astype(np.int64)
        made = _candidates(plan, np.repeat(open_, tries), rng)
        drawn[open_] += tries
        hits = np.bincount(made.rows, minlength=tables)
        found += hits
        order = np.arange(len(made.rows)) - (np.cumsum(hits) - hits)[made.rows]
        use = order < need[made.rows]
        made.keep(use)
        at = made.rows * n + kept[made.rows] + order[use]
        hands[at] = made.hands
        marked[at] = made.marked
        kept += np.minimum(hits, need)
    loose = np.flatnonzero(np.repeat(proofs.loose_mark, n))
    if loose.size:
        marked[loose] = _any_b(proofs, loose // n, hands[loose], rng)
    return hands, marked


def _candidates(plan: Plan, rows: I64, rng: np.random.Generator) -> Made:
    """One draw for each of ``rows``; those are left that fit all evidence."""
    proofs = plan.proofs
    made = Made.of(proofs, rows)
    secret = proofs.secret[rows]
    drawn = np.flatnonzero(secret != NOBODY)
    if drawn.size:
        cum = plan.cum[rows[drawn]]
        u = rng.random(len(drawn)) * cum[:, -1]
        seat = np.minimum((u[:, None] >= cum).sum(axis=1), plan.last[rows[drawn]])
        made.give(drawn, seat, secret[drawn])

    for t in range(len(plan.tiers.upper)):
        lay(made, plan.tiers, t, made.rows, rng)
        judged = plan.suited[made.rows] == t
        if judged.any():
            good = ~judged
            i = np.flatnonzero(judged)
            good[i] = proofs.suits_fit(made.rows[i], made.hands[i])
            good[i] &= rng.random(len(i)) < proofs.added_odds(made.rows[i], made.hands[i])
            made.keep(good)
    made.hands += scatter(plan.tiers.lowest[made.rows], made.room, rng)
    asked = plan.asked[made.rows]
    if asked.any():
        good = ~asked
        i = np.flatnonzero(asked)
        good[i] = proofs.triples_fit(made.rows[i], made.hands[i], plan.rules)
        made.keep(good)
    return made


def _any_b(proofs: Evidence, rows: Ints, hands: I8, rng: np.random.Generator) -> I64:
    """Seats that were dealt B*, where it is any B that the viewer was not dealt."""
    dealt = hands[:, :, KIND_B] + proofs.played_b[rows]
    dealt[proofs.viewer[rows, None] == _SEATS] = 0
    until = np.cumsum(dealt, axis=1)
    seat: I64 = (rng.integers(0, until[:, -1])[:, None] >= until).sum(axis=1)
    return seat
