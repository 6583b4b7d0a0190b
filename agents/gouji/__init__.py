"""Players of Gouji by rules of thumb: ``greedy`` and ``tactical``."""

from lupai.agents.gouji.greedy import GreedyAgent
from lupai.agents.gouji.tactical import TacticalAgent

__all__ = ["GreedyAgent", "TacticalAgent"]
