"""Pays the decisions of many tables: what stands at a decision, and rewards when more is known.

Pure numpy, no Ray.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.rewards import Rewards
from lupai.train.sampling.trajectories import Column, Trajectories

__all__ = ["REWARDS", "Payroll"]

REWARDS: Final = "rewards"
_CREDIT: Final = "credit"
_PHI: Final = "phi"


class Payroll:
    """Pays by ``rewards`` at B tables whose decisions are stored as columns.

    Args:
        rewards: the kind; its coefficient may be set anew at any time.
        tables: B.
    """

    def __init__(self, rewards: Rewards, tables: int) -> None:
        self.rewards = rewards
        # seats that decided in the running hand
        self._asked = np.zeros((tables, rewards.seats), bool)
        self._ended: list[int] = []
        self._scores: list[npt.NDArray[np.int64]] = []

    def columns(
        self, waiting: Any, seats: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]
    ) -> dict[str, Column]:
        """Columns ``[N]`` of decisions about to be made; once for each.

        Args:
            waiting: N tables. seats: ``[N]`` who decides there.
            rows: ``[N]`` their places among the B.
        """
        credit, phi = self.rewards.at(waiting, seats)
        # What was paid before a seat's first decision is paid with that decision.
        credit = np.where(self._asked[rows, seats], credit, 0)
        self._asked[rows, seats] = True
        return {_CREDIT: credit, _PHI: phi}

    def close(self, table: int, hand: int, scores: npt.NDArray[np.int64]) -> None:
        """The hand of a table has ended with ``scores [S]``."""
        self._asked[table] = False
        self._ended.append(hand)
        self._scores.append(scores)

    @property
    def ended(self) -> npt.NDArray[np.int64]:
        """Numbers of the hands closed since the last :meth:`settle`."""
        return np.array(self._ended, np.int64)

    def settle(self, data: Trajectories) -> None:
        """Put the column of rewards, ``[N + W] float32``, in the place of this class's columns."""
        credit, phi = data.columns.pop(_CREDIT), data.columns.pop(_PHI)
        ended = self.ended
        scores = np.array(self._scores, np.int64).reshape(-1, self.rewards.seats)
        self._ended, self._scores = [], []
        done = np.isin(data.hands, ended)
        order = np.argsort(ended)
        final = np.zeros(len(data.hands), np.int64)
        hand = order[np.searchsorted(ended[order], data.hands[done])]
        final[done] = scores[hand, data.seats[done]]
        count = len(data)
        rewards = np.zeros(len(credit), np.float32)
        rewards[:count] = self.rewards.pay(
            credit[:count], data.shift(credit, final), phi[:count], data.shift(phi)
        )
        data.columns[REWARDS] = rewards
