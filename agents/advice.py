"""What ``tactical`` thinks of the moves, as inputs of a network: pure numpy.

A network that reads cards has to find out by itself which sets the others can answer, what is left
behind a move, and what it takes to run out. The terms by which ``tactical`` prices a move say just
that. A network with advice sees them, scores the best-priced moves and no others, and learns where
the price is wrong.

Letters: ``N`` decisions, ``C`` legal moves of all of them, ``K`` candidates of one, ``F`` features.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.gouji.tactical import agent as gouji
from lupai.agents.gouji.tactical import weights as gouji_weights
from lupai.agents.tactical import weights
from lupai.agents.tactical.agent import TacticalAgent
from lupai.agents.tactical.bids import BIDS
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.gouji.actions import VERB_ID as GOUJI_VERB_ID

__all__ = ["ADVISING", "BEHIND", "Advice", "Adviser", "Advising", "advice_hash"]

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

OF_PRICE: Final = 4
BEHIND: Final = 0  # column of the difference to the best price


@dataclass(frozen=True)
class Advising:
    """What advice is made of in a game.

    Attributes:
        tactical: who prices, with the method ``prices`` of both games' ``tactical``.
        terms: names of the terms of a price.
        passes: ids of the ways to pass, of which one is enough.
        sure: price from which a move in play needs no second thought.
        floor: a move of this price or less was not looked at.
        fitted: of rules, what of ``tactical`` is fitted, as JSON values.
    """

    tactical: Any
    terms: tuple[str, ...]
    passes: tuple[int, ...]
    sure: float
    floor: float
    fitted: Callable[[Any], list[Any]]

    @property
    def features(self) -> int:
        """F."""
        return OF_PRICE + len(self.terms)

    def best_priced(self, ids: I32, prices: F64, offsets: I64, count: int) -> I64:
        """``[N, count] int64`` places in ``ids`` of each row's best-priced moves, the best first,
        the first of equals; of the ways to pass one only, and nothing that was not looked at. -1
        behind the last.

        Args:
            ids: ``[C]`` legal ids of all rows. prices: ``[C]``. offsets: ``[N + 1]``.
        """
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((-prices, rows))
        passes = np.isin(ids[order], self.passes)
        keep = _first_of_rows(passes, offsets, rows) & (prices[order] > self.floor)
        order, rows = order[keep], rows[keep]
        number = np.arange(len(rows)) - np.searchsorted(rows, rows)
        some = number < count
        out = np.full((len(offsets) - 1, count), -1, np.int64)
        out[rows[some], number[some]] = order[some]
        return out


def _first_of_rows(passes: npt.NDArray[np.bool_], offsets: I64, rows: I64) -> npt.NDArray[np.bool_]:
    """``[C]`` false for passes behind the first one of their row."""
    before = np.concatenate([[0], np.cumsum(passes)])
    keep: npt.NDArray[np.bool_] = ~passes | (before[:-1] == before[offsets[:-1]][rows])
    return keep


def _fitted(rules: Any) -> list[Any]:
    return [asdict(weights.WEIGHTS[rules.preset]), sorted(BIDS[rules.preset].items())]


def _fitted_gouji(rules: Any) -> list[Any]:
    return [asdict(gouji_weights.WEIGHTS), gouji_weights.EARLY]


ADVISING: Final = {
    "baohuang": Advising(
        tactical=TacticalAgent(),
        terms=weights.TERMS,
        passes=tuple(VERB_ID[verb] for verb in ("pass", "yield", "claim")),
        sure=weights.FIXED["runs_out"] / 2,
        floor=-np.inf,
        fitted=_fitted,
    ),
    "gouji": Advising(
        tactical=gouji.TacticalAgent(),
        terms=gouji_weights.TERMS,
        passes=tuple(GOUJI_VERB_ID[verb] for verb in ("pass", "yield")),
        sure=gouji_weights.FIXED["runs_out"] / 2,
        floor=gouji.NO_LOOK,
        fitted=_fitted_gouji,
    ),
}  # by the name of the game


@dataclass(frozen=True)
class Advice:
    """The candidates of N decisions.

    Attributes:
        ids: ``[N, K] int32`` best-priced moves, the best first, of the ways to pass one only; -1
            behind the last. A move with which the seat surely runs out stands alone.
        features: ``[N, K, F] float16``: by how much the price is below the best, whether it is the
            best, the same difference close up, the price, and the terms of
            the game's module ``tactical.play``, which are 0 before play.
    """

    ids: I32
    features: npt.NDArray[np.float16]


class Adviser:
    """Asks ``tactical``.

    Args:
        candidates: K.
        game: at whose tables.
    """

    def __init__(self, candidates: int, game: str) -> None:
        self.count = candidates
        self.advising = ADVISING[game]

    def advise(
        self, rules: Any, state: Any, seats: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> Advice:
        """Advice at masked tables ``state [N]``, with the legal moves of ``seats`` (ragged)."""
        asked = self.advising
        terms = np.zeros((len(ids), len(asked.terms)), np.float32)
        prices = asked.tactical.prices(rules, state, seats, ids, offsets, terms)
        places = asked.best_priced(ids, prices, offsets, self.count)
        there = places >= 0
        price = prices[places]
        sure = (price[:, 0] >= asked.sure) & (np.asarray(state.phase) == state.PLAY)
        there[sure, 1:] = False
        features = np.zeros((*places.shape, asked.features), np.float16)
        behind = price - price[:, :1]
        features[..., BEHIND] = np.maximum(behind, -4)
        features[:, 0, 1] = 1
        features[..., 2] = np.maximum(behind * 4, -2)
        features[..., 3] = price.clip(-4, 4) / 2
        features[..., OF_PRICE:] = terms[places]
        features[~there] = 0
        return Advice(np.where(there, ids[places], -1).astype(np.int32), features)


def advice_hash(rules: Any, game: str) -> str:
    """Changes with everything in ``tactical`` that is fitted: a network knows only its own advice.

    Code is not hashed; a test holds a sample of advice fast.
    """
    asked = ADVISING[game]
    content = [asked.features, asked.terms, *asked.fitted(rules)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
