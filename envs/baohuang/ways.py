"""How many deals agree with what a forced call and the suits of added cards prove.

A seat that was skipped holds no kind exactly three times, one that was asked does; of the rank that
a seat added to the tribute it had no suit that would have gone first. Such evidence speaks of how
the copies of one kind, or of the four kinds of one rank, lie. Only the places of a seat tie kinds
together. So kinds are laid one after the other, from the highest rank, and all there is to remember
is how many places of each *unit* are taken. A seat of which something is still to be proved is a
unit; all others together are the last, whose places follow.

A kind of p copies goes to the units as (n_1, n_2, …) in p! / (n_1! n_2! …) ways; the tables hold
sums of products of such numbers, all positive, so that nothing cancels out. Kinds of which nothing
is proved are not laid: the ways for them have a closed form. Where the suits of added cards matter
the place of the card that makes the role has to be settled before; else it is laid last, which
gives the ways for each of its places at once. Back through the tables goes an exact draw.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.evidence import TOP, TRIPLE, Evidence
from lupai.envs.baohuang.laying import (
    LOG_FACTORIAL,
    NO,
    Close,
    Draws,
    Lay,
    Merge,
    Open,
    Operation,
    pick,
    splits,
)
from lupai.envs.baohuang.roles import callable_kinds
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import KIND_B, NATURAL_RANKS, NUM_KINDS, RANK_OF_KIND
from lupai.envs.seats import NOBODY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Cards that were laid for some draws: the seats they go to, and how many of each kind ``[n, 54]``.
Batch = tuple[list[int], I64]
#: Of a kind, from the top: 0 … 12 the natural ranks, 13 the jokers.
_POSITION: Final = np.where(np.arange(NUM_KINDS) < KIND_B, TOP - RANK_OF_KIND, TOP + 1)
_SEATS: Final = np.arange(SEATS)


@dataclass
class Seen:
    """One table of an :class:`~lupai.envs.baohuang.evidence.Evidence`.

    Attributes:
        pool: ``[54]`` unseen cards.
        open_: ``[S] bool`` seats with room, before the secret card is placed.
        room, bound, added: ``[S]``; suited, skipped: ``[S] bool``, of open seats; forced: an open
            seat, or -1: as in the evidence.
        had: ``[S, 54]`` own cards when the seat ceded, as far as they are known.
        held: ``[S, 54]`` the same of the forced call.
        callable_: ``[54] bool`` kinds that may be called.
        secret: kind of the card whose place is open, or -1.
    """

    pool: I64
    open_: Bools
    room: I64
    bound: I64
    added: I64
    suited: Bools
    skipped: Bools
    forced: int
    had: I64
    held: I64
    callable_: Bools
    secret: int

    @classmethod
    def of(cls, proofs: Evidence, table: int, rules: Rules, told: Bools | None = None) -> Seen:
        """From one of N tables; of a forced call what it proves of seats ``told [S] bool``, or
        all."""
        room, known = proofs.room[table], proofs.known[table]
        open_, forced = room > 0, int(proofs.forced[table])
        asked = open_ if told is None else open_ & told
        return cls(
            pool=proofs.pool[table].astype(np.int64),
            open_=open_,
            room=room,
            bound=proofs.bound[table],
            added=proofs.added[table].astype(np.int64),
            suited=proofs.suited[table] & open_,
            skipped=proofs.skipped[table] & asked,
            forced=forced if forced != NOBODY and asked[forced] else NOBODY,
            had=(known + proofs.own[table]).astype(np.int64),
            held=(known + proofs.asked[table]).astype(np.int64),
            callable_=callable_kinds(rules),
            secret=int(proofs.secret[table]),
        )

    def placed(self, seat: int) -> Seen:
        """With the secret card at a seat, of which as much is proved even if that fills it."""
        card = (_SEATS[:, None] == seat) & (np.arange(NUM_KINDS) == self.secret)
        return replace(
            self,
            pool=self.pool - card.any(axis=0),
            room=self.room - (seat == _SEATS),
            had=self.had + card,
            held=self.held + card,
            secret=NOBODY,
        )


class Ways:
    """The ways at a table where the secret card has its place, or suits prove nothing.

    Args:
        seen: the table.

    Attributes:
        units: the seats of each.
        kinds: ``[54] bool`` kinds that are laid.
    """

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        makes = np.where(seen.callable_, TRIPLE - seen.held, NO)
        self._makes = np.where(makes > seen.pool, NO, makes)
        fixed = ((makes == 0) & (seen.pool == 0)).any(axis=1)
        self._possible = not fixed[seen.skipped].any()
        self._forced = NOBODY if seen.forced == NOBODY or fixed[seen.forced] else seen.forced
        self._marks = 1 + (self._forced != NOBODY)
        # to the end of the kinds there is something to prove of a seat that was skipped or asked
        told = seen.skipped | (self._forced == _SEATS)
        self._joins = seen.suited & ~told
        named = np.flatnonzero((told | seen.suited | (seen.bound < TOP)) & seen.open_).tolist()
        rest = np.flatnonzero(seen.open_ & ~np.isin(_SEATS, named)).tolist()
        # the last unit: all others, else who joins them first
        named.sort(key=lambda s: (self._joins[s], (seen.bound if self._joins[s] else seen.room)[s]))
        self.units: list[list[int]] = [[seat] for seat in named] + [rest] * bool(rest)
        self._first = np.array([TOP - seen.bound[unit[0]] for unit in self.units], np.int64)
        self._takes = self._first[:, None] <= _POSITION
        self._told = told
        self.kinds = np.zeros(NUM_KINDS, bool)
        self._operations: list[Operation] = []
        self._plan()
        self._ended: tuple[F64, float] | None = None
        self._tables: list[F64] = []

    # ---- what is laid

    def _plan(self) -> None:
        seen = self.seen
        left = seen.pool.copy()
        if seen.secret != NOBODY:
            left[seen.secret] -= 1
        adders: dict[int, list[int]] = {}
        for seat in np.flatnonzero(seen.suited).tolist():
            adders.setdefault(int(seen.added[seat]) // 4, []).append(seat)
        # who joins the others is to have his part of the ranks above his own
        above = int(seen.bound[self._joins].min(initial=TOP))
        natural = np.arange(NUM_KINDS) < KIND_B
        laid = self._tells() | np.isin(RANK_OF_KIND, list(adders))
        laid = (laid | (natural & (above < RANK_OF_KIND))) & (left > 0)
        places = np.array([seen.room[unit].sum() for unit in self.units], np.int64)
        self.kinds = laid
        seats = [list(unit) for unit in self.units]
        gone = 0
        for rank in [*range(TOP, -1, -1), *range(NATURAL_RANKS, NATURAL_RANKS + 2)]:
            mine = adders.get(rank, [])
            guesses = self._guesses(mine, rank)
            if mine:
                # which of equal copies it was is nobody's choice
                odds = np.array([1 / prod(guess) for guess in guesses])
                self._operations.append(Open(odds))
            for kind in np.flatnonzero(laid & np.equal(RANK_OF_KIND, rank)).tolist():
                takes, ways, to = self._step(kind, int(left[kind]), mine, guesses)
                self._operations.append(Lay(kind, seats, places, takes, ways, to))
                gone += int(left[kind])
            if mine:
                self._operations.append(Close())
            for unit in range(len(self.units) - 1):
                seat = self.units[unit][0]
                if seat in mine and self._joins[seat]:
                    self._operations.append(Merge(unit, places, gone))
                    places = places.copy()
                    places[-1] += places[unit]
                    places[unit] = 0
                    seats = [*seats[:-1], [*seats[-1], seat]]
                    seats[unit] = []
                    self._takes[unit] = False
        self._seats, self._places, self._gone = seats, places, gone
        free = np.where(laid, 0, left)
        self._free = np.bincount(_POSITION, free, TOP + 2).astype(np.int64)
        if seen.secret != NOBODY:
            self._last = self._step(seen.secret, 1, [], [()])
        else:
            same = np.arange(self._marks, dtype=np.int8)[None, :, None]
            self._last = np.zeros((1, len(self.units)), np.int64), np.ones(1), same

    def _tells(self) -> Bools:
        """``[54] bool`` kinds of which a skipped seat, or the one asked, may make a triple."""
        reached = np.zeros((SEATS, NUM_KINDS), bool)
        for unit, takes in zip(self.units, self._takes, strict=True):
            reached[unit] = takes
        # where a seat takes none of a kind, 0 more cards may still make the triple
        tells: Bools = ((self._makes == 0) | ((self._makes > 0) & reached))[self._told].any(axis=0)
        return tells

    def _guesses(self, seats: list[int], rank: int) -> list[tuple[int, ...]]:
        """What seats can have had of the kinds of this rank that they added, by the suits of which
        all cards are seen."""
        ranges = []
        for seat in seats:
            added = self.seen.added[seat]
            had, more = int(self.seen.had[seat, added]), int(self.seen.pool[added])
            known = [kind for kind in range(4 * rank, 4 * rank + 4) if not self.seen.pool[kind]]
            none = np.zeros(1, np.int64)
            ranges.append(
                [
                    guess
                    for guess in range(had, had + more + 1)
                    if all(self._suit_fits(seat, kind, none, guess)[0] for kind in known)
                ]
            )
        kinds = self.seen.added[seats].tolist()
        return [guess for guess in product(*ranges) if self._are_enough(kinds, seats, guess)]

    def _are_enough(self, kinds: list[int], seats: list[int], guess: tuple[int, ...]) -> bool:
        """Whether there are as many cards of the added kinds as are guessed."""
        more: Counter[int] = Counter()
        for kind, seat, had in zip(kinds, seats, guess, strict=True):
            more[kind] += had - int(self.seen.had[seat, kind])
        return all(some <= self.seen.pool[kind] for kind, some in more.items())

    def _suit_fits(self, seat: int, kind: int, takes: I64, guess: int) -> Bools:
        """``[K] bool``: whether a seat that had ``guess`` of the kind it added may have got
        ``takes [K]`` of one of that rank."""
        had, added = takes + self.seen.had[seat, kind], self.seen.added[seat]
        fits: Bools = had == guess
        if kind != added:
            fits = (had == 0) | (had > guess) | (fits & (kind > added))
        return fits

    def _step(
        self, kind: int, copies: int, seats: list[int], guesses: list[tuple[int, ...]]
    ) -> tuple[I64, F64, npt.NDArray[np.int8]]:
        """Takes, ways and marks of :class:`~lupai.envs.baohuang.laying.Lay`."""
        takes, ways = splits(copies, tuple(self._takes[:, kind].tolist()))
        good = np.ones((len(guesses), len(ways)), bool)
        forced = np.zeros(len(ways), bool)
        for unit, (seat, *_) in enumerate(self.units):
            triple = takes[:, unit] == self._makes[seat, kind]
            if self.seen.skipped[seat]:
                good &= ~triple
            if seat == self._forced:
                forced = triple
            if seat in seats:
                mine = seats.index(seat)
                for row, guess in enumerate(guesses):
                    good[row] &= self._suit_fits(seat, kind, takes[:, unit], guess[mine])
        to = np.ones((len(guesses), self._marks, len(ways)), np.int8)
        to[:, 0] = forced
        to[np.broadcast_to(~good[:, None], to.shape)] = NO
        used = good.any(axis=0)
        return takes[used], ways[used], to[:, :, used]

    @property
    def size(self) -> tuple[float, float]:
        """About how many additions a pass takes, and how many numbers are kept for draws."""
        operations, kept, size = 0.0, 0.0, 1.0
        taken = np.zeros(len(self.units), np.int64)
        guesses = 1
        for one in self._operations:
            kept += size
            if isinstance(one, Open):
                guesses = len(one.odds)
            elif isinstance(one, Close):
                guesses = 1
            elif isinstance(one, Merge):
                taken[one.unit] = 0
            elif isinstance(one, Lay):
                from_each = float((one.to != NO).sum()) / max(guesses * self._marks, 1)
                operations += size * from_each
                taken = np.minimum(taken + one.takes.max(axis=0, initial=0), one.places)
            size = guesses * self._marks * float(np.prod(taken[:-1] + 1.0))
        return operations, kept

    # ---- the ways

    def ends(self, keep: bool = False) -> tuple[F64, float]:
        """``[P, 1, M, …]`` all ways, by the split of the secret card and what was laid before it,
        and the logarithm of their scale.

        Args:
            keep: keep the tables for :meth:`draw`.
        """
        if self._ended is not None and (self.is_kept or not keep):
            return self._ended
        table = np.zeros((1, self._marks, *[1] * (len(self.units) - 1)))
        table[(0,) * table.ndim] = self._possible
        scale = 0.0
        for one in self._operations:
            if keep:
                self._tables.append(table)
            table = one.forward(table)
            most = float(table.max(initial=0))
            if not isinstance(one, Open) and most > 0:
                table = table / most
                scale += float(np.log(most))

        taken = np.indices(table.shape[2:], np.int64)
        left = [places - some for places, some in zip(self._places[:-1], taken, strict=True)]
        left.append(self._places[-1] - self._gone + taken.sum(axis=0, dtype=np.int64))
        takes, _, to = self._last
        ways = np.empty((len(takes), *table.shape))
        logs = np.empty((len(takes), *table.shape[2:]))
        for place, split in enumerate(takes):
            good = to[:, :, place] == self._marks - 1
            ways[place] = table * good.reshape(*good.shape, *[1] * (table.ndim - 2))
            logs[place] = self._free_ways([a - b for a, b in zip(left, split, strict=True)])
        logs[~(ways > 0).any(axis=(1, 2))] = -np.inf
        most = float(logs.max(initial=-np.inf))
        if most > -np.inf:
            ways *= np.exp(logs - most)[:, None, None]
        else:
            ways[:] = 0
        self._ended = ways, scale + most
        return self._ended

    @property
    def is_kept(self) -> bool:
        """Whether draws need no more counting."""
        return len(self._tables) == len(self._operations)

    def forget(self) -> None:
        """Give the memory back that draws need."""
        self._tables = []

    def log_ways(self, keep: bool = False) -> F64:
        """``[U]`` logarithms of the ways with the secret card at each unit; where there is none
        ``[1]``. ``keep`` as for :meth:`ends`."""
        ways, scale = self.ends(keep)
        by_split = ways.sum(axis=tuple(range(1, ways.ndim)))
        out = np.zeros(len(self.units) if self.seen.secret != NOBODY else 1)
        out[self._last[0].argmax(axis=1)] = by_split
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(out) + (scale if by_split.any() else 0))

    def _free_ways(self, left: list[I64]) -> F64:
        """Logarithm of the ways for the cards that prove nothing in the places that are left."""
        bad = np.zeros(np.shape(left[-1]), bool)
        log = np.zeros(bad.shape)
        for places in left:
            bad |= places < 0
            log -= LOG_FACTORIAL[np.maximum(places, 0)]
        tiers = sorted(set(self._first.tolist()))
        bad |= bool(self._free[: tiers[0]].any())
        gone = 0
        for first, until in zip(tiers, [*tiers[1:], None], strict=True):
            cards = int(self._free[first:until].sum())
            takes = [places for places, own in zip(left, self._first, strict=True) if own <= first]
            before = np.sum(takes, axis=0) - gone
            bad |= before < cards
            log += LOG_FACTORIAL[np.maximum(before, 0)]
            log -= LOG_FACTORIAL[np.maximum(before - cards, 0)]
            gone += cards
        return np.where(bad, -np.inf, log)

    # ---- draws

    def draw(self, unit: I64, rng: np.random.Generator) -> list[Batch]:
        """Draws with the secret card at units ``[n]``; without one these are not read."""
        ends, _ = self.ends(keep=True)
        n = len(unit)
        place = np.zeros(n, np.int64)
        if self.seen.secret != NOBODY:
            place = (self._last[0].argmax(axis=1) == unit[:, None]).argmax(axis=1)
        flat = np.empty(n, np.int64)
        for one in np.unique(place).tolist():
            i = np.flatnonzero(place == one)
            flat[i] = pick(np.cumsum(ends[one]), rng.random(len(i)))
        guess, mark, *taken = np.unravel_index(flat, ends.shape[1:])
        draws = Draws(guess, mark, np.array(taken, np.int64).reshape(-1, n))
        laid: list[tuple[list[list[int]], I64]] = []
        for operation, table in zip(
            reversed(self._operations), reversed(self._tables), strict=True
        ):
            takes = operation.back(table, draws, rng)
            if takes is not None and isinstance(operation, Lay):
                if not laid or laid[-1][0] is not operation.seats:
                    none = np.zeros((len(self.units), n, NUM_KINDS), np.int64)
                    laid.append((operation.seats, none))
                laid[-1][1][:, :, operation.kind] = takes.T
        return [
            (unit, cards)
            for seats, units in reversed(laid)
            for unit, cards in zip(seats, units, strict=True)
            if cards.any()
        ]
