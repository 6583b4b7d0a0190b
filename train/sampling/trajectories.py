"""Decisions as plain columns, from the tables to the learner.

Letters: ``N`` decisions, ``P`` trajectories (what one seat did in one hand, or a piece of it),
``W`` decisions that wait for what follows. A column is any array with one row for each decision; a
new one needs a name in :meth:`Recorder.add` and nothing else here. Its rows may be wider at one
call than at another: narrower ones end with zeros.

Pure numpy, no Ray.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Recorder", "Trajectories", "generalised_advantages"]

Column = npt.NDArray[Any]
Ints = npt.NDArray[np.integer]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

ENDED: Final = -1  # nothing follows


class Trajectories:
    """Trajectories one after another.

    Attributes:
        columns: ``{name: [N + W, ...]}``. The first N rows are decisions to learn from, trajectory
            by trajectory in the order of time; the last W are decisions that follow a trajectory
            and are here for their value only.
        offsets: ``[P + 1] int64``; trajectory ``i`` has the rows ``offsets[i]:offsets[i + 1]``.
        following: ``[P] int64`` row of the decision that follows, or ENDED with the hand.
        hands: ``[P] int64`` number of the hand. seats: ``[P] int8``.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        offsets: I64,
        following: I64,
        hands: I64,
        seats: npt.NDArray[np.int8],
    ) -> None:
        self.columns = dict(columns)
        self.offsets = offsets
        self.following = following
        self.hands = hands
        self.seats = seats

    def __len__(self) -> int:
        """Decisions to learn from."""
        return int(self.offsets[-1])

    def rows_of(self, some: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """``[N] bool`` decisions of the trajectories ``some [P] bool``."""
        return np.repeat(some, np.diff(self.offsets))

    def lasts(self) -> I64:
        """``[P] int64`` row of each trajectory's last decision."""
        return self.offsets[1:] - 1

    def shift(self, values: Column, end: Any = 0) -> Column:
        """``[N, ...]`` the value of each decision's successor.

        Args:
            values: ``[N + W, ...]``.
            end: value after the last decision of an ended hand, or ``[P]`` of them.
        """
        out = np.empty_like(values[: len(self)])
        out[:-1] = values[1 : len(self)]
        ends = np.broadcast_to(np.asarray(end, dtype=values.dtype), self.following.shape)
        goes_on = self.following != ENDED
        out[self.lasts()] = np.where(goes_on, values[self.following], ends)
        return out

    def draw(
        self, some: npt.NDArray[np.bool_], generator: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """``[N] bool`` one decision, drawn at random, of each trajectory that has any of
        ``some [N] bool``."""
        sizes = np.diff(self.offsets)
        keys = np.where(some, generator.random(len(self)), -1.0)
        last = np.lexsort((keys, np.repeat(np.arange(len(sizes)), sizes)))[self.lasts()]
        drawn = np.zeros(len(self), np.bool_)
        drawn[last] = some[last]
        return drawn

    def __getitem__(self, part: slice) -> Trajectories:
        return self.slice(part)

    def slice(self, part: slice, len_lookback_buffer: int | None = None) -> Trajectories:
        """Decisions ``part.start`` to ``part.stop``; a trajectory may be cut.

        RLlib cuts episodes by this name where several learners share a batch.
        """
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("trajectories are cut into stretches, without a step")
        some = np.flatnonzero((self.offsets[:-1] < stop) & (self.offsets[1:] > start))
        first = np.maximum(self.offsets[some], start)
        last = np.minimum(self.offsets[some + 1], stop)
        return self._part(some, first, last, last - first)

    def _part(self, some: I64, first: I64, last: I64, sizes: I64) -> Trajectories:
        """Rows ``first:last`` of the trajectories ``some``."""
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
        after = np.where(last < self.offsets[some + 1], last, self.following[some])
        goes_on = after != ENDED
        following = np.full(len(some), ENDED)
        following[goes_on] = offsets[-1] + np.arange(np.count_nonzero(goes_on))
        rows = np.concatenate([rows, after[goes_on]])
        return Trajectories(
            {name: column[rows] for name, column in self.columns.items()},
            offsets,
            following,
            self.hands[some],
            self.seats[some],
        )

    @classmethod
    def concat(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """All of them; ``parts`` must have the same columns."""
        if len(parts) == 1:
            return parts[0]
        sizes = [len(part) for part in parts]
        done, waiting = 0, sum(sizes)
        offsets, following = [np.zeros(1, np.int64)], []
        for part, size in zip(parts, sizes, strict=True):
            offsets.append(part.offsets[1:] + done)
            goes_on = part.following != ENDED
            following.append(np.where(goes_on, part.following - size + waiting, ENDED))
            done += size
            waiting += len(next(iter(part.columns.values()))) - size
        columns = {}
        for name in parts[0].columns:
            alike = _alike([part.columns[name] for part in parts])
            learned = [column[:size] for column, size in zip(alike, sizes, strict=True)]
            rest = [column[size:] for column, size in zip(alike, sizes, strict=True)]
            columns[name] = np.concatenate([*learned, *rest])
        return cls(
            columns,
            np.concatenate(offsets),
            np.concatenate(following),
            np.concatenate([part.hands for part in parts]),
            np.concatenate([part.seats for part in parts]),
        )


def _alike(columns: Sequence[Column]) -> list[Column]:
    """All as wide as the widest."""
    if columns[0].ndim != 2:
        return list(columns)
    width = max(column.shape[1] for column in columns)
    return [_widened(column, width) for column in columns]


def _widened(column: Column, width: int) -> Column:
    """``[n, width]``; itself where it is so wide."""
    if column.shape[1] == width:
        return column
    out = np.zeros((len(column), width), column.dtype)
    out[:, : column.shape[1]] = column
    return out


class Recorder:
    """Takes decisions in the order in which tables ask for them, gives them back by seat.

    A seat's last decision of a hand that goes on waits here for the next call, so that every
    decision is given back once.
    """

    def __init__(self) -> None:
        self._store: dict[str, Column] = {}  # reused: fresh memory costs more than the copying
        self._waiting: dict[str, Column] = {}
        self._used = 0

    @property
    def waiting(self) -> int:
        """Decisions that wait for what follows."""
        return len(self._waiting["hand"]) if self._waiting else 0

    def begin(self, decisions: int) -> None:
        """Get ready for so many decisions beside those that wait."""
        size = decisions + self.waiting
        for name, column in self._store.items():
            if len(column) < size:
                self._store[name] = np.empty((size, *column.shape[1:]), column.dtype)
        self._size = size
        self._used = 0
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            self.add(**waiting)

    def add(self, *, hand: Column, seat: Column, **columns: Column) -> None:
        """Store ``n`` decisions, one each of different seats or hands.

        Args:
            hand: ``[n] int`` number of the hand, never used for another one.
            seat: ``[n] int``.
            columns: ``[n, ...]`` what belongs to each; the same names at every call.

        Raises:
            ValueError: a column is missing, or was not there before.
        """
        start, stop = self._used, self._used + len(hand)
        given = {"hand": hand, "seat": seat, **columns}
        if self._store and given.keys() != self._store.keys():
            raise ValueError(
                f"decisions with the columns {sorted(given)}; the ones before had "
                f"{sorted(self._store)}"
            )
        for name, values in given.items():
            store = self._store.get(name)
            if store is None:
                store = np.empty((self._size, *values.shape[1:]), values.dtype)
                self._store[name] = store
            if values.ndim == 2 and (width := values.shape[1]) != store.shape[1]:
                if width > store.shape[1]:
                    self._store[name] = store = _widened(store, width)
                store[start:stop, width:] = 0
                store = store[:, :width]
            store[start:stop] = values
        self._used = stop

    def finish(self, ended: Ints, open_: int = 0) -> Trajectories:
        """Everything since :meth:`begin`, waiting decisions of before first.

        Args:
            ended: numbers of the hands that ended. Their seats' last decisions are learned; of the
                others the last ones wait.
            open_: so many of the decisions added last are still to be made. They only complete the
                ones before and must be added again when they are made.
        """
        hand, seat = self._store["hand"][: self._used], self._store["seat"][: self._used]
        key = hand.astype(np.int64) * 8 + seat
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        sizes = np.diff(begins, append=len(key))
        last = begins + sizes - 1
        hands, seats = key[begins] >> 3, (key[begins] & 7).astype(np.int8)
        waits = ~np.isin(hands, ended)
        kept = order[last[waits]]
        kept = kept[kept < self._used - open_]
        self._waiting = {name: column[kept] for name, column in self._store.items()}
        learned = np.ones(len(key), bool)
        learned[last[waits]] = False
        sizes = sizes - waits
        some = sizes > 0
        follows = waits & some
        decisions = np.count_nonzero(learned)
        following = np.full(len(begins), ENDED)
        following[follows] = decisions + np.arange(np.count_nonzero(follows))
        rows = np.concatenate([order[learned], order[last[follows]]])
        return Trajectories(
            {
                name: column[rows]
                for name, column in self._store.items()
                if name not in ("hand", "seat")
            },
            np.concatenate([[0], np.cumsum(sizes[some])]),
            following[some],
            hands[some],
            seats[some],
        )


def generalised_advantages(
    data: Trajectories, values: Column, gamma: float, lambda_: float
) -> tuple[F64, F64]:
    """Generalised advantage estimation.

    Args:
        data: with a column ``rewards``.
        values: ``[N + W]`` of all rows.
        gamma: discount. lambda_: of the estimator.

    Returns:
        ``(advantages [N], value targets [N])``, float64.
    """
    values = values.astype(np.float64)
    count = len(data)
    advantages = data.columns["rewards"][:count] + gamma * data.shift(values) - values[:count]
    # From the last decision of all trajectories backwards; longer ones are left over in the end.
    sizes = np.diff(data.offsets)
    row, left = data.lasts() - 1, sizes - 1
    while True:
        more = left > 0
        row, left = row[more], left[more]
        if not len(row):
            return advantages, advantages + values[:count]
        advantages[row] += gamma * lambda_ * advantages[row + 1]
        row, left = row - 1, left - 1
