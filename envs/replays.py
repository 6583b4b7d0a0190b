"""Many recorded hands replayed in step: the tables before each of their moves.

>>> from lupai.envs.baohuang.engine import Engine
>>> records = []  # of load_record
>>> [k for k, _ in Replays(Engine("qingdao"), records)]
[]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import shorten
from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.game import Game
from lupai.envs.reading import Moves
from lupai.envs.seats import NOBODY

__all__ = ["Replays", "read_texts"]

I64 = npt.NDArray[np.int64]
_NONE: Final = NOBODY


def read_texts(
    engine: Game, hands: Sequence[Sequence[str]]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32], npt.NDArray[np.int8], I64]:
    """Moves of H hands, as they are written in records, in numbers.

    Args:
        engine: the rules.
        hands: moves of each hand (``"3 play 9c 9d B"``).

    Returns:
        Seats ``[H, T] int8`` and action ids ``[H, T] int32``, -1 behind the end of a hand; the
        cards ``[P, 54] int8`` of all plays, the first row none; the row of each move in them
        ``[H, T]``.

    Raises:
        RecordError: a move that cannot be read; names hand and move.
    """
    moves, lengths = Moves(engine), np.array([len(hand) for hand in hands], np.int64)
    for number, hand in enumerate(hands):
        try:
            moves.add(list(hand))
        except KeyError as error:
            raise RecordError(f"hand {number}: no move: {shorten(str(error))}") from None
    seat, action, row, cards, _ = moves.numbers()
    if (bad := np.flatnonzero(action < 0)).size:
        number = int(np.searchsorted(np.cumsum(lengths), bad[0], side="right"))
        raise RecordError(f"hand {number}: a play of cards that are no set")
    shape = (len(lengths), int(lengths.max(initial=0)))
    there = np.arange(shape[1]) < lengths[:, None]
    seats = np.full(shape, _NONE, np.int8)
    actions, rows = np.full(shape, _NONE, np.int32), np.zeros(shape, np.int64)
    seats[there], actions[there], rows[there] = seat, action, row
    return seats, actions, cards, rows


class Replays:
    """Records of one set of rules, replayed side by side.

    Iterating gives ``(k, on)`` for k = 0, 1, …: :attr:`state` is before move k of the hands ``on``.

    Attributes:
        engine: the rules.
        records: H records of :func:`~lupai.envs.records.load_record`.
        state: H tables. WARNING, god's eye.
        seats, actions: moves ``[H, T]``, as from :func:`read_texts`.
        lengths: ``[H]`` number of moves.

    Raises:
        RecordError: a deal or move that cannot be; names the hand by its place in ``records``.
    """

    def __init__(self, engine: Game, records: Sequence[dict[str, Any]]) -> None:
        self.engine, self.records = engine, list(records)
        mine = engine.rules.differing()
        for number, record in enumerate(self.records):
            if record["rules"] != mine:
                raise RecordError(
                    f"hand {number}: of rules {record['rules']}, not of {str(engine.rules)!r}"
                )
        self.lengths = np.array([len(record["moves"]) for record in self.records], np.int64)
        self.seats, self.actions, self._cards, self._rows = read_texts(
            engine, [record["moves"] for record in self.records]
        )
        deals = []
        for number, record in enumerate(self.records):
            try:
                deals.append(engine.parse_deal(record["hands"], record["start"]))
            except LupaiError as error:
                raise RecordError(f"hand {number}: {error}") from None
        if deals:
            starts = np.array([record["start"] for record in self.records])
            self.state: Any = engine.reset_deals(np.array(deals), starts)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[tuple[int, I64]]:
        for k in range(int(self.lengths.max(initial=0))):
            on = np.flatnonzero(self.lengths > k)
            yield k, on
            self._step(k, on)

    def _step(self, k: int, on: I64) -> None:
        actions, cards = self.actions[on, k], self._cards[self._rows[on, k]]
        legal = self.engine.legal(self.state, on)
        good = (self.state.actor[on] == self.seats[on, k]) & legal.contains(actions)
        good &= self.engine.holds(self.state, actions, on, cards)
        if not good.all():
            hand = int(on[~good][0])
            move = shorten(self.records[hand]["moves"][k])
            raise RecordError(f"hand {hand}: move {k + 1} {move!r} cannot be; see lupai verify")
        self.engine.step(self.state, actions, on, cards=cards, legal=legal)
