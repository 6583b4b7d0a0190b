"""How strong is an agent: many hands at once against given opponents, with intervals over deals.

Formats:

``seat``
    The agent sits in one seat, four copies of the opponent in the others. Every deal is played
    five times, with the agent in each seat once. Everybody also bids for himself.
``emperor_camp`` / ``rebel_camp``
    The agent plays all members of one camp, the opponent the other camp. Camps do not exist
    before the calls, so everything before the first lead is played by a fixed neutral caller
    (:mod:`lupai.agents.caller`) whose choices depend on seed and deal alone: both formats play the
    same deals with the same emperor and guard, and ``camp``, the mean of the two, is a duplicate
    match that is 0 for equal agents.

A *deal* is the unit of all statistics: the score of a deal is the mean over its hands, and the 95 %
interval is taken over deals, since the five hands of one deal are not independent. Scores are those
of the rules; a camp's score is the sum over its members. Deals, caller and each agent draw from
streams of their own, so that no agent can know a deal by its generator.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt

import lupai
import lupai.agents
from lupai.agents.base import Agent, BatchAgent, ask
from lupai.agents.caller import NeutralCaller
from lupai.envs.actions import ACTIONS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.log import Log
from lupai.envs.view import Views

__all__ = ["FORMATS", "EvaluationError", "NeutralCaller", "evaluate", "table", "write_json"]

FORMATS: Final = ("seat", "emperor_camp", "rebel_camp")
FILE_FORMAT: Final = "lupai-evaluation/1"
TABLES_AT_ONCE: Final = 1000  # in results, as agents without lanes draw in the tables' order
_DEALS, _CALLER, _AGENT, _OPPONENT = range(4)  # which stream of the seed; the caller's is its own
_ME, _THEM, _NEUTRAL = range(3)

I64 = npt.NDArray[np.int64]


class EvaluationError(LupaiError):
    """An evaluation that cannot be run; says which value and what is allowed."""


@dataclass(frozen=True)
class _Plan:
    """Hands of one match: ``deals [H]`` and, for ``seat``, the agent's seat ``[H]``."""

    format: str
    deals: I64
    seats: I64


def evaluate(
    agent: str | os.PathLike[str] | Agent,
    opponents: Sequence[str] = ("random",),
    *,
    formats: Sequence[str] = FORMATS,
    hands: int = 1000,
    seed: int = 1,
    rules: str = "qingdao",
    progress: TextIO | None = None,
) -> dict[str, Any]:
    """Measure an agent.

    Args:
        agent: name, folder, or agent object.
        opponents: names or folders; one match for each opponent and format.
        formats: see the module's text.
        hands: at least so many hands in each match.
        seed: of deals, caller and agents.
        rules: rules string.
        progress: where a progress bar goes; ``None``: nowhere.

    Returns:
        JSON values: what was played (rules, layouts, seed, agents, rotation) and ``matches``, each
        with ``format``, ``opponent``, ``deals``, ``hands``, ``mean`` score per hand, its 95 %
        interval ``low`` to ``high``, ``deviation`` over deals, and the shares of hands ``won`` and
        ``lost`` (score above, below 0).

    Raises:
        EvaluationError: an unknown format, or no hand at all.
    """
    for name in formats:
        if name not in FORMATS:
            raise EvaluationError(f"format {name!r} is unknown; formats: {', '.join(FORMATS)}")
    if hands < 1 or not formats or not opponents:
        raise EvaluationError("an evaluation needs an opponent, a format and at least one hand")
    from tqdm import tqdm

    engine, start = Engine(rules), time.monotonic()
    # With more threads torch is many times slower as soon as another process runs beside it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    me = _load(agent, str(engine.rules))
    plans = [_plan(name, hands, engine.seats) for name in formats]
    total = sum(len(p.deals) for p in plans) * len(opponents)
    matches, described = [], []
    with tqdm(total=total, desc="evaluating", unit=" hands", file=progress or sys.stderr,
              disable=progress is None, dynamic_ncols=True) as bar:  # fmt: skip
        for opponent in opponents:
            them = _load(opponent, str(engine.rules))
            described.append(_describe(them, opponent))
            by_deal: dict[str, npt.NDArray[np.float64]] = {}
            for plan in plans:
                me.reset(_word(seed, _AGENT))
                them.reset(_word(seed, _OPPONENT))
                with _threads():
                    scores = _play(engine, plan, me, them, seed, bar)
                by_deal[plan.format] = _deal_means(plan, scores)
                matches.append(_match(plan, described[-1]["name"], scores, by_deal[plan.format]))
            if "emperor_camp" in by_deal and "rebel_camp" in by_deal:
                both = (by_deal["emperor_camp"] + by_deal["rebel_camp"]) / 2
                matches.append(
                    {
                        "format": "camp",
                        "opponent": described[-1]["name"],
                        "hands": 2 * len(both),
                        **_interval(both),
                    }
                )
    return {
        "format": FILE_FORMAT,
        "lupai": lupai.__version__,
        "rules": str(engine.rules),
        "action_layout": ACTIONS.hash,
        "observation_layout": engine.observation_layout.hash,
        "seed": seed,
        "deals": "deal i is dealt from word i of numpy's SeedSequence(seed, spawn_key=(0,))",
        "rotation": {
            "seat": "each deal five times, the agent in seats 0, 1, 2, 3, 4",
            "emperor_camp": "each deal once, the agent as emperor and guard or as soloist",
            "rebel_camp": "the same deals once more, the agent as all others",
        },
        "calling": "camp formats: neutral caller before the first lead; seat: the players",
        "tables_at_once": TABLES_AT_ONCE,
        "agent": _describe(me, agent),
        "opponents": described,
        "matches": matches,
        "seconds": round(time.monotonic() - start, 1),
    }


