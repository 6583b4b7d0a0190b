"""Errors that a user of lupai can meet; all derive from :class:`LupaiError`.

The message of each says what was wrong, where, why, and what would have been right.
"""

__all__ = [
    "IllegalMoveError",
    "LupaiError",
    "NotationError",
    "RecordError",
    "RulesError",
    "SeedError",
]


class LupaiError(Exception):
    """Base of every error that lupai raises on purpose; the command line prints it in one line."""


class NotationError(LupaiError, ValueError):
    """A text (card, hand, set, move) that cannot be read."""


class IllegalMoveError(LupaiError, ValueError):
    """A readable move that the rules do not allow in this position."""


class RulesError(LupaiError, ValueError):
    """An unknown rule option, a wrong value, or a combination that makes no sense."""


class RecordError(LupaiError, ValueError):
    """A record that is not a possible hand."""


class SeedError(LupaiError, ValueError):
    """A seed outside of 0 … 2**64 - 1."""
