"""Views of hands as predictors get them: with the whole public history in numbers.

Letters in shapes: ``H`` hands, ``T`` moves of the longest of them, ``N`` views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import BeliefError
from lupai.envs.baohuang.actions import PUBLIC_ID
from lupai.envs.game import Game, Tables
from lupai.envs.replays import read_texts
from lupai.envs.seats import NOBODY
from lupai.envs.view import Histories, Views

__all__ = ["HandViews", "PublicLog", "hand_views"]

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class PublicLog:
    """Public moves of H hands.

    Attributes:
        seats: ``[H, T] int8`` who moved, -1 behind the end.
        actions: ``[H, T] int16`` what: action ids, a secret call as a call, -1 behind the end.
    """

    seats: npt.NDArray[np.int8]
    actions: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.seats)

    @classmethod
    def of_actions(cls, seats: Ints, actions: Ints) -> PublicLog:
        """A log of true moves ``[H, T]``, -1 behind the end of each hand."""
        public = np.where(actions >= 0, PUBLIC_ID[actions], NOBODY)
        return cls(seats.astype(np.int8), public.astype(np.int16))

    @classmethod
    def of_texts(cls, engine: Game, histories: Histories) -> PublicLog:
        """A log of what was written down (:attr:`View.history`).

        Raises:
            RecordError: a move that cannot be read.
        """
        seats, actions, _, _ = read_texts(engine, histories)
        return cls.of_actions(seats, actions)

    def cut(self, lengths: npt.ArrayLike) -> PublicLog:
        """The first ``lengths [H]`` moves of each hand; no more remains in memory."""
        counts = np.asarray(lengths, np.int64)[:, None]
        width = int(counts.max(initial=0))
        there = np.arange(width) < counts
        return PublicLog(
            np.where(there, self.seats[:, :width], np.int8(NOBODY)),
            np.where(there, self.actions[:, :width], np.int16(NOBODY)),
        )


class _Histories(Sequence[Sequence[str]]):
    """Histories of views, cut out of the hands' moves when somebody reads one."""

    def __init__(self, texts: Histories, hand: Ints, counts: Ints) -> None:
        self._texts, self._hand, self._counts = texts, hand, counts

    def __len__(self) -> int:
        return len(self._hand)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        moves = self._texts[int(self._hand[index])][: int(self._counts[index])]
        return [move.removesuffix(" secret") for move in moves]


class HandViews(Views):
    """Views with the public log of their hands.

    A hand's log goes on to its last view in the batch, so that it is read once for all of them;
    view i saw the first ``counts[i]`` moves of it.

    Args:
        engine, state, seats, tables: as for :class:`~lupai.envs.view.Views`.
        hand: ``[N]`` row of the log that belongs to each view.
        log: public moves of the hands.
        texts: the same of each hand as text, for ``view.history``.

    Attributes:
        hand: ``[N]``, log: as given.
    """

    def __init__(
        self,
        engine: Game,
        state: Tables,
        seats: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        *,
        hand: npt.ArrayLike,
        log: PublicLog,
        texts: Histories | None = None,
    ) -> None:
        super().__init__(engine, state, seats, tables)
        self.hand = np.asarray(hand, np.intp)
        self.log = log
        self._texts = texts
        if self.hand.shape != (len(self),):
            raise BeliefError(f"{self.hand.shape} hands for {len(self)} views")
        if texts is not None:
            self.histories = _Histories(texts, self.hand, self.counts)

    @property
    def counts(self) -> Ints:
        """``[N]``: how many moves of its hand each view saw."""
        moves: Ints = self.state.moves.astype(np.int64)
        return moves

    @cached_property
    def grounded(self) -> npt.NDArray[np.float64]:
        """``[N, 6] float64`` chances if all deals that agree with the record are equally likely."""
        engine: Any = self.engine
        chances: npt.NDArray[np.float64] = engine.guard_chances(self.state, self.seats)
        return chances

    def take(self, rows: npt.ArrayLike) -> HandViews:
        """Some of the views; the log stays as it is."""
        index = np.asarray(rows)
        index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.intp)
        some = HandViews(
            self.engine, self.state, self.seats[index], index,
            hand=self.hand[index], log=self.log, texts=self._texts,
        )  # fmt: skip
        if "grounded" in self.__dict__:
            some.__dict__["grounded"] = self.grounded[index]
        return some

    def until(self, count: int) -> HandViews:
        """The views of the first ``count`` moves, with a log that ends where the last of them
        stands: what is said of them may not be different."""
        some = self.take(self.counts <= count)
        lengths = np.zeros(len(self.log), np.int64)
        np.maximum.at(lengths, some.hand, some.counts)
        some.log = self.log.cut(lengths)
        return some


def hand_views(views: Views) -> HandViews:
    """Views with their log: as they are if they have one, else from their histories.

    Raises:
        BeliefError: they have neither.
    """
    if isinstance(views, HandViews):
        return views
    if views.histories is None:
        raise BeliefError(
            "views without histories do not tell what was played; give Views(..., histories=...), "
            "or HandViews"
        )
    log = PublicLog.of_texts(views.engine, views.histories)
    return HandViews(
        views.engine, views.state, views.seats,
        hand=np.arange(len(views)), log=log, texts=views.histories,
    )  # fmt: skip
