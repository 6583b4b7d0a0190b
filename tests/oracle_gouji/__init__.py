"""A slow, plain referee of 够级 (Gouji), written from the rules page alone.

It is there to compare the engine with. Nothing here imports the package under
test: an oracle that shares code with the engine would share its mistakes.
README.md lists how the page was read where it leaves room.
"""

from .events import EVENTS
from .hand import Hand
from .options import Options
from .sets import OracleError

__all__ = ["EVENTS", "Hand", "Options", "OracleError"]
