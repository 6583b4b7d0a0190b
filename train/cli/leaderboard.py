"""``lupai leaderboard``: tables of results of matches, and of scores of beliefs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lupai.envs.game import rules_class
from lupai.train.cli.common import UsageError, game_of, writing

if TYPE_CHECKING:
    from lupai.train.leaderboards import Named

EXAMPLES: Final = """examples:
  lupai leaderboard add results.json
  lupai leaderboard add runs/a/evaluation.json runs/b/evaluation.json --folder boards
  lupai leaderboard show
  lupai leaderboard show --rules qingdao -o leaderboard.md
  lupai belief score uniform,grounded,tactical --data sample:qingdao --json scores.json
  lupai leaderboard add scores.json

Results come from `lupai arena -o` and `lupai evaluate`. There is one table for each rules string
of a game; ratings are points per hand as a whole camp or side, from all such matches.

Scores of `lupai belief score --json` have boards of their own, one for each rules, data, split,
--limit and --moments; in each a table for each observer, the lowest log loss first.
"""
FOLDER: Final = "leaderboard"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "leaderboard",
        help="keep tables of results of `lupai arena` and `lupai belief score`",
        description="Keep tables of results.",
        epilog=EXAMPLES,
    )
    ways = parser.add_subparsers(dest="way", metavar="COMMAND", required=True)
    more = ways.add_parser("add", help="add results", epilog=EXAMPLES)
    more.add_argument("results", nargs="+", metavar="RESULT", help="files of `lupai arena -o` or "
                      "`lupai belief score --json`")  # fmt: skip
    more.set_defaults(run=run_add)
    show = ways.add_parser("show", help="print the tables", epilog=EXAMPLES)
    show.add_argument("--rules", help="only the tables of these rules")
    show.add_argument("-o", "--out", metavar="FILE", help="write them there as Markdown")
    show.set_defaults(run=run_show)
    for one in (more, show):
        one.add_argument("--folder", default=FOLDER, help="of the leaderboard (%(default)s)")


def run_add(arguments: argparse.Namespace) -> int:
    """Add results; all are read before one is written."""
    from lupai.train.leaderboards import keep

    folder = Path(arguments.folder)
    ready = [(name, entry) for name in arguments.results for entry in _entries(Path(name))]
    for name, entry in ready:
        new = keep(folder, entry)
        print(f"{name}: was there before" if new is None else f"{name}: added as {new}")
    return 0


def _entries(file: Path) -> list[Named]:
    """What is kept of a results file; its format tells its kind."""
    from lupai.train.arena import leaderboard as arena
    from lupai.train.belief import leaderboard as belief
    from lupai.train.leaderboards import read_json

    data = read_json(file)
    found = data.get("format") if isinstance(data, dict) else None
    if isinstance(data, list) or str(found).startswith(belief.RESULT):
        return belief.entries_of(file)
    if str(found).startswith(arena.RESULT):
        return [arena.entry_of(file)]
    raise UsageError(
        f"{file}: its format is {found!r}; right would be a file of `lupai arena -o`, `lupai "
        f"evaluate` or `lupai belief score --json`"
    )


def run_show(arguments: argparse.Namespace) -> int:
    """Print and write the tables."""
    from lupai.train.arena import leaderboard as arena
    from lupai.train.arena.games import title
    from lupai.train.belief import leaderboard as belief
    from lupai.train.leaderboards import ARENA, BELIEF, read_entries

    entries = read_entries(Path(arguments.folder))
    matches, beliefs = arena.boards_of(entries[ARENA]), belief.boards_of(entries[BELIEF])
    if arguments.rules is not None:
        game = game_of(None, arguments.rules)
        rules = title(game, str(rules_class(game).load(arguments.rules)))
        there = dict.fromkeys((*matches, *(board.rules for board in beliefs)))
        if rules not in there:
            raise UsageError(f"no results of rules {rules!r}; there are {', '.join(there)}")
        matches = {name: some for name, some in matches.items() if name == rules}
        beliefs = {board: some for board, some in beliefs.items() if board.rules == rules}
    blocks = [arena.text_table(name, some) for name, some in matches.items()]
    blocks += [belief.text_table(board, some) for board, some in beliefs.items()]
    print("\n\n".join(blocks))
    if arguments.out is not None:
        page = [arena.markdown(matches) if matches else "# Leaderboard\n"]
        page += [belief.markdown(beliefs)] if beliefs else []
        with writing(arguments.out) as out:
            out.write("\n".join(page).encode())
    return 0
