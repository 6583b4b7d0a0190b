"""How strong is one agent: :mod:`lupai.train.arena` in its shortest spelling."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TextIO

from lupai.agents.base import Agent
from lupai.train.arena.games import DEFAULT, arena_game
from lupai.train.arena.run import run_arena

__all__ = ["default_formats", "evaluate"]


def default_formats(game: str) -> tuple[str, ...]:
    """Formats that an agent is measured in: one seat, and each of the camps."""
    return ("seat", *arena_game(game).camps.halves)


def evaluate(
    agent: str | os.PathLike[str] | Agent,
    opponents: Sequence[str | Agent] = ("random",),
    *,
    formats: Sequence[str] | None = None,
    hands: int = 1000,
    seed: int = 1,
    game: str = DEFAULT,
    rules: str | None = None,
    progress: TextIO | None = None,
) -> dict[str, Any]:
    """Measure an agent.

    Args:
        agent: name, folder, ``module:Class``, or agent object.
        opponents: the same; one match for each opponent and format.
        formats: see :mod:`lupai.train.arena.plans`; None: see :func:`default_formats`.
        hands: at least so many hands in each match.
        seed: of deals and agents.
        game, rules: name and rules string; None: the game's default.
        progress: where a progress bar goes; ``None``: nowhere.

    Returns:
        JSON values: what was played, and ``matches`` with, among others, ``format``, ``opponent``,
        ``deals``, ``hands``, ``mean`` score per hand and its 95 % interval ``low`` to ``high``; see
        docs/arena.md.

    Raises:
        ArenaError: an unknown format, no hand at all, or a move that is not legal.
    """
    formats = default_formats(game) if formats is None else formats
    return run_arena(
        [agent], opponents, formats=formats, hands=hands, seed=seed, game=game, rules=rules,
        strict=True, progress=progress,
    ).result  # fmt: skip
