"""Players: random, by rules, trained.

>>> import lupai.agents
>>> agent = lupai.agents.load("greedy")
>>> agent.name
'greedy'
"""

from lupai.agents.base import Agent
from lupai.agents.registry import load

__all__ = ["Agent", "load"]
