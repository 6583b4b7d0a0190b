"""One match from its agents' names to its result."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import lupai.agents
from lupai.agents.base import Agent, BatchAgent, check_plays
from lupai.agents.folders import game_of
from lupai.envs.deals import check_seed
from lupai.envs.game import rules_class
from lupai.train.arena.asking import Fallback
from lupai.train.arena.games import DEFAULT, arena_game
from lupai.train.arena.hands import Hands
from lupai.train.arena.packs import Pack, make_pack
from lupai.train.arena.plans import ArenaError, make_matches
from lupai.train.arena.provenance import describe
from lupai.train.arena.results import build_result, timing
from lupai.train.arena.work import (
    HANDS_OF_PART,
    HANDS_OF_SLOW_PART,
    Plan,
    WorkFolder,
    play_plan,
    unique_labels,
)

__all__ = ["Outcome", "default_formats", "finish", "run_arena"]

AgentLike = str | os.PathLike[str] | Agent


@dataclass(frozen=True)
class Outcome:
    """What a match gave.

    Attributes:
        result: JSON values, the same for every run of the match.
        timing: JSON values: how long it took.
        hands: the hands of each match of ``plan``.
        plan: what was played.
    """

    result: dict[str, Any]
    timing: dict[str, Any]
    hands: list[Hands]
    plan: Plan


def run_arena(
    players: Sequence[AgentLike],
    opponents: Sequence[AgentLike] = (),
    *,
    formats: Sequence[str] | None = None,
    pack: Pack | None = None,
    deals: int | None = None,
    hands: int | None = None,
    seed: int = 1,
    game: str = DEFAULT,
    rules: str | None = None,
    limit: float | None = None,
    strict: bool = False,
    fallback: Fallback = "lowest",
    jobs: int = 1,
    deals_of_part: int | None = None,
    work: Path | None = None,
    records: Callable[[str], object] | None = None,
    progress: TextIO | None = None,
) -> Outcome:
    """Play and measure.

    Args:
        players: agents that are measured: names, folders, ``module:Class``, or agents.
        opponents: whom they meet in ``seat`` and ``camp``.
        formats: see :mod:`lupai.train.arena.plans`; None: see :func:`default_formats`.
        pack: deals; None: episodes of ``seed`` under ``rules``.
        deals: only so many of the pack; without a pack 1,000 if None.
        hands: instead, about so many hands in each match.
        seed: of the agents' draws.
        game, rules: name and rules string, where there is no pack; None: the game's default.
        limit: seconds for a decision.
        strict: whether the first fault of an agent ends the match.
        fallback: who decides after a fault.
        jobs: processes; the result does not depend on it.
        deals_of_part: deals that are played together and kept together; it decides what agents
            without lanes draw.
        work: folder that keeps finished parts until the match is done, and goes on from them.
        records: called with each hand as a record.
        progress: where a progress bar goes; None: nowhere.

    Raises:
        ArenaError: a match that cannot be played, or in a strict match a fault.
        PackError: fewer deals in the pack than are wanted.
        LupaiError: an agent that cannot be loaded, or plays another game or other rules.
    """
    from tqdm import tqdm

    check_seed(seed)
    begin = time.monotonic()
    wanted = 1000 if deals is None and hands is None and pack is None else deals
    if pack is None:
        most = max(v for v in (wanted, hands, 1) if v is not None)
        pack = make_pack(rules or rules_class(game).default, most, seed, game=game)
    if formats is None:
        formats = default_formats(pack.game, against=bool(opponents))
    count = pack.count if wanted is None else wanted
    numbers = list(range(len(players) + len(opponents)))
    mine, theirs = numbers[: len(players)], numbers[len(players) :]
    matches = make_matches(formats, mine, theirs, count, hands, pack.game)
    if (most := max(match.deals for match in matches)) > pack.count:
        raise ArenaError(f"pack {pack.name!r} has {pack.count:,} deals, not {most:,}")
    # With more threads torch is many times slower as soon as another process runs beside it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    given = [*players, *opponents]
    agents = {i: _load(agent, pack) for i, agent in enumerate(given)}
    about = [describe(agents[i], given[i]) for i in numbers]
    names = [info["name"] for info in about]
    labels = unique_labels(names[: len(mine)]) + unique_labels(names[len(mine) :])
    if {"round_robin", "mixed"} & set(formats):  # a player may be an opponent there
        labels = unique_labels(names)
    batches = all(isinstance(agent, BatchAgent) for agent in agents.values())
    plan = Plan(
        pack, seed, tuple(info.get("source", "") for info in about), tuple(labels),
        tuple(matches), limit, strict, fallback, records is not None,
        HANDS_OF_PART if batches else HANDS_OF_SLOW_PART, deals_of_part,
    )  # fmt: skip
    folder = None if work is None else WorkFolder(work, plan, about)
    # Objects at hand cannot be loaded by their source; the others are loaded where they play.
    objects = {i: a for i, a in agents.items() if jobs == 1 or not about[i].get("source")}
    total = sum(plan.hands_of(part) for part in plan.parts())
    done = sum(plan.hands_of(p) for p in plan.parts() if folder is not None and folder.has(p))
    with tqdm(total=total, initial=done, desc="playing", unit=" hands", file=progress or sys.stderr,
              disable=progress is None, dynamic_ncols=True) as bar:  # fmt: skip
        played = play_plan(
            plan, jobs=jobs, work=folder, agents=objects, records=records, progress=bar.update
        )  # fmt: skip
    result = build_result(plan, list(formats), mine, theirs, about, played)
    return Outcome(result, timing(plan, played, time.monotonic() - begin), played, plan)


def default_formats(game: str, *, against: bool) -> tuple[str, ...]:
    """Formats of a match where none are asked for: with opponents ``seat`` and both camps, else
    everybody against everybody."""
    return ("seat", arena_game(game).camps.both) if against else ("round_robin",)


def _load(agent: AgentLike, pack: Pack) -> Agent:
    if isinstance(agent, str | os.PathLike):
        # its card first: under rules of another game a trained agent cannot be loaded
        if (game := game_of(agent)) not in (None, pack.game):
            raise ArenaError(f"agent {os.fspath(agent)!r} plays {game}, not {pack.game}")
        agent = lupai.agents.load(agent, pack.rules)
    check_plays(agent, pack.game, ArenaError)
    return agent


def finish(work: Path) -> None:
    """Remove the folder of a match whose result is written."""
    shutil.rmtree(work, ignore_errors=True)
