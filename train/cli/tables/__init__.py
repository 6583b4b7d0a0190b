"""The table of each game as a person sees it: what one game says, behind one interface.

A game has two modules here: ``GAME`` with its :class:`GameTable` as ``TABLE``, and ``GAME_words``
with its words.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from lupai.envs.game import Game
from lupai.envs.view import View

if TYPE_CHECKING:
    from lupai.train.cli.words import Words

__all__ = ["GameTable", "table_of"]


class GameTable(Protocol):
    """What a game says of its table, all of it as far as the viewer may know.

    In all methods ``state`` is a table of one, masked where ``me`` is a seat; ``me`` None stands
    for all cards open.
    """

    sizes_public: bool  # else how many cards a seat holds is told as :meth:`sizes` tells the viewer

    def header(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Lines above the seats, the rules first."""

    def roles(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Role or side of each seat."""

    def sizes(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Number of cards of each seat."""

    def marks(self, state: Any, seat: int, words: Words) -> list[str]:
        """What else everybody sees of a seat."""

    def question(self, view: View, words: Words) -> str:
        """What the acting seat, whose view it is, is asked."""

    def beat(self, state: Any, words: Words) -> list[str]:
        """What is to be beaten and what was said so far; public."""

    def result(self, state: Any, info: dict[str, Any], me: int | None, words: Words) -> list[str]:
        """A finished hand from its last state and its outcome."""


def table_of(engine: Game) -> GameTable:
    """The table of an engine's game."""
    table: GameTable = import_module(f"{__name__}.{engine.game}").TABLE
    return table
