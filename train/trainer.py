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

from lupai.train.config import TrainConfig, load_config
from lupai.train.league.coach import League, check_opponents, make_coach
from lupai.train.loop import train_loop
from lupai.train.run_folder import (
    CONFIG_FILE,
    Existing,
    Progress,
    RunLock,
    TrainingError,
    prepare,
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
    """
    path = folder or config.run_folder
    if address is not None and config.algorithm != "ppo":
        raise TrainingError(
            f"--address {address}: algorithm {config.algorithm} trains on this machine alone, "
            f"without Ray; leave --address out"
        )
    if existing == "resume" and not path.is_dir():
        raise TrainingError(f"run {str(path)!r}: no such folder, so nothing to go on from")
    if existing != "resume":
        check_opponents(config)
    with RunLock(path) as lock:
        progress, checkpoint = prepare(path, config, existing)
        coach = make_coach(config, path, checkpoint)
        surroundings = ray_session(config, address) if config.algorithm == "ppo" else nullcontext()
        try:
            with (
                surroundings,
                stop_signals() as stopped,
                closing(_build(config, progress, address is not None, coach)) as trainer,
            ):
                train_loop(trainer, config, path, progress, checkpoint, stopped, out)
                if coach is not None and progress.share(config) >= 1:
                    coach.finish(trainer, progress)
        except BaseException:
            lock.crashed = True
            raise
    return path


def _build(config: TrainConfig, progress: Progress, cluster: bool, coach: League | None) -> Any:
    if config.algorithm == "dmc":
        from lupai.train.dmc.trainer import DMCTrainer

        return DMCTrainer(config, progress, coach)
    from lupai.train.rllib.trainer import RLlibTrainer

    return RLlibTrainer(config, progress, cluster, coach)
