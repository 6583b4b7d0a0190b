"""An agent to copy: what is needed, and the two methods that make it fast.

``lupai arena --players lupai.agents.example_agent:LoyalAgent --against greedy`` measures it; a copy
in your folder is ``my_agent:LoyalAgent``.
"""

from __future__ import annotations

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.envs.view import View


class LoyalAgent:
    """Leaves a trick to its own camp, as far as it knows it; else plays like ``greedy``.

    It needs :meth:`act` alone. With ``act_batch(views)`` (action ids of many tables at once, as
    :class:`~lupai.agents.greedy.GreedyAgent` has it) it would be some fifty times faster.
    """

    name = "loyal"
    games = ("baohuang",)  # it asks who is guard; without this line it would sit down anywhere

    def __init__(self) -> None:
        self._greedy = GreedyAgent()

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget and nothing to draw.

        One agent plays many hands at once, so it keeps nothing between two decisions: what
        happened before stands in ``view.history`` and ``view.observation``.
        """

    def act(self, view: View) -> str:
        """One of ``view.legal``."""
        if "pass" in view.legal and self._own_camp_holds(view):
            return "pass"
        return self._greedy.act(view)

    def _own_camp_holds(self, view: View) -> bool:
        """Whether a known partner's set is the one to beat."""
        layout = view.engine.observation_layout
        roles = layout.section(view.observation, "seat_roles")  # [5, 3], seat 0 is me
        owner = np.flatnonzero(layout.section(view.observation, "owner"))
        if not owner.size or owner[0] == 0:
            return False
        theirs, mine = roles[owner[0]], roles[0]
        return bool(theirs.any() and theirs[2] == mine[2])
