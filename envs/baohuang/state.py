"""The state of many tables of Baohuang as a few arrays.

Everything is ``[B, …]``, B tables; small numbers live as columns of one ``numbers [B, F] int16``
array, so that copying, taking and pickling tables touches a few arrays. Column names are attributes
(``state.actor`` is the ``[B]`` view of its column). Sets of seats are bit masks, see
:mod:`lupai.envs.seats`. ``-1`` (:data:`~lupai.envs.seats.NOBODY`) means nobody or nothing.

Hidden from other seats: their rows of ``hands`` and ``ranks``, ``identity_seat``, ``guard`` and
a secret ``solo`` while the role is not public.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_KINDS, NUM_RANKS
from lupai.envs.seats import NOBODY

SEATS: Final = 5
RECENT: Final = 16  # moves that a state remembers; the whole history is the adapter's log


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


# name, value at the deal
COLUMNS: Final = (
    ("phase", 0),  # Phase
    ("actor", NOBODY),  # seat to act; NOBODY when over
    ("start", 0),  # seat that got the first card
    ("crown", NOBODY),  # seat with R*, until roles are set
    ("first_holder", NOBODY),  # seat that was dealt R*
    ("marked_b", NOBODY),  # seat that was dealt B*
    ("emperor", NOBODY),
    ("guard", NOBODY),  # the true guard; NOBODY before roles and without one
    ("solo", 0),  # Solo, the true one
    ("public", 0),  # 1: who is (or that nobody is) guard is public
    ("identity_kind", NOBODY),  # card kind of the called card
    ("identity_seat", NOBODY),  # holder of the identity card while it makes a difference: while
    # the role is hidden, and always where it is 特画
    ("multiplier", 1),
    ("declared", 0),  # 1: the guard declared himself before the first lead
    ("votes", 0),  # votes in the running poll
    ("standing", NOBODY),  # action id of the set to beat; NOBODY: the actor leads
    ("owner", NOBODY),  # seat that played it
    ("circle", 1),
    ("to_ask", 0),  # seats still to be asked in this circle or poll
    ("passed", 0),  # seats that passed this set (also in circle 2)
    ("yielded", 0),
    ("claimed", 0),
    ("left_trick", 0),  # pass_scope=trick: seats out until the next lead
    ("alive", 0),  # seats that hold cards
    ("out_count", 0),  # seats that have a finishing place
    ("redeals", 0),
    ("injected", 0),  # 1: the deal was given; a void ends the hand
    ("void", 0),  # 1: the hand ended without an emperor
    ("abandoned", 0),  # 1: the emperor gave the crown up and nobody took it
    ("moves", 0),  # decisions since the deal
)
COLUMN: Final = {name: i for i, (name, _) in enumerate(COLUMNS)}
_DEFAULTS: Final = np.array([value for _, value in COLUMNS], dtype=np.int16)
_ARRAYS: Final = (
    "numbers",
    "hands",
    "ranks",
    "sizes",
    "played",
    "shown",
    "pile",
    "added",
    "said",
    "places",
    "recent",
    "seeds",
)

I16 = npt.NDArray[np.int16]
I8 = npt.NDArray[np.int8]


@lru_cache(maxsize=64)
def every(tables: int) -> npt.NDArray[np.intp]:
    """Numbers of all tables; always the same read-only array, by which :func:`rows` knows it."""
    t = np.arange(tables)
    t.setflags(write=False)
    return t


def rows(array: npt.NDArray[Any], t: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
    """Rows ``t`` of an array: the array itself where ``t`` is :func:`every`, else a copy."""
    return array if t is every(len(array)) else array[t]


class _Column:
    """A named column of ``numbers``."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, state: State, owner: type[State]) -> I16:
        return state.numbers[:, self.index]

    def __set__(self, state: State, value: Any) -> None:
        state.numbers[:, self.index] = value


