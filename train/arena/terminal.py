"""A result as text for a terminal of 80 columns."""

from __future__ import annotations

from typing import Any, Final

from lupai.train.arena.games import game_in, title
from lupai.train.arena.hands import FAULTS

__all__ = ["table", "timing_table", "variance_table"]

WIDTH: Final = 80


def number(value: float | None, signed: bool = True) -> str:
    """A score, or – if unknown."""
    return "–" if value is None else f"{value:{'+' if signed else ''}.2f}"


def interval(low: float | None, high: float | None) -> str:
    """Its interval."""
    return "" if low is None else f" [{number(low)}, {number(high)}]"


def short(name: str, width: int = 11) -> str:
    """A name cut to a column."""
    return name if len(name) <= width else name[: width - 1] + "…"


def table(result: dict[str, Any]) -> str:
    """The matches, and what else was found."""
    players, game = result["players"], game_in(result)
    rules = title(game.name, result["rules"])
    head = f"{', '.join(players)}, rules {rules}, seed {result['seed']}"
    if result["pack"]["name"] != "deals" or result["pack"]["only"]:
        head += f", deals {result['pack']['name']} {result['pack']['sha256'][:8]}"
    lines = [head if len(head) <= WIDTH else head[: WIDTH - 1] + "…"]
    many = len(players) > 1
    first = f"{'player':<12}" if many else ""
    room = 11 if many else 14
    lines.append(
        f"{first}{'format':<{room}}{'opponent':<12}{'deals':>6}{'hands':>7}  "
        f"{'score per hand, 95 %':<24}" + ("" if many else f"{'hands won':>10}")
    )
    for match in result["matches"]:
        if many and match["format"] in game.camps.halves:
            continue
        name = f"{short(match['player']):<12}" if many else ""
        score = number(match["mean"]) + interval(match["low"], match["high"])
        won = f"{100 * match['won']:.1f} %" if match.get("won") is not None else ""
        lines.append(
            f"{name}{match['format']:<{room}}{short(match['opponent']):<12}{match['deals']:>6}"
            f"{match['hands']:>7}  {score:<24}" + ("" if many else f"{won:>10}")
        )
    lines += _comparisons(result) + _payoffs(result) + _ratings(result) + _faults(result)
    return "\n".join(line.rstrip() for line in lines)


def _comparisons(result: dict[str, Any]) -> list[str]:
    found = result["comparisons"]
    if not found or "payoffs" in result:
        return []
    lines = ["", f"{'difference on the same deals, 95 %':<55}{'p (Holm)':>12}"]
    for entry in found[:20]:
        a, b = entry["players"]
        where = f"{entry['format']} {short(entry['opponent'], 9)}"
        score = number(entry["difference"]) + interval(entry["low"], entry["high"])
        names = f"{short(a)} - {short(b)}"
        lines.append(f"{where:<15}{names:<26}{score:<26}{entry['p_holm']:>8.4f}")
    return lines


def _payoffs(result: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for found in result.get("payoffs", []):
        agents = found["agents"]
        if len(agents) > 7:
            lines += ["", f"{found['format']}: the matrix is in the result file"]
        else:
            lines += ["", f"{found['format']}: row against column, score per hand"]
            lines.append(f"{'':<12}" + "".join(f"{short(a, 8):>9}" for a in agents))
            for i, (agent, row) in enumerate(zip(agents, found["mean"], strict=True)):
                cells = ["" if i == j else number(v) for j, v in enumerate(row)]
                lines.append(f"{short(agent):<12}" + "".join(f"{cell:>9}" for cell in cells))
        ranked = sorted(zip(found["alpha_rank"], agents, strict=True), reverse=True)
        shares = ", ".join(f"{short(a)} {share:.2f}" for share, a in ranked[:5])
        lines.append(f"α-rank: {shares}; one scale explains {100 * found['explained']:.0f} %")
        for cycle in found["cycles"][:3]:
            lines.append("cycle: " + " > ".join(short(a) for a in [*cycle, cycle[0]]))
    return lines


def _ratings(result: dict[str, Any]) -> list[str]:
    found = result.get("ratings")
    if not found:
        return []
    head = f"rating ({game_in(result).camps.plural} as teams)"
    lines = ["", f"{head:<24}{'rating, 95 %':<28}{'hands':>8}"]
    for entry in sorted(found["agents"], key=lambda e: -e["rating"]):
        score = number(entry["rating"]) + interval(entry["low"], entry["high"])
        lines.append(f"{short(entry['label'], 23):<24}{score:<28}{entry['hands']:>8}")
    return lines


def _faults(result: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for entry in result["faults"]:
        total = sum(entry[kind] for kind in FAULTS)
        if total:
            kinds = ", ".join(f"{entry[kind]} {kind}" for kind in FAULTS if entry[kind])
            lines += [
                "",
                f"{entry['label']}: {total} faults in {entry['decisions']} decisions ({kinds}); "
                f"a fallback decided",
            ]
            lines += [f"  {text}" for text in entry["examples"][:1]]
    return lines


def timing_table(times: dict[str, Any]) -> str:
    """How fast it was."""
    rate = times["hands"] / times["seconds"] if times["seconds"] else 0.0
    lines = [f"{times['hands']:,} hands in {times['seconds']:.1f} s ({rate:,.0f} per second)"]
    lines += [
        f"  {short(entry['label'], 23):<24}{entry['milliseconds_per_decision']:.3f} ms per decision"
        for entry in times["agents"]
    ]
    return "\n".join(lines)


def variance_table(result: dict[str, Any]) -> str:
    """What the rotations save."""
    lines = [
        f"{'player':<12}{'format':<14}{'opponent':<12}{'s. e. as played':>16}"
        f"{'independent':>13}{'factor':>8}"
    ]
    for match in result["matches"]:
        found = match["variance"]
        if found["deal"] is None:
            continue
        played = (found["deal"] / match["deals"]) ** 0.5
        per_deal = match["hands"] / match["deals"]
        free = (found["hand"] / per_deal / match["deals"]) ** 0.5
        factor = "∞" if found["factor"] is None else f"{found['factor']:.2f}"
        lines.append(
            f"{short(match['player']):<12}{match['format']:<14}{short(match['opponent']):<12}"
            f"{played:>16.3f}{free:>13.3f}{factor:>8}"
        )
    lines.append("factor: times as many hands of independent deals for the same standard error")
    return "\n".join(lines)
