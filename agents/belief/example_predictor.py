"""A predictor to copy: what is needed, and nothing more.

``lupai belief score lupai.agents.belief.example_predictor:Suspicious --data DATA`` measures it; a
copy in your folder is ``my_predictor:Suspicious``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import candidates
from lupai.envs.view import Views


class Suspicious:
    """Takes for the guard who has many cards left: he has spared the emperor.

    It reads the table alone. What was played in which order stands in ``view.history`` of each
    view as text, and in ``lupai.agents.belief.hand_views(views).log`` in numbers.
    """

    name = "suspicious"

    def predict(self, views: Views) -> npt.NDArray[np.float64]:
        """``[N, 6] float64``: seats 0 … 4, then nobody; rows sum to 1."""
        likely = candidates(views).astype(np.float64)
        likely[:, :5] *= views.state.sizes
        likely[:, 5] *= 1 + likely.sum(axis=1) / 40
        chances: npt.NDArray[np.float64] = likely / likely.sum(axis=1, keepdims=True)
        return chances
