"""Trained agents that come with lupai: one folder each, an agent folder with a model card beside.

``lupai/qingdao-v1`` names the folder ``qingdao-v1``. A folder holds ``agent.json`` and
``weights.pt``, ``agent.onnx``, which plays without torch, and ``README.md``;
``tools/ship_agent.py`` writes it. A name is never given to other weights: what is better gets the
next number.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

__all__ = ["PREFIX", "shipped_folder", "shipped_names"]

PREFIX: Final = "lupai/"
CARD_FILE: Final = "agent.json"


def _home() -> Path:
    return Path(str(files("lupai.agents.shipped")))


def shipped_names() -> tuple[str, ...]:
    """Names of the agents that are there, such as ``lupai/qingdao-v1``, in order."""
    return tuple(PREFIX + card.parent.name for card in sorted(_home().glob(f"*/{CARD_FILE}")))


def shipped_folder(name: str) -> Path | None:
    """The folder of an agent; None: there is none of that name."""
    return _home() / name.removeprefix(PREFIX) if name in shipped_names() else None
