"""The exact posterior of a known population, by trying all deals: the ground truth of mini-games.

A guard who plays at random declares himself every other time, so silence speaks against a seat:

>>> import numpy as np
>>> from lupai.agents.belief.behaviour import Population, UniformPlay
>>> from lupai.envs.baohuang.engine import Engine
>>> from lupai.envs.log import Log
>>> from lupai.envs.view import Views
>>> engine = Engine("qingdao;grab=false;deck=R* 3s 3s 3s 3s 4s 5s 6s 7s 8s 9s Ts")
>>> hands = ["3s 3s 3s", "R* 4s 5s", "3s 6s", "7s 8s", "9s Ts"]
>>> log = Log(engine, engine.reset_hands(hands, 0))
>>> for move in ("cede", "call 3s", "silent", "silent"):
...     log.step(np.array([engine.action_of(log.state, 0, move)]), np.array([0]))
>>> views = Views(engine, log.state, [3], histories=log.history)
>>> ExactPosterior(Population((UniformPlay(),))).predict(views).round(3)
array([[0.  , 0.25, 0.25, 0.  , 0.5 , 0.  ]])
"""

from __future__ import annotations

from math import factorial, prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.behaviour import Population
from lupai.agents.belief.likelihood import TABLES, CardLog, deals_of, log_deals, log_likelihood
from lupai.agents.belief.views import HandViews
from lupai.envs.baohuang import evidence, hidden
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.cards import KIND_B, NUM_KINDS
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

F64 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]

LIMIT: Final = 100_000  # deals to be tried for one view


class ExactPosterior:
    """Chance of each seat to be guard if a known population plays, over all consistent deals.

    Args:
        population: who plays.
        limit: deals that may be tried for one view.
        name: shown in tables; ``exact:`` and the population's name when None.
    """

    def __init__(self, population: Population, limit: int = LIMIT, name: str | None = None) -> None:
        self.population = population
        self.weights_sha256 = ""  # of trained agents in it, where it was read from a name
        self.limit = limit
        self.name = f"exact:{population.name}" if name is None else name

    def predict(self, views: Views) -> F64:
        """``[B, 6]`` chance that seats 0 … 4 are guard, last that nobody is; rows sum to 1.

        Args:
            views: B views with the histories of their tables, of seats or (-1) of a spectator;
                there has to be an emperor.

        Raises:
            LupaiError: no emperor yet; a history that is missing or of another table; more than
                ``limit`` ways to lay the cards; or no deal from which the population would have
                played so.
        """
        chances, open_ = settled(views)
        if open_.size:
            some = pick(views, open_)
            log = CardLog.of(some, open_)
            for at in np.split(np.arange(len(some)), _portions(_ways_of(some, self.limit, open_))):
                chances[open_[at]] = self._posterior(pick(some, at), log.take(at))
        return chances

    def _posterior(self, views: Views, log: CardLog) -> F64:
        """``[N, 6]`` of views of hidden roles."""
        worlds, of = every_world(views)
        marks = views.engine.rules.needs_marked_b
        weight = log_deals(deals_of(worlds, marks))
        weight += log_likelihood(self.population, views, log, worlds, of)
        best = np.full(len(views), -np.inf)
        np.maximum.at(best, of, weight)
        never = np.flatnonzero(np.isneginf(best))
        if never.size:
            raise LupaiError(
                f"view {log.numbers[never[0]]}: from no deal would the population "
                f"{self.population.name} have played so; give it noise (epsilon), or the "
                "population that played"
            )
        chances = np.zeros((len(views), SEATS + 1))
        np.add.at(chances, (of, worlds.guard), np.exp(weight - best[of]))
        shares: F64 = chances / chances.sum(axis=1, keepdims=True)
        return shares


def settled(views: Views) -> tuple[F64, I64]:
    """Chances ``[B, 6]`` of views that know who is guard, and the rows ``[N]`` of the others, whose
    chances are 0.

    Raises:
        LupaiError: there is no emperor yet; names the view.
    """
    state: Any = views.state
    early = np.flatnonzero(state.emperor == NOBODY)
    if early.size:
        raise LupaiError(
            f"view {early[0]}: no emperor yet, so nobody is guard; ask from the call on"
        )
    proofs = evidence.gather(state, views.seats, views.engine.rules)
    known = proofs.secret == NOBODY
    chances = np.zeros((len(views), SEATS + 1))
    chances[known, state.guard[known]] = 1  # nobody is -1: the last column
    return chances, np.flatnonzero(~known)


