"""A match in parts: on several processes, and with a folder that lets a stopped match go on.

A part is some deals of one match. What is played in it depends on the match, the deals and the
seed alone, so one process and many give the same hands.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import lupai
import lupai.agents
from lupai.agents.base import Agent
from lupai.envs.game import make_game
from lupai.train.arena.asking import Asker, Fallback
from lupai.train.arena.games import arena_game
from lupai.train.arena.hands import Hands
from lupai.train.arena.packs import Pack
from lupai.train.arena.plans import ArenaError, Match
from lupai.train.arena.play import play_deals
from lupai.train.files import write_whole
from lupai.train.jobs import run_jobs

__all__ = ["HANDS_OF_PART", "HANDS_OF_SLOW_PART", "Part", "Plan", "WorkFolder", "play_plan"]

HANDS_OF_PART: Final = 2000  # numpy wants many tables at once
HANDS_OF_SLOW_PART: Final = 200  # where an agent is asked view by view
AGENTS_KEY: Final = 0x6172656E  # streams of the agents, apart from the deals'


@dataclass(frozen=True)
class Part:
    """Deals ``start`` … ``stop - 1`` of match number ``match``."""

    match: int
    start: int
    stop: int


@dataclass(frozen=True)
class Plan:
    """All that decides what is played.

    Attributes:
        pack: the deals, with their rules.
        seed: of the agents' draws.
        sources: of the agents, as :func:`lupai.agents.load` takes them.
        labels: of the agents, for people.
        matches: who plays whom.
        limit, strict, fallback: see :mod:`lupai.train.arena.asking`.
        records: whether the hands are kept as records.
        hands_of_part: about how many hands are a part.
        deals_of_part: instead, how many deals.
    """

    pack: Pack
    seed: int
    sources: tuple[str, ...]
    labels: tuple[str, ...]
    matches: tuple[Match, ...]
    limit: float | None = None
    strict: bool = False
    fallback: Fallback = "lowest"
    records: bool = False
    hands_of_part: int = HANDS_OF_PART
    deals_of_part: int | None = None

    @property
    def seats(self) -> int:
        """Of a table."""
        return arena_game(self.pack.game).seats

    def parts(self) -> list[Part]:
        """All parts in order."""
        out: list[Part] = []
        for number, match in enumerate(self.matches):
            size = self.deals_of_part or max(1, self.hands_of_part // match.rotations(self.seats))
            starts = range(0, match.deals, size)
            out += [Part(number, start, min(start + size, match.deals)) for start in starts]
        return out

    def hands_of(self, part: Part) -> int:
        """How many hands a part has."""
        return (part.stop - part.start) * self.matches[part.match].rotations(self.seats)

    def agent_seed(self, agent: int, *more: int) -> int:
        """Seed of an agent's streams."""
        key = (AGENTS_KEY, agent, *more)
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        return int(sequence.generate_state(1, np.uint64)[0])


class Player:
    """Plays parts; engine and agents are made at the first and kept for the next.

    Args:
        plan: what is played.
        folder: where the hands go; None: they are returned.
        agents: agents at hand, by number, instead of those of the plan's sources.
        progress: called with finished hands; in this process only.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path | None = None,
        agents: dict[int, Agent] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self._plan, self._folder = plan, folder
        self._agents, self._progress = agents or {}, progress
        self._askers: list[Asker] = []
        self._engine: Any = None

    def __call__(self, part: Part) -> Hands | None:
        """Play a part."""
        plan = self._plan
        if self._engine is None:
            # With more threads torch is many times slower as soon as another process runs beside.
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            self._engine = make_game(plan.pack.game, plan.pack.rules)
            for number, (source, label) in enumerate(zip(plan.sources, plan.labels, strict=True)):
                agent = self._agents.get(number)
                if agent is None:
                    agent = lupai.agents.load(source, plan.pack.rules)
                self._askers.append(
                    Asker(agent, label, limit=plan.limit, strict=plan.strict,
                          fallback=plan.fallback)
                )  # fmt: skip
        for number in set(plan.matches[part.match].agents):
            asker = self._askers[number]
            # With lanes every hand has streams of its own; else each part has.
            more = () if asker.has_lanes else (part.match, part.start)
            asker.start(plan.agent_seed(number, *more))
        with _threads():
            hands = play_deals(
                self._engine, plan.pack, plan.matches[part.match], range(part.start, part.stop),
                self._askers, plan.seed, records=plan.records, progress=self._progress,
            )  # fmt: skip
        if self._folder is None:
            return hands
        hands.save(part_file(self._folder, part))
        return None


def part_file(folder: Path, part: Part) -> Path:
    """File of a part's hands."""
    return folder / f"match-{part.match:04}-deal-{part.start:07}.npz"


