"""够级 (Gouji) in training: rewards during a hand, what a critic sees, sides in the metrics.

Letters: ``N`` decisions, ``S`` = 6 seats. Nobody has a hidden role; only cards are hidden, and
while a revolution is asked for who answered that he makes one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_RANKS
from lupai.envs.gouji import scoring
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import LAST_PLACE, Phase, State
from lupai.envs.layout import Layout, Section
from lupai.envs.seats import NOBODY
from lupai.train.games.base import Bands, TrainingGame
from lupai.train.games.plackett_luce import chance_of_all_before, chances_of_later
from lupai.train.privileged import PRIVILEGED, UNLABELLED

__all__ = [
    "GAME",
    "LAYOUT",
    "ROLES",
    "placement_credit",
    "potential",
    "privileged_rows",
    "seat_roles",
]

ROLES: Final = ("none", "leading_side", "other_side")  # leading: that of the first leader

LAYOUT: Final = Layout(
    "gouji privileged",
    1,
    (
        Section("ranks", (SEATS, NUM_RANKS), "cards held", high=16, axes="seat; rank"),
        Section("headless", (SEATS,), "无头", axes="seat"),
        Section("duty", (SEATS,), "who burned and has to go on so", axes="seat"),
        Section("revolter", (SEATS,), "who laid his cards down", axes="seat"),
        Section("revolts", (SEATS,), "who answered revolt in the running poll", axes="seat"),
        Section(
            "role_label", (1,), "nobody has a hidden role: -1", high=UNLABELLED, low=UNLABELLED
        ),
    ),
)
# A revolution is rare, so no band of its rates would be told from chance.
RATES: Final[dict[str, Bands]] = {"shandong": {"revolt": (0.0, 1.0), "waive": (0.0, 1.0)}}
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS
_AT: Final = LAYOUT.slices

_EVEN, _ODD = np.flatnonzero(scoring.EVEN), np.flatnonzero(~scoring.EVEN)
# By bits of the places taken: value of the place of who has k others after him, [128, 6].
_OPEN: Final = [
    [place for place in range(LAST_PLACE, 0, -1) if not taken >> place & 1]
    for taken in range(2 << LAST_PLACE)
]
_LATER_VALUE: Final = scoring.VALUES[
    np.array([some + [0] * (SEATS - len(some)) for some in _OPEN])
].astype(np.float64)
# Places 1, 2 and 3 are worth 6 by themselves. So are 1, 2 and 4 of a revolter and his mates.
_SWEEP_EXTRA: Final = float(scoring.SWEEP - scoring.VALUES[1:4].sum())

F64 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
Ints = npt.NDArray[np.integer[Any]]


def privileged_rows(state: State, seats: Ints) -> I8:
    """WARNING, god's eye: ``[N, 115] int8`` by LAYOUT, seats counted from ``seats``.

    Args:
        state: N tables.
        seats: ``[N]`` the seat at each table from which is counted, the one that decides.
    """
    seats = np.asarray(seats, np.intp)
    n = len(seats)
    order = _ORDER[seats]
    out = np.empty((n, LAYOUT.size), np.int8)
    out[:, _AT["ranks"]] = state.ranks[np.arange(n)[:, None], order].reshape(n, -1)
    out[:, _AT["headless"]] = np.asarray(state.headless)[:, None] >> order & 1
    out[:, _AT["duty"]] = order == np.asarray(state.duty)[:, None]
    out[:, _AT["revolter"]] = order == np.asarray(state.revolter)[:, None]
    out[:, _AT["revolts"]] = np.asarray(state.revolts)[:, None] >> order & 1
    out[:, _AT["role_label"]] = UNLABELLED
    return out


def learner_columns(
    engine: Any, state: State, seats: Ints, check: Any = None
) -> dict[str, npt.NDArray[Any]]:
    """WARNING, god's eye: PRIVILEGED, the rows of :func:`privileged_rows`.

    Raises:
        ValueError: grounded chances are wanted, of roles that this game has not.
    """
    if check is not None:
        raise ValueError("check: there are no hidden roles in Gouji, so no chances of them")
    return {PRIVILEGED: privileged_rows(state, seats)}


def seat_roles(state: State) -> I8:
    """``[B, 6] int8`` index into ROLES of every seat; none: the hand was not played."""
    leader = np.asarray(state.first_leader)[:, None]
    roles = np.where((_SEATS - leader) % 2 == 0, 1, 2)
    unplayed = (np.asarray(state.void)[:, None] != 0) | (leader == NOBODY)
    return np.where(unplayed, 0, roles).astype(np.int8)


def _points(state: State, rules: Rules) -> I64:
    return scoring.scores(state)


def placement_credit(state: State, rules: Rules) -> I64:
    """Points ``[B, S] int64`` for the places taken so far.

    A place of value v is worth ``v / 2`` to each of the side that takes it, and ``-v / 2`` to each
    of the other: all six places then come to the sum of a side. A burner who failed has his place
    from the end at once, a revolter 四科, which is worth 0. Hands that are over have their scores:
    places left open by an early end, and what 串三户 is worth beyond its places, are paid there.
    """
    values = scoring.VALUES[state.places]
    out = scoring.by_seat((values[:, _EVEN].sum(axis=1) - values[:, _ODD].sum(axis=1)) // 2)
    over = state.over
    if over.any():
        out[over] = scoring.scores(state)[over]
    return out


def potential(state: State, rules: Rules) -> F64:
    """Φ ``[B, S] float64``: the score to be expected from the places so far and the cards left.

    As if the next to go out were drawn again and again among the seats still in, with weights
    1 / cards left, see :mod:`~.plackett_luce`; they take the open places in order, and a side is
    worth its places, or 12 for 串三户. It sums to zero over the sides and lies within the scores of
    the hand. 0 before play and when the hand is over.
    """
    out = np.zeros((len(state), SEATS))
    play = np.flatnonzero(state.phase == Phase.PLAY)
    if not play.size:
        return out
    places = state.places[play].astype(np.intp)
    # A revolter and burners who failed hold cards, but have their places.
    cards = np.where(places == 0, state.sizes[play], 0).astype(np.float64)
    values = scoring.VALUES[places[:, _EVEN]].astype(np.float64)
    row, column = np.nonzero(places[:, _EVEN] == 0)
    taken = np.bitwise_or.reduce(1 << places, axis=1)
    later = chances_of_later(cards[row], _EVEN[column])
    values[row, column] = (later * _LATER_VALUE[taken[row]]).sum(axis=1)
    revolter = np.asarray(state.revolter)[play]
    worth = values.sum(axis=1)
    worth += _SWEEP_EXTRA * _chance_of_sweep(places, cards, revolter, _EVEN, _ODD)
    worth -= _SWEEP_EXTRA * _chance_of_sweep(places, cards, revolter, _ODD, _EVEN)
    out[play] = scoring.by_seat(worth)
    return out


def _chance_of_sweep(places: Ints, cards: F64, revolter: Ints, side: Ints, other: Ints) -> F64:
    """Chance ``[N]`` that a side is first, second and third, its revolter counted as third."""
    laid = side == revolter[:, None]
    last = 3 - laid.sum(axis=1, keepdims=True)  # place that its last one in the race has to take
    mine, theirs = places[:, side], places[:, other]
    possible = (laid | (mine <= last)).all(axis=1) & ((theirs == 0) | (theirs > last)).all(axis=1)
    chance = chance_of_all_before(cards[:, side], cards[:, other])
    return np.where(possible, chance, 0)


GAME: Final = TrainingGame(
    name="gouji",
    seats=SEATS,
    roles=ROLES,
    seat_roles=seat_roles,
    layout=LAYOUT,
    privileged_rows=privileged_rows,
    learner_columns=learner_columns,
    points=_points,
    credits={"placement": placement_credit},
    potential=potential,
    rates=RATES,
)
