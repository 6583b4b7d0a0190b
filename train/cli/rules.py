"""``lupai rules``: presets and options, what they mean, and where tables differ."""

from __future__ import annotations

import argparse
import io
import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, Final, Literal, get_args, get_origin

from lupai.envs.baohuang.rules import Rules as Baohuang
from lupai.envs.game import GAMES, rules_class
from lupai.envs.rules import GameRules
from lupai.train.cli.common import UsageError, add_option, game_of, read_rules
from lupai.train.cli.words import WIDTH, flow, pad, width

EXAMPLES: Final = """examples:
  lupai rules                                  presets and options of Baohuang with their meaning
  lupai rules --game gouji                     those of Gouji
  lupai rules weihai                           one preset
  lupai rules weihai --diff qingdao            only what differs
  lupai rules shiwei --option yield=true       a table of your own: its rules string comes first
  lupai rules my_table.yaml --json

RULES is a preset, a rules string such as 'qingdao;pass_scope=trick', or a YAML file. What is
printed first for one table is the string that all other commands take and write.
"""
ABOUT: Final = {
    "qingdao": "青岛保皇: a called card makes the guard",
    "shiwei": "侍卫: the same, and the guard's card becomes 特画, above R",
    "weihai": "威海保皇: marked jokers make emperor and guard; votes double",
}
ABOUT_ALL: Final = ABOUT | {
    "shandong": "够级: six players, three against three, 够级牌 between opposite seats",
}
NONE: Final = "-"  # an option without meaning
_NAME, _VALUE = 21, 14


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "rules",
        help="show presets and options of the rules",
        description="Show presets and options of the rules.",
        epilog=EXAMPLES,
    )
    parser.add_argument("rules", nargs="?", metavar="RULES", help="one table (default: all)")
    parser.add_argument(
        "--game", choices=tuple(GAMES), help="which one (that of the rules; without them baohuang)"
    )
    add_option(parser)
    parser.add_argument("--diff", metavar="RULES", help="show only what differs from these")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Chinese gets the rest
    if arguments.rules is None:
        if arguments.option or arguments.diff is not None:
            raise UsageError("--option and --diff go with RULES: name a preset first")
        of = rules_class(game_of(arguments.game, None))
        print(json.dumps(_all_json(of), indent=2) if arguments.json else "\n".join(_all(of)))
        return 0
    game = game_of(arguments.game, arguments.rules)
    rules = read_rules(arguments.rules, arguments.option, game)
    if arguments.diff is not None:
        if (theirs := game_of(None, arguments.diff)) != game:
            raise UsageError(
                f"--diff: {arguments.diff} is of {theirs}, {arguments.rules} of {game}"
            )
        other = read_rules(arguments.diff, (), game)
        if arguments.json:
            print(json.dumps(_diff_json(rules, other), indent=2))
        else:
            print("\n".join(_diff(rules, other)))
    elif arguments.json:
        print(json.dumps({"rules": str(rules), **_options(rules)}, indent=2))
    else:
        print("\n".join(_one(rules)))
    return 0


def allowed(name: str, of: type[GameRules] = Baohuang) -> list[Any] | None:
    """Values that an option can have, None for no choice of a few (:func:`allowed_text`)."""
    if name in ("deck", "abandon_penalty"):
        return None
    if name == "votes_needed":
        return [1, 2, 3]
    return _values(_field(name, of).annotation)


def _field(name: str, of: type[GameRules]) -> Any:
    return of.model_fields["yield_" if name == "yield" else name]


def _values(kind: Any) -> list[Any]:
    if kind is bool:
        return [True, False]
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) if part is not type(None) for value in _values(part)]


def allowed_text(name: str, of: type[GameRules] = Baohuang) -> str:
    """The same in words."""
    values = allowed(name, of)
    if values is not None:
        texts = [show_value(value) for value in values]
        if of is not Baohuang and type(None) in get_args(_field(name, of).annotation):
            texts.append("null")  # in Baohuang a dash: it cannot be chosen
        return ", ".join(texts)
    if name == "deck":
        return "full216, weihai165, or a list of cards such as R* 9s 9h ..."
    return "a multiple of 4 from 0 on"


