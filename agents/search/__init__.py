"""``search``: looks ahead in worlds that agree with what the player knows."""

from lupai.agents.search.agent import SearchAgent
from lupai.agents.search.options import Options, SearchError

__all__ = ["Options", "SearchAgent", "SearchError"]
