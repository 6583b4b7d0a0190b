"""Which deals are for what: fixed by a hash of the deal, whoever plays it and however often.

A deal is always in the same split, in every data set of every population and preset, so that what
was trained on one may be tested on another.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

__all__ = ["SPLITS", "deal_hash", "one_of", "split_of"]

# Share of the deals in percent. `private` is for who runs a leaderboard: nothing in lupai reads it
# unless it is asked for by name.
SPLITS: Final = {"train": 70, "dev": 10, "test": 10, "private": 10}
_SALT: Final = "lupai-belief/1"


def deal_hash(record: dict[str, Any]) -> str:
    """64 hex digits over the cards of each hand, in no order, and the start seat of a record."""
    hands = "|".join(" ".join(sorted(hand.split(" "))) for hand in record["hands"])
    return hashlib.sha256(f"{_SALT}\n{record['start']}\n{hands}".encode()).hexdigest()


def split_of(deal: str) -> str:
    """Split of a deal by its hash.

    >>> split_of("00" * 32), split_of("ff" * 32)
    ('train', 'private')
    """
    place = int(deal[:16], 16) * 100 >> 64
    for name, share in SPLITS.items():
        if place < share:
            return name
        place -= share
    raise AssertionError("shares are 100 in all")


def one_of(deal: str, count: int) -> int:
    """A number 0 … count - 1 that the deal draws."""
    return int(deal[16:32], 16) % count
