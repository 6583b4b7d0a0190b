"""From finished runs to the JSON of an experiment: costs, scores, means over seeds, curves."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from lupai.train.arena.measures import tidy
from lupai.train.arena.statistics import student
from lupai.train.bench.report import machine
from lupai.train.experiments.plan import Experiment, Run, Variant
from lupai.train.experiments.work import measured
from lupai.train.run_folder import CARD_FILE, METRICS_FILE, TrainingError, read_json

__all__ = ["FORMAT", "collect", "over_seeds"]

FORMAT: Final = "lupai-experiment/1"
METHOD: Final = (
    "mean over seeds; the seed is the unit, 95 % interval by Student's t. Within a seed: deals are "
    "the unit, BCa bootstrap. Differences: from the base run of the same seed."
)


def over_seeds(values: Sequence[float]) -> dict[str, Any]:
    """Mean of one value per seed, with the 95 % interval by Student's t; none for one seed."""
    n = len(values)
    mean, half = float(np.mean(values)), math.nan
    if n > 1:
        half = student(n - 1) * float(np.std(values, ddof=1)) / math.sqrt(n)
    found = {"mean": tidy(mean), "low": tidy(mean - half), "high": tidy(mean + half)}
    return found | {"seeds": n}


def collect(experiment: Experiment, command: str) -> dict[str, Any]:
    """All figures of an experiment whose runs are finished and measured, as JSON values.

    Args:
        experiment: which.
        command: that made them.

    Raises:
        TrainingError: a run is not finished or not measured.
    """
    runs = {
        variant.name: [_run(experiment, run) for run in experiment.all_runs()
                       if run.variant == variant]
        for variant in experiment.variants
    }  # fmt: skip
    about = {k: v for k, v in machine().items() if k in ("processor", "cores", "system")}
    every = [found for found_runs in runs.values() for found in found_runs]
    versions = sorted({json.dumps(v, sort_keys=True) for f in every for v in f.pop("versions")})
    return {
        "format": FORMAT,
        "experiment": experiment.name,
        "command": command,
        "date": datetime.date.today().isoformat(),
        "machine": about,
        "versions": [json.loads(text) for text in versions],
        "statistics": METHOD,
        "pack": experiment.pack,
        "deals": experiment.deals,
        "opponents": list(experiment.opponents),
        "formats": list(experiment.formats),
        "anchors": list(experiment.anchors),
        "base": experiment.base,
        "seeds": list(experiment.seeds),
        "overrides": list(experiment.overrides),
        "variants": [_variant(experiment, v, runs) for v in experiment.variants],
    }


def _variant(
    experiment: Experiment, variant: Variant, runs: dict[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    found = runs[variant.name]
    out: dict[str, Any] = {
        "name": variant.name,
        "config": variant.config,
        "about": variant.about,
        "overrides": list(variant.overrides),
        "runs": found,
        "scores": _means(experiment, [run["scores"] for run in found]),
    }
    if experiment.base not in (None, variant.name):
        base = runs[experiment.base or ""]
        out["differences"] = _means(
            experiment,
            [_difference(run["scores"], other["scores"])
             for run, other in zip(found, base, strict=True)],
        )  # fmt: skip
    return out


def _means(experiment: Experiment, scores: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        name: {
            opponent: over_seeds([s[name][opponent]["mean"] for s in scores])
            for opponent in experiment.opponents
        }
        for name in experiment.formats
    }


def _difference(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {o: {"mean": one[name][o]["mean"] - other[name][o]["mean"]} for o in opponents}
        for name, opponents in one.items()
    }


def _run(experiment: Experiment, run: Run) -> dict[str, Any]:
    """Costs, scores and curve of one run."""
    result = measured(experiment, run)
    if result is None:
        raise TrainingError(f"run {str(run.folder)!r}: it is not finished, or not measured yet")
    card = read_json(run.folder / CARD_FILE, "train it anew")
    rows = [json.loads(line) for line in (run.folder / METRICS_FILE).read_text("utf-8").split("\n")
            if line]  # fmt: skip
    last = rows[-1]
    beside = sum(row.get(f"time/{name}", 0.0) for row in rows for name in ("watching", "league"))
    return {
        "seed": run.seed,
        "iterations": last["iteration"],
        "steps": last["steps"],
        "hands": last["hands"],
        "minutes": round(last["minutes"], 3),
        "wall_minutes": round(last["minutes"] + beside / 60, 3),  # with all matches
        "samples_per_second": round(last["steps"] / (60 * last["minutes"]), 1),
        "started": card["sessions"][0]["started"],
        "sessions": len(card["sessions"]),
        "versions": [session["versions"] for session in card["sessions"]],
        "scores": _scores(experiment, result),
        "curve": _curve(experiment, rows),
    }


def _scores(experiment: Experiment, result: dict[str, Any]) -> dict[str, Any]:
    # Labels differ from names where two agents have the same.
    names = dict(zip(result["opponents"], experiment.opponents, strict=True))
    out: dict[str, Any] = {name: {} for name in experiment.formats}
    for match in result["matches"]:
        if match["format"] in out:
            found = {key: match[key] for key in ("mean", "low", "high", "deals", "hands")}
            out[match["format"]][names[match["opponent"]]] = found
    return out


def _curve(experiment: Experiment, rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Columns over the iterations at which the policy was measured."""
    keys = [f"eval/{a}/{f}" for a in experiment.anchors for f in experiment.formats]
    watched = [row for row in rows if any(key in row for key in keys)]
    shown = ["steps", "minutes", *(key for key in keys if all(key in row for row in watched))]
    return {key: [round(row[key], 4) for row in watched] for key in shown}


def read(file: Path) -> dict[str, Any]:
    """An experiment's JSON.

    Raises:
        TrainingError: no file of this format.
    """
    data = read_json(file, "make it with tools/make_training.py")
    if data.get("format") != FORMAT:
        raise TrainingError(f"{file}: its format is {data.get('format')!r}, not {FORMAT!r}")
    return data
