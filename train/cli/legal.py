"""``lupai legal``: the legal moves of a player in the play phase, from his cards alone."""

from __future__ import annotations

import argparse
import itertools
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO, Final

import numpy as np

from lupai.envs.actions import ACTIONS, SET, SET_IDENTITY
from lupai.envs.baohuang.legal import play_moves
from lupai.envs.baohuang.notation import text_order
from lupai.envs.baohuang.play import trick_verbs
from lupai.envs.baohuang.rules import Rules, check_built, load_rules
from lupai.envs.cards import (
    KIND_TEXTS,
    NUM_KINDS,
    NUM_RANKS,
    RANK_OF_KIND,
    parse_cards,
    shorten,
)  # fmt: skip
from lupai.envs.errors import LupaiError, NotationError
from lupai.envs.seats import NOBODY
from lupai.envs.sets import parse_set
from lupai.train.cli.common import UsageError, lines, reading, stdout

EXAMPLES: Final = """examples:
  lupai legal --hand "9c* 9d 9s 5h B B R"                 a lead; 9c is the hidden identity card
  lupai legal --hand "9c 9d B" --standing 88 --json       answers to 88, as one JSON array
  lupai legal --hand "9c 9d B" --standing 8 --circle 2    he yielded before
  lupai legal --file positions.jsonl                      one position per line, one answer each

A position: {"rules": "qingdao", "hand": "9c 9d B", "standing": "88", "circle": 1,
"claimable": false, "public": false}; other fields are ignored. A bad line is answered by
{"error": ...}, and the exit status is 1 in the end.
"""
_PLAY_ORDER: Final = np.argsort(
    np.array(sorted(range(ACTIONS.size), key=text_order), dtype=np.int64)
)  # [A]: place of each id in the contract's order


class PositionError(LupaiError, ValueError):
    """A position that makes no sense."""


@dataclass(frozen=True)
class Position:
    """A player to move: what :func:`legal_moves` needs of him.

    Attributes:
        ranks: ``[15]`` cards held by rank.
        identity: rank of the hidden identity card that he holds, else -1.
        standing: action id of the set to beat, -1 for a lead.
        verbs: word of the verbs that are legal.
    """

    ranks: tuple[int, ...]
    identity: int
    standing: int
    verbs: int


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "legal",
        help="list the legal moves of a player in a trick",
        description="Print the legal moves of a player in the play phase, one per line.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--rules", default="qingdao", help="preset or rules string (%(default)s)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--hand", help="his cards, a star on the hidden identity card")
    what.add_argument("--file", help="one position as JSON per line; - is standard input")
    parser.add_argument("--standing", help="the set to beat; without it he leads")
    parser.add_argument("--circle", type=int, choices=(1, 2), default=1, help="2: he had yielded")
    parser.add_argument("--claimable", action="store_true", help="he may claim the next lead")
    parser.add_argument("--public", action="store_true", help="the identity is public already")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    if arguments.file is not None:
        single = ("standing", "claimable", "public")
        given = [f"--{name}" for name in single if getattr(arguments, name)]
        if given or arguments.circle != 1:
            raise UsageError(
                f"{(given or ['--circle'])[0]} goes with --hand; in --file each line says it"
            )
        with reading(arguments.file) as stream:
            return _answer_file(stream, arguments.rules)
    names = ("rules", "hand", "standing", "circle", "claimable", "public")
    (moves,) = legal_moves([read_position({name: getattr(arguments, name) for name in names})])
    text = json.dumps(moves) if arguments.json else "\n".join(moves)
    out = stdout()
    out.write((text + "\n").encode())
    out.flush()
    return 0


def _answer_file(stream: BinaryIO, rules: str) -> int:
    out, bad, first = stdout(), 0, None
    for chunk in lines(stream):
        positions: list[Position] = []
        answers: list[str | None] = []  # None: comes from the next position
        for number, line in chunk:
            try:
                if isinstance(line, LupaiError):
                    raise line
                positions.append(read_position(_read_json(line), rules))
                answers.append(None)
            except LupaiError as error:
                answers.append(json.dumps({"error": str(error)}))
                bad, first = bad + 1, first or (number, error)
        results = iter(legal_moves(positions))
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


