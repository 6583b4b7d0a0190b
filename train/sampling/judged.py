"""What some moves of a decision are worth, all hands seen: the targets of a distillation.

The moves are tried on copies of the table that waits, and the game's value network says what each
leads to. A player cannot see what it sees; but a network that learns the difference between two
moves over many tables, each with its own hidden cards, learns its mean over those cards given what
the seat does see, and that is what the seat wants to know. One look after each move is far less
noisy than the score of the hand, and it tells of moves that were not played.

The values are those of hands in which ``tactical`` plays on. So the distilled network is a step of
policy improvement from ``tactical``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.advice import ADVISING, BEHIND
from lupai.agents.search.judge import Judge
from lupai.agents.search.options import Options
from lupai.agents.streams import decision_numbers, lane_draws, table_lanes
from lupai.envs.game import make_game
from lupai.train.config import TrainConfig
from lupai.train.games import training_game
from lupai.train.league.coach import Learner
from lupai.train.sampling.advised import ADVICE, ADVISED
from lupai.train.sampling.tables import Tables

__all__ = [
    "CANDIDATES",
    "STAKES",
    "WORTH",
    "Judging",
    "columns_judged",
    "nothing_judged",
    "set_judging",
]

CANDIDATES: Final = "candidates"  # [N, K] int32 moves, -1: none
WORTH: Final = "worth"  # [N, K] float32 stakes
STAKES: Final = "stakes"  # [N] float32 points
RANDOM: Final = 2  # of the candidates: of all legal moves, so that none is left to guessing

Columns = dict[str, npt.NDArray[Any]]


def nothing_judged(rows: int, candidates: int) -> Columns:
    """The columns of decisions of which nothing is judged."""
    return {
        CANDIDATES: np.full((rows, candidates), -1, np.int32),
        WORTH: np.zeros((rows, candidates), np.float32),
        STAKES: np.ones(rows, np.float32),
    }


class Judging:
    """Judges candidates.

    Args:
        engine: the rules.
        candidates: K, of a decision: the move played, then the best by the prices of ``tactical``,
            and at last :data:`RANDOM` of all legal moves. With advice it is that of the network.
        limit: stakes between the first candidate and another one, at most: surely lost hands would
            count for more than all others.
        seed: of the random ones.
        trust: points that are added for each unit of the price, where there is advice.
    """

    def __init__(
        self, engine: Any, candidates: int, limit: float, seed: int, trust: float = 0.0
    ) -> None:
        self._engine = engine
        self._count = candidates
        self._limit = limit
        self._seed = seed
        self._trust = trust
        self._advising = ADVISING[engine.game]
        self._tactical = self._advising.tactical
        self._stakes = training_game(engine.game).stakes
        self._judge = Judge(engine, Options(), self._tactical)

    def columns(
        self,
        tables: Tables,
        moves: npt.NDArray[np.integer],
        some: npt.NDArray[np.intp] | None = None,
        advice: Columns | None = None,
    ) -> Columns:
        """CANDIDATES, WORTH, relative to the first of them, and STAKES, at the tables that wait, or
        at ``some [n]`` of them.

        Args:
            moves: ``[n]`` what their seats play.
            advice: ADVISED and ADVICE of these decisions, for networks that take advice; None: the
                candidates are found here.
        """
        seats, rows = tables.seats, tables.rows
        if some is not None:
            seats, rows = seats[some], rows[some]
        state = tables.waiting if len(rows) == len(tables.rows) else tables.state.take(rows)
        found = (
            self._candidates(tables, state, seats, moves, some)
            if not advice
            else advice[ADVISED].copy()
        )
        out = nothing_judged(len(rows), found.shape[1])
        out[STAKES] = self._stakes(state)
        many = (found >= 0).sum(axis=1) > 1  # a single move has nothing to be compared with
        found[~many] = -1
        row, place = np.nonzero(found >= 0)
        if len(row):
            after = state.take(row)
            self._engine.step(after, found[row, place])
            scores = self._judge.scores(after, np.zeros(len(row), np.int64))
            points = np.zeros(found.shape, np.float32)
            points[row, place] = scores[np.arange(len(row)), seats[row]]
            worth = ((points - points[:, :1]) / out[STAKES][:, None]).astype(np.float32)
            worth = worth.clip(-self._limit, self._limit)
            if advice:
                worth += (
                    self._trust
                    * advice[ADVICE][..., BEHIND].astype(np.float32)
                    / out[STAKES][:, None]
                )
            out[WORTH] = np.where(found >= 0, worth, 0)
        out[CANDIDATES] = found
        return out

    def _candidates(
        self,
        tables: Tables,
        state: Any,
        seats: npt.NDArray[np.integer],
        moves: npt.NDArray[np.integer],
        some: npt.NDArray[np.intp] | None,
    ) -> npt.NDArray[np.int32]:
        """``[n, K]``, each move once, the one played first."""
        views = tables.views(some)
        legal = tables.asked if some is None else tables.asked.take(some)
        ids, offsets = legal.ids()
        prices = self._tactical.prices(self._engine.rules, views.state, views.seats, ids, offsets)
        found = np.full((len(moves), self._count), -1, np.int32)
        found[:, 0] = moves
        places = self._advising.best_priced(ids, prices, offsets, self._count - 1 - RANDOM)
        found[:, 1:-RANDOM] = np.where(places < 0, -1, ids[places])
        lanes = table_lanes(np.asarray(state.seeds)[:, 0], seats)
        number = decision_numbers(state)
        for place in range(RANDOM):
            draws = lane_draws(self._seed, lanes, number * RANDOM + place)
            found[:, -1 - place] = legal.pick(draws)
        for place in range(1, self._count):
            again = (found[:, :place] == found[:, place, None]).any(axis=1)
            found[again, place] = -1
        return found


def columns_judged(config: TrainConfig) -> int:
    """K of a run's columns; 0: it has none."""
    if not config.distillation.steps:
        return 0
    if config.network.advice != "none":
        return config.network.candidates
    return config.distillation.candidates


def set_judging(learner: Learner, config: TrainConfig, steps: int) -> None:
    """Tell all samplers whether they have to judge moves after ``steps`` decisions of the run."""
    if config.distillation.steps:
        judges = steps < config.distillation.steps
        learner.each_sampler(_Switch(config, judges))


class _Switch:
    def __init__(self, config: TrainConfig, judges: bool) -> None:
        self._section, self._seed, self._judges = config.distillation, config.seed, judges
        self._rules, self._game = config.rules_string, config.game

    def __call__(self, sampler: Any) -> None:
        if not self._judges:
            sampler.judging = None
        elif sampler.judging is None:
            section = self._section
            sampler.judging = Judging(
                make_game(self._game, self._rules),
                section.candidates,
                section.limit,
                self._seed,
                section.trust,
            )
