"""``lupai train``: the command line of lupai.train.trainer."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from lupai.envs.errors import LupaiError
from lupai.train.cli.common import UsageError

TRAIN_EXAMPLES: Final = """examples:
  lupai train qingdao_quick                           a config that comes with lupai
  lupai train my.yaml ppo.lr=1e-4 stop.minutes=30     a file, with values of it changed
  lupai train qingdao_quick name=second               another run folder
  lupai train --resume runs/quick stop.minutes=60     go on with a run
  lupai train my.yaml --address auto                  on the Ray cluster of this machine
  lupai train qingdao_dmc                             Deep Monte Carlo instead of PPO
  lupai train gouji_dmc                               another game: its config names it
  lupai train qingdao_exploit target=runs/quick       a best response to an agent

Ctrl-C saves a checkpoint and stops; --resume goes on from there. Needs the extra `train`.
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
    parser.add_argument(
        "--address",
        metavar="auto|HOST:PORT",
        help="train on a running Ray cluster instead of a Ray of its own",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", metavar="RUN", help="run folder to go on with, instead of CONFIG")
    how.add_argument("--replace", action="store_true", help="throw an old run of that name away")
    parser.set_defaults(run=run_train)


def need_extra(algorithm: str = "ppo") -> None:
    """Refuse what cannot be done without the extra.

    Raises:
        LupaiError: torch, tensorboard or (for ppo) Ray is not installed.
    """
    needed = ("torch", "ray", "tensorboard") if algorithm == "ppo" else ("torch", "tensorboard")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise LupaiError(f'training needs {", ".join(missing)}: pip install "lupai[train]"')


def _algorithm_of(folder: str) -> str:
    """Of a run; one that cannot be read is refused later, by whoever resumes it."""
    from lupai.train.config import ConfigError, load_config

    file = Path(folder) / "config.yaml"
    try:
        return load_config(file).algorithm if file.is_file() else "ppo"
    except (ConfigError, OSError, ValueError):
        return "ppo"


def run_train(arguments: argparse.Namespace) -> int:
    """Train."""
    given = [arguments.config] if arguments.config is not None else []
    if arguments.resume is not None:
        values = tuple(given + arguments.values)
        if wrong := [v for v in values if "=" not in v]:
            raise UsageError(f"--resume goes with key=value only, not {wrong[0]!r}")
        need_extra(_algorithm_of(arguments.resume))
        from lupai.train.trainer import resume

        folder = resume(arguments.resume, values, address=arguments.address)
    else:
        if not given or "=" in arguments.config:
            raise UsageError("train: name a config, such as qingdao_quick, or --resume a run")
        from lupai.train.config import load_config

        config = load_config(arguments.config, tuple(arguments.values))
        need_extra(config.algorithm)
        from lupai.train.run_folder import Existing
        from lupai.train.trainer import run

        existing: Existing = "replace" if arguments.replace else "refuse"
        folder = run(config, existing=existing, address=arguments.address)
    if (folder / "exploit.json").is_file():
        from lupai.train.league.exploit import summary

        print(summary(folder))
    print(f"run folder: {folder}\nmeasure it: lupai evaluate {folder}")
    return 0
