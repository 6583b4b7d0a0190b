"""Agents measured against each other: duplicate deals, rotated seats, honest intervals.

``lupai arena`` and ``lupai evaluate`` are this package; :func:`~lupai.train.arena.run.run_arena` is
the same from Python. docs/arena.md has the formats and what the numbers mean.
"""
