"""lupai (鲁牌): the Chinese climbing card games with a hidden partner, for learning agents."""

__version__ = "0.1.0"
