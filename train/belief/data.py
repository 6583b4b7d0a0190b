"""Data sets of hands for beliefs: a folder of records by split, an index with labels, and hashes.

``plan.json`` says what is played. Each part leaves ``hands/NNNNN-SPLIT.jsonl``, records of those of
its hands that have a hidden role at some decision, and ``index/NNNNN.jsonl``, a line for each of
these. ``data.json``, written last, holds counts and the SHA-256 of every file: a folder without it
is not finished, and the same command goes on with it.

Small data sets come with lupai: ``sample:qingdao`` names one wherever a folder is named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import lupai
from lupai.agents.belief.base import BeliefError
from lupai.envs.game import Game, make_game
from lupai.envs.records import dump_record, load_record
from lupai.train.belief.decisions import decisions_of
from lupai.train.belief.playing import Plan, Population
from lupai.train.belief.splits import SPLITS, deal_hash, split_of
from lupai.train.files import write_whole
from lupai.train.jobs import run_jobs

__all__ = ["SAMPLE", "DataSet", "make_data", "open_data", "sample_names"]

FORMAT: Final = "lupai-belief-data/1"
SAMPLE: Final = "sample:"
PLAN, DATA, HANDS, INDEX = "plan.json", "data.json", "hands", "index"


class PartMaker:
    """Plays parts of a plan and writes them down; for worker processes too.

    Args:
        plan: what is played.
        folder: of the data set.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.population = Population(plan)
        self.folder = folder

    def __call__(self, part: int) -> None:
        """Play a part; its index is written last, so that what has one is finished."""
        records = list(self.population.play(part))
        decisions = decisions_of(self.population.engine, records)
        count = [0] * len(records)
        for hand in decisions.hand.tolist():
            count[hand] += 1
        files: dict[str, list[str]] = {split: [] for split in SPLITS}
        index = []
        for hand, record in enumerate(records):
            if not count[hand]:
                continue
            deal = deal_hash(record)
            split = split_of(deal)
            files[split].append(dump_record(record) + "\n")
            index.append(
                {
                    "hand": self.population.plan.part(part)[hand],
                    "split": split,
                    "file": hands_file(part, split),
                    "line": len(files[split]),
                    "deal": deal,
                    "roles": record["roles"],
                    "rebel": int(decisions.rebel[hand]),
                    "decisions": count[hand],
                    "public": bool(decisions.ends_public[hand]),
                    "players": record["players"],
                }
            )
        for split, lines in files.items():
            write_whole(self.folder / hands_file(part, split), "".join(lines))
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in index)
        write_whole(self.folder / index_file(part), text)


def hands_file(part: int, split: str) -> str:
    """Name of the records of a part."""
    return f"{HANDS}/{part:05}-{split}.jsonl"


def index_file(part: int) -> str:
    """Name of the index of a part."""
    return f"{INDEX}/{part:05}.jsonl"


def make_data(
    plan: Plan, folder: Path, *, jobs: int = 1, progress: Callable[[int], object] | None = None
) -> DataSet:
    """Make a data set, or what is left to be made of it; the same bytes for every number of jobs.

    Args:
        plan: what is played.
        folder: it is made if it is not there.
        jobs: processes.
        progress: called with the number of hands that were finished since the last call.

    Raises:
        BeliefError: the folder holds something else, or another plan.
    """
    maker = PartMaker(plan, folder)
    maker.population.agents()  # a name that does not exist is told before anything is written
    _begin(plan, folder)
    missing = [n for n in range(plan.parts) if not (folder / index_file(n)).is_file()]
    if progress is not None:
        progress(plan.hands - sum(len(plan.part(n)) for n in missing))
    tell = None if progress is None else lambda number: progress(len(plan.part(number)))
    with closing(run_jobs(maker, missing, jobs if len(missing) > 1 else 1, tell)) as done:
        for _ in done:
            pass
    if not (folder / DATA).is_file():
        write_whole(folder / DATA, json.dumps(_summary(plan, folder), indent=1) + "\n")
    return DataSet(folder)


def _begin(plan: Plan, folder: Path) -> None:
    mine = json.loads(json.dumps(plan.to_json()))
    if not (folder / PLAN).is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BeliefError(f"{folder}: is there and holds no data set; give another name")
        for name in (HANDS, INDEX):
            (folder / name).mkdir(parents=True, exist_ok=True)
        write_whole(folder / PLAN, json.dumps(mine, indent=1) + "\n")
        return
    theirs = _read_json(folder / PLAN)
    if theirs != mine:
        other = [key for key in mine if theirs.get(key) != mine[key]]
        raise BeliefError(
            f"{folder}: holds hands of another plan (other {', '.join(other)}); remove it, or give "
            f"another name"
        )


