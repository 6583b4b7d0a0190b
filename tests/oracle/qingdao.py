"""The oracle under its first name: one import for everything that most tests need."""

from .hand import Hand
from .legal import legal_play
from .record import deal_sizes, play_record
from .scores import score
from .sets import OracleError, all_sets, beats, full_deck

__all__ = [
    "Hand",
    "OracleError",
    "all_sets",
    "beats",
    "deal_sizes",
    "full_deck",
    "legal_play",
    "play_record",
    "score",
]
