"""Players of Gouji by rules of thumb: ``greedy`` and ``tactical``."""
