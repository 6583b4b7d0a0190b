"""What the value networks of Baohuang see of a table, and scores from chances of places.

They are fitted to hands that ``tactical`` played against itself (``tools/fit_value.py``).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.agents.search.files import F32
from lupai.agents.search.network import Sight
from lupai.envs.baohuang.actions import SET_IDENTITY
from lupai.envs.baohuang.legal import set_of_action
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import EQUAL_SPLIT_FROM, PLACE_VALUE, SOLO_VALUE
from lupai.envs.baohuang.sets import PARTS
from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.cards import NATURAL_RANKS, NUM_RANKS
from lupai.envs.seats import NOBODY, members
from lupai.envs.sets import ROWS

__all__ = ["FEATURES", "LAYOUT", "SIGHT", "expected_scores", "features"]

F64 = npt.NDArray[np.float64]

# what the inputs are, in order: name and width; first for each seat from the asked one on
OF_SEAT: Final = (
    ("cards of each rank / 4", NUM_RANKS),
    ("holds at least 1, 2, 3, 4 of the natural rank", 4 * NATURAL_RANKS),
    ("how many more of the rank than a foe has of a higher one, / 4", NATURAL_RANKS),
    ("the same against all others", NATURAL_RANKS),
    ("holds the rank and no foe can answer it with naturals", NATURAL_RANKS),
    ("ranks held / 8, those that a foe can answer, those that anybody can", 3),
    ("can beat the standing set with naturals, with jokers", 2),
    ("holds the hidden identity card, or 特画", 1),
    ("holds 特画", 1),
    ("cards / 44", 1),
    ("is in", 1),
    ("emperor", 1),
    ("guard", 1),
    ("finishing place", SEATS),
    ("passed", 1),
    ("yielded", 1),
    ("still to be asked", 1),
    ("owns the standing set", 1),
)
OF_TABLE: Final = (
    ("rank of the standing set, jokers alone, none", ROWS + 1),
    ("its naturals, small jokers, big jokers / 4", 3),
    ("it holds 特画", 1),
    ("circle 2", 1),
    ("the guard is public", 1),
    ("solo", len(Solo) - 1),
    ("multiplier / 8", 1),
)
_SEAT_WIDTH: Final = sum(width for _, width in OF_SEAT)
FEATURES: Final = SEATS * _SEAT_WIDTH + sum(width for _, width in OF_TABLE)
LAYOUT: Final = [SEATS, OF_SEAT, OF_TABLE]
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS
_OTHERS: Final = _SEATS[:, None] != _SEATS
_MEMBERS: Final = members(SEATS).astype(np.float32)
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.float32)  # by place 0 … S
_SOLO: Final = np.eye(len(Solo), len(Solo) - 1, k=-1, dtype=np.float32)
_STANDING: Final = np.eye(ROWS + 1, dtype=np.float32)
_QUARTER: Final = np.float32(0.25)


def features(state: State, *, supreme: bool) -> F32:
    """``[N, FEATURES] float32`` of tables in play; seats are counted from the one that is asked.

    Args:
        supreme: the identity card is 特画.
    """
    n = len(state)
    actor = state.actor.astype(np.intp)
    order = _ORDER[actor]
    row = np.arange(n)[:, None]
    out = np.zeros((n, FEATURES), np.float32)
    seat = out[:, : SEATS * _SEAT_WIDTH].reshape(n, SEATS, _SEAT_WIDTH)
    emperor, guard = state.emperor[:, None] == order, state.guard[:, None] == order
    ranks = state.ranks[row, order]
    standing = state.standing.astype(np.int64)
    there = standing != NOBODY
    parts = PARTS[np.where(there, set_of_action(standing), 0)]
    np.multiply(ranks, _QUARTER, out=seat[:, :, :NUM_RANKS])
    at = _hands(seat, ranks, emperor | guard)
    seat[:, :, at : at + 2] = _answers(ranks, parts) & there[:, None, None]
    at += 2
    hides = state.identity_seat[:, None] == order
    for column in (
        hides,
        hides & supreme,
        state.sizes[row, order] * np.float32(1 / 44),
        _MEMBERS[state.alive][row, order],
        emperor,
        guard,
    ):
        seat[:, :, at] = column
        at += 1
    seat[:, :, at : at + SEATS] = _PLACES[state.places[row, order]]
    at += SEATS
    for column in (
        _MEMBERS[state.passed][row, order],
        _MEMBERS[state.yielded][row, order],
        _MEMBERS[state.to_ask][row, order],
        state.owner[:, None] == order,
    ):
        seat[:, :, at] = column
        at += 1
    table = out[:, SEATS * _SEAT_WIDTH :]
    table[:, :15] = _STANDING[np.where(there, parts[:, 0], ROWS)]
    table[:, 15:18] = parts[:, 1:] * there[:, None] * _QUARTER
    table[:, 18] = (standing >= SET_IDENTITY) & supreme
    table[:, 19] = state.circle == 2
    table[:, 20] = state.public
    table[:, 21:24] = _SOLO[state.solo]
    table[:, 24] = state.multiplier * np.float32(0.125)
    return out


def _hands(seat: F32, ranks: npt.NDArray[np.int8], camp: npt.NDArray[np.bool_]) -> int:
    """What hands are worth against each other; the column behind what was filled in."""
    own = ranks[:, :, :NATURAL_RANKS]
    at = NUM_RANKS
    for least in range(1, 5):
        np.greater_equal(own, least, out=seat[:, :, at : at + NATURAL_RANKS])
        at += NATURAL_RANKS
    above = np.zeros_like(own)  # most copies of one higher rank
    np.maximum.accumulate(own[:, :, :0:-1], axis=2, out=above[:, :, -2::-1])
    held = own > 0
    many = []
    for against in (camp[:, :, None] != camp[:, None, :], _OTHERS[None]):
        best = (above[:, None] * against[..., None]).max(axis=2)
        more = own - best
        np.multiply(more, held * _QUARTER, out=seat[:, :, at : at + NATURAL_RANKS])
        at += NATURAL_RANKS
        many.append(held & (more <= 0))
    np.logical_and(held, ~many[0], out=seat[:, :, at : at + NATURAL_RANKS])
    at += NATURAL_RANKS
    for column in (held, *many):
        seat[:, :, at] = column.sum(axis=2) * np.float32(0.125)
        at += 1
    return at


def _answers(ranks: npt.NDArray[np.int8], parts: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """``[N, S, 2]`` whose hand beats a set with naturals alone, and with jokers added (特画 left
    out of account)."""
    rank, n, b, r = (parts[:, i, None] for i in range(4))
    higher = np.arange(NATURAL_RANKS) > rank[..., None]
    most = (ranks[:, :, :NATURAL_RANKS] * higher).max(axis=2)
    small, big = ranks[:, :, NATURAL_RANKS], ranks[:, :, NATURAL_RANKS + 1]
    plain = (b == 0) & (r == 0) & (most >= n)
    hung = (r == 0) & (big >= b) & (most + small + big >= n + b) & (small + big > 0)
    return np.stack([plain, hung], axis=2)


def expected_scores(state: State, chances: F64, rules: Rules) -> F64:
    """Scores ``[N, S]`` from chances of places ``[N, S, S]`` (absolute seat; place 1 … S)."""
    row = np.arange(len(state))
    emperor = state.emperor.astype(np.intp)
    guard = state.guard.astype(np.intp)
    m = state.multiplier.astype(np.float64)
    table = SOLO_VALUE[rules.roles_by][state.solo, 1:]
    alone = (chances[row, emperor] * table).sum(axis=1) * m
    out = np.repeat(-alone[:, None] / 4, SEATS, axis=1)
    out[row, emperor] = alone
    pair = np.flatnonzero(guard != NOBODY)
    if pair.size:
        value = (chances[pair] * PLACE_VALUE[1:]).sum(axis=2)
        i = np.arange(len(pair))
        camp = (value[i, emperor[pair]] + value[i, guard[pair]]) * m[pair]
        equal = m[pair] >= EQUAL_SPLIT_FROM
        out[pair] = -camp[:, None]
        out[pair, emperor[pair]] = np.where(equal, 1.5, 2) * camp
        out[pair, guard[pair]] = np.where(equal, 1.5, 1) * camp
    return out


SIGHT: Final = Sight(
    game="baohuang",
    package="lupai.agents.search",
    seats=SEATS,
    layout=LAYOUT,
    inputs=FEATURES,
    deciding=("deck", "roles_by", "guard_by", "guard_card", "hold_sixes"),
    features=lambda state, rules: features(state, supreme=rules.supreme),
    scores=lambda state, places, _, rules: expected_scores(state, places, rules),
)
