"""``lupai record`` and ``lupai verify``: hands played by agents as files, and their check."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

import numpy as np

from lupai.agents.base import Agent, ask
from lupai.agents.registry import load
from lupai.agents.streams import agent_seed
from lupai.envs.cards import shorten
from lupai.envs.deals import check_seed
from lupai.envs.errors import LupaiError
from lupai.envs.game import GAMES, Game, make_game
from lupai.envs.log import Log
from lupai.envs.records import dump_record, load_record, make_record
from lupai.envs.verify import verify_records
from lupai.envs.view import Views
from lupai.train.cli.common import (
    UsageError,
    add_progress,
    add_rules,
    lines,
    one_line,
    positive,
    progress_bar,
    read_rules,
    reading,
    stdout,
    writing,
)  # fmt: skip

RECORD_EXAMPLES: Final = """examples:
  lupai record --hands 100 --seed 7 -o hands.jsonl
  lupai record --players greedy,random,random,random,random --hands 1000 -o hands.jsonl
  lupai record --rules weihai --option votes_needed=1 --hands 10 -o weihai.jsonl
  lupai record --players runs/quick --hands 10 -o - | lupai verify -

The same command writes the same bytes. Hand i is dealt by a seed of its own, which its record
names: env.reset(seed=...) with it deals this very hand. --hands 10 writes the first ten of
--hands 1000.
"""
VERIFY_EXAMPLES: Final = """examples:
  lupai verify hands.jsonl
  lupai verify monday.jsonl tuesday.jsonl
  lupai record --hands 10 -o - | lupai verify -

