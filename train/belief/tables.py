"""Scores of `lupai belief score` as tables for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lupai.train.belief.scores import Interval

__all__ = ["SHOWN", "leak_table", "matrix", "score_table", "span", "trick_table"]

SHOWN: Final = ("log_loss", "gain", "skill", "brier", "ece", "auroc")


def with_interval(told: Interval, digits: int = 3) -> str:
    """``1.272 [1.185, 1.383]``; a dash for what cannot be told."""
    if told["value"] is None:
        return "-"
    text = f"{told['value']:.{digits}f}"
    if told["low"] is None or told["high"] is None:
        return text
    return f"{text} [{told['low']:.{digits}f}, {told['high']:.{digits}f}]"


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows under each other, the first ``left`` columns left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def score_table(result: dict[str, Any]) -> str:
    """A data set's scores: a block for each observer, a line for each predictor."""
    moments = result.get("moments")
    head = (
        f"{result['population']}, rules {result['rules']}, split {result['split']}"
        f"{'' if moments is None else f', {moments} decisions of each hand'}; "
        f"95 % intervals over hands"
    )
    blocks = [head]
    shown = list(SHOWN)
    if any("ece_before" in row["scores"] for row in result["results"]):
        shown.insert(shown.index("ece"), "ece_before")
    if result["reference"] is not None:
        shown.append("recovered")
    for observer in dict.fromkeys(row["observer"] for row in result["results"]):
        rows = [row for row in result["results"] if row["observer"] == observer]
        lines = [[observer, *shown, *(["identified"] if moments is None else [])]]
        for row in rows:
            scores = row["scores"]
            cells = [with_interval(scores[name]) if name in scores else "-" for name in shown]
            if moments is None:
                cells.append(f"{100 * row['time_to_identify']['identified']:.1f} %")
            lines.append([f"  {row['predictor']}", *cells])
        size = f"{rows[0]['hands']:,} hands, {rows[0]['decisions']:,} decisions"
        blocks.append(f"{columns(lines)}\n  ({size})")
    return "\n\n".join(blocks)


def trick_table(result: dict[str, Any], metric: str = "log_loss") -> str:
    """One metric by trick: a block for each observer, a column for each group of tricks."""
    blocks = []
    for observer in dict.fromkeys(row["observer"] for row in result["results"]):
        rows = [row for row in result["results"] if row["observer"] == observer]
        groups = [(part["from"], part["to"]) for part in rows[0]["tricks"]]
        head = [f"trick {span(first, last)}" for first, last in groups]
        lines = [[f"{observer}, {metric}", *head]]
        for row in rows:
            cells = [with_interval(part["scores"][metric], 2) for part in row["tricks"]]
            lines.append([f"  {row['predictor']}", *cells])
        blocks.append(columns(lines))
    return "\n\n".join(blocks)


def span(first: int, last: int | None) -> str:
    """``4``, ``4-5``, ``13+``."""
    if last is None:
        return f"{first}+"
    return str(first) if last == first else f"{first}-{last}"


def leak_table(result: dict[str, Any], tricks: bool = False) -> str:
    """What moves tell (:func:`~lupai.train.belief.leak.leak_data`): a block for each observer and
    predictor, a line for each mover, kind of move of guard and rebels, and group of tricks."""
    blocks = [
        f"{result['population']}, rules {result['rules']}, split {result['split']}; nats for the "
        f"true guard, 95 % intervals over hands"
    ]
    names = ("change", "leak", "control")
    for found in result["results"]:
        lines = [[f"{found['observer']}, {found['predictor']}", "moves", *names]]
        per_hand = []
        for row in found["rows"]:
            if row["kind"] is None and row["tricks"] is None:
                what = f"all moves of the {row['mover']}"
                per_hand.append(f"{row['mover']} {with_interval(row['per_hand'])}")
            elif row["mover"] == "emperor" or (row["tricks"] is not None and not tricks):
                continue
            else:
                what = f"  {row['kind'] or 'trick ' + span(*row['tricks'])}"
            cells = [with_interval(row[name]) if name in row else "" for name in names]
            lines.append([what, f"{row['moves']:,}", *cells])
        size = f"{found['hands']:,} hands; leak of a hand: {', '.join(per_hand)}"
        blocks.append(f"{columns(lines)}\n  ({size})")
    return "\n\n".join(blocks)


def matrix(results: Sequence[dict[str, Any]], metric: str = "gain") -> str:
    """One metric of all predictors on several data sets, for each observer: what was learned from
    one population is worth on another."""
    names = [result["population"] for result in results]
    blocks = []
    observers = dict.fromkeys(row["observer"] for result in results for row in result["results"])
    for observer in observers:
        lines = [[f"{observer}, {metric}", *names]]
        predictors = dict.fromkeys(row["predictor"] for row in results[0]["results"])
        for predictor in predictors:
            cells = []
            for result in results:
                found = [
                    row["scores"][metric]
                    for row in result["results"]
                    if (row["predictor"], row["observer"]) == (predictor, observer)
                ]
                cells.append(with_interval(found[0]) if found else "-")
            lines.append([f"  {predictor}", *cells])
        blocks.append(columns(lines))
    return "\n\n".join(blocks)
