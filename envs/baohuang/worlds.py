"""Worlds that a seat can imagine: complete tables that agree with all it knows, drawn at random.

Definition. All cards are distinct physical cards. Those that have been played, shown or handed on
are known by where they were seen; the own hand is known. Every way in which the unseen cards can
lie in the unseen places that is consistent with the public record is equally likely. There is no
inference from how somebody plays: only from what the rules do not allow to happen otherwise
(:mod:`lupai.envs.baohuang.evidence` lists it). Three conventions go with it:

* R* is spent with the first R that its holder plays (nobody is told which of them it was), so
  until then he holds an R; the same holds for a B* that is public, and for cards that were shown:
  the first that their holder plays of that kind are those.
* B* is, while the role is hidden, one card among the unseen B's (to play it as such reveals).
  Where it has lost its meaning, after an open solo or a grab, it is any B that was not dealt to
  the viewer, played or not.
* The roles follow from the cards: who holds the fourth copy of the called card, or B*, is guard,
  and if that is the emperor he is secretly alone.

Sampling is exact. The unseen cards are dealt to the unseen places in tiers of ranks from the top:
whoever added a card to the tribute pile takes no higher natural, so the seats that take a rank are
nested, and the number of ways for the lower tiers does not depend on how the higher ones lie. The
card that makes the role goes first, to seat j with weight

    (places of j) · Π over higher ranks x that j takes of (places left below x) / (places for x),

which counts the ways for the rest. What the suits of added cards and a forced call prove is found
by drawing again where it does not hold.

Worlds carry no seed. So that no step needs one they count as given deals: a void ends the hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang import evidence, hidden
from lupai.envs.baohuang.evidence import TOP, Evidence
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.cards import KIND_B, KIND_TEXTS, NUM_KINDS, RANK_OF_KIND
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
CHUNK: Final = 2048  # worlds that are drawn at once
SAMPLE: Final = 1024  # worlds drawn where no formula gives a chance
MAX_DRAWS: Final = 1 << 22  # without a single world that fits
_SLOTS: Final = 64  # a power of two above the kinds
_PAD: Final = 63  # stands for no place
_RANDOM: Final = ~np.uint64(0xFF)
_SEATS: Final = np.arange(SEATS)


def determinize(
    masked: State, viewer: Ints, n: int, rng: np.random.Generator, rules: Rules
) -> State:
    """``n`` worlds for each of N viewers, ``[N * n]`` tables, those of a viewer in a row.

    Args:
        masked: N tables from :func:`~lupai.envs.baohuang.hidden.mask_hidden`.
        viewer: ``[N]`` whose view each is, -1 for a spectator's.
        n: worlds for each, at least 1.
        rng: all randomness.

    Raises:
        LupaiError: the record contradicts itself, or no world was found in a great many draws;
            names the table and the evidence.
    """
    proofs = evidence.gather(masked, viewer, rules)
    hands, marked = _draw(_Plan(proofs), n, rng, rules)
    rows = np.repeat(np.arange(len(masked)), n)
    worlds = masked.take(rows)
    hidden.complete(worlds, viewer[rows], hands, marked, rules)
    worlds.injected = 1
    return worlds


def consistent(
    masked: State, viewer: Ints, hands: I8, marked_b: Ints | None, rules: Rules
) -> npt.NDArray[np.bool_]:
    """``[N] bool``: whether a guess could be true: whether :func:`determinize` can draw it.

    Args:
        masked, viewer: as for :func:`determinize`.
        hands: ``[N, S, 54] int8`` all hands.
        marked_b: ``[N]`` who was dealt B*; under rules with marks only.
    """
    proofs = evidence.gather(masked, viewer, rules)
    rows = np.arange(len(masked))
    loose = hands - proofs.known
    good = (loose.sum(axis=1) == proofs.pool).all(axis=1)
    good &= (loose.sum(axis=2) == proofs.room).all(axis=1)
    good &= (loose.reshape(len(loose), -1) >= 0).all(axis=1)
    good &= proofs.ranks_fit(rows, hands) & proofs.suits_fit(rows, hands)
    good &= proofs.triples_fit(rows, hands, rules)
    secret = proofs.secret
    if marked_b is None:
        holder = loose[rows, :, secret].argmax(axis=1)
    else:
        holder = np.asarray(marked_b, np.intp)
        good &= (proofs.marked == NOBODY) | (proofs.marked == holder)
        dealt = hands[rows, holder, KIND_B] + masked.played[rows, holder, KIND_B] > 0
        good &= ~proofs.loose_mark | (dealt & (holder != viewer))
    holds = (loose[rows, holder, secret] > 0) & proofs.may_hold[rows, holder]
    fits: npt.NDArray[np.bool_] = good & ((secret == NOBODY) | holds)
    return fits


def guard_chances(
    masked: State, viewer: Ints, rules: Rules, worlds: int = SAMPLE
) -> npt.NDArray[np.float64]:
    """``[N, S + 1]`` chance that each seat is guard, last that the emperor is secretly alone, if
    all consistent deals are equally likely; zeros before there is an emperor.

    Exact, by the number of ways; only where a forced call or the suit of an added card tells
    something of the unseen cards it is the share among ``worlds`` drawn ones, the same ones at
    every call.

    Args:
        masked, viewer: as for :func:`determinize`.
        worlds: see above.
    """
    n = len(masked)
    proofs = evidence.gather(masked, viewer, rules)
    plan = _Plan(proofs)
    emperor = masked.emperor.astype(np.intp)
    chances = np.zeros((n, SEATS + 1))
    known = np.flatnonzero((proofs.secret == NOBODY) & (emperor != NOBODY))
    guard = masked.guard[known].astype(np.intp)
    chances[known, np.where(guard == NOBODY, SEATS, guard)] = 1
    open_ = np.flatnonzero((proofs.secret != NOBODY) & (emperor != NOBODY))
    chances[open_, :SEATS] = plan.weight[open_] / plan.weight[open_].sum(axis=1, keepdims=True)
    for table in open_[plan.asked[open_] | (plan.suited[open_] >= 0)].tolist():
        rng = np.random.default_rng(0)  # for each table: beside others the answer is the same
        drawn = determinize(masked.take([table]), viewer[[table]], worlds, rng, rules)
        holder = np.where(drawn.guard == NOBODY, drawn.emperor, drawn.guard).astype(np.intp)
        chances[table, :SEATS] = np.bincount(holder, minlength=SEATS) / worlds
    chances[open_, SEATS] = chances[open_, emperor[open_]]
    chances[open_, emperor[open_]] = 0
    return chances


class _Plan:
    """Evidence of N tables made ready for drawing.

    Attributes:
        weight: ``[N, S]`` ways to lay the cards with the secret one at each seat, up to a factor;
            what is left to chance (suits of added cards, a forced call) not looked at.
        cum, last: ``[N, S]`` running sums of the weights of the seats for the secret card, and the
            last seat ``[N]`` that has one.
        first: ``[N, S]`` tier from which on a seat takes cards.
        suited: ``[N]`` tier after which the suits of added cards can be judged, -1: nothing to do.
        asked: ``[N] bool`` a forced call has something to say of the unseen cards.
        upper: cards of each tier but the last, ``[N, M]`` kinds in a row, and their number ``[N]``.
        lowest: ``[N, M] uint64`` kinds of the last tier, which fills all places that are left.
    """

    def __init__(self, proofs: Evidence) -> None:
        self.proofs = proofs
        room, bound = proofs.room, proofs.bound
        n = len(room)
        rows = np.arange(n)
        pool = proofs.pool.copy()
        drawn = proofs.secret != NOBODY
        pool[rows[drawn], proofs.secret[drawn]] -= 1
        self._check(pool, drawn)

        # positions 0 … 12 are the natural ranks from the top, 13 the jokers
        position = np.where(room > 0, TOP - bound, 0)
        suited = proofs.suited & (room > 0)
        lowest = np.where(suited, TOP - bound, -1).max(axis=1)
        cut = (np.arange(TOP + 2) == position[:, :, None]).any(axis=1)
        cut[:, 0] = False
        judged = lowest >= 0
        cut[rows[judged], lowest[judged] + 1] = True
        tier = np.cumsum(cut, axis=1)
        self.first = np.take_along_axis(tier, position, axis=1)
        self.suited = np.where(judged, tier[rows, lowest], -1)
        of_kind = tier[:, np.minimum(TOP - RANK_OF_KIND, TOP + 1)]
        of_kind[:, KIND_B:] = tier[:, -1:]
        forced = np.maximum(proofs.forced, 0)
        skips = proofs.skipped & (room > 0)
        asked = (proofs.forced != NOBODY) & (room[rows, forced] > 0)
        self.asked = np.logical_or.reduce(skips, axis=1) | asked

        self.upper = [
            (_listed(mine), mine.sum(axis=1))
            for t in range(int(tier.max(initial=0)))
            for mine in (pool * ((of_kind == t) & (t < tier[:, -1:])),)
        ]
        self.lowest = _listed(pool * (of_kind == tier[:, -1:])).astype(np.uint64)
        self._weigh(pool, position)

    def _check(self, pool: I8, drawn: npt.NDArray[np.bool_]) -> None:
        proofs = self.proofs
        nowhere = ~((proofs.room > 0) & proofs.may_hold).any(axis=1)
        wrong = np.flatnonzero(drawn & (nowhere | (pool < 0).any(axis=1)))
        if wrong.size:
            card = KIND_TEXTS[proofs.secret[wrong[0]]]
            raise LupaiError(f"table {wrong[0]}: no place for the card {card} that makes the role")

    def _weigh(self, pool: I8, position: I64) -> None:
        """Weights of the seats for the secret card; see the module's docstring."""
        proofs = self.proofs
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
        weight *= proofs.room * (proofs.may_hold & (position <= own))
        self.weight = weight
        self.cum = np.cumsum(weight, axis=1)
        self.last = SEATS - 1 - (weight[:, ::-1] > 0).argmax(axis=1)

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


