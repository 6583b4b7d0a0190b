"""Deals that agree with the evidence, drawn at random; what is drawn is told in ``worlds``.

The unseen cards are dealt to the unseen places in tiers of ranks from the top: whoever added a card
to the tribute pile takes no higher natural, so the seats that take a rank are nested, and the
number of ways for the lower tiers does not depend on how the higher ones lie. The card that makes
the role goes first, to seat j with weight

    (places of j) · Π over higher ranks x that j takes of (places left below x) / (places for x),

which counts the ways for the rest. What a forced call and the suits of added cards prove is found
by drawing again where it does not hold. Where that takes long the ways are counted
(:mod:`lupai.envs.baohuang.counting`), and the rest is drawn by their number.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.counting import Count
from lupai.envs.baohuang.dealing import Made, Tiers, finish, lay, scatter, strew
from lupai.envs.baohuang.evidence import TOP, Evidence
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import KIND_B, KIND_TEXTS, NUM_KINDS, RANK_OF_KIND
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
CHUNK: Final = 2048  # worlds that are drawn at once
PATIENCE: Final = 4096  # draws at a table before counting is thought of
OPERATIONS_PER_DRAW: Final = 3000  # of counting, in the time of a draw
MOST_CELLS: Final = 1 << 19  # of a table of counts: some hundred MB for draws, which need them all
MAX_DRAWS: Final = 1 << 22  # without a single world that fits, where counting takes too much
_SEATS: Final = np.arange(SEATS)


def contradiction(plan: Plan, table: int) -> LupaiError:
    """The error for a table that no deal fits."""
    return LupaiError(f"table {table}: no deal agrees with {plan.what(table)}")


class Plan:
    """Evidence of N tables made ready for drawing.

    Attributes:
        weight: ``[N, S]`` ways to lay the cards with the secret one at each seat, up to a factor;
            what is tested (suits of added cards, a forced call) not looked at.
        cum, last: ``[N, S]`` running sums of the weights of the seats for the secret card, and the
            last seat ``[N]`` that has one.
        position: ``[N, S]`` as for :class:`Tiers`.
        suited: ``[N]`` tier after which the suits of added cards can be judged, -1: nothing to do.
        asked: ``[N] bool`` a forced call has something to say of the unseen cards.
        tested: ``[N] bool`` worlds are tested for one or both.
    """

    def __init__(self, proofs: Evidence, rules: Rules) -> None:
        self.proofs, self.rules = proofs, rules
        room, bound = proofs.room, proofs.bound
        rows = np.arange(len(room))
        pool = proofs.pool.copy()
        drawn = proofs.secret != NOBODY
        pool[rows[drawn], proofs.secret[drawn]] -= 1
        self._check(pool, drawn)

        self.position = np.where(room > 0, TOP - bound, 0)
        suited = proofs.suited & (room > 0)
        lowest = np.where(suited, TOP - bound, -1).max(axis=1)
        judged = lowest >= 0
        cut = np.zeros((len(room), TOP + 2), bool)
        cut[rows[judged], lowest[judged] + 1] = True
        self.tiers = Tiers(pool, self.position, cut)
        self.suited = np.where(judged, self.tiers.tier[rows, lowest], -1)
        forced = np.maximum(proofs.forced, 0)
        skips = proofs.skipped & (room > 0)
        asked = (proofs.forced != NOBODY) & (room[rows, forced] > 0)
        self.asked = np.logical_or.reduce(skips, axis=1) | asked
        self.tested = judged | self.asked
        self._weigh(pool)

    def count(self, table: int) -> Count:
        """The ways at a table."""
        return Count(self.proofs, table, self.rules)

    def what(self, table: int) -> str:
        """Evidence that worlds of a table are tested for, as text."""
        parts = []
        if self.suited[table] >= 0:
            seats = np.flatnonzero(self.proofs.suited[table]).tolist()
            parts.append(f"the suits of the cards added by seats {seats}")
        if self.asked[table]:
            seats = np.flatnonzero(self.proofs.skipped[table]).tolist()
            parts.append(
                f"the forced call (skipped: seats {seats}, asked: {self.proofs.forced[table]})"
            )
        return " and ".join(parts)

    def _check(self, pool: I8, drawn: npt.NDArray[np.bool_]) -> None:
        proofs = self.proofs
        nowhere = ~((proofs.room > 0) & (proofs.odds > 0)).any(axis=1)
        wrong = np.flatnonzero(drawn & (nowhere | (pool < 0).any(axis=1)))
        if wrong.size:
            card = KIND_TEXTS[proofs.secret[wrong[0]]]
            raise LupaiError(f"table {wrong[0]}: no place for the card {card} that makes the role")

    def _weigh(self, pool: I8) -> None:
        """Weights of the seats for the secret card; see the module's docstring."""
        proofs, position = self.proofs, self.position
        by_rank = pool[:, :KIND_B].reshape(len(pool), -1, 4).sum(axis=2)[:, ::-1]
        above = np.cumsum(by_rank, axis=1)
        takes = position[:, :, None] <= np.arange(TOP + 1)
        places = (proofs.room[:, :, None] * takes).sum(axis=1)
        before = places - above + by_rank
        left = np.where(before > 0, (places - above) / np.maximum(before, 1), 1.0)
        rank = RANK_OF_KIND[proofs.secret]  # without a secret card this is not read
        own = np.where(rank > TOP, TOP + 1, TOP - rank)[:, None]
        higher = takes & (np.arange(TOP + 1) < own)[:, None]
        weight = np.where(higher, left[:, None], 1.0).prod(axis=2)
        weight *= proofs.room * proofs.odds * (position <= own)
        self.weight = weight
        self.cum = np.cumsum(weight, axis=1)
        self.last = SEATS - 1 - (weight[:, ::-1] > 0).argmax(axis=1)


