"""``lupai arena`` and its short spelling ``lupai evaluate``: agents measured against each other."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from lupai.agents.folders import game_of as game_of_agent
from lupai.agents.registry import AGENTS, agent_path
from lupai.agents.shipped import PREFIX
from lupai.envs.game import rules_class
from lupai.train.cli.common import (
    UsageError,
    add_game,
    add_progress,
    game_of,
    positive,
    read_rules,
    seconds,
    writing,
)  # fmt: skip
from lupai.train.cli.records import read_seed

ARENA_EXAMPLES: Final = """examples:
  lupai arena --players greedy --against random --deals 200
  lupai arena --players runs/quick,greedy --against greedy --pack dev -o results.json
  lupai arena --players my_agent:MyAgent --against greedy --time-limit 0.5
  lupai arena --players random,greedy,runs/quick --format round_robin,mixed --deals 500
  lupai arena --players runs/quick --against greedy --pack test --jobs 2 -o r.json --report r.html
  lupai arena --players greedy --against random --format seat --variance
  lupai arena --game gouji --players tactical --against greedy --format seat,side --pack dev

Formats: seat (one player among opponents), camp or emperor_camp, rebel_camp (whole camps), in Gouji
side or even_side, odd_side; round_robin (every pair of the players), mixed (all players at common
tables). Ctrl-C loses nothing where -o is given: the same command goes on. See docs/arena.md for
what the numbers mean.
"""
EVALUATE_EXAMPLES: Final = """examples:
  lupai evaluate runs/quick --against random,greedy
  lupai evaluate greedy --against random --hands 10000 -o greedy.json
  lupai evaluate runs/quick --format seat --seed 3
  lupai evaluate greedy --rules weihai --option doubling=false
  lupai evaluate greedy --game gouji --hands 200

Scores are means per hand with 95 % intervals over deals, seats rotated. The same as `lupai arena
--strict` with formats seat, emperor_camp, rebel_camp, or seat, even_side, odd_side; that command
has more options.
"""
PLAYERS: Final = (
    f"{', '.join(AGENTS)}, one that came with lupai (see `lupai agents`), the folder of a run, an "
    "ONNX file, or a class such as my_module:MyAgent"
)


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "arena",
        help="measure agents against each other",
        description="Measure agents against each other on duplicate deals.",
        epilog=ARENA_EXAMPLES,
    )
    parser.add_argument("--players", required=True, help=f"with commas between: {PLAYERS}")
    parser.add_argument(
        "--against", default="", help="whom each of them meets, in seat and camp formats"
    )
    parser.add_argument(
        "--format",
        help="seat, emperor_camp, rebel_camp, camp (in Gouji even_side, odd_side, side), "
        "round_robin, mixed, commas between (default: seat,camp; without --against round_robin)",
    )
    parser.add_argument("--pack", help="dev, test, or a file of `lupai deals make`")
    parser.add_argument("--deals", type=positive, help="how many (1000, or all of the pack)")
    parser.add_argument("--seed", default="1", help="of agents, and of deals without pack (1)")
    add_game(parser)
    parser.add_argument("--strict", action="store_true", help="the first fault ends the match")
    parser.add_argument(
        "--time-limit", type=seconds, metavar="SECONDS", help="for a decision; then it is a fault"
    )
    parser.add_argument(
        "--fallback", choices=("lowest", "random"), default="lowest",
        help="the legal move that is played after a fault (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--jobs", type=positive, default=1, help="processes (%(default)s)")
    parser.add_argument(
        "--deals-per-part", type=positive, metavar="N",
        help="deals that are kept together when finished (about 2000 hands; 200 for agents "
        "without batches)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--out", help="result as JSON; - is standard output (and the table goes to stderr)"
    )
    parser.add_argument("--report", metavar="FILE", help="report as .html or .md")
    parser.add_argument("--records", metavar="FILE", help="all hands as records")
    parser.add_argument("--variance", action="store_true", help="show what the rotations save")
    add_progress(parser)
    parser.set_defaults(run=run_arena, single=False)

    parser = commands.add_parser(
        "evaluate",
        help="measure an agent against others",
        description="Measure an agent against others.",
        epilog=EVALUATE_EXAMPLES,
    )
    parser.add_argument("agent", metavar="AGENT", help=PLAYERS)
    parser.add_argument("--against", default="random", help="agents, commas between (%(default)s)")
    parser.add_argument("--hands", type=positive, default=1000, help="of each match (%(default)s)")
    parser.add_argument("--seed", default="1", help="of deals and agents (%(default)s)")
    add_game(parser)
    parser.add_argument(
        "--format",
        help="seat, emperor_camp, rebel_camp, in Gouji seat, even_side, odd_side, commas between "
        "(all)",
    )
    parser.add_argument("--jobs", type=positive, default=1, help="processes (%(default)s)")
    parser.add_argument(
        "-o", "--out",
        help="write the result there as JSON; - is standard output, and the table goes to standard "
        "error (default for a run: evaluation.json in its folder; else none)",
    )  # fmt: skip
    add_progress(parser)
    parser.set_defaults(
        run=run_evaluate, deals=None, pack=None, strict=True, time_limit=None, fallback="lowest",
        deals_per_part=None, report=None, records=None, variance=False, single=True,
    )  # fmt: skip


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Measure one agent."""
    arguments.players, name = arguments.agent, arguments.agent
    mine = not name.startswith(PREFIX)  # nothing is written beside what came with lupai
    if arguments.out is None and mine and (folder := agent_path(name)) and folder.is_dir():
        arguments.out = str(folder / "evaluation.json")
    return run_arena(arguments)


