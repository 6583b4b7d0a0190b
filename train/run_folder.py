"""The run folder: who uses it, what it was made from, its counters; whichever trainer fills it.

Checkpoints stand in :mod:`lupai.train.checkpoints`, curves in :mod:`lupai.train.monitor`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

import lupai
from lupai.envs.errors import LupaiError
from lupai.train.arena.provenance import commit
from lupai.train.config import TrainConfig, dump_config, load_config
from lupai.train.files import write_whole
from lupai.train.locks import holder, now, take_lock

__all__ = ["Existing", "Progress", "RunLock", "TrainingError", "prepare", "read_json"]

Existing = Literal["refuse", "resume", "replace"]
CONFIG_FILE: Final = "config.yaml"
LATEST_FILE: Final = "latest.json"
METRICS_FILE: Final = "metrics.jsonl"
WARNINGS_FILE: Final = "warnings.jsonl"
CARD_FILE: Final = "run.json"
LOCK_FILE: Final = "run.lock"
STATE_FILE: Final = "trainer.json"
CHECKPOINTS: Final = "checkpoints"
BEST: Final = "best"
KEPT: Final = (
    "rules",
    "network",
    "selfplay.policies",
    "algorithm",
    "dmc.baseline",
)  # what a resumed run cannot change
_PACKAGES: Final = ("torch", "ray", "numpy", "tensorboard")


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


class RunLock:
    """The right to write into a run folder; a context manager.

    The lock file goes at a regular end. It stays after a crash, or where :attr:`crashed` was set;
    nobody holds it then, so it keeps nobody out.

    Args:
        path: run folder; it is made if it is not there.

    Raises:
        TrainingError: another process trains in this folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / LOCK_FILE
        self.crashed = False
        self._handle = -1

    def __enter__(self) -> RunLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(5):
            handle = take_lock(self.path)
            if handle is not None:
                self._handle = handle
                return self
            time.sleep(0.1 * attempt)  # `lupai runs` may just be looking
        who = holder(self.path)
        raise TrainingError(
            f"run {str(self.path.parent)!r}: process {who.get('pid', '?')} on "
            f"{who.get('host', '?')} is training in it; wait for it, stop it, or choose another "
            f"name (name=…)"
        )

    def __exit__(self, *_: object) -> None:
        if not self.crashed:
            self.path.unlink(missing_ok=True)
        os.close(self._handle)


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON object of the run folder.

    Raises:
        TrainingError: missing, unreadable, or something else.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise TrainingError(f"{path}: is missing; {what}") from None
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path}: cannot be read ({error}); {what}") from None
    if not isinstance(data, dict):
        raise TrainingError(f"{path}: holds no JSON object; {what}")
    return data


def prepare(path: Path, config: TrainConfig, existing: Existing) -> tuple[Progress, Path | None]:
    """Make the run folder ready; counters and checkpoint to start from.

    Raises:
        TrainingError: the folder is taken, there is nothing to go on from, or the checkpoint is
            damaged or does not belong to this config.
    """
    from lupai.train.checkpoints import find_checkpoint

    if existing == "resume":
        old = load_config(path / CONFIG_FILE) if (path / CONFIG_FILE).is_file() else config
        checkpoint, progress = find_checkpoint(path, config)
        for key in KEPT:
            before, wanted = (attrgetter(key)(c) for c in (old, config))
            if before != wanted:
                raise TrainingError(
                    f"run {str(path)!r}: {key} is {before!r} there and {wanted!r} now; a resumed "
                    f"run keeps it"
                )
        for file in (METRICS_FILE, WARNINGS_FILE):
            cut_lines(path / file, progress.iteration)
        _write_card(path, config, progress)
        write_whole(path / CONFIG_FILE, dump_config(config))
        return progress, checkpoint
    if (path / CONFIG_FILE).is_file() and (existing == "replace" or _nothing_done(path)):
        for entry in path.iterdir():
            if entry.name == LOCK_FILE:
                continue
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    if path.exists() and any(entry.name != LOCK_FILE for entry in path.iterdir()):
        raise TrainingError(
            f"run {str(path)!r}: the folder is not empty; resume it, replace it, or choose "
            f"another name (name=…)"
        )
    path.mkdir(parents=True, exist_ok=True)
    _write_card(path, config, Progress())
    write_whole(path / CONFIG_FILE, dump_config(config))
    return Progress(), None


def _nothing_done(path: Path) -> bool:
    """Whether a run ended before its first iteration, as when there was no room for its workers."""
    metrics = path / METRICS_FILE
    checkpoints = path / CHECKPOINTS
    return (
        not (path / LATEST_FILE).exists()
        and not (metrics.exists() and metrics.stat().st_size)
        and not (checkpoints.exists() and any(checkpoints.iterdir()))
    )


def versions() -> dict[str, str | None]:
    """Versions and commit of what trains; None for what is not installed."""
    found: dict[str, str | None] = {"lupai": lupai.__version__, "commit": commit()}
    found["python"] = platform.python_version()
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    found["numpy"] = np.__version__
    return found


def _write_card(path: Path, config: TrainConfig, progress: Progress) -> None:
    """``run.json``: what the run is, and one entry for each session of it."""
    session = {
        "started": now(),
        "from": asdict(progress),
        "host": socket.gethostname(),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, {platform.system()}",
        "seed": config.seed,
        # Deals, weights and exploration are keyed by these, see the trainer.
        "streams": [config.seed, progress.iteration],
        "versions": versions(),
    }
    sessions: list[Any] = []
    if progress.iteration and (path / CARD_FILE).is_file():
        sessions = read_json(path / CARD_FILE, "remove it to go on").get("sessions", [])
    card = {
        "name": config.name,
        "algorithm": config.algorithm,
        "rules": config.rules_string,
        "sessions": [*sessions, session],
    }
    write_whole(path / CARD_FILE, json.dumps(card, indent=1, ensure_ascii=False) + "\n")


def cut_lines(path: Path, iteration: int) -> None:
    """Drop lines after ``iteration`` (written, but not saved, before the run stopped)."""
    if not path.is_file():
        return
    keep = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            if json.loads(line)["iteration"] <= iteration:
                keep.append(line + "\n")
        except (ValueError, KeyError, TypeError):
            continue  # a line cut off in the middle
    write_whole(path, "".join(keep))