def draw(plan: Plan, n: int, rng: np.random.Generator) -> tuple[I8, I64]:
    """``n`` worlds for each table: hands ``[N * n, S, 54]`` and who was dealt B* ``[N * n]``.

    Raises:
        LupaiError: no deal agrees with the evidence at a table; or, where counting takes too much,
            none was found in a great many draws.
    """
    proofs = plan.proofs
    tables = len(proofs.room)
    hands = np.empty((tables * n, SEATS, NUM_KINDS), np.int8)
    marked = np.empty(tables * n, np.int64)
    found, drawn = np.zeros(tables, np.int64), np.zeros(tables, np.int64)
    kept = np.zeros(tables, np.int64)
    counts: dict[int, Count] = {}
    while (need := n - kept).any():
        open_ = np.flatnonzero(need)
        for table in open_[plan.tested[open_] & (drawn[open_] >= PATIENCE)].tolist():
            if table not in counts:
                counts[table] = plan.count(table)
            if _is_quicker(counts[table], int(drawn[table])):
                made = _counted(plan, counts[table], table, int(need[table]), rng)
                hands[table * n + kept[table] : (table + 1) * n] = made.hands
                marked[table * n + kept[table] : (table + 1) * n] = made.marked
                kept[table] = n
        need = n - kept
        open_ = np.flatnonzero(need)
        if not open_.size:
            break
        hopeless = open_[(found[open_] == 0) & (drawn[open_] >= MAX_DRAWS)]
        if hopeless.size:
            table = int(hopeless[0])
            raise LupaiError(
                f"table {table}: none of {drawn[table]} random worlds agrees with "
                f"{plan.what(table)}"
            )
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


def _is_quicker(count: Count, drawn: int) -> bool:
    """Whether counting would have taken less time than so many draws."""
    return count.cells <= MOST_CELLS and drawn >= count.operations / OPERATIONS_PER_DRAW


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


def _counted(plan: Plan, count: Count, table: int, n: int, rng: np.random.Generator) -> Made:
    """``n`` worlds of a table by the number of ways."""
    proofs = plan.proofs
    if not count.weights().any():
        raise contradiction(plan, table)
    made = Made.of(proofs, np.full(n, table))
    for first in range(0, n, CHUNK):
        for some, seat, kinds, batches in count.draw(min(CHUNK, n - first), rng):
            pool = np.where(kinds, 0, proofs.pool[table]).astype(np.int64)
            part = Made.of(proofs, np.full(len(some), table))
            if count.secret != NOBODY:
                pool[count.secret] -= 1
                part.give(np.arange(len(some)), seat, np.full(len(some), count.secret))
            for seats, cards in batches:
                part.add(strew(cards, part.room * np.isin(_SEATS, seats), rng))
            finish(part, Tiers(pool[None], plan.position[[table]]), rng)
            made.hands[first + some], made.marked[first + some] = part.hands, part.marked
    return made


def _any_b(proofs: Evidence, rows: Ints, hands: I8, rng: np.random.Generator) -> I64:
    """Seats that were dealt B*, where it is any B that the viewer was not dealt."""
    dealt = hands[:, :, KIND_B] + proofs.played_b[rows]
    dealt[proofs.viewer[rows, None] == _SEATS] = 0
    until = np.cumsum(dealt, axis=1)
    seat: I64 = (rng.integers(0, until[:, -1])[:, None] >= until).sum(axis=1)
    return seat
