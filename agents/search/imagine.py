"""Decisions to be made, the worlds that are imagined for them, and how likely each world is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.tactical.beliefs import Belief
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.seats import NOBODY

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]


@dataclass
class Decision:
    """What one player has to decide.

    Attributes:
        state: a masked table of one.
        seat: the player.
        candidates: ``[K] int32`` legal moves worth a look, that of ``tactical`` first.
        prices: ``[K]`` what ``tactical`` thinks of them.
        prior: ``[K]`` points that they have in advance.
        rng: all draws for this decision.
    """

    state: State
    seat: int
    candidates: I32
    prices: F64
    prior: F64
    rng: np.random.Generator


def draw(engine: Any, decision: Decision, count: int) -> State:
    """``count`` worlds that agree with all the player knows."""
    worlds: State = engine.determinize(decision.state, decision.seat, count, decision.rng)
    return worlds


def join(parts: list[State]) -> State:
    """One state with the tables of several."""
    if len(parts) == 1:
        return parts[0]
    whole = State(sum(len(part) for part in parts))
    start = 0
    for part in parts:
        whole.put(np.arange(start, start + len(part)), part)
        start += len(part)
    return whole


def guards(worlds: State) -> npt.NDArray[np.intp]:
    """``[W]`` who is guard in each world, ``SEATS`` where nobody is."""
    return np.where(worlds.guard == NOBODY, SEATS, worlds.guard).astype(np.intp)


def weights(
    rules: Any, decision: Decision, guard: npt.NDArray[np.intp], belief: Belief | None
) -> F64:
    """``[W]`` weights of worlds with these guards: together as likely as the belief says, alike
    among those with the same guard. All 1 without a belief, and where it rules out all of them."""
    ones = np.ones(len(guard))
    state = decision.state
    if belief is None or state.emperor[0] == NOBODY or state.public[0] == 1:
        return ones
    chance = np.asarray(belief(rules, state, np.array([decision.seat], np.intp)))[0]
    share = np.bincount(guard, minlength=SEATS + 1) / len(guard)
    out: F64 = (chance / np.maximum(share, 1e-9))[guard]
    return out if out.sum() > 0 else ones