def _listed(counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """``[N, M]`` each card of ``counts [N, 54]`` by its kind; shorter rows end with no cards."""
    total = counts.sum(axis=1)
    codes = np.full((len(counts), int(total.max(initial=0))), _PAD)
    kinds = np.broadcast_to(np.arange(NUM_KINDS), counts.shape).ravel()
    codes[np.arange(codes.shape[1]) < total[:, None]] = np.repeat(kinds, counts.ravel())
    return codes


def _scatter(codes: npt.NDArray[np.uint64], room: I64, rng: np.random.Generator) -> I8:
    """Lay cards ``[C, M]`` at random into the places ``room [C, S]``, which they fill.

    Returns:
        ``[C, S, 54]`` how many of each kind lie with each seat.
    """
    c, most = codes.shape
    until = np.cumsum(room, axis=1, dtype=np.int16)
    place = np.arange(most, dtype=np.int16)
    keys = rng.integers(0, 1 << 64, (c, most), dtype=np.uint64)
    keys &= _RANDOM
    keys |= codes
    if (until[:, -1] < most).any():
        keys[place >= until[:, -1:]] = _RANDOM | np.uint64(_PAD)
    keys.sort(axis=1)
    seat = np.zeros((c, most), np.uint8)
    for s in range(SEATS - 1):
        seat += place >= until[:, s, None]
    index = keys.view(np.int64)
    index &= _SLOTS - 1
    index += seat.astype(np.int64) * _SLOTS
    index += np.arange(0, c * SEATS * _SLOTS, SEATS * _SLOTS)[:, None]
    counts = np.bincount(index.ravel(), minlength=c * SEATS * _SLOTS)
    return counts.astype(np.int8).reshape(c, SEATS, _SLOTS)[:, :, :NUM_KINDS]


@dataclass
class _Candidates:
    """Worlds in the making: ``rows`` says of which table each is."""

    rows: I64
    hands: I8
    room: I64
    marked: I64

    def keep(self, good: npt.NDArray[np.bool_]) -> None:
        if not good.all():
            self.rows, self.hands = self.rows[good], self.hands[good]
            self.room, self.marked = self.room[good], self.marked[good]


def _candidates(plan: _Plan, rows: I64, rng: np.random.Generator, rules: Rules) -> _Candidates:
    """One draw for each of ``rows``; those are left that fit all evidence."""
    proofs = plan.proofs
    made = _Candidates(
        rows, proofs.known[rows], proofs.room[rows], proofs.marked[rows].astype(np.int64)
    )
    secret = proofs.secret[rows]
    drawn = np.flatnonzero(secret != NOBODY)
    if drawn.size:
        cum = plan.cum[rows[drawn]]
        u = rng.random(len(drawn)) * cum[:, -1]
        seat = np.minimum((u[:, None] >= cum).sum(axis=1), plan.last[rows[drawn]])
        made.hands[drawn, seat, secret[drawn]] += 1
        made.room[drawn, seat] -= 1
        made.marked[drawn] = seat

    for t, (codes, count) in enumerate(plan.upper):
        _lay(made, plan.first <= t, codes, count, rng)
        judged = plan.suited[made.rows] == t
        if judged.any():
            good = ~judged
            i = np.flatnonzero(judged)
            good[i] = proofs.suits_fit(made.rows[i], made.hands[i])
            made.keep(good)
    made.hands += _scatter(plan.lowest[made.rows], made.room, rng)
    asked = plan.asked[made.rows]
    if asked.any():
        good = ~asked
        i = np.flatnonzero(asked)
        good[i] = proofs.triples_fit(made.rows[i], made.hands[i], rules)
        made.keep(good)
    return made


def _lay(
    made: _Candidates,
    takes: npt.NDArray[np.bool_],
    codes: npt.NDArray[np.int64],
    count: npt.NDArray[np.integer],
    rng: np.random.Generator,
) -> None:
    """Lay the cards of an upper tier, one after the other, into places of seats that take them.

    Args:
        takes: ``[N, S] bool`` seats that take cards of this tier.
        codes: ``[N, M]`` their kinds.
        count: ``[N]`` how many.
    """
    some = count[made.rows] > 0
    whole = bool(some.all())
    i = np.arange(len(some)) if whole else np.flatnonzero(some)
    rows = made.rows if whole else made.rows[i]
    room = made.room[i]
    open_ = np.ascontiguousarray((room * takes[rows]).T)
    before = open_.copy()
    free = open_.sum(axis=0)
    count = count[rows]
    least = int(count.min(initial=codes.shape[1]))
    for k in range(codes.shape[1]):
        j = np.arange(len(rows)) if k < least else np.flatnonzero(count > k)
        place = (rng.random(len(j)) * free[j]).astype(np.int64)
        seat = np.zeros(len(j), np.int64)
        until = np.zeros(len(j), np.int64)
        for s in range(SEATS - 1):
            until += open_[s, j]
            seat += place >= until
        open_[seat, j] -= 1
        free[j] -= 1
        made.hands[i[j], seat, codes[rows[j], k]] += 1
    made.room[i] = room - (before - open_).T


def _draw(plan: _Plan, n: int, rng: np.random.Generator, rules: Rules) -> tuple[I8, I64]:
    """``n`` worlds for each table: hands ``[N * n, S, 54]`` and who was dealt B* ``[N * n]``."""
    proofs = plan.proofs
    tables = len(proofs.room)
    hands = np.empty((tables * n, SEATS, NUM_KINDS), np.int8)
    marked = np.empty(tables * n, np.int64)
    tested = (plan.suited >= 0) | plan.asked
    found, drawn = np.zeros(tables, np.int64), np.zeros(tables, np.int64)
    kept = np.zeros(tables, np.int64)
    while True:
        need = n - kept
        open_ = np.flatnonzero(need > 0)
        if not open_.size:
            break
        hopeless = open_[(found[open_] == 0) & (drawn[open_] >= MAX_DRAWS)]
        if hopeless.size:
            table = int(hopeless[0])
            raise LupaiError(
                f"table {table}: none of {drawn[table]} random worlds agrees with "
                f"{plan.what(table)}"
            )
        rate = np.where(tested, (found + 1) / (drawn + 2), 1.0)[open_]
        tries = np.ceil(need[open_] / rate).astype(np.int64)
        tries = np.maximum(tries * min(1.0, CHUNK / tries.sum()), 1).astype(np.int64)
        made = _candidates(plan, np.repeat(open_, tries), rng, rules)
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


def _any_b(proofs: Evidence, rows: Ints, hands: I8, rng: np.random.Generator) -> I64:
    """Seats that were dealt B*, where it is any B that the viewer was not dealt."""
    dealt = hands[:, :, KIND_B] + proofs.played_b[rows]
    dealt[proofs.viewer[rows, None] == _SEATS] = 0
    until = np.cumsum(dealt, axis=1)
    seat: I64 = (rng.integers(0, until[:, -1])[:, None] >= until).sum(axis=1)
    return seat
