"""What runs there are, how they stand and how strong they are; reads run folders only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from lupai.envs.errors import LupaiError
from lupai.train.config import ConfigError, TrainConfig, load_config
from lupai.train.locks import lock_state
from lupai.train.run_folder import CONFIG_FILE, LOCK_FILE, METRICS_FILE, WARNINGS_FILE, Progress

__all__ = ["RunState", "find_runs", "read_run"]

_SEAT = "/seat"


@dataclass(frozen=True)
class RunState:
    """A run as its folder tells.

    Attributes:
        folder: where. name, rules: of its config; empty if that cannot be read.
        state: ``running``: a process holds its lock; ``crashed``: one held it and died, or ended
            with an error; ``finished``: a limit of ``stop`` is reached; ``stopped``: none is;
            ``unreadable``: its config cannot be used, see ``error``.
        iteration, steps, hands, minutes: its counters, from the last line of its metrics.
        last, best: score per hand in one seat against four of an anchor, by anchor.
        warnings: how many times the watchdog spoke.
    """

    folder: str
    name: str
    rules: str
    state: Literal["running", "crashed", "finished", "stopped", "unreadable"]
    iteration: int
    steps: int
    hands: int
    minutes: float
    last: dict[str, float]
    best: dict[str, float]
    warnings: int
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def find_runs(folder: Path) -> list[RunState]:
    """The run that ``folder`` is, or the runs that lie in it, by name.

    Raises:
        LupaiError: no such folder.
    """
    if not folder.is_dir():
        raise LupaiError(f"{str(folder)!r}: no such folder; give one that holds runs")
    if (folder / CONFIG_FILE).is_file():
        return [read_run(folder)]
    inside = sorted(path for path in folder.iterdir() if path.is_dir())
    return [read_run(path) for path in inside if (path / CONFIG_FILE).is_file()]


def read_run(folder: Path) -> RunState:
    """How a run stands."""
    config, error = _config(folder)
    progress = Progress()
    last: dict[str, float] = {}
    best: dict[str, float] = {}
    for row in _lines(folder / METRICS_FILE):
        numbers = {k: v for k, v in row.items() if isinstance(v, int | float)}
        progress = Progress(
            int(numbers.get("iteration", 0)),
            int(numbers.get("steps", 0)),
            int(numbers.get("hands", 0)),
            float(numbers.get("minutes", 0.0)),
        )
        for key, value in numbers.items():
            if key.startswith("eval/") and key.endswith(_SEAT):
                anchor = key.removeprefix("eval/").removesuffix(_SEAT)
                last[anchor] = float(value)
                best[anchor] = max(best.get(anchor, last[anchor]), last[anchor])
    return RunState(
        folder=str(folder),
        name=config.name if config else "",
        rules=config.rules_string if config else "",
        state=_state(folder, config, progress),
        **asdict(progress),
        last=last,
        best=best,
        warnings=sum(1 for _ in _lines(folder / WARNINGS_FILE)),
        error=error,
    )


def _config(folder: Path) -> tuple[TrainConfig | None, str]:
    try:
        return load_config(folder / CONFIG_FILE), ""
    except (ConfigError, OSError, UnicodeError) as error:
        return None, " ".join(str(error).split())


def _state(folder: Path, config: TrainConfig | None, progress: Progress) -> Any:
    lock = lock_state(folder / LOCK_FILE)
    if lock == "held":
        return "running"
    if lock == "left":
        return "crashed"
    if config is None:
        return "unreadable"
    return "finished" if progress.share(config) >= 1 else "stopped"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that may be written just now."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row
