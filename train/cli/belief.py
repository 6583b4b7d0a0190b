"""``lupai belief``: hands, predictors and scores for "who is the guard?"."""

from __future__ import annotations

import argparse
from typing import Any, Final

from lupai.train.cli.belief_runs import (
    run_export,
    run_leak,
    run_make,
    run_score,
    run_train,
)
from lupai.train.cli.common import add_jobs, add_progress, add_rules, chance, minutes, positive

EXAMPLES: Final = """examples:
  lupai belief score uniform,grounded,tactical --data sample:qingdao
  lupai belief make-data --players tactical --calling neutral --hands 2000 -o data/tactical
  lupai belief train naive_bayes --data data/tactical -o beliefs/bayes
  lupai belief score grounded,beliefs/bayes --data data/tactical
  lupai belief score my_predictor:MyPredictor --data data/tactical
  lupai belief leak beliefs/bayes --data data/tactical
  lupai belief export data/tactical --split train -o export

Who is guard, or that nobody is, as chances at every decision while that is hidden: docs/belief.md.
"""
DATA_EXAMPLES: Final = """examples:
  lupai belief make-data --hands 1000 --seed 7 -o data/random
  lupai belief make-data --players tactical --calling neutral --hands 2000 --jobs 2 -o data/tactical
  lupai belief make-data --players tactical,greedy --mix seat --noise 0.05 -o data/mixed

Kept are hands that have a hidden role at some decision. Splits train, dev, test and private follow
from a hash of the deal. The same command writes the same bytes for every number of processes, and
goes on where it was stopped.
"""
TRAIN_EXAMPLES: Final = """examples:
  lupai belief train naive_bayes --data data/tactical -o beliefs/bayes
  lupai belief train gru --data data/tactical,data/mixed --minutes 10 -o beliefs/gru
  lupai belief train transformer --data data/tactical --seed 3 -o beliefs/transformer
  lupai belief train naive_bayes --data data/tactical --redraw-roles -o beliefs/control

Learns on the split train, and sets temperature and exponent on dev. gru and transformer need torch.
"""
SCORE_EXAMPLES: Final = """examples:
  lupai belief score uniform,grounded,tactical --data data/tactical
  lupai belief score grounded,beliefs/bayes --data data/tactical,data/mixed --tricks
  lupai belief score my_predictor:MyPredictor --data data/tactical --json -
  lupai belief score grounded,beliefs/gru,beliefs/bayes --reference beliefs/gru --data data/tactical
  lupai belief score beliefs/gru,exact:noise=0.1 --reference exact:noise=0.1 --moments 4 --data mini
  lupai belief score grounded,role-head:runs/quick --observers rebel,emperor --data data/tactical

A predictor is uniform, grounded, tactical; exact or particles, the posterior of a known population;
role-head:AGENT; a folder of `lupai belief train`; or a class. One that looks ahead in a hand is
refused. With several data sets a matrix of gains follows the tables.

options of exact and particles, with + between, such as particles:agent=tactical+noise=0.1+steps=4:
  agent    who plays (tactical); several: each seat has drawn one
  noise    of a random legal move instead of the agent's (0.05)
  calls    players; neutral: what comes before the first lead is the neutral caller's
  per      seat, hand: who has drawn one of several agents
  suits    blind; order: copies are laid down lowest suit first, as lupai's agents do
  limit    exact: deals to be tried for one view (100000)
  worlds, steps, seed    particles: drawn worlds (1024), steps of each (0), seed of the draws (0)
"""
LEAK_EXAMPLES: Final = """examples:
  lupai belief leak beliefs/bayes --data data/tactical
  lupai belief leak beliefs/bayes,beliefs/control --data data/tactical --json leak.json

change: nats by which the true guard is likelier after a move than before it. leak: that less what
the rules alone tell. control: the leak if the role were redrawn at each move. docs/belief-leak.md
"""
EXPORT_EXAMPLES: Final = """examples:
  lupai belief export data/tactical --split train -o export
  lupai belief export data/tactical --split dev --format parquet -o export_dev

A folder of files decisions-NNNNN and hands-NNNNN with columns.json, which says what is in them.
"""
KINDS: Final = ("naive_bayes", "gru", "transformer")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "belief",
        help="who is the guard: data, predictors and their scores",
        description="Predict who is guard: make data, train, score.",
        epilog=EXAMPLES,
    )
    ways = parser.add_subparsers(dest="way", metavar="COMMAND", required=True)
    _add_make(ways)
    _add_train(ways)
    _add_score(ways)
    _add_leak(ways)
    _add_export(ways)


