"""What a seat sees, as one flat ``int8`` vector, for all options and phases.

Seats are counted from the observer: 0 is himself, 1 his 下家, 3 his 对头; 2 and 4 are his mates.
Hidden fields are read only where the observer may know them, so a state from which
:mod:`lupai.envs.gouji.hidden` removed them gives the same bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs import lookups
from lupai.envs.cards import NUM_KINDS, NUM_RANKS, RANKS
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERBS
from lupai.envs.gouji.orders import ALL, EMPTY, GAP, SEATS
from lupai.envs.gouji.rules import OPTION_NAMES, Rules
from lupai.envs.gouji.sets import NUM_SETS, PARTS
from lupai.envs.gouji.state import DEATHS, PHASE_NAMES, Kind, Phase, State
from lupai.envs.layout import Layout, Section
from lupai.envs.lookups import VIEWER, LookupTable
from lupai.envs.packed import RECENT, every
from lupai.envs.seats import NOBODY
from lupai.envs.sets import ROWS

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[Any]

OPTION_FIELDS: Final = tuple(name for name in OPTION_NAMES if name != "hand_sizes")
_OPTION_VALUES: Final = {"side_out": 0, "last_player": 1, "last_place": 1, None: 0}
MOVE_FIELDS: Final = (
    *VERBS, "offer", "play", *(f"rank_{letter}" for letter in RANKS), "jokers_only",
    "n", "twos", "b", "r",
)  # fmt: skip
EVENT_FIELDS: Final = (*(f"seat_{i}" for i in range(SEATS)), *MOVE_FIELDS)
_SEAT: Final = "seat"

_PUBLIC: Final = (
    Section("phase", (len(PHASE_NAMES),), f"one-hot of {', '.join(PHASE_NAMES)}"),
    Section("actor", (SEATS,), "who is asked", axes=_SEAT),
    Section("first_leader", (SEATS,), "who leads the first trick (上班)", axes=_SEAT),
    Section("threes", (4,), "3s that he showed", high=4, axes="suit s, h, c, d"),
    Section("next_asked", (SEATS,), "when else a seat is asked about this: 1 next, 2 …; 0 not",
            high=SEATS, axes=_SEAT),
    Section("hand_sizes", (SEATS,), "cards held", high=54, axes=_SEAT),
    Section("played", (SEATS, NUM_KINDS), "cards played so far", high=4,
            axes=f"{_SEAT}; card kind"),
    Section("shown", (SEATS, NUM_KINDS), "cards that were seen to come to a seat: 3s of the first "
            "leader, tribute, returns", high=4, axes=f"{_SEAT}; card kind"),
    Section("places", (SEATS, SEATS), "one-hot of the finishing place, none while in",
            axes=f"{_SEAT}; place 1..6"),
    Section("standing", (ROWS,), "one-hot of the rank of the set to beat, the last for jokers "
            "alone; none: a lead", axes="rank"),
    Section("standing_cards", (4,), "its naturals below 2, 2s, small jokers, big jokers", high=16),
    Section("kind", (len(Kind),), "one-hot of ordinary, 够级, 够死级; none: a lead"),
    Section("bottom", (2,), "it is the 底牌 of 头科, of 二科"),
    Section("burning", (1,), "1 when the question is whether to burn it (烧牌)"),
    Section("yielded", (1,), "1 when the 对头 has yielded it (让牌)"),
    Section("melee", (1,), "1 in 四人乱缠"),
    Section("deaths", (1,), "够死级 that the revolter's 对头 has left", high=DEATHS),
    Section("owner", (SEATS,), "who played it", axes=_SEAT),
    Section("duty", (SEATS,), "who burned and has to go on so", axes=_SEAT),
    Section("burned", (SEATS,), "whose set he burned", axes=_SEAT),
    Section("passed", (SEATS,), "out of the trick", axes=_SEAT),
    Section("headless", (SEATS,), "无头", axes=_SEAT),
    Section("revolter", (SEATS,), "who laid his cards down (革命)", axes=_SEAT),
    Section("offered", (NUM_KINDS,), "card that is offered in return", axes="card kind"),
    Section("refused", (NUM_RANKS,), "ranks that the giver refused", axes="rank"),
    Section("owes", (SEATS,), "cards still to be returned", high=2, axes=_SEAT),
    Section("giver", (SEATS, SEATS), "to whom", axes=f"{_SEAT}; {_SEAT}"),
    Section("previous", (SEATS, SEATS), "place in the previous hand, with tribute",
            axes=f"{_SEAT}; place 1..6"),
    Section("redeals", (1,), "void deals before this one", high=100),
    Section("options", (len(OPTION_FIELDS),), "rules: " + ", ".join(OPTION_FIELDS)),
    Section("recent", (RECENT, len(EVENT_FIELDS)), "latest moves, newest first: "
            + ", ".join(EVENT_FIELDS) + "; an answer to the poll about a revolution reads as "
            "silent until all six are given", high=16, axes="move; field"),
)  # fmt: skip

OBSERVATION: Final = Layout(
    "gouji observation",
    1,
    (
        Section("own_hand", (NUM_KINDS,), "own cards", high=4, axes="card kind"),
        Section("own_revolt", (1,), "1 when the own answer to the running poll was revolt"),
        *_PUBLIC,
    ),
)
STATE: Final = Layout(
    "gouji state",
    1,
    (
        Section("hands", (SEATS, NUM_KINDS), "all hands", high=4, axes="seat; card kind"),
        Section("revolts", (SEATS,), "who answered revolt in the running poll", axes="seat"),
        *_PUBLIC,
    ),
)

# ---- what follows from a few numbers of the table

_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS  # [viewer, relative seat] -> seat
_ONE_SEAT: Final = (NOBODY, SEATS - 1)
_SET: Final = (0, ALL)
_FLAG: Final = (0, 1)
RANGES: Final = {
    VIEWER: (0, SEATS - 1),
    "phase": (0, len(PHASE_NAMES) - 1),
    **dict.fromkeys(("actor", "first_leader", "owner", "duty", "burned", "revolter"), _ONE_SEAT),
    "threes_suit": (NOBODY, 3),
    "threes": (0, 4),
    "standing": (NOBODY, NUM_SETS - 1),
    "kind": (0, len(Kind) - 1),
    "bottom": (0, 2),
    **dict.fromkeys(("burning", "yielded", "melee"), _FLAG),
    "deaths": (0, DEATHS),
    **dict.fromkeys(("passed", "headless"), _SET),
    "offered": (NOBODY, NUM_KINDS - 1),
    "refused": (0, (1 << NUM_RANKS) - 1),
}


class Lookup(lookups.Lookup):
    """Neighbouring sections of Gouji's vectors."""

    ranges = RANGES
    tables = State


