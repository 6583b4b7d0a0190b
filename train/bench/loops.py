"""Loops of random legal play to be timed.

A loop is called with a time in seconds, plays about that long, and returns units per second. It
goes on where it stopped: repeats see the middle of hands as well as their beginnings. For the same
reason many tables are begun staggered, see :func:`staggered`; all in step, a short repeat would see
bidding only.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import numpy as np

from lupai.envs.baohuang.rules import Rules
from lupai.envs.game import Game

Loop = Callable[[float], float]
Extra = Literal["", "observation", "mask"]

POOL: Final = 1024  # tables that are really played to stagger; more are copies of them
STAGGER: Final = 512  # decisions over which they are spread: about a hand
_APART: Final = 4  # decisions between two copies of one table
MASK_BYTES: Final = 44_000_000  # of one dense mask: of 65,536 tables it would take 700 MB or 5 GB


def mask_slice(actions: int) -> int:
    """Tables of one dense mask that is so wide; a power of two."""
    return 1 << max(MASK_BYTES // actions, 1).bit_length() - 1


def pick(ids: Any, offsets: Any, rng: np.random.Generator) -> Any:
    """One of the ragged ids for each table, ``[B]``."""
    counts = np.diff(offsets)
    return ids[offsets[:-1] + (rng.random(len(counts)) * counts).astype(np.int64)]


class Tables:
    """B tables of the engine, played at random; a hand that ends is followed by the next.

    Attributes:
        state: the tables.
        hands: hands that have ended.
        decisions: decisions made.
    """

    def __init__(self, engine: Game, state: Any, seed: int = 0) -> None:
        self.engine = engine
        self.state = state
        self.hands = self.decisions = 0
        self._rng = np.random.default_rng(seed)
        self._episodes = np.zeros(len(state), np.int64)

    def step(self, extra: Extra = "", tables: Any = None, *, listed: bool = True) -> None:
        """One decision at every table, or at some, and what else a player would ask for.

        Args:
            listed: all legal ids are written out and one is chosen; otherwise it is chosen from
                the engine's compact form.
        """
        engine, state = self.engine, self.state
        legal = engine.legal(state) if tables is None else engine.legal(state, tables)
        if extra == "observation":
            engine.observe(state, state.actor)
        elif extra == "mask":
            size = mask_slice(engine.actions.size)
            for start in range(0, len(state), size):
                whole = len(state) <= size
                rows = np.arange(start, min(start + size, len(state)))
                (legal if whole else legal.take(rows)).dense()
        if listed:
            ids, offsets = legal.ids()
            actions = pick(ids, offsets, self._rng)
        else:
            actions = legal.pick(self._rng.random(len(legal)))
        engine.step(state, actions, tables, legal=legal)
        self.decisions += len(actions)
        over = np.flatnonzero(state.over)
        if over.size:
            self.hands += len(over)
            self._episodes[over] += 1
            state.put(over, engine.reset(over, self._episodes[over]))

    def loop(self, extra: Extra = "", *, listed: bool = True) -> Loop:
        """Decisions per second."""

        def measure(limit: float) -> float:
            before, start = self.decisions, time.perf_counter()
            while True:
                self.step(extra, listed=listed)
                if (spent := time.perf_counter() - start) >= limit:
                    return (self.decisions - before) / spent

        return measure


def staggered(engine: Game, tables: int, seed: int = 0) -> Any:
    """State of B tables at all points of a hand, from its first decision to its last."""
    pool = min(tables, POOL)
    play = Tables(engine, engine.reset(np.arange(pool)), seed)
    for number in range(STAGGER):
        play.step(tables=np.arange(-(-pool * (number + 1) // STAGGER)))
    if tables <= pool:
        return play.state
    state = play.state.take(np.resize(np.arange(pool), tables))
    for start in range(pool, tables, pool):
        for _ in range(_APART):
            play.step()
        rows = np.arange(start, min(start + pool, tables))
        state.put(rows, play.state.take(np.arange(len(rows))))
    return state


def vector(rules: Rules, tables: int, seed: int = 0) -> Any:
    """The vector environment, its tables staggered, its arrays reused where it offers that."""
    from lupai.envs.baohuang_v0 import vector_env

    options = {"copy": False} if "copy" in inspect.signature(vector_env).parameters else {}
    env: Any = vector_env(tables, rules, seed, **options)
    state = staggered(env.engine, tables, seed)
    env.engine.reset = lambda *_args, **_options: state  # only for the reset of the next line
    env.reset()
    del env.engine.reset
    return env


def vector_loop(env: Any, mask: bool, seed: int = 0) -> Loop:
    """Decisions per second of a vector environment: observation, and the mask or ragged ids."""
    rng = np.random.default_rng(seed)

    def measure(limit: float) -> float:
        steps, start = 0, time.perf_counter()
        while True:
            if mask:
                env.action_mask()
                actions = env.legal.pick(rng.random(env.num_envs))
            else:
                ids, offsets = env.legal_ids()
                actions = pick(ids, offsets, rng)
            env.step(actions)
            steps += 1
            if (spent := time.perf_counter() - start) >= limit:
                return steps * env.num_envs / spent

    return measure


def rollout_loop(engine: Game, tables: int, agent: Any) -> Loop:
    """Whole hands per second, from the deal to the scores, the same agent in all seats."""
    from lupai.agents.rollout import rollout

    played = 0

    def measure(limit: float) -> float:
        nonlocal played
        hands, start = 0, time.perf_counter()
        while True:
            lanes = np.arange(played, played + tables)
            rollout(agent, engine.reset(lanes), engine, lanes=lanes, inplace=True)
            played += tables
            hands += tables
            if (spent := time.perf_counter() - start) >= limit:
                return hands / spent

    return measure


def legal_of(mask: Any) -> Any:
    """Ids of a mask of 0 and 1. Read as bool, an int8 one is searched some ten times faster."""
    return np.flatnonzero(mask.view(np.bool_) if mask.dtype == np.int8 else mask)


def aec_loop(env: Any, seed: int = 0) -> Loop:
    """Turns per second of PettingZoo's loop, whatever the game; closing turns of a hand count."""
    turns = _turns(env, np.random.default_rng(seed))

    def measure(limit: float) -> float:
        count, start = 0, time.perf_counter()
        while True:
            next(turns)
            count += 1
            if (spent := time.perf_counter() - start) >= limit:
                return count / spent

    return measure


def _turns(env: Any, rng: np.random.Generator) -> Iterator[None]:
    seed = 0
    while True:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _reward, end, cut, _info = env.last()
            if end or cut:
                env.step(None)
            else:
                legal = legal_of(observation["action_mask"])
                env.step(int(legal[int(rng.random() * len(legal))]))
            yield


def bytes_per_table(state: Any) -> float:
    """Memory of a state's arrays, shared memory counted once, over its tables."""
    names = {*getattr(state, "__dict__", ()), *getattr(type(state), "__slots__", ())}
    blocks = {}
    for value in (getattr(state, name, None) for name in names):
        if isinstance(value, np.ndarray):
            while isinstance(value.base, np.ndarray):  # views of one block
                value = value.base
            blocks[id(value)] = value.nbytes
    return sum(blocks.values()) / len(state)
