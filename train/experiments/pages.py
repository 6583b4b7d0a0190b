"""An experiment as tables and as a picture, both from its JSON."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.bench.report import markdown

__all__ = ["draw", "tables"]

COLORS: Final = ("#1b6ca8", "#c8553d", "#4f7d3a", "#8a5fa8", "#b58900", "#555555")
_GRID: Final = 60  # points of a mean curve

F64 = npt.NDArray[np.float64]


def tables(data: dict[str, Any]) -> str:
    """Markdown: what was done, the scores over seeds, and each run."""
    parts = [_sentence(data), _score_table(data, "scores")]
    if data["base"] is not None:
        parts += [
            f"Difference from `{data['base']}`, seed by seed:", _score_table(data, "differences"),
        ]  # fmt: skip
    return "\n\n".join([*parts, "Each run:", _run_table(data)])


def _sentence(data: dict[str, Any]) -> str:
    about = data["machine"]
    packages = ("lupai", "python", "torch", "ray", "numpy")
    versions = _each_once(
        ", ".join(f"{name} {found[name]}" for name in packages if found.get(name))
        for found in data["versions"]
    )
    commits = _each_once(
        "`" + found["commit"][:10] + ("-dirty" if found["commit"].endswith("-dirty") else "") + "`"
        for found in data["versions"]
        if found.get("commit")
    )
    if commits:
        versions += f"; commit {commits}"
    seeds = len(data["seeds"])
    unit = (
        "Means over the seeds with 95 % intervals by Student's t: the seed is the unit, "
        f"n = {seeds}."
        if seeds > 1
        else "One seed: nothing can be said about how much another would differ."
    )
    return (
        f"`{data['command']}`, {data['date']}, {about['processor']}, {about['cores']} cores, "
        f"{about['system']}; {versions}. Score per hand of the final agents in points, "
        f"{data['deals']:,} deals of the pack `{data['pack']}` in each match; `seat`: one seat "
        f"against four of the opponent, `camp`: whole camps, both ways. {unit}"
    )


def _each_once(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _score_table(data: dict[str, Any], what: str) -> str:
    columns = [(f, o) for f in data["formats"] for o in data["opponents"]]
    head = ["recipe", *(f"{f} against `{o}`" for f, o in columns)]
    body = [
        [f"{v['name']}: {v['about']}", *(_interval(v[what][f][o]) for f, o in columns)]
        for v in data["variants"]
        if what in v
    ]
    return markdown(head, body)


def _run_table(data: dict[str, Any]) -> str:
    columns = [(f, o) for f in data["formats"] for o in data["anchors"]]
    head = ["run", "decisions", "hands", "minutes", "with matches", "decisions/s",
            *(f"{f} `{o}`" for f, o in columns)]  # fmt: skip
    body = [
        [f"{v['name']}-{r['seed']}", f"{r['steps']:,}", f"{r['hands']:,}", f"{r['minutes']:.1f}",
         f"{r['wall_minutes']:.1f}", f"{r['samples_per_second']:,.0f}",
         *(_interval(r["scores"][f][o]) for f, o in columns)]
        for v in data["variants"] for r in v["runs"]
    ]  # fmt: skip
    note = (
        "Intervals of a run: 95 %, deals are the unit. Minutes are those of training; the next "
        "column adds the matches for the curve, and the league's."
    )
    return f"{markdown(head, body)}\n\n{note}"


def _interval(found: dict[str, Any]) -> str:
    if found["low"] is None:
        return _number(found["mean"])
    return f"{_number(found['mean'])} ({_number(found['low'])} to {_number(found['high'])})"


def _number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")  # a sign, so that nothing takes it for a range


def draw(data: dict[str, Any]) -> bytes:
    """Learning curves as PNG: score in one seat, over decisions and over minutes.

    Raises:
        ImportError: matplotlib is missing.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    anchors = data["anchors"]
    with rc_context({"font.size": 9}):
        figure = Figure(figsize=(9, 3.2 * len(anchors)), dpi=110, layout="constrained")
        places = figure.subplots(len(anchors), 2, sharey="row", sharex="col", squeeze=False)
        for row, anchor in zip(places, anchors, strict=True):
            for axes, key, scale in zip(row, ("steps", "minutes"), (1e6, 1.0), strict=True):
                for variant, color in zip(data["variants"], _colors(data), strict=True):
                    _lines(axes, variant, key, scale, f"eval/{anchor}/seat", color)
                axes.set_xlim(left=0)
                axes.axhline(0, color="#888888", linewidth=0.8, zorder=0)
                axes.grid(axis="y", color="#dddddd", linewidth=0.6)
                axes.spines[["top", "right"]].set_visible(False)
                axes.set_axisbelow(True)
            row[0].set_ylabel(f"score per hand\nagainst four {anchor}")
        places[-1][0].set_xlabel("decisions, millions")
        places[-1][1].set_xlabel("minutes of training")
        places[0][0].legend(frameon=False, fontsize=8)
        n = len(data["seeds"])
        seeds = "one seed" if n == 1 else f"thin: each of {n} seeds, thick: their mean"
        figure.suptitle(f"{data['experiment']}: one seat, greedy play ({seeds})", fontsize=10)
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return _small(out)


def _colors(data: dict[str, Any]) -> list[str]:
    return [COLORS[i % len(COLORS)] for i in range(len(data["variants"]))]


def _lines(
    axes: Any, variant: dict[str, Any], key: str, scale: float, name: str, color: str
) -> None:
    curves = [
        (np.array(run["curve"][key]) / scale, np.array(run["curve"][name]))
        for run in variant["runs"]
        if len(run["curve"].get(name, ()))
    ]
    for x, y in curves:
        axes.plot(x, y, color=color, linewidth=0.6, alpha=0.55)
    if curves:
        x, y = mean_curve(curves)
        axes.plot(x, y, color=color, linewidth=2.0, label=variant["name"])


def mean_curve(curves: list[tuple[F64, F64]]) -> tuple[F64, F64]:
    """Mean of curves where all of them are: between their points they are straight lines."""
    low, high = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    grid = np.linspace(low, max(low, high), _GRID)
    return grid, np.mean([np.interp(grid, x, y) for x, y in curves], axis=0)


def _small(png: io.BytesIO) -> bytes:
    """The same picture with a palette: a third of the bytes."""
    from PIL import Image  # comes with matplotlib

    out = io.BytesIO()
    with Image.open(png) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()