def _seats(*seats_and_viewer: Ints) -> Ints:
    """One-hot of each relative seat; none for :data:`NOBODY`."""
    *seats, viewer = seats_and_viewer
    return np.column_stack([seat[:, None] == _ORDER[viewer] for seat in seats])


def _members(seats: Ints, viewer: Ints) -> Ints:
    """Members of a set, by relative seat."""
    found: Ints = seats[:, None] >> _ORDER[viewer] & 1
    return found


def _one_hot(values: Ints, count: int, first: int = 0) -> Ints:
    found: Ints = values[:, None] == np.arange(first, first + count)
    return found


def _standing(standing: Ints) -> Ints:
    """Rank and cards of the set to beat."""
    there = (standing != NOBODY)[:, None]
    parts = PARTS[standing] * there
    return np.column_stack([_one_hot(parts[:, 0], ROWS) & there, parts[:, 1:]])


def _flags(*numbers: Ints) -> Ints:
    kind, owner, bottom, *flags = numbers
    there = (owner != NOBODY)[:, None]
    return np.column_stack([_one_hot(kind, len(Kind)) & there, _one_hot(bottom, 2, 1), *flags])


_LOOKUPS: Final = (
    Lookup(("phase",), ("phase",), lambda phase: _one_hot(phase, len(PHASE_NAMES))),
    Lookup(("actor", "first_leader"), ("actor", "first_leader", VIEWER), _seats),
    Lookup(("threes",), ("threes_suit", "threes"), lambda suit, n: _one_hot(suit, 4) * n[:, None]),
    Lookup(("standing", "standing_cards"), ("standing",), _standing),
    Lookup(
        ("kind", "bottom", "burning", "yielded", "melee", "deaths"),
        ("kind", "owner", "bottom", "burning", "yielded", "melee", "deaths"),
        _flags,
    ),
    Lookup(("owner", "duty", "burned"), ("owner", "duty", "burned", VIEWER), _seats),
    Lookup(("passed",), ("passed", VIEWER), _members),
    Lookup(("headless",), ("headless", VIEWER), _members),
    Lookup(("revolter",), ("revolter", VIEWER), _seats),
    Lookup(("offered",), ("offered",), lambda kind: _one_hot(kind, NUM_KINDS)),
    Lookup(("refused",), ("refused",), lambda bits: bits[:, None] >> np.arange(NUM_RANKS) & 1),
)


