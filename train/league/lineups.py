"""The opponents at a sampler's tables: who holds which seat, and what the others play.

A sampler asks the learner only; here everybody else is answered for, all decisions of one opponent
in one call. Opponents are lupai's agents and no RLModules: RLlib knows
nothing of them, so none of its traps with modules that come and go applies. An opponent is asked
wherever it has a choice, also where the learner would pass unasked, so it plays as it does alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, ask
from lupai.agents.streams import agent_seed, table_lanes
from lupai.envs.game import Game
from lupai.envs.view import Views
from lupai.train.arena.caller import call_hands
from lupai.train.league.matchmaking import NOBODY_ELSE, SEATING, Plan, Seating, draw_seats

__all__ = ["Lineups"]

I64 = npt.NDArray[np.int64]


class Lineups:
    """Line-ups of B tables of one sampler.

    Until it has a plan all seats are the learner's.

    Args:
        tables: B.
        worker: number of the sampler; others draw other line-ups from the same plan.
        seating: ``drawn`` by the plan before the deal; ``emperor_camp``, ``rebel_camp``: the
            neutral caller plays up to the first lead, then that camp's seats are the learner's.
        seed: of the opponents' own draws.
        seats: S of the game.

    Attributes:
        learner: ``[B, S] bool`` seats of the learner.
    """

    def __init__(
        self,
        tables: int,
        worker: int = 0,
        seating: Seating = "drawn",
        seed: int = 0,
        seats: int = 5,
    ) -> None:
        if seating not in SEATING:
            raise ValueError(f"seating is {seating!r}; allowed: {', '.join(SEATING)}")
        self.seating = seating
        self.learner = np.ones((tables, seats), np.bool_)
        self._worker, self._seed = worker, seed
        self._plan = Plan((), (), 1.0, (1.0,) * (seats - 1), 0)
        self._rng = np.random.default_rng(0)  # a plan brings its own
        self._agents: dict[str, Agent] = {}
        self._names: list[str] = []  # of all opponents so far, by the numbers in _against
        self._against = np.full(tables, NOBODY_ELSE, np.int64)
        self._sums: dict[str, tuple[int, float]] = {}

    # --- from and to the trainer -----------------------------------------------------------------

    def lacks(self, names: Iterable[str]) -> list[str]:
        """Which of these opponents it does not have yet."""
        return [name for name in names if name not in self._agents]

    def take(self, plan: Plan, packed: Mapping[str, bytes]) -> None:
        """Seat new hands by a plan; running ones keep their line-ups to the end.

        Args:
            plan: how; it is left alone where an opponent is neither known nor given.
            packed: pickled agents that may be missing here.
        """
        missing = self.lacks(plan.names)
        if not packed.keys() >= set(missing):
            return  # it was started between the trainer's question and this: next time
        for name in missing:
            agent = pickle.loads(packed[name])
            agent.reset(agent_seed(self._seed, self._worker))
            self._agents[name] = agent
            self._names.append(name)
        self._plan = plan
        words = np.random.SeedSequence([plan.word, self._worker])
        self._rng = np.random.Generator(np.random.PCG64(words))
        playing = {self._names[i] for i in self._against[self._against != NOBODY_ELSE]}
        for name in set(self._agents) - set(plan.names) - playing:
            del self._agents[name]

    def collect(self) -> dict[str, tuple[int, float]]:
        """Since the last call, by opponent: hands that ended, and the sum of the learner's scores
        in them (the mean over its seats, in points)."""
        sums, self._sums = self._sums, {}
        return sums

    # --- at the tables ---------------------------------------------------------------------------

    def seat(self, engine: Game, state: Any, rows: npt.NDArray[np.integer]) -> None:
        """Seat the hands ``state [N]`` that were just dealt for the tables ``rows [N]``."""
        opponents, learner = draw_seats(self._plan, len(rows), self._rng)
        numbers = [self._names.index(name) for name in self._plan.names]
        met = opponents != NOBODY_ELSE
        if self.seating != "drawn":
            call_hands(engine, state, "neutral")
            every = np.arange(engine.seats)
            emperor, guard = np.asarray(state.emperor)[:, None], np.asarray(state.guard)[:, None]
            camp = (every == emperor) | (every == guard)
            learner[met] = (camp == (self.seating == "emperor_camp"))[met]
        self.learner[rows] = learner
        self._against[rows] = NOBODY_ELSE
        self._against[rows[met]] = np.array(numbers, np.int64)[opponents[met]]

    def answer(
        self,
        engine: Game,
        state: Any,
        rows: npt.NDArray[np.integer],
        legal: Any,
        counts: I64,
        moves: npt.NDArray[np.integer],
    ) -> npt.NDArray[np.bool_]:
        """Fill in the opponents' moves.

        Args:
            engine: the rules.
            state: the B tables.
            rows: ``[N]`` tables that wait for a decision.
            legal: the legal moves there. counts: ``[N]`` how many.
            moves: ``[N]`` to be filled where an opponent is asked.

        Returns:
            ``[N]`` where that is.
        """
        actors = np.asarray(state.actor)[rows].astype(np.intp)
        theirs: npt.NDArray[np.bool_] = ~self.learner[rows, actors]
        if not theirs.any():
            return theirs
        forced = np.flatnonzero(theirs & (counts == 1))
        if len(forced):
            moves[forced] = legal.take(forced).ids()[0]
        free = theirs & (counts > 1)
        against = self._against[rows]
        for number in np.unique(against[free]).tolist():
            part = np.flatnonzero(free & (against == number))
            at, seats = rows[part], actors[part]
            views = Views(engine, state, seats, at, legal=legal.take(part))
            lanes = table_lanes(np.asarray(state.seeds)[at, 0], seats)
            moves[part] = ask(self._agents[self._names[number]], views, lanes)
        return theirs

    def settle(self, rows: npt.NDArray[np.integer], scores: I64) -> None:
        """Take in the final scores ``[N, 5]`` of hands that ended at the tables ``rows``."""
        for row, score in zip(rows.tolist(), scores, strict=True):
            number, mine = int(self._against[row]), self.learner[row]
            if number != NOBODY_ELSE and mine.any() and not mine.all():
                name = self._names[number]
                hands, points = self._sums.get(name, (0, 0.0))
                self._sums[name] = hands + 1, points + float(score[mine].mean())
