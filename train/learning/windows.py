"""Means over many iterations: one holds few hands."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["Window", "Windows"]

HANDS: Final = 1000
GUESSES: Final = 1000  # of who is guard


class Window:
    """Sums over the latest iterations that hold ``least`` things together, or over all so far.

    Args:
        least: things; the oldest iteration goes when the others hold as many.
    """

    def __init__(self, least: int) -> None:
        self.least = least
        self._rows: deque[tuple[int, dict[str, float]]] = deque()

    def add(self, things: int, sums: Mapping[str, float]) -> None:
        """Take an iteration in; one without things is left out."""
        if things > 0:
            self._rows.append((things, dict(sums)))
        there = sum(number for number, _ in self._rows)
        while self._rows and there - self._rows[0][0] >= self.least:
            there -= self._rows.popleft()[0]

    def mean(self, name: str, number: str | None = None) -> float | None:
        """Sum ``name`` divided by the sum ``number``, or by the things; None for 0 / 0."""
        below = sum(n if number is None else sums.get(number, 0.0) for n, sums in self._rows)
        return sum(sums.get(name, 0.0) for _, sums in self._rows) / below if below else None

    def names(self, prefix: str) -> set[str]:
        """What follows ``prefix`` in the names of sums that are there."""
        found = {name for _, sums in self._rows for name in sums if name.startswith(prefix)}
        return {name.removeprefix(prefix) for name in found}

    def state(self) -> list[Any]:
        """JSON values that :meth:`restore` takes."""
        return [[number, sums] for number, sums in self._rows]

    def restore(self, state: list[Any]) -> None:
        """Go on from :meth:`state`."""
        rows = [(int(number), {str(k): float(v) for k, v in s.items()}) for number, s in state]
        self._rows = deque(rows)


class Windows:
    """The windows of a run, a part of its checkpoints: a resumed run shows the same curves.

    Attributes:
        taught: whether an imitated agent played the latest hands.
    """

    def __init__(self) -> None:
        self.hands, self.guesses = Window(HANDS), Window(GUESSES)
        self.taught = False

    def forget_hands(self) -> None:
        """Begin anew with them: somebody else plays from now on."""
        self.hands = Window(HANDS)

    def add_hands(self, hands: int, sums: Mapping[str, float]) -> dict[str, float]:
        """Take the hands of an iteration in; means over the latest ones, by their names in
        ``metrics.jsonl``.

        Args:
            hands: how many ended.
            sums: ``decisions`` and, of a game that has such hands, ``solo`` over them,
                ``points/ROLE`` and ``seats/ROLE`` over the learner's seats.
        """
        self.hands.add(hands, sums)
        row = {
            "play/decisions_per_hand": self.hands.mean("decisions"),
        }
        if self.hands.names("solo"):  # a game may have none
            row["play/solo_share"] = self.hands.mean("solo")
        for role in sorted(self.hands.names("seats/")):
            row[f"score/{role}"] = self.hands.mean(f"points/{role}", f"seats/{role}")
        return {name: mean for name, mean in row.items() if mean is not None}

    def save(self, folder: Path) -> dict[str, Any]:
        """State for ``trainer.json``."""
        return {
            "hands": self.hands.state(),
            "guesses": self.guesses.state(),
            "taught": self.taught,
        }

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Go on from a checkpoint."""
        self.hands.restore(state["hands"])
        self.guesses.restore(state["guesses"])
        self.taught = bool(state.get("taught", False))  # older checkpoints do not say
