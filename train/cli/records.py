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
from lupai.envs.records import dump_record, load_record, make_record, verify_record
from lupai.envs.view import Views
from lupai.train.cli.common import (
    UsageError,
    add_progress,
    lines,
    one_line,
    positive,
    progress_bar,
    reading,
    stdout,
    writing,
)  # fmt: skip

RECORD_EXAMPLES: Final = """examples:
  lupai record --hands 100 --seed 7 -o hands.jsonl
  lupai record --players greedy,random,random,random,random --hands 1000 -o hands.jsonl
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


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "record",
        help="let agents play and write the hands down",
        description="Let agents play hands and write one record per line.",
        epilog=RECORD_EXAMPLES,
    )
    parser.add_argument("--game", default="baohuang", choices=GAMES, help="(%(default)s)")
    parser.add_argument("--rules", default="qingdao", help="preset or rules string (%(default)s)")
    parser.add_argument(
        "--players",
        default="random",
        help="an agent for all seats, or one for each with commas between: random, greedy, or the "
        "folder of a run (%(default)s)",
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
    engine = make_game(arguments.game, arguments.rules)
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
    agents = [load(name) for name in names]
    for name, agent in zip(names, agents, strict=True):
        agent.reset(agent_seed(seed, players.index(name)))
    of_seat = np.array([names.index(player) for player in players])
    for first in range(0, hands, tables):
        numbers = np.arange(first, min(first + tables, hands))
        state = engine.reset(np.full(len(numbers), seed, np.uint64), numbers)
        log = _play(engine, state, agents, of_seat, numbers)
        for table in range(len(numbers)):
            hand_seed, redeals = int(state.seeds[table, 0]), int(state.redeals[table])
            dealt, start = engine.dealt_hands(hand_seed, redeals)
            yield make_record(
                engine, hand_seed, dealt, start, log.moves[table], engine.outcome(state, table),
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
    out, engine = stdout(), make_game("baohuang", "qingdao")
    hands = faults = 0
    for chunk in lines(stream):
        for number, line in chunk:
            hands += 1
            try:
                if isinstance(line, LupaiError):
                    raise line
                record = load_record(line)
                engine = engine_for(record, engine)
                notes = verify_record(record, engine)
            except LupaiError as error:
                faults += 1
                fault = f"{name}:line {number}: {one_line(error)}\n"
                out.write(fault.encode("utf-8", "backslashreplace"))
                out.flush()
                notes = []
            for note in notes:
                print(f"lupai: note: {name}:line {number}: {note}", file=sys.stderr)
            bar.update(len(line.encode("utf-8", "replace")) + 1 if isinstance(line, str) else 1)
    return hands, faults


def engine_for(record: dict[str, Any], engine: Game) -> Game:
    """An engine with the rules of a record; the given one if it has them."""
    if record["game"] == engine.game and record["rules"] == engine.rules.differing():
        return engine
    return make_game(record["game"], record["rules"])