def _add_make(ways: Any) -> None:
    make = ways.add_parser("make-data", help="let agents play hands", epilog=DATA_EXAMPLES)
    add_rules(make)
    make.add_argument(
        "--players", default="random",
        help="agents, commas between; one that stands twice is drawn twice as often (%(default)s)",
    )  # fmt: skip
    make.add_argument(
        "--mix", choices=("hand", "seat"), default="hand",
        help="draw one agent for each hand, or one for each seat (%(default)s)",
    )  # fmt: skip
    make.add_argument(
        "--noise", type=chance, default=0.0, metavar="CHANCE",
        help="of a random legal move instead of the agent's (%(default)s)",
    )  # fmt: skip
    make.add_argument(
        "--calling", choices=("players", "neutral"), default="players",
        help="who plays what comes before the first lead: the neutral caller never grabs "
        "(%(default)s)",
    )  # fmt: skip
    make.add_argument("--hands", type=positive, default=1000, help="to be played (%(default)s)")
    make.add_argument("--seed", default="0", help="of deals, draws and agents (%(default)s)")
    make.add_argument("-o", "--out", required=True, metavar="FOLDER", help="the data set")
    add_jobs(make, "the bytes are the same")
    add_progress(make)
    make.set_defaults(run=run_make)


def _add_train(ways: Any) -> None:
    train = ways.add_parser("train", help="train a predictor", epilog=TRAIN_EXAMPLES)
    train.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    _add_data(train)
    train.add_argument("--limit", type=positive, metavar="HANDS", help="of each split")
    train.add_argument("--epochs", type=positive, default=12, help="networks (%(default)s)")
    train.add_argument("--minutes", type=minutes, help="networks: stop sooner than that")
    train.add_argument("--seed", default="1", help="networks (%(default)s)")
    train.add_argument(
        "--redraw-roles", action="store_true",
        help="naive_bayes: a control that learns who is guard from roles drawn anew with --seed",
    )  # fmt: skip
    train.add_argument("-o", "--out", required=True, metavar="FOLDER", help="the predictor")
    add_progress(train)
    train.set_defaults(run=run_train)


def _add_score(ways: Any) -> None:
    score = ways.add_parser("score", help="score predictors", epilog=SCORE_EXAMPLES)
    score.add_argument("predictors", metavar="PREDICTORS", help="commas between")
    _add_data(score)
    _add_split(score, "test")
    score.add_argument(
        "--moments", type=positive, metavar="N",
        help="ask about N decisions of each hand, drawn by its deal (all)",
    )  # fmt: skip
    score.add_argument(
        "--observers", default="rebel,emperor,spectator", help="commas between (%(default)s)"
    )
    score.add_argument(
        "--reference", metavar="PREDICTOR",
        help="the one whose gain over grounded counts as all there is to know",
    )  # fmt: skip
    score.add_argument("--seed", default="1", help="of the bootstrap (%(default)s)")
    score.add_argument("--tricks", action="store_true", help="log loss by trick too")
    score.add_argument("--json", metavar="FILE", help="all scores; - is standard output")
    score.add_argument("--plots", metavar="FOLDER", help="diagrams as SVG (needs matplotlib)")
    add_progress(score)
    score.set_defaults(run=run_score)


def _add_leak(ways: Any) -> None:
    leak = ways.add_parser("leak", help="what each move tells of the guard", epilog=LEAK_EXAMPLES)
    leak.add_argument("predictors", metavar="PREDICTORS", help="commas between")
    _add_data(leak)
    _add_split(leak, "test")
    leak.add_argument(
        "--observers", default="spectator,rebel",
        help="of rebel, emperor, spectator; commas between (%(default)s)",
    )  # fmt: skip
    leak.add_argument("--seed", default="1", help="of the bootstrap (%(default)s)")
    leak.add_argument("--tricks", action="store_true", help="by trick too")
    leak.add_argument("--json", metavar="FILE", help="the same numbers; - is standard output")
    add_progress(leak)
    leak.set_defaults(run=run_leak)


def _add_export(ways: Any) -> None:
    export = ways.add_parser("export", help="decisions as arrays", epilog=EXPORT_EXAMPLES)
    export.add_argument(
        "data", metavar="DATA", help="folder of `lupai belief make-data`, or a sample"
    )
    _add_split(export, "train")
    export.add_argument(
        "--format", choices=("npz", "parquet"), default="npz",
        help="parquet needs pyarrow (%(default)s)",
    )  # fmt: skip
    export.add_argument("-o", "--out", required=True, metavar="FOLDER", help="a new folder")
    add_progress(export)
    export.set_defaults(run=run_export)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, metavar="DATA",
        help="folders of `lupai belief make-data`, or sample:PRESET; commas between",
    )  # fmt: skip


def _add_split(parser: argparse.ArgumentParser, usual: str) -> None:
    parser.add_argument(
        "--split", choices=("train", "dev", "test", "private"), default=usual,
        help="(%(default)s)",
    )  # fmt: skip
    parser.add_argument("--limit", type=positive, metavar="HANDS", help="the first so many")
