"""Cards of the Shandong games: ranks, kinds, decks and their text.

Shared by all games of the suite. A *kind* is what the rules can tell apart (rank and suit; all
small jokers are one kind, all big jokers another); a *code* also tells the two marked jokers
from the others, which matters only in dealt hands.

=======  =============================================================================
number   meaning
=======  =============================================================================
kind     ``rank * 4 + suit`` for the 52 natural cards, 52 = ``B``, 53 = ``R``
code     a kind, or 54 = ``R*`` (皇, the marked big joker), 55 = ``B*`` (保)
rank     0 … 12 = ``3`` … ``2``, 13 = ``B``, 14 = ``R``; 15 = ``X`` (特画) in sets only
=======  =============================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.errors import NotationError

RANKS: Final = "3456789TJQKA2"
SUITS: Final = "shcd"
NATURAL_RANKS: Final = len(RANKS)
RANK_B: Final = 13
RANK_R: Final = 14
RANK_X: Final = 15
NUM_RANKS: Final = 15  # ranks a hand can be counted by; X is a role of a card, not a card
NUM_KINDS: Final = 54
KIND_B: Final = 52
KIND_R: Final = 53
NUM_CODES: Final = 56
CODE_R_MARKED: Final = 54
CODE_B_MARKED: Final = 55

KIND_TEXTS: Final = (*(r + s for r in RANKS for s in SUITS), "B", "R")
CODE_TEXTS: Final = (*KIND_TEXTS, "R*", "B*")
KIND_OF_TEXT: Final = {text: kind for kind, text in enumerate(KIND_TEXTS)}
CODE_OF_TEXT: Final = {text: code for code, text in enumerate(CODE_TEXTS)}

RANK_OF_KIND: Final = np.array([k // 4 for k in range(52)] + [RANK_B, RANK_R], dtype=np.int8)
KIND_OF_CODE: Final = np.array([*range(NUM_KINDS), KIND_R, KIND_B], dtype=np.int8)
RANK_LETTERS: Final = RANKS + "BRX"

KindCounts = npt.NDArray[np.int8]


def parse_kind(text: str) -> int:
    """Kind of a card text without a star.

    Raises:
        NotationError: the text is no card.
    """
    kind = KIND_OF_TEXT.get(text)
    if kind is None:
        raise NotationError(
            f"unreadable card {text!r}: a card is a rank of {RANKS} and a suit of {SUITS} "
            f"(9c, Th), or a joker B or R"
        )
    return kind


def parse_cards(text: str) -> list[tuple[int, bool]]:
    """Read cards separated by one space as ``(kind, starred)`` pairs; an empty text is no card.

    Raises:
        NotationError: a card is unreadable; the message names its place.
    """
    cards: list[tuple[int, bool]] = []
    if not text:
        return cards
    for place, word in enumerate(text.split(" "), 1):
        starred = word.endswith("*")
        try:
            cards.append((parse_kind(word[:-1] if starred else word), starred))
        except NotationError as error:
            raise NotationError(f"card {place} of {shorten(text)!r}: {error}") from None
    return cards


def parse_hand(text: str) -> list[int]:
    """Read a *dealt* hand as card codes; a star marks 皇 (``R*``) or 保 (``B*``) only.

    Raises:
        NotationError: a card is unreadable or a star is on another card.
    """
    codes: list[int] = []
    for place, word in enumerate(text.split(" ") if text else [], 1):
        code = CODE_OF_TEXT.get(word)
        if code is None:
            if word.endswith("*") and word[:-1] in KIND_OF_TEXT:
                raise NotationError(
                    f"card {place} of {shorten(text)!r}: {word!r}: in a dealt hand a star marks "
                    f"R* or B* only"
                )
            parse_kind(word)
        else:
            codes.append(code)
    return codes


def format_hand(codes: Iterable[int]) -> str:
    """Text of card codes in the given order, separated by one space."""
    return " ".join(CODE_TEXTS[code] for code in codes)


def count_ranks(counts: KindCounts) -> KindCounts:
    """``[…, 15] int8`` cards by rank of ``[…, 54]`` cards by kind."""
    by_rank = np.empty((*counts.shape[:-1], NUM_RANKS), np.int8)
    naturals = by_rank[..., :NATURAL_RANKS]
    np.add(counts[..., 0:KIND_B:4], counts[..., 1:KIND_B:4], out=naturals)
    naturals += counts[..., 2:KIND_B:4]
    naturals += counts[..., 3:KIND_B:4]
    by_rank[..., NATURAL_RANKS:] = counts[..., KIND_B:]
    return by_rank


def cards_of_counts(counts: npt.NDArray[np.integer]) -> list[str]:
    """Card texts, ascending by kind, of counts ``[54]``."""
    return [KIND_TEXTS[k] for k in np.repeat(np.arange(NUM_KINDS), np.maximum(counts, 0))]


def shorten(text: str, limit: int = 60) -> str:
    """Cut a text that goes into an error message."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(frozen=True)
