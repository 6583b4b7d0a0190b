"""Moves of records from text to numbers, many at once, as far as text alone tells."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ActionLayout
from lupai.envs.cards import KIND_TEXTS, NUM_KINDS
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]

_SEAT: Final = 1 << 20  # seat * _SEAT + action id; more than any game has ids
_PLAY: Final = _SEAT - 1  # in place of an id: the cards say which set
_CARDS: Final = {
    text + star: 2 * kind + (star == "*")
    for kind, text in enumerate(KIND_TEXTS)
    for star in ("", "*")
}
_PLAYS: Final = {f"{seat} play ": seat * _SEAT + _PLAY for seat in range(10)}


@cache
def _said(actions: ActionLayout) -> dict[str, int]:
    return {
        f"{seat} {word}": seat * _SEAT + action
        for seat in range(10)
        for action, word in enumerate(actions.words)
    }


class Numbers(NamedTuple):
    """N moves in numbers, P of them plays of cards.

    Attributes:
        seats: ``[N] int64``.
        actions: ``[N] int64`` action ids, -1 for cards that make no set.
        rows: ``[N] int64`` row of each move in ``cards`` and ``stars``; 0 for words.
        cards: ``[P + 1, 54] int8``; the first row is none.
        stars: ``[P + 1] int64`` kind of the starred card, -1 for none.
    """

    seats: I64
    actions: I64
    rows: I64
    cards: I8
    stars: I64


class Moves:
    """Collects moves of many records.

    Args:
        engine: says what words there are, and which cards make which set.
    """

    def __init__(self, engine: Game) -> None:
        self.engine = engine
        self._words = _said(engine.actions)
        self._said: list[int] = []
        self._codes: list[int] = []  # numbers in _CARDS of all cards played
        self._lengths: list[int] = [0]  # cards of each play; the first is nobody's

    def add(self, moves: list[str]) -> None:
        """Read the moves of one record.

        Raises:
            KeyError: a move that is written in no usual way; nothing has been added.
        """
        words = self._words
        said, codes, lengths = [], [], []
        for move in moves:
            number = words.get(move)
            if number is None:
                number = _PLAYS[move[:7]]
                cards = [_CARDS[card] for card in move[7:].split(" ")]
                codes += cards
                lengths.append(len(cards))
            said.append(number)
        self._said += said
        self._codes += codes
        self._lengths += lengths

    def numbers(self) -> Numbers:
        """All that was added, in order."""
        sets, stars, cards = self._read_cards()
        seats, actions = np.divmod(np.array(self._said, np.int64), _SEAT)
        plays = actions == _PLAY
        rows = np.where(plays, np.cumsum(plays), 0)
        return Numbers(seats, np.where(plays, sets[rows], actions), rows, cards, stars)

    def _read_cards(self) -> tuple[I64, I64, I8]:
        """Action ids ``[P + 1]`` (-1: no set), stars ``[P + 1]`` and cards ``[P + 1, 54]``."""
        total = len(self._lengths)
        play = np.repeat(np.arange(total), self._lengths)
        kind, starred = np.divmod(np.array(self._codes, dtype=np.int64), 2)
        stars = np.full(total, NOBODY, np.int64)
        marked = starred == 1
        stars[play[marked]] = kind[marked]
        once = np.bincount(play[marked], minlength=total) <= 1
        size = total * NUM_KINDS
        cards = np.bincount(play * NUM_KINDS + kind, minlength=size).reshape(total, NUM_KINDS)
        ids = np.where(once, self.engine.sets_of(cards, stars), NOBODY)
        return ids, stars, np.minimum(cards, 100).astype(np.int8)
