"""Numbers of ``lupai bench`` as text and Markdown, both told from what the JSON holds."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from statistics import median
from typing import Any, Final

import numpy as np

import lupai
from lupai.train.arena.provenance import processor
from lupai.train.bench.peers import DISTRIBUTIONS, installed
from lupai.train.cli.common import writing

HEAD: Final = (
    "ours", "peer", "unit", "ours, median (low-high)", "peer", "ours / peer", "target", "verdict",
)  # fmt: skip
_WIDTHS: Final = (32, 37, 11, 23, 19, 18, 8, 13)


def machine() -> dict[str, Any]:
    """Processor, date and versions that the numbers belong to."""
    about = {
        "lupai": lupai.__version__,
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pettingzoo": version("pettingzoo"),
    }
    return about | {name: found for name in DISTRIBUTIONS if (found := installed(name))}


def write_json(path: str, data: dict[str, Any]) -> None:
    """As a file that appears whole, or with ``-`` on standard output."""
    with writing(path) as out:
        out.write((json.dumps(data, indent=2) + "\n").encode())


def digits(values: list[float]) -> list[float]:
    """Six significant ones: what a clock gives, and short files."""
    return [float(f"{value:.6g}") for value in values]


def number(value: float) -> str:
    """About three significant digits: 0.57, 29.4, 893, 3,340, 236k, 1.15M."""
    for limit, form in ((9.995, "{:.2f}"), (99.95, "{:.1f}"), (999.5, "{:.0f}")):
        if value < limit:
            return form.format(value)
    if value < 9995:
        return f"{float(f'{value:.3g}'):,.0f}"
    if value < 999_500:
        return f"{float(f'{value / 1e3:.3g}'):g}k"
    return f"{float(f'{value / 1e6:.3g}'):g}M"


def spread(values: Sequence[float]) -> str:
    """Median, lowest and highest of the repeats."""
    if not values:
        return ""
    low, high = number(min(values)), number(max(values))
    middle = number(median(values))
    return middle if low == high else f"{middle} ({low}-{high})"


def machine_text(about: dict[str, Any]) -> str:
    """One line for each fact."""
    return "\n".join(f"{key}: {value}" for key, value in about.items())


def machine_sentence(data: dict[str, Any]) -> str:
    """The same as a sentence of a page."""
    about = data["machine"]
    packages = ("lupai", "python", "numpy", *DISTRIBUTIONS)
    versions = ", ".join(f"{name} {about[name]}" for name in packages if name in about)
    load = "" if about["load"] is None else f", load average {about['load']} at the start"
    return (
        f"{about['date']}, {about['processor']}, {about['cores']} cores{load}, {about['system']}; "
        f"{versions}. {data['repeats']} repeats of {data['seconds']:g} s."
    )


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A row of the table of peers, as :data:`HEAD` says."""
    target = row["target"]
    sign = "<=" if row["at_most"] else ">="
    return (
        row["case"], row["peer_name"] or "", row["unit"],
        spread(row["ours"]), spread(row["peer"]), spread(row["ratio"]),
        "" if target is None else f"{sign} {target:,g}", row["verdict"],
    )  # fmt: skip


def peers_line(row: Sequence[str]) -> str:
    """A row for the terminal."""
    padded = (f"{cell:<{width}}" for cell, width in zip(row, _WIDTHS, strict=True))
    return "  ".join(padded).rstrip()


def peers_text(row: dict[str, Any]) -> str:
    """A measured row for the terminal, with its note on a line of its own."""
    line = peers_line(cells(row))
    return f"{line}\n    {row['verdict']}: {row['note']}" if row["note"] else line


def peers_markdown(data: dict[str, Any]) -> str:
    """The table of a page."""
    return markdown(HEAD, [cells(row) for row in data["rows"]])


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its signs as a page has them."""
    lines = [head, *body]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    text.insert(1, "|" + "---|" * len(head))
    signs = "\n".join(text).replace("<=", "≤").replace(">=", "≥")
    return re.sub(r"(?<=[\dkM])-(?=\d)", "–", signs)  # ranges, with the dash of print


def aligned(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table for the terminal: the first column to the left, numbers to the right."""
    widths = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (head, *body)
    )
