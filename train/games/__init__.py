"""What training has to know of each game; :class:`~.base.TrainingGame` is all that it asks for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from lupai.envs.game import engine_class
from lupai.train.games.base import TrainingGame

__all__ = ["DEFAULT", "TrainingGame", "training_game"]

DEFAULT = "baohuang"  # of configs and functions that name none


@cache
def training_game(name: str) -> TrainingGame:
    """A game by its name.

    Raises:
        RulesError: there is no such game; it tells those that exist.
    """
    engine_class(name)
    game: TrainingGame = import_module(f"lupai.train.games.{name}").GAME
    return game
