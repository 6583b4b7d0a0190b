"""``lupai record`` and ``lupai verify``: hands played by agents as files, and their check."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np

from lupai.agents.base import Agent, LaneAgent, ask, check_plays
from lupai.agents.registry import load
from lupai.agents.rollout import Policy
from lupai.agents.streams import agent_seed
from lupai.envs.cards import shorten
from lupai.envs.deals import check_seed
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game
from lupai.envs.log import Log
from lupai.envs.records import dump_record, load_record, make_record
from lupai.envs.verify import verify_records
from lupai.envs.view import Views
from lupai.train.cli.common import (
    Line,
    UsageError,
    add_game,
    add_jobs,
    add_progress,
    lines,
    one_line,
    positive,
    progress_bar,
    read_game,
    reading,
    stdout,
    writing,
)  # fmt: skip
from lupai.train.jobs import run_jobs

RECORD_EXAMPLES: Final = """examples:
  lupai record --hands 100 --seed 7 -o hands.jsonl
  lupai record --players greedy,random,random,random,random --hands 1000 -o hands.jsonl
  lupai record --game gouji --hands 100 -o gouji.jsonl
  lupai record --rules weihai --option votes_needed=1 --hands 10 -o weihai.jsonl
  lupai record --players runs/quick --hands 10 -o - | lupai verify -
  lupai record --hands 100000 --jobs 8 -o many.jsonl

The same command writes the same bytes. Hand i is dealt by a seed of its own, which its record
names: env.reset(seed=...) with it deals this very hand. --hands 10 writes the first ten of
--hands 1000.
"""
VERIFY_EXAMPLES: Final = """examples:
  lupai verify hands.jsonl
  lupai verify monday.jsonl tuesday.jsonl
  lupai record --hands 10 -o - | lupai verify -
  lupai verify --jobs 8 many.jsonl

