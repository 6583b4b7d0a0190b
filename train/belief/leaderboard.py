"""Leaderboards of beliefs: predictors that were asked the same, by log loss.

An entry (:mod:`lupai.train.leaderboards`) is taken from one data set's object in a file of
``lupai belief score --json``. It has the digest of that file and of itself, so that a damaged one
is not ranked.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from lupai.agents.belief.base import OBSERVERS
from lupai.train.belief.scoring import FORMAT
from lupai.train.belief.splits import SPLITS
from lupai.train.belief.tables import columns, with_interval
from lupai.train.leaderboards import (
    BELIEF,
    LeaderboardError,
    Named,
    file_sha256,
    identity,
    markdown_table,
    name_of,
    read_json,
)

__all__ = ["Board", "Line", "boards_of", "entries_of", "markdown", "tables", "text_table"]

RESULT: Final = FORMAT.rpartition("/")[0] + "/"  # what formats of all versions begin with
SCORES: Final = ("log_loss", "gain", "skill", "brier", "ece", "auroc")
HEAD: Final = (
    "predictor", "log loss", "gain over grounded", "recovered at least", "Brier", "ECE", "AUROC",
)  # fmt: skip
_SEAL: Final = "entry_sha256"


@dataclass(frozen=True)
class Board:
    """What was asked; only results of one board are compared.

    Attributes:
        rules, population, data_sha256, split: of the data.
        limit: the first so many hands; None: all.
        moments: so many decisions of each hand; None: all.
    """

    rules: str
    population: str
    data_sha256: str
    split: str
    limit: int | None
    moments: int | None

    def __post_init__(self) -> None:
        _check(self, ("rules", "population", "data_sha256", "split"), str)
        _check(self, ("limit", "moments"), int, None)
        if self.split not in SPLITS:
            raise ValueError(f"split is {self.split!r}")

    @property
    def heading(self) -> str:
        """It in words."""
        words = [self.rules, self.population, f"split {self.split}"]
        if self.split == "private":
            words[-1] += " (held back from who trains)"
        if self.limit is not None:
            words.append(f"the first {self.limit:,} hands")
        if self.moments is not None:
            words.append(f"{self.moments} decisions of each hand")
        return ", ".join((*words, f"data {self.data_sha256[:16]}"))

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it stands among others."""
        known = self.rules, self.population, self.data_sha256, list(SPLITS).index(self.split)
        return *known, self.limit or math.inf, self.moments or math.inf


@dataclass(frozen=True)
class Line:
    """What was measured of a predictor for an observer.

    Attributes:
        predictor: its name, with first digits of what tells those of one name apart.
        observer: one of OBSERVERS.
        hands, decisions: that it was scored on.
        log_loss, gain, skill, brier, ece, auroc: see docs/belief.md; None: cannot be told.
        gain_low, gain_high: interval of the gain.
        identified: share of the hands; None where some decisions only were asked about.
    """

    predictor: str
    observer: str
    hands: int
    decisions: int
    log_loss: float
    gain: float
    gain_low: float | None
    gain_high: float | None
    skill: float | None
    brier: float | None
    ece: float | None
    auroc: float | None
    identified: float | None

    def __post_init__(self) -> None:
        _check(self, ("predictor", "observer"), str)
        _check(self, ("hands", "decisions"), int)
        _check(self, ("log_loss", "gain"), float)
        _check(self, [f.name for f in fields(self)[6:]], float, None)
        if self.observer not in OBSERVERS:
            raise ValueError(f"observer is {self.observer!r}")

    @property
    def figures(self) -> tuple[Any, ...]:
        """Who it is and what was measured, without the interval, which other draws move."""
        return tuple(v for k, v in asdict(self).items() if k not in ("gain_low", "gain_high"))


def _check(thing: Any, names: Any, kind: type, *others: None) -> None:
    """Refuse what JSON may hold in the place of a text, a count or a finite number."""
    for name in names:
        value = getattr(thing, name)
        if value is None and others:
            continue
        good = isinstance(value, (int, float) if kind is float else kind)
        if isinstance(value, bool) or not good or (kind is int and value < 1):
            raise ValueError(f"{name} is {value!r}")
        if kind is float and not math.isfinite(value):
            raise ValueError(f"{name} is {value!r}")


def entries_of(result_file: Path) -> list[Named]:
    """What a leaderboard keeps of a file of ``lupai belief score --json``: an entry for each data
    set.

    Raises:
        LeaderboardError: no such file, or one of another version.
    """
    data = read_json(result_file)
    results = data if isinstance(data, list) else [data]
    digest = file_sha256(result_file)
    if not results:
        raise LeaderboardError(
            f"{result_file}: an empty list; right would be what `lupai belief score --json` writes"
        )
    out = []
    for number, result in enumerate(results, 1):
        found = result.get("format") if isinstance(result, dict) else None
        if found != FORMAT:
            raise LeaderboardError(
                f"{result_file}: its format is {found!r}, not {FORMAT!r}; score again with `lupai "
                f"belief score --json`"
            )
        try:
            entry = _entry(result, digest)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LeaderboardError(
                f"{result_file}: not a whole result ({_why(error)}); score again with `lupai "
                f"belief score --json`"
            ) from None
        name = f"belief-{name_of(entry['rules'], digest)}"
        out.append((name if len(results) == 1 else f"{name}-{number}", entry))
    return out


