"""Checkpoints: written under a name that appears when they are whole, then pointed to.

What a trainer wants to find again comes as named :class:`Saved` parts. Each has its JSON values in
``trainer.json`` and, if it writes files, a folder of its name::

    checkpoints/000012/trainer.json    counters, rules, and the values of each part
                       agent/          the policy, plays without the trainer
                       rllib/          the files of part "rllib"
    latest.json                        which checkpoint is the newest; replaced in one step
    best/latest.json                   which is the best; `lupai.agents.load("RUN/best")`
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, Protocol

from lupai.train.config import TrainConfig
from lupai.train.files import sync_folder, sync_names, write_whole
from lupai.train.run_folder import (
    BEST,
    CHECKPOINTS,
    LATEST_FILE,
    STATE_FILE,
    Progress,
    TrainingError,
    read_json,
)

__all__ = [
    "Saved",
    "find_checkpoint",
    "mark_best",
    "read_best",
    "restore_parts",
    "save_checkpoint",
    "writing",
]

_FULL: Final = {errno.ENOSPC: "no space is left", errno.EDQUOT: "the quota is used up"}
_EARLIER: Final = "take an earlier checkpoint by naming it in latest.json"


class Saved(Protocol):
    """Something of a run that goes on where it stopped: optimiser, league, coefficient, …"""

    def save(self, folder: Path) -> Mapping[str, Any] | None:
        """Its state as JSON values; what does not fit goes into files below ``folder``, which is
        there and empty."""

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Go on from what :meth:`save` gave and wrote."""