Every line that is not a possible, finished hand is named with the move that cannot be and why.
Exit status: 0 all are possible; 1 some are not; 2 a file cannot be read.
"""
TABLES: Final = 128  # hands played at once; the records do not depend on it
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
    parser.add_argument("--game", default="baohuang", choices=GAMES, help="(%(default)s)")
    add_rules(parser)
    parser.add_argument(
        "--players",
        default="random",
        help="an agent for all seats, or one for each with commas between: random, greedy, "
        "tactical, or the folder of a run (%(default)s)",
    )
    parser.add_argument("--hands", type=positive, default=1, help="how many (%(default)s)")
    parser.add_argument("--seed", default="0", help="of deals and agents (%(default)s)")
    parser.add_argument("-o", "--out", required=True, help="file; - is standard output")
    add_progress(parser)
    parser.set_defaults(run=run_record)

    parser = commands.add_parser(
        "verify",
        help="check that recorded hands are possible",
        description="Replay recorded hands and report those that are not possible.",
        epilog=VERIFY_EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="records; - is standard input")
    add_progress(parser)
    parser.set_defaults(run=run_verify)


def run_record(arguments: argparse.Namespace) -> int:
    """Write the records."""
    engine = make_game(arguments.game, read_rules(arguments.rules, arguments.option))
    seed = read_seed(arguments.seed)
    players = read_players(arguments.players, engine.seats)
    with (
        writing(arguments.out) as out,
        progress_bar(arguments.progress, total=arguments.hands, unit=" hands") as bar,
    ):
        for record in play_hands(engine, players, arguments.hands, seed):
            out.write((dump_record(record) + "\n").encode())
            bar.update()
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
    """Records of hands played by agents, in order.

    Hand i is the i-th episode of ``seed``, as ``env.reset`` would deal it. Each seat of each hand
    draws from a stream of its own, so that no record depends on how many hands there are or how
    many are played at once.

    Args:
        engine: the rules.
        players: names of agents, one for each seat.
        hands: how many.
        seed: of deals and agents.
        tables: how many to play at once.
    """
    names = list(dict.fromkeys(players))
    agents = [load(name, str(engine.rules)) for name in names]
    for name, agent in zip(names, agents, strict=True):
        agent.reset(agent_seed(seed, players.index(name)))
    of_seat = np.array([names.index(player) for player in players])
    for first in range(0, hands, tables):
        numbers = np.arange(first, min(first + tables, hands))
        state = engine.reset(np.full(len(numbers), seed, np.uint64), numbers)
        log = _play(engine, state, agents, of_seat, numbers)
        outcomes = engine.outcomes(state)
        for table, outcome in enumerate(outcomes):
            hand_seed, redeals = int(state.seeds[table, 0]), int(state.redeals[table])
            dealt, start = engine.dealt_hands(hand_seed, redeals)
            yield make_record(
                engine, hand_seed, dealt, start, log.moves[table], outcome,
                redeals, list(players),
            )  # fmt: skip


def _play(engine: Game, state: Any, agents: Sequence[Agent], of_seat: Any, numbers: Any) -> Log:
    """Play all tables of a state to the end."""
    log = Log(engine, state)
    while (rows := np.flatnonzero(~state.over)).size:
        actors = state.actor[rows].astype(np.intp)
        actions = np.zeros(len(rows), np.int64)
        for which, agent in enumerate(agents):
            mine = np.flatnonzero(of_seat[actors] == which)
            if mine.size:
                at = rows[mine]
                histories = [log.history[table] for table in at]
                views = Views(engine, state, actors[mine], at, histories)
                lanes = numbers[at] * engine.seats + actors[mine]
                actions[mine] = ask(agent, views, lanes)
        log.step(actions, rows)
    return log


def run_verify(arguments: argparse.Namespace) -> int:
    """Check the files."""
    hands = faults = 0
    if missing := [f for f in arguments.files if f != "-" and not os.path.exists(f)]:
        raise FileNotFoundError(2, os.strerror(2), missing[0])
    for name in arguments.files:
        with reading(name) as stream:
            size = os.fstat(stream.fileno()).st_size if name != "-" else None
            with progress_bar(
                arguments.progress, total=size, unit="B", unit_scale=True, desc=name[-30:]
            ) as bar:
                seen, wrong = _verify(stream, name, bar)
        hands, faults = hands + seen, faults + wrong
    stdout().write(f"{hands} hands, {faults} faults\n".encode())
    return 1 if faults else 0


def _verify(stream: BinaryIO, name: str, bar: Any) -> tuple[int, int]:
    """Report the faults of one file; numbers of lines and of faults."""
    hands = faults = size = 0
    batch: list[tuple[int, str | LupaiError]] = []
    for chunk in lines(stream):
        for numbered in chunk:
            batch.append(numbered)
            size += len(numbered[1]) if isinstance(numbered[1], str) else 0
            if len(batch) >= AT_ONCE or size >= BYTES_AT_ONCE:
                hands, faults = hands + len(batch), faults + _report(batch, name, bar)
                batch, size = [], 0
    return hands + len(batch), faults + _report(batch, name, bar)


def _report(batch: list[tuple[int, str | LupaiError]], name: str, bar: Any) -> int:
    """Verify some lines and print their faults; the number of faults."""
    out, faults = stdout(), 0
    read: list[dict[str, Any] | LupaiError] = []
    for _, line in batch:
        try:
            read.append(line if isinstance(line, LupaiError) else load_record(line))
        except LupaiError as error:
            read.append(error)
    verdicts = iter(verify_records([r for r in read if isinstance(r, dict)]))
    for (number, line), record in zip(batch, read, strict=True):
        verdict = next(verdicts) if isinstance(record, dict) else record
        if isinstance(verdict, LupaiError):
            faults += 1
            fault = f"{name}:line {number}: {one_line(verdict)}\n"
            out.write(fault.encode("utf-8", "backslashreplace"))
        else:
            for note in verdict:
                print(f"lupai: note: {name}:line {number}: {note}", file=sys.stderr)
        bar.update(len(line.encode("utf-8", "replace")) + 1 if isinstance(line, str) else 1)
    out.flush()
    return faults