def _summary(plan: Plan, folder: Path) -> dict[str, Any]:
    splits = {split: {"hands": 0, "decisions": 0} for split in SPLITS}
    files = {}
    for part in range(plan.parts):
        for line in (folder / index_file(part)).read_text("utf-8").splitlines():
            entry = json.loads(line)
            splits[entry["split"]]["hands"] += 1
            splits[entry["split"]]["decisions"] += entry["decisions"]
        for name in (index_file(part), *(hands_file(part, split) for split in SPLITS)):
            files[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    return {
        "format": FORMAT,
        "lupai": lupai.__version__,
        "plan": plan.to_json(),
        "splits": splits,
        "files": files,
    }


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BeliefError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise BeliefError(f"{path}: not JSON ({error})") from None
    if not isinstance(data, dict):
        raise BeliefError(f"{path}: holds a {type(data).__name__}; it should be an object")
    return data


def _samples() -> Path:
    return Path(str(files("lupai.train.belief"))) / "samples"


def sample_names() -> tuple[str, ...]:
    """Names of the data sets that come with lupai, such as ``sample:qingdao``, in order."""
    return tuple(SAMPLE + path.parent.name for path in sorted(_samples().glob(f"*/{DATA}")))


def open_data(name: str) -> DataSet:
    """A data set by its folder, or by the name of one that comes with lupai.

    Raises:
        BeliefError: no such sample; says which there are. Or see :class:`DataSet`.
    """
    if not name.startswith(SAMPLE):
        return DataSet(name)
    if name not in sample_names():
        raise BeliefError(f"{name}: no such sample; there are {', '.join(sample_names())}")
    return DataSet(_samples() / name.removeprefix(SAMPLE))


class DataSet:
    """A finished data set.

    Attributes:
        folder: where it is.
        plan: what was played.
        splits: number of ``hands`` and ``decisions`` of each split.
        sha256: digest over the digests of all its files, to be cited.

    Raises:
        BeliefError: none is there, it is not finished, or of another format.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / DATA
        if not path.is_file():
            if (self.folder / PLAN).is_file():
                raise BeliefError(
                    f"{folder}: not finished; run `lupai belief make-data` with the same words "
                    f"again"
                )
            raise BeliefError(f"{folder}: no data set; `lupai belief make-data` makes one")
        data = _read_json(path)
        if data.get("format") != FORMAT:
            raise BeliefError(
                f"{path}: format {data.get('format')!r} is not known; this version reads {FORMAT!r}"
            )
        try:
            plan = data["plan"]
            self.plan = Plan(**plan | {"players": tuple(plan["players"])})
            self.splits: dict[str, dict[str, int]] = data["splits"]
            self._files: dict[str, str] = data["files"]
            self._splits_total = {split: self.splits[split]["hands"] for split in SPLITS}
        except (KeyError, TypeError) as error:
            raise BeliefError(f"{path}: unreadable ({type(error).__name__}: {error})") from None
        self.sha256 = hashlib.sha256(json.dumps(self._files, sort_keys=True).encode()).hexdigest()

    @property
    def rules(self) -> str:
        """Rules string."""
        return self.plan.rules

    @property
    def name(self) -> str:
        """Name of its population."""
        return self.plan.name

    def engine(self) -> Game:
        """Engine of its rules."""
        return make_game("baohuang", self.rules)

    def hands(self, split: str, limit: int | None = None) -> int:
        """How many hands :meth:`records` gives."""
        there = self._splits_total[_known(split)]
        return there if limit is None else min(there, limit)

    def records(
        self, split: str, limit: int | None = None, at_once: int = 100
    ) -> Iterator[list[dict[str, Any]]]:
        """Records of a split in order, some at once.

        Args:
            split: ``train``, ``dev``, ``test`` or ``private``.
            limit: the first so many; None: all.
            at_once: at most so many in a list.

        Raises:
            BeliefError: no such split, or a file that is missing or was altered.
        """
        left = self.hands(split, limit)
        batch: list[dict[str, Any]] = []
        for part in range(self.plan.parts):
            if not left:
                break
            for line in self._lines(hands_file(part, split))[:left]:
                batch.append(load_record(line))
                left -= 1
                if len(batch) == at_once:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BeliefError(f"{path}: cannot be read ({error.strerror})") from None
        found = hashlib.sha256(content).hexdigest()
        if found != self._files.get(name):
            raise BeliefError(
                f"{path}: has SHA-256 {found[:12]}…, but {DATA} says "
                f"{str(self._files.get(name))[:12]}…: it was altered or damaged"
            )
        return content.decode("utf-8").splitlines()


def _known(split: str) -> str:
    if split not in SPLITS:
        raise BeliefError(f"split {split!r}: none of {', '.join(SPLITS)}")
    return split