def pick(views: Views, rows: I64) -> Views:
    """Some of the views, of the same hands."""
    if isinstance(views, HandViews):
        return views.take(rows)
    histories = None if views.histories is None else [views.histories[row] for row in rows]
    return Views(views.engine, views.state, views.seats[rows], rows, histories)


def every_world(views: Views) -> tuple[State, I64]:
    """All worlds ``[B]`` that agree with N views of hidden roles, and the view ``[B]`` of each."""
    engine: Any = views.engine
    rules = engine.rules
    proofs = evidence.gather(views.state, views.seats, rules)
    all_hands, all_marked, all_of = [], [], []
    for i in range(len(views)):
        hands = lay(proofs.pool[i], proofs.room[i]) + proofs.known[i]
        marked = np.full(len(hands), NOBODY)
        if rules.needs_marked_b:
            which, marked = np.nonzero((hands - proofs.known[i])[:, :, KIND_B] > 0)
            hands = hands[which]
        all_hands.append(hands)
        all_marked.append(marked)
        all_of.append(np.full(len(hands), i))
    hands, marked, of = (np.concatenate(part) for part in (all_hands, all_marked, all_of))
    masked = views.state.take(of)
    guess = marked if rules.needs_marked_b else None
    good = np.flatnonzero(engine.consistent(masked, views.seats[of], hands, guess))
    worlds = masked.take(good)
    guess = marked[good] if rules.needs_marked_b else None
    hidden.complete(worlds, views.seats[of[good]], hands[good], guess, rules)
    return worlds, of[good]


def _ways_of(views: Views, limit: int, numbers: I64) -> I64:
    """``[N]`` ways to lay the unseen cards; refuses more than ``limit``."""
    proofs = evidence.gather(views.state, views.seats, views.engine.rules)
    counted = []
    for pool, room, number in zip(proofs.pool, proofs.room, numbers.tolist(), strict=True):
        # distinct cards, divided by all orders of those alike: no more than there are ways, and no
        # work
        least = factorial(int(room.sum())) // prod(map(factorial, [*room.tolist(), *pool.tolist()]))
        ways = least if least > limit else count_ways(pool, room)
        if ways > limit:
            shown = f"{ways:,}" if ways < 1_000_000_000 else f"1e{len(str(ways)) - 1}"
            raise LupaiError(
                f"view {number}: {shown} ways or more to lay the unseen cards, {limit:,} are "
                "allowed; exact posteriors are for mini-games: give a smaller deck, a higher "
                "limit, or take particles (ParticlePosterior)"
            )
        counted.append(ways)
    return np.array(counted, np.int64)


def _portions(ways: I64) -> list[int]:
    """Where to cut views, so that a part has about TABLES worlds at most, or is one view."""
    cuts, there = [], 0
    for place, some in enumerate(ways.tolist()):
        if place and there + some > TABLES:
            cuts.append(place)
            there = 0
        there += some
    return cuts


def count_ways(pool: I8, room: I64) -> int:
    """Ways to lay cards ``[54]``, alike within a kind, into the free places ``[S]``."""
    ways = {tuple(room.tolist()): 1}
    for copies in pool[pool > 0].tolist():
        after: dict[tuple[int, ...], int] = {}
        for left, count in ways.items():
            for split in _splits(copies, len(left)):
                rest = tuple(a - b for a, b in zip(left, split, strict=True))
                if min(rest) >= 0:
                    after[rest] = after.get(rest, 0) + count
        ways = after
    return sum(ways.values())


def lay(pool: I8, room: I64) -> I8:
    """All those ways, ``[ways, S, 54] int8``."""
    kinds = np.flatnonzero(pool)
    laid = np.zeros((1, len(room), len(kinds)), np.int8)
    left = np.asarray(room, np.int64)[None]
    for place, kind in enumerate(kinds.tolist()):
        splits = np.array(_splits(int(pool[kind]), len(room)), np.int64)
        rest = left[:, None] - splits
        old, how = np.nonzero((rest >= 0).all(axis=2))
        laid, left = laid[old], rest[old, how]
        laid[:, :, place] = splits[how]
    out = np.zeros((len(laid), len(room), NUM_KINDS), np.int8)
    out[:, :, kinds] = laid
    return out


def _splits(copies: int, places: int) -> list[tuple[int, ...]]:
    if places == 1:
        return [(copies,)]
    return [
        (first, *rest)
        for first in range(copies + 1)
        for rest in _splits(copies - first, places - 1)
    ]
