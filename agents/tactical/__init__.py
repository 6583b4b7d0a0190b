"""``tactical``: a strong player by hand-written rules."""

from lupai.agents.tactical.agent import TacticalAgent
from lupai.agents.tactical.beliefs import Belief, grounded, heuristic
from lupai.agents.tactical.weights import Weights

__all__ = ["Belief", "TacticalAgent", "Weights", "grounded", "heuristic"]
