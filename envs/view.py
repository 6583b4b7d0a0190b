"""What one seat may know: the views that agents get.

A view holds a masked state (the hidden part is gone, not merely unread), the public history, and
the legal moves if the seat is asked. :class:`Views` is a batch of them; ``views[i]`` is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.game import Game, LegalMoves, Tables
from lupai.envs.seats import NOBODY

Histories = Sequence[Sequence[str]]


class Views:
    """Views of N seats, one at each of N tables.

    Args:
        engine: the rules.
        state: real tables; only what the seats may know is kept.
        seats: ``[N]`` or one seat for all; -1 is a spectator, who sees what is public.
        tables: ``[N]`` table numbers, all when None.
        histories: public events of each of the N tables as text; without them
            :attr:`View.history` is empty, which saves time where nobody reads it.
        legal: legal moves of the N seats where the caller has them already.
    """

    def __init__(
        self,
        engine: Game,
        state: Tables,
        seats: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        histories: Histories | None = None,
        legal: LegalMoves | None = None,
    ) -> None:
        self.engine = engine
        self.state: Any = engine.mask_hidden(state, seats, tables)
        self.seats = np.broadcast_to(np.asarray(seats, dtype=np.intp), (len(self.state),))
        self.histories = histories
        if legal is not None:
            self.legal = legal

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, index: int) -> View:
        history = () if self.histories is None else self.histories[index]
        return View(self.engine, self.state.take([index]), int(self.seats[index]), history)

    def __iter__(self) -> Iterator[View]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def observation(self) -> npt.NDArray[np.int8]:
        """``[N, D] int8``."""
        return self.engine.observe(self.state, self.seats)

    @cached_property
    def legal(self) -> LegalMoves:
        """Legal moves of the N seats; every one of them must be the one that is asked."""
        if (self.state.actor != self.seats).any():
            raise ValueError("legal moves exist for the asked seat only")
        moves: LegalMoves = self.engine.legal(self.state)
        return moves

    def with_hidden(
        self, hands: npt.NDArray[np.int8], marked_b: npt.ArrayLike | None = None
    ) -> Tables:
        """Complete states from guessed hands ``[N, S, 54] int8``; roles follow from the guess.

        Args:
            hands: all hands, the own as it is.
            marked_b: ``[N]`` guessed holder of B*, under rules with marks.

        Raises:
            RecordError: the guess contradicts what a seat knows.
        """
        filled: Tables = self.engine.fill_hidden(self.state, self.seats, hands, marked_b)
        return filled

    def determinize(self, n: int, rng: np.random.Generator) -> Tables:
        """``n`` complete tables for each view, ``[N * n]``, those of a view in a row; see
        :meth:`View.determinize`."""
        drawn: Tables = self.engine.determinize(self.state, self.seats, n, rng)
        return drawn


class View:
    """What one seat may know at one table.

    Attributes:
        engine: the rules.
        state: a table of one without the hidden part.
        seat: whose view it is.
        history: public events, oldest first, as in a record (``"3 play 9c 9d B"``), a secret call
            as a call.
    """

    def __init__(
        self, engine: Game, masked: Tables, seat: int, history: Sequence[str] = ()
    ) -> None:
        self.engine = engine
        self.state: Any = masked
        self.seat = seat
        self.history: tuple[str, ...] = tuple(history)

    @classmethod
    def of(cls, engine: Game, state: Tables, seat: int, history: Sequence[str] = ()) -> View:
        """View of a seat at a real table of one."""
        return cls(engine, engine.mask_hidden(state, seat), seat, history)

    @property
    def rules(self) -> str:
        """The options as one string."""
        return str(self.engine.rules)

    @property
    def phase(self) -> str:
        """Name of the phase."""
        name: str = self.engine.phases[self.state.phase[0]]
        return name

    @property
    def actor(self) -> int | None:
        """Seat that is asked; None when the hand is over."""
        actor = int(self.state.actor[0])
        return None if actor == NOBODY else actor

    @cached_property
    def hand(self) -> list[str]:
        """Own cards, ascending; the still hidden identity card carries a star."""
        return self.engine.hand_texts(self.state, 0, self.seat)

    @cached_property
    def legal_ids(self) -> npt.NDArray[np.int32]:
        """Legal action ids, ascending; empty when another seat is asked."""
        if self.actor != self.seat:
            return np.zeros(0, np.int32)
        moves: LegalMoves = self.engine.legal(self.state)
        return moves.ids()[0]

    @cached_property
    def legal(self) -> list[str]:
        """Legal moves as text, in the order of ``lupai legal``."""
        return self.engine.legal_texts(self.state, 0) if self.actor == self.seat else []

    @cached_property
    def observation(self) -> npt.NDArray[np.int8]:
        """``[D] int8``."""
        row: npt.NDArray[np.int8] = self.engine.observe(self.state, self.seat)[0]
        return row

    def move_of(self, action: int) -> str:
        """Text of an action id."""
        return self.engine.move_text(self.state, 0, action)

    def action_of(self, move: str) -> int:
        """Action id of a move text."""
        return self.engine.action_of(self.state, 0, move)

    def with_hidden(self, hands: npt.NDArray[np.int8], marked_b: int | None = None) -> Tables:
        """A complete table from guessed hands ``[S, 54] int8``; see :meth:`Views.with_hidden`."""
        marked = None if marked_b is None else [marked_b]
        filled: Tables = self.engine.fill_hidden(
            self.state, self.seat, np.asarray(hands)[None], marked
        )
        return filled

    def determinize(self, n: int, rng: np.random.Generator) -> Tables:
        """``n`` complete tables, drawn among all that agree with what the seat knows: every deal
        that is consistent with the record is equally likely. Some seconds for a spectator of a full
        deck after a forced call.

        Raises:
            LupaiError: the record contradicts itself, or it is too much to count or draw.
        """
        drawn: Tables = self.engine.determinize(self.state, self.seat, n, rng)
        return drawn

    def __str__(self) -> str:
        return self.engine.render(self)
