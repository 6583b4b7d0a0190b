"""From hands to numbers: scores of one side, and the groups of numbers that its game has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lupai.train.arena.hands import Hands
from lupai.train.arena.statistics import bootstrap, detectable

if TYPE_CHECKING:
    from lupai.train.arena.games.base import ArenaGame

__all__ = ["Ratios", "Side", "measure", "tidy"]

F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Side:
    """Seats of one agent in the hands of a match, and its scores by deal.

    Args:
        hands: of the match.
        agent: its number.
        whole: whether its seats score together (a camp), else each for itself.
        share: what the sum of a camp's scores is divided by.

    Attributes:
        seats: ``[H, S]`` where it sits.
        scores: ``[H]`` the sum over its seats.
        counts: ``[H]`` what a hand counts: 1 for a camp, else its number of seats.
    """

    def __init__(self, hands: Hands, agent: int, whole: bool, share: int = 1) -> None:
        self.hands, self.share = hands, share if whole else 1
        self.seats: Bools = hands.lineups == agent
        self.scores = np.where(self.seats, hands.scores, 0).sum(axis=1)
        if self.share > 1:  # members of such a camp score alike
            self.scores = self.scores // self.share
        # Alone among no rebels' seats it would count too: a void hand is a hand with score 0.
        self.counts = np.ones(len(hands)) if whole else self.seats.sum(axis=1).astype(float)
        self.deals = hands.deals - hands.deals.min()
        self.number = int(self.deals.max()) + 1

    def by_deal(self, values: npt.NDArray[Any]) -> F64:
        """Sums ``[n]`` of values ``[H]`` over the hands of each deal."""
        out: F64 = np.bincount(self.deals, values.astype(float), self.number).astype(np.float64)
        return out

    @property
    def means(self) -> F64:
        """Mean score of each deal."""
        return self.by_deal(self.scores) / self.by_deal(self.counts)


class Ratios:
    """Ratios that share one bootstrap.

    Args:
        side: whose.
    """

    def __init__(self, side: Side) -> None:
        self.side = side
        self.names: list[tuple[str, ...]] = []
        self._columns: list[tuple[F64, F64]] = []

    def add(self, name: tuple[str, ...], top: npt.NDArray[Any], bottom: npt.NDArray[Any]) -> None:
        """A ratio of two sums; ``[H]`` or ``[H, S]`` each. Left out if nothing is counted."""
        if not bottom.any():
            return
        flat = [v.sum(axis=1) if v.ndim == 2 else v for v in (top, bottom)]
        self.names.append(name)
        self._columns.append((self.side.by_deal(flat[0]), self.side.by_deal(flat[1])))

    def add_seats(self) -> None:
        """Score in each seat."""
        side = self.side
        for seat in range(side.seats.shape[1]):
            mine = side.seats & (np.arange(side.seats.shape[1]) == seat)
            self.add(("seats", str(seat)), side.hands.scores * mine, mine)

    def add_results(self, group: str, names: Sequence[str], first: Bools, known: Bools) -> None:
        """Hands won, drawn and lost with a seat in each camp.

        Args:
            group: of the ratios.
            names: of the two camps.
            first: ``[H, S]`` seats of the first.
            known: ``[H, 1]`` whether there were camps.
        """
        hands, seats = self.side.hands, self.side.seats
        result = np.sign(np.where(first, hands.scores, 0).sum(axis=1))
        for name, members, sign in zip(names, (first, known & ~first), (1, -1), strict=True):
            there: Bools = np.asarray((seats & members).any(axis=1), dtype=np.bool_)
            for word, wanted in (("won", sign), ("drawn", 0), ("lost", -sign)):
                such = np.equal(result, wanted)
                self.add((group, name, word), np.logical_and(there, such), there)

    def add_places(self, known: Bools) -> None:
        """Finishing places of hands ``[H, 1]`` that were played."""
        hands, seats = self.side.hands, self.side.seats
        for place in (*range(1, seats.shape[1] + 1), 0):
            word = str(place) if place else "in"
            self.add(("places", word), seats & known & (hands.places == place), seats & known)

    def solve(self, seed: int) -> dict[tuple[str, ...], dict[str, Any]]:
        """Each ratio with its interval and its number of cases."""
        tops, bottoms = (np.stack(c, axis=1) for c in zip(*self._columns, strict=True))
        found = zip(*bootstrap(tops, bottoms, seed), bottoms.sum(axis=0), strict=True)
        return {
            name: {"value": tidy(v), "low": tidy(low), "high": tidy(high), "n": int(n)}
            for name, (v, low, high, n) in zip(self.names, found, strict=True)
        }


def tidy(value: float) -> float | None:
    """A number for JSON: four digits after the point, None for what is unknown."""
    return round(float(value), 4) + 0.0 if math.isfinite(value) else None


def measure(side: Side, seed: int, game: ArenaGame, *, bids: bool) -> dict[str, Any]:
    """All numbers of one side of a match.

    Args:
        side: whose.
        seed: of the bootstrap.
        game: which has groups of its own.
        bids: whether the agents played what comes before the first lead.
    """
    ratios = Ratios(side)
    ratios.add(("score",), side.scores, side.counts)
    game.count(ratios, side, bids=bids)
    found = ratios.solve(seed)
    score = found[("score",)]
    means = side.means
    deviation = float(means.std(ddof=1)) if len(means) > 1 else math.nan
    out: dict[str, Any] = {
        "mean": score["value"],
        "low": score["low"],
        "high": score["high"],
        "deviation": tidy(deviation),
        "detectable": tidy(detectable(deviation, len(means))),
        "won": tidy(_share(side, 1)),
        "lost": tidy(_share(side, -1)),
        "variance": _variance(side, means),
    }
    for group in (table.group for table in game.tables):
        part: dict[str, Any] = {}
        for path, value in found.items():
            if path[0] == group:
                inner = part
                for key in path[1:-1]:
                    inner = inner.setdefault(key, {})
                inner[path[-1]] = value
        out[group] = part
    return out


def _share(side: Side, sign: int) -> float:
    """Share of hands whose score, or seats where each scores for itself, has a sign."""
    if (side.counts == 1).all():
        return float((np.sign(side.scores) == sign).mean())
    won = side.seats & (np.sign(side.hands.scores) == sign)
    return float(won.sum() / side.seats.sum())


def _variance(side: Side, means: F64) -> dict[str, Any]:
    """How many times as many hands independent deals need for the same standard error."""
    if (side.counts == 1).all():
        single = side.scores.astype(float)
    else:
        single = side.hands.scores[side.seats].astype(float)
    if len(means) < 2:
        return {"deal": None, "hand": None, "factor": None}
    deal, hand = float(means.var(ddof=1)), float(single.var(ddof=1))
    each = len(single) / len(means)
    return {
        "deal": tidy(deal),
        "hand": tidy(hand),
        "factor": tidy(hand / each / deal) if deal > 0 else None,
    }