class Deck:
    """The cards of a game, as codes in ascending order.

    Attributes:
        codes: every card once per copy, e.g. 216 entries for four packs.
    """

    codes: tuple[int, ...]

    @cached_property
    def array(self) -> npt.NDArray[np.uint8]:
        """``[N] uint8`` codes."""
        return np.array(self.codes, dtype=np.uint8)

    @cached_property
    def counts(self) -> KindCounts:
        """``[54] int8`` copies of each kind, marked jokers counted with their kind."""
        kinds = KIND_OF_CODE[self.array]
        return np.bincount(kinds, minlength=NUM_KINDS).astype(np.int8)

    @cached_property
    def has_marked_b(self) -> bool:
        """Whether one small joker is marked 保."""
        return CODE_B_MARKED in self.codes

    def __len__(self) -> int:
        return len(self.codes)


def make_deck(texts: Sequence[str]) -> Deck:
    """Deck from card texts, ``R*`` and ``B*`` included.

    Raises:
        NotationError: unreadable card, more than four copies, not exactly one ``R*``, or more
            than one ``B*``.
    """
    for text in texts:
        if " " in text:
            raise NotationError(f"{shorten(text)!r}: a deck is a list with one card in each text")
    codes = sorted(parse_hand(" ".join(texts)))
    if codes.count(CODE_R_MARKED) != 1:
        raise NotationError(f"a deck holds exactly one R*, not {codes.count(CODE_R_MARKED)}")
    if codes.count(CODE_B_MARKED) > 1:
        raise NotationError(f"a deck holds at most one B*, not {codes.count(CODE_B_MARKED)}")
    deck = Deck(tuple(codes))
    most = int(deck.counts.argmax())
    if deck.counts[most] > 4:
        raise NotationError(
            f"a deck holds at most 4 copies of a card, "
            f"not {deck.counts[most]} of {KIND_TEXTS[most]}"
        )
    return deck


def weihai_deck() -> Deck:
    """Four packs without 3, 4, 5 and without one 6 each of spades, hearts and diamonds: 165 cards,
    with ``R*`` and ``B*``."""
    texts = [t for t in KIND_TEXTS for _ in range(4) if t[0] not in "345"]
    for six in ("6s", "6h", "6d"):
        texts.remove(six)
    texts[-1] = "R*"
    texts[texts.index("B")] = "B*"
    return make_deck(texts)


def four_packs(*, marked_r: bool = True, marked_b: bool = False) -> Deck:
    """Four full packs, 216 cards, with ``R*`` (unless not wanted) and on request ``B*``."""
    texts = [t for t in KIND_TEXTS for _ in range(4)]
    if not marked_r:
        return Deck(tuple(sorted(parse_hand(" ".join(texts)))))
    texts[-1] = "R*"
    if marked_b:
        texts[texts.index("B")] = "B*"
    return make_deck(texts)
