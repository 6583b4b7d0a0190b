"""Hands that are played for the value networks of ``search`` (tools/fit_value.py)."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.agents.search.value import features
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, State
from lupai.envs.view import Views

BLOCK = 1000  # hands
KEEP = 0.10  # of the decisions in play
STRAY = 0.05  # of the moves and bids are drawn from the best few (by greedy: from all legal moves)
FEW = 5
# every other block without the calls that leave the emperor alone, which else are most hands
OTHER = {"qingdao": ";grab=false", "shiwei": ";grab=false", "weihai": ";open_solo=false"}

Block = dict[str, np.ndarray]


def labels(places: np.ndarray) -> np.ndarray:
    """``[N, S, S]`` which place each seat took at the end; open places are shared alike."""
    out = np.zeros((len(places), SEATS, SEATS), np.float32)
    for place in range(1, SEATS + 1):
        out[:, :, place - 1] = places == place
    free = 1 - out.sum(axis=1)
    free /= np.maximum(free.sum(axis=1, keepdims=True), 1)
    return out + (places == 0)[:, :, None] * free[:, None, :]


def prepare(block: Block, supreme: bool) -> Block:
    """Inputs and targets of a block: ``inputs [N, F]``, ``targets [N, S * S]`` (places of the
    seats from the asked one on), ``hand [N]`` and ``seat [N]``, the asked one."""
    n = len(block["hand"])
    state = State(n)
    for name in ("numbers", "ranks", "sizes", "places"):
        setattr(state, name, block[name])
    seat = state.actor.astype(np.intp)
    order = (seat[:, None] + np.arange(SEATS)) % SEATS
    targets = labels(block["final"])[block["hand"][:, None], order].reshape(n, -1)
    return {
        "inputs": features(state, supreme=supreme).astype(np.float16),
        "targets": targets.astype(np.float16),
        "hand": block["hand"],
        "seat": seat.astype(np.int8),
    }


class Tactical:
    """Moves of ``tactical``, some astray."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.agent = engine, TacticalAgent()

    def step(self, state: State, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One move at each table; which of them were astray."""
        views = Views(self.engine, state, state.actor[rows].astype(np.intp), rows)
        ids, offsets = views.legal.ids()
        prices = self.agent.prices(self.engine.rules, views.state, views.seats, ids, offsets)
        counts = np.diff(offsets)
        best_first = np.lexsort((-prices, np.repeat(np.arange(len(rows)), counts)))
        stray = rng.random(len(rows)) < STRAY
        pick = np.where(stray, rng.random(len(rows)) * np.minimum(counts, FEW), 0).astype(int)
        self.engine.step(state, ids[best_first[offsets[:-1] + pick]], rows, legal=views.legal)
        return stray & (pick > 0)


class Greedy:
    """Moves of ``greedy``, some astray; many times faster."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.agent = engine, GreedyAgent()

    def step(self, state: State, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One move at each table; which of them were astray."""
        legal = self.engine.legal(state, rows)
        moves = self.agent.choose(self.engine, state, legal, rows, rows)
        stray = rng.random(len(rows)) < STRAY
        some = np.flatnonzero(stray)
        if some.size:
            ids, offsets = legal.take(some).ids()
            moves[some] = ids[rng.integers(offsets[:-1], offsets[1:])]
        self.engine.step(state, moves, rows, legal=legal)
        return stray


def play(rules: str, block: int, seed: int, player: type[Tactical] | type[Greedy]) -> Block:
    """Tables of a block of hands, in the order in which they came.

    Returns:
        Columns of the state at each kept table (``numbers``, ``ranks``, ``sizes``, ``places``),
        ``hand [N]``, and ``final [hands, S]``, the places at the end.
    """
    engine = Engine(rules + OTHER[rules] * (block % 2))
    moves = player(engine)
    rng = np.random.default_rng([seed, block])
    state = engine.reset(rng.integers(1 << 62, size=BLOCK))
    astray = np.zeros(BLOCK, bool)
    seen: list[tuple[np.ndarray, ...]] = []
    who = []
    while True:
        rows = np.flatnonzero(~state.over)
        if not rows.size:
            break
        playing = state.phase[rows] == PHASE_PLAY
        first = playing & (state.played[rows].sum(axis=(1, 2)) == 0)  # where a search of bids ends
        kept = rows[first | (playing & (astray[rows] | (rng.random(len(rows)) < KEEP)))]
        if kept.size:
            some = state.take(kept)
            seen.append((some.numbers, some.ranks, some.sizes, some.places))
            who.append(kept)
        astray[rows] = moves.step(state, rows, rng)
    numbers, ranks, sizes, places = (np.concatenate(part) for part in zip(*seen, strict=True))
    return {
        "numbers": numbers,
        "ranks": ranks,
        "sizes": sizes,
        "places": places,
        "hand": np.concatenate(who).astype(np.int16),
        "final": state.places,
    }


def gather(arguments: argparse.Namespace) -> list[Block]:
    """All blocks, from the folder where they are there."""
    out, start = [], time.monotonic()
    first, count = arguments.first, -(-arguments.hands // BLOCK)
    for block in range(first, first + count):
        name = f"{arguments.rules}-{arguments.seed}-{block}.npz"
        path = None if arguments.data is None else arguments.data / name
        if path is not None and path.exists():
            with np.load(path) as file:
                out.append({key: file[key] for key in file.files})
            continue
        out.append(play(arguments.rules, block, arguments.seed, Tactical))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.stem}.new.npz")
            np.savez(new, **out[-1])
            new.replace(path)
        took = time.monotonic() - start
        print(
            f"block {block}: {len(out[-1]['hand'])} rows, {took:.0f} s", file=sys.stderr, flush=True
        )
    return out
