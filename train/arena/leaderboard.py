"""Leaderboards of matches: one table for each game's rules, ``random`` at 0.

An entry (:mod:`lupai.train.leaderboards`) holds what the table needs of a result, and the SHA-256
of its file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.arena.games import GAMES, arena_game, game_in, tag, title
from lupai.train.arena.plans import ArenaError
from lupai.train.arena.results import FORMAT, read_result
from lupai.train.arena.terminal import interval, number
from lupai.train.leaderboards import (
    ARENA,
    Named,
    file_sha256,
    identity,
    keep,
    markdown_table,
    name_of,
    read_entries,
)

__all__ = [
    "Standing",
    "add_result",
    "boards",
    "boards_of",
    "entry_of",
    "markdown",
    "standings",
    "text_table",
]

RESULT: Final = FORMAT.rpartition("/")[0] + "/"  # what formats of all versions begin with
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
        ArenaError: see :func:`entry_of`.
    """
    return keep(folder, entry_of(result_file))


def entry_of(result_file: Path) -> Named:
    """What a leaderboard keeps of a result.

    Raises:
        ArenaError: no result, or one without matches of two agents.
    """
    result = read_result(result_file)
    digest = file_sha256(result_file)
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
    return name_of(entry["rules"], digest), entry


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
        "format": ARENA,
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
    return identity(str(about["name"]), digest)


def boards(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Entries of a folder by game and rules, as in headings.

    Raises:
        ArenaError: no folder, nothing in it, or a file that is no entry.
    """
    return boards_of(read_entries(folder, ArenaError)[ARENA])


def boards_of(entries: list[tuple[Path, dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The same of entries with their files.

    Raises:
        ArenaError: an entry that lacks something.
    """
    out: dict[str, list[dict[str, Any]]] = {}
    for file, entry in entries:
        try:
            heading = title(game_in(entry).name, entry["rules"])
            markdown({heading: [entry]})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise ArenaError(
                f"{file}: altered or damaged ({why}); remove it and add the result again"
            ) from None
        out.setdefault(heading, []).append(entry)
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
        lines = [head]
        for place, s in enumerate(table, 1):
            scores = [number(s.seats.get(r)) if r in s.seats else "" for r in rivals]
            lines.append(
                [str(place), s.agent, number(s.rating), interval(s.low, s.high).strip(), *scores,
                 f"{s.deals:,}", str(s.results)]
            )  # fmt: skip
        packs = sorted({f"{e['pack']['name']} {e['pack']['sha256'][:8]}" for e in entries})
        out += [
            f"## {rules}",
            markdown_table(lines),
            f"Deals: {', '.join(packs)}.",
        ]
    return "\n\n".join(out) + "\n"
