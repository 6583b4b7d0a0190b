"""Diagrams of scores and of posteriors as SVG: equal results, equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, CLASSES, OBSERVERS, BeliefError
from lupai.train.files import write_whole

__all__ = ["need_matplotlib", "posterior_plot", "reliability_plot", "survival_plot", "write_plots"]


def need_matplotlib() -> None:
    """Refuse what cannot be drawn.

    Raises:
        BeliefError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401  # here to learn whether it is there
    except ModuleNotFoundError:
        raise BeliefError('plots need matplotlib: pip install "lupai[report]"') from None


def write_plots(folder: Path, results: Sequence[dict[str, Any]]) -> list[Path]:
    """Reliability diagram and survival curves of each result of
    :func:`~lupai.train.belief.scoring.score_data`; no curves where some moments were asked about.

    Args:
        folder: it is made if it is not there.
        results: of one or more data sets; the second one's names end in ``-2``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, result in enumerate(results):
        end = "" if number == 0 else f"-{number + 1}"
        drawn = [("reliability", reliability_plot), ("survival", survival_plot)]
        for name, draw in drawn if result["moments"] is None else drawn[:1]:
            path = folder / f"{name}{end}.svg"
            write_whole(path, draw(result))
            written.append(path)
    return written


def reliability_plot(result: dict[str, Any]) -> str:
    """What was said against how often it was true, a field for each observer."""

    def draw(axes: Any, row: dict[str, Any], colour: str) -> None:
        said = [entry["chance"] for entry in row["bins"]]
        true = [entry["true"] for entry in row["bins"]]
        axes.plot(said, true, "o-", color=colour, markersize=4, linewidth=1.2,
                  label=_plain(row["predictor"]))  # fmt: skip

    def frame(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color="#888", linewidth=1)
        axes.set_xlabel("chance that was said")
        axes.set_ylabel("share that was true")

    return _fields(result, draw, frame)


def survival_plot(result: dict[str, Any]) -> str:
    """Share of hands in which the guard is not identified yet, by trick (Kaplan and Meier)."""

    def draw(axes: Any, row: dict[str, Any], colour: str) -> None:
        curve = row["time_to_identify"]["curve"]
        tricks = [entry["trick"] for entry in curve]
        values = [entry["value"] for entry in curve]
        axes.step(tricks, values, where="post", color=colour, linewidth=1.4,
                  label=_plain(row["predictor"]))  # fmt: skip
        if all(entry["low"] is not None for entry in curve):
            low, high = ([entry[k] for entry in curve] for k in ("low", "high"))
            axes.fill_between(tricks, low, high, step="post", color=colour, alpha=0.12, linewidth=0)

    def frame(axes: Any) -> None:
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("trick")
        axes.set_ylabel("share not identified")

    return _fields(result, draw, frame)


def posterior_plot(
    numbers: Sequence[int],
    chances: dict[str, npt.NDArray[np.float64]],
    emperor: int,
    label: int | None = None,
) -> str:
    """Chances over a hand, a field for each predictor and a line for each class.

    Args:
        numbers: ``[n]`` of the steps.
        chances: ``[n, 6]`` by name of the predictor.
        emperor: seat, of whom no line is drawn.
        label: who it was, whose line is thick; None: nobody's is.
    """
    import matplotlib as mpl

    from lupai.train.arena.plots import COLOURS, SETTINGS, svg

    with mpl.rc_context(SETTINGS):
        figure, fields = _figure(len(chances), 1, 8, 2.4)
        for axes, (name, rows) in zip(fields, chances.items(), strict=True):
            for which in range(CLASSES):
                if which != emperor:
                    text = "nobody" if which == ALONE else f"seat {which}"
                    axes.step(numbers, rows[:, which], where="post", color=COLOURS[which],
                              linewidth=2.4 if which == label else 1.0, label=text)  # fmt: skip
            axes.set_ylim(0, 1.02)
            axes.set_ylabel(_plain(name))
        fields[-1].set_xlabel("step of the hand")
        fields[0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return svg(figure)


def _fields(result: dict[str, Any], draw: Any, frame: Any) -> str:
    import matplotlib as mpl

    from lupai.train.arena.plots import COLOURS, SETTINGS, svg

    there = {row["observer"] for row in result["results"]}
    observers = [name for name in OBSERVERS if name in there]
    with mpl.rc_context(SETTINGS):
        figure, fields = _figure(1, len(observers), 3.6 * len(observers), 3.4)
        for axes, observer in zip(fields, observers, strict=True):
            rows = [row for row in result["results"] if row["observer"] == observer]
            for number, row in enumerate(rows):
                draw(axes, row, COLOURS[number % len(COLOURS)])
            frame(axes)
            axes.set_title(observer, fontsize=10)
            axes.grid(color="#eee")
        fields[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        text = f"{result['population']}, {result['rules']}, {result['split']}"
        figure.suptitle(_plain(text), fontsize=10)
        return svg(figure)


def _figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows), layout="constrained")
    fields = list(np.atleast_1d(figure.subplots(rows, columns, sharex=True)).ravel())
    for axes in fields:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure, fields


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # no formula
