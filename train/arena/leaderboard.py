"""A leaderboard: results of many matches, one table for each game's rules, ``random`` at 0.

A folder holds one small JSON file for each result that was added, with what the table needs and the
SHA-256 of the result it was taken from. The table is made from all of them anew each time.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.arena.games import GAMES, arena_game, game_in, tag, title
from lupai.train.arena.plans import ArenaError
from lupai.train.arena.results import read_result
from lupai.train.arena.terminal import interval, number
from lupai.train.files import write_whole

__all__ = ["Standing", "add_result", "boards", "markdown", "standings", "text_table"]

FORMAT: Final = "lupai-leaderboard/1"
ANCHOR: Final = "random"
KEPT: Final = ("format", "deals", "hands", "mean", "low", "high")
LEAST_ERROR: Final = 0.02  # points; no match is taken to be more exact
_SIDES: Final = ("player", "opponent")
_BOTH: Final = tuple(arena_game(name).camps.both for name in GAMES)  # formats of whole camps
_OTHERS: Final = {5: "four", 6: "five"}  # by seats
_Z: Final = 1.959964

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """A line of the table.

    Attributes:
        agent: its name, with the first digits of its weights' digest where it has some.
        rating, low, high: points per hand as a camp, ``random`` at 0; None if no chain of camp
            matches leads there.
        seats: mean score in one seat among others of each opponent.
        deals: of its matches as a camp.
        results: number of results that it is in.
    """

    agent: str
    rating: float | None
    low: float | None
    high: float | None
    seats: dict[str, float]
    deals: int
    results: int


def add_result(folder: Path, result_file: Path) -> Path | None:
    """Add a result.

    Returns:
        The new file of the folder; None if the result was there before.

    Raises:
        ArenaError: no result, or one without matches of two agents.
    """
    result = read_result(result_file)
    digest = hashlib.sha256(result_file.read_bytes()).hexdigest()
    try:
        entry = _entry(result, digest)
    except (KeyError, TypeError, AttributeError, StopIteration) as error:
        why = f"{type(error).__name__}: {error}"
        raise ArenaError(f"{result_file}: not a whole result ({why})") from None
    if not entry["matches"]:
        raise ArenaError(
            f"{result_file}: no match of format seat or {game_in(result).camps.both}, so nothing "
            f"to compare"
        )
    folder.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^a-z0-9]+", "-", entry["rules"].lower()).strip("-")[:40]
    target = folder / f"{slug}-{digest[:12]}.json"
    if target.exists():
        return None
    write_whole(target, json.dumps(entry, indent=1, ensure_ascii=False) + "\n")
    return target


def _entry(result: dict[str, Any], digest: str) -> dict[str, Any]:
    game = game_in(result)
    count, both = len(result["players"]), game.camps.both
    names = [
        {about["label"]: _identity(about) for about in agents}
        for agents in (result["agents"][:count], result["agents"][count:])
    ]
    names[1] = names[0] | names[1]  # everybody against everybody is without opponents
    matches, seen = [], set()
    for m in result["matches"]:
        if m["format"] not in ("seat", both):
            continue
        pair = (names[0][m["player"]], names[1][m["opponent"]])
        if pair[0] == pair[1]:
            continue
        if m["format"] == both:
            labels = (m["player"], m["opponent"])
            if labels[::-1] in seen and labels[0] != labels[1]:  # a round robin has both sides
                continue
            seen.add(labels)
        here = dict(zip(_SIDES, pair, strict=True))
        matches.append(here | {key: m[key] for key in KEPT})
    return {
        "format": FORMAT,
        "result_sha256": digest,
        **tag(game.name),
        "rules": result["rules"],
        "pack": {key: result["pack"][key] for key in ("name", "only", "sha256")},
        "seed": result["seed"],
        "lupai": result["lupai"],
        "commit": result["commit"],
        "matches": matches,
    }


def _identity(about: dict[str, Any]) -> str:
    """An agent's name; runs of one name are told apart by their weights, classes by their file."""
    checkpoint = about.get("checkpoint") or {}
    digest = checkpoint.get("weights_sha256") or about.get("module_sha256")
    return f"{about['name']} ({digest[:8]})" if digest else str(about["name"])


