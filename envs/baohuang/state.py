"""The state of many tables of Baohuang as a few arrays.

Everything is ``[B, …]``, B tables; see :mod:`lupai.envs.packed`. Sets of seats are bit masks, see
:mod:`lupai.envs.seats`. ``-1`` (:data:`~lupai.envs.seats.NOBODY`) means nobody or nothing.

Hidden from other seats: their rows of ``hands`` and ``ranks``, ``identity_seat``, ``guard`` and
a secret ``solo`` while the role is not public.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_KINDS, NUM_RANKS
from lupai.envs.packed import RECENT, Column, PackedTables, array, numbers
from lupai.envs.seats import NOBODY

SEATS: Final = 5


class Phase(IntEnum):
    """Whose answer to what is awaited; all presets' phases, so that numbers never move."""

    GRAB = 0  # 抢庄
    CALL = 1  # 叫庄
    FORCED_CALL = 2  # 逼庄
    OPEN = 3  # marked small joker: a double holder may show both
    SOLO = 4  # 明度
    SOLO_TI = 5  # 踢 against an open solo
    ABANDON = 6  # 弃皇
    OFFER = 7  # the crown is offered
    DECLARE = 8  # 明保
    OPPOSE = 9  # 反
    NIU = 10  # 扭
    TI = 11  # 踢
    PLAY = 12
    OVER = 13


# As plain ints for the hot path: looking up an enum's member costs more than a small array does.
PHASE_PLAY: Final = int(Phase.PLAY)
PHASE_OVER: Final = int(Phase.OVER)
PHASE_NAMES: Final = tuple(p.name.lower() for p in Phase)


class Solo(IntEnum):
    """How the emperor is alone."""

    NONE = 0
    GRAB = 1
    OPEN = 2
    SECRET = 3


SOLO_NAMES: Final = (None, "grab", "open", "secret")


class Said(IntEnum):
    """Public answers before play: bit numbers of ``said``."""

    GRAB = 0
    DECLINE_GRAB = 1
    CALL = 2
    CEDE = 3
    SKIPPED_FORCED_CALL = 4  # holds no kind exactly three times
    DECLARE = 5
    SILENT_DECLARE = 6
    OPEN = 7
    SILENT_OPEN = 8
    SOLO = 9
    DECLINE_SOLO = 10
    TI = 11
    SILENT_TI = 12
    KEEP = 13
    ABANDON = 14
    ACCEPT = 15
    REFUSE = 16
    OPPOSE = 17
    SILENT_OPPOSE = 18
    NIU = 19
    SILENT_NIU = 20


I16 = npt.NDArray[np.int16]
I8 = npt.NDArray[np.int8]
_Column = Column[np.int16]


class State(PackedTables):
    """B tables.

    Attributes:
        numbers: ``[B, F] int16``, columns as named below.
        hands: ``[B, S, 54] int8`` cards held by kind; marked jokers count with their kind.
        ranks: ``[B, S, 15] int8`` the same by rank; kept in step with ``hands``.
        sizes: ``[B, S] int8`` cards held; public at all times.
        played: ``[B, S, 54] int8`` cards each seat has played.
        shown: ``[B, 54] int8`` cards that were seen to be with the holder of R*: those he showed
            with his call, and the tribute pile. What he plays later is not taken off.
        pile: ``[B, 54] int8`` the tribute pile of 贴牌; it lies in the hand of the holder of R*.
        added: ``[B, S] int8`` card kind that each seat added to the pile when it ceded, -1 for
            none.
        said: ``[B, S] int32`` bits of :class:`Said`.
        places: ``[B, S] int8`` finishing place 1 … S, 0 while in.
        recent: ``[B, RECENT, 2] int16`` ring of (seat, public action id), slot = move number.
        seeds: ``[B, 2] uint64`` hand seed and episode seed.
    """

    PLAY = PHASE_PLAY
    OVER = PHASE_OVER

    # at the deal each is the number given
    phase = _Column(0)  # Phase
    actor = _Column(NOBODY)  # seat to act; NOBODY when over
    start = _Column(0)  # seat that got the first card
    crown = _Column(NOBODY)  # seat with R*, until roles are set
    first_holder = _Column(NOBODY)  # seat that was dealt R*
    marked_b = _Column(NOBODY)  # seat that was dealt B*
    emperor = _Column(NOBODY)
    guard = _Column(NOBODY)  # the true guard; NOBODY before roles and without one
    solo = _Column(0)  # Solo, the true one
    public = _Column(0)  # 1: who is (or that nobody is) guard is public
    identity_kind = _Column(NOBODY)  # card kind of the called card
    # holder of the identity card while it makes a difference: while the role is hidden, and always
    # where it is 特画
    identity_seat = _Column(NOBODY)
    multiplier = _Column(1)
    declared = _Column(0)  # 1: the guard declared himself before the first lead
    votes = _Column(0)  # votes in the running poll
    standing = _Column(NOBODY)  # action id of the set to beat; NOBODY: the actor leads
    owner = _Column(NOBODY)  # seat that played it
    circle = _Column(1)
    to_ask = _Column(0)  # seats still to be asked in this circle or poll
    passed = _Column(0)  # seats that passed this set (also in circle 2)
    yielded = _Column(0)
    claimed = _Column(0)
    left_trick = _Column(0)  # pass_scope=trick: seats out until the next lead
    alive = _Column(0)  # seats that hold cards
    out_count = _Column(0)  # seats that have a finishing place
    redeals = _Column(0)
    injected = _Column(0)  # 1: the deal was given; a void ends the hand
    void = _Column(0)  # 1: the hand ended without an emperor
    abandoned = _Column(0)  # 1: the emperor gave the crown up and nobody took it
    moves = _Column(0)  # decisions since the deal

    numbers: I16 = numbers(np.int16)
    hands: I8 = array(SEATS, NUM_KINDS)
    ranks: I8 = array(SEATS, NUM_RANKS)
    sizes: I8 = array(SEATS)
    played: I8 = array(SEATS, NUM_KINDS)
    shown: I8 = array(NUM_KINDS)
    pile: I8 = array(NUM_KINDS)
    added: I8 = array(SEATS, fill=NOBODY)
    said: npt.NDArray[np.int32] = array(SEATS, dtype=np.int32)
    places: I8 = array(SEATS)
    recent: I16 = array(RECENT, 2, dtype=np.int16, fill=NOBODY)
    seeds: npt.NDArray[np.uint64] = array(2, dtype=np.uint64)


COLUMNS: Final = State.COLUMNS
COLUMN: Final = State.COLUMN
