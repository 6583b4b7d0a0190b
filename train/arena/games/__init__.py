"""What the arena has to know of each game; :class:`~.base.ArenaGame` is all that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from lupai.envs.errors import LupaiError
from lupai.train.arena.games.base import ArenaGame

__all__ = ["DEFAULT", "GAMES", "ArenaGame", "arena_game", "game_in", "tag", "title"]

GAMES: Final = ("baohuang", "gouji")
DEFAULT: Final = "baohuang"  # files that name no game are its


@cache
def arena_game(name: str) -> ArenaGame:
    """A game by its name.

    Raises:
        LupaiError: the arena does not know it; says which it knows.
    """
    if name not in GAMES:
        raise LupaiError(f"game {name!r} is unknown to the arena; games: {', '.join(GAMES)}")
    game: ArenaGame = import_module(f"lupai.train.arena.games.{name}").GAME
    return game


def game_in(data: Mapping[str, Any]) -> ArenaGame:
    """The game of a result, a pack or an entry of a leaderboard, from its JSON object."""
    return arena_game(str(data.get("game", DEFAULT)))


def tag(name: str) -> dict[str, str]:
    """What the JSON object of a file of this game says of it; see :data:`DEFAULT`."""
    return {} if name == DEFAULT else {"game": name}


def title(game: str, rules: str) -> str:
    """Rules in headings: of other games than :data:`DEFAULT` with the game's name."""
    return rules if game == DEFAULT else f"{game} {rules}"