class WorkFolder:
    """Finished parts of a match that may be stopped.

    Args:
        path: it is made if it is not there.
        plan, about: what is played, and by whom in detail; a folder of another match is refused.

    Raises:
        ArenaError: it holds another match, or something else.
    """

    def __init__(self, path: Path, plan: Plan, about: Any) -> None:
        self.path = path
        mine = json.loads(json.dumps({"lupai": lupai.__version__, **asdict(plan), "about": about}))
        self.file = path / "match.json"
        if not path.exists():
            path.mkdir()
            self._write(mine)
            return
        try:
            theirs = json.loads(self.file.read_text("utf-8"))
        except FileNotFoundError:
            if not path.is_dir() or any(not p.name.startswith(".") for p in path.iterdir()):
                raise ArenaError(
                    f"{path}: no folder of a match; move it away, or write elsewhere with -o"
                ) from None
            theirs = mine  # it was stopped before the first line
            self._write(mine)
        except (ValueError, OSError) as error:
            raise ArenaError(f"{self.file}: {error}; remove {path} to start anew") from None
        if theirs != mine:
            keys = [k for k in mine if not isinstance(theirs, dict) or theirs.get(k) != mine[k]]
            raise ArenaError(
                f"{path} holds parts of another match (other {', '.join(keys)}); remove it to "
                f"start anew, or write elsewhere with -o"
            )

    def _write(self, data: Any) -> None:
        write_whole(self.file, json.dumps(data, indent=1) + "\n")

    def has(self, part: Part) -> bool:
        """Whether a part is finished."""
        return part_file(self.path, part).is_file()

    def load(self, part: Part) -> Hands:
        """Hands of a finished part."""
        file = part_file(self.path, part)
        try:
            return Hands.load(file)
        except Exception as error:
            raise ArenaError(
                f"{file}: not the hands of a part ({error}); remove it and run the command again"
            ) from None


def play_plan(
    plan: Plan,
    *,
    jobs: int = 1,
    work: WorkFolder | None = None,
    agents: dict[int, Agent] | None = None,
    progress: Callable[[int], object] | None = None,
    records: Callable[[str], object] | None = None,
) -> list[Hands]:
    """Play all matches of a plan, or what is left of them.

    Args:
        plan: what is played.
        jobs: processes.
        work: where finished parts are kept, and taken from.
        agents: agents at hand, by number; with several processes they are pickled.
        progress: called with the number of hands that were finished since the last call.
        records: called with each record in order, if the plan keeps them.

    Returns:
        The hands of each match.
    """
    parts = plan.parts()
    missing = [part for part in parts if work is None or not work.has(part)]
    folder = None if work is None else work.path
    here = jobs == 1 or len(missing) < 2
    player = Player(plan, folder, agents, progress if here else None)
    told = None
    if progress is not None and not here:
        tell = progress

        def told(part: Part) -> None:
            tell(plan.hands_of(part))

    found: list[list[Hands]] = [[] for _ in plan.matches]
    todo = set(missing)
    results = run_jobs(player, missing, 1 if here else jobs, told)
    with closing(results):
        for part in parts:
            hands = next(results) if part in todo else None
            if hands is None:
                assert work is not None
                hands = work.load(part)
            if records is not None:
                for line in hands.records:
                    records(line)
            hands.records = []
            found[part.match].append(hands)
    return [Hands.join(each) for each in found]


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


def unique_labels(names: Sequence[str]) -> list[str]:
    """Names, with #2, #3 … behind those that stand there again."""
    out: list[str] = []
    for i, name in enumerate(names):
        again = list(names[:i]).count(name)
        out.append(f"{name}#{again + 1}" if again else name)
    return out
