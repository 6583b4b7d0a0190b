"""The agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.tactical import bidding
from lupai.agents.tactical.beliefs import Belief, heuristic
from lupai.agents.tactical.counting import I64
from lupai.agents.tactical.play import Trick
from lupai.agents.tactical.weights import WEIGHTS, Weights
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.view import View, Views


class TacticalAgent:
    """Plays by rules of thumb about sets, control and camps; draws nothing.

    Args:
        belief: who is guard; see :mod:`lupai.agents.tactical.beliefs`.
        weights: constants; by preset when None.
        name: shown in tables.
    """

    def __init__(
        self,
        belief: Belief = heuristic,
        weights: Weights | None = None,
        name: str = "tactical",
    ) -> None:
        self.name = name
        self._belief = belief
        self._weights = weights

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget."""

    def act(self, view: View) -> str:
        """The best-priced legal move."""
        ids = view.legal_ids
        offsets = np.array([0, len(ids)])
        me = np.array([view.seat], np.intp)
        chosen = self.choose(view.engine.rules, view.state, me, ids, offsets)
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> I32:
        """The best-priced legal moves ``[N]``."""
        ids, offsets = views.legal.ids()
        return self.choose(views.engine.rules, views.state, views.seats, ids, offsets)

    def choose(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> I32:
        """Moves ``[N]`` from masked tables and their legal ids (ragged)."""
        playing = state.phase == PHASE_PLAY
        if playing.all():
            return self._play(rules, state, me, ids, offsets)
        if not playing.any():
            return bidding.choose(rules, state, me, ids, offsets)
        out = np.zeros(len(me), np.int32)
        for some, how in ((playing, self._play), (~playing, bidding.choose)):
            rows = np.flatnonzero(some)
            keep = np.repeat(some, np.diff(offsets))
            sizes = np.diff(offsets)[rows]
            cut = np.concatenate([[0], np.cumsum(sizes)])
            out[rows] = how(rules, state.take(rows), me[rows], ids[keep], cut)
        return out

    def _play(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> I32:
        sizes = np.diff(offsets)
        rows = np.repeat(np.arange(len(me)), sizes)
        weights = self._weights or WEIGHTS[rules.preset]
        price = np.zeros(len(ids))
        asked = sizes > 1  # a single legal move needs no price
        if not asked.any():
            return ids[offsets[:-1]]
        if not asked.all():
            some = np.flatnonzero(asked)
            keep = asked[rows]
            number = np.cumsum(asked) - 1
            trick = Trick(rules, state.take(some), me[some], weights, self._belief)
            price[keep] = trick.prices(ids[keep], number[rows[keep]])
        else:
            price = Trick(rules, state, me, weights, self._belief).prices(ids, rows)
        best = np.maximum.reduceat(price, offsets[:-1])
        places = np.flatnonzero(price == best[rows])
        first = np.unique(rows[places], return_index=True)[1]
        return ids[places[first]]
