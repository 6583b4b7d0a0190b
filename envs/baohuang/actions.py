"""Action ids of Baohuang: one definition that counts, encodes and decodes every move.

The ids are the same under every preset; a preset masks what it lacks. Blocks, in this order:

=============  =====  ==================================================================
block          ids    move
=============  =====  ==================================================================
verb              17  one id for each move that is a word: pass, yield, claim, grab, …
call              54  ``call c``, by card kind
call_open         54  ``call c open`` (明独)
call_secret       54  ``call c secret`` (暗独)
set             5224  ``play s``, s a set without X, see :mod:`lupai.envs.baohuang.sets`
set_identity    5225  the same with the identity card in it (``9*99``; ``99X`` where it is
                      特画), and last X alone
=============  =====  ==================================================================

The identity flag means "the identity card is among the cards": which card that is follows from
the hand, so the text of a starred move needs the rank of the identity card.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ActionLayout
from lupai.envs.baohuang.sets import (
    NUM_SETS,
    PARTS,
    X_ALONE,
    CardSet,
    format_set,
    parse_set,
)  # fmt: skip
from lupai.envs.cards import (
    KIND_TEXTS,
    NUM_KINDS,
    NUM_RANKS,
    RANK_B,
    RANK_OF_KIND,
    RANK_R,
    parse_kind,
    shorten,
)  # fmt: skip
from lupai.envs.errors import NotationError
from lupai.envs.sets import ROW_JOKERS

VERBS: Final = (
    "pass", "yield", "claim", "grab", "decline", "cede", "declare", "silent", "solo", "ti", "niu",
    "keep", "abandon", "accept", "refuse", "oppose", "open",
)  # fmt: skip
VERB_ID: Final = {verb: i for i, verb in enumerate(VERBS)}
CALL_WAYS: Final = ("", "open", "secret")


@dataclass(frozen=True)
class Move:
    """A move by its parts: a verb; ``call`` with kind and way; or ``play`` with a set."""

    verb: str
    kind: int = -1
    way: str = ""
    cards: CardSet | None = None


class BaohuangActions(ActionLayout):
    """What the ids of Baohuang mean."""

    verbs = VERBS
    set_blocks = ("set", "set_identity")

    def _meaning(self) -> tuple[list[Any], npt.NDArray[Any]]:
        return [VERBS, CALL_WAYS, KIND_TEXTS], PARTS

    def decode(self, action: int, *, supreme: bool = False) -> Move:
        """Move of an id; with ``supreme`` the identity flag is the X of 特画, else the star."""
        name, place = self.block_of(int(action))
        if name == "verb":
            return Move(VERBS[place])
        if name.startswith("call"):
            return Move("call", kind=place, way=CALL_WAYS[_CALL_BLOCKS.index(name)])
        rank, n, b, r = (int(v) for v in PARTS[place])
        flagged = name == "set_identity"
        x = int(flagged and (supreme or place == X_ALONE))
        return Move("play", cards=CardSet(rank, n, b, r, x, starred=flagged and not x))

    def encode(self, move: Move) -> int:
        """Id of a move."""
        if move.verb == "call":
            return self.offsets[_CALL_BLOCKS[CALL_WAYS.index(move.way)]] + move.kind
        if move.cards is not None:
            flagged = move.cards.starred or move.cards.x
            return self.offsets["set_identity" if flagged else "set"] + move.cards.id
        return self.offsets["verb"] + VERB_ID[move.verb]

    def text(self, action: int, identity_rank: int | None = None, *, supreme: bool = False) -> str:
        """Move of an id in the notation of the records, sets suit-free.

        Args:
            identity_rank: rank 0 … 14 of the identity card; needed for starred sets only.
        """
        move = self.decode(action, supreme=supreme)
        if move.verb == "call":
            return f"call {KIND_TEXTS[move.kind]} {move.way}".rstrip()
        if move.cards is not None:
            return f"play {format_set(move.cards, identity_rank)}"
        return move.verb

    def parse(self, text: str) -> Move:
        """Read a move text; the inverse of :meth:`text`.

        Raises:
            NotationError: unreadable; says what a move looks like.
        """
        words = text.split(" ")
        if len(words) == 1 and words[0] in VERB_ID:
            return Move(words[0])
        if words[0] == "call" and len(words) in (2, 3):
            if len(words) == 3 and words[2] not in CALL_WAYS[1:]:
                raise NotationError(
                    f"unreadable move {shorten(text)!r}: after the card of a call stands nothing, "
                    f"'open' or 'secret'"
                )
            return Move("call", kind=parse_kind(words[1]), way=words[2] if len(words) == 3 else "")
        if words[0] == "play" and len(words) == 2:
            return Move("play", cards=parse_set(words[1]))
        raise NotationError(
            f"unreadable move {shorten(text)!r}: a move is one of {', '.join(VERBS)}, "
            f"'call CARD [open|secret]' or 'play SET'"
        )

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`features`."""
        return (
            *(f"verb_{v}" for v in VERBS), "call", "call_open", "call_secret", "play",
            *(f"rank_{i}" for i in range(ROW_JOKERS)), "jokers_only",
            "n", "b", "r", "identity", "size",
        )  # fmt: skip

    @cached_property
    def features(self) -> npt.NDArray[np.float32]:
        """``[A, F] float32``: what each id is, one-hots and counts (counts divided by 4)."""
        names = self.feature_names
        table = np.zeros((self.size, len(names)), dtype=np.float32)
        for name, count in self.blocks:
            ids = self.offsets[name] + np.arange(count)
            if name == "verb":
                table[ids, ids] = 1
            elif name in _CALL_BLOCKS:
                table[ids, names.index(name)] = 1
                kind = np.arange(NUM_KINDS)
                natural = kind < 52
                table[ids[natural], names.index("rank_0") + kind[natural] // 4] = 1
                table[ids, names.index("b")] = kind == 52
                table[ids, names.index("r")] = kind == 53
            else:
                parts = PARTS[:count].astype(np.float32)
                table[ids, names.index("play")] = 1
                table[ids, names.index("rank_0") + PARTS[:count, 0]] = 1
                for column, letter in ((1, "n"), (2, "b"), (3, "r")):
                    table[ids, names.index(letter)] = parts[:, column] / 4
                table[ids, names.index("identity")] = name == "set_identity"
                table[ids, names.index("size")] = parts[:, 1:].sum(axis=1) / 4
        table.setflags(write=False)
        return table

    @cached_property
    def ordinal(self) -> npt.NDArray[np.float32]:
        """``[A] float32``: the rank of what a move names as one number from 0 to 1."""
        out = np.zeros(self.size, np.float32)
        for name, count in self.blocks:
            ids = self.offsets[name] + np.arange(count)
            if name in self.set_blocks:
                out[ids] = (PARTS[:count, 0] + 1) / NUM_RANKS
            elif name in _CALL_BLOCKS:
                out[ids] = (RANK_OF_KIND + 1) / NUM_RANKS
        out.setflags(write=False)
        return out

    @cached_property
    def cards(self) -> npt.NDArray[np.float32]:
        """``[A, 15] float32``: cards of each rank that a move takes from the hand, without X."""
        out = np.zeros((self.size, NUM_RANKS), np.float32)
        for name, count in self.blocks:
            if name in self.set_blocks:
                ids = self.offsets[name] + np.arange(count)
                rank, n, b, r = PARTS[:count].T
                natural = rank < ROW_JOKERS
                out[ids[natural], rank[natural]] = n[natural]
                out[ids, RANK_B], out[ids, RANK_R] = b, r
        out.setflags(write=False)
        return out


_CALL_BLOCKS: Final = ("call", "call_open", "call_secret")
ACTIONS: Final = BaohuangActions(
    (
        ("verb", len(VERBS)),
        ("call", NUM_KINDS),
        ("call_open", NUM_KINDS),
        ("call_secret", NUM_KINDS),
        ("set", NUM_SETS),
        ("set_identity", NUM_SETS + 1),
    )
)
CALL: Final = ACTIONS.offsets["call"]
SET: Final = ACTIONS.offsets["set"]
SET_IDENTITY: Final = ACTIONS.offsets["set_identity"]


def _public_ids() -> npt.NDArray[np.int16]:
    ids = np.arange(ACTIONS.size, dtype=np.int16)
    secret = ACTIONS.offsets["call_secret"]
    ids[secret:SET] -= secret - CALL
    return ids


PUBLIC_ID: Final = _public_ids()  # what others see of each action: a secret call is a call
