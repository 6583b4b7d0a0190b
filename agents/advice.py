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
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.tactical.agent import TacticalAgent
from lupai.agents.tactical.bids import BIDS
from lupai.agents.tactical.weights import FIXED, TERMS, WEIGHTS
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_PLAY

__all__ = ["FEATURES", "SURE", "Advice", "Adviser", "advice_hash", "best_priced"]

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

OF_PRICE: Final = 4
BEHIND: Final = 0  # column of the difference to the best price
FEATURES: Final = OF_PRICE + len(TERMS)
SURE: Final = FIXED["runs_out"] / 2  # price from which a move needs no second thought
_WAYS_TO_PASS: Final = [VERB_ID[verb] for verb in ("pass", "yield", "claim")]


def best_priced(ids: I32, prices: F64, offsets: I64, count: int) -> I64:
    """``[N, count] int64`` places in ``ids`` of each row's best-priced moves, the best first, the
    first of equals; of the ways to pass one only. -1 behind the last.

    Args:
        ids: ``[C]`` legal ids of all rows. prices: ``[C]``. offsets: ``[N + 1]``.
    """
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-prices, rows))
    passes = np.isin(ids[order], _WAYS_TO_PASS)
    before = np.concatenate([[0], np.cumsum(passes)])
    keep = ~passes | (before[:-1] == before[offsets[:-1]][rows])
    order, rows = order[keep], rows[keep]
    number = np.arange(len(rows)) - np.searchsorted(rows, rows)
    some = number < count
    out = np.full((len(offsets) - 1, count), -1, np.int64)
    out[rows[some], number[some]] = order[some]
    return out


@dataclass(frozen=True)
class Advice:
    """The candidates of N decisions.

    Attributes:
        ids: ``[N, K] int32`` best-priced moves, the best first, of the ways to pass one only; -1
            behind the last. A move with which the seat surely runs out stands alone.
        features: ``[N, K, F] float16``: by how much the price is below the best, whether it is the
            best, the same difference close up, the price, and the terms of
            :mod:`lupai.agents.tactical.play`, which are 0 before play.
    """

    ids: I32
    features: npt.NDArray[np.float16]


class Adviser:
    """Asks ``tactical``.

    Args:
        candidates: K.
    """

    def __init__(self, candidates: int) -> None:
        self.count = candidates
        self._tactical = TacticalAgent()

    def advise(
        self, rules: Rules, state: Any, seats: npt.NDArray[np.intp], ids: I32, offsets: I64
    ) -> Advice:
        """Advice at masked tables ``state [N]``, with the legal moves of ``seats`` (ragged)."""
        terms = np.zeros((len(ids), len(TERMS)), np.float32)
        prices = self._tactical.prices(rules, state, seats, ids, offsets, terms)
        places = best_priced(ids, prices, offsets, self.count)
        there = places >= 0
        price = prices[places]
        sure = (price[:, 0] >= SURE) & (np.asarray(state.phase) == PHASE_PLAY)
        there[sure, 1:] = False
        features = np.zeros((*places.shape, FEATURES), np.float16)
        behind = price - price[:, :1]
        features[..., BEHIND] = np.maximum(behind, -4)
        features[:, 0, 1] = 1
        features[..., 2] = np.maximum(behind * 4, -2)
        features[..., 3] = price.clip(-4, 4) / 2
        features[..., OF_PRICE:] = terms[places]
        features[~there] = 0
        return Advice(np.where(there, ids[places], -1).astype(np.int32), features)


def advice_hash(rules: Rules) -> str:
    """Changes with everything in ``tactical`` that is fitted: a network knows only its own advice.

    Code is not hashed; a test holds a sample of advice fast.
    """
    bids = sorted(BIDS[rules.preset].items())
    content = [FEATURES, TERMS, asdict(WEIGHTS[rules.preset]), bids]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
