"""Random legal play in other suites, each in the loop that its own documentation teaches.

Each function imports its suite, makes a game and returns a loop (:data:`.loops.Loop`). None of
them is needed by lupai: ``pip install "lupai[bench]"`` brings all but jax and pgx.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Final

from lupai.train.bench.loops import Loop, aec_loop

EXTRA: Final = 'pip install "lupai[bench]"'
PGX_BATCH: Final = 1024
# distributions whose versions belong to the numbers
DISTRIBUTIONS: Final = ("open-spiel", "rlcard", "pettingzoo", "pygame-ce", "jax", "pgx")


@dataclass(frozen=True)
class Peer:
    """A loop of another suite.

    Attributes:
        name: suite, game, what else its loop does.
        package: distribution whose version is told.
        module: what must be importable.
        make: makes the loop; an ImportError says that something is missing after all.
        install: what would install it.
    """

    name: str
    package: str
    module: str
    make: Callable[[], Loop]
    install: str = EXTRA

    def present(self) -> bool:
        """Whether the suite seems to be installed; nothing is imported."""
        return find_spec(self.module) is not None


def installed(package: str) -> str | None:
    """Version of a distribution, None where there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def open_spiel(observe: bool, deals: bool = True) -> Loop:
    """OpenSpiel's dou_dizhu: C++ states driven from Python.

    Its deals are chance nodes, one for each card; they take time but are no decisions.

    Args:
        observe: ask for ``observation_tensor`` at every decision.
        deals: whether the time of the deals counts.
    """
    game = import_module("pyspiel").load_game("dou_dizhu")
    draw, clock = random.Random(0).random, time.perf_counter

    def measure(limit: float) -> float:
        count, spent, start = 0, 0.0, clock()
        while clock() - start < limit:
            begin = clock()
            state = game.new_initial_state()
            while state.is_chance_node():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
            if not deals:
                begin = clock()
            while not state.is_terminal():
                if observe:
                    state.observation_tensor()
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                count += 1
            spent += clock() - begin
        return count / spent

    return measure


def rlcard() -> Loop:
    """RLCard's Dou Dizhu: ``env.step`` with its features and legal actions."""
    env = import_module("rlcard").make("doudizhu")
    draw, clock = random.Random(0).random, time.perf_counter

    def measure(limit: float) -> float:
        count, start = 0, clock()
        while (spent := clock() - start) < limit:
            state, _ = env.reset()
            while not env.is_over():
                legal = list(state["legal_actions"])
                state, _ = env.step(legal[int(draw() * len(legal))])
                count += 1
        return count / spent

    return measure


def pgx(batch: int = PGX_BATCH) -> Loop:
    """Pgx's sparrow_mahjong: pick, step and reset of a batch in one jitted function."""
    jax, suite = import_module("jax"), import_module("pgx")
    numbers, randoms = jax.numpy, jax.random
    env = suite.make("sparrow_mahjong")
    step = jax.vmap(import_module("pgx.experimental").auto_reset(env.step, env.init))

    def turn(state: Any, key: Any) -> tuple[Any, Any]:
        key, choice, luck = randoms.split(key, 3)
        logits = numbers.where(state.legal_action_mask, 0.0, -numbers.inf)
        actions = randoms.categorical(choice, logits, axis=-1)
        return step(state, actions, randoms.split(luck, batch)), key

    turn = jax.jit(turn)
    key = randoms.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(randoms.split(key, batch))
    for _ in range(64):  # compiles, and spreads the hands
        state, key = turn(state, key)
    jax.block_until_ready(state)

    def measure(limit: float) -> float:
        nonlocal state, key
        count, start = 0, time.perf_counter()
        while True:
            state, key = turn(state, key)
            jax.block_until_ready(state)
            count += batch
            if (spent := time.perf_counter() - start) >= limit:
                return count / spent

    return measure


def tictactoe() -> Loop:
    """PettingZoo's tictactoe_v3 with its standard wrappers, in the loop that ours runs in."""
    return aec_loop(import_module("pettingzoo.classic.tictactoe_v3").env())


_SPIEL: Final = ("open-spiel", "pyspiel")
OPEN_SPIEL: Final = Peer("OpenSpiel dou_dizhu", *_SPIEL, lambda: open_spiel(False))
OPEN_SPIEL_UNDEALT: Final = Peer(
    "OpenSpiel dou_dizhu, deals not timed", *_SPIEL, lambda: open_spiel(False, deals=False)
)
OPEN_SPIEL_TENSOR: Final = Peer("OpenSpiel dou_dizhu + tensor", *_SPIEL, lambda: open_spiel(True))
RLCARD: Final = Peer("RLCard doudizhu env.step", "rlcard", "rlcard", rlcard)
PGX: Final = Peer(
    f"Pgx sparrow_mahjong, B={PGX_BATCH}", "pgx", "pgx", pgx, "pip install jax pgx"
)  # fmt: skip
TICTACTOE: Final = Peer("PettingZoo tictactoe_v3 env()", "pettingzoo", "pygame", tictactoe)
