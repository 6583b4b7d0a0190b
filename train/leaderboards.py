"""Leaderboards: a folder with a small JSON file, an entry, for each result that was added.

Entries are of two kinds. What one holds and how its table is made tells
:mod:`lupai.train.arena.leaderboard` (matches) or :mod:`lupai.train.belief.leaderboard` (beliefs);
how both are kept stands here. Tables are made from all entries anew each time.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from lupai.envs.errors import LupaiError
from lupai.train.files import write_whole

__all__ = [
    "ARENA",
    "BELIEF",
    "LeaderboardError",
    "Named",
    "file_sha256",
    "identity",
    "keep",
    "markdown_table",
    "name_of",
    "read_entries",
    "read_json",
]

ARENA: Final = "lupai-leaderboard/1"  # formats of entries
BELIEF: Final = "lupai-leaderboard-belief/1"
Named = tuple[str, dict[str, Any]]  # an entry, and the name of its file without .json


class LeaderboardError(LupaiError):
    """A folder, entry or result that is none; says where, and what would be right."""


def read_json(file: Path, error: type[LupaiError] = LeaderboardError) -> Any:
    """What a file holds.

    Raises:
        LupaiError: of the class ``error``: no JSON.
    """
    try:
        return json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise error(f"{file}: no JSON") from None


def file_sha256(file: Path) -> str:
    """Hex digest of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def name_of(rules: str, digest: str) -> str:
    """Name of an entry's file: its rules as far as they go, and digits of its result's digest."""
    slug = re.sub(r"[^a-z0-9]+", "-", rules.lower()).strip("-")[:40]
    return f"{slug}-{digest[:12]}"


def identity(name: str, *digests: str | None) -> str:
    """A name with the first digits of what tells those of one name apart, where there is such."""
    told = ", ".join(digest[:8] for digest in digests if digest)
    return f"{name} ({told})" if told else name


def keep(folder: Path, entry: Named) -> Path | None:
    """Write an entry into a folder, which is made if it is not there.

    Returns:
        The new file; None if it was there before.
    """
    name, content = entry
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.json"
    if target.exists():
        return None
    write_whole(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return target


def read_entries(
    folder: Path, error: type[LupaiError] = LeaderboardError
) -> dict[str, list[tuple[Path, dict[str, Any]]]]:
    """Entries of a folder with their files, in the order of their names, by format.

    Raises:
        LupaiError: of the class ``error``: no folder, nothing in it, or a file that is no entry.
    """
    if not folder.is_dir():
        raise error(f"{folder}: no such folder; `lupai leaderboard add` makes it")
    out: dict[str, list[tuple[Path, dict[str, Any]]]] = {ARENA: [], BELIEF: []}
    for file in sorted(folder.glob("*.json")):
        entry = read_json(file, error)
        form = str(entry.get("format")) if isinstance(entry, dict) else ""
        if form not in out:
            raise error(f"{file}: no entry of format {' or '.join(out)}")
        out[form].append((file, entry))
    if not any(out.values()):
        raise error(f"{folder}: no results; `lupai leaderboard add` adds them")
    return out


def markdown_table(rows: Iterable[list[str]], left: int = 2) -> str:
    """Rows as Markdown, the first as heads; the first ``left`` columns but the very first, which
    numbers them, stand left, all others right."""
    head, *body = rows
    rule = ["---:", *["---"] * (left - 1), *["---:"] * (len(head) - left)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in (head, rule, *body)
    )
