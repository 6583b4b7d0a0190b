"""What a running trainer shows: a line of metrics.jsonl and a point of every curve for each
iteration, warnings, and a progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from lupai.train.checkpoints import writing
from lupai.train.config import TrainConfig
from lupai.train.run_folder import METRICS_FILE, WARNINGS_FILE, Progress

__all__ = ["Monitor"]


class Monitor:
    """Writes what is logged of a run; a context manager.

    Args:
        path: run folder.
        config: the run.
        progress: its counters; read, never changed.
        out: where bar and warnings go; None: stderr.
    """

    def __init__(
        self, path: Path, config: TrainConfig, progress: Progress, out: TextIO | None = None
    ) -> None:
        self._path, self._config, self._progress = path, config, progress
        self._out = out or sys.stderr
        self._open = ExitStack()

    def __enter__(self) -> Monitor:
        from torch.utils.tensorboard import SummaryWriter
        from tqdm import tqdm

        first = self._progress.iteration + 1
        with writing(self._path), ExitStack() as stack:
            # purge_step hides what was logged after the checkpoint that the run goes on from.
            self._curves = stack.enter_context(
                SummaryWriter(str(self._path / "tensorboard"), purge_step=first)
            )
            self._lines = stack.enter_context(
                open(self._path / METRICS_FILE, "a", encoding="utf-8")
            )
            self._bar = stack.enter_context(
                tqdm(
                    total=1000,
                    initial=round(1000 * self._progress.share(self._config)),
                    desc=self._config.name,
                    bar_format="{desc} {percentage:3.0f}%|{bar:20}| {elapsed}<{remaining}{postfix}",
                    file=self._out,
                    dynamic_ncols=True,
                )
            )
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        with writing(self._path):
            self._open.__exit__(*error)

    def write(self, row: dict[str, float], warnings: Sequence[str] = ()) -> None:
        """Log an iteration.

        Args:
            row: metrics by name, with ``iteration``.
            warnings: texts; each goes to the screen, to warnings.jsonl and to TensorBoard.

        Raises:
            TrainingError: the folder cannot be written.
        """
        with writing(self._path):
            self._write(row, warnings)
        self._bar.set_postfix_str(_postfix(row))
        self._bar.update(round(1000 * self._progress.share(self._config)) - self._bar.n)

    def _write(self, row: dict[str, float], warnings: Sequence[str]) -> None:
        iteration = int(row["iteration"])
        for text in warnings:
            self._bar.write(f"warning: iteration {iteration}: {text}", file=self._out)
            line = {"iteration": iteration, "warning": text}
            with open(self._path / WARNINGS_FILE, "a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._curves.add_text("warnings", text, iteration)
        self._lines.write(json.dumps(row) + "\n")
        self._lines.flush()
        for key, value in row.items():
            if key != "iteration":
                self._curves.add_scalar(key, value, iteration)


def _postfix(row: dict[str, float]) -> str:
    text = f" {row['steps']:,.0f} steps, {row['time/steps_per_second']:,.0f}/s"
    scores = [f"{k[6:]} {v:+.1f}" for k, v in row.items() if k.startswith("score/")]
    if "loss/entropy" in row:
        scores.insert(0, f"entropy {row['loss/entropy']:.2f}")
    return ", ".join([text, *scores])