def save_checkpoint(
    path: Path, config: TrainConfig, progress: Progress, parts: Mapping[str, Saved]
) -> Path:
    """Write a checkpoint, point to it, and remove those that are neither new nor the best.

    At whatever moment the process ends, ``latest.json`` names a whole checkpoint.

    Args:
        path: run folder.
        config: the run; ``checkpoint.keep`` tells how many stay.
        progress: counters.
        parts: what is saved, by name.

    Raises:
        TrainingError: it could not be written; the checkpoint before is as it was.
    """
    checkpoints = path / CHECKPOINTS
    target = checkpoints / f"{progress.iteration:06d}"
    new = checkpoints / f".new-{target.name}"
    try:
        with writing(path):
            checkpoints.mkdir(exist_ok=True)
            for left in checkpoints.glob(".new-*"):  # of a process that was killed while saving
                shutil.rmtree(left)
            new.mkdir()
            states: dict[str, Any] = {}
            for name, part in parts.items():
                folder = new / name
                folder.mkdir()
                states[name] = dict(part.save(folder) or {})
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
            content = {
                "algorithm": config.algorithm,
                "rules": config.rules_string,
                "progress": asdict(progress),
                "states": states,
            }
            write_whole(new / STATE_FILE, json.dumps(content) + "\n")
            sync_folder(new)
            if target.exists() and _named(path / LATEST_FILE) == target:
                shutil.rmtree(new)  # the same iteration is there already, and in use
            else:
                shutil.rmtree(target, ignore_errors=True)
                new.rename(target)
            sync_names(checkpoints)
            _point(path / LATEST_FILE, f"{CHECKPOINTS}/{target.name}")
            kept = _named(path / BEST / LATEST_FILE)
            there = sorted(checkpoints.glob("[0-9]*"))
            # Later ones were left when the run went on from an earlier checkpoint.
            old = [c for c in there if c.name <= target.name][: -config.checkpoint.keep]
            for checkpoint in [*old, *(c for c in there if c.name > target.name)]:
                if checkpoint != kept:
                    shutil.rmtree(checkpoint, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return target


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Where a run folder is written: tells what cannot be written in one clear error.

    Raises:
        TrainingError: instead of an OSError, except those of connections.
    """
    try:
        yield
    except (ConnectionError, TimeoutError):  # of Ray's processes, or of a closed terminal
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> TrainingError:
    """The error for a run folder that cannot be written."""
    reason = _FULL.get(error.errno or 0, error.strerror or str(error))
    if error.filename is not None:
        reason += f" ({error.filename})"
    there = _named(path / LATEST_FILE)
    last = "no checkpoint was written before" if there is None else f"{there.name} is whole"
    remedy = "" if there is None else f"; then go on with lupai train --resume {path}"
    return TrainingError(
        f"run {str(path)!r}: cannot be written: {reason}; {last}; make room or mend it{remedy}"
    )


def mark_best(path: Path, checkpoint: Path, about: Mapping[str, Any]) -> None:
    """Make ``best/`` mean this checkpoint, which then stays.

    Args:
        path: run folder.
        checkpoint: one of its checkpoints.
        about: JSON values: why it is the best.
    """
    with writing(path):
        (path / BEST).mkdir(exist_ok=True)
        _point(path / BEST / LATEST_FILE, f"../{CHECKPOINTS}/{checkpoint.name}", **about)


def read_best(path: Path) -> dict[str, Any]:
    """What :func:`mark_best` was told last; empty where there is no best."""
    file = path / BEST / LATEST_FILE
    if _named(file) is None:
        return {}
    about: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return about


def find_checkpoint(path: Path, config: TrainConfig) -> tuple[Path, Progress]:
    """The newest checkpoint of a run, and its counters.

    Raises:
        TrainingError: there is none, it is damaged, or it belongs to other rules or another
            algorithm.
    """
    if not (path / LATEST_FILE).is_file():
        raise TrainingError(
            f"run {str(path)!r}: no {LATEST_FILE}, so nothing to go on from; --replace begins anew"
        )
    name = read_json(path / LATEST_FILE, "it names the newest checkpoint").get("checkpoint")
    if not isinstance(name, str) or not (path / name).is_dir():
        raise TrainingError(
            f"{path / LATEST_FILE}: names the checkpoint {name!r}, which is not there; it should "
            f"be a folder below the run, such as '{CHECKPOINTS}/000010'"
        )
    checkpoint = path / name
    state = read_json(checkpoint / STATE_FILE, f"the checkpoint is not whole: {_EARLIER}")
    for key, wanted in (("rules", config.rules_string), ("algorithm", config.algorithm)):
        if state.get(key) != wanted:
            raise TrainingError(
                f"{checkpoint}: a checkpoint with {key} {state.get(key)!r}, but the run has "
                f"{wanted!r}; it cannot go on from it"
            )
    counters = state.get("progress")
    names = {f.name for f in fields(Progress)}
    if (
        not isinstance(counters, dict)
        or set(counters) != names
        or not all(isinstance(v, int | float) and v >= 0 for v in counters.values())
    ):
        raise TrainingError(
            f"{checkpoint / STATE_FILE}: 'progress' is {counters!r}; it should hold "
            f"{', '.join(sorted(names))}: {_EARLIER}"
        )
    return checkpoint, Progress(**counters)


def restore_parts(checkpoint: Path, parts: Mapping[str, Saved]) -> None:
    """Let every part that is in the checkpoint go on from it; others begin anew.

    Raises:
        TrainingError: the files of a part are missing, damaged or of something else.
    """
    states = read_json(checkpoint / STATE_FILE, "the checkpoint is not whole").get("states")
    if not isinstance(states, dict):
        raise TrainingError(f"{checkpoint / STATE_FILE}: no 'states' in it; {_EARLIER}")
    for name, part in parts.items():
        if name not in states:
            continue
        try:
            part.restore(states[name], checkpoint / name)
        except Exception as error:  # whatever reads it: pickle, torch, RLlib, JSON
            text = " ".join(str(error).split())[:200]
            raise TrainingError(
                f"{checkpoint / name}: cannot be read ({type(error).__name__}: {text}); damaged, "
                f"or of another run: {_EARLIER}"
            ) from error


def _point(file: Path, name: str, **about: Any) -> None:
    write_whole(file, json.dumps({"checkpoint": name, **about}) + "\n")


def _named(file: Path) -> Path | None:
    """The checkpoint that a ``latest.json`` names, if it is there."""
    try:
        name = json.loads(file.read_text("utf-8"))["checkpoint"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    place = file.parent.parent if name.startswith("../") else file.parent
    found = place / name.removeprefix("../")
    return found if found.is_dir() else None