def run_arena(arguments: argparse.Namespace) -> int:
    """Play, print, write."""
    from lupai.train.arena import results, run, terminal

    out = arguments.out
    for name in (out, arguments.report, arguments.records):
        if name not in (None, "-") and not Path(name).resolve().parent.is_dir():
            raise UsageError(f"{name}: its folder does not exist")
        if name not in (None, "-") and Path(name).is_dir():
            raise UsageError(f"{name}: is a folder; give the name of a file")
    if arguments.report is not None and Path(arguments.report).suffix not in (".html", ".md"):
        raise UsageError(f"--report {arguments.report}: a file .html or .md")
    if arguments.records == "-" and out == "-":
        raise UsageError("-o and --records cannot both go to the standard output")
    players = arguments.players.split(",")
    against = arguments.against.split(",") if arguments.against else []
    pack = _pack(arguments, [*players, *against])
    shown = sys.stderr.isatty() if arguments.progress is None else arguments.progress
    work = None if out in (None, "-") else Path(f"{out}.partial")
    with ExitStack() as stack:
        sink = None
        if arguments.records is not None:
            file = stack.enter_context(writing(arguments.records))

            def sink(line: str) -> None:
                file.write((line + "\n").encode())

        try:
            done = run.run_arena(
                players,
                against,
                formats=_formats(arguments, pack["game"]),
                **pack,
                hands=getattr(arguments, "hands", None),
                seed=read_seed(arguments.seed),
                limit=arguments.time_limit,
                strict=arguments.strict,
                fallback=arguments.fallback,
                jobs=arguments.jobs,
                deals_of_part=arguments.deals_per_part,
                work=work,
                records=sink,
                progress=sys.stderr if shown else None,
            )
        except KeyboardInterrupt:
            if work is not None and work.exists():
                print(f"lupai: note: {work} keeps what is done; the same command goes on from it",
                      file=sys.stderr)  # fmt: skip
            raise
    text = terminal.table(done.result)
    if arguments.variance:
        text += "\n\n" + terminal.variance_table(done.result)
    if out == "-":
        print(text, file=sys.stderr)
        print(results.to_json(done.result), end="")
    else:
        print(text)
    if out not in (None, "-"):
        path = Path(out)
        results.write_json(path, done.result)
        results.write_json(results.timing_file(path), done.timing)
        print(f"result: {out}")
    if arguments.report is not None:
        from lupai.train.arena.report import write_report

        write_report(Path(arguments.report), done.result, done.timing)
        print(f"report: {arguments.report}")
    if shown:
        print(terminal.timing_table(done.timing), file=sys.stderr)
    if work is not None:
        run.finish(work)
    return 0


def _formats(arguments: argparse.Namespace, game: str) -> list[str] | None:
    """What was asked for; of `lupai evaluate` all that there are for one player."""
    from lupai.train.evaluate import default_formats

    if arguments.format is None and arguments.single:
        return list(default_formats(game))
    return None if arguments.format is None else arguments.format.split(",")


def _pack(arguments: argparse.Namespace, agents: list[str]) -> dict[str, Any]:
    """Game, pack, number of deals and rules.

    The game is the one named, that of the preset, or that of trained agents.
    """
    from lupai.train.arena.packs import load_pack

    game = arguments.game
    if arguments.rules is not None:
        game = game_of(game, arguments.rules)
    theirs = [found for name in agents if (found := game_of_agent(name)) is not None]
    game = game or next(iter(theirs), None)
    rules = None
    if arguments.rules is not None or arguments.option:
        game = game_of(game, None)
        source = arguments.rules or rules_class(game).default
        rules = str(read_rules(source, arguments.option, game))
    if arguments.pack is None:
        return {"game": game_of(game, None), "rules": rules, "deals": arguments.deals}
    pack = load_pack(arguments.pack, rules, game)
    return {"game": pack.game, "pack": pack, "deals": arguments.deals}
