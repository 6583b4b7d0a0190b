"""Moves of many tables as text, written while they are played: for records and views' histories."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import KIND_TEXTS
from lupai.envs.game import Game, LegalMoves
from lupai.envs.seats import NOBODY

_FIRST: Final = np.zeros(1, np.intp)


class Log:
    """Plays moves at B tables and keeps them as text.

    Attributes:
        moves: of each table, since its last redeal, as in a record (``"3 play 9c 9d B"``).
        history: the same as everybody saw it, such as a secret call as a call.
    """

    def __init__(self, engine: Game, state: Any) -> None:
        self.engine = engine
        self.state = state
        self.moves: list[list[str]] = [[] for _ in range(len(state))]
        self.history: list[list[str]] = [[] for _ in range(len(state))]

    def step(
        self, actions: npt.NDArray[np.integer], tables: npt.NDArray[np.integer],
        legal: LegalMoves | None = None,
    ) -> None:  # fmt: skip
        """Play one action at each of the tables ``[N]``; see :meth:`Game.step`.

        Raises:
            IllegalMoveError: nothing was played and nothing written.
        """
        state = self.state
        seats = state.actor[tables].astype(np.intp)
        redeals = state.redeals[tables].copy()
        before = state.hands[tables, seats]
        stars = self.engine.stars(state, tables, actions)
        self.engine.step(state, actions, tables, legal=legal)
        named = self.engine.named_kinds(state, tables, actions)
        texts = _texts(self.engine, actions, before - state.hands[tables, seats], stars, named)
        again = state.redeals[tables] != redeals
        for table, seat, text, void in zip(
            tables.tolist(), seats.tolist(), texts, again.tolist(), strict=True
        ):
            if void:  # dealt anew: the record starts anew
                self.moves[table], self.history[table] = [], []
                continue
            self.moves[table].append(f"{seat} {text}")
            self.history[table].append(f"{seat} {self.engine.public_text(text)}")


class TableLog:
    """Plays moves at one table and writes them as text when somebody asks.

    Args:
        engine: the rules.
    """

    def __init__(self, engine: Game) -> None:
        self.engine = engine
        self._moves: list[str] = []
        self._history: list[str] = []
        self._unwritten: list[tuple[int, int, npt.NDArray[np.int8], int, int]] = []

    def step(self, state: Any, action: int, legal: LegalMoves | None = None) -> None:
        """Play an action of the acting seat of a table of one; see :meth:`Game.step`.

        Raises:
            IllegalMoveError: nothing was played and nothing written.
        """
        seat, redeals = state.actor[0], state.redeals[0]
        star = self.engine.stars(state, _FIRST, np.array([action]))[0]
        hand = state.hands[0, seat]
        cards = hand.copy()
        self.engine.step(state, [action], legal=legal)
        if state.redeals[0] != redeals:  # dealt anew: the record starts anew
            self._unwritten, self._moves, self._history = [], [], []
            return
        cards -= hand
        named = self.engine.named_kinds(state, _FIRST, np.array([action]))[0]
        self._unwritten.append((int(seat), action, cards, int(star), int(named)))

    @property
    def moves(self) -> list[str]:
        """Moves since the last redeal, as in a record (``"3 play 9c 9d B"``)."""
        self._write()
        return self._moves

    @property
    def history(self) -> list[str]:
        """The same as everybody saw it, such as a secret call as a call."""
        self._write()
        return self._history

    def _write(self) -> None:
        if not self._unwritten:
            return
        seats, actions, cards, *kinds = zip(*self._unwritten, strict=True)
        self._unwritten = []
        stars, named = (np.array(some) for some in kinds)
        texts = _texts(self.engine, np.array(actions), np.stack(cards), stars, named)
        for seat, text in zip(seats, texts, strict=True):
            self._moves.append(f"{seat} {text}")
            self._history.append(f"{seat} {self.engine.public_text(text)}")


def _texts(
    engine: Game,
    actions: npt.NDArray[np.integer],
    cards: npt.NDArray[np.int8],
    stars: npt.NDArray[np.integer],
    named: npt.NDArray[np.integer],
) -> list[str]:
    """Record texts of N moves, from the cards ``[N, 54]`` that left each hand, the kinds ``[N]``
    that carry a star, and those that stand behind a word, each -1 for none."""
    said, first = engine.actions.words, engine.actions.sets_from
    words: list[list[str]] = [[] for _ in range(len(actions))]
    rows, kinds = np.nonzero(np.where((actions >= first)[:, None], cards, 0))
    copies = cards[rows, kinds]
    for row, kind, count in zip(rows.tolist(), kinds.tolist(), copies.tolist(), strict=True):
        words[row] += [KIND_TEXTS[kind]] * count
    for row in np.flatnonzero(stars != NOBODY).tolist():
        words[row][words[row].index(KIND_TEXTS[int(stars[row])])] += "*"
    texts = [
        said[action] if action < first else "play " + " ".join(words[row])
        for row, action in enumerate(actions.tolist())
    ]
    for row in np.flatnonzero(named != NOBODY).tolist():
        texts[row] = f"{texts[row].partition(' ')[0]} {KIND_TEXTS[int(named[row])]}"
    return texts
