"""The agent."""

from __future__ import annotations

import secrets
import time
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.advice import ADVISING
from lupai.agents.base import I32
from lupai.agents.search import flat, tree
from lupai.agents.search.errors import SearchError
from lupai.agents.search.imagine import Decision
from lupai.agents.search.judge import Judge
from lupai.agents.search.options import Options
from lupai.agents.streams import decision_generator
from lupai.agents.tactical.agent import TacticalAgent
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.view import View, Views

_ADVISING: Final = ADVISING["baohuang"]


def _before(until: float) -> bool:
    return time.perf_counter() < until


class SearchAgent:
    """Looks ahead in worlds drawn from what it knows; ``tactical`` names the moves to look at.

    With a fixed number of simulations a move depends on view, seed and lane alone.

    Args:
        options: how it decides.
        seed: of its draws; fresh entropy when None.
    """

    games = ("baohuang",)

    def __init__(self, options: Options | None = None, seed: int | None = None) -> None:
        self.options: Final = options or Options()
        text = str(self.options)
        self.name = f"search:{text}" if text else "search"
        self.tactical = TacticalAgent()
        self._judges: dict[str, Judge] = {}
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Draw from this seed from now on."""
        self._seed = secrets.randbits(64) if seed is None else seed

    def act(self, view: View) -> str:
        """The move that is best in the imagined worlds."""
        ids = view.legal_ids
        offsets = np.array([0, len(ids)])
        chosen = self._decide(
            view.engine, view.state, np.array([view.seat], np.intp), ids, offsets, np.zeros(1, int)
        )
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> I32:
        """The same as :meth:`act` on each view."""
        return self.act_lanes(views, np.zeros(len(views), int))

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """Action ids ``[N] int32``; view i draws from stream ``lanes[i]``."""
        ids, offsets = views.legal.ids()
        return self._decide(views.engine, views.state, views.seats, ids, offsets, lanes)

    def _decide(
        self,
        engine: Any,
        state: Any,
        seats: npt.NDArray[np.intp],
        ids: I32,
        offsets: npt.NDArray[np.int64],
        lanes: npt.NDArray[np.integer],
    ) -> I32:
        if engine.game != "baohuang":
            raise SearchError(f"agent 'search' does not play {engine.game}; it plays baohuang")
        began = time.perf_counter()
        out = np.zeros(len(seats), np.int32)
        open_: list[tuple[int, Decision]] = []
        prices = self.tactical.prices(engine.rules, state, seats, ids, offsets)
        places = _ADVISING.best_priced(ids, prices, offsets, self.options.candidates)
        best, worth_of = np.where(places < 0, -1, ids[places]), prices[places]
        for i in range(len(seats)):
            count = int(np.count_nonzero(best[i] >= 0))
            found, worth = best[i, :count], worth_of[i, :count]
            out[i] = found[0]
            playing = state.phase[i] == PHASE_PLAY
            if len(found) < 2 or (worth[0] >= _ADVISING.sure if playing else not self.options.bids):
                continue
            rng = decision_generator(
                self._seed, int(lanes[i]), int(state.redeals[i]), int(state.moves[i])
            )
            # Prices of bids are points already, and far less sure than what bids lead to.
            prior = worth * (self.options.trust if playing else 0.0)
            decision = Decision(state.take([i]), int(seats[i]), found, worth, prior, rng)
            open_.append((i, decision))
        judge = self._judge(engine)
        for (i, decision), place in zip(
            open_, self._places(engine, open_, judge, began), strict=True
        ):
            out[i] = decision.candidates[place]
        return out

    def _places(
        self, engine: Any, open_: list[tuple[int, Decision]], judge: Judge, began: float
    ) -> list[int]:
        decisions = [decision for _, decision in open_]
        limit = self.options.milliseconds
        choose = flat.choose if self.options.method == "flat" else tree.choose
        if limit is None:
            return choose(engine, decisions, judge, judge.options, lambda: True)
        places: list[int] = []
        for decision in decisions:  # one after another: each has its time
            until = began + limit / 1000
            more = partial(_before, until)
            places += choose(engine, [decision], judge, judge.options, more)
            began = time.perf_counter()
        return places

    def _judge(self, engine: Any) -> Judge:
        rules = str(engine.rules)
        if rules not in self._judges or self._judges[rules].engine is not engine:
            self._judges[rules] = Judge(engine, self.options, self.tactical)
        return self._judges[rules]
