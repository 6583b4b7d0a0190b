"""Hidden hands of any game: taken out of tables, and guesses of them checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import KIND_TEXTS
from lupai.envs.errors import RecordError
from lupai.envs.seats import NOBODY

__all__ = ["check", "check_hands", "hide_hands"]

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[Any]


def hide_hands(state: Any, viewer: Ints) -> None:
    """Empty all hands but those of the viewers ``[B]`` (-1: a spectator), in place."""
    row = np.arange(len(state))
    for name in ("hands", "ranks"):
        hidden = getattr(state, name)
        own = hidden[row, viewer].copy()
        own[viewer == NOBODY] = 0
        hidden[:] = 0
        hidden[row, viewer] = own


def check_hands(masked: Any, viewer: Ints, hands: Any, deck: I8) -> I8:
    """Guessed hands as ``[N, S, 54] int8``, if they fit what every game shows.

    Args:
        masked: N tables without what is hidden.
        viewer: ``[N]`` whose view each is, -1 for a spectator's.
        hands: ``[N, S, 54]`` all hands.
        deck: ``[54]`` copies in the game.

    Raises:
        RecordError: another shape, or a guess that contradicts the own hand, the hand sizes or the
            cards still out; names the table and the seat or card.
    """
    guess: I8 = np.asarray(hands, np.int8)
    if guess.shape != masked.hands.shape:
        raise RecordError(f"hands {guess.shape}, expected {masked.hands.shape}")
    row = np.arange(len(masked))
    check((guess >= 0).all(axis=2), "a negative count in the hand of seat")
    own = (guess[row, viewer] == masked.hands[row, viewer]).all(axis=1) | (viewer == NOBODY)
    check(own[:, None], "the own hand differs from that of seat", viewer[:, None])
    check(guess.sum(axis=2, dtype=np.int64) == masked.sizes, "wrong hand size of seat")
    left = deck - masked.played.sum(axis=1, dtype=np.int8)
    check(guess.sum(axis=1, dtype=np.int8) == left, "wrong number of copies of", KIND_TEXTS)
    return guess


def check(good: Any, what: str, names: Any = None) -> None:
    """Raise for the first False of ``good [N, K]``; ``names`` are those of its columns."""
    wrong = np.argwhere(~good)
    if len(wrong):
        table, column = (int(v) for v in wrong[0])
        if isinstance(names, np.ndarray):
            name = names[table, 0]
        else:
            name = column if names is None else names[column]
        raise RecordError(f"guess for table {table}: {what} {name}")
