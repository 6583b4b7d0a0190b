"""Random streams of agents, apart from each other and from the deal's.

A deal is drawn from its seed itself (:mod:`lupai.envs.deals`). Everything here goes through numpy's
``SeedSequence`` with a spawn key of the agents' own first, so that an agent who is handed the
deal's seed by mistake still draws nothing that has to do with the deal.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.deals import GAMMA, mix

AGENT_KEY: Final = 0x6C7570  # tag of agents' streams; another tag would move every record
_SEATS, _OWN, _LANES, _LEARNER, _DECISIONS = range(5)  # second word of the spawn key

U64 = npt.NDArray[np.uint64]


def agent_seed(seed: int, seat: int) -> int:
    """Seed for the agent in ``seat`` of a run with ``seed``; other runs and seats get others.

    >>> agent_seed(7, 0) == agent_seed(7, 0), agent_seed(7, 0) == agent_seed(7, 1)
    (True, False)
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(AGENT_KEY, _SEATS, seat))
    return int(sequence.generate_state(1, np.uint64)[0])


def own_generator(seed: int) -> np.random.Generator:
    """Generator for an agent's draws one after another."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(AGENT_KEY, _OWN)))


def decision_generator(seed: int, lane: int, redeals: int, moves: int) -> np.random.Generator:
    """Generator for all draws of one decision: after ``moves`` moves of the hand on ``lane``.

    Two decisions of a lane never share one, whatever was decided before or beside them.
    """
    key = (AGENT_KEY, _DECISIONS, lane, redeals, moves)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def lane_draws(seed: int, lanes: npt.ArrayLike, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Draws in [0, 1): number ``numbers[i]`` of stream ``lanes[i]``, without any stored state.

    SplitMix64's finaliser over (seed, lane, number), the seed going through ``SeedSequence``.

    Args:
        seed: of all the lanes.
        lanes: ``[N]`` which stream.
        numbers: ``[N]`` which draw of it.
    """
    words = mix(_lanes_base(seed) + np.asarray(lanes).astype(np.uint64) * GAMMA)
    words = mix(words + (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GAMMA)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


@lru_cache(maxsize=64)
def _lanes_base(seed: int) -> U64:
    sequence = np.random.SeedSequence(seed, spawn_key=(AGENT_KEY, _LANES))
    base: U64 = sequence.generate_state(1, np.uint64).astype(np.uint64)
    base.setflags(write=False)
    return base


def decision_numbers(
    state: Any, rows: npt.NDArray[np.integer] | slice = slice(None)
) -> npt.NDArray[np.int64]:
    """Numbers ``[N]`` of the draws at tables ``rows``, by the moves of the hand; a void deal that
    is dealt anew goes on with others.

    Args:
        state: tables with the columns ``redeals`` and ``moves``, which are too narrow for it.
        rows: which tables; all by default.
    """
    numbers: npt.NDArray[np.int64] = (state.redeals[rows].astype(np.int64) << 20) + state.moves[
        rows
    ]
    return numbers


def table_lanes(hand_seeds: U64, seats: npt.ArrayLike) -> U64:
    """Lanes ``[N]`` of seats at tables that are known by the seeds of their hands alone.

    Args:
        hand_seeds: ``[N]`` seed of the hand that is played.
        seats: ``[N]``.
    """
    return mix(hand_seeds) + np.asarray(seats).astype(np.uint64)


def seat_order(hand_seed: int, seats: int) -> list[int]:
    """All seats in a random order that depends on the hand's seed only: who is to learn there."""
    sequence = np.random.SeedSequence(hand_seed, spawn_key=(AGENT_KEY, _LEARNER))
    order: list[int] = np.random.default_rng(sequence).permutation(seats).tolist()
    return order
