"""``lupai leaderboard``: a table of results files, ``random`` at 0."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from lupai.envs.game import rules_class
from lupai.train.cli.common import UsageError, game_of, writing

EXAMPLES: Final = """examples:
  lupai leaderboard add results.json
  lupai leaderboard add runs/a/evaluation.json runs/b/evaluation.json --folder boards
  lupai leaderboard show
  lupai leaderboard show --rules qingdao -o leaderboard.md

Results come from `lupai arena -o` and `lupai evaluate`. There is one table for each rules string
of a game; ratings are points per hand as a whole camp or side, from all such matches.
"""
FOLDER: Final = "leaderboard"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "leaderboard",
        help="keep a table of results of `lupai arena`",
        description="Keep a table of results.",
        epilog=EXAMPLES,
    )
    ways = parser.add_subparsers(dest="way", metavar="COMMAND", required=True)
    more = ways.add_parser("add", help="add results", epilog=EXAMPLES)
    more.add_argument("results", nargs="+", metavar="RESULT", help="files of `lupai arena -o`")
    more.set_defaults(run=run_add)
    show = ways.add_parser("show", help="print the tables", epilog=EXAMPLES)
    show.add_argument("--rules", help="only the table of these rules")
    show.add_argument("-o", "--out", metavar="FILE", help="write them there as Markdown")
    show.set_defaults(run=run_show)
    for one in (more, show):
        one.add_argument("--folder", default=FOLDER, help="of the leaderboard (%(default)s)")


def run_add(arguments: argparse.Namespace) -> int:
    """Add results."""
    from lupai.train.arena.leaderboard import add_result

    for name in arguments.results:
        new = add_result(Path(arguments.folder), Path(name))
        print(f"{name}: was there before" if new is None else f"{name}: added as {new}")
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Print and write the tables."""
    from lupai.train.arena.games import title
    from lupai.train.arena.leaderboard import boards, markdown, text_table

    found = boards(Path(arguments.folder))
    if arguments.rules is not None:
        game = game_of(None, arguments.rules)
        rules = title(game, str(rules_class(game).load(arguments.rules)))
        if rules not in found:
            raise UsageError(f"no results of rules {rules!r}; there are {', '.join(found)}")
        found = {rules: found[rules]}
    print("\n\n".join(text_table(rules, entries) for rules, entries in found.items()))
    if arguments.out is not None:
        with writing(arguments.out) as out:
            out.write(markdown(found).encode())
    return 0
