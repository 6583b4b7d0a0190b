"""Short deals and moves for tests that are worked out by hand."""

from typing import Any

from .hand import Hand
from .sets import parse_cards


def small(*hands: str, start: int = 0, rules: str | dict[str, Any] = "qingdao") -> Hand:
    """A hand of a small deck: five texts of cards."""
    return Hand([parse_cards(text) for text in hands], start, rules)


def play(hand: Hand, *moves: str) -> Hand:
    """Make moves as a record has them; one text may hold several, split at commas."""
    for text in moves:
        for move in text.split(", "):
            hand.apply_record_move(move)
    return hand


def say(seats: str, word: str) -> str:
    """The same word by several seats: say("10", "pass") is "1 pass, 0 pass"."""
    return ", ".join(f"{seat} {word}" for seat in seats)
