"""Hands that are played for the value networks of ``search`` (tools/fit_value.py)."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from lupai.agents.by_game import Greedy as GreedyAgent
from lupai.agents.by_game import Tactical as TacticalAgent
from lupai.agents.search.network import Sight
from lupai.envs.game import Game, make_game
from lupai.envs.view import Views

BLOCK = 1000  # hands
KEEP = {"baohuang": 0.10, "gouji": 0.06}  # of the decisions in play
STRAY = 0.05  # of the moves and bids are drawn from the best few (by greedy: from all legal moves)
FEW = 5
# every other block without the calls that leave the emperor alone, which else are most hands
OTHER = {"qingdao": ";grab=false", "shiwei": ";grab=false", "weihai": ";open_solo=false"}
COLUMNS = ("numbers", "ranks", "sizes", "places")  # what is kept of a table

Block = dict[str, np.ndarray]


def labels(places: np.ndarray) -> np.ndarray:
    """``[N, S, S]`` which place each seat took at the end; open places are shared alike."""
    seats = places.shape[1]
    out = np.zeros((len(places), seats, seats), np.float32)
    for place in range(1, seats + 1):
        out[:, :, place - 1] = places == place
    free = 1 - out.sum(axis=1)
    free /= np.maximum(free.sum(axis=1, keepdims=True), 1)
    return out + (places == 0)[:, :, None] * free[:, None, :]


class Rows:
    """Tables of some blocks, and what a network learns of them.

    Args:
        blocks: see :func:`play`.
        sight: of the game.
        rules: of its preset.

    Attributes:
        inputs: ``[N, F] float16``.
        hand: ``[N]`` the hand of each table, counted through all blocks.
        seat: ``[N]`` the one that is asked.
        targets: ``[N, O] float16`` places of the seats from the asked one on, ``S * S``, and the
            outcome for its side.
        points: ``[N]`` what the asked seat scored at the end.
    """

    def __init__(self, blocks: list[Block], sight: Sight, rules: str) -> None:
        self.sight, self.engine = sight, make_game(sight.game, rules)
        sizes = [len(block["final"]) for block in blocks]
        first = np.cumsum([0, *sizes[:-1]])
        self.columns = {n: np.concatenate([block[n] for block in blocks]) for n in COLUMNS}
        self.hand = np.concatenate([b["hand"] + n for b, n in zip(blocks, first, strict=True)])
        final = np.concatenate([block["final"] for block in blocks])[self.hand]
        state = self.state(np.arange(len(self.hand)))
        self.seat = state.actor.astype(np.intp)
        seats = np.arange(sight.seats)
        order = (self.seat[:, None] + seats) % sight.seats
        row = np.arange(len(final))[:, None]
        places = labels(final)[row, order].reshape(len(final), -1)
        state.places = final
        state.phase = state.OVER
        outcome = np.zeros((len(final), sight.outcomes), np.float32)
        if sight.outcome_of is not None:
            which = sight.outcome_of(state)
            outcome[row[:, 0], which] = 1
        self.targets = np.concatenate([places, self.turned(outcome)], axis=1).astype(np.float16)
        self.points = self.engine.scores(state)[row[:, 0], self.seat]
        self.inputs = np.empty((len(final), sight.inputs), np.float16)
        for some in self.parts():
            self.inputs[some] = sight.features(self.state(some), self.engine.rules)

    def __len__(self) -> int:
        return len(self.hand)

    def state(self, rows: np.ndarray) -> Any:
        """Tables; what no network sees is missing."""
        state = self.engine.state_class(len(rows))
        for name, column in self.columns.items():
            setattr(state, name, column[rows])
        return state

    def parts(self) -> list[np.ndarray]:
        """All rows, some thousands at once."""
        return np.split(np.arange(len(self)), range(8192, len(self), 8192))

    def turned(self, outcome: np.ndarray) -> np.ndarray:
        """Outcomes ``[N, E]`` as the first side sees them, as that of the asked seat does; or
        back."""
        return np.where((self.seat % 2 == 1)[:, None], outcome[:, ::-1], outcome)


class Tactical:
    """Moves of ``tactical``, some astray."""

    def __init__(self, engine: Game) -> None:
        self.engine, self.agent = engine, TacticalAgent().of(engine)

    def step(self, state: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One move at each table; which of them were astray."""
        legal = self.engine.legal(state, rows)
        ids, offsets = legal.ids()
        counts = np.diff(offsets)
        prices = np.zeros(len(ids))
        free = np.flatnonzero(counts > 1)  # a single legal move needs no price
        if free.size:
            views = Views(self.engine, state, state.actor[rows[free]].astype(np.intp), rows[free])
            some, ends = legal.take(free).ids()
            prices[np.repeat(counts > 1, counts)] = self.agent.prices(
                self.engine.rules, views.state, views.seats, some, ends
            )
        best_first = np.lexsort((-prices, np.repeat(np.arange(len(rows)), counts)))
        stray = rng.random(len(rows)) < STRAY
        pick = np.where(stray, rng.random(len(rows)) * np.minimum(counts, FEW), 0).astype(int)
        self.engine.step(state, ids[best_first[offsets[:-1] + pick]], rows, legal=legal)
        return stray & (pick > 0)


class Greedy:
    """Moves of ``greedy``, some astray; many times faster."""

    def __init__(self, engine: Game) -> None:
        self.engine, self.agent = engine, GreedyAgent().of(engine)

    def step(self, state: Any, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
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


def play(
    game: str, rules: str, block: int, seed: int, player: type[Tactical] | type[Greedy]
) -> Block:
    """Tables of a block of hands, in the order in which they came.

    Returns:
        Columns of the state at each kept table (``numbers``, ``ranks``, ``sizes``, ``places``),
        ``hand [N]``, and ``final [hands, S]``, the places at the end.
    """
    engine = make_game(game, rules + OTHER.get(rules, "") * (block % 2))
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
        playing = state.phase[rows] == state.PLAY
        first = playing & (state.played[rows].sum(axis=(1, 2)) == 0)  # where a search of bids ends
        kept = rows[first | (playing & (astray[rows] | (rng.random(len(rows)) < KEEP[game])))]
        if kept.size:
            seen.append(tuple(getattr(state, name)[kept] for name in COLUMNS))
            who.append(kept)
        astray[rows] = moves.step(state, rows, rng)
    parts = (np.concatenate(part) for part in zip(*seen, strict=True))
    return {
        **dict(zip(COLUMNS, parts, strict=True)),
        "hand": np.concatenate(who).astype(np.int16),
        "final": state.places,
    }


def gather(arguments: argparse.Namespace) -> list[Block]:
    """All blocks, from the folder where they are there."""
    out, start = [], time.monotonic()
    count = -(-arguments.hands // (BLOCK * len(arguments.first)))
    for block in (first + i for first in arguments.first for i in range(count)):
        name = f"{arguments.rules}-{arguments.seed}-{block}.npz"
        path = None if arguments.data is None else arguments.data / name
        if path is not None and path.exists():
            with np.load(path) as file:
                out.append({key: file[key] for key in file.files})
            continue
        out.append(play(arguments.game, arguments.rules, block, arguments.seed, Tactical))
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
