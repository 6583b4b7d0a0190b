"""``lupai belief``: hands, predictors and scores for "who is the guard?"."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from lupai.agents.belief.base import BeliefError
from lupai.train.cli.common import (
    UsageError,
    add_jobs,
    add_progress,
    add_rules,
    positive,
    progress_bar,
    read_rules,
    writing,
)  # fmt: skip
from lupai.train.cli.records import read_seed

EXAMPLES: Final = """examples:
  lupai belief make-data --players tactical --calling neutral --hands 2000 -o data/tactical
  lupai belief train naive_bayes --data data/tactical -o beliefs/bayes
  lupai belief score grounded,beliefs/bayes --data data/tactical
  lupai belief score my_predictor:MyPredictor --data data/tactical
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

Learns on the split train, and sets temperature or exponent on dev. gru and transformer need torch.
"""
SCORE_EXAMPLES: Final = """examples:
  lupai belief score uniform,grounded,tactical --data data/tactical
  lupai belief score grounded,beliefs/bayes --data data/tactical,data/mixed --tricks
  lupai belief score my_predictor:MyPredictor --data data/tactical --json -
  lupai belief score grounded,beliefs/gru,beliefs/bayes --reference beliefs/gru --data data/tactical

A predictor is uniform, grounded, tactical, a folder of `lupai belief train`, or a class. One that
looks ahead in a hand is refused. With several data sets a matrix of gains follows the tables.
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
        "--noise", type=_chance, default=0.0, metavar="CHANCE",
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
    train.add_argument("--minutes", type=_minutes, help="networks: stop sooner than that")
    train.add_argument("--seed", default="1", help="networks (%(default)s)")
    train.add_argument("-o", "--out", required=True, metavar="FOLDER", help="the predictor")
    add_progress(train)
    train.set_defaults(run=run_train)


def _add_score(ways: Any) -> None:
    score = ways.add_parser("score", help="score predictors", epilog=SCORE_EXAMPLES)
    score.add_argument("predictors", metavar="PREDICTORS", help="commas between")
    _add_data(score)
    score.add_argument(
        "--split", choices=("train", "dev", "test", "private"), default="test",
        help="(%(default)s)",
    )  # fmt: skip
    score.add_argument("--limit", type=positive, metavar="HANDS", help="the first so many")
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


def _add_export(ways: Any) -> None:
    export = ways.add_parser("export", help="decisions as arrays", epilog=EXPORT_EXAMPLES)
    export.add_argument("data", metavar="DATA", help="folder of `lupai belief make-data`")
    export.add_argument(
        "--split", choices=("train", "dev", "test", "private"), default="train",
        help="(%(default)s)",
    )  # fmt: skip
    export.add_argument("--limit", type=positive, metavar="HANDS", help="the first so many")
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
        help="folders of `lupai belief make-data`, commas between",
    )  # fmt: skip


def _chance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no chance in 0 … 1")
    return value


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time in minutes")
    return value


def _data_sets(text: str) -> list[Any]:
    from lupai.train.belief.data import DataSet

    names = text.split(",")
    if not all(names):
        raise UsageError(f"--data {text!r}: names of folders, commas between")
    return [DataSet(name) for name in names]


def run_make(arguments: argparse.Namespace) -> int:
    """Play the hands."""
    from lupai.train.belief.data import make_data
    from lupai.train.belief.playing import Plan

    plan = Plan(
        rules=str(read_rules(arguments.rules, arguments.option)),
        players=tuple(arguments.players.split(",")),
        mix=arguments.mix,
        noise=arguments.noise,
        calling=arguments.calling,
        hands=arguments.hands,
        seed=read_seed(arguments.seed),
    )
    out = Path(arguments.out)
    if not out.resolve().parent.is_dir():
        raise UsageError(f"{arguments.out}: the folder above it does not exist")
    with progress_bar(arguments.progress, total=plan.hands, unit=" hands") as bar:
        try:
            data = make_data(plan, out, jobs=arguments.jobs, progress=bar.update)
        except KeyboardInterrupt:
            print(
                f"lupai: note: {out} keeps what is done; the same command goes on from it",
                file=sys.stderr,
            )
            raise
    for split, count in data.splits.items():
        print(f"{split:8} {count['hands']:9,} hands {count['decisions']:12,} decisions")
    print(f"sha256 {data.sha256}")
    return 0


