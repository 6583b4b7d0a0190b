"""The result of a match as JSON: everything to repeat it, and all that was measured.

Two runs of the same match give the same bytes; times, which differ, stand in a file of their own.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.game import make_game
from lupai.train.arena.games import arena_game, tag
from lupai.train.arena.games.base import PLAYERS, ArenaGame
from lupai.train.arena.hands import FAULTS, Hands
from lupai.train.arena.measures import Side, measure, tidy
from lupai.train.arena.payoffs import payoffs
from lupai.train.arena.plans import Match
from lupai.train.arena.play import calling_of
from lupai.train.arena.provenance import versions
from lupai.train.arena.ratings import rate
from lupai.train.arena.statistics import (
    CONFIDENCE,
    FLIPS,
    POWER,
    RESAMPLES,
    bootstrap,
    detectable,
    holm,
    sign_flip,
)
from lupai.train.arena.work import Plan
from lupai.train.files import write_whole

__all__ = ["build_result", "read_result", "timing", "timing_file", "to_json", "write_json"]

FORMAT: Final = "lupai-evaluation/2"

F64 = npt.NDArray[np.float64]


def build_result(
    plan: Plan, formats: list[str], players: list[int], opponents: list[int],
    agents: list[dict[str, Any]], played: list[Hands],
) -> dict[str, Any]:  # fmt: skip
    """All numbers of a played plan as JSON values.

    Args:
        plan: what was played.
        formats: as they were asked for.
        players, opponents: numbers of the agents.
        agents: what is known of each.
        played: the hands of each match.
    """
    game = arena_game(plan.pack.game)
    engine = make_game(game.name, plan.pack.rules)
    result: dict[str, Any] = {
        "format": FORMAT,
        **versions(),
        **tag(game.name),
        "rules": plan.pack.rules,
        "action_layout": engine.actions.hash,
        "observation_layout": engine.observation_layout.hash,
        "pack": {
            k: v for k, v in plan.pack.to_json().items() if k not in ("format", "game", "seeds")
        }
        | {"sha256": plan.pack.sha256},
        "seed": plan.seed,
        "formats": formats,
        "players": [plan.labels[i] for i in players],
        "opponents": [plan.labels[i] for i in opponents],
        "agents": [{"label": plan.labels[i], **about} for i, about in enumerate(agents)],
        "limit": plan.limit,
        "strict": plan.strict,
        "fallback": plan.fallback,
        "hands_of_part": plan.hands_of_part,
        "deals_of_part": plan.deals_of_part,
        "statistics": {
            "unit": "deal", "interval": CONFIDENCE, "method": "bootstrap over deals, BCa",
            "resamples": RESAMPLES, "flips": FLIPS, "power": POWER,
        },
    }  # fmt: skip
    matches, by_deal = _matches(plan, game, played)
    result["matches"] = matches
    result["comparisons"] = _comparisons(plan, game, by_deal)
    population = [plan.labels[i] for i in players]
    if "round_robin" in formats:
        result["payoffs"] = payoffs(population, by_deal, plan.seed, game)
    if "round_robin" in formats or "mixed" in formats:
        wanted = [i for i, m in enumerate(plan.matches) if set(m.agents) <= set(players)]
        result["ratings"] = rate(
            [played[i] for i in wanted], players, population, plan.seed, game.name
        )  # fmt: skip
    result["faults"] = _faults(plan, played)
    return result


Key = tuple[str, str, str]  # format, player, opponent
TABLE: Final = "(table)"  # the opponent of an agent at mixed tables


def _matches(
    plan: Plan, game: ArenaGame, played: list[Hands]
) -> tuple[list[dict[str, Any]], dict[Key, F64]]:
    """The numbers of each match, and the mean scores of its deals."""
    camps = game.camps
    sides = {
        _key(plan, match, agent): (match, Side(hands, agent, match.in_camps, camps.share))
        for match, hands in zip(plan.matches, played, strict=True)
        for agent in (match.agents if match.format == "mixed" else match.agents[:1])
    }
    out: list[dict[str, Any]] = []
    by_deal: dict[Key, F64] = {}
    for key, (match, side) in sides.items():
        bids = calling_of(game, plan.pack, match) == PLAYERS
        numbers = measure(side, plan.seed, game, bids=bids)
        numbers["mean_by_seat"] = [v["value"] for v in numbers["seats"].values()]
        out.append(_named(key) | {"deals": side.number, "hands": len(side.hands)} | numbers)
        by_deal[key] = side.means
        name, me, them = key
        last = name == camps.second or (camps.second, me, them) not in sides
        both = _camp(game, me, them, sides, plan.seed) if match.in_camps and last else None
        if both is not None:
            camp: Key = (camps.both, me, them)
            by_deal[camp], numbers = both
            out.append(_named(camp) | numbers)
    return out, by_deal


def _key(plan: Plan, match: Match, agent: int) -> Key:
    if match.format == "mixed":
        return match.format, plan.labels[agent], TABLE
    return match.format, plan.labels[match.agents[0]], plan.labels[match.agents[1]]


def _named(key: Key) -> dict[str, Any]:
    return dict(zip(("format", "player", "opponent"), key, strict=True))


def _camp(
    game: ArenaGame, me: str, them: str, sides: dict[Key, tuple[Match, Side]], seed: int
) -> tuple[F64, dict[str, Any]] | None:
    """Mean of both camps on each deal. Where all pairs are played as the first camp, the other half
    is the opponent's match with the sign changed."""
    first, second = game.camps.halves

    def side(key: Key) -> Side | None:
        return sides[key][1] if key in sides else None

    one, sign = side((first, me, them)), 1
    other = side((second, me, them))
    if other is None:
        other, sign = side((first, them, me)), -1
    if one is None or other is None or one.number != other.number:
        return None
    means = (one.means + sign * other.means) / 2
    deviation = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    value, low, high = bootstrap(means[:, None], np.ones((len(means), 1)), seed)
    single = np.concatenate([one.scores, sign * other.scores]).astype(float)
    hand, deal = float(single.var(ddof=1)), deviation**2
    return means, {
        "deals": len(means),
        "hands": 2 * len(means),
        "mean": tidy(value[0]),
        "low": tidy(low[0]),
        "high": tidy(high[0]),
        "deviation": tidy(deviation),
        "detectable": tidy(detectable(deviation, len(means))),
        "variance": {
            "deal": tidy(deal),
            "hand": tidy(hand),
            "factor": tidy(hand / 2 / deal) if deal > 0 else None,
        },
    }


