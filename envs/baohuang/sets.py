"""Sets (一套牌) of Baohuang: ids, text and beating; see :mod:`lupai.envs.sets`.

A set is ``n`` natural cards of one rank plus ``b`` small and ``r`` big jokers, and ``x`` = 1 when
the 特画 X is in it; at least one card. B beats A iff they have the same number of cards and, both
sorted from high to low, every card of B is strictly higher than the card of A at the same place
(S1: 每一张的点数必须高于). Because naturals of a set are all alike, this has a closed form::

    sizes equal, x_A = 0, x_B >= r_A, r_B + x_B >= r_A + b_A,
    and (n_B = 0, or n_A > 0 and rank_B > rank_A)

(the first ``r_A`` places of A need an X above them, the next ``b_A`` an R or X, and naturals of B
may only meet naturals of A).

Ids of the 5,224 sets without X, ``combo = b * 5 + r``:

* one natural or more: ``rank * 400 + (n - 1) * 25 + combo``, n = 1 … 16: 13 · 16 · 25 = 5,200;
* jokers alone: ``5200 + combo - 1``: 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NATURAL_RANKS, RANK_LETTERS, RANKS
from lupai.envs.errors import NotationError
from lupai.envs.sets import (
    COMBOS,
    MAX_JOKERS,
    MAX_NATURALS,
    ROW_JOKERS,
    check_ranks,
    jokers_beat,
    read_ranks,
)  # fmt: skip

NUM_SETS: Final = NATURAL_RANKS * MAX_NATURALS * COMBOS + COMBOS - 1
X_ALONE: Final = NUM_SETS  # only with the identity flag: the 特画 by itself
MAX_SIZE: Final = MAX_NATURALS + 2 * MAX_JOKERS + 1  # an X may hang on the largest set


@dataclass(frozen=True, order=True)
class CardSet:
    """One set. ``rank`` is 0 … 12, or 13 when ``n`` is 0; ``starred`` = the identity card is in it.

    ``x`` and ``starred`` are never both set: where the identity card is 特画 it is ``x``.
    """

    rank: int
    n: int
    b: int = 0
    r: int = 0
    x: int = 0
    starred: bool = False

    @property
    def size(self) -> int:
        """Number of cards."""
        return self.n + self.b + self.r + self.x

    @property
    def id(self) -> int:
        """Id of the set without X and star; :data:`X_ALONE` for X by itself."""
        return int(
            set_id(np.array(self.rank), np.array(self.n), np.array(self.b), np.array(self.r))
        )


def set_id(
    rank: npt.NDArray[np.integer],
    n: npt.NDArray[np.integer],
    b: npt.NDArray[np.integer],
    r: npt.NDArray[np.integer],
) -> npt.NDArray[np.int64]:
    """Ids of sets given by their parts; no card at all gives :data:`X_ALONE`."""
    combo = b.astype(np.int64) * 5 + r
    alone = NATURAL_RANKS * MAX_NATURALS * COMBOS + (combo + COMBOS - 1) % COMBOS
    natural = rank.astype(np.int64) * (MAX_NATURALS * COMBOS) + (n - 1) * COMBOS + combo
    return np.where(n == 0, alone, natural)


def beats(answer: CardSet, standing: CardSet) -> bool:
    """Whether ``answer`` beats ``standing`` (closed form of the module's docstring)."""
    return (
        answer.size == standing.size
        and standing.x == 0
        and bool(jokers_beat(answer.r, answer.x, standing.b, standing.r))
        and (answer.n == 0 or (standing.n > 0 and answer.rank > standing.rank))
    )


def _parts() -> npt.NDArray[np.int8]:
    table = np.zeros((NUM_SETS + 1, 4), dtype=np.int8)
    rank, n, b, r = np.meshgrid(
        np.arange(NATURAL_RANKS), np.arange(1, MAX_NATURALS + 1), np.arange(5), np.arange(5),
        indexing="ij",
    )  # fmt: skip
    table[: rank.size] = np.stack([rank.ravel(), n.ravel(), b.ravel(), r.ravel()], axis=1)
    combo = np.arange(1, COMBOS)
    table[rank.size : NUM_SETS, 0] = ROW_JOKERS
    table[rank.size : NUM_SETS, 2] = combo // 5
    table[rank.size : NUM_SETS, 3] = combo % 5
    table[X_ALONE] = (ROW_JOKERS, 0, 0, 0)
    table.setflags(write=False)
    return table


# [5225, 4] int8: rank, n, b, r of each id; last row X alone (no card but X).
PARTS: Final = _parts()
SET_SIZE: Final = PARTS[:, 1:].sum(axis=1).astype(np.int8)  # without X


def parse_set(text: str) -> CardSet:
    """Read a set: natural cards, B's, R's, X; ``*`` after the first card of the identity's rank.

    Raises:
        NotationError: unreadable, mixed ranks, wrong order, or too many cards of a kind.
    """

    def fail(why: str) -> NotationError:
        return NotationError(
            f"unreadable set {text!r}: {why}; a set is naturals of one rank, then B's, then R's, "
            f"then X, for example 9, 999BR, BB, 44X, 9*99"
        )

    letters: list[str] = []
    star_at: int | None = None
    for letter in text:
        if letter == "*":
            if star_at is not None or not letters:
                raise fail("a star stands once, behind a card")
            star_at = len(letters) - 1
        else:
            letters.append(letter)
    if not letters:
        raise fail("it has no card")
    order = read_ranks(letters, fail)
    naturals = [rank for rank in order if rank < NATURAL_RANKS]
    if len(set(naturals)) > 1:
        raise fail("two natural ranks do not mix")
    check_ranks(order, fail)
    counts = {c: letters.count(c) for c in "BRX"}
    if star_at is not None:
        if letters[star_at] == "X" or letters.index(letters[star_at]) != star_at:
            raise fail("a star stands behind the first card of its rank, never behind X")
        if counts["X"]:
            raise fail("a set with X has no star")
    return CardSet(
        rank=naturals[0] if naturals else ROW_JOKERS,
        n=len(naturals),
        b=counts["B"],
        r=counts["R"],
        x=counts["X"],
        starred=star_at is not None,
    )


def star_rank(text: str) -> int | None:
    """Rank (0 … 14) that carries the star of a readable set text, or None."""
    place = text.find("*")
    return RANK_LETTERS.index(text[place - 1]) if place > 0 else None


def format_set(cards: CardSet, identity_rank: int | None = None) -> str:
    """Text of a set; a starred one needs the rank 0 … 14 of the identity card.

    >>> format_set(CardSet(rank=6, n=3), None), format_set(CardSet(6, 3, starred=True), 6)
    ('999', '9*99')
    >>> format_set(CardSet(rank=2, n=2, b=2, starred=True), 13)
    '55B*B'
    """
    text = (RANKS[cards.rank] * cards.n if cards.n else "") + "B" * cards.b + "R" * cards.r
    text += "X" * cards.x
    if not cards.starred:
        return text
    letter = RANK_LETTERS[identity_rank] if identity_rank is not None else ""
    if not letter or letter not in text:
        raise ValueError(f"a starred set {text!r} needs the rank of the identity card in it")
    place = text.index(letter) + 1
    return f"{text[:place]}*{text[place:]}"
