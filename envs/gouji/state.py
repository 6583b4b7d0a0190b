"""The state of B tables of Gouji as packed arrays; no rules here."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_KINDS, NUM_RANKS
from lupai.envs.gouji.orders import ALL, EMPTY, SEATS
from lupai.envs.packed import RECENT, Column, PackedTables, array, numbers
from lupai.envs.seats import NOBODY

LAST_PLACE: Final = 6  # 大落
REVOLTER_PLACE: Final = 4  # 四科
DEATHS: Final = 3  # 够死级 that a revolution gives to the revolter's 对头


class Phase(IntEnum):
    """Which question the acting player answers."""

    OFFER = 0  # 还贡: which card he offers to the giver
    ANSWER_OFFER = 1  # the giver: take or refuse
    REVOLT = 2  # 革命
    WAIVE = 3  # the revolter's 对头 gives up his three 够死级
    PLAY = 4
    OVER = 5


class Kind(IntEnum):
    """How the set on the table may be answered."""

    ORDINARY = 0
    GOUJI = 1  # 够级牌, or a set that counts as one
    DEATH = 2  # 够死级: by burners only


PHASE_NAMES: Final = ("offer", "answer_offer", "revolt", "waive", "play", "over")

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]


_Column = Column[np.int32]


class State(PackedTables):
    """B tables.

    Attributes:
        numbers: ``[B, F] int32``, columns as in :data:`COLUMNS`.
        hands: ``[B, 6, 54] int8`` cards held by kind.
        ranks: ``[B, 6, 15] int8`` the same by rank; kept in step with ``hands``.
        sizes: ``[B, 6] int8`` cards held.
        played: ``[B, 6, 54] int8`` cards each seat has played.
        shown: ``[B, 6, 54] int8`` cards that everybody saw to come to a seat: the 3s that made the
            first leader, gifts and returns; less those it gave away, not less those it played.
        lacks: ``[B, 6] int32`` bits of ranks that a seat was seen not to hold when it refused one.
        owes: ``[B, 6] int8`` cards that a seat still has to return.
        giver: ``[B, 6] int8`` to whom.
        previous: ``[B, 6] int8`` seats in the order of the previous hand, -1: none.
        places: ``[B, 6] int8`` finishing place 1 … 6, 0 while in.
        recent: ``[B, RECENT, 2] int32`` ring of (seat, public action id), slot = move number.
        seeds: ``[B, 2] uint64`` hand seed and episode seed.
    """

    OVER = Phase.OVER
    PLAY = Phase.PLAY

    # at the deal each is the number given
    phase = _Column(Phase.PLAY)
    # what an answer in play may change; tricks.py gives them in this order
    actor = _Column(NOBODY)  # seat to act; NOBODY when over
    queue = _Column(EMPTY)  # seats to be asked after the actor, in order; see orders.py
    standing = _Column(NOBODY)  # place of the set to beat (sets.py); NOBODY: the actor leads
    owner = _Column(NOBODY)  # seat that played it
    burning = _Column(0)  # 1: the question is whether to burn it (烧牌), or silent
    kind = _Column(Kind.ORDINARY)  # of the set to beat
    bottom = _Column(0)  # 底牌: 1 or 2 where it is the last set of 头科 or 二科, else 0
    passed = _Column(0)  # seats out of the trick
    yielded = _Column(0)  # 1: the 对头 of the owner has yielded this set
    duty = _Column(NOBODY)  # seat that burned and has to go on so
    burned = _Column(NOBODY)  # seat whose set it burned
    headless = _Column(0)  # 无头 seats
    melee = _Column(0)  # 1: 四人乱缠
    alive = _Column(ALL)  # seats that hold cards and play
    left = _Column(0)  # how many went out by their last card
    deaths = _Column(0)  # 够死级 that the revolter's 对头 has left
    goujis = _Column(0)  # 够级: sets answered by the 对头 of their player while they were 够级牌
    burns = _Column(0)  # sets that were burned
    # the rest
    start = _Column(0)  # seat that got the first card
    first_leader = _Column(NOBODY)  # 上班
    threes_suit = _Column(NOBODY)  # suit of the 3s that made him so; NOBODY: nobody held two
    threes = _Column(0)  # how many of them
    revolts = _Column(0)  # seats that answered revolt; hidden until all six have answered
    revolter = _Column(NOBODY)
    offered = _Column(NOBODY)  # card kind that lies before the giver
    refused = _Column(0)  # bits of the ranks that he refused
    redeals = _Column(0)
    injected = _Column(0)  # 1: the deal was given; a void ends the hand
    void = _Column(0)  # 1: the hand ended without being played
    moves = _Column(0)  # decisions since the deal

    numbers: I32 = numbers(np.int32)
    hands: I8 = array(SEATS, NUM_KINDS)
    ranks: I8 = array(SEATS, NUM_RANKS)
    sizes: I8 = array(SEATS)
    played: I8 = array(SEATS, NUM_KINDS)
    shown: I8 = array(SEATS, NUM_KINDS)
    lacks: I32 = array(SEATS, dtype=np.int32)
    owes: I8 = array(SEATS)
    giver: I8 = array(SEATS, fill=NOBODY)
    previous: I8 = array(SEATS, fill=NOBODY)
    places: I8 = array(SEATS)
    recent: I32 = array(RECENT, 2, dtype=np.int32, fill=NOBODY)
    seeds: npt.NDArray[np.uint64] = array(2, dtype=np.uint64)


COLUMNS: Final = State.COLUMNS
COLUMN: Final = State.COLUMN