def _comparisons(plan: Plan, game: ArenaGame, by_deal: dict[Key, F64]) -> list[dict[str, Any]]:
    """Pairs of agents that met the same opponent on the same deals, all p-values together."""
    out: list[dict[str, Any]] = []
    groups: dict[tuple[str, str], list[str]] = {}
    for name, player, opponent in by_deal:
        compared = ("seat", game.camps.both, "mixed")
        if name in compared and len(by_deal[name, player, opponent]) > 1:
            groups.setdefault((name, opponent), []).append(player)
    for (name, opponent), members in groups.items():
        for a, b in combinations(members, 2):
            difference = by_deal[name, a, opponent] - by_deal[name, b, opponent]
            ones = np.ones((len(difference), 1))
            value, low, high = bootstrap(difference[:, None], ones, plan.seed)
            out.append(
                {
                    "format": name, "opponent": opponent, "players": [a, b],
                    "deals": len(difference), "difference": tidy(value[0]),
                    "low": tidy(low[0]), "high": tidy(high[0]),
                    "p": sign_flip(difference, plan.seed),
                }
            )  # fmt: skip
    for entry, p in zip(out, holm([entry["p"] for entry in out]), strict=True):
        entry["p"], entry["p_holm"] = tidy(entry["p"]), tidy(p)
    return out


def _faults(plan: Plan, played: list[Hands]) -> list[dict[str, Any]]:
    """Decisions of each agent, and those that a fallback made."""
    decisions = sum(h.decisions for h in played)
    faults = sum(h.faults for h in played)
    out = []
    for number, label in enumerate(plan.labels):
        examples = [t for h in played for t in h.examples.get(str(number), [])]
        counts = dict(zip(FAULTS, np.asarray(faults)[number].tolist(), strict=True))
        entry = {"label": label, "decisions": int(np.asarray(decisions)[number]), **counts}
        out.append(entry | {"examples": examples[:3]})
    return out


def timing(plan: Plan, played: list[Hands], seconds: float) -> dict[str, Any]:
    """How long it took; the part of a result that is never the same twice."""
    decisions, spent = sum(h.decisions for h in played), sum(h.seconds for h in played)
    hands = sum(len(h) for h in played)
    return {
        "seconds": round(seconds, 3),
        "hands": hands,
        "agents": [
            {
                "label": label,
                "seconds": round(float(time), 3),
                "milliseconds_per_decision": round(1e3 * float(time) / max(int(count), 1), 4),
                "decisions_per_second": round(int(count) / float(time)) if time else None,
            }
            for label, count, time in zip(plan.labels, decisions, spent, strict=True)  # type: ignore[arg-type]
        ],
    }


def timing_file(path: Path) -> Path:
    """Where the times of a result go: beside it."""
    return path.with_name(f"{path.name.removesuffix('.json')}.timing.json")


def to_json(result: dict[str, Any]) -> str:
    """A result as text."""
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, to_json(result))


def read_result(path: Path) -> dict[str, Any]:
    """A result from its file.

    Raises:
        ArenaError: no result of this format.
    """
    from lupai.train.arena.plans import ArenaError

    try:
        data = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise ArenaError(f"{path}: no JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else None
        raise ArenaError(f"{path}: its format is {found!r}, not {FORMAT!r}")
    return data
