"""The training loop: build, train, log, save, stop; and go on later where it stopped.

A run is one folder that can be moved; nothing in it names an absolute path::

    runs/quick/config.yaml            the config, as it was used
               metrics.jsonl          one line per iteration
               tensorboard/           the same as curves
               checkpoints/000012/    agent/ (plays without Ray), rllib/ (to go on), trainer.json
               latest.json            which checkpoint is the newest; replaced in one step

What is logged for each iteration: ``steps`` (decisions), ``hands`` and ``minutes`` of the run so
far; ``score/ROLE``, mean score of a seat in that role over the last hands (the mean over all seats
is always 0); ``play/solo_share``, share of hands with a soloist; ``play/decisions_per_hand``, those
that were asked; ``loss/entropy`` in nats; ``loss/approx_kl`` and ``loss/clip_fraction`` between the
policy that played and the one learned; ``loss/value_explained``, explained variance of the value
targets; ``time/seconds`` and ``time/steps_per_second`` of this iteration; ``time/sampling_mean``
and ``time/learning_mean``, running means in seconds.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from lupai.train.config import TrainConfig, load_config
from lupai.train.run_folder import (
    CONFIG_FILE,
    METRICS_FILE,
    Existing,
    Progress,
    TrainingError,
    prepare,
    save,
)
from lupai.train.session import ray_session, stop_signals

__all__ = ["Progress", "TrainingError", "resume", "run"]


def resume(folder: str | os.PathLike[str], overrides: tuple[str, ...] = ()) -> Path:
    """Go on with the run in ``folder``, wherever it lies now.

    Args:
        folder: run folder.
        overrides: ``key=value`` texts, such as ``stop.minutes=60``.
    """
    path = Path(folder)
    if not (path / CONFIG_FILE).is_file():
        raise TrainingError(f"run {str(path)!r}: no {CONFIG_FILE} in it; give a run folder")
    config = load_config(path / CONFIG_FILE, overrides)
    return run(config, existing="resume", folder=path)


def run(
    config: TrainConfig,
    *,
    existing: Existing = "refuse",
    folder: Path | None = None,
    out: TextIO | None = None,
) -> Path:
    """Train until a limit of ``config.stop`` or Ctrl-C / SIGTERM; the state is saved either way.

    Args:
        config: the run.
        existing: what to do where the run folder already holds a run.
        folder: run folder, if not ``config.run_folder``.
        out: where the progress bar goes; ``None``: stderr.

    Returns:
        The run folder; ``lupai.agents.load`` takes it.

    Raises:
        TrainingError: the folder is taken, nothing to resume, or sampling failed.
    """
    path = folder or config.run_folder
    progress, checkpoint = prepare(path, config, existing)
    with ray_session(config), stop_signals() as stopped:
        _loop(config, path, progress, checkpoint, stopped, out or sys.stderr)
    return path


def _loop(
    config: TrainConfig,
    path: Path,
    progress: Progress,
    checkpoint: Path | None,
    stopped: Callable[[], bool],
    out: TextIO,
) -> None:
    from torch.utils.tensorboard import SummaryWriter
    from tqdm import tqdm

    algorithm = _build(config, progress, checkpoint)
    first = progress.iteration
    try:
        # purge_step hides what was logged after the checkpoint that the run goes on from.
        with (
            SummaryWriter(str(path / "tensorboard"), purge_step=first + 1) as curves,
            open(path / METRICS_FILE, "a", encoding="utf-8") as lines,
            tqdm(
                total=1000,
                initial=round(1000 * progress.share(config)),
                desc=config.name,
                bar_format="{desc} {percentage:3.0f}%|{bar:20}| {elapsed}<{remaining}{postfix}",
                file=out,
                dynamic_ncols=True,
            ) as bar,
        ):
            saved, saved_at = first, time.monotonic()
            while progress.share(config) < 1 and not stopped():
                start = time.monotonic()
                result = _train_once(algorithm)
                seconds = time.monotonic() - start
                row = _row(result, progress, seconds)
                lines.write(json.dumps(row) + "\n")
                lines.flush()
                for key, value in row.items():
                    if key != "iteration":
                        curves.add_scalar(key, value, progress.iteration)
                bar.set_postfix_str(_postfix(row))
                bar.update(round(1000 * progress.share(config)) - bar.n)
                if time.monotonic() - saved_at >= 60 * config.checkpoint.every_minutes:
                    save(algorithm, config, path, progress)
                    saved, saved_at = progress.iteration, time.monotonic()
            if saved != progress.iteration or progress.iteration == 0:
                save(algorithm, config, path, progress)
    finally:
        algorithm.stop()


def _build(config: TrainConfig, progress: Progress, checkpoint: Path | None) -> Any:
    from lupai.train.rllib.setup import algorithm_config

    for name in ("ray", "ray.rllib"):  # else every build explains the new API
        logging.getLogger(name).setLevel(logging.ERROR)
    settings = algorithm_config(config, progress.iteration)
    algorithm = settings.build_algo()
    if checkpoint is not None:
        algorithm.restore_from_path(str((checkpoint / "rllib").resolve()))
    return algorithm


def _train_once(algorithm: Any) -> dict[str, Any]:
    try:
        result: dict[str, Any] = algorithm.train()
    except Exception as error:
        cause = error.__cause__ or error.__context__ or error
        raise TrainingError(
            f"an iteration failed: {type(cause).__name__}: {cause} (workers.runners=0 shows where)"
        ) from error
    # RLlib returns as if nothing had happened when its runners died.
    if not result.get("env_runners", {}).get("num_env_steps_sampled"):
        raise TrainingError(
            "no game was played in this iteration: the runners failed; run with "
            "workers.runners=0 to see their error"
        )
    return result


def _row(result: dict[str, Any], progress: Progress, seconds: float) -> dict[str, float]:
    """Flat metrics of one iteration; counts ``progress`` on."""
    from lupai.train.rllib.mapping import POLICY

    played, learned = result["env_runners"], result["learners"][POLICY]
    steps, hands = int(played["num_env_steps_sampled"]), _count(played.get("num_episodes"))
    progress.iteration += 1
    progress.steps += steps
    progress.hands += hands
    progress.minutes += seconds / 60
    timers = result.get("timers", {})
    row: dict[str, Any] = {
        "iteration": progress.iteration,
        "steps": progress.steps,
        "hands": progress.hands,
        "minutes": round(progress.minutes, 3),
        "time/seconds": round(seconds, 3),
        "time/steps_per_second": round(steps / seconds, 1),
        "time/sampling_mean": timers.get("env_runner_sampling_timer"),
        "time/learning_mean": timers.get("learner_update_timer"),
        "play/decisions_per_hand": played.get("decisions_per_hand"),
        "play/solo_share": played.get("solo_share"),
    }
    for role, score in sorted(played.get("role_score", {}).items()):
        row[f"score/{role}"] = score
    for name, key in {
        "loss/policy": "policy_loss",
        "loss/value": "vf_loss",
        "loss/value_explained": "vf_explained_var",
        "loss/entropy": "entropy",
        "loss/approx_kl": "approx_kl",
        "loss/clip_fraction": "clip_fraction",
        "loss/gradient_norm": "gradients_default_optimizer_global_norm",
        "role/log_loss": "role_log_loss",
        "role/check_log_loss": "role_check_log_loss",
        "role/grounded_log_loss": "role_grounded_log_loss",
    }.items():
        row[name] = learned.get(key)
    for name in ("value_explained", "entropy"):
        for role, value in learned.get(f"role_{name}", {}).items():
            row[f"{name}/{role}"] = value
    kept = {k: v for k, v in row.items() if v is not None and v == v}
    return {k: v if isinstance(v, int) else round(float(v), 6) for k, v in kept.items()}


def _count(value: Any) -> int:
    """RLlib's own runner sums to NaN where some runner finished no game."""
    return 0 if value is None or value != value else int(value)


def _postfix(row: dict[str, float]) -> str:
    text = f" {row['steps']:,.0f} steps, {row['time/steps_per_second']:,.0f}/s"
    scores = [f"{k[6:]} {v:+.1f}" for k, v in row.items() if k.startswith("score/")]
    return ", ".join([text, f"entropy {row.get('loss/entropy', 0.0):.2f}", *scores])
