"""Players whose moves tell who they are, for the tests of what moves tell."""

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.envs.baohuang.actions import VERB_ID


class Faithful(GreedyAgent):
    """Plays as ``greedy``, but as guard never beats a set of the emperor's."""

    name = "faithful"

    def choose(self, engine, state, legal, rows, lanes):
        """Legal moves."""
        chosen = super().choose(engine, state, legal, rows, lanes)
        spared = (state.owner[rows] == state.emperor[rows]) & (state.owner[rows] >= 0)
        passes = np.full(len(rows), VERB_ID["pass"])
        spared &= (state.guard[rows] == state.actor[rows]) & legal.contains(passes)
        return np.where(spared, passes, chosen)


class Open:
    """Declares at the first question, or plays the identity card as soon as it may."""

    name = "open"

    def __init__(self):
        self._greedy = GreedyAgent()

    def reset(self, seed=None):
        """Nothing to forget."""

    def act(self, view):
        """A legal move."""
        shows = [move for move in view.legal if move == "declare" or "*" in move]
        return shows[0] if shows else self._greedy.act(view)
