"""The training loop: build, train, log, save, stop; and go on later where it stopped.

A run is one folder that can be moved; nothing in it names an absolute path::

    runs/quick/config.yaml            the config, as it was used
               metrics.jsonl          one line per iteration
               tensorboard/           the same as curves
               checkpoints/000012/    agent/ (plays without Ray), rllib/ (to go on), trainer.json
               latest.json            which checkpoint is the newest; replaced in one step
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TextIO

import lupai
from lupai.envs.errors import LupaiError
from lupai.train.config import TrainConfig, dump_config, load_config

__all__ = ["Progress", "TrainingError", "resume", "run"]

Existing = Literal["refuse", "resume", "replace"]
CONFIG_FILE: Final = "config.yaml"
LATEST_FILE: Final = "latest.json"
METRICS_FILE: Final = "metrics.jsonl"


class TrainingError(LupaiError):
    """A run that cannot start or go on; says what, where and what to do."""


@dataclass
class Progress:
    """Counters of a run over all its sessions.

    Attributes:
        iteration: finished iterations. steps: decisions sampled. hands: hands finished.
        minutes: minutes of training, start-up and evaluation not counted.
    """

    iteration: int = 0
    steps: int = 0
    hands: int = 0
    minutes: float = 0.0

    def share(self, config: TrainConfig) -> float:
        """Done part of the run, 1 when a limit is reached."""
        shares = [0.0]
        if config.stop.minutes is not None:
            shares.append(self.minutes / config.stop.minutes)
        if config.stop.steps is not None:
            shares.append(self.steps / config.stop.steps)
        return min(1.0, max(shares))


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
    progress, checkpoint = _prepare(path, config, existing)
    with _ray(config), _stop_signals() as stopped:
        _loop(config, path, progress, checkpoint, stopped, out or sys.stderr)
    return path


def _prepare(path: Path, config: TrainConfig, existing: Existing) -> tuple[Progress, Path | None]:
    """Make the run folder; counters and checkpoint to start from."""
    latest = path / LATEST_FILE
    if existing == "resume":
        if not latest.is_file():
            raise TrainingError(f"run {str(path)!r}: no {LATEST_FILE}, so nothing to go on from")
        checkpoint = path / json.loads(latest.read_text(encoding="utf-8"))["checkpoint"]
        state = checkpoint / "trainer.json"
        if not state.is_file():
            raise TrainingError(f"run {str(path)!r}: {state} is missing; it cannot go on")
        old = load_config(path / CONFIG_FILE)
        for key in ("rules", "network", "algorithm"):
            if getattr(old, key) != getattr(config, key):
                raise TrainingError(
                    f"run {str(path)!r}: {key} is {getattr(old, key)!r} there and "
                    f"{getattr(config, key)!r} now; a resumed run keeps it"
                )
        progress = Progress(**json.loads(state.read_text(encoding="utf-8")))
        _cut_metrics(path / METRICS_FILE, progress.iteration)
    else:
        if existing == "replace" and (path / CONFIG_FILE).is_file():
            shutil.rmtree(path)
        if path.exists() and any(path.iterdir()):
            raise TrainingError(
                f"run {str(path)!r}: the folder is not empty; resume it, replace it, or choose "
                f"another name (name=…)"
            )
        progress, checkpoint = Progress(), None
        path.mkdir(parents=True, exist_ok=True)
    _write(path / CONFIG_FILE, dump_config(config))
    return progress, checkpoint


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
            SummaryWriter(str(path / "tensorboard"), purge_step=first + 1) as curves,  # type: ignore[no-untyped-call]
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
                        curves.add_scalar(key, value, progress.iteration)  # type: ignore[no-untyped-call]
                bar.set_postfix_str(_postfix(row))
                bar.update(round(1000 * progress.share(config)) - bar.n)
                if time.monotonic() - saved_at >= 60 * config.checkpoint.every_minutes:
                    _save(algorithm, config, path, progress)
                    saved, saved_at = progress.iteration, time.monotonic()
            if saved != progress.iteration or progress.iteration == 0:
                _save(algorithm, config, path, progress)
    finally:
        algorithm.stop()


def _build(config: TrainConfig, progress: Progress, checkpoint: Path | None) -> Any:
    from lupai.train.rllib.setup import algorithm_config

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
            f"an iteration failed: {type(cause).__name__}: {cause} (workers.runners=0 shows "
            f"where)"
        ) from error
    # RLlib returns as if nothing had happened when its runners died.
    if not result.get("env_runners", {}).get("num_env_steps_sampled"):
        raise TrainingError(
            "no game was played in this iteration: the runners failed; run with "
            "workers.runners=0 to see their error"
        )
    return result


def _row(result: dict[str, Any], progress: Progress, seconds: float) -> dict[str, float]:
    """Flat metrics of one iteration; counts ``progress`` on. docs/training.md explains each."""
    from lupai.train.rllib.setup import POLICY

    played, learned = result["env_runners"], result["learners"][POLICY]
    steps, hands = int(played["num_env_steps_sampled"]), int(played.get("num_episodes", 0))
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
        "time/sampling": timers.get("env_runner_sampling_timer"),
        "time/learning": timers.get("learner_update_timer"),
        "play/decisions_per_hand": played.get("decisions_per_hand"),
        "play/solo_share": played.get("solo_share"),
    }
    for role, score in played.get("role_score", {}).items():
        row[f"score/{role}"] = score
    for name, key in {
        "loss/policy": "policy_loss",
        "loss/value": "vf_loss",
        "loss/value_explained": "vf_explained_var",
        "loss/entropy": "entropy",
        "loss/approx_kl": "approx_kl",
        "loss/clip_fraction": "clip_fraction",
        "loss/gradient_norm": "gradients_default_optimizer_global_norm",
    }.items():
        row[name] = learned.get(key)
    return {k: round(float(v), 6) for k, v in row.items() if v is not None and v == v}


def _postfix(row: dict[str, float]) -> str:
    text = f" {row['steps']:,.0f} steps, {row['time/steps_per_second']:,.0f}/s"
    scores = [f"{k[6:]} {v:+.1f}" for k, v in row.items() if k.startswith("score/")]
    return ", ".join([text, f"entropy {row.get('loss/entropy', 0.0):.2f}", *scores])


def _save(algorithm: Any, config: TrainConfig, path: Path, progress: Progress) -> None:
    """Write a checkpoint under a name that appears when it is whole, then point to it."""
    checkpoints = path / "checkpoints"
    checkpoints.mkdir(exist_ok=True)
    name = f"{progress.iteration:06d}"
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=checkpoints))
    try:
        algorithm.save_to_path(str((new / "rllib").resolve()))
        _export(algorithm, config, new / "agent", progress)
        _write(new / "trainer.json", json.dumps(asdict(progress)) + "\n")
        new.chmod(0o755)
        if (checkpoints / name).exists():
            shutil.rmtree(checkpoints / name)
        new.rename(checkpoints / name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    _write(path / LATEST_FILE, json.dumps({"checkpoint": f"checkpoints/{name}"}) + "\n")
    for old in sorted(checkpoints.glob("[0-9]*"))[: -config.checkpoint.keep]:
        shutil.rmtree(old, ignore_errors=True)


def _export(algorithm: Any, config: TrainConfig, folder: Path, progress: Progress) -> None:
    import torch

    from lupai.agents.checkpoint import save_agent
    from lupai.agents.network import MoveScorer, move_table
    from lupai.envs.baohuang.engine import Engine
    from lupai.train.rllib.setup import POLICY, network_config

    engine, sizes = Engine(config.rules_string), network_config(config)
    part = f"learner/rl_module/{POLICY}"
    state = algorithm.learner_group.get_state(components=part)["learner"]["rl_module"][POLICY]
    policy = MoveScorer(move_table(engine.observation_layout), sizes)
    policy.load_state_dict(
        {k[3:]: torch.as_tensor(v) for k, v in state.items() if k.startswith("pi.")}
    )
    save_agent(
        folder,
        policy,
        sizes,
        engine,
        idle="pass" if config.env.skip == "idle" else "choose",
        provenance={
            "name": config.name,
            "algorithm": config.algorithm,
            "seed": config.seed,
            **asdict(progress),
            "lupai": lupai.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    )


@contextmanager
def _ray(config: TrainConfig) -> Iterator[None]:
    """A Ray of its own that leaves no process and no file behind; or the one that runs already."""
    os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if ray.is_initialized():
        yield
        return
    logging.getLogger("ray").setLevel(logging.ERROR)
    # Short, because Ray puts sockets below it, whose paths may have 107 letters.
    scratch = tempfile.mkdtemp(prefix="lupai-")
    try:
        ray.init(
            num_cpus=config.workers.cpus or max(os.cpu_count() or 1, config.workers.runners + 1),
            include_dashboard=False,
            object_store_memory=config.workers.object_store_mb * 1_000_000,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=scratch,
        )
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM end the loop after the running iteration; a second one ends it at once.

    Entered after ``ray.init``, which puts its own handler in place.
    """
    seen: list[int] = []

    def handle(number: int, frame: Any) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)
        print("\nstopping after this iteration; once more to stop at once", file=sys.stderr)

    old = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            old[number] = signal.signal(number, handle)
        except ValueError:  # not in the main thread: whoever runs us there handles signals
            break
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _cut_metrics(path: Path, iteration: int) -> None:
    """Drop lines after ``iteration`` (written, but not saved, before the run stopped)."""
    if not path.is_file():
        return
    keep = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["iteration"] <= iteration:
                keep.append(line + "\n")
        except (ValueError, KeyError):
            continue  # a line cut off in the middle
    _write(path, "".join(keep))


def _write(path: Path, text: str) -> None:
    """Replace a file in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