def to_json(result: dict[str, Any]) -> str:
    """A result as text."""
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(to_json(result), encoding="utf-8")
    os.replace(new, path)


def table(result: dict[str, Any]) -> str:
    """The matches as text for a terminal of 80 columns."""
    head = f"{result['agent']['name']}, rules {result['rules']}, seed {result['seed']}"
    lines = [
        head,
        f"{'format':<14}{'opponent':<12}{'deals':>6}{'hands':>7}  "
        f"{'score per hand, 95 %':<24}{'hands won':>10}",
    ]
    for match in result["matches"]:
        interval = f"{match['mean']:+.2f} [{match['low']:+.2f}, {match['high']:+.2f}]"
        won = f"{100 * match['won']:.1f} %" if "won" in match else ""
        lines.append(
            f"{match['format']:<14}{match['opponent'][:11]:<12}{match['deals']:>6}"
            f"{match['hands']:>7}  {interval:<24}{won:>10}"
        )
    return "\n".join(lines)


def _plan(name: str, hands: int, seats: int) -> _Plan:
    if name == "seat":
        deals = -(-hands // seats)
        return _Plan(name, np.repeat(np.arange(deals), seats), np.tile(np.arange(seats), deals))
    return _Plan(name, np.arange(hands), np.full(hands, -1))


def _play(engine: Engine, plan: _Plan, me: Agent, them: Agent, seed: int, bar: Any) -> I64:
    """Score ``[H]`` of the agent (or its camp) in every hand of a plan."""
    caller, total = NeutralCaller(seed), len(plan.deals)
    seeds = _stream(seed, _DEALS).generate_state(int(plan.deals.max()) + 1, np.uint64)
    playing = list(engine.phases).index("play")
    scores = np.zeros(total, dtype=np.int64)
    for start in range(0, total, TABLES_AT_ONCE):
        part = slice(start, min(start + TABLES_AT_ONCE, total))
        deals, seats = plan.deals[part], plan.seats[part]
        state = engine.reset(seeds[deals])
        # Only an agent that is asked view by view reads the history, which is slow to write.
        reads = not (isinstance(me, BatchAgent) and isinstance(them, BatchAgent))
        log = Log(engine, state) if reads else None
        done = 0
        while True:
            rows = np.flatnonzero(~np.asarray(state.over))
            bar.update(len(deals) - len(rows) - done)
            done = len(deals) - len(rows)
            if not len(rows):
                break
            actor = np.asarray(state.actor)[rows].astype(np.int64)
            if plan.format == "seat":
                who = np.where(actor == seats[rows], _ME, _THEM)
            else:
                mine = _in_camp(state, rows, actor) == (plan.format == "emperor_camp")
                who = np.where(mine, _ME, _THEM)
                who[np.asarray(state.phase)[rows] != playing] = _NEUTRAL
            actions = np.zeros(len(rows), dtype=np.int64)
            for player in np.unique(who):
                some = who == player
                histories = [log.history[row] for row in rows[some]] if log else None
                views = Views(engine, state, actor[some], rows[some], histories)
                if player == _NEUTRAL:
                    count = np.asarray(state.moves)[rows[some]]
                    actions[some] = caller.choose(views, deals[rows[some]], count)
                else:
                    # A lane for each hand: what one hand draws does not depend on the others.
                    lanes = start + rows[some]
                    actions[some] = ask(me if player == _ME else them, views, lanes)
            if log is None:
                engine.step(state, actions, rows)
            else:
                log.step(actions, rows)
        final = np.asarray(engine.scores(state)).astype(np.int64)
        if final.sum(axis=1).any():
            raise RuntimeError("engine fault: a hand's scores do not sum to zero")
        if plan.format == "seat":
            scores[part] = final[np.arange(len(deals)), seats]
        else:
            every, names = np.arange(len(deals)), np.arange(engine.seats)
            camp = np.stack([_in_camp(state, every, np.full(len(deals), s)) for s in names], 1)
            scores[part] = (final * (camp == (plan.format == "emperor_camp"))).sum(axis=1)
    return scores


def _in_camp(state: Any, rows: I64, seats: I64) -> npt.NDArray[np.bool_]:
    """``[N]``: seat i is emperor or guard at table ``rows[i]`` (the referee's knowledge)."""
    emperor, guard = np.asarray(state.emperor)[rows], np.asarray(state.guard)[rows]
    camp: npt.NDArray[np.bool_] = (seats == emperor) | (seats == guard)
    return camp


def _deal_means(plan: _Plan, scores: I64) -> npt.NDArray[np.float64]:
    hands = np.bincount(plan.deals)
    return np.bincount(plan.deals, weights=scores) / hands


def _match(
    plan: _Plan, opponent: str, scores: I64, by_deal: npt.NDArray[np.float64]
) -> dict[str, Any]:
    match: dict[str, Any] = {
        "format": plan.format,
        "opponent": opponent,
        "hands": len(scores),
        **_interval(by_deal),
        "won": round(float((scores > 0).mean()), 4),
        "lost": round(float((scores < 0).mean()), 4),
    }
    if plan.format == "seat":
        per_seat = np.bincount(plan.seats, weights=scores) / np.bincount(plan.seats)
        match["mean_by_seat"] = [round(float(v), 4) for v in per_seat]
    return match


def _interval(by_deal: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Mean and 95 % interval over deals (Student's t)."""
    count, mean = len(by_deal), float(by_deal.mean())
    deviation = float(by_deal.std(ddof=1)) if count > 1 else math.inf
    half = _student(count - 1) * deviation / math.sqrt(count) if count > 1 else math.inf
    half = min(half, 1e6)  # one deal says nothing; JSON has no infinity
    return {
        "deals": count,
        "mean": round(mean, 4),
        "low": round(mean - half, 4),
        "high": round(mean + half, 4),
        "deviation": round(min(deviation, 1e6), 4),
    }


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t, by the expansion of Cornish and Fisher; 1 % off at 3."""
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _stream(seed: int, which: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(which,))


def _word(seed: int, which: int) -> int:
    return int(_stream(seed, which).generate_state(1, np.uint64)[0])


def _load(agent: Any, rules: str) -> Agent:
    return lupai.agents.load(agent, rules) if isinstance(agent, str | os.PathLike) else agent


@contextmanager
def _threads() -> Iterator[None]:
    """As many torch threads as OMP_NUM_THREADS says, also where torch was imported before us."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _describe(agent: Any, source: Any) -> dict[str, Any]:
    info: dict[str, Any] = {"name": str(getattr(agent, "name", type(agent).__name__))}
    if isinstance(source, str | os.PathLike):
        info["source"] = os.fspath(source)
    card = getattr(agent, "card", None)
    if card is not None:
        info["checkpoint"] = card.to_json()
    return info
