"""A result as a page for people: Markdown, or one HTML file with plots that needs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from lupai.train.arena.games import game_in, title
from lupai.train.arena.games.base import Table as GameTable
from lupai.train.arena.hands import FAULTS
from lupai.train.arena.terminal import interval, number
from lupai.train.files import write_whole

__all__ = ["html_report", "markdown_report", "write_report"]

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
table { border-collapse: collapse; margin: .7rem 0 1.4rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right; }
th { border-bottom: 2px solid #888; } th:first-child, td:first-child { text-align: left; }
h1, h2, h3 { line-height: 1.2; margin-top: 2rem; } code { font-size: .9em; word-break: break-all; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
.note { color: #666; }
"""
NO_PLOTS: Final = 'Without plots: they need matplotlib, pip install "lupai[report]".'

Table = tuple[Sequence[str], list[Sequence[str]]]
Block = tuple[str, Any]  # "h2" | "p" | "table" | "plot" (a function of plots and more arguments)


def write_report(path: Path, result: dict[str, Any], timing: dict[str, Any] | None = None) -> None:
    """Write ``.html`` or ``.md`` in one step."""
    as_html = path.suffix == ".html"
    text = html_report(result, timing) if as_html else markdown_report(result, timing)
    write_whole(path, text)


def markdown_report(result: dict[str, Any], timing: dict[str, Any] | None = None) -> str:
    """The report as Markdown, without plots."""
    out: list[str] = []
    for kind, value in _blocks(result, timing):
        if kind in ("h1", "h2"):
            out.append("#" * int(kind[1]) + f" {value}")
        elif kind == "p":
            out.append(value)
        elif kind == "table":
            header, body = value
            lines = [header, ["---"] + ["---:"] * (len(header) - 1), *body]
            cells = ([str(c).replace("|", "\\|") for c in line] for line in lines)
            out.append("\n".join("| " + " | ".join(line) + " |" for line in cells))
    return "\n\n".join(out) + "\n"


def html_report(result: dict[str, Any], timing: dict[str, Any] | None = None) -> str:
    """The report as one HTML page, plots inlined; without matplotlib it has tables only."""
    try:
        from lupai.train.arena import plots
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lupai"):
            raise
        plots = None  # type: ignore[assignment]
    out: list[str] = []
    for kind, value in _blocks(result, timing):
        if kind in ("h1", "h2"):
            out.append(f"<{kind}>{html.escape(value)}</{kind}>")
            if kind == "h1" and plots is None:
                out.append(f'<p class="note">{html.escape(NO_PLOTS)}</p>')
        elif kind == "p":
            text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(value))
            out.append(f"<p>{text}</p>")
        elif kind == "table":
            out.append(_html_table(value))
        elif plots is not None:
            name, *more = value
            svg = getattr(plots, name)(result, *more)
            if svg:
                out.append(f"<figure>{svg}</figure>")
    rules = title(game_in(result).name, result["rules"])
    head = html.escape(f"{', '.join(result['players'])}, {rules}")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{head}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(out) + "\n</body></html>\n"
    )


def _html_table(table: Table) -> str:
    header, body = table
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in header)
    rows = ("".join(f"<td>{html.escape(str(c))}</td>" for c in line) for line in body)
    return f"<table><tr>{head}</tr>\n" + "\n".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _blocks(result: dict[str, Any], timing: dict[str, Any] | None) -> Iterator[Block]:
    yield "h1", f"Arena: {', '.join(result['players'])}"
    pack, game = result["pack"], game_in(result)
    rules = title(game.name, result["rules"])
    only = f", {pack['only']} only" if pack["only"] else ""
    yield (
        "p",
        f"Rules `{rules}`, deals `{pack['name']}` (seed {pack['seed']}{only}, SHA-256 "
        f"`{pack['sha256'][:16]}`), seed {result['seed']}, lupai {result['lupai']}. Intervals are "
        f"95 % bootstrap intervals over deals, which are the unit of all statistics; scores are "
        f"points of the rules per hand, {game.camps.score}.",
    )
    yield "h2", "Scores"
    yield "plot", ("scores",)
    yield "table", _scores(result)
    yield (
        "p",
        "`detects` is the least true difference from 0 that such a match finds with a power of "
        "80 %; `factor` says how many times as many hands of independent deals would be needed for "
        "the same standard error.",
    )
    if result["comparisons"]:
        yield "h2", "Comparisons on the same deals"
        yield "table", _comparisons(result)
        yield "p", "p-values of paired sign-flip tests, Holm-corrected over this table."
    for found in result.get("payoffs", []):
        yield "h2", f"Everybody against everybody: {found['format']}"
        yield "plot", ("payoffs", found["format"])
        yield "table", _payoffs(found)
        yield "p", _payoff_words(found)
    if result.get("ratings"):
        yield "h2", "Ratings"
        yield "table", _ratings(result["ratings"])
        yield (
            "p",
            f"{result['ratings']['model']}; 0 is {result['ratings']['zero']}; "
            f"{result['ratings']['hands']:,} hands.",
        )
    detailed = [m for m in result["matches"] if "seats" in m]
    for of in game.tables:
        table = _OF_KIND[of.kind](detailed, of)
        if table[1]:
            yield "h2", of.title
            if of.axis:
                plot = "scores_by" if of.kind == "scores" else "shares"
                yield "plot", (plot, of.group, of.keys, of.axis)
            yield "table", table
    yield "p", game.notes
    yield "h2", "Agents"
    yield "table", _agents(result, timing)
    for entry in result["faults"]:
        for text in entry["examples"]:
            yield "p", f"`{text}`"
    if timing is not None:
        yield "p", f"{timing['hands']:,} hands, measured in {timing['seconds']:.0f} s."


