"""Information-set tree search: one tree over what the player sees, a world for each descent.

A node is what the asked player has seen since the decision: who moved and what, a secret call of
another as a call; and that he is the one who is asked, which in some worlds is another. Every
descent has a world of its own, in which only some of a node's moves are legal, so an edge counts
how often it was there to be chosen. Whoever is asked chooses by

    Q + exploration * P * sqrt(N) / (1 + n)

with Q his own mean score behind the edge, n its visits, N the visits of the edges that are there,
and P the softmax of the prices that ``tactical`` gives his moves when it sees what he sees in that
world. A descent ends behind an edge that is new, and the table there is judged.

A block of worlds descends at once. Within it an edge that was taken counts as visited, though its
score is not known yet, so that the descents spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.search import imagine
from lupai.agents.search.imagine import F64, Decision
from lupai.agents.search.judge import Judge
from lupai.agents.search.options import Options
from lupai.envs.baohuang.actions import PUBLIC_ID
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

WIDTH: Final = 4  # moves that each player thinks of below the root
SHARP: Final = 0.3  # prices are divided by this before the softmax
_PUBLIC: Final[list[int]] = PUBLIC_ID.tolist()


def choose(
    engine: Any,
    decisions: Sequence[Decision],
    judge: Judge,
    options: Options,
    more: Callable[[], bool],
) -> list[int]:
    """Places of the most visited among each decision's candidates; the better of equals.

    Args:
        more: whether there is time for another block of worlds.
    """
    return [_choose(engine, decision, judge, options, more) for decision in decisions]


def _choose(
    engine: Any, decision: Decision, judge: Judge, options: Options, more: Callable[[], bool]
) -> int:
    tree = _Tree(engine, decision, judge, options)
    left = options.simulations
    timed = options.milliseconds is not None
    while timed or left > 0:
        count = options.worlds if timed else min(options.worlds, left)
        tree.grow(count)
        left -= count
        if not more():
            break
    return tree.best()


@dataclass
class _Descent:
    """Where one world's way down has come to.

    Attributes:
        path: edges taken. story: number of what everybody has seen of it, 0 at the root.
        secret: the seat that called secretly on it, and knows so.
    """

    path: list[int] = field(default_factory=list)
    story: int = 0
    secret: int = NOBODY


class _Tree:
    """Edges by number, found by the node, which is (story, seat, whether he called secretly), and
    the move."""

    def __init__(self, engine: Any, decision: Decision, judge: Judge, options: Options) -> None:
        self.engine, self.decision, self.judge, self.options = engine, decision, judge, options
        self.edges: dict[tuple[int, int, bool, int], int] = {}
        self.stories: dict[tuple[int, int, int], int] = {}  # (story before, seat, what is seen)
        self.taken: list[int] = []  # visits, those under way among them
        self.weight: list[float] = []  # of the worlds that have come back
        self.total: list[list[float]] = []  # weighted scores of each seat
        self.mean = [0.0] * SEATS  # of all descents: what an unvisited edge is worth
        self._came = 0.0
        start = _Descent()
        self._root = [self._edge(start, decision.seat, int(a)) for a in decision.candidates]

    def _edge(self, descent: _Descent, seat: int, action: int) -> int:
        key = (descent.story, seat, descent.secret == seat, action)
        number = self.edges.setdefault(key, len(self.taken))
        if number == len(self.taken):
            self.taken.append(0)
            self.weight.append(0.0)
            self.total.append([0.0] * SEATS)
        return number

    def best(self) -> int:
        """Place of the most visited candidate."""
        own = self.decision.seat
        rank = [(self.taken[e], self._worth(e, own), -i) for i, e in enumerate(self._root)]
        return max(range(len(rank)), key=rank.__getitem__)

    def _worth(self, edge: int, seat: int) -> float:
        weight = self.weight[edge]
        return self.total[edge][seat] / weight if weight > 0 else self.mean[seat]

    def grow(self, count: int) -> None:
        """Descend in ``count`` new worlds and take the scores back up."""
        state = imagine.draw(self.engine, self.decision, count)
        weight = imagine.weights(
            self.engine.rules, self.decision, imagine.guards(state), self.options.role_belief
        )
        descents = [_Descent() for _ in range(count)]
        rows = np.arange(count)
        for depth in range(self.options.depth):
            actions, goes_on = self._choices(state, rows, descents, depth)
            self.engine.step(state, actions, rows)
            rows = rows[goes_on & ~state.over[rows]]
            if not rows.size:
                break
        lanes = self.decision.rng.integers(1 << 40) + np.arange(count)
        scores = self.judge.scores(state, lanes)
        for descent, row, world in zip(descents, scores.tolist(), weight.tolist(), strict=True):
            self._back(descent.path, row, world)

    def _back(self, path: list[int], scores: list[float], weight: float) -> None:
        for edge in path:
            self.weight[edge] += weight
            total = self.total[edge]
            for seat in range(SEATS):
                total[seat] += weight * scores[seat]
        self._came += weight
        if self._came > 0:
            share = weight / self._came
            self.mean = [m + share * (s - m) for m, s in zip(self.mean, scores, strict=True)]

    def _choices(
        self, state: State, rows: npt.NDArray[np.intp], descents: list[_Descent], depth: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """A move for each of ``rows``, and whether its descent goes on behind it."""
        actions = np.zeros(len(rows), np.int64)
        goes_on = np.zeros(len(rows), bool)
        if depth == 0:
            moves = [self.decision.candidates.tolist()] * len(rows)
            priors = [_softmax(self.decision.prices).tolist()] * len(rows)
        else:
            moves, priors = self._moves(state, rows)
        for i, (row, actor) in enumerate(
            zip(rows.tolist(), state.actor[rows].tolist(), strict=True)
        ):
            descent = descents[row]
            edges = [self._edge(descent, actor, action) for action in moves[i]]
            place = self._pick(edges, priors[i], actor)
            edge, action = edges[place], moves[i][place]
            goes_on[i] = self.taken[edge] > 0
            self.taken[edge] += 1
            descent.path.append(edge)
            seen = _PUBLIC[action]
            step = (descent.story, actor, seen)
            descent.story = self.stories.setdefault(step, len(self.stories) + 1)
            if seen != action:
                descent.secret = actor
            actions[i] = action
        return actions, goes_on

    def _pick(self, edges: list[int], priors: list[float], seat: int) -> int:
        if len(edges) == 1:
            return 0
        visits = sum(self.taken[edge] for edge in edges)
        push = self.options.exploration * math.sqrt(visits + 1)
        best, found = -math.inf, 0
        for place, (edge, prior) in enumerate(zip(edges, priors, strict=True)):
            value = self._worth(edge, seat) + push * prior / (1 + self.taken[edge])
            if value > best:
                best, found = value, place
        return found

    def _moves(
        self, state: State, rows: npt.NDArray[np.intp]
    ) -> tuple[list[list[int]], list[list[float]]]:
        """The moves that each asked player thinks of, and their priors."""
        seats = state.actor[rows].astype(np.intp)
        legal = self.engine.legal(state, rows)
        ids, offsets = legal.ids()
        several = np.flatnonzero(np.diff(offsets) > 1)
        moves = [[int(ids[start])] for start in offsets[:-1]]
        priors = [[1.0]] * len(rows)
        if several.size:
            views = Views(self.engine, state, seats[several], rows[several])
            some, cuts = legal.take(several).ids()
            prices = self.judge.tactical.prices(
                self.engine.rules, views.state, views.seats, some, cuts
            )
            for i, start, end in zip(several, cuts[:-1], cuts[1:], strict=True):
                order = np.argsort(-prices[start:end], kind="stable")[:WIDTH]
                moves[i] = some[start:end][order].tolist()
                priors[i] = _softmax(prices[start:end][order]).tolist()
        return moves, priors


def _softmax(prices: F64) -> F64:
    odds = np.exp(np.clip((prices - prices.max()) / SHARP, -6, 0))
    return np.asarray(odds / odds.sum())
