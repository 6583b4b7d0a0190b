"""The error of ``search``."""

from lupai.envs.errors import LupaiError


class SearchError(LupaiError):
    """An option of ``search`` that does not exist or cannot have that value, a network file that
    does not fit, or a game that it does not play."""