def run_train(arguments: argparse.Namespace) -> int:
    """Train and save."""
    from lupai.agents.belief.files import write_folder

    data = _data_sets(arguments.data)
    seed = read_seed(arguments.seed)
    out = Path(arguments.out)
    if out.exists() and not (out / "belief.json").is_file():
        raise UsageError(f"{out}: is there and holds no predictor; give another name")
    name = out.name or arguments.kind
    provenance: dict[str, Any] = {
        "data": [{"population": some.name, "sha256": some.sha256} for some in data],
        "limit": arguments.limit,
    }
    hands = sum(some.hands(split, arguments.limit) for some in data for split in ("train", "dev"))
    if arguments.kind == "naive_bayes":
        from lupai.train.belief.bayes import fit_naive_bayes

        with progress_bar(arguments.progress, total=hands, unit=" hands") as bar:
            predictor: Any = fit_naive_bayes(
                data, name=name, limit=arguments.limit, progress=bar.update
            )
        print(f"exponent {predictor.exponent:.4f}")
    else:
        predictor = _train_network(arguments, data, name, seed, hands)
        provenance |= {"seed": seed}
    card, arrays = predictor.card(provenance)
    write_folder(out, card, arrays)
    print(f"predictor: {arguments.out}")
    return 0


def _train_network(
    arguments: argparse.Namespace, data: list[Any], name: str, seed: int, hands: int
) -> Any:
    try:
        from lupai.train.belief.networks import train_network
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lupai"):
            raise
        raise BeliefError(
            f'{arguments.kind} needs {error.name}: pip install "lupai[train]"'
        ) from None
    with progress_bar(arguments.progress, total=hands, unit=" hands") as bar:
        predictor, told = train_network(
            arguments.kind, data, name=name, seed=seed, limit=arguments.limit,
            minutes=arguments.minutes, epochs=arguments.epochs, progress=bar.update,
            say=lambda line: print(line, file=sys.stderr),
        )  # fmt: skip
    print(told)
    return predictor


def run_score(arguments: argparse.Namespace) -> int:
    """Score, print, write."""
    from lupai.agents.belief import load_predictor
    from lupai.train.belief import tables
    from lupai.train.belief.decisions import OBSERVERS
    from lupai.train.belief.scoring import score_data

    observers = arguments.observers.split(",")
    if unknown := [name for name in observers if name not in OBSERVERS]:
        raise UsageError(f"--observers {unknown[0]!r}: none of {', '.join(OBSERVERS)}")
    names = arguments.predictors.split(",")
    if arguments.plots is not None:
        from lupai.train.belief.plots import need_matplotlib

        need_matplotlib()
    results = []
    data = _data_sets(arguments.data)
    seed = read_seed(arguments.seed)
    loaded = [[(name, load_predictor(name, some.rules)) for name in names] for some in data]
    total = sum(some.hands(arguments.split, arguments.limit) for some in data)
    with progress_bar(arguments.progress, total=total, unit=" hands") as bar:
        for some, predictors in zip(data, loaded, strict=True):
            results.append(
                score_data(
                    predictors,
                    some,
                    arguments.split,
                    seed=seed,
                    limit=arguments.limit,
                    reference=arguments.reference,
                    observers=observers,
                    progress=bar.update,
                )
            )
    blocks = [tables.score_table(result) for result in results]
    if arguments.tricks:
        blocks += [tables.trick_table(result) for result in results]
    if len(results) > 1:
        blocks.append(tables.matrix(results))
    print("\n\n".join(blocks), file=sys.stderr if arguments.json == "-" else sys.stdout)
    if arguments.json is not None:
        with writing(arguments.json) as out:
            out.write((json.dumps(results, indent=1) + "\n").encode())
    if arguments.plots is not None:
        from lupai.train.belief.plots import write_plots

        for path in write_plots(Path(arguments.plots), results):
            print(f"plot: {path}", file=sys.stderr)
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the arrays."""
    from lupai.train.belief.data import DataSet
    from lupai.train.belief.export import export

    data = DataSet(arguments.data)
    total = data.hands(arguments.split, arguments.limit)
    with progress_bar(arguments.progress, total=total, unit=" hands") as bar:
        written = export(
            data, arguments.split, Path(arguments.out),
            form=arguments.format, limit=arguments.limit, progress=bar.update,
        )  # fmt: skip
    print(f"{written['hands']:,} hands, {written['views']:,} views")
    return 0
