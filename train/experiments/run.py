"""A whole experiment: check, train, measure, write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from lupai.envs.errors import LupaiError
from lupai.train.arena.results import write_json
from lupai.train.experiments import pages, results
from lupai.train.experiments.plan import Experiment
from lupai.train.experiments.queue import run_queue
from lupai.train.experiments.work import RunJob, check
from lupai.train.files import write_whole

__all__ = ["conduct", "draw"]


def conduct(
    experiment: Experiment, jobs: int, command: str, folder: Path, out: TextIO | None = None
) -> Path:
    """Do what is not yet done, and write the figures.

    Args:
        experiment: which.
        jobs: runs at once.
        command: that is written beside the figures.
        folder: where ``EXPERIMENT.json`` goes.
        out: where the progress line goes; None: nowhere.

    Returns:
        The file with the figures.

    Raises:
        LupaiError: a recipe that is not allowed, a folder that holds something else, or runs that
            failed.
        KeyboardInterrupt: stopped; what was trained is saved.
    """
    check(experiment)
    tasks = [RunJob(experiment, run) for run in experiment.all_runs()]
    failed = run_queue(tasks, jobs, out)
    if failed:
        what = "\n".join(f"  {name}: {reason}" for name, reason in failed.items())
        raise LupaiError(f"{len(failed)} of {len(tasks)} runs failed:\n{what}")
    target = folder / f"{experiment.name}.json"
    write_json(target, results.collect(experiment, command))
    return target


def draw(file: Path) -> None:
    """The picture beside the figures; left as it is where matplotlib is missing."""
    data = results.read(file)
    try:
        picture = pages.draw(data)
    except ImportError:
        print("matplotlib is not installed: the picture is left as it is", file=sys.stderr)
        return
    write_whole(file.with_suffix(".png"), picture)