@cache
def lookup_table() -> LookupTable:
    """Lookups of both layouts, made at the first use."""
    return LookupTable(_LOOKUPS)


@cache
def asked_table() -> I8:
    """``[2**18, 6] int8`` by queue: place of each seat in it, from 1; 0 for none."""
    queues = np.arange(EMPTY + 1)
    out = np.zeros((len(queues), GAP + 1), np.int8)
    for place in range(SEATS - 1, -1, -1):
        out[queues, queues >> 3 * place & GAP] = place + 1
    return np.ascontiguousarray(out[:, :SEATS])


@cache
def move_table() -> I8:
    """``[A + 1, fields] int8`` what each action is; the last row, of no move, is zero."""
    table = np.zeros((ACTIONS.size + 1, len(MOVE_FIELDS)), np.int8)
    at = {name: i for i, name in enumerate(MOVE_FIELDS)}
    table[np.arange(len(VERBS)), np.arange(len(VERBS))] = 1
    ranks = np.arange(NUM_RANKS)
    table[OFFER + ranks, at["offer"]] = 1
    table[OFFER + ranks, at["rank_3"] + np.minimum(ranks, ROWS - 2)] = ranks < ROWS - 1
    table[OFFER + ranks[-2:], [at["b"], at["r"]]] = 1
    sets = np.arange(SET, ACTIONS.size)
    table[sets, at["play"]] = 1
    table[sets, at["rank_3"] + PARTS[:, 0]] = 1
    table[sets[:, None], at["n"] + np.arange(4)] = PARTS[:, 1:]
    table.setflags(write=False)
    return table


def option_vector(rules: Rules) -> I8:
    """Options as small numbers, in the order of :data:`OPTION_FIELDS`."""
    values = rules.model_dump()
    return np.array(
        [v if isinstance(v := values[name], bool) else _OPTION_VALUES[v] for name in OPTION_FIELDS],
        np.int8,
    )


# ---- the vectors

_CHUNK: Final = 256  # tables at once: what lies in between stays in the cache
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.int8)  # by place 0 … 6
_NO_PAIRS: Final = np.zeros((_CHUNK, SEATS * SEATS), np.int8)
_NO_OWES: Final = np.zeros((_CHUNK, SEATS), np.int8)
_MOVES: Final = State.COLUMN["moves"]
_QUEUE: Final = State.COLUMN["queue"]
_PHASE: Final = State.COLUMN["phase"]
_REDEALS: Final = slice(State.COLUMN["redeals"], State.COLUMN["redeals"] + 1)
_TRIBUTE: Final = OPTION_FIELDS.index("tribute")
_BACK: Final = np.arange(1, RECENT + 1)


def encode(
    state: State, t: Ints | None, viewer: Ints, options: I8, out: I8 | None = None
) -> I8:  # fmt: skip
    """Observations ``[N, D] int8`` of seats ``viewer [N]`` at tables ``t [N]`` (None: all).

    Args:
        options: what :func:`option_vector` gave for the rules.
        out: ``[N, D] int8`` to write to; new memory if None.

    Raises:
        ValueError: an ``out`` of another shape or dtype.
    """
    t = every(len(state)) if t is None else t
    out = _memory(out, len(t), OBSERVATION)
    for start in range(0, len(t), _CHUNK):
        part = slice(start, start + _CHUNK)
        tables, who = t[part], viewer[part]
        numbers = state.numbers.take(tables, axis=0)
        seats = _ORDER.take(who, axis=0)
        cards = state.hands.reshape(-1, NUM_KINDS).take(tables * SEATS + who, axis=0)
        running = numbers[:, _PHASE] == Phase.REVOLT
        revolt = running & (state.revolts[tables] >> who & 1 == 1)
        own = (cards, revolt[:, None].astype(np.int8))
        _write(state, tables, numbers, who, seats, own, options, out[part])
    return out


