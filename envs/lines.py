"""Text of every game's tables: lines of at most 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["WIDTH", "wrap_cards"]

WIDTH: Final = 80


def wrap_cards(cards: Sequence[str], indent: str) -> list[str]:
    """Cards on lines of at most 80 columns."""
    lines, line = [], indent
    for card in cards:
        if len(line) + len(card) + 1 > WIDTH:
            lines.append(line)
            line = indent
        line += (" " if line.strip() else "") + card
    return [*lines, line] if line.strip() or not lines else lines
