"""``tactical`` in Gouji: a strong player by hand-written rules."""

from lupai.agents.gouji.tactical.agent import TacticalAgent
from lupai.agents.gouji.tactical.weights import Weights

__all__ = ["TacticalAgent", "Weights"]
