"""What the phases before play share: polls, the crown R*, and the way into play."""

from __future__ import annotations

from typing import Final

import numpy as np

from lupai.envs import asking
from lupai.envs.asking import seat_bit
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, Phase, State
from lupai.envs.cards import KIND_R, RANK_R, count_ranks
from lupai.envs.seats import NOBODY

ALL: Final = (1 << SEATS) - 1


def ask(state: State, t: Ints, phase: Phase, seats: Ints | int, first: Ints) -> None:
    """Open a phase in which ``seats`` are asked, going +1, the first of them from ``first`` on,
    and in which nobody has voted yet."""
    state.votes[t] = 0
    asking.ask(state, t, phase, seats, first)


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