def _name(match: dict[str, Any]) -> str:
    return f"{match['player']} – {match['opponent']}, {match['format']}"


def _scores(result: dict[str, Any]) -> Table:
    header = ("match", "deals", "hands", "score", "95 %", "won", "lost", "detects", "factor")
    body: list[Sequence[str]] = []
    for m in result["matches"]:
        factor = m["variance"]["factor"]
        shares = [f"{100 * m[k]:.1f} %" if m.get(k) is not None else "" for k in ("won", "lost")]
        body.append(
            (_name(m), f"{m['deals']:,}", f"{m['hands']:,}", number(m["mean"]),
             interval(m["low"], m["high"]).strip(), *shares,
             number(m["detectable"], signed=False), "–" if factor is None else f"{factor:.2f}")
        )  # fmt: skip
    return header, body


def _comparisons(result: dict[str, Any]) -> Table:
    body: list[Sequence[str]] = [
        (
            f"{c['players'][0]} – {c['players'][1]}",
            f"{c['format']} {c['opponent']}",
            number(c["difference"]),
            interval(c["low"], c["high"]).strip(),
            f"{c['p']:.4f}",
            f"{c['p_holm']:.4f}",
        )
        for c in result["comparisons"]
    ]
    return ("agents", "against", "difference", "95 %", "p", "p (Holm)"), body


def _payoffs(found: dict[str, Any]) -> Table:
    agents = found["agents"]
    body: list[Sequence[str]] = []
    for i, agent in enumerate(agents):
        row = ["" if i == j else number(found["mean"][i][j]) for j in range(len(agents))]
        body.append(
            (agent, *row, number(found["scale"][i]), f"{found['alpha_rank'][i]:.3f}")
        )  # fmt: skip
    return ("", *agents, "scale", "α-rank"), body


def _payoff_words(found: dict[str, Any]) -> str:
    """What the matrix says in words."""
    words = (
        f"Row against column. One scale explains {100 * found['explained']:.1f} % of who wins "
        f"how much; "
    )
    if not found["cycles"]:
        return words + "no three agents beat each other in a circle for sure."
    shown = "; ".join(" > ".join([*c, c[0]]) for c in found["cycles"][:5])
    return words + f"circles that are sure: {shown}."


def _ratings(found: dict[str, Any]) -> Table:
    ranked = sorted(found["agents"], key=lambda e: -e["rating"])
    body: list[Sequence[str]] = [
        (
            e["label"],
            number(e["rating"]),
            interval(e["low"], e["high"]).strip(),
            f"{e['hands']:,}",
        )
        for e in ranked
    ]
    return ("agent", "rating", "95 %", "hands"), body


def _cells(matches: list[dict[str, Any]], of: GameTable) -> Table:
    body: list[Sequence[str]] = []
    for m in matches:
        cells = [m[of.group].get(key) for key in of.keys]
        texts = [number(c["value"]) + interval(c["low"], c["high"]) if c else "" for c in cells]
        body.append((_name(m), *texts))
    return ("match", *(f"seat {k}" if of.group == "seats" else k for k in of.keys)), body


def _results(matches: list[dict[str, Any]], of: GameTable) -> Table:
    words = ("won", "drawn", "lost")
    body: list[Sequence[str]] = []
    for m in matches:
        for camp, shares in m[of.group].items():
            cells = [f"{100 * shares[w]['value']:.1f} %" for w in words]
            body.append((_name(m), camp, *cells, f"{shares['won']['n']:,}"))
    return ("match", of.group.removesuffix("s"), *words, "hands"), body


def _shares(matches: list[dict[str, Any]], of: GameTable) -> Table:
    keys = list(dict.fromkeys(key for m in matches for key in m[of.group]))
    body: list[Sequence[str]] = []
    for m in matches:
        cells = [(key, m[of.group].get(key)) for key in keys]
        texts = [
            ""
            if cell is None
            else f"{cell['value']:.{of.digits}f}"
            if key in of.means
            else f"{100 * cell['value']:.1f} %"
            for key, cell in cells
        ]
        body.append((_name(m), *texts))
    return ("match", *keys), body


_OF_KIND: Final = {"scores": _cells, "results": _results, "shares": _shares}


def _agents(result: dict[str, Any], timing: dict[str, Any] | None) -> Table:
    speeds = [] if timing is None else timing["agents"]
    body: list[Sequence[str]] = []
    for i, (about, entry) in enumerate(zip(result["agents"], result["faults"], strict=True)):
        faults = ", ".join(f"{entry[k]:,} {k}" for k in FAULTS if entry[k]) or "none"
        speed = f"{speeds[i]['milliseconds_per_decision']:.3f}" if speeds else ""
        body.append(
            (about["label"], about.get("source", ""), f"{entry['decisions']:,}", faults, speed)
        )
    return ("agent", "from", "decisions", "faults", "ms per decision"), body
