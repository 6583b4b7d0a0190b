"""Train and measure what training.md and dmc.md tell: `python tools/make_training.py EXPERIMENT`.

  python tools/make_training.py ablation   what each part of the recipe gives (hours)
  python tools/make_training.py quick      PRESET_quick of each preset
  python tools/make_training.py full       qingdao_full
  python tools/make_training.py algorithms Deep Monte Carlo against PPO, half an hour each
  python tools/make_training.py dmc        what each part of qingdao_dmc gives

Trains each recipe with each seed in runs/EXPERIMENT/NAME-SEED, by `lupai train` with one thread
each, and measures the final agents by `lupai arena` on the pack `test`. What is finished is not
done again, what was interrupted goes on; Ctrl-C saves and stops. Then it leaves the figures and
the learning curves in docs/training/ and fills the pages. `--page` trains nothing: it draws and
fills from the files that are there.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import make_docs

from lupai.envs.errors import LupaiError
from lupai.train.experiments.plan import EXPERIMENTS, Experiment, changed
from lupai.train.experiments.run import conduct, draw

FOLDER = make_docs.ROOT / "docs" / "training"
PAGES = tuple(make_docs.ROOT / "docs" / name for name in ("training.md", "dmc.md"))


def main(argv: list[str] | None = None) -> int:
    """Train, measure, draw, fill."""
    given = sys.argv[1:] if argv is None else argv
    arguments = read_arguments(given)
    command = shlex.join(["python", "tools/make_training.py", *given])
    try:
        if not arguments.page:
            file = conduct(experiment_of(arguments), arguments.jobs, command, FOLDER, sys.stderr)
            print(f"wrote {file.relative_to(make_docs.ROOT)}")
        draw(FOLDER / f"{arguments.experiment}.json")
    except LupaiError as error:
        print(f"make_training: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make_training: stopped; the same command goes on", file=sys.stderr)
        return 130
    for page in PAGES:
        page.write_text(make_docs.fill(page.read_text("utf-8"), consoles=False), "utf-8")
        print(f"wrote {page.relative_to(make_docs.ROOT)}")
    return 0


def read_arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=sorted(EXPERIMENTS))
    parser.add_argument("--seeds", type=_positive, help="so many, from 1 (3)")
    parser.add_argument("--steps", type=_positive, help="ablation, dmc: decisions of each run")
    parser.add_argument("--minutes", type=float, help="full, algorithms: limit of each run")
    parser.add_argument("--jobs", type=_positive, default=2, help="runs at once (%(default)s)")
    parser.add_argument("--deals", type=_positive, help="of the pack, in each match (400)")
    parser.add_argument("--runs", type=Path, help="folder of the run folders (runs)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another value, for all"
    )
    parser.add_argument("--page", action="store_true", help="from the files, without training")
    arguments = parser.parse_args(argv)
    for name, owners in (("steps", ("ablation", "dmc")), ("minutes", ("full", "algorithms"))):
        if getattr(arguments, name) is not None and arguments.experiment not in owners:
            parser.error(f"--{name} belongs to {' and '.join(owners)}")
    return arguments


def _positive(text: str) -> int:
    value = int(text.replace("_", ""))
    if value < 1:
        raise ValueError(text)
    return value


def experiment_of(arguments: argparse.Namespace) -> Experiment:
    """What the command line asks for.

    Raises:
        ConfigError: a value that is not allowed.
    """
    sizes = {name: getattr(arguments, name) for name in ("steps", "minutes")}
    made = EXPERIMENTS[arguments.experiment](**{k: v for k, v in sizes.items() if v is not None})
    return changed(
        made, seeds=arguments.seeds, deals=arguments.deals, runs=arguments.runs,
        overrides=arguments.set,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