def boards(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Entries of a folder by game and rules, as in headings.

    Raises:
        ArenaError: no folder, nothing in it, or a file that is no entry.
    """
    if not folder.is_dir():
        raise ArenaError(f"{folder}: no such folder; `lupai leaderboard add` makes it")
    out: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            entry = json.loads(file.read_text("utf-8"))
        except (ValueError, RecursionError):
            raise ArenaError(f"{file}: no JSON") from None
        if not isinstance(entry, dict) or entry.get("format") != FORMAT:
            raise ArenaError(f"{file}: no entry of format {FORMAT}")
        out.setdefault(title(game_in(entry).name, entry["rules"]), []).append(entry)
    if not out:
        raise ArenaError(f"{folder}: no results; `lupai leaderboard add` adds them")
    return dict(sorted(out.items()))


def standings(entries: list[dict[str, Any]]) -> list[Standing]:
    """The table of one game's rules, the best first.

    Ratings are those whose differences come nearest to the camp matches' means, weighted by their
    standard errors (generalised least squares with ``random`` fixed at 0).
    """
    agents = sorted({m[side] for e in entries for m in e["matches"] for side in _SIDES})
    camps = [m for e in entries for m in e["matches"] if m["format"] in _BOTH]
    ratings = _solve(agents, [m for m in camps if m["mean"] is not None])
    out = []
    for agent in agents:
        mine = [m for e in entries for m in e["matches"] if agent in (m["player"], m["opponent"])]
        seats = {
            m["opponent"]: m["mean"]
            for m in mine
            if m["format"] == "seat" and m["player"] == agent and m["mean"] is not None
        }
        deals = sum(m["deals"] for m in mine if m["format"] in _BOTH)
        files = sum(any(agent in (m["player"], m["opponent"]) for m in e["matches"])
                    for e in entries)  # fmt: skip
        value = ratings.get(agent)
        low, high = (None, None) if value is None else (
            value[0] - _Z * value[1], value[0] + _Z * value[1],
        )  # fmt: skip
        out.append(Standing(agent, value and value[0], low, high, seats, deals, files))
    return sorted(out, key=lambda s: (s.rating is None, -(s.rating or 0.0), s.agent))


def _solve(agents: list[str], matches: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Rating and standard error of the agents that a chain of matches joins with the anchor."""
    joined = {ANCHOR} & set(agents)
    while True:
        more = {m[s] for m in matches for s in _SIDES if {m[t] for t in _SIDES} & joined}
        if more <= joined:
            break
        joined |= more
    names = [a for a in agents if a in joined and a != ANCHOR]
    if not joined:
        return {}
    rows, values = [], []
    for match in matches:
        if not {match[side] for side in _SIDES} <= joined:
            continue
        error = LEAST_ERROR
        if match["low"] is not None:
            error = max(error, (match["high"] - match["low"]) / (2 * _Z))
        row = np.array([(a == match["player"]) * 1.0 - (a == match["opponent"]) for a in names])
        rows.append(row / error)
        values.append(match["mean"] / error)
    found = {ANCHOR: (0.0, 0.0)}
    if names:
        inverse = np.linalg.inv(np.array(rows).T @ np.array(rows))
        best = inverse @ np.array(rows).T @ np.array(values)
        for i, name in enumerate(names):
            found[name] = float(best[i]), float(np.sqrt(inverse[i, i]))
    return found


def text_table(rules: str, entries: list[dict[str, Any]]) -> str:
    """One board for a terminal."""
    lines = [f"rules {rules}: {len(entries)} results"]
    lines.append(f"{'':>3} {'agent':<28}{'rating, 95 %':<26}{'deals':>8}{'results':>8}")
    for place, s in enumerate(standings(entries), 1):
        score = number(s.rating) + interval(s.low, s.high)
        lines.append(f"{place:>3} {s.agent[:27]:<28}{score:<26}{s.deals:>8}{s.results:>8}")
    return "\n".join(lines)


def markdown(found: dict[str, list[dict[str, Any]]]) -> str:
    """All boards as a page."""
    sizes = sorted({game_in(e).seats for entries in found.values() for e in entries})
    others = " or ".join(_OTHERS[size] for size in sizes)
    out = [
        "# Leaderboard",
        "Ratings are points per hand as a whole camp on duplicate deals, `random` at 0; `seat` is "
        f"the mean score of one among {others} of that opponent.",
    ]
    for rules, entries in found.items():
        table = standings(entries)
        rivals = sorted({o for s in table for o in s.seats} & {ANCHOR, "greedy"}, reverse=True)
        head = ["", "agent", "rating", "95 %", *(f"seat, {r}" for r in rivals), "deals", "results"]
        lines = [head, ["---:", "---", *["---:"] * (len(head) - 2)]]
        for place, s in enumerate(table, 1):
            scores = [number(s.seats.get(r)) if r in s.seats else "" for r in rivals]
            name = s.agent.replace("|", "\\|")
            lines.append(
                [str(place), name, number(s.rating), interval(s.low, s.high).strip(), *scores,
                 f"{s.deals:,}", str(s.results)]
            )  # fmt: skip
        packs = sorted({f"{e['pack']['name']} {e['pack']['sha256'][:8]}" for e in entries})
        out += [
            f"## {rules}",
            "\n".join("| " + " | ".join(line) + " |" for line in lines),
            f"Deals: {', '.join(packs)}.",
        ]
    return "\n\n".join(out) + "\n"
