"""``search``: looks ahead in worlds that agree with what the player knows."""

from lupai.agents.search.agent import SearchAgent
from lupai.agents.search.errors import SearchError
from lupai.agents.search.options import Options

__all__ = ["Options", "SearchAgent", "SearchError"]
