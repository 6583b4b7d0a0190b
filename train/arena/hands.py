"""What is kept of played hands: a few arrays, in the order of deals and rotations."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.files import write_whole

__all__ = ["FAULTS", "Hands"]

FAULTS: Final = ("illegal", "error", "slow")
EXAMPLES: Final = 3  # faults of an agent that are kept as text
COLUMN: Final = "column_"  # before the names of a game's columns in files


@dataclass
class Hands:
    """H hands of a match; S seats, A agents.

    Attributes:
        deals: ``[H]`` number of the deal in the pack.
        rotations: ``[H]``.
        lineups: ``[H, S]`` number of the agent in each seat.
        scores: ``[H, S]``.
        places: ``[H, S]`` finishing place 1 … S; 0: still held cards at the end.
        columns: ``[H, …]`` by name, what its game keeps besides; attributes too, as in
            ``hands.emperor``.
        decisions, seconds: ``[A]`` number of decisions of each agent, and the time they took.
        faults: ``[A, 3]`` decisions that a fallback had to make, by kind (:data:`FAULTS`).
        examples: first faults as text, by agent's number.
        records: the hands as records, if they were asked for.
    """

    deals: npt.NDArray[np.int32]
    rotations: npt.NDArray[np.int16]
    lineups: npt.NDArray[np.int16]
    scores: npt.NDArray[np.int32]
    places: npt.NDArray[np.int8]
    columns: dict[str, npt.NDArray[Any]]
    decisions: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    faults: npt.NDArray[np.int64]
    examples: dict[str, list[str]] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.deals)

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("columns", {})  # there is none while it is unpickled
        if name not in columns:
            raise AttributeError(f"hands have no {name!r}")
        return columns[name]

    def save(self, path: Path) -> None:
        """Write a file that appears whole or not at all."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, column in arrays.pop("columns").items():
            arrays[COLUMN + name] = column
        for name in ("examples", "records"):
            arrays[name] = np.frombuffer(json.dumps(arrays[name]).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Hands:
        """Read what :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            names = [f.name for f in fields(cls) if f.name != "columns"]
            values: dict[str, Any] = {name: stored[name] for name in names}
            own = [name for name in stored.files if name.startswith(COLUMN)]
            values["columns"] = {name.removeprefix(COLUMN): stored[name] for name in own}
        for name in ("examples", "records"):
            values[name] = json.loads(values[name].tobytes())
        return cls(**values)

    @classmethod
    def join(cls, parts: Sequence[Hands]) -> Hands:
        """All hands of the parts in their order; counts are summed."""
        values: dict[str, Any] = {}
        for name in (f.name for f in fields(cls)):
            each = [getattr(part, name) for part in parts]
            if name in ("decisions", "seconds", "faults"):
                values[name] = np.sum(each, axis=0)
            elif name == "records":
                values[name] = [line for lines in each for line in lines]
            elif name == "columns":
                values[name] = {own: np.concatenate([e[own] for e in each]) for own in each[0]}
            elif name != "examples":
                values[name] = np.concatenate(each)
        examples: dict[str, list[str]] = {}
        values["examples"] = examples
        for part in parts:
            for agent, texts in part.examples.items():
                examples[agent] = (examples.get(agent, []) + texts)[:EXAMPLES]
        return cls(**values)
