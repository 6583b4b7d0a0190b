"""`greedy` once more, slowly: a cost for every legal id, and the cheapest is played."""

import numpy as np

from lupai.agents.greedy import LATE
from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.sets import NUM_SETS, PARTS
from lupai.envs.cards import RANK_OF_KIND
from lupai.envs.sets import ROW_JOKERS

# Costs of moves; of the legal ones the cheapest is played, the lowest id of equals.
EMPTIES = -1
PASS = 1 << 30
EARLY_JOKERS = 1 << 31  # added: dearer than a pass
RISK = 1 << 32


def verb_costs(lowest):
    """``[A]``: costs of what is no set, calls with the lowest or the highest card first; 0 for
    sets."""
    costs = np.zeros(ACTIONS.size, np.int64)
    costs[: len(VERB_ID)] = RISK
    for verb in ("decline", "silent", "keep", "refuse"):
        costs[VERB_ID[verb]] = 0
    costs[[VERB_ID["pass"], VERB_ID["cede"]]] = PASS
    for block, count in ACTIONS.blocks:
        first = ACTIONS.offsets[block]
        if block == "call":
            order = np.arange(1, count + 1)
            costs[first : first + count] = order if lowest else order[::-1]
        elif block.startswith("call"):
            costs[first : first + count] = RISK
    costs.setflags(write=False)
    return costs


VERB_COSTS = (verb_costs(False), verb_costs(True))
SET_PARTS = np.zeros((ACTIONS.size, 5), np.int64)  # rank, n, b, r, identity
SET_PARTS[SET:SET_IDENTITY, :4] = PARTS[:NUM_SETS]
SET_PARTS[SET_IDENTITY:, :4] = PARTS
SET_PARTS[SET_IDENTITY:, 4] = 1


def by_id(state, seats, ids, offsets, supreme):
    """Of each row's legal ids (ragged) the one of least cost."""
    tables = np.arange(len(seats))
    rows = np.repeat(tables, np.diff(offsets))
    cost = VERB_COSTS[supreme][ids]
    sets = np.flatnonzero(ids >= SET)
    if sets.size:
        at, (rank, n, b, r, identity) = rows[sets], SET_PARTS[ids[sets]].T
        natural = rank < ROW_JOKERS
        ranks = state.ranks[tables, seats].astype(np.int64)
        x = identity * supreme
        if supreme:  # 特画 is never played at its natural rank
            mine = np.flatnonzero(state.identity_seat == seats)
            ranks[mine, RANK_OF_KIND[state.identity_kind[mine]]] -= 1
        held = ranks[at, np.where(natural, rank, 0)]
        left = np.where(natural, held - n, 0)
        leads = state.standing[at] < 0
        in_hand = state.sizes[tables, seats].astype(np.int64)[at]

        jokers = b + 2 * r + 3 * x
        breaks = (left > 0) & ~leads
        price = (((jokers * 2 + identity) * 2 + breaks) * 16 + rank) * 32 + left
        price += np.where((jokers > 0) & ~leads & (in_hand > LATE), EARLY_JOKERS, 0)
        empties = n + b + r + x == in_hand
        cost[sets] = np.where(empties, EMPTIES, price)
    least = np.minimum.reduceat(cost, offsets[:-1])
    places = np.flatnonzero(cost == least[rows])
    first = np.unique(rows[places], return_index=True)[1]
    return ids[places[first]]
