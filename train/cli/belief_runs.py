"""What the commands of ``lupai belief`` do; :mod:`lupai.train.cli.belief` has their options."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lupai.agents.belief.base import OBSERVERS, BeliefError
from lupai.train.cli.common import UsageError, progress_bar, read_rules, writing
from lupai.train.cli.records import read_seed

__all__ = ["run_export", "run_leak", "run_make", "run_score", "run_train"]


def _data_sets(text: str) -> list[Any]:
    from lupai.train.belief.data import open_data

    names = text.split(",")
    if not all(names):
        raise UsageError(f"--data {text!r}: names of data sets, commas between")
    return [open_data(name) for name in names]


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
    redraw = seed if arguments.redraw_roles else None
    if redraw is not None and arguments.kind != "naive_bayes":
        raise UsageError("--redraw-roles goes with naive_bayes")
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
                data, name=name, limit=arguments.limit, redraw=redraw, progress=bar.update
            )
        print(
            "exponent and temperature: "
            + ", ".join(
                f"{exponent:.3f} {temperature:.3f} ({observer})"
                for exponent, temperature, observer in zip(
                    predictor.exponents, predictor.temperatures, OBSERVERS, strict=True
                )
            )
            + "; what tells most, in nats for the guard:"
        )
        for context, response, ratio, count in predictor.strongest():
            print(f"{ratio:+7.2f}  {context}: {response} ({count:,} times)")
        if redraw is not None:
            provenance |= {"roles": "redrawn", "seed": seed}
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
    from lupai.train.belief.scoring import score_data

    observers = _observers(arguments.observers)
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
                    moments=arguments.moments,
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


def _observers(text: str) -> list[str]:
    from lupai.train.belief.decisions import OBSERVERS

    names = text.split(",")
    if unknown := [name for name in names if name not in OBSERVERS]:
        raise UsageError(f"--observers {unknown[0]!r}: none of {', '.join(OBSERVERS)}")
    return names


def run_leak(arguments: argparse.Namespace) -> int:
    """Measure, print, write."""
    from lupai.agents.belief import load_predictor
    from lupai.train.belief.leak import leak_data
    from lupai.train.belief.tables import leak_table

    observers = _observers(arguments.observers)
    data = _data_sets(arguments.data)
    seed = read_seed(arguments.seed)
    names = arguments.predictors.split(",")
    loaded = [[(name, load_predictor(name, some.rules)) for name in names] for some in data]
    total = sum(some.hands(arguments.split, arguments.limit) for some in data)
    with progress_bar(arguments.progress, total=total, unit=" hands") as bar:
        results = [
            leak_data(
                predictors, some, arguments.split,
                observers=observers, seed=seed, limit=arguments.limit, progress=bar.update,
            )
            for some, predictors in zip(data, loaded, strict=True)
        ]  # fmt: skip
    text = "\n\n".join(leak_table(result, arguments.tricks) for result in results)
    print(text, file=sys.stderr if arguments.json == "-" else sys.stdout)
    if arguments.json is not None:
        with writing(arguments.json) as out:
            out.write((json.dumps(results, indent=1) + "\n").encode())
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the arrays."""
    from lupai.train.belief.data import open_data
    from lupai.train.belief.export import export

    data = open_data(arguments.data)
    total = data.hands(arguments.split, arguments.limit)
    with progress_bar(arguments.progress, total=total, unit=" hands") as bar:
        written = export(
            data, arguments.split, Path(arguments.out),
            form=arguments.format, limit=arguments.limit, progress=bar.update,
        )  # fmt: skip
    print(f"{written['hands']:,} hands, {written['views']:,} views")
    return 0