def encode_state(state: State, t: Ints, options: I8) -> I8:
    """WARNING, god's eye: everything at tables ``t``, ``[N, Ds] int8``, seats absolute."""
    out = _memory(None, len(t), STATE)
    for start in range(0, len(t), _CHUNK):
        tables = t[start : start + _CHUNK]
        numbers = state.numbers.take(tables, axis=0)
        running = (numbers[:, _PHASE] == Phase.REVOLT)[:, None]
        revolts = running & (state.revolts[tables, None] >> _SEATS & 1 == 1)
        own = (state.hands[tables].reshape(len(tables), -1), revolts.astype(np.int8))
        who = np.zeros(len(tables), np.intp)
        seats = np.broadcast_to(_SEATS, (len(tables), SEATS))
        into = out[start : start + _CHUNK]
        _write(state, tables, numbers, who, seats, own, options, into)
    return out


def _memory(out: I8 | None, count: int, layout: Layout) -> I8:
    if out is None:
        return np.empty((count, layout.size), np.int8)
    if out.shape != (count, layout.size) or out.dtype != np.int8:
        raise ValueError(f"out is {out.dtype} {out.shape}, expected int8 {(count, layout.size)}")
    return out


def _write(
    state: State, t: Ints, numbers: Ints, viewer: Ints, seats: Ints, own: tuple[I8, ...],
    options: I8, out: I8,
) -> None:  # fmt: skip
    """All sections in the order of the layout; ``seats [N, 6]`` as the observer counts them."""
    n = len(t)
    flat = seats + t[:, None] * SEATS
    row = np.arange(n)[:, None]
    found = lookup_table().take(numbers, viewer)
    phase, asked, threes, standing, flags, owner, passed, headless, revolter, *tribute = found
    over = numbers[:, _PHASE] == Phase.OVER
    queue = np.where(over, EMPTY, numbers[:, _QUEUE])
    owes, giver, previous = _NO_OWES[:n], _NO_PAIRS[:n], _NO_PAIRS[:n]
    if options[_TRIBUTE]:
        owes = state.owes.take(flat)
        giver = _pairs(state.giver.take(flat)[:, :, None] == seats[:, None, :])
        order = state.previous.take(t, axis=0)[:, None, :]
        previous = _pairs((order == seats[:, :, None]) & (order != NOBODY))
    np.concatenate(
        (
            *own,
            phase,
            asked,  # actor, first_leader
            threes,
            asked_table().take(queue, axis=0)[row, seats],  # next_asked
            state.sizes.take(flat),  # hand_sizes
            state.played.reshape(-1, NUM_KINDS).take(flat, axis=0).reshape(n, -1),
            state.shown.reshape(-1, NUM_KINDS).take(flat, axis=0).reshape(n, -1),
            _PLACES.take(state.places.take(flat), axis=0).reshape(n, -1),
            standing,  # standing, standing_cards
            flags,  # kind, bottom, burning, yielded, melee, deaths
            owner,  # owner, duty, burned
            passed,
            headless,
            revolter,
            *tribute,  # offered, refused
            owes,
            giver,
            previous,
            numbers[:, _REDEALS],
            np.broadcast_to(options, (n, len(options))),
            _recent(state, t, numbers[:, _MOVES], seats),
        ),
        axis=1,
        out=out,
        casting="unsafe",
    )


def _pairs(which: Ints) -> I8:
    return which.reshape(len(which), -1).view(np.int8)


def _recent(state: State, t: Ints, moves: Ints, seats: Ints) -> I8:
    """``[N, RECENT * fields]`` latest moves, newest first."""
    slots = (moves[:, None] - _BACK) % RECENT + t[:, None] * RECENT
    ring = state.recent.reshape(-1, 2).take(slots, axis=0)
    out = np.empty((len(t), RECENT, len(EVENT_FIELDS)), np.int8)
    np.equal(ring[:, :, :1], seats[:, None, :], out=out[:, :, :SEATS], casting="unsafe")
    out[:, :, SEATS:] = move_table().take(ring[:, :, 1], axis=0, mode="wrap")
    return out.reshape(len(t), -1)
