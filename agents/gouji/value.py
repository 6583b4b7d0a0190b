"""What the value network of Gouji sees of a table, and scores from chances of places.

It is fitted to hands that ``tactical`` played against itself (``tools/fit_value.py``).

A side's sum of places follows from the chances of its seats. A sweep (串三户) doubles the sum of a
side that takes the first three places, and seats' own chances do not tell how often they come
together: so the network says the chances of a sweep beside them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.search.files import F32
from lupai.agents.search.network import Sight
from lupai.envs.cards import NATURAL_RANKS, NUM_RANKS, RANK_B, RANK_R
from lupai.envs.gouji.orders import GAP, SEATS
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.scoring import EVEN, SWEEP, VALUES, by_seat, even_sum
from lupai.envs.gouji.sets import GOUJI_FROM, PARTS, ROW_TWOS
from lupai.envs.gouji.state import Kind, State
from lupai.envs.seats import NOBODY, members
from lupai.envs.sets import MAX_NATURALS, ROW_JOKERS, ROWS

__all__ = [
    "FEATURES", "LAYOUT", "OUTCOMES", "SIGHT", "expected_scores", "features", "outcome_of",
]  # fmt: skip

F64 = npt.NDArray[np.float64]

_GOUJI_ROWS: Final = np.flatnonzero(GOUJI_FROM <= MAX_NATURALS)
# what the inputs are, in order: name and width; first for each seat from the asked one on
OF_SEAT: Final = (
    ("cards of each rank / 4", NUM_RANKS),
    ("holds at least 1, 2, 3, 4 of the natural rank", 4 * NATURAL_RANKS),
    ("how many more of the rank than 对头 has of a higher one, / 4", NATURAL_RANKS),
    ("the same against all three foes", NATURAL_RANKS),
    ("the same against 对头, who adds 2s and jokers", NATURAL_RANKS),
    ("the same against all three foes, who add them", NATURAL_RANKS),
    ("holds the rank and 对头 cannot answer it with naturals", NATURAL_RANKS),
    ("the same of all three foes", NATURAL_RANKS),
    ("ranks held / 8, those answered in each of these four ways", 5),
    ("holds a 够级牌 of naturals of the rank", len(_GOUJI_ROWS)),
    ("can beat the standing set with naturals, with 2s added, with jokers added", 3),
    ("has jokers for all its ranks but one", 1),
    ("cards / 36", 1),
    ("at most 2, 5, 10 cards", 3),
    ("is in", 1),
    ("finishing place", SEATS),
    ("passed", 1),
    ("is in the queue", 1),
    ("headless", 1),
    ("owns the standing set", 1),
    ("has burned and goes on so", 1),
    ("has been burned by him", 1),
    ("revolter", 1),
)
OF_TABLE: Final = (
    ("rank of the standing set, jokers alone, none", ROWS + 1),
    ("its naturals and 2s, small jokers, big jokers / 4", 3),
    ("how it may be answered", len(Kind)),
    ("whether it is burned is asked", 1),
    ("last set of 头科, of 二科", 2),
    ("yielded", 1),
    ("四人乱缠", 1),
    ("够死级 left / 4", 1),
)
_SEAT_WIDTH: Final = sum(width for _, width in OF_SEAT)
_ALL_SEATS: Final = SEATS * _SEAT_WIDTH
FEATURES: Final = _ALL_SEATS + sum(width for _, width in OF_TABLE)
LAYOUT: Final = [SEATS, OF_SEAT, OF_TABLE]
OUTCOMES: Final = 3  # 串三户 of the asked seat's side, none, of the other side
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS
_OPPOSITE: Final = (_SEATS + 3) % SEATS
_FOES: Final = (_SEATS[:, None] + np.array([1, 3, 5])) % SEATS
_MEMBERS: Final = members(SEATS).astype(np.float32)
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.float32)  # by place 0 … S
_STANDING: Final = np.eye(ROWS + 1, dtype=np.float32)
_KINDS: Final = np.eye(len(Kind), dtype=np.float32)
_FEW: Final = (2, 5, 10)
_QUARTER: Final = np.float32(0.25)
_NEAR_NONE: Final = 1e-9  # so that chances of what is possible are never all 0


def features(state: State, rules: Rules | None = None) -> F32:
    """``[N, FEATURES] float32`` of tables in play; seats are counted from the one that is asked."""
    n = len(state)
    order = _ORDER[state.actor.astype(np.intp)]
    row = np.arange(n)[:, None]
    out = np.zeros((n, FEATURES), np.float32)
    seat = out[:, :_ALL_SEATS].reshape(n, SEATS, _SEAT_WIDTH)
    ranks = state.ranks[row, order]
    standing = np.asarray(state.standing)
    there = standing != NOBODY
    parts = PARTS[np.where(there, standing, 0)]
    np.multiply(ranks, _QUARTER, out=seat[:, :, :NUM_RANKS])
    at = _hands(seat, ranks)
    seat[:, :, at : at + 3] = _answers(ranks, parts, there)
    at += 3
    jokers = ranks[:, :, RANK_B] + ranks[:, :, RANK_R]
    size = state.sizes[row, order]
    for column in (
        jokers >= (ranks[:, :, :ROW_TWOS] > 0).sum(axis=2) - 1,
        size * np.float32(1 / 36),
        *(size <= few for few in _FEW),
        _MEMBERS[state.alive][row, order],
    ):
        seat[:, :, at] = column
        at += 1
    seat[:, :, at : at + SEATS] = _PLACES[state.places[row, order]]
    at += SEATS
    for column in (
        _MEMBERS[state.passed][row, order],
        _MEMBERS[_queued(state.queue)][row, order],
        _MEMBERS[state.headless][row, order],
        *(np.asarray(who)[:, None] == order
          for who in (state.owner, state.duty, state.burned, state.revolter)),
    ):  # fmt: skip
        seat[:, :, at] = column
        at += 1
    table = out[:, _ALL_SEATS:]
    table[:, :15] = _STANDING[np.where(there, parts[:, 0], ROWS)]
    table[:, 15] = (parts[:, 1] + parts[:, 2]) * there * _QUARTER
    table[:, 16:18] = parts[:, 3:] * there[:, None] * _QUARTER
    table[:, 18:21] = _KINDS[state.kind] * there[:, None]
    columns = (
        state.burning, state.bottom == 1, state.bottom == 2, state.yielded, state.melee,
        state.deaths * _QUARTER,
    )  # fmt: skip
    for i, values in enumerate(columns):
        table[:, 21 + i] = values
    return out


def _hands(seat: F32, ranks: npt.NDArray[np.int8]) -> int:
    """What hands are worth against each other; the column behind what was filled in."""
    own = ranks[:, :, :NATURAL_RANKS]
    at = NUM_RANKS
    for least in range(1, 5):
        np.greater_equal(own, least, out=seat[:, :, at : at + NATURAL_RANKS])
        at += NATURAL_RANKS
    held = own > 0
    below, far = _above(own), _reach(ranks)
    answered = []
    for most in (below[:, _OPPOSITE], below[:, _FOES].max(axis=2),
                 far[:, _OPPOSITE], far[:, _FOES].max(axis=2)):  # fmt: skip
        more = own - most
        np.multiply(more, held * _QUARTER, out=seat[:, :, at : at + NATURAL_RANKS])
        at += NATURAL_RANKS
        answered.append(held & (more <= 0))
    for those in answered[:2]:
        np.logical_and(held, ~those, out=seat[:, :, at : at + NATURAL_RANKS])
        at += NATURAL_RANKS
    for which in (held, *answered):
        seat[:, :, at] = which.sum(axis=2) * np.float32(0.125)
        at += 1
    seat[:, :, at : at + len(_GOUJI_ROWS)] = own[:, :, _GOUJI_ROWS] >= GOUJI_FROM[_GOUJI_ROWS]
    return at + len(_GOUJI_ROWS)


def _above(own: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """``[N, S, 13]`` most copies that a hand has of one rank above each."""
    out = np.zeros_like(own)
    np.maximum.accumulate(own[:, :, :0:-1], axis=2, out=out[:, :, -2::-1])
    return out


def _reach(ranks: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """The same with all 2s attached and all jokers added; jokers alone where it has no rank."""
    own = ranks[:, :, :NATURAL_RANKS]
    twos = ranks[:, :, ROW_TWOS, None]
    padded = np.where(own > 0, own + twos, 0).astype(np.int8)
    padded[:, :, ROW_TWOS] = own[:, :, ROW_TWOS]
    return _above(padded) + (ranks[:, :, RANK_B] + ranks[:, :, RANK_R])[..., None]


def _answers(
    ranks: npt.NDArray[np.int8], parts: npt.NDArray[np.int8], there: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """``[N, S, 3]`` whose hand beats the set with naturals of one rank alone, and with 2s, and
    with jokers too; whether they may is another question."""
    n, seats = ranks.shape[:2]
    row, _, _, b, r = parts.T
    size = parts[:, 1:].sum(axis=1)
    at = np.minimum(row, NATURAL_RANKS - 1)
    one, which = np.arange(n)[:, None], np.arange(seats)
    below = _above(ranks[:, :, :NATURAL_RANKS])[one, which, at[:, None]]
    far = _reach(ranks)[one, which, at[:, None]]
    small, big = ranks[:, :, RANK_B], ranks[:, :, RANK_R]
    bare = (there & (b == 0) & (r == 0))[:, None]
    hung = (there & (r == 0))[:, None] & (big >= b[:, None]) & (small + big > 0)
    against = np.where((row == ROW_JOKERS)[:, None], big, far)  # jokers alone: R's only
    return np.stack(
        [
            bare & (below >= size[:, None]),
            bare & (far - small - big >= size[:, None]),
            hung & (against >= size[:, None]),
        ],
        axis=2,
    )


@lru_cache(maxsize=1)
def _half_queues() -> npt.NDArray[np.int32]:
    """``[512]`` sets of the seats in three places of a queue."""
    code = np.arange(1 << 9)
    digits = code[:, None] >> np.array([0, 3, 6]) & GAP
    bits = np.where(digits < SEATS, 1 << digits, 0).astype(np.int32)
    found: npt.NDArray[np.int32] = np.bitwise_or.reduce(bits, axis=1)
    return found


def _queued(queue: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """``[N]`` seats in queues, as bits."""
    table = _half_queues()
    out: npt.NDArray[np.int32] = table[queue & 511] | table[queue >> 9 & 511]
    return out


def outcome_of(state: State) -> npt.NDArray[np.intp]:
    """``[N]`` outcome of hands that ended with these places, as the even side sees it: 0 …
    OUTCOMES - 1."""
    worth = even_sum(state.places, state.revolter)
    return np.where(worth == SWEEP, 0, np.where(worth == -SWEEP, 2, 1)).astype(np.intp)


def expected_scores(state: State, chances: F64, outcomes: F64, rules: Rules | None = None) -> F64:
    """Scores ``[N, S]``; what places that are taken say already is exact.

    Args:
        chances: ``[N, S, S]`` of places (absolute seat; place 1 … S).
        outcomes: ``[N, OUTCOMES]``, as the side of the asked seat sees them.
    """
    places = state.places
    revolter = np.asarray(state.revolter)
    seats_in = places == 0
    taken = (places[:, :, None] == np.arange(1, SEATS + 1)).any(axis=1)
    possible = np.where(seats_in[:, :, None], ~taken[:, None], _PLACES[places] > 0)
    chances = (chances + _NEAR_NONE) * possible
    chances /= np.maximum(chances.sum(axis=2, keepdims=True), _NEAR_NONE)
    worth = (chances * VALUES[1:]).sum(axis=2)
    sums = [worth[:, side].sum(axis=1) for side in (EVEN, ~EVEN)]
    done = [~seats_in[:, side].any(axis=1) for side in (EVEN, ~EVEN)]
    even = np.where(done[0], sums[0], np.where(done[1], -sums[1], (sums[0] - sums[1]) / 2))
    # a sweep: possible until a foe is among the first three, a revolter counting as third
    may = []
    for side in (EVEN, ~EVEN):
        last = 3 - (side[revolter] & (revolter != NOBODY))[:, None]
        foes = places[:, ~side]
        may.append(~((foes > 0) & (foes <= last)).any(axis=1))
    known = done[0] | done[1]
    surely = outcome_of(state)
    allowed = np.stack([may[0], np.ones_like(known), may[1]], axis=1)
    allowed = np.where(known[:, None], np.arange(OUTCOMES) == surely[:, None], allowed)
    odd = np.asarray(state.actor) % 2 == 1
    seen = np.where(odd[:, None], outcomes[:, ::-1], outcomes)
    seen = (seen + _NEAR_NONE) * allowed
    seen /= seen.sum(axis=1, keepdims=True)
    even = even + (seen[:, 0] - seen[:, 2]) * (SWEEP / 2)  # the places alone are worth 6
    return by_seat(even)


SIGHT: Final = Sight(
    game="gouji",
    package="lupai.agents.gouji",
    seats=SEATS,
    layout=LAYOUT,
    inputs=FEATURES,
    deciding=("burn_fail",),
    features=features,
    scores=expected_scores,
    outcomes=OUTCOMES,
    outcome_of=outcome_of,
)
