"""The run folder: counters, checkpoints, metrics; everything appears whole or not at all."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import lupai
from lupai.envs.errors import LupaiError
from lupai.train.config import TrainConfig, dump_config, load_config

__all__ = ["Existing", "Progress", "TrainingError", "prepare", "save"]

Existing = Literal["refuse", "resume", "replace"]
CONFIG_FILE: Final = "config.yaml"
LATEST_FILE: Final = "latest.json"
METRICS_FILE: Final = "metrics.jsonl"
STATE_FILE: Final = "trainer.json"


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


def prepare(path: Path, config: TrainConfig, existing: Existing) -> tuple[Progress, Path | None]:
    """Make the run folder; counters and checkpoint to start from."""
    latest = path / LATEST_FILE
    if existing == "resume":
        if not latest.is_file():
            raise TrainingError(f"run {str(path)!r}: no {LATEST_FILE}, so nothing to go on from")
        checkpoint = path / json.loads(latest.read_text(encoding="utf-8"))["checkpoint"]
        state = checkpoint / STATE_FILE
        if not state.is_file():
            raise TrainingError(f"run {str(path)!r}: {state} is missing; it cannot go on")
        old = load_config(path / CONFIG_FILE)
        for key in ("rules", "network", "selfplay.policies", "algorithm"):
            before, now = (attrgetter(key)(c) for c in (old, config))
            if before != now:
                raise TrainingError(
                    f"run {str(path)!r}: {key} is {before!r} there and {now!r} now; a resumed run "
                    f"keeps it"
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
    write_text(path / CONFIG_FILE, dump_config(config))
    return progress, checkpoint


def save(algorithm: Any, config: TrainConfig, path: Path, progress: Progress) -> None:
    """Write a checkpoint under a name that appears when it is whole, then point to it."""
    checkpoints = path / "checkpoints"
    checkpoints.mkdir(exist_ok=True)
    name = f"{progress.iteration:06d}"
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=checkpoints))
    try:
        algorithm.save_to_path(str((new / "rllib").resolve()))
        _export(algorithm, config, new / "agent", progress)
        write_text(new / STATE_FILE, json.dumps(asdict(progress)) + "\n")
        new.chmod(0o755)
        if (checkpoints / name).exists():
            shutil.rmtree(checkpoints / name)
        new.rename(checkpoints / name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    write_text(path / LATEST_FILE, json.dumps({"checkpoint": f"checkpoints/{name}"}) + "\n")
    for old in sorted(checkpoints.glob("[0-9]*"))[: -config.checkpoint.keep]:
        shutil.rmtree(old, ignore_errors=True)


def _export(algorithm: Any, config: TrainConfig, folder: Path, progress: Progress) -> None:
    import torch

    from lupai.agents.checkpoint import save_agent
    from lupai.agents.network import move_table
    from lupai.agents.policies import build_policy
    from lupai.envs.baohuang.engine import Engine
    from lupai.train.rllib.mapping import POLICY
    from lupai.train.rllib.setup import network_config

    engine, sizes = Engine(config.rules_string), network_config(config)
    part = f"learner/rl_module/{POLICY}"
    state = algorithm.learner_group.get_state(components=part)["learner"]["rl_module"][POLICY]
    policy = build_policy(move_table(engine.observation_layout), sizes)
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
    write_text(path, "".join(keep))


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
