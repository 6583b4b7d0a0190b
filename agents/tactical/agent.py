"""The agent."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.choosing import Pricing
from lupai.agents.tactical import bidding
from lupai.agents.tactical.beliefs import Belief, heuristic
from lupai.agents.tactical.bids import BIDS
from lupai.agents.tactical.counting import I64
from lupai.agents.tactical.play import Columns, Trick
from lupai.agents.tactical.weights import TERMS, WEIGHTS, Weights
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_PLAY, Solo

_STEPS = 4096.0  # prices are compared in steps of 1/4096


@cache
def _preset_bids(preset: str) -> bidding.F64:
    return bidding.table_of(BIDS[preset])


class TacticalAgent(Pricing):
    """Plays by rules of thumb about sets, control and camps; draws nothing.

    Args:
        belief: who is guard; see :mod:`lupai.agents.tactical.beliefs`.
        weights: constants of play; by preset when None.
        bids: coefficients of bidding; by preset when None.
        name: shown in tables.
    """

    def __init__(
        self,
        belief: Belief = heuristic,
        weights: Weights | None = None,
        bids: bidding.Bids | None = None,
        name: str = "tactical",
    ) -> None:
        self.name = name
        self._belief = belief
        self._weights = weights
        self._bids = None if bids is None else bidding.table_of(bids)

    def prices(
        self,
        rules: Rules,
        state: Any,
        me: npt.NDArray[np.intp],
        ids: I32,
        offsets: I64,
        terms: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Prices ``[C]`` of the legal ids (ragged) of masked tables; the first of the highest is
        played. From ``FIXED["runs_out"]`` on, less a little, a move surely runs out.

        Args:
            terms: ``[C, len(TERMS)]`` zeros; the terms of moves in play are written there.
        """
        sizes = np.diff(offsets)
        rows = np.repeat(np.arange(len(me)), sizes)
        out = np.zeros(len(ids))
        playing = state.phase == PHASE_PLAY
        for some, plays in ((playing, True), (~playing, False)):
            at = np.flatnonzero(some)
            if not at.size:
                continue
            keep: Any = slice(None)
            part, mine, theirs, again = state, me, ids, rows
            if at.size < len(me):
                keep = np.flatnonzero(some[rows])
                part, mine, theirs = state.take(at), me[at], ids[keep]
                again = np.repeat(np.arange(len(at)), sizes[at])
            if plays:
                columns = self._terms(rules, part, mine, theirs, again)
                out[keep] = self._play_prices(rules, part, columns, again)
                if terms is not None:
                    terms[keep] = np.stack([columns[name] for name in TERMS], axis=1)
            else:
                out[keep] = self._bid_prices(rules, part, mine, theirs, again)
        return out

    def _bid_prices(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], ids: I32, rows: I64
    ) -> npt.NDArray[np.float64]:
        return bidding.worth(rules, self._table(rules), state, me, ids, rows)

    def _terms(
        self, rules: Rules, state: Any, me: npt.NDArray[np.intp], ids: I32, rows: I64
    ) -> Columns:
        weights = self._weights or WEIGHTS[rules.preset]
        return Trick(rules, state, me, weights.wills, self._belief).terms(ids, rows)

    def _play_prices(
        self, rules: Rules, state: Any, columns: Columns, rows: I64
    ) -> npt.NDArray[np.float64]:
        weights = self._weights or WEIGHTS[rules.preset]
        price = np.zeros(len(rows))
        alone = (state.solo != Solo.NONE)[rows]  # as far as the player knows
        for name, weight in weights.terms.items():
            price += np.where(alone, weights.alone[name], weight) * columns[name]
        # rounded, so that the last bits of a float decide nothing
        return np.asarray(np.rint(price * _STEPS) / _STEPS)

    def _table(self, rules: Rules) -> npt.NDArray[np.float64]:
        return _preset_bids(rules.preset) if self._bids is None else self._bids
