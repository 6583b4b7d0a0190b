"""Properties are checked without a time limit: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("lupai", deadline=None)
settings.load_profile("lupai")
