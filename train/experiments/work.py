"""A run of an experiment as a job: train, go on where it stopped, measure; nothing twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from lupai.train.arena.packs import load_pack
from lupai.train.config import TrainConfig, load_config
from lupai.train.experiments.plan import Experiment, Run
from lupai.train.run_folder import CONFIG_FILE, LATEST_FILE, Progress, TrainingError
from lupai.train.runs import read_run

__all__ = ["RunJob", "check", "measured"]

_LUPAI: Final = (sys.executable, "-m", "lupai.train.cli")
_TRAINING: Final = 0.95  # a guess: the part of a run's time that is not the matches at its end
# What does not change what is learned, and may change when a run goes on.
_FREE: Final = ("stop", "checkpoint", "watch", "runs")


class RunJob:
    """Trains and measures one run.

    Args:
        experiment: what it belongs to.
        run: which one.
    """

    def __init__(self, experiment: Experiment, run: Run) -> None:
        self._experiment, self._run, self._config = experiment, run, run.config()
        self.name = run.name
        self.log = run.folder.with_name(f"{run.name}.log")

    def command(self) -> list[str] | None:
        """The next command; None where it is trained and measured."""
        folder = self._run.folder
        if not _finished(folder, self._config):
            values = self._run.overrides
            if (folder / LATEST_FILE).is_file():
                # All values, or those that may change would stay as they were; the limits also
                # where they are the recipe's own, since the run may have been made with others.
                limits = self._config.stop.model_dump()
                stop = [f"stop.{k}={'null' if v is None else v}" for k, v in limits.items()]
                return [*_LUPAI, "train", "--resume", str(folder), *values, *stop]
            # What a run without a checkpoint has left is of no use.
            return [*_LUPAI, "train", self._run.variant.config, *values, "--replace"]
        if measured(self._experiment, self._run) is None:
            return [
                *_LUPAI, "arena", "--players", str(folder),
                "--against", ",".join(self._experiment.opponents),
                "--format", ",".join(self._experiment.formats), "--pack", self._experiment.pack,
                "--rules", self._config.rules_string, "--deals", str(self._experiment.deals),
                "--strict", "--no-progress", "-o", str(result_file(self._experiment, self._run)),
            ]  # fmt: skip
        return None

    def share(self) -> float:
        """Done part, 0 to 1."""
        state = read_run(self._run.folder)
        progress = Progress(state.iteration, state.steps, state.hands, state.minutes)
        done = measured(self._experiment, self._run) is not None
        return _TRAINING * progress.share(self._config) + (1 - _TRAINING) * done


def check(experiment: Experiment) -> None:
    """Refuse an experiment whose folders hold something else, before anything is started.

    Raises:
        ConfigError: a recipe that is not allowed.
        TrainingError: a folder holds a run with another recipe, one that went further or was
            watched otherwise to its end, or one that another process is training.
    """
    for run in experiment.all_runs():
        wanted = run.config()
        if not (run.folder / CONFIG_FILE).is_file():
            continue
        there = load_config(run.folder / CONFIG_FILE)
        where = f"run {str(run.folder)!r}"
        if read_run(run.folder).state == "running":
            raise TrainingError(f"{where}: another process is training in it; wait for it")
        old, new = there.model_dump(), wanted.model_dump()
        if other := [key for key in new if key not in _FREE and old[key] != new[key]]:
            raise TrainingError(
                f"{where}: it was made with another {', '.join(other)}; remove it, or give --runs "
                f"another folder"
            )
        if there.stop != wanted.stop and _at_a_limit(run.folder, wanted):
            raise TrainingError(
                f"{where}: it was trained with stop {there.stop}, and is beyond {wanted.stop}; "
                f"remove it, or give --runs another folder"
            )
        if there.watch != wanted.watch and _finished(run.folder, wanted):
            raise TrainingError(
                f"{where}: it is finished, and its curves were measured with another watch; remove "
                f"it, or give --runs another folder"
            )


def _at_a_limit(folder: Path, config: TrainConfig) -> bool:
    state = read_run(folder)
    progress = Progress(state.iteration, state.steps, state.hands, state.minutes)
    return progress.share(config) >= 1


def _finished(folder: Path, config: TrainConfig) -> bool:
    """Whether it reached its limit, and its checkpoint was written."""
    return read_run(folder).state == "finished" and _at_a_limit(folder, config)


def result_file(experiment: Experiment, run: Run) -> Path:
    """Where the matches of a run's final agent are written."""
    return run.folder / f"arena-{experiment.pack}.json"


def measured(experiment: Experiment, run: Run) -> dict[str, Any] | None:
    """The result of its matches; None where it is missing, or of another agent or measurement."""
    try:
        result = json.loads(result_file(experiment, run).read_text("utf-8"))
        latest = json.loads((run.folder / LATEST_FILE).read_text("utf-8"))["checkpoint"]
        card = json.loads((run.folder / latest / "agent" / "agent.json").read_text("utf-8"))
        pack = load_pack(experiment.pack, card["rules"])
        same = (
            result["agents"][0]["checkpoint"]["weights_sha256"] == card["weights_sha256"]
            and result["pack"]["sha256"] == pack.sha256
            and [agent["name"] for agent in result["agents"][1:]] == list(experiment.opponents)
            and result["formats"] == list(experiment.formats)
            and {match["deals"] for match in result["matches"]} == {experiment.deals}
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return result if same else None
