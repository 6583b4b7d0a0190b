"""What the engine says and reads as text; the words are in notation.py and render.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lupai.envs.engine import PackedEngine
from lupai.envs.gouji import notation, render
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET
from lupai.envs.gouji.legal import Legal
from lupai.envs.gouji.state import State
from lupai.envs.seats import NOBODY

if TYPE_CHECKING:
    from lupai.envs.view import View

I8 = npt.NDArray[np.int8]


class Texts(PackedEngine[State, Legal]):
    """The engine's methods with text; see :class:`~lupai.envs.gouji.engine.Engine`."""

    actions: Any = ACTIONS

    def legal_texts(self, state: State, table: int, legal: Legal | None = None) -> list[str]:
        """Legal moves of a table as text, in the order of the ``lupai legal`` contract."""
        ids, _ = (legal or self.legal(state, [table])).ids()
        return notation.ordered_texts(ids)

    def move_text(self, state: State, table: int, action: int) -> str:
        """Text of an action of the acting player of a table, sets suit-free."""
        return ACTIONS.text(action)

    def action_of(self, state: State, table: int, text: str) -> int:
        """Action id of a move text.

        Raises:
            NotationError: unreadable.
        """
        return notation.action_of(text)

    def hand_texts(self, state: State, table: int, seat: int) -> list[str]:
        """Cards of a seat, ascending."""
        return notation.hand_texts(state, table, seat)

    def record_move(self, state: State, table: int, action: int) -> tuple[str, str, I8]:
        """A legal move as a record has it and as others see it now (both without the seat), and
        the cards it takes, ``[54] int8``; an answer to the poll about a revolution looks like
        silence until all six are given."""
        text, cards = notation.move_with_cards(state, table, action)
        return text, self.public_text(text), cards

    def public_text(self, text: str) -> str:
        """A record's move text as others see it: an answer to the poll about a revolution is
        silence. (Who revolted is in the state when all have answered.)"""
        return "silent" if text == "revolt" else text

    def stars(
        self, state: State, tables: npt.NDArray[Any], actions: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """``[N]`` of -1: no card has a star."""
        return np.full(len(actions), NOBODY)

    def named_kinds(
        self, state: State, tables: npt.NDArray[Any], actions: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """``[N]`` kind of the card that was just offered, -1 for other moves."""
        offers = (actions >= OFFER) & (actions < SET)
        return np.where(offers, state.offered[tables], NOBODY)

    def sets_of(
        self, cards: npt.NDArray[np.integer], stars: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int64]:
        """Action ids ``[P]`` of played cards ``[P, 54]``; -1 where they make no set, or one has a
        star."""
        return notation.sets_of(cards, stars)

    def read_move(self, state: State, table: int, text: str) -> tuple[int, I8]:
        """Action id and cards ``[54] int8`` of a record's move text (without the seat).

        Raises:
            NotationError: unreadable.
            IllegalMoveError: the cards make no set.
        """
        return notation.read_move(text)

    def holds(
        self, state: State, actions: npt.NDArray[Any], tables: npt.ArrayLike, cards: I8
    ) -> npt.NDArray[np.bool_]:
        """``[N] bool``: whether the very cards ``[N, 54]`` of each ``play`` and ``offer`` are held
        and make it; True for other moves."""
        return notation.hold(state, self._tables(state, tables), actions, cards)

    def explain_illegal(self, state: State, table: int, action: int) -> str:
        """Message for an illegal action: seat, move, table in text, what would be legal."""
        return notation.explain_illegal(state, table, action, self.legal_texts(state, table))

    def render(self, view: View) -> str:
        """The table as a view's seat may see it, as text."""
        return render.render_view(view)

    def render_gods_eye(self, state: State) -> str:
        """WARNING: a table of one with all hands, as text."""
        return render.render_gods_eye(state, str(self.rules))
