"""Gouji (够级), six players in two sides that sit in turn.

Import from :mod:`lupai.envs.gouji.engine`, :mod:`lupai.envs.gouji.rules` and so on.
"""