Every line that is not a possible, finished hand is named with the move that cannot be and why.
Exit status: 0 all are possible; 1 some are not; 2 a file cannot be read.
"""
TABLES: Final = 128  # hands played at once; the records do not depend on it
MOST_TABLES: Final = 512  # the same for agents that are policies; twice as fast with them
AT_ONCE: Final = 512  # records verified at once; more are hardly faster
BYTES_AT_ONCE: Final = 1 << 24  # about: a batch of very long lines is a smaller one


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "record",
        help="let agents play and write the hands down",
        description="Let agents play hands and write one record per line.",
        epilog=RECORD_EXAMPLES,
    )
    add_game(parser)
    parser.add_argument(
        "--players",
        default="random",
        help="an agent for all seats, or one for each with commas between: random, greedy, "
        "tactical, or the folder of a run (%(default)s)",
    )
    parser.add_argument("--hands", type=positive, default=1, help="how many (%(default)s)")
    parser.add_argument("--seed", default="0", help="of deals and agents (%(default)s)")
    parser.add_argument("-o", "--out", required=True, help="file; - is standard output")
    add_jobs(parser, "the bytes are the same")
    add_progress(parser)
    parser.set_defaults(run=run_record)

    parser = commands.add_parser(
        "verify",
        help="check that recorded hands are possible",
        description="Replay recorded hands and report those that are not possible.",
        epilog=VERIFY_EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="records; - is standard input")
    add_jobs(parser, "the output is the same")
    add_progress(parser)
    parser.set_defaults(run=run_verify)


def run_record(arguments: argparse.Namespace) -> int:
    """Write the records."""
    engine = read_game(arguments.game, arguments.rules, arguments.option)
    seed = read_seed(arguments.seed)
    players = read_players(arguments.players, engine.seats)
    # Of trained agents' numbers the last bits may depend on the threads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    recorder, jobs = Recorder(engine, players, seed), arguments.jobs
    if jobs > 1 and (name := recorder.draws_in_order()) is not None:
        print(
            f"lupai: note: agent {name!r} draws in the order of play: one process", file=sys.stderr
        )
        jobs = 1
    with (
        writing(arguments.out) as out,
        progress_bar(arguments.progress, total=arguments.hands, unit=" hands") as bar,
        closing(
            run_jobs(
                recorder.lines,
                parts_of(arguments.hands, recorder.tables(arguments.hands, jobs)),
                jobs,
                lambda numbers: bar.update(len(numbers)),
            )
        ) as texts,
    ):
        for text in texts:
            out.write(text)
    return 0


def read_seed(text: str) -> int:
    """A seed from the command line.

    Raises:
        SeedError: no integer in 0 … 2**64 - 1.
    """
    short = text.isascii() and text.isdigit() and len(text) <= 20
    return check_seed(int(text) if short else shorten(text))


def read_players(text: str, seats: int) -> list[str]:
    """Names for all seats from one, or from one for each, between commas."""
    names = text.split(",")
    if len(names) == 1:
        names *= seats
    if len(names) != seats or not all(names):
        raise UsageError(
            f"--players {text!r}: one name for all seats, or {seats} with commas between"
        )
    return names


def play_hands(
    engine: Game, players: Sequence[str], hands: int, seed: int, tables: int = TABLES
) -> Iterator[dict[str, Any]]:
    """Records of hands played by agents, in order; see :class:`Recorder`.

    Args:
        engine: the rules.
        players: names of agents, one for each seat.
        hands: how many.
        seed: of deals and agents.
        tables: how many to play at once.
    """
    recorder = Recorder(engine, players, seed)
    for numbers in parts_of(hands, tables):
        yield from recorder.play(numbers)


def parts_of(hands: int, tables: int = TABLES) -> Iterator[range]:
    """Numbers of the hands that are played at once."""
    for first in range(0, hands, tables):
        yield range(first, min(first + tables, hands))


class Recorder:
    """Hands played by agents, as records.

    Hand i is the i-th episode of ``seed``, as ``env.reset`` would deal it. Each seat of each hand
    draws from a stream of its own, so that no record depends on how many hands there are, how many
    are played at once, or which process plays them. Agents without such streams (no ``act_lanes``)
    draw in the order of play, and all hands of one recorder have to be played in order.

    It can be sent to another process, which loads the agents anew.
    """

    def __init__(self, engine: Game, players: Sequence[str], seed: int) -> None:
        self._engine = engine
        self._players = list(players)
        self._seed = seed
        self._loaded: list[Agent] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_loaded": None}

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(self._players))

    @property
    def _agents(self) -> list[Agent]:
        if self._loaded is None:
            self._loaded = [load(name, str(self._engine.rules)) for name in self._names]
            for agent in self._loaded:
                check_plays(agent, self._engine.game)
            for name, agent in zip(self._names, self._loaded, strict=True):
                agent.reset(agent_seed(self._seed, self._players.index(name)))
        return self._loaded

    def draws_in_order(self) -> str | None:
        """An agent whose draws depend on which hands were played before, or None."""
        return next((a.name for a in self._agents if not isinstance(a, LaneAgent)), None)

    def tables(self, hands: int, jobs: int) -> int:
        """How many of the hands to play at once, so that each process has some parts."""
        if not all(isinstance(agent, Policy) for agent in self._agents):
            return TABLES  # always: a network's last bits may depend on it
        return min(MOST_TABLES, max(TABLES, hands // (2 * jobs)))

    def lines(self, numbers: range) -> bytes:
        """Records of some hands as they stand in a file."""
        return b"".join((dump_record(record) + "\n").encode() for record in self.play(numbers))

    def play(self, numbers: range) -> Iterator[dict[str, Any]]:
        """Records of some hands, which are played at once."""
        engine, hands = self._engine, np.arange(numbers.start, numbers.stop)
        state = engine.reset(np.full(len(hands), self._seed, np.uint64), hands)
        log = self._play(state, hands)
        for table, outcome in enumerate(engine.outcomes(state)):
            hand_seed, redeals = int(state.seeds[table, 0]), int(state.redeals[table])
            dealt, start = engine.dealt_hands(hand_seed, redeals)
            yield make_record(
                engine, hand_seed, dealt, start, log.moves[table], outcome,
                redeals, list(self._players),
            )  # fmt: skip

    def _play(self, state: Any, hands: Any) -> Log:
        """Play all tables of a state to the end."""
        engine, names = self._engine, self._names
        of_seat = np.array([names.index(player) for player in self._players])
        log = Log(engine, state)
        while (rows := np.flatnonzero(~state.over)).size:
            legal = engine.legal(state, rows)
            actors = state.actor[rows].astype(np.intp)
            actions = np.zeros(len(rows), np.int64)
            for which, agent in enumerate(self._agents):
                mine = np.flatnonzero(of_seat[actors] == which)
                if not mine.size:
                    continue
                at, part = rows[mine], legal.take(mine)
                lanes = hands[at] * engine.seats + actors[mine]
                if isinstance(agent, Policy):
                    actions[mine] = agent.choose(engine, state, part, at, lanes)
                else:
                    histories = [log.history[table] for table in at]
                    views = Views(engine, state, actors[mine], at, histories)
                    views.legal = part
                    actions[mine] = ask(agent, views, lanes)
            log.step(actions, rows, legal)
        return log


def run_verify(arguments: argparse.Namespace) -> int:
    """Check the files."""
    hands = faults = 0
    if missing := [f for f in arguments.files if f != "-" and not os.path.exists(f)]:
        raise FileNotFoundError(2, os.strerror(2), missing[0])
    files = [name for name in arguments.files if name != "-"]
    size = sum(map(os.path.getsize, files)) if files == arguments.files else None
    label = files[0][-30:] if len(arguments.files) == 1 and files else None
    with (
        progress_bar(arguments.progress, total=size, unit="B", unit_scale=True, desc=label) as bar,
        closing(
            run_jobs(check, _batches(arguments.files), arguments.jobs, lambda b: bar.update(b.size))
        ) as checked,
    ):
        for seen, found in checked:
            hands, faults = hands + seen, faults + _tell(found)
    stdout().write(f"{_number(hands, 'hand')}, {_number(faults, 'fault')}\n".encode())
    return 1 if faults else 0


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@dataclass(frozen=True)
class Batch:
    """Some numbered lines of a file, and the bytes that they took there."""

    name: str
    lines: list[Line]
    size: int


def _batches(names: Sequence[str]) -> Iterator[Batch]:
    for name in names:
        with reading(name) as stream:
            yield from batches(stream, name)


def batches(stream: BinaryIO, name: str) -> Iterator[Batch]:
    """The lines of a file, some hundred at once, fewer if they are very long."""
    batch: list[Line] = []
    size = 0
    for chunk in lines(stream):
        for numbered in chunk:
            batch.append(numbered)
            line = numbered[1]
            size += len(line.encode("utf-8", "replace")) + 1 if isinstance(line, str) else 1
            if len(batch) >= AT_ONCE or size >= BYTES_AT_ONCE:
                yield Batch(name, batch, size)
                batch, size = [], 0
    if batch:
        yield Batch(name, batch, size)


def check(batch: Batch) -> tuple[int, list[tuple[bool, str]]]:
    """Verify some lines.

    Returns:
        Their number; of each fault and of each note, in order, whether it is a fault, and the text
        of its line.
    """
    read: list[dict[str, Any] | LupaiError] = []
    for _, line in batch.lines:
        try:
            read.append(line if isinstance(line, LupaiError) else load_record(line))
        except LupaiError as error:
            read.append(error)
    verdicts = iter(verify_records([r for r in read if isinstance(r, dict)]))
    found: list[tuple[bool, str]] = []
    for (number, _), record in zip(batch.lines, read, strict=True):
        verdict = next(verdicts) if isinstance(record, dict) else record
        where = f"{batch.name}:line {number}: "
        if isinstance(verdict, LupaiError):
            found.append((True, where + one_line(verdict)))
        else:
            found += [(False, where + note) for note in verdict]
    return len(read), found


def _tell(found: list[tuple[bool, str]]) -> int:
    """Print faults and notes; the number of faults."""
    out = stdout()
    for is_fault, text in found:
        if is_fault:
            out.write(f"{text}\n".encode("utf-8", "backslashreplace"))
        else:
            print(f"lupai: note: {text}", file=sys.stderr)
    out.flush()
    return sum(is_fault for is_fault, _ in found)
