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
from collections.abc import Callable
from contextlib import suppress
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
from lupai.train.locks import holder, now, take_lock, write_lock

__all__ = ["Existing", "Progress", "RunLock", "Start", "TrainingError", "check_start", "read_json"]

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
# What a resumed run cannot change, and what it cannot while it is an exploiter.
KEPT: Final = ("rules", "network", "selfplay.policies", "algorithm", "dmc.baseline", "dmc.heads")
KEPT_EXPLOIT: Final = ("target", "exploit.role")
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

    The lock file goes at a regular end and stays after a crash; nobody holds it then, so it keeps
    nobody out. Until :attr:`begun` is set nothing has happened: the file that a crash has left is
    put back, and a folder that was made for it goes.

    Args:
        path: run folder; it is made if it is not there.

    Attributes:
        begun: whether the run has begun, or goes on.

    Raises:
        TrainingError: another process trains in this folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / LOCK_FILE
        self.begun = False
        self._handle, self._before, self._made = -1, b"", False

    def __enter__(self) -> RunLock:
        for attempt in range(5):
            self._made |= not self.path.parent.is_dir()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            taken = take_lock(self.path)
            if taken is not None:
                self._handle, self._before = taken
                return self
            time.sleep(0.1 * attempt)  # `lupai runs` may just be looking
        who = holder(self.path)
        raise TrainingError(
            f"run {str(self.path.parent)!r}: process {who.get('pid', '?')} on "
            f"{who.get('host', '?')} is training in it; wait for it, stop it, or choose another "
            f"name (name=…)"
        )

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if not self.begun and self._before:
            write_lock(self._handle, self._before)
        elif not self.begun or error is None:
            self.path.unlink(missing_ok=True)
        os.close(self._handle)
        if not self.begun and self._made:
            with suppress(OSError):  # somebody has put something into it
                self.path.parent.rmdir()


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


@dataclass(frozen=True)
class Start:
    """A run that may begin or go on; nothing of it has been written yet.

    Attributes:
        path: run folder. config: the run. progress: its counters.
        checkpoint: what to go on from; None: a new run.
        sessions: earlier ones, as ``run.json`` tells.
    """

    path: Path
    config: TrainConfig
    progress: Progress
    checkpoint: Path | None = None
    sessions: tuple[Any, ...] = ()

    def commit(self, copy: Callable[[], None] | None = None) -> None:
        """Write into the folder that this run begins or goes on; what an old one left goes. For
        the moment when nothing can refuse the run any more.

        Args:
            copy: copies what the run needs into its folder.
        """
        if self.checkpoint is None:
            self.path.mkdir(parents=True, exist_ok=True)
            for entry in _content(self.path):
                if entry.name == CONFIG_FILE:
                    continue  # replaced below: without it the folder would be a stranger's
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
            self._write()
        if copy is not None:
            copy()
        if self.checkpoint is not None:
            for file in (METRICS_FILE, WARNINGS_FILE):
                cut_lines(self.path / file, self.progress.iteration)
            self._write()

    def _write(self) -> None:
        write_whole(self.path / CONFIG_FILE, dump_config(self.config))
        _write_card(self.path, self.config, self.progress, self.sessions)


def check_start(path: Path, config: TrainConfig, existing: Existing) -> Start:
    """See whether a run can begin or go on in its folder; writes nothing.

    Raises:
        TrainingError: the folder is taken, there is nothing to go on from, or the checkpoint is
            damaged or does not belong to this config.
    """
    from lupai.train.checkpoints import find_checkpoint

    if existing == "resume":
        old = load_config(path / CONFIG_FILE) if (path / CONFIG_FILE).is_file() else config
        checkpoint, progress = find_checkpoint(path, config)
        exploits = old.selfplay.mode == config.selfplay.mode == "exploit"
        for key in (*KEPT, *KEPT_EXPLOIT) if exploits else KEPT:
            before, wanted = (attrgetter(key)(c) for c in (old, config))
            if before != wanted:
                raise TrainingError(
                    f"run {str(path)!r}: {key} is {before!r} there and {wanted!r} now; a resumed "
                    f"run keeps it"
                )
        return Start(path, config, progress, checkpoint, _sessions(path, progress))
    ours = (path / CONFIG_FILE).is_file() and (existing == "replace" or _nothing_done(path))
    if not ours and _content(path):
        raise TrainingError(
            f"run {str(path)!r}: the folder is not empty; resume it, replace it, or choose "
            f"another name (name=…)"
        )
    return Start(path, config, Progress())


def _content(path: Path) -> list[Path]:
    """What lies in the folder, beside its lock."""
    return [e for e in path.iterdir() if e.name != LOCK_FILE] if path.is_dir() else []


def _nothing_done(path: Path) -> bool:
    """Whether a run ended before its first iteration did."""
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


def _sessions(path: Path, progress: Progress) -> tuple[Any, ...]:
    """Earlier sessions of a run."""
    if not progress.iteration or not (path / CARD_FILE).is_file():
        return ()
    sessions = read_json(path / CARD_FILE, "remove it to go on").get("sessions", [])
    return tuple(sessions) if isinstance(sessions, list) else ()


def _write_card(
    path: Path, config: TrainConfig, progress: Progress, sessions: tuple[Any, ...]
) -> None:
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
