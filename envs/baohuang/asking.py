"""What the phases before play share: who is asked next, answers, and the crown R*."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, Phase, Said, State
from lupai.envs.cards import KIND_R, RANK_R, count_ranks
from lupai.envs.seats import NOBODY, next_seat

ALL: Final = (1 << SEATS) - 1
_NEXT: Final = next_seat(SEATS)


def seat_bit(seat: Ints) -> Ints:
    """Bit of a seat in a set of seats; nobody has none."""
    return np.where(seat >= 0, 1 << np.maximum(seat, 0).astype(np.int16), 0).astype(np.int16)


def ask(state: State, t: Ints, phase: Phase, seats: Ints | int, first: Ints) -> None:
    """Open a phase in which ``seats`` are asked, going +1, the first of them from ``first`` on."""
    state.phase[t] = phase
    state.votes[t] = 0
    state.to_ask[t] = seats
    state.actor[t] = _NEXT[state.to_ask[t], (first - 1) % SEATS]


def say(state: State, t: Ints, what: Said) -> None:
    """Note a public answer of the actor."""
    state.said[t, state.actor[t]] |= 1 << what


def answered(state: State, t: Ints) -> npt.NDArray[np.bool_]:
    """Go on to the next to be asked, +1; which tables have nobody left."""
    state.to_ask[t] &= ~seat_bit(state.actor[t])
    state.actor[t] = _NEXT[state.to_ask[t], state.actor[t]]
    nobody_left: npt.NDArray[np.bool_] = state.to_ask[t] == 0
    return nobody_left


def move_crown(state: State, t: Ints, seat: Ints) -> None:
    """Move R* and the tribute pile from their holder into the hand of ``seat``."""
    pile = state.pile[t]
    if pile.any():
        by_rank = count_ranks(pile)
        for holder, sign in ((state.crown[t], np.int8(-1)), (seat, np.int8(1))):
            state.hands[t, holder] += sign * pile
            state.ranks[t, holder] += sign * by_rank
            state.sizes[t, holder] += sign * pile.sum(axis=1, dtype=np.int8)
    for holder, change in ((state.crown[t], np.int8(-1)), (seat, np.int8(1))):
        state.hands[t, holder, KIND_R] += change
        state.ranks[t, holder, RANK_R] += change
        state.sizes[t, holder] += change
    state.crown[t] = seat


def make_public(state: State, t: Ints, *, supreme: bool = False) -> None:
    """Everybody knows the roles from now on; the identity card is ordinary unless it is 特画."""
    state.public[t] = 1
    if not supreme:
        state.identity_seat[t] = NOBODY


def open_play(state: State, t: Ints) -> None:
    """The emperor leads the first trick."""
    state.phase[t] = PHASE_PLAY
    state.actor[t] = state.emperor[t]
    state.to_ask[t] = 0
    state.votes[t] = 0
    state.alive[t] = ALL


def emperors_camp(state: State, t: Ints) -> Ints:
    """Set of the emperor and, where there is one, his guard."""
    return seat_bit(state.emperor[t]) | seat_bit(state.guard[t])