def read_position(data: dict[str, Any], rules: str = "qingdao") -> Position:
    """Read the fields of a position; ``hand`` is needed, the others have their usual values.

    Raises:
        LupaiError: a field of a wrong type or that cannot be read, or fields that contradict
            each other or the rules.
    """
    source, hand = data.get("rules", rules), data.get("hand")
    standing, circle = data.get("standing"), data.get("circle", 1)
    claimable, public = data.get("claimable", False), data.get("public", False)
    if "hand" not in data:
        raise PositionError("field 'hand' is missing")
    if not isinstance(hand, str):
        raise PositionError(f"field 'hand': cards as text, not {shorten(repr(hand))}")
    if standing is not None and not isinstance(standing, str):
        raise PositionError(f"field 'standing': a set or null, not {shorten(repr(standing))}")
    if isinstance(circle, bool) or circle not in (1, 2):
        raise PositionError(f"field 'circle': 1 or 2, not {shorten(repr(circle))}")
    for name, value in (("claimable", claimable), ("public", public)):
        if not isinstance(value, bool):
            raise PositionError(f"field {name!r}: true or false, not {shorten(repr(value))}")
    house = _house(source, False) if isinstance(source, str) else _house(json.dumps(source), True)
    _check_sense(house.rules, standing, circle, claimable)
    ranks, identity = _read_hand(house, hand, public)
    action = _read_standing(house.rules, standing)
    verbs = house.verbs[min(action, 0), circle, int(claimable)]
    return Position(ranks, identity, action, verbs)


class _House:
    """Rules, and what every position under them asks."""

    def __init__(self, rules: Rules) -> None:
        check_built(rules)
        self.rules = rules
        self.copies: list[int] = rules.cards.counts.tolist()
        answers = itertools.product((NOBODY, 0), (1, 2), (0, 1))
        self.verbs = {a: int(trick_verbs(rules, *(np.array([v]) for v in a))[0]) for a in answers}


@lru_cache(maxsize=64)
def _house(source: str, is_json: bool) -> _House:
    return _House(load_rules(json.loads(source) if is_json else source))


def _check_sense(rules: Rules, standing: str | None, circle: int, claimable: bool) -> None:
    if standing is None and claimable:
        raise PositionError("claimable without standing: only the next player after a set claims")
    if standing is None and circle == 2:
        raise PositionError("circle 2 without standing: a leader is not asked twice")
    if claimable and circle == 2:
        raise PositionError("claimable in circle 2: the lead is claimed in circle 1")
    if circle == 2 and not rules.yield_:
        raise PositionError(f"circle 2: rules {str(rules)!r} have no yield")
    if claimable and not rules.claim:
        raise PositionError(f"claimable: rules {str(rules)!r} have no claim")


def _read_hand(house: _House, text: str, public: bool) -> tuple[tuple[int, ...], int]:
    cards = parse_cards(text)
    if not cards:
        raise PositionError("an empty hand: a player without cards is not asked")
    counts, ranks, identity = [0] * NUM_KINDS, [0] * NUM_RANKS, NOBODY
    for kind, starred in cards:
        counts[kind] += 1
        ranks[RANK_OF_KIND[kind]] += 1
        if counts[kind] > house.copies[kind]:
            raise PositionError(
                f"hand {shorten(text)!r}: more than {house.copies[kind]} cards {KIND_TEXTS[kind]}"
            )
        if starred:
            if identity != NOBODY:
                raise NotationError(f"hand {shorten(text)!r}: two stars; one card is the identity")
            if public:
                raise PositionError(
                    f"hand {shorten(text)!r}: a star, but the identity is public: then it is an "
                    f"ordinary card"
                )
            identity = int(RANK_OF_KIND[kind])
    return tuple(ranks), identity


def _read_standing(rules: Rules, text: str | None) -> int:
    if text is None:
        return NOBODY
    cards = parse_set(text)
    if cards.starred:
        raise PositionError(f"standing {text!r}: the set to beat is written without a star")
    if cards.x:
        raise PositionError(f"standing {text!r}: rules {str(rules)!r} have no X")
    return SET + cards.id


def legal_moves(positions: list[Position]) -> list[list[str]]:
    """Legal moves of each position as text, in the order of the contract."""
    if not positions:
        return []
    identity = np.array([p.identity for p in positions])
    flat, offsets = play_moves(
        np.array([p.ranks for p in positions], dtype=np.int8),
        identity,
        np.array([p.standing for p in positions]),
        np.array([p.verbs for p in positions], dtype=np.uint32),
    ).ids()
    rows = np.repeat(np.arange(len(positions)), np.diff(offsets))
    ids = flat[np.lexsort((_PLAY_ORDER[flat], rows))].tolist()
    bounds = offsets.tolist()
    return [
        [_text(a, p.identity if a >= SET_IDENTITY else NOBODY) for a in ids[start:stop]]
        for p, start, stop in zip(positions, bounds, bounds[1:], strict=False)
    ]


@lru_cache(maxsize=1 << 15)
def _text(action: int, identity: int) -> str:
    return ACTIONS.text(action, None if identity == NOBODY else identity)
