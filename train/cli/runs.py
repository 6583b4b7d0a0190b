"""``lupai runs``: the runs in a folder, how they stand and how strong they are."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from lupai.train.cli.common import stdout
from lupai.train.runs import RunState, find_runs

EXAMPLES: Final = """examples:
  lupai runs
  lupai runs elsewhere/runs --json

Scores are points per hand in one seat against copies of an anchor, from the short matches
while training (config section `watch`): last, and in brackets the best. Needs no extra.
"""
FOLDER: Final = "runs"
HEADS: Final = ("run", "state", "iterations", "steps", "minutes", "score (best)", "warned", "rules")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "runs",
        help="list training runs, their state and best score",
        description="List the training runs in a folder.",
        epilog=EXAMPLES,
    )
    parser.add_argument("folder", nargs="?", default=FOLDER, help="of the runs (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run_runs)


def run_runs(arguments: argparse.Namespace) -> int:
    """Print the table."""
    folder = Path(arguments.folder)
    runs = find_runs(folder) if folder.is_dir() or arguments.folder != FOLDER else []
    if arguments.json:
        stdout().write((json.dumps([r.to_json() for r in runs], indent=1) + "\n").encode())
    elif not runs:
        print(f"{folder}: no runs; `lupai train qingdao_quick` begins one")
    else:
        print(table(runs))
    return 0


def table(runs: list[RunState]) -> str:
    """The runs as a text table; errors below."""
    rows = [HEADS]
    for run in runs:
        scores = [
            f"{anchor} {score:+.2f} ({run.best[anchor]:+.2f})" for anchor, score in run.last.items()
        ]
        name = Path(run.folder).resolve().name
        rows.append(
            (
                name if run.name in ("", name) else f"{name} ({run.name})",
                run.state,
                f"{run.iteration:,}",
                f"{run.steps:,}",
                f"{run.minutes:.1f}",
                ", ".join(scores) or "none yet",
                str(run.warnings),
                run.rules or "?",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
    right = {2, 3, 4, 6}
    text = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text + [f"{run.folder}: {run.error}" for run in runs if run.error])
