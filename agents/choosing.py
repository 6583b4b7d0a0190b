"""What agents by rules of thumb do alike in every game: one view, or many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, best_of_rows
from lupai.envs.game import Game
from lupai.envs.view import View, Views

__all__ = ["Choosing", "Pricing"]

I64 = npt.NDArray[np.int64]


class Choosing:
    """Agent that chooses from tables and their factored legal moves; draws nothing."""

    def choose(self, engine: Game, state: Any, legal: Any, rows: I64, lanes: Any) -> I32:
        """Legal moves ``[N]`` of the seats asked at ``rows``; see
        :class:`~lupai.agents.rollout.Policy`."""
        raise NotImplementedError

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget."""

    def act(self, view: View) -> str:
        """A legal move."""
        row = np.zeros(1, np.intp)
        legal = view.engine.legal(view.state)
        return view.move_of(int(self.choose(view.engine, view.state, legal, row, row)[0]))

    def act_batch(self, views: Views) -> I32:
        """Legal moves ``[N]``."""
        rows = np.arange(len(views))
        return self.choose(views.engine, views.state, views.legal, rows, rows)

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """The same."""
        return self.act_batch(views)


class Pricing:
    """Agent that plays the legal move of the highest price; draws nothing."""

    name: str

    def prices(
        self, rules: Any, state: Any, me: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> npt.NDArray[np.float64]:
        """Prices ``[C]`` of the legal ids (ragged) of masked tables; the first of the highest is
        played."""
        raise NotImplementedError

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget."""

    def act(self, view: View) -> str:
        """The best-priced legal move."""
        ids = view.legal_ids
        offsets = np.array([0, len(ids)])
        me = np.array([view.seat], np.intp)
        chosen = self._choose(view.engine.rules, view.state, me, ids, offsets)
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> I32:
        """The best-priced legal moves ``[N]``."""
        ids, offsets = views.legal.ids()
        return self._choose(views.engine.rules, views.state, views.seats, ids, offsets)

    def _choose(
        self, rules: Any, state: Any, me: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> I32:
        """Moves ``[N]`` from masked tables and their legal ids (ragged)."""
        sizes = np.diff(offsets)
        out = ids[offsets[:-1]].copy()
        asked = np.flatnonzero(sizes > 1)  # a single legal move needs no price
        if asked.size:
            if asked.size < len(me):
                ids = ids[np.repeat(sizes > 1, sizes)]
                offsets = np.concatenate([[0], np.cumsum(sizes[asked])])
                state, me = state.take(asked), me[asked]
            out[asked] = ids[best_of_rows(self.prices(rules, state, me, ids, offsets), offsets)]
        return out
