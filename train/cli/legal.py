"""``lupai legal``: the legal moves of a player in the play phase, from his cards alone."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, SET_IDENTITY
from lupai.envs.baohuang.moves import play_moves
from lupai.envs.baohuang.notation import text_order
from lupai.envs.cards import shorten
from lupai.envs.errors import LupaiError
from lupai.envs.game import GAMES
from lupai.envs.seats import NOBODY
from lupai.train.cli import positions_gouji
from lupai.train.cli.common import UsageError, add_game, lines, read_game, reading, stdout
from lupai.train.cli.positions import Position, PositionError, read_position

EXAMPLES: Final = """examples:
  lupai legal --hand "9c* 9d 9s 5h B B R"                 a lead; 9c is the hidden identity card
  lupai legal --hand "9c 9d B" --standing 88 --json       answers to 88, as one JSON array
  lupai legal --hand "9c 9d B" --standing 8 --circle 2    he yielded before
  lupai legal --rules shiwei --hand "9c* 4d 4s" --standing 3R     9c is 特画: play 4X
  lupai legal --rules weihai --option hold_sixes=false --hand "6s 6d B*"
  lupai legal --game gouji --hand "Kh Kd 2s R" --standing QQB --burning   may he burn it?
  lupai legal --file positions.jsonl                      one position per line, one answer each

A position: {"rules": "qingdao", "hand": "9c 9d B", "standing": "88", "circle": 1,
"claimable": false, "public": false}; other fields are ignored, and rules may also be an object of
options. Of Gouji: {"rules": "shandong", "hand": "Kh Kd 2s B", "standing": "QQB", "burning": true,
"duty": false, "headless": false, "may_yield": false, "melee": false}.

A bad line is answered by {"error": ...}, and the exit status is 1 in the end.
"""


@cache
def _play_order(supreme: bool) -> npt.NDArray[np.int64]:
    """``[A]``: place of each id in the contract's order."""
    order = sorted(range(ACTIONS.size), key=lambda a: text_order(a, supreme=supreme))
    return np.argsort(np.array(order, dtype=np.int64))


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "legal",
        help="list the legal moves of a player in a trick",
        description="Print the legal moves of a player in the play phase, one per line.",
        epilog=EXAMPLES,
    )
    add_game(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--hand", help="his cards, a star on the identity card")
    what.add_argument("--file", help="one position as JSON per line; - is standard input")
    parser.add_argument("--standing", help="the set to beat; without it he leads")
    parser.add_argument("--circle", type=int, choices=(1, 2), default=1, help="2: he had yielded")
    parser.add_argument("--claimable", action="store_true", help="he may claim the next lead")
    parser.add_argument("--public", action="store_true", help="the identity is public already")
    for name, about in positions_gouji.FLAGS.items():
        option = "--" + name.replace("_", "-")
        parser.add_argument(option, action="store_true", help=f"Gouji: {about}")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _House:
    """How a game reads positions and answers them.

    Attributes:
        flags: fields of a position, beside hand and standing, and their usual values.
        read: a position from its fields and the rules string.
        answer: legal moves of positions.
    """

    flags: dict[str, Any]
    read: Callable[[dict[str, Any], str], Any]
    answer: Callable[[list[Any]], list[list[str]]]


def _house(game: str) -> _House:
    if game == "gouji":
        flags = dict.fromkeys(positions_gouji.FLAGS, False)
        return _House(flags, positions_gouji.read_position, positions_gouji.legal_moves)
    return _House({"circle": 1, "claimable": False, "public": False}, read_position, legal_moves)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    engine = read_game(arguments.game, arguments.rules, arguments.option)
    rules, house = str(engine.rules), _house(engine.game)
    for game in GAMES:
        for name, usual in _house(game).flags.items():
            if name not in house.flags and getattr(arguments, name) != usual:
                raise UsageError(f"--{name.replace('_', '-')}: there is none in {engine.game}")
    names = ("standing", *house.flags)
    given = {name: getattr(arguments, name) for name in names}
    if arguments.file is not None:
        other = [n for n, value in given.items() if value not in (None, house.flags.get(n))]
        if other:
            option = "--" + other[0].replace("_", "-")
            raise UsageError(f"{option} goes with --hand; in --file each line says it")
        with reading(arguments.file) as stream:
            return _answer_file(stream, rules, house)
    position = house.read({"hand": arguments.hand, **given}, rules)
    (moves,) = house.answer([position])
    text = json.dumps(moves) if arguments.json else "\n".join(moves)
    out = stdout()
    out.write((text + "\n").encode())
    out.flush()
    return 0


def _answer_file(stream: BinaryIO, rules: str, house: _House) -> int:
    out, bad, first = stdout(), 0, None
    for chunk in lines(stream):
        positions: list[Any] = []
        answers: list[str | None] = []  # None: comes from the next position
        for number, line in chunk:
            try:
                if isinstance(line, LupaiError):
                    raise line
                positions.append(house.read(_read_json(line), rules))
                answers.append(None)
            except LupaiError as error:
                answers.append(json.dumps({"error": str(error)}))
                bad, first = bad + 1, first or (number, error)
        results = iter(house.answer(positions))
        texts = (a if a is not None else json.dumps(next(results)) for a in answers)
        out.write("".join(text + "\n" for text in texts).encode())
        out.flush()
    if first is not None:
        lines_are = "line is" if bad == 1 else "lines are"
        raise BadLines(f"{bad} {lines_are} bad, first line {first[0]}: {first[1]}")
    return 0


class BadLines(LupaiError):
    """A file was read to its end, and some of its lines are wrong."""

    status = 1


def _read_json(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PositionError(f"no JSON: {error} in {shorten(line.strip())!r}") from None
    if not isinstance(data, dict):
        raise PositionError(f"a position is a JSON object, not {shorten(line.strip())!r}")
    return data


def legal_moves(positions: list[Position]) -> list[list[str]]:
    """Legal moves of each position as text, in the order of the contract."""
    tables: dict[int, list[int]] = {}  # of which positions the rules are the same object
    for place, position in enumerate(positions):
        tables.setdefault(id(position.rules), []).append(place)
    out: list[list[str]] = [[] for _ in positions]
    for places in tables.values():
        for place, moves in zip(places, _of_one_table([positions[p] for p in places]), strict=True):
            out[place] = moves
    return out


def _of_one_table(positions: list[Position]) -> list[list[str]]:
    rules = positions[0].rules
    flat, offsets = play_moves(
        np.array([p.ranks for p in positions], dtype=np.int8),
        np.array([p.identity for p in positions]),
        np.array([p.standing for p in positions]),
        np.array([p.verbs for p in positions], dtype=np.uint32),
        rules,
    ).ids()
    rows = np.repeat(np.arange(len(positions)), np.diff(offsets))
    ids = flat[np.lexsort((_play_order(rules.supreme)[flat], rows))].tolist()
    bounds = offsets.tolist()
    return [
        [
            _text(a, p.identity if a >= SET_IDENTITY else NOBODY, rules.supreme)
            for a in ids[start:stop]
        ]
        for p, start, stop in zip(positions, bounds, bounds[1:], strict=False)
    ]


@lru_cache(maxsize=1 << 15)
def _text(action: int, identity: int, supreme: bool) -> str:
    return ACTIONS.text(action, None if identity == NOBODY else identity, supreme=supreme)