def meaning(name: str, of: type[GameRules] = Baohuang) -> str:
    """What an option is about."""
    return str(_field(name, of).description)


def show_value(value: Any) -> str:
    """A value as rules strings have it; a dash for none."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return value
    return " ".join(value) if isinstance(value, list | tuple) else json.dumps(value)


def _options(rules: GameRules) -> dict[str, Any]:
    """All options, the preset first."""
    values = rules.model_dump(mode="json", by_alias=True)
    return {"preset": values["preset"], **{name: values[name] for name in rules.option_names()}}


def _table(
    heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Any]]], of: type[GameRules]
) -> list[str]:
    """Options with a column for each table, and the meaning of each under it."""
    out = ["".join([pad("option", _NAME), *(pad(head, _VALUE) for head in heads)]).rstrip()]
    for name, values in rows:
        texts = [show_value(value) for value in values]
        if all(width(text) < _VALUE or i == len(texts) - 1 for i, text in enumerate(texts)):
            line = "".join([pad(name, _NAME), *(pad(text, _VALUE) for text in texts)]).rstrip()
            out += textwrap.wrap(line, WIDTH, subsequent_indent=" " * _NAME)
        else:
            out.append(name)
            for head, text in zip(heads, texts, strict=True):
                out += _wrap(f"{head}: {text}")
        out += _wrap(meaning(name, of))
    return out


def _wrap(text: str, indent: str = "    ") -> list[str]:
    """A text on lines of at most 80 columns, wide characters counted as two."""
    return flow(text.split(" "), indent=indent, gap=" ")


def _all(of: type[GameRules]) -> list[str]:
    tables = {name: _options(of.load(name)) for name in of.presets}
    out = ["presets"]
    out += [f"  {pad(name, 10)}{ABOUT_ALL[name]}" for name in tables]
    out.append("")
    out.append("".join([pad("option", _NAME), *(pad(name, _VALUE) for name in tables)]).rstrip())
    for name in of.option_names():
        values = [show_value(table[name]) for table in tables.values()]
        out.append("".join([pad(name, _NAME), *(pad(v, _VALUE) for v in values)]).rstrip())
        out += _wrap(meaning(name, of))
        out += _wrap(f"values: {allowed_text(name, of)}")
    if of is Baohuang:
        out += ["", "A dash: the option has no meaning with this preset's roles_by."]
    return out


def _all_json(of: type[GameRules]) -> dict[str, Any]:
    tables = {name: _options(of.load(name)) for name in of.presets}
    return {
        "presets": {name: {"about": ABOUT_ALL[name], **table} for name, table in tables.items()},
        "options": {
            name: {
                "meaning": meaning(name, of),
                "values": allowed(name, of) or allowed_text(name, of),
                **{preset: table[name] for preset, table in tables.items()},
            }
            for name in of.option_names()
        },
    }


def _one(rules: GameRules) -> list[str]:
    out = textwrap.wrap(str(rules), WIDTH, break_on_hyphens=False)
    out += [f"  {ABOUT_ALL[rules.preset]}", ""]
    options = _options(rules)
    rows = [(name, [options[name]]) for name in rules.option_names()]
    return out + _table(["value"], rows, type(rules))


def _different(rules: GameRules, other: GameRules) -> list[tuple[str, list[Any]]]:
    mine, theirs = _options(rules), _options(other)
    return [
        (name, [mine[name], theirs[name]])
        for name in rules.option_names()
        if mine[name] != theirs[name]
    ]


def _diff(rules: GameRules, other: GameRules) -> list[str]:
    rows = _different(rules, other)
    if not rows:
        return ["no option differs"]
    names = (str(rules), str(other))
    heads = [
        n if n in rules.presets else o for n, o in zip(names, ("first", "second"), strict=True)
    ]
    return _table(heads, rows, type(rules))


def _diff_json(rules: GameRules, other: GameRules) -> dict[str, Any]:
    return {name: {"rules": a, "diff": b} for name, (a, b) in _different(rules, other)}
