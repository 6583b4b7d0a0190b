"""How strong is one agent: :mod:`lupai.train.arena` in its shortest spelling."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, TextIO

from lupai.agents.base import Agent
from lupai.train.arena.run import run_arena

__all__ = ["FORMATS", "evaluate"]

FORMATS: Final = ("seat", "emperor_camp", "rebel_camp")


def evaluate(
    agent: str | os.PathLike[str] | Agent,
    opponents: Sequence[str | Agent] = ("random",),
    *,
    formats: Sequence[str] = FORMATS,
    hands: int = 1000,
    seed: int = 1,
    rules: str = "qingdao",
    progress: TextIO | None = None,
) -> dict[str, Any]:
    """Measure an agent.

    Args:
        agent: name, folder, ``module:Class``, or agent object.
        opponents: the same; one match for each opponent and format.
        formats: see :mod:`lupai.train.arena.plans`.
        hands: at least so many hands in each match.
        seed: of deals and agents.
        rules: rules string.
        progress: where a progress bar goes; ``None``: nowhere.

    Returns:
        JSON values: what was played, and ``matches`` with, among others, ``format``, ``opponent``,
        ``deals``, ``hands``, ``mean`` score per hand and its 95 % interval ``low`` to ``high``; see
        docs/arena.md.

    Raises:
        ArenaError: an unknown format, no hand at all, or a move that is not legal.
    """
    return run_arena(
        [agent], opponents, formats=formats, hands=hands, seed=seed, rules=rules, strict=True,
        progress=progress,
    ).result  # fmt: skip
