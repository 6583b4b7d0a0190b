"""Action ids of Gouji. Blocks, in this order:

=====  =====  =====================================================================================
block  ids    move
=====  =====  =====================================================================================
verb       7  one id for each move that is a word: pass, yield, silent, revolt, waive, take, refuse
offer     15  ``offer K``: a card returned for tribute (还贡), by rank 3 … A, 2, B, R
set    82024  ``play s``, s a set, by its place in :mod:`lupai.envs.gouji.sets`
=====  =====  =====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ActionLayout
from lupai.envs.cards import NUM_RANKS, RANK_B, RANK_R, RANKS, shorten
from lupai.envs.errors import NotationError
from lupai.envs.gouji.sets import DEAD, IS_GOUJI, NUM_SETS, PARTS, ROW_TWOS, SIZE, GoujiSet
from lupai.envs.sets import ROW_JOKERS

VERBS: Final = ("pass", "yield", "silent", "revolt", "waive", "take", "refuse")
VERB_ID: Final = {verb: i for i, verb in enumerate(VERBS)}
OFFER_LETTERS: Final = RANKS + "BR"


@dataclass(frozen=True)
class Move:
    """A move by its parts: a verb; ``offer`` with a rank 0 … 14; or ``play`` with a set."""

    verb: str
    rank: int = -1
    cards: GoujiSet | None = None


@dataclass(frozen=True)
class GoujiActions(ActionLayout):
    """Action ids of Gouji."""

    verbs = VERBS
    set_blocks = ("set",)

    def _meaning(self) -> tuple[list[Any], npt.NDArray[Any]]:
        return [VERBS, OFFER_LETTERS], PARTS

    def decode(self, action: int) -> Move:
        """Move of an id.

        Raises:
            NotationError: no such id.
        """
        name, place = self.block_of(int(action))
        if name == "verb":
            return Move(VERBS[place])
        if name == "offer":
            return Move("offer", rank=place)
        return Move("play", cards=GoujiSet.at(place))

    def encode(self, move: Move) -> int:
        """Id of a move."""
        if move.cards is not None:
            return self.offsets["set"] + move.cards.place
        if move.verb == "offer":
            return self.offsets["offer"] + move.rank
        return self.offsets["verb"] + VERB_ID[move.verb]

    def text(self, action: int) -> str:
        """Move of an id in the notation of the records, suit-free.

        Raises:
            NotationError: no such id.
        """
        move = self.decode(action)
        if move.cards is not None:
            return f"play {move.cards.text}"
        if move.verb == "offer":
            return f"offer {OFFER_LETTERS[move.rank]}"
        return move.verb

    def parse(self, text: str) -> Move:
        """Read a move text; the inverse of :meth:`text`.

        Raises:
            NotationError: unreadable; says what a move looks like.
        """
        verb, *rest = text.split(" ")
        if not rest and verb in VERB_ID:
            return Move(verb)
        if verb == "offer" and len(rest) == 1 and len(rest[0]) == 1 and rest[0] in OFFER_LETTERS:
            return Move("offer", rank=OFFER_LETTERS.index(rest[0]))
        if verb == "play" and len(rest) == 1:
            return Move("play", cards=GoujiSet.parse(rest[0]))
        raise NotationError(
            f"unreadable move {shorten(text)!r}: a move is one of {', '.join(VERBS)}, "
            f"'offer RANK' (a rank of {OFFER_LETTERS}) or 'play SET'"
        )

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`features`."""
        return (
            *(f"verb_{v}" for v in VERBS), "offer", "play",
            *(f"rank_{i}" for i in range(NUM_RANKS)), "jokers_only",
            "n", "t", "b", "r", "size", "gouji", "dead",
        )  # fmt: skip

    @cached_property
    def features(self) -> npt.NDArray[np.float32]:
        """``[A, F] float32``: what each id is, one-hots and counts (counts divided by 4).

        A set has the rank of its row, 2s alone that of 2; an offer that of its card.
        """
        column = {name: i for i, name in enumerate(self.feature_names)}
        table = np.zeros((self.size, len(column)), dtype=np.float32)
        verbs, offers = np.arange(len(VERBS)), np.arange(NUM_RANKS)
        table[self.offsets["verb"] + verbs, verbs] = 1
        of_offers = table[self.offsets["offer"] :][:NUM_RANKS]
        of_offers[:, column["offer"]] = 1
        of_offers[offers, column["rank_0"] + offers] = 1
        of_sets = table[self.offsets["set"] :][:NUM_SETS]
        of_sets[:, column["play"]] = 1
        row = PARTS[:, 0].astype(np.intp)
        where = np.where(row == ROW_JOKERS, column["jokers_only"], column["rank_0"] + row)
        of_sets[np.arange(NUM_SETS), where] = 1
        for name, values in zip("ntbr", PARTS.T[1:], strict=True):
            of_sets[:, column[name]] = values / np.float32(4)
        of_sets[:, column["size"]] = SIZE / np.float32(4)
        of_sets[:, column["gouji"]] = IS_GOUJI
        of_sets[:, column["dead"]] = DEAD
        table.setflags(write=False)
        return table

    @cached_property
    def ordinal(self) -> npt.NDArray[np.float32]:
        """``[A] float32``: the rank of what a move names as one number from 0 to 1."""
        out = np.zeros(self.size, np.float32)
        out[self.offsets["offer"] :][:NUM_RANKS] = (np.arange(NUM_RANKS) + 1) / NUM_RANKS
        out[self.offsets["set"] :][:NUM_SETS] = (PARTS[:, 0] + 1) / NUM_RANKS
        out.setflags(write=False)
        return out

    @cached_property
    def cards(self) -> npt.NDArray[np.float32]:
        """``[A, 15] float32``: cards of each rank that a move takes from the hand; attached 2s are
        2s. An offer takes none: the giver may refuse it."""
        out = np.zeros((self.size, NUM_RANKS), np.float32)
        of_sets = out[self.offsets["set"] :][:NUM_SETS]
        row, n, twos, b, r = PARTS.T
        natural = np.flatnonzero(row < ROW_TWOS)
        of_sets[natural, row[natural]] = n[natural]
        of_sets[:, ROW_TWOS], of_sets[:, RANK_B], of_sets[:, RANK_R] = twos, b, r
        out.setflags(write=False)
        return out


ACTIONS: Final = GoujiActions((("verb", len(VERBS)), ("offer", NUM_RANKS), ("set", NUM_SETS)))
OFFER: Final = ACTIONS.offsets["offer"]
SET: Final = ACTIONS.offsets["set"]
