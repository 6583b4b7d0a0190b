"""Decisions of a data set as arrays, for people who train elsewhere: NumPy or Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

import lupai
from lupai.agents.belief.base import BeliefError, candidates
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import NUM_KINDS
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import OBSERVERS, Decisions, decisions_of
from lupai.train.belief.splits import deal_hash
from lupai.train.files import writing_folder

__all__ = ["DECISIONS", "HANDS", "export"]

FORMAT: Final = "lupai-belief-export/1"
DECISIONS: Final = {
    "hand": "int32: row of the hands' file of the same number",
    "number": "int16: of the decision in the hidden part of the hand",
    "moves": "int16: moves of the hand that were made before it; the history is so much of its log",
    "trick": "int16: tricks begun; 0 before play",
    "observer": f"int8: {', '.join(f'{i} {name}' for i, name in enumerate(OBSERVERS))}",
    "seat": "int8: whose view it is; -1 a spectator's",
    "emperor": "int8: seat",
    "actor": "int8: seat that is asked",
    "phase": "int8: number of the phase (docs/environment.md)",
    "called": "int8: kind of the called card, -1 without",
    "sizes": "int8 [5]: cards held by each seat",
    "own": "int8 [54]: the observer's own cards by kind; none for a spectator",
    "played": "int8 [270]: cards played by seat and kind, 5 times 54",
    "candidates": "bool [6]: who comes into question by role and seat",
    "grounded": "float32 [6]: chances if all consistent deals are equally likely",
    "label": "int8: who is guard, a seat; 5: nobody. WARNING: what is to be predicted",
}
HANDS: Final = {
    "deal": "text: hash of the deal",
    "length": "int16: moves in the log",
    "seats": "int8 [T]: who made each move; -1 behind the end",
    "actions": "int16 [T]: public action ids (docs/actions.md); -1 behind the end",
}
_AT_ONCE: Final = 100  # hands of a file


def export(
    data: DataSet,
    split: str,
    folder: Path,
    *,
    form: Literal["npz", "parquet"] = "npz",
    limit: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Write a folder, which appears whole or not at all.

    Args:
        data, split, limit: which hands.
        folder: it may not be there.
        form: of the files.
        progress: called with the number of hands done since the last call.

    Returns:
        What ``columns.json`` says: ``hands``, ``views``, the columns and where they came from.

    Raises:
        BeliefError: the folder is there, no hands, or pyarrow is not installed.
    """
    if folder.exists():
        raise BeliefError(f"{folder}: is there; give a new name")
    if not data.hands(split, limit):
        raise BeliefError(f"{data.folder}: no hands in split {split!r}")
    write = _write_parquet if form == "parquet" else _write_npz
    if form == "parquet":
        _pyarrow()
    engine, hands, views = data.engine(), 0, 0
    with writing_folder(folder) as new:
        new.mkdir()
        for number, records in enumerate(data.records(split, limit, _AT_ONCE)):
            decisions = decisions_of(engine, records)
            rows = decision_columns(decisions)
            write(new / f"decisions-{number:05}.{form}", rows)
            write(new / f"hands-{number:05}.{form}", hand_columns(decisions))
            hands, views = hands + len(records), views + len(rows["hand"])
            if progress is not None:
                progress(len(records))
        about = {
            "format": FORMAT,
            "lupai": lupai.__version__,
            "rules": data.rules,
            "population": data.name,
            "data_sha256": data.sha256,
            "split": split,
            "hands": hands,
            "views": views,
            "decision_columns": DECISIONS,
            "hand_columns": HANDS,
        }
        (new / "columns.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return about


def decision_columns(decisions: Decisions) -> dict[str, npt.NDArray[Any]]:
    """Arrays ``[N, …]`` by the names of DECISIONS: all observers' decisions, hand by hand."""
    parts: list[dict[str, npt.NDArray[Any]]] = []
    for which, observer in enumerate(OBSERVERS):
        rows = decisions.rows(observer)
        views = decisions.views(observer)
        state: Any = views.state
        n = len(rows)
        own = np.zeros((n, state.hands.shape[2]), np.int8)
        seated = np.flatnonzero(views.seats >= 0)
        own[seated] = state.hands[seated, views.seats[seated]]
        parts.append(
            {
                "hand": decisions.hand[rows].astype(np.int32),
                "number": decisions.number[rows].astype(np.int16),
                "moves": views.counts.astype(np.int16),
                "trick": decisions.trick[rows].astype(np.int16),
                "observer": np.full(n, which, np.int8),
                "seat": np.asarray(views.seats, np.int8),
                "emperor": state.emperor.astype(np.int8),
                "actor": state.actor.astype(np.int8),
                "phase": state.phase.astype(np.int8),
                "called": state.identity_kind.astype(np.int8),
                "sizes": state.sizes,
                "own": own,
                "played": state.played.reshape(n, SEATS * NUM_KINDS),
                "candidates": candidates(views),
                "grounded": views.grounded.astype(np.float32),
                "label": decisions.label[rows].astype(np.int8),
            }
        )
    joined = {name: np.concatenate([part[name] for part in parts]) for name in DECISIONS}
    order = np.lexsort((joined["number"], joined["observer"], joined["hand"]))
    return {name: column[order] for name, column in joined.items()}


def hand_columns(decisions: Decisions) -> dict[str, npt.NDArray[Any]]:
    """Arrays ``[H, …]`` by the names of HANDS."""
    log = decisions.log
    return {
        "deal": np.array([deal_hash(record) for record in decisions.records]),
        "length": (log.seats >= 0).sum(axis=1).astype(np.int16),
        "seats": log.seats,
        "actions": log.actions,
    }


def _write_npz(path: Path, columns: dict[str, npt.NDArray[Any]]) -> None:
    np.savez_compressed(path, **columns)  # type: ignore[arg-type]  # the stub takes **kwds for bools


def _write_parquet(path: Path, columns: dict[str, npt.NDArray[Any]]) -> None:
    arrow, parquet = _pyarrow()
    table = {}
    for name, column in columns.items():
        if column.ndim == 1:
            table[name] = arrow.array(column.tolist() if column.dtype.kind == "U" else column)
        else:
            flat = arrow.array(np.ascontiguousarray(column).reshape(-1))
            table[name] = arrow.FixedSizeListArray.from_arrays(flat, column.shape[1])
    parquet.write_table(arrow.table(table), path)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise BeliefError(
            "parquet needs pyarrow, which comes with ray: pip install pyarrow; or --format npz"
        ) from None
    return pyarrow, pyarrow.parquet
