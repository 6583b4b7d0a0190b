"""Slow, plain referees written from the rules pages alone, to compare the engines with.

Nothing here imports the package under test: an oracle that shares code with
the engine would share its mistakes.
"""
