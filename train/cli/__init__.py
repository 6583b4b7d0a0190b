"""The command ``lupai``: play, record, check, train and measure from the shell.

Heavy imports happen inside the subcommands: everything but ``train``, and ``arena`` or ``play``
with trained agents, works without torch and Ray.

Exit status: 0 done; 1 faults were found in a file; 2 wrong usage or input; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import lupai
from lupai.envs.errors import LupaiError
from lupai.train.cli.common import Parser, one_line

EXAMPLES: Final = """examples:
  lupai play --against greedy
  lupai play --game gouji --against tactical
  lupai legal --hand "9c 9d B R" --standing 8
  lupai record --players greedy,random,random,random,random --hands 100 --seed 7 -o hands.jsonl
  lupai verify hands.jsonl
  lupai replay hands.jsonl --hand 3
  lupai rules weihai --diff qingdao
  lupai train qingdao_quick stop.minutes=10
  lupai evaluate runs/quick --against random,greedy
  lupai arena --players greedy,random,runs/quick --format round_robin

Each command has its own --help with more examples.
"""
# Module of each group of commands, with a function add(commands) that adds their parsers.
GROUPS: Final = (
    "legal",
    "records",
    "replay",
    "play",
    "rules",
    "training",
    "runs",
    "agents",
    "arena",
    "deals",
    "leaderboard",
    "belief",
    "bench",
)
DEBUG: Final = "LUPAI_DEBUG"


def make_parser() -> Parser:
    """The parser with all subcommands."""
    parser = Parser(
        prog="lupai",
        description="Chinese climbing card games, Baohuang and Gouji: "
        "environments, agents, training.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"lupai {lupai.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in GROUPS:
        import_module(f"lupai.train.cli.{name}").add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    Args:
        argv: words after ``lupai``; those of this process when None.
    """
    try:
        try:
            arguments = make_parser().parse_args(argv)
        except SystemExit as leave:  # --help, --version
            status = leave.code
        else:
            status = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BrokenPipeError:  # the reader went away (`| head`); nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python complains as it exits
        return 141
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except (LupaiError, OSError, UnicodeError) as error:
        return _fail(one_line(error), getattr(error, "status", 2))
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return _fail(
            f"internal error, {type(error).__name__}: {one_line(error)} "
            f"({DEBUG}=1 shows where; please report it)",
            70,
        )


def _fail(message: str, status: int) -> int:
    print(f"lupai: error: {message}", file=sys.stderr)
    return status
