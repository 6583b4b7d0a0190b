"""lupai (鲁牌): the Chinese climbing card games Baohuang and Gouji, for learning agents."""

__version__ = "0.1.0"