class State:
    """B tables.

    Attributes:
        numbers: ``[B, F] int16``, columns as in :data:`COLUMNS`.
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

    numbers: I16
    hands: I8
    ranks: I8
    sizes: I8
    played: I8
    shown: I8
    pile: I8
    added: I8
    said: npt.NDArray[np.int32]
    places: I8
    recent: I16
    seeds: npt.NDArray[np.uint64]

    phase = _Column(COLUMN["phase"])
    actor = _Column(COLUMN["actor"])
    start = _Column(COLUMN["start"])
    crown = _Column(COLUMN["crown"])
    first_holder = _Column(COLUMN["first_holder"])
    marked_b = _Column(COLUMN["marked_b"])
    emperor = _Column(COLUMN["emperor"])
    guard = _Column(COLUMN["guard"])
    solo = _Column(COLUMN["solo"])
    public = _Column(COLUMN["public"])
    identity_kind = _Column(COLUMN["identity_kind"])
    identity_seat = _Column(COLUMN["identity_seat"])
    multiplier = _Column(COLUMN["multiplier"])
    declared = _Column(COLUMN["declared"])
    votes = _Column(COLUMN["votes"])
    standing = _Column(COLUMN["standing"])
    owner = _Column(COLUMN["owner"])
    circle = _Column(COLUMN["circle"])
    to_ask = _Column(COLUMN["to_ask"])
    passed = _Column(COLUMN["passed"])
    yielded = _Column(COLUMN["yielded"])
    claimed = _Column(COLUMN["claimed"])
    left_trick = _Column(COLUMN["left_trick"])
    alive = _Column(COLUMN["alive"])
    out_count = _Column(COLUMN["out_count"])
    redeals = _Column(COLUMN["redeals"])
    injected = _Column(COLUMN["injected"])
    void = _Column(COLUMN["void"])
    abandoned = _Column(COLUMN["abandoned"])
    moves = _Column(COLUMN["moves"])

    def __init__(self, tables: int) -> None:
        self.numbers = np.tile(_DEFAULTS, (tables, 1))
        self.hands = np.zeros((tables, SEATS, NUM_KINDS), dtype=np.int8)
        self.ranks = np.zeros((tables, SEATS, NUM_RANKS), dtype=np.int8)
        self.sizes = np.zeros((tables, SEATS), dtype=np.int8)
        self.played = np.zeros((tables, SEATS, NUM_KINDS), dtype=np.int8)
        self.shown = np.zeros((tables, NUM_KINDS), dtype=np.int8)
        self.pile = np.zeros((tables, NUM_KINDS), dtype=np.int8)
        self.added = np.full((tables, SEATS), NOBODY, dtype=np.int8)
        self.said = np.zeros((tables, SEATS), dtype=np.int32)
        self.places = np.zeros((tables, SEATS), dtype=np.int8)
        self.recent = np.full((tables, RECENT, 2), NOBODY, dtype=np.int16)
        self.seeds = np.zeros((tables, 2), dtype=np.uint64)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """``[B] bool``: the hand has ended."""
        over: npt.NDArray[np.bool_] = self.phase == PHASE_OVER
        return over

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it is made of, by name: the arrays themselves, no copies."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def take(self, rows: npt.ArrayLike) -> State:
        """New state with copies of some tables, in the given order."""
        index = np.asarray(rows, dtype=np.intp)
        new = State.__new__(State)
        for name in _ARRAYS:
            setattr(new, name, getattr(self, name)[index])
        return new

    def put(self, rows: npt.ArrayLike, other: State) -> None:
        """Overwrite some tables with those of another state."""
        index = np.asarray(rows, dtype=np.intp)
        for name in _ARRAYS:
            getattr(self, name)[index] = getattr(other, name)

    def copy(self) -> State:
        """Independent copy."""
        return self.take(np.arange(len(self)))

    def equals(self, other: State) -> bool:
        """Whether all arrays are equal."""
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in _ARRAYS)