def _why(error: Exception) -> str:
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _entry(result: Mapping[str, Any], digest: str) -> dict[str, Any]:
    board = Board(**{field.name: result[field.name] for field in fields(Board)})
    lines = [_line(row) for row in result["results"]]
    if not lines:
        raise ValueError("no scores in it")
    entry = {
        "format": BELIEF,
        "result_sha256": digest,
        "lupai": str(result["lupai"]),
        **asdict(board),
        "lines": [asdict(line) for line in lines],
    }
    return entry | {_SEAL: _digest(entry)}


def _line(row: Mapping[str, Any]) -> Line:
    scores, time = row["scores"], row["time_to_identify"]
    name = " ".join(row["name"].split())  # it stands in tables
    return Line(
        predictor=identity(name, row.get("weights_sha256"), row.get("module_sha256")),
        gain_low=_rounded(scores["gain"]["low"]),
        gain_high=_rounded(scores["gain"]["high"]),
        identified=None if time is None else _rounded(time["identified"]),
        **{key: row[key] for key in ("observer", "hands", "decisions")},
        **{name: _rounded(scores[name]["value"]) for name in SCORES},
    )


def _rounded(value: Any) -> Any:
    """A number to six digits: sums on another machine differ in the last ones, and figures that are
    the same should be equal. Without a minus before 0."""
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def _digest(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def boards_of(entries: list[tuple[Path, dict[str, Any]]]) -> dict[Board, list[Line]]:
    """Lines of entries by what was asked.

    Raises:
        LeaderboardError: an entry that was altered.
    """
    out: dict[Board, list[Line]] = {}
    for file, entry in entries:
        try:
            if _digest({k: v for k, v in entry.items() if k != _SEAL}) != entry[_SEAL]:
                raise ValueError("its digest is another")
            board = Board(**{field.name: entry[field.name] for field in fields(Board)})
            lines = [Line(**line) for line in entry["lines"]]
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise LeaderboardError(
                f"{file}: altered or damaged ({_why(error)}); remove it and add the result again"
            ) from None
        out.setdefault(board, []).extend(lines)
    return dict(sorted(out.items(), key=lambda item: item[0].place))


def tables(lines: list[Line]) -> list[list[Line]]:
    """Lines of a board by observer, the best first; equal figures of one predictor once.

    Results of one observer that are about other numbers of hands or decisions, as another version
    may count them, stand in tables of their own.
    """
    found: dict[tuple[int, int, int], dict[tuple[Any, ...], Line]] = {}
    for line in sorted(lines, key=lambda one: (one.log_loss, one.predictor, one.gain_low or 0.0)):
        key = OBSERVERS.index(line.observer), line.hands, line.decisions
        found.setdefault(key, {}).setdefault(line.figures, line)
    return [list(found[key].values()) for key in sorted(found)]


def _rows(board: Board, lines: list[Line]) -> list[list[str]]:
    head = ["", *HEAD] + ["identified"] * (board.moments is None)
    rows = [head]
    for place, line in enumerate(lines, 1):
        told = {name: {"value": getattr(line, name), "low": None, "high": None} for name in SCORES}
        told["gain"] |= {"low": line.gain_low, "high": line.gain_high}
        cells = [str(place), line.predictor, *(with_interval(told[name]) for name in SCORES)]
        if board.moments is None:
            share = line.identified
            cells.append("-" if share is None else f"{100 * share:.1f} %")
        rows.append(cells)
    return rows


def _size(lines: list[Line]) -> str:
    first = lines[0]
    return f"{first.observer}, {first.hands:,} hands, {first.decisions:,} decisions"


def text_table(board: Board, lines: list[Line]) -> str:
    """One board for a terminal: a block for each observer."""
    blocks = [f"who is the guard, rules {board.heading}"]
    blocks += [f"{_size(some)}\n{columns(_rows(board, some), left=2)}" for some in tables(lines)]
    return "\n\n".join(blocks)


def markdown(found: Mapping[Board, list[Line]]) -> str:
    """All boards as a part of a page."""
    out = [
        "## Who is the guard?",
        "Log loss in nats, lower is better; 95 % intervals over hands. Only predictors that were "
        "asked about the same decisions of the same data stand in one table.",
    ]
    for board, lines in found.items():
        out.append(f"### {board.heading}")
        for some in tables(lines):
            out += [f"{_size(some).capitalize()}:", markdown_table(_rows(board, some))]
    return "\n\n".join(out) + "\n"
