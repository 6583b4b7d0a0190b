"""Trained predictors as folders: ``belief.json`` and ``weights.npz``, which run no code of anybody.

``belief.json`` says what kind of predictor it is, for which rules, hashes of the action ids and of
its inputs, its settings, the SHA-256 of the weights, and where it came from. The weights are plain
arrays, read without pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import OBSERVERS, BeliefError
from lupai.agents.verified import read_verified
from lupai.envs.baohuang.actions import ACTIONS

__all__ = ["BeliefCard", "by_observer", "layout_hash", "read_folder", "write_folder"]

FORMAT: Final = "lupai-belief/1"
CARD_FILE: Final = "belief.json"
WEIGHTS_FILE: Final = "weights.npz"
KINDS: Final = ("naive_bayes", "gru", "transformer")
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class BeliefCard:
    """What ``belief.json`` says.

    Attributes:
        kind: one of KINDS.
        name: shown in tables.
        rules: rules string that it was trained under.
        inputs: hash of what it reads, from :func:`layout_hash`.
        settings: JSON values of its kind: sizes, temperature.
        provenance: free JSON values: data, seeds, versions.
        weights_sha256: hex digest of the weights that were read beside it; "" before that.
    """

    kind: str
    name: str
    rules: str
    inputs: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    weights_sha256: str = ""


def layout_hash(layout: Any) -> str:
    """16 hex digits over a description of inputs (JSON values)."""
    return hashlib.sha256(json.dumps(layout, ensure_ascii=False).encode()).hexdigest()[:16]


def by_observer(value: Any, name: str, *, positive: bool = False) -> npt.NDArray[np.float64]:
    """``[3]`` numbers of a setting: one for each of OBSERVERS, or one for all.

    Raises:
        BeliefError: it is neither, or one is infinite, negative or, if ``positive``, 0.
    """
    try:
        given = np.asarray(value)
        numbers = np.broadcast_to(given, len(OBSERVERS)).astype(np.float64)
        good = given.dtype.kind in "iuf" and bool(np.isfinite(numbers).all())
    except (TypeError, ValueError):
        good = False
    if not good or (numbers < 0).any() or (positive and not numbers.all()):
        raise BeliefError(
            f"{name} is {value!r}; it should be a number, or one for each of {', '.join(OBSERVERS)}"
        )
    return numbers


def write_folder(folder: str | os.PathLike[str], card: BeliefCard, arrays: Arrays) -> Path:
    """Write a predictor; the folder appears whole or not at all, an old predictor is replaced.

    Raises:
        BeliefError: there is something else of that name.
    """
    target = Path(folder)
    if target.exists() and not (target / CARD_FILE).is_file():
        raise BeliefError(f"{target}: is there and holds no predictor; give another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # numpy's stub takes **kwds for bools
    data = {
        "format": FORMAT,
        "kind": card.kind,
        "name": card.name,
        "rules": card.rules,
        "action_layout": ACTIONS.hash,
        "inputs": card.inputs,
        "settings": dict(card.settings),
        "weights_sha256": hashlib.sha256(buffer.getvalue()).hexdigest(),
        "provenance": dict(card.provenance),
    }
    new = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    old = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    new.mkdir()
    try:
        (new / WEIGHTS_FILE).write_bytes(buffer.getvalue())
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        (new / CARD_FILE).write_text(text, "utf-8")
        if target.exists():
            target.rename(old)
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return target


def read_folder(folder: str | os.PathLike[str], rules: str | None = None) -> tuple[BeliefCard, Any]:
    """Card and weights (:data:`Arrays`) of a predictor.

    Args:
        folder: it, or its ``belief.json``.
        rules: rules string it is wanted for; None: those that it was trained under.

    Raises:
        BeliefError: missing, unreadable, altered, of another version or for other rules; names the
            file, what is wrong and what would be right.
    """
    place = Path(folder)
    place = place.parent if place.name == CARD_FILE else place
    path = place / CARD_FILE
    data = _read_card(path)
    if rules is not None and data["rules"] != rules:
        raise BeliefError(
            f"{path}: trained under rules {data['rules']!r}, needed are {rules!r}; train another "
            f"with `lupai belief train` on hands of those"
        )
    if data["action_layout"] != ACTIONS.hash:
        raise BeliefError(
            f"{path}: action_layout is {data['action_layout']!r}, needed is {ACTIONS.hash!r}; it "
            f"is of another version of lupai: train it again"
        )
    card = BeliefCard(
        data["kind"], data["name"], data["rules"], data["inputs"], data["settings"],
        data["provenance"], data["weights_sha256"],
    )  # fmt: skip
    return card, _read_weights(place / WEIGHTS_FILE, data["weights_sha256"])


def check_inputs(card: BeliefCard, layout: Any, where: str | os.PathLike[str]) -> None:
    """Refuse a predictor that reads other inputs than this version makes.

    Raises:
        BeliefError: so it does.
    """
    if card.inputs != layout_hash(layout):
        raise BeliefError(
            f"{where}: made for inputs {card.inputs}, this version of lupai has "
            f"{layout_hash(layout)}: train it again"
        )


def _read_card(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BeliefError(
            f"{path}: cannot be read ({error.strerror}); a predictor is a folder with {CARD_FILE} "
            f"and {WEIGHTS_FILE}"
        ) from None
    except ValueError as error:
        raise BeliefError(f"{path}: not JSON ({error}); copy the folder again") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise BeliefError(f"{path}: format {found!r} is not known; this version reads {FORMAT!r}")
    for key in ("kind", "name", "rules", "action_layout", "inputs", "weights_sha256"):
        if not isinstance(data.get(key), str):
            raise BeliefError(f"{path}: {key!r} is {data.get(key)!r}; it should be a text")
    for key in ("settings", "provenance"):
        if not isinstance(data.get(key), dict):
            raise BeliefError(f"{path}: {key!r} is {data.get(key)!r}; it should be an object")
    if data["kind"] not in KINDS:
        raise BeliefError(f"{path}: kind {data['kind']!r} is none of {', '.join(KINDS)}")
    return data


def _read_weights(path: Path, sha256: str) -> Arrays:
    content = read_verified(path, sha256, told_by=CARD_FILE, owner="predictor", error=BeliefError)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise BeliefError(f"{path}: no arrays: {error}") from None
    bad = [n for n, a in arrays.items() if a.dtype.kind == "f" and not np.isfinite(a).all()]
    if bad:
        raise BeliefError(f"{path}: {bad[0]} holds infinite or undefined numbers; train it again")
    return arrays
