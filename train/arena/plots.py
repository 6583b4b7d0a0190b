"""Plots of a result as SVG, without time or random names in them: equal results, equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

__all__ = ["COLOURS", "SETTINGS", "payoffs", "scores", "scores_by", "shares", "svg"]

SETTINGS: Final = {"svg.hashsalt": "lupai", "svg.fonttype": "none", "font.size": 10}
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
SHADES: Final = ("#08306b", "#2171b5", "#6baed6", "#bdd7e7", "#deebf7", "#f1f6fc")
MOST: Final = 24  # matches in one plot


def svg(figure: Figure) -> str:
    """A figure as text that is the same every time."""
    FigureCanvasSVG(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = re.sub(r"<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.S)
    return text[text.index("<svg") :]


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height))
    axes = figure.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _name(match: dict[str, Any]) -> str:
    return _plain(f"{match['player']} – {match['opponent']}, {match['format']}")


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # no formula


def scores(result: dict[str, Any]) -> str:
    """Scores of the matches with their intervals."""
    with mpl.rc_context(SETTINGS):
        matches = result["matches"][:MOST]
        figure, axes = _figure(8, 1.0 + 0.32 * len(matches))
        for row, match in enumerate(matches):
            _bar(axes, row, match["mean"], match["low"], match["high"], COLOURS[0])
        axes.axvline(0, color="#888", linewidth=1)
        axes.set_yticks(range(len(matches)), [_name(m) for m in matches])
        axes.invert_yaxis()
        axes.set_xlabel("score per hand, 95 %")
        axes.grid(axis="x", color="#eee")
        return svg(figure)


def _bar(axes: Any, row: float, value: Any, low: Any, high: Any, colour: str) -> None:
    if value is None:
        return
    if low is not None:
        axes.plot([low, high], [row, row], color=colour, linewidth=2)
    axes.plot([value], [row], "o", color=colour, markersize=5)


def scores_by(result: dict[str, Any], group: str, keys: Sequence[str], label: str) -> str:
    """Scores by the keys of a group, such as seats."""
    matches = [m for m in result["matches"] if group in m][:MOST]
    if not matches:
        return ""
    with mpl.rc_context(SETTINGS):
        figure, axes = _figure(8, 1.2 + 0.62 * len(matches))
        for i, key in enumerate(keys):
            colour, first = COLOURS[i % len(COLOURS)], True
            for row, match in enumerate(matches):
                found = match[group].get(key)
                if found is None:
                    continue
                at = row + (i - (len(keys) - 1) / 2) * 0.16
                _bar(axes, at, found["value"], found["low"], found["high"], colour)
                if first:
                    name = f"seat {key}" if group == "seats" else key
                    axes.plot([], [], "o-", color=colour, label=name)
                    first = False
        axes.axvline(0, color="#888", linewidth=1)
        axes.set_yticks(range(len(matches)), [_name(m) for m in matches])
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.grid(axis="x", color="#eee")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return svg(figure)


def shares(result: dict[str, Any], group: str, keys: Sequence[str], label: str) -> str:
    """Shares that make up a whole, such as finishing places; the last is that of all others."""
    matches = [m for m in result["matches"] if group in m][:MOST]
    if not matches:
        return ""
    with mpl.rc_context(SETTINGS):
        figure, axes = _figure(8, 1.0 + 0.36 * len(matches))
        left = np.zeros(len(matches))
        for key, colour in zip(keys, (*SHADES[: len(keys) - 1], "#dddddd"), strict=True):
            width = np.array([100 * (m[group].get(key) or {"value": 0})["value"] for m in matches])
            axes.barh(range(len(matches)), width, left=left, color=colour, label=key)
            left += width
        axes.set_yticks(range(len(matches)), [_name(m) for m in matches])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel(label)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return svg(figure)


def payoffs(result: dict[str, Any], name: str) -> str:
    """Heat map of everybody against everybody in a format."""
    found = next(p for p in result["payoffs"] if p["format"] == name)
    agents = [_plain(a) for a in found["agents"]]
    values = np.array([[np.nan if v is None else v for v in row] for row in found["mean"]])
    np.fill_diagonal(values, np.nan)
    most = float(np.nanmax(np.abs(values))) or 1.0
    with mpl.rc_context(SETTINGS):
        size = 1.6 + 0.75 * len(agents)
        figure, axes = _figure(size + 1.5, size)
        axes.imshow(values, cmap="RdBu", vmin=-most, vmax=most)
        for i in range(len(agents)):
            for j in range(len(agents)):
                if i != j and np.isfinite(values[i, j]):
                    dark = abs(values[i, j]) > 0.6 * most
                    axes.text(j, i, f"{values[i, j]:+.2f}", ha="center", va="center",
                              color="white" if dark else "black")  # fmt: skip
        axes.set_xticks(range(len(agents)), agents, rotation=30, ha="right")
        axes.set_yticks(range(len(agents)), agents)
        axes.set_title(f"{name}: row against column, score per hand", fontsize=10)
        return svg(figure)
