"""Loops that guess what is hidden: worlds of a view, and the chances of who is guard."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import SEATS, Phase
from lupai.train.bench import loops
from lupai.train.bench.loops import Loop, pick

TABLES: Final = 512  # of which those are looked at where the role is hidden
WORLDS: Final = 32  # of a view at once, as `search` draws them
_LATER: Final = 60  # random moves over which they are spread; many more, and most are known
_CALM: Final = [VERB_ID[word] for word in ("decline", "keep", "silent", "cede")]

Ints = npt.NDArray[np.intp]


def calm_hands(engine: Engine, ceded: bool, tables: int, seed: int = 0) -> Any:
    """State of tables 0 … 60 random moves after the first lead, where nobody said who he is.

    Args:
        ceded: all ceded, so that one was forced to call.
    """
    rng = np.random.default_rng(seed)
    state = engine.reset(range(seed, seed + tables))
    later = np.arange(tables) * _LATER // tables
    while True:
        bids = state.phase < Phase.PLAY
        open_ = np.flatnonzero(~state.over & (bids | (later > 0)))
        if not open_.size:
            return state
        later[open_] -= ~bids[open_]
        ids, offsets = engine.legal(state, open_).ids()
        actions = pick(ids, offsets, rng)
        for i in np.flatnonzero(bids[open_]).tolist():
            legal = ids[offsets[i] : offsets[i + 1]]
            calm = np.flatnonzero(np.isin(legal, _CALM[: len(_CALM) - (not ceded)]))
            # else the last: a call, a solo in secret if there is one, or to cede for want of one
            actions[i] = legal[calm[0]] if calm.size else legal[-1]
        engine.step(state, actions, open_)


def views(engine: Engine, ceded: bool) -> tuple[Any, Ints]:
    """Tables with a hidden role, and one seat of each that does not know it."""
    state = calm_hands(engine, ceded, min(TABLES, loops.STAGGER))
    viewer = (state.emperor + 1) % SEATS
    viewer = np.where(viewer == state.guard, (viewer + 1) % SEATS, viewer).astype(np.intp)
    open_ = np.flatnonzero((state.emperor >= 0) & (state.public == 0) & ~state.over)
    return state.take(open_), viewer[open_]


def worlds_loop(engine: Engine, state: Any, viewer: Ints) -> Loop:
    """Views per second, so many worlds each."""
    rng = np.random.default_rng(0)
    return _loop(len(viewer), lambda i: engine.determinize(state, viewer[i], WORLDS, rng, i))


def chances_loop(engine: Engine, state: Any, viewer: Ints) -> Loop:
    """Views per second."""
    return _loop(len(viewer), lambda i: engine.guard_chances(state, viewer[i], i))


def _loop(count: int, ask: Any) -> Loop:
    """One view after the other, going on where it stopped."""
    done = 0

    def measure(limit: float) -> float:
        nonlocal done
        before, start = done, time.perf_counter()
        while True:
            ask([done % count])
            done += 1
            if (spent := time.perf_counter() - start) >= limit:
                return (done - before) / spent

    return measure
