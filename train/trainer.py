"""A training run: its folder, its trainer and what that needs; and going on later where it stopped.

A run is one folder that can be moved; nothing in it names an absolute path::

    runs/quick/run.json               what it is: rules, versions, commit, seeds, sessions
               config.yaml            the config, as it was used
               metrics.jsonl          one line per iteration
               warnings.jsonl         what the watchdog said
               tensorboard/           the same as curves
               checkpoints/000012/    agent/ (plays alone), rllib/ or dmc/ (to go on), trainer.json
               latest.json            which checkpoint is the newest; replaced in one step
               best/latest.json       which scored best in the matches against the anchors

What the metrics mean is told in docs/training.md.
"""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, TextIO

from lupai.agents.base import Agent
from lupai.train.config import TrainConfig, load_config
from lupai.train.league.coach import League, check_opponents, make_coach
from lupai.train.league.frozen import Copies, load_teacher
from lupai.train.loop import train_loop
from lupai.train.run_folder import (
    CONFIG_FILE,
    Existing,
    Progress,
    RunLock,
    TrainingError,
    check_start,
)
from lupai.train.session import ray_session
from lupai.train.signals import stop_signals

__all__ = ["Progress", "TrainingError", "resume", "run"]


def resume(
    folder: str | os.PathLike[str],
    overrides: tuple[str, ...] = (),
    *,
    address: str | None = None,
    out: TextIO | None = None,
) -> Path:
    """Go on with the run in ``folder``, wherever it lies now.

    Args:
        folder: run folder.
        overrides: ``key=value`` texts, such as ``stop.minutes=60``.
        address, out: see :func:`run`.
    """
    path = Path(folder)
    if not (path / CONFIG_FILE).is_file():
        raise TrainingError(f"run {str(path)!r}: no {CONFIG_FILE} in it; give a run folder")
    config = load_config(path / CONFIG_FILE, overrides)
    return run(config, existing="resume", folder=path, address=address, out=out)


def run(
    config: TrainConfig,
    *,
    existing: Existing = "refuse",
    folder: Path | None = None,
    address: str | None = None,
    out: TextIO | None = None,
) -> Path:
    """Train until a limit of ``config.stop`` or Ctrl-C / SIGTERM; the state is saved either way.

    All is checked first, opponents, workers' room and checkpoint too: a run that is refused leaves
    its folder, and with ``replace`` the old run, as they were.

    Args:
        config: the run.
        existing: what to do where the run folder already holds a run.
        folder: run folder, if not ``config.run_folder``.
        address: of a running Ray cluster, ``auto`` or ``HOST:PORT``; None: a Ray of its own.
        out: where the progress bar goes; ``None``: stderr.

    Returns:
        The run folder; ``lupai.agents.load`` takes it.

    Raises:
        TrainingError: the folder is taken or cannot be written, there is nothing to resume, no
            cluster or no room on it, or sampling failed.
        LupaiError: an agent that the run needs cannot be had.
    """
    path = folder or config.run_folder
    if address is not None and config.algorithm != "ppo":
        raise TrainingError(
            f"--address {address}: algorithm {config.algorithm} trains on this machine alone, "
            f"without Ray; leave --address out"
        )
    if existing == "resume" and not path.is_dir():
        raise TrainingError(f"run {str(path)!r}: no such folder, so nothing to go on from")
    with RunLock(path) as lock:
        start = check_start(path, config, existing)
        progress = start.progress
        check_opponents(config, path, progress if existing == "resume" else None)
        coach = make_coach(config, path, start.checkpoint)
        copies = Copies(path, new=start.checkpoint is None)
        teacher = load_teacher(config, copies, progress.steps)

        def copy() -> None:
            copies.write()
            if coach is not None:
                coach.copy()

        def begin() -> None:
            lock.begun = True
            start.commit(copy)

        surroundings = ray_session(config, address) if config.algorithm == "ppo" else nullcontext()
        with (
            surroundings,
            stop_signals() as stopped,
            closing(_build(config, progress, address is not None, coach, teacher)) as trainer,
        ):
            train_loop(trainer, start, stopped, out, begin)
            if coach is not None and progress.share(config) >= 1:
                coach.finish(trainer, progress)
    return path


def _build(
    config: TrainConfig,
    progress: Progress,
    cluster: bool,
    coach: League | None,
    teacher: Agent | None,
) -> Any:
    if config.algorithm == "dmc":
        from lupai.train.dmc.trainer import DMCTrainer

        return DMCTrainer(config, progress, coach, teacher)
    from lupai.train.rllib.trainer import RLlibTrainer

    return RLlibTrainer(config, progress, cluster, coach, teacher)
