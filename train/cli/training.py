"""``lupai train`` and ``lupai evaluate``: the command line of lupai.train.trainer and evaluate."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from lupai.agents.registry import AGENTS
from lupai.envs.errors import LupaiError
from lupai.train.cli.common import UsageError, add_progress, add_rules, positive, read_rules
from lupai.train.cli.records import read_seed

TRAIN_EXAMPLES: Final = """examples:
  lupai train qingdao_quick                           a config that comes with lupai
  lupai train my.yaml ppo.lr=1e-4 stop.minutes=30     a file, with values of it changed
  lupai train qingdao_quick name=second               another run folder
  lupai train --resume runs/quick stop.minutes=60     go on with a run

Ctrl-C saves a checkpoint and stops; --resume goes on from there. Needs the extra `train`.
"""
EVALUATE_EXAMPLES: Final = """examples:
  lupai evaluate runs/quick --against random,greedy
  lupai evaluate greedy --against random --hands 10000 -o greedy.json
  lupai evaluate runs/quick --format seat --seed 3
  lupai evaluate greedy --rules weihai --option doubling=false

Scores are means per hand with 95 % intervals over deals, seats rotated.
"""


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "train",
        help="train an agent by self-play",
        description="Train an agent by self-play.",
        epilog=TRAIN_EXAMPLES,
    )
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="YAML file, or a shipped name")
    parser.add_argument(
        "values", nargs="*", metavar="key=value", help="values that replace its own"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", metavar="RUN", help="run folder to go on with, instead of CONFIG")
    how.add_argument("--replace", action="store_true", help="throw an old run of that name away")
    parser.set_defaults(run=run_train)

    parser = commands.add_parser(
        "evaluate",
        help="measure an agent against others",
        description="Measure an agent against others.",
        epilog=EVALUATE_EXAMPLES,
    )
    parser.add_argument(
        "agent", metavar="AGENT", help="random, greedy, tactical, or the folder of a run"
    )
    parser.add_argument("--against", default="random", help="agents, commas between (%(default)s)")
    parser.add_argument("--hands", type=positive, default=1000, help="of each match (%(default)s)")
    parser.add_argument("--seed", default="1", help="of deals and agents (%(default)s)")
    add_rules(parser)
    parser.add_argument(
        "--format", help="seat, emperor_camp, rebel_camp, commas between (default: all)"
    )
    parser.add_argument(
        "-o", "--out",
        help="write the result there as JSON; - is standard output, and the table goes to standard "
        "error (default for a run: evaluation.json in its folder; else none)",
    )  # fmt: skip
    add_progress(parser)
    parser.set_defaults(run=run_evaluate)


def need_extra() -> None:
    """Refuse what cannot be done without the extra.

    Raises:
        LupaiError: torch, Ray or tensorboard is not installed.
    """
    missing = [name for name in ("torch", "ray", "tensorboard") if find_spec(name) is None]
    if missing:
        raise LupaiError(f'training needs {", ".join(missing)}: pip install "lupai[train]"')


def run_train(arguments: argparse.Namespace) -> int:
    """Train."""
    given = [arguments.config] if arguments.config is not None else []
    if arguments.resume is not None:
        values = tuple(given + arguments.values)
        if wrong := [v for v in values if "=" not in v]:
            raise UsageError(f"--resume goes with key=value only, not {wrong[0]!r}")
        need_extra()
        from lupai.train.trainer import resume

        folder = resume(arguments.resume, values)
    else:
        if not given or "=" in arguments.config:
            raise UsageError("train: name a config, such as qingdao_quick, or --resume a run")
        from lupai.train.config import load_config

        config = load_config(arguments.config, tuple(arguments.values))
        need_extra()
        from lupai.train.trainer import run

        folder = run(config, existing="replace" if arguments.replace else "refuse")
    print(f"run folder: {folder}\nmeasure it: lupai evaluate {folder}")
    return 0


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Measure."""
    from lupai.train import evaluate

    out = arguments.out
    if out is None and Path(arguments.agent).is_dir() and arguments.agent not in AGENTS:
        out = str(Path(arguments.agent) / "evaluation.json")
    if out not in (None, "-") and not Path(out).resolve().parent.is_dir():
        raise UsageError(f"{out}: its folder does not exist")
    rules = str(read_rules(arguments.rules, arguments.option))
    shown = sys.stderr.isatty() if arguments.progress is None else arguments.progress
    result = evaluate.evaluate(
        arguments.agent,
        arguments.against.split(","),
        formats=evaluate.FORMATS if arguments.format is None else arguments.format.split(","),
        hands=arguments.hands,
        seed=read_seed(arguments.seed),
        rules=rules,
        progress=sys.stderr if shown else None,
    )
    if out == "-":
        print(evaluate.table(result), file=sys.stderr)
        print(evaluate.to_json(result), end="")
        return 0
    print(evaluate.table(result))
    if out is not None:
        evaluate.write_json(Path(out), result)
        print(f"result: {out}")
    return 0
