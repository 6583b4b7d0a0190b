"""The agent."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.choosing import Pricing
from lupai.agents.gouji.tactical import early
from lupai.agents.gouji.tactical.counting import I64
from lupai.agents.gouji.tactical.play import Columns, Trick, worth_a_look
from lupai.agents.gouji.tactical.weights import TERMS, WEIGHTS, Weights
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import Phase

F64 = npt.NDArray[np.float64]

NO_LOOK: Final = -1e6  # price of a move that is not looked at
_STEPS: Final = 4096.0  # prices are compared in steps of 1/4096


class TacticalAgent(Pricing):
    """Plays by rules of thumb about sets, 够级 and sides; draws nothing.

    Args:
        weights: constants of play.
        name: shown in tables.
    """

    def __init__(self, weights: Weights = WEIGHTS, name: str = "tactical") -> None:
        self.name = name
        self.weights = weights

    def prices(
        self,
        rules: Rules,
        state: Any,
        me: npt.NDArray[np.intp],
        ids: I32,
        offsets: I64,
        terms: npt.NDArray[np.float32] | None = None,
    ) -> F64:
        """Prices ``[C]`` of the legal ids (ragged) of masked tables; the first of the highest is
        played. From ``FIXED["runs_out"]`` on, less a little, a move surely runs out; sets that are
        not worth a look cost :data:`NO_LOOK`.

        Args:
            rules: of the tables.
            state: N masked tables.
            me: ``[N]`` the players asked.
            ids: ``[C]``.
            offsets: ``[N + 1]``.
            terms: ``[C, len(TERMS)]`` zeros; the terms of moves in play are written there.
        """
        sizes = np.diff(offsets)
        rows = np.repeat(np.arange(len(me)), sizes)
        out = np.zeros(len(ids))
        playing = state.phase == Phase.PLAY
        at = np.flatnonzero(~playing)
        if at.size:
            keep = np.flatnonzero(~playing[rows])
            again = np.repeat(np.arange(len(at)), sizes[at])
            out[keep] = early.worth(state.take(at), me[at], ids[keep], again, self.weights.wills)
        at = np.flatnonzero(playing)
        if at.size:
            keep = np.flatnonzero(playing[rows])
            again = np.repeat(np.arange(len(at)), sizes[at])
            part = state if at.size == len(me) else state.take(at)
            trick = Trick(part, me[at], self.weights.wills)
            look = worth_a_look(trick.count, trick.standing, ids[keep], again)
            seen = np.zeros(len(at), bool)
            seen[again[look]] = True
            look |= ~seen[again]  # where nothing is, everything
            out[keep[~look]] = NO_LOOK
            keep, again = keep[look], again[look]
            columns = trick.terms(ids[keep], again)
            out[keep] = self._weighed(columns, part.melee[again] == 1)
            if terms is not None:
                terms[keep] = np.stack([columns[name] for name in TERMS], axis=1)
        return out

    def _weighed(self, columns: Columns, melee: npt.NDArray[np.bool_]) -> F64:
        price = np.zeros(len(melee))
        for name, weight in self.weights.race.items():
            price += np.where(melee, self.weights.melee[name], weight) * columns[name]
        # rounded, so that the last bits of a float decide nothing
        return np.asarray(np.rint(price * _STEPS) / _STEPS)
