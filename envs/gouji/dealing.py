"""The first leader: who showed the most 3s of one suit first (上班, 顶班), §1."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji.orders import SEATS
from lupai.envs.seats import NOBODY

SUITS: Final = 4
THREES: Final = 16  # the four kinds of rank 3, four copies each

I32 = npt.NDArray[np.int32]


def first_leaders(
    order: npt.NDArray[np.integer], start: npt.NDArray[np.integer]
) -> tuple[I32, I32, I32]:
    """Who leads, by the deal card by card.

    Args:
        order: ``[N, 216]`` card codes in deal order.
        start: ``[N]`` seat of the first card.

    Returns:
        Leader ``[N]``, suit of the 3s that made him so (-1: nobody held two of one suit, and the
        start seat leads), and how many of them he showed.
    """
    rows = np.arange(len(order))
    is_three = order < SUITS
    places = np.argsort(~is_three, axis=1, kind="stable")[:, :THREES]
    kinds = np.take_along_axis(order, places, axis=1).astype(np.intp)
    seats = (start[:, None] + places) % SEATS
    held = np.zeros((len(order), SEATS, SUITS), np.int32)
    leader = start.astype(np.int32)
    suit, most = np.full(len(order), NOBODY, np.int32), np.ones(len(order), np.int32)
    for card in range(THREES):
        seat, kind = seats[:, card], kinds[:, card]
        held[rows, seat, kind] += 1
        count = held[rows, seat, kind]
        more = count > most
        leader = np.where(more, seat, leader).astype(np.int32)
        suit = np.where(more, kind, suit).astype(np.int32)
        most = np.where(more, count, most)
    return leader, suit, np.where(suit == NOBODY, 0, most).astype(np.int32)
