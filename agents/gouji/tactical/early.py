"""Before the first lead: revolution, waiver, tribute. Each answer has a worth; silence has 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32
from lupai.agents.chances import SIZES
from lupai.agents.gouji.tactical.counting import FULL, I64, Count
from lupai.agents.gouji.tactical.planning import Plan
from lupai.agents.gouji.tactical.weights import EARLY, Wills
from lupai.envs.cards import RANK_OF_KIND
from lupai.envs.gouji.actions import OFFER, SET, VERB_ID
from lupai.envs.gouji.sets import ROW_TWOS
from lupai.envs.seats import NOBODY


def worth(
    state: Any, me: npt.NDArray[np.intp], ids: I32, rows: I64, wills: Wills
) -> npt.NDArray[np.float64]:
    """Worth ``[C]`` of legal id i at table ``rows[i]`` of masked tables, none of them in play."""
    count = Count(state, me)
    plan = Plan(count, *wills.blend(count.sizes / FULL))
    words = np.zeros((len(me), OFFER))
    for verb in ("revolt", "waive"):
        base, strong = EARLY[verb]
        words[:, VERB_ID[verb]] = base + strong * plan.strong
    words[plan.losers < EARLY["strong"][0], VERB_ID["revolt"]] = -1
    # an unknown low card is one set more to get rid of; refused, the next offer can only be better
    offered = np.where(state.offered == NOBODY, 0, RANK_OF_KIND[state.offered])
    words[:, VERB_ID["refuse"]] = np.where(offered < EARLY["refuse"][0], 1.0, -1.0)
    out = np.zeros(len(ids))
    said = np.flatnonzero(ids < OFFER)
    out[said] = words[rows[said], ids[said]]
    given = np.flatnonzero((ids >= OFFER) & (ids < SET))
    rank, at = ids[given] - OFFER, rows[given]
    out[given] = _given(count, plan, at, rank)
    return out


def _given(count: Count, plan: Plan, at: I64, rank: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Worth ``[C]`` of giving a card of a rank away: the set that it helps least, and low cards,
    which help an opponent least."""
    natural = rank < ROW_TWOS
    row = np.where(natural, rank, 0)
    held = np.minimum(count.own[at, row], SIZES - 1)
    eased = plan.weak[at, row, held] - plan.weak[at, row, np.maximum(held - 1, 0)]
    per_rank = EARLY["offer"][0]
    return np.where(natural, eased - per_rank * rank, -per_rank * 100 * rank)
