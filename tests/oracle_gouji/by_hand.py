"""Short ways to write scenarios down."""

from .hand import Hand


def play(hand: Hand, moves: str) -> Hand:
    """Make moves like "0 KK, 2 silent, 4 22"; each seat must be the one that is asked."""
    for part in moves.split(", "):
        seat, move = part.split(" ", 1)
        assert hand.question() is not None, f"{part!r}: the hand is over"
        assert hand.question()[0] == int(seat), f"{part!r}: asked is {hand.question()}"  # type: ignore[index]
        hand.play(move)
    return hand


def asked(hand: Hand) -> str:
    """Who is asked next in this set, in order, with the reasons: "2 burn, 3 gouji"."""
    return ", ".join(f"{seat} {reason}" for seat, reason in hand.queue)
