"""The trainer's side of a league: plans for the samplers, their statistics, snapshots, its file.

Below the run folder lies ``league/``: ``snapshot-000050/`` and, of anchors that are folders, copies
``anchor-NAME/``, all of them agent folders. Who is in the league, how the learner fares and the
state of its generator stand in ``league/league.json`` of each checkpoint, so a run goes on from any
of them; a snapshot's folder is removed when neither the league nor a checkpoint names it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

import lupai.agents
from lupai.agents.base import Agent
from lupai.agents.registry import agent_path
from lupai.train.config import TrainConfig
from lupai.train.league.frozen import IMITATED, Copies, imitates, label, load_opponent, pack
from lupai.train.league.matchmaking import Plan, Seating, opponent_shares
from lupai.train.league.population import (
    LeagueError,
    Member,
    Population,
    dump_league,
    parse_league,
)
from lupai.train.run_folder import Progress

__all__ = ["LEAGUE_FILE", "League", "Learner", "check_opponents", "make_coach", "seating"]

LEAGUE_FILE: Final = "league.json"
PART: Final = "league"  # of a checkpoint
FOLDER: Final = "league"  # of a run
LEAGUE_KEY: Final = 0x6C6561  # stream of the league's own draws


class Learner(Protocol):
    """What is asked of whoever trains."""

    def each_sampler(self, function: Callable[[Any], Any]) -> list[Any]:
        """Result of ``function`` on each sampler, in their order; it may run in other processes.
        A sampler has ``lineups``, ``teacher``, ``worker_index``."""

    def write_agent(self, folder: Path, progress: Progress) -> None:
        """Write the policy of this moment as an agent folder; an old one there is replaced."""


def seating(config: TrainConfig) -> Seating | None:
    """How the samplers seat their hands; None: without opponents."""
    if config.selfplay.mode == "self":
        return None
    if config.selfplay.mode == "league" or config.exploit.role == "seat":
        return "drawn"
    return config.exploit.role


def make_coach(config: TrainConfig, folder: Path, checkpoint: Path | None) -> League | None:
    """Who looks after the opponents of a run; None: there are none.

    Raises:
        LupaiError: an opponent that cannot be had, or a damaged file.
    """
    if config.selfplay.mode == "self":
        return None
    if config.selfplay.mode == "league":
        return League(config, folder, checkpoint)
    from lupai.train.league.exploit import Exploit

    return Exploit(config, folder, checkpoint)


def check_opponents(
    config: TrainConfig, folder: Path | None = None, progress: Progress | None = None
) -> None:
    """See that all agents that a run needs can be had, before anything is made or replaced: its
    opponents, the one that it imitates, and those that it is measured against.

    Args:
        config: the run.
        folder: run folder, if not ``config.run_folder``.
        progress: counters of a run that goes on: of opponents that it has copied the copies count,
            and an imitation that is over needs nobody. None: a new run.

    Raises:
        LupaiError: an unknown name (it tells those that exist), an agent of other rules, one that
            decides view by view, or one in the run's own folder.
    """
    place = folder or config.run_folder
    own = place.resolve()
    for name in config.watch.anchors if config.watch.every else ():
        _refuse_own(name, own)
        lupai.agents.load(name, config.rules_string)
    wanted = [
        name
        for name in opponents_of(config)
        if progress is None or not (place / FOLDER / f"anchor-{label(name)}").is_dir()
    ]
    imitated = config.imitation.agent
    there = progress is not None and (place / IMITATED / label(imitated)).is_dir()
    if imitates(config, 0 if progress is None else progress.steps) and not there:
        wanted.append(imitated)
    for name in wanted:
        _refuse_own(name, own)
        load_opponent(name, config.rules_string)


def _refuse_own(name: str, own: Path) -> None:
    path = agent_path(name)
    if path is None:
        return
    path = path.resolve()
    if own in (path, *path.parents):
        raise LeagueError(
            f"opponent {name!r} lies in the folder of the run itself; copy it to another place, or "
            f"choose another name=…"
        )


def opponents_of(config: TrainConfig) -> tuple[str, ...]:
    """Names of the opponents that the config gives."""
    if config.selfplay.mode == "exploit":
        assert config.target is not None
        return (config.target,)
    return config.selfplay.anchors if config.selfplay.mode == "league" else ()


class League:
    """Opponents of a run; nothing is written before :meth:`copy`.

    Args:
        config: the run.
        folder: run folder.
        checkpoint: to go on from; None: a new run, for which nothing in the folder counts. Without
            a league in it a new one begins.

    Raises:
        LupaiError: an opponent that cannot be had, or a damaged file.
    """

    def __init__(self, config: TrainConfig, folder: Path, checkpoint: Path | None) -> None:
        self.config = config
        self.folder = folder
        self._copies = Copies(folder, new=checkpoint is None)
        self._rng = np.random.Generator(np.random.PCG64(0))
        self._rng.bit_generator.state = np.random.PCG64(
            np.random.SeedSequence(config.seed, spawn_key=(LEAGUE_KEY,))
        ).state
        old = Population([])
        file = None if checkpoint is None else checkpoint / PART / LEAGUE_FILE
        if file is not None and file.is_file():
            old = self._read(file)
        known = {member.name: member for member in old.anchors}
        anchors = [self._anchor(name) for name in opponents_of(config)]
        if len({member.name for member in anchors}) < len(anchors):
            raise LeagueError("selfplay.anchors: two folders of the same name; rename one")
        for member in anchors:
            if member.name in known:
                member.hands, member.points = known[member.name].hands, known[member.name].points
        self.population = Population(anchors, old.snapshots)
        for member in self.population.members:  # said now, not in the middle of a run
            self._load(member)
        self._plan = self._next_plan(word=0)

    def copy(self) -> None:
        """Copy the anchors that are folders into the run folder."""
        self._copies.write()

    # --- the loop --------------------------------------------------------------------------------

    def plan(self) -> None:
        """Draw whom the learner meets in the next iteration."""
        self._plan = self._next_plan(int(self._rng.integers(0, 1 << 63)))

    def tell(self, learner: Learner) -> None:
        """Tell it to all samplers; before they play, then as often as need be."""
        _send(learner, self._plan, self._packed)

    def after(
        self, learner: Learner, progress: Progress, imitates: bool = False
    ) -> dict[str, float]:
        """Take in an iteration; metrics of it.

        Args:
            imitates: another agent held the learner's seats; its points tell nothing of the
                learner, and a snapshot would be one of an unfinished copy.
        """
        # sums in the order of the samplers: the same at every run
        every = learner.each_sampler(_collect)
        for sums in () if imitates else every:
            for member in self.population.members:
                if member.name in sums:
                    hands, points = sums[member.name]
                    member.record(hands, points, self.config.selfplay.window)
        row: dict[str, float] = {}
        shares = dict(zip(self._plan.names, self._plan.shares, strict=True))
        for member in self.population.members:
            share = shares[member.name] * (1 - self._plan.self_share)
            row[f"league/{member.name}/share"] = round(share, 6)
            if member.hands:
                row[f"league/{member.name}/score"] = round(member.points / member.hands, 6)
        if self.config.selfplay.mode == "league" and not imitates:
            self._snapshot(learner, progress)
        return row

    def save(self, folder: Path) -> None:
        """Write its file into a checkpoint's folder; see :class:`lupai.train.checkpoints.Saved`."""
        (folder / LEAGUE_FILE).write_text(self.dump(), encoding="utf-8")
        self.sweep()

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Nothing: it was read when the league was made, before anything was started."""

    def dump(self) -> str:
        """Content of its file."""
        return dump_league(self.population, dict(self._rng.bit_generator.state))

    def sweep(self) -> None:
        """Remove the snapshots that neither the league nor a checkpoint names any more."""
        wanted = {member.source for member in self.population.members}
        for file in self.folder.glob(f"checkpoints/*/{PART}/{LEAGUE_FILE}"):
            try:
                stored, _ = parse_league(file.read_text("utf-8"), str(file))
            except (OSError, ValueError, LeagueError):
                return  # who knows what it named
            wanted |= {member.source for member in stored.members}
        for path in (self.folder / FOLDER).glob("snapshot-*"):
            if f"{FOLDER}/{path.name}" not in wanted:
                shutil.rmtree(path, ignore_errors=True)

    def finish(self, learner: Learner, progress: Progress) -> None:
        """After the last iteration of a run that reached its limit."""

    # --- inside ----------------------------------------------------------------------------------

    def _next_plan(self, word: int) -> Plan:
        section, members = self.config.selfplay, self.population.members
        shares: tuple[float, ...] = ()
        if members:
            scores = [member.score(section.prior) for member in members]
            shares = tuple(opponent_shares(scores, section.temperature, section.uniform).tolist())
        names = tuple(member.name for member in members)
        return Plan(names, shares, self._self_share(), self._seats(), word)

    def _self_share(self) -> float:
        return self.config.selfplay.self_share

    def _seats(self) -> tuple[float, ...]:
        return self.config.selfplay.seats

    def _snapshot(self, learner: Learner, progress: Progress) -> None:
        section = self.config.selfplay
        if progress.iteration % section.every:
            return
        name = f"snapshot-{progress.iteration:06d}"
        learner.write_agent(self.folder / FOLDER / name, progress)
        member = Member(name, f"{FOLDER}/{name}", progress.iteration)
        self.population.add(member, section.snapshots, section.prior)

    def _anchor(self, name: str) -> Member:
        short = label(name)
        return Member(short, self._copies.source(name, f"{FOLDER}/anchor-{short}"))

    def _load(self, member: Member) -> Agent:
        sample = member.iteration > 0 and self.config.selfplay.sample
        rules = self.config.rules_string
        return self._copies.load(member.source, rules, sample)

    def _packed(self, names: Iterable[str]) -> dict[str, bytes]:
        members = {member.name: member for member in self.population.members}
        return {name: pack(self._load(members[name])) for name in names}

    def _read(self, file: Path) -> Population:
        try:
            text = file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise LeagueError(f"{file}: cannot be read ({error}); copy it again") from None
        population, rng = parse_league(text, str(file))
        try:
            self._rng.bit_generator.state = rng
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise LeagueError(
                f"{file}: rng: no state of a generator ({error}); copy it again, or go on from "
                f"another checkpoint"
            ) from None
        return population


def _send(
    learner: Learner, plan: Plan, packed: Callable[[Iterable[str]], dict[str, bytes]]
) -> None:
    lacks = learner.each_sampler(partial(_lacks, names=plan.names))
    missing = sorted({name for names in lacks for name in names})
    learner.each_sampler(partial(_take, plan=plan, packed=packed(missing)))


def _lacks(runner: Any, names: tuple[str, ...]) -> list[str]:
    missing: list[str] = runner.lineups.lacks(names)
    return missing


def _take(runner: Any, plan: Plan, packed: dict[str, bytes]) -> None:
    runner.lineups.take(plan, packed)


def _collect(runner: Any) -> dict[str, tuple[int, float]]:
    sums: dict[str, tuple[int, float]] = runner.lineups.collect()
    return sums
