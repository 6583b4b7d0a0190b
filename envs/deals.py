"""Deals from a counter-based random stream, for many tables at once.

The stream of a deal is keyed by ``(seed, episode, redeal)`` and nothing else: no generator object
is carried along, table ``i`` of a thousand gets what a single table with its seed gets, and
agents, whose generators are their own, cannot move it.

Definition (fixed for ever; every golden depends on it). All arithmetic is modulo 2**64 and
``mix`` is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
generators", OOPSLA 2014), ``G`` its increment 0x9E3779B97F4A7C15:

* ``hand_seed(seed, 0) = seed``; ``hand_seed(seed, e) = mix(mix(seed + G) + e·G) >> 11`` for e > 0;
* ``key = mix(mix(hand_seed + G) + (redeal + 1)·G)``;
* word ``j`` of the stream is ``mix(key + (j + 1)·G)``; word 0 modulo the number of seats is the
  start seat;
* the deck's card ``j`` is sorted by word ``j + 1`` with its low byte replaced by ``j``; the card
  at place ``p`` of that order goes to seat ``start + p``.

So the hand of a later episode can be dealt again by its own seed, which is what records store.
Hand seeds of later episodes have 53 bits, which every JSON reader keeps exactly.
"""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_CODES, Deck
from lupai.envs.errors import SeedError

GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
MAX_VOIDS: Final = 100  # after so many void deals in one episode the hand ends with scores 0
MAX_DECK: Final = 256  # the low byte of a sort key holds the card's number

U64 = npt.NDArray[np.uint64]


def check_seed(seed: Any) -> int:
    """Seed as an int.

    Raises:
        SeedError: not an integer in 0 … 2**64 - 1.
    """
    try:
        value = operator.index(seed)
    except TypeError:
        value = -1
    if isinstance(seed, bool | np.bool_) or not 0 <= value < 1 << 64:
        raise SeedError(f"seed {seed!r} is not an integer in 0 … 2**64 - 1")
    return value


def seed_array(seeds: Any) -> U64:
    """``[B] uint64`` from one seed or a sequence of seeds, each checked."""
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64 and seeds.ndim == 1:
        return seeds.copy()
    many = np.atleast_1d(np.asarray(seeds, dtype=object))
    return np.array([check_seed(s) for s in many], dtype=np.uint64)


def fresh_seeds(count: int) -> U64:
    """Seeds ``[count]`` from fresh entropy, of 53 bits, so that JSON's numbers hold them."""
    return np.random.SeedSequence().generate_state(count, np.uint64) >> np.uint64(11)


def mix(x: U64) -> U64:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


def hand_seeds(seeds: U64, episodes: npt.NDArray[np.integer]) -> U64:
    """Seed ``[B] uint64`` under which each episode's hand is dealt; episode 0 keeps its seed.

    Raises:
        SeedError: an episode is not an integer from 0 on.
    """
    if episodes.dtype.kind not in "iu" or (episodes < 0).any():
        raise SeedError(f"episodes {episodes.tolist()} are not all integers from 0 on")
    e = episodes.astype(np.uint64)
    later = mix(mix(seeds + GAMMA) + e * GAMMA) >> np.uint64(11)
    return np.where(e == 0, seeds, later)


def deal(
    deck: Deck, seats: int, seeds: U64, redeals: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int8]]:
    """Shuffle and find the start seat.

    Args:
        deck: at most 256 cards.
        seats: number of seats S.
        seeds: ``[B] uint64`` hand seeds.
        redeals: ``[B]`` voids before this deal.

    Returns:
        ``order [B, N] uint8`` card codes in deal order, and ``start [B] int8``.
    """
    if len(deck) > MAX_DECK:
        raise ValueError(f"a deck holds at most {MAX_DECK} cards, not {len(deck)}")
    key = mix(mix(seeds + GAMMA) + (redeals.astype(np.uint64) + np.uint64(1)) * GAMMA)
    counter = np.arange(1, len(deck) + 2, dtype=np.uint64) * GAMMA
    words = mix(key[:, None] + counter)
    start = (words[:, 0] % np.uint64(seats)).astype(np.int8)
    keys = (words[:, 1:] & ~np.uint64(0xFF)) | np.arange(len(deck), dtype=np.uint64)
    keys.sort(axis=1)
    return deck.array[(keys & np.uint64(0xFF)).astype(np.intp)], start


def hand_of_place(seats: int, cards: int, start: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Seat ``[B, cards]`` that gets the card at each place of the deal order."""
    seat = (start[:, None].astype(np.intp) + np.arange(cards)) % seats
    return seat


def code_counts(
    order: npt.NDArray[np.uint8], start: npt.NDArray[np.int8], seats: int
) -> npt.NDArray[np.int8]:
    """Codes held after a deal, ``[B, S, 56] int8``."""
    tables, cards = order.shape
    seat = hand_of_place(seats, cards, start)
    flat = (np.arange(tables)[:, None] * seats + seat) * NUM_CODES + order
    counts = np.bincount(flat.ravel(), minlength=tables * seats * NUM_CODES)
    return counts.reshape(tables, seats, NUM_CODES).astype(np.int8)
