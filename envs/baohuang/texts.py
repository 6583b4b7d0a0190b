"""What the engine says and reads as text; the words are in notation.py and render.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang import notation, render
from lupai.envs.baohuang.actions import ACTIONS, SET_IDENTITY, BaohuangActions
from lupai.envs.baohuang.legal import Ints, Legal
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import State
from lupai.envs.engine import PackedEngine
from lupai.envs.seats import NOBODY

if TYPE_CHECKING:
    from lupai.envs.view import View


class Texts(PackedEngine[State, Legal]):
    """The engine's methods with text; see :class:`~lupai.envs.baohuang.engine.Engine`."""

    actions: Final[BaohuangActions] = ACTIONS
    rules: Rules

    def legal_texts(self, state: State, table: int, legal: Legal | None = None) -> list[str]:
        """Legal moves of a table as text, in the order of the ``lupai legal`` contract."""
        ids, _ = (legal or self.legal(state, [table])).ids()
        return notation.texts(state, table, ids, supreme=self.rules.supreme)

    def move_text(self, state: State, table: int, action: int) -> str:
        """Text of an action of the acting player of a table, sets suit-free."""
        return self.actions.text(
            action, notation.identity_rank(state, table), supreme=self.rules.supreme
        )

    def action_of(self, state: State, table: int, text: str) -> int:
        """Action id of a move text for the acting player of a table.

        Raises:
            NotationError: unreadable.
            IllegalMoveError: the star is not on the identity card.
        """
        return notation.action_of(state, table, text, supreme=self.rules.supreme)

    def hand_texts(self, state: State, table: int, seat: int) -> list[str]:
        """Cards of a seat, ascending; the still hidden identity card carries the star."""
        return notation.hand_texts(state, table, seat)

    def record_move(
        self, state: State, table: int, action: int
    ) -> tuple[str, str, npt.NDArray[np.int8]]:
        """A legal move as a record has it and as others see it (both without the seat), and the
        cards it takes, ``[54] int8``."""
        text, cards = notation.move_with_cards(state, table, action, supreme=self.rules.supreme)
        return text, notation.public_text(text), cards

    def read_move(self, state: State, table: int, text: str) -> tuple[int, npt.NDArray[np.int8]]:
        """Action id and cards ``[54] int8`` of a record's move text (without the seat).

        Raises:
            NotationError: unreadable.
            IllegalMoveError: the cards make no set, or the star is on another card.
        """
        return notation.read_move(state, table, text, supreme=self.rules.supreme)

    def public_text(self, text: str) -> str:
        """A record's move text as others see it: a secret call is a call."""
        return notation.public_text(text)

    def stars(self, state: State, tables: Ints, actions: Ints) -> Ints:
        """``[N]`` kind of the card that carries a star in the record, -1 for none: the identity
        card where it is played as such."""
        return np.where(actions >= SET_IDENTITY, state.identity_kind[tables], NOBODY)

    def sets_of(
        self, cards: npt.NDArray[np.integer], stars: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int64]:
        """Action ids ``[P]`` of played cards ``[P, 54]`` with starred kinds ``[P]``, -1 for none;
        -1 where they make no set."""
        return notation.sets_of(cards, stars, supreme=self.rules.supreme)

    def holds(
        self, state: State, actions: Ints, tables: npt.ArrayLike, cards: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.bool_]:
        """``[N] bool``: whether the very cards ``[N, 54]`` of each ``play`` are held and make its
        set; True for other moves."""
        t = self._tables(state, tables)
        return notation.hold(state, t, actions, cards, supreme=self.rules.supreme)

    def explain_illegal(self, state: State, table: int, action: int) -> str:
        """Message for an illegal action: seat, move, table in text, what would be legal."""
        return notation.explain_illegal(
            state, table, action, self.legal_texts(state, table), supreme=self.rules.supreme
        )

    def render(self, view: View) -> str:
        """The table as a view's seat may see it, as text."""
        return render.render_view(view)

    def render_gods_eye(self, state: State) -> str:
        """WARNING: a table of one with all hands and true roles, as text."""
        return render.render_gods_eye(state, str(self.rules))
