"""What a seat sees, as one flat ``int8`` vector, for all presets and phases.

Seats are counted from the observer: 0 is himself, 1 his 下家, and so on. Everything the seat knows
is in it and nothing else: :func:`encode` reads hidden fields only where the observer may know
them, so a state from which :mod:`lupai.envs.baohuang.hidden` removed them gives the same bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, CALL, SET_IDENTITY, VERBS
from lupai.envs.baohuang.hidden import roles_known
from lupai.envs.baohuang.legal import set_of_action
from lupai.envs.baohuang.lookups import VIEWER, Ints, Lookup, LookupTable
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.sets import PARTS
from lupai.envs.baohuang.state import (
    COLUMN,
    PHASE_NAMES,
    SEATS,
    Phase,
    Said,
    Solo,
    State,
)  # fmt: skip
from lupai.envs.cards import NUM_KINDS
from lupai.envs.layout import Layout, Section
from lupai.envs.packed import RECENT
from lupai.envs.seats import NOBODY, members
from lupai.envs.sets import ROWS

I8 = npt.NDArray[np.int8]
Bits = npt.NDArray[np.bool_]

OPTION_FIELDS: Final = (
    "roles_by", "guard_by", "guard_card", "grab", "forced_call", "tribute_on_cede", "declare",
    "open_solo", "oppose", "doubling", "votes_needed", "abandon_penalty", "yield", "claim",
    "pass_scope", "hold_sixes", "three_twos_beat_big", "end",
)  # fmt: skip
_OPTION_VALUES: Final = {
    "called_card": 0, "marks": 1, "marked_small_joker": 1, "ordinary": 0, "supreme": 1,
    "set": 0, "trick": 1, "last_player": 0, "camp_out": 1, "decided": 2,
}  # fmt: skip
EVENT_FIELDS: Final = (
    *(f"seat_{i}" for i in range(SEATS)),
    *VERBS, "call", "play",
    *(f"rank_{i}" for i in range(ROWS - 1)), "jokers_only", "n", "b", "r", "identity",
)  # fmt: skip
_SEAT_AXIS: Final = "seat"

_PUBLIC: Final = (
    Section("phase", (len(PHASE_NAMES),), f"one-hot of {', '.join(PHASE_NAMES)}"),
    Section("actor", (SEATS,), "who is asked", axes=_SEAT_AXIS),
    Section("crown", (SEATS,), "the holder of R*; later the emperor", axes=_SEAT_AXIS),
    Section("first_holder", (SEATS,), "who was dealt R*", axes=_SEAT_AXIS),
    Section("said", (SEATS, len(Said)), "public answers before play: "
            + ", ".join(s.name.lower() for s in Said), axes=f"{_SEAT_AXIS}; answer"),
    Section("called_kind", (NUM_KINDS,), "one-hot of the called card", axes="card kind"),
    Section("shown", (NUM_KINDS,), "copies shown with the call, and the tribute pile", high=8,
            axes="card kind"),
    Section("role_public", (1,), "1 when it is public who is guard, or that nobody is"),
    Section("multiplier", (1,), "m of the scores", high=8),
    Section("declared", (1,), "1 when the guard declared before the first lead"),
    Section("votes", (1,), "votes so far in the running poll", high=3),
    Section("hand_sizes", (SEATS,), "cards held", high=64, axes=_SEAT_AXIS),
    Section("played", (SEATS, NUM_KINDS), "cards played so far", high=4,
            axes=f"{_SEAT_AXIS}; card kind"),
    Section("places", (SEATS, SEATS), "one-hot of the finishing place, none while in",
            axes=f"{_SEAT_AXIS}; place 1..5"),
    Section("standing", (ROWS,), "one-hot of the rank of the set to beat, the last for jokers "
            "alone; none: a lead", axes="rank"),
    Section("standing_cards", (4,), "its naturals, small jokers, big jokers, X", high=16),
    Section("owner", (SEATS,), "who played it", axes=_SEAT_AXIS),
    Section("owner_out", (1,), "1 when it was his last set (底牌)"),
    Section("circle", (2,), "one-hot of circle 1, 2"),
    Section("passed", (SEATS,), "passed this set", axes=_SEAT_AXIS),
    Section("yielded", (SEATS,), "yielded (让牌) to this set", axes=_SEAT_AXIS),
    Section("claimed", (SEATS,), "claimed the lead (申请接风)", axes=_SEAT_AXIS),
    Section("left_trick", (SEATS,), "out of the trick by pass_scope=trick", axes=_SEAT_AXIS),
    Section("redeals", (1,), "void deals before this one", high=100),
    Section("deck", (NUM_KINDS,), "copies in the game", high=4, axes="card kind"),
    Section("options", (len(OPTION_FIELDS),), "rules: " + ", ".join(OPTION_FIELDS)
            + "; -1 where an option has no meaning; abandon_penalty divided by 4", high=100,
            low=-1),
    Section("recent", (RECENT, len(EVENT_FIELDS)), "latest moves, newest first: "
            + ", ".join(EVENT_FIELDS) + "; a secret call reads as a call", high=16,
            axes="move; field"),
)  # fmt: skip
_SEAT_ROLES: Final = Section(
    "seat_roles", (SEATS, 3), "roles the observer knows: emperor, guard, rebel; none: unknown",
    axes=f"{_SEAT_AXIS}; role",
)  # fmt: skip

OBSERVATION: Final = Layout(
    "baohuang observation",
    1,
    (
        Section("own_hand", (NUM_KINDS,), "own cards", high=4, axes="card kind"),
        Section("own_identity", (1,), "1 when the still hidden identity card is in the own hand"),
        Section("own_marked_b", (1,), "1 when dealt the marked small joker B*"),
        _SEAT_ROLES,
        Section("solo", (3,), "the emperor is known to be alone: grab, open, secret"),
        *_PUBLIC,
    ),
)
STATE: Final = Layout(
    "baohuang state",
    1,
    (
        Section("hands", (SEATS, NUM_KINDS), "all hands", high=4, axes="seat; card kind"),
        Section("roles", (SEATS, 3), "true roles: emperor, guard, rebel", axes="seat; role"),
        Section("solo", (3,), "true solo: grab, open, secret"),
        Section("identity_seat", (SEATS,), "who holds the still hidden identity card", axes="seat"),
        Section("marked_b", (SEATS,), "who was dealt B*", axes="seat"),
        *_PUBLIC,
    ),
)


def _move_table() -> I8:
    """``[A, fields after the seat] int8``."""
    names = EVENT_FIELDS[SEATS:]
    table = np.zeros((ACTIONS.size, len(names)), np.int8)
    table[np.arange(len(VERBS)), np.arange(len(VERBS))] = 1
    for kind in range(NUM_KINDS):
        for open_ in (0, 1):  # 明独 is public; a secret call is remembered as a call
            row = table[CALL + open_ * NUM_KINDS + kind]
            row[names.index("call")] = 1
            row[names.index("open")] = open_
            if kind < 52:
                row[names.index("rank_0") + kind // 4] = 1
            else:
                row[names.index("jokers_only")] = 1
                row[names.index("b" if kind == 52 else "r")] = 1
    for name in ("set", "set_identity"):
        ids = ACTIONS.offsets[name] + np.arange(dict(ACTIONS.blocks)[name])
        parts = PARTS[: len(ids)]
        table[ids, names.index("play")] = 1
        table[ids, names.index("rank_0") + parts[:, 0]] = 1
        table[ids[:, None], names.index("n") + np.arange(3)] = parts[:, 1:]
        table[ids, names.index("identity")] = name == "set_identity"
    return table


# An event's row is action * _SEAT_STEPS + seat - viewer + _FIRST_EVENT, so that no remainder needs
# to be taken; of no move (seat and action NOBODY) a row before those, all of which are zero.
_SEAT_STEPS: Final = 2 * SEATS - 1  # seat - viewer
_FIRST_EVENT: Final = _SEAT_STEPS + SEATS


@cache
def event_table() -> I8:
    """``[10 + 9 A, fields] int8``: a move as an observer sees it, by action and distance."""
    table = np.zeros((SEATS * 2 + ACTIONS.size * _SEAT_STEPS, len(EVENT_FIELDS)), np.int8)
    moves = table[SEATS * 2 :].reshape(ACTIONS.size, _SEAT_STEPS, len(EVENT_FIELDS))
    for place, distance in enumerate(range(1 - SEATS, SEATS)):
        moves[:, place, distance % SEATS] = 1
    moves[:, :, SEATS:] = _move_table()[:, None]
    table.setflags(write=False)
    return table


def option_vector(rules: Rules) -> I8:
    """Options as small numbers, in the order of :data:`OPTION_FIELDS`."""
    dump: dict[str, Any] = rules.model_dump(by_alias=True)
    out = np.zeros(len(OPTION_FIELDS), np.int8)
    for i, name in enumerate(OPTION_FIELDS):
        value = dump[name]
        if value is None:
            out[i] = -1
        elif name == "abandon_penalty":
            out[i] = min(value // 4, 100)
        else:
            out[i] = _OPTION_VALUES[value] if isinstance(value, str) else int(value)
    return out


# ---- what follows from a few numbers of the table

_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS  # [viewer, relative seat] -> seat


def _one_hot(values: Ints, first: int, count: int) -> Bits:
    """``[n, count]``: 1 at ``value - first``; none for another value."""
    found: Bits = values[:, None] == np.arange(first, first + count)
    return found


def _seat(seat: Ints, viewer: Ints) -> Bits:
    """``[n, S]`` one-hot of the relative seat; none for :data:`NOBODY`."""
    found: Bits = seat[:, None] == _ORDER[viewer]
    return found


def _seats(*seats_and_viewer: Ints) -> I8:
    *seats, viewer = seats_and_viewer
    return _side_by_side(*(_seat(seat, viewer) for seat in seats))


def _sets(*sets_and_viewer: Ints) -> I8:
    """Members of each set, by relative seat."""
    *sets, viewer = sets_and_viewer
    return _side_by_side(*(members(SEATS)[one[:, None], _ORDER[viewer]] for one in sets))


def _roles(emperor: Ints, guard: Ints, solo: Ints, public: Ints, viewer: Ints) -> I8:
    """Roles by relative seat, and the solo, as far as the viewer knows."""
    roles, known = roles_known(emperor, guard, solo, public, viewer)
    relative = roles[np.arange(len(viewer))[:, None], _ORDER[viewer]]
    return _side_by_side(relative.reshape(len(viewer), -1), _one_hot(known, 1, len(Solo) - 1))


def _true_roles(emperor: Ints, guard: Ints, solo: Ints) -> I8:
    nobody = np.zeros_like(emperor)
    return _roles(emperor, guard, solo, public=nobody + 1, viewer=nobody)


def _standing(standing: Ints) -> I8:
    """Rank, naturals, jokers and X of the set to beat."""
    there = standing != NOBODY
    parts = PARTS[set_of_action(standing) * there] * there[:, None]
    rank = _one_hot(parts[:, 0], 0, ROWS) & there[:, None]
    return _side_by_side(rank, parts[:, 1:], standing >= SET_IDENTITY)


def _owner(owner: Ints, alive: Ints, circle: Ints, viewer: Ints) -> I8:
    out = (owner != NOBODY) & ((alive >> np.maximum(owner, 0)) & 1 == 0)
    return _side_by_side(_seat(owner, viewer), out, _one_hot(circle, 1, 2))


def _side_by_side(*parts: Any) -> I8:
    return np.column_stack(parts).astype(np.int8)


_PRIVATE_LOOKUPS: Final = (
    Lookup(
        ("own_identity", "own_marked_b"),
        ("identity_seat", "marked_b", VIEWER),
        lambda identity, marked, viewer: _side_by_side(identity == viewer, marked == viewer),
    ),
    Lookup(("seat_roles", "solo"), ("emperor", "guard", "solo", "public", VIEWER), _roles),
)
_TRUE_LOOKUPS: Final = (
    Lookup(("roles", "solo"), ("emperor", "guard", "solo"), _true_roles),
    Lookup(
        ("identity_seat", "marked_b"),
        ("identity_seat", "marked_b"),
        lambda *seats: _side_by_side(*(_one_hot(seat, 0, SEATS) for seat in seats)),
    ),
)
_PUBLIC_LOOKUPS: Final = (
    Lookup(("phase",), ("phase",), lambda phase: _one_hot(phase, 0, len(PHASE_NAMES))),
    Lookup(
        ("actor", "crown", "first_holder"),
        ("actor", "crown", "first_holder", VIEWER),
        _seats,
    ),
    Lookup(("called_kind",), ("identity_kind",), lambda kind: _one_hot(kind, 0, NUM_KINDS)),
    Lookup(
        ("role_public", "multiplier", "declared", "votes"),
        ("public", "multiplier", "declared", "votes"),
        _side_by_side,
    ),
    Lookup(("standing", "standing_cards"), ("standing",), _standing),
    Lookup(("owner", "owner_out", "circle"), ("owner", "alive", "circle", VIEWER), _owner),
    Lookup(("passed", "yielded"), ("passed", "yielded", VIEWER), _sets),
    Lookup(("claimed", "left_trick"), ("claimed", "left_trick", VIEWER), _sets),
)


@cache
def observation_lookups() -> LookupTable:
    """Lookups of :data:`OBSERVATION`, made at the first use."""
    return LookupTable((*_PRIVATE_LOOKUPS, *_PUBLIC_LOOKUPS))


@cache
def state_lookups() -> LookupTable:
    """Lookups of :data:`STATE`, made at the first use."""
    return LookupTable((*_TRUE_LOOKUPS, *_PUBLIC_LOOKUPS))


# ---- the vectors

# Tables at once: what lies in between stays in the cache, and no BLAS starts threads for so little.
_CHUNK: Final = 256
_SEAT_ROWS: Final = np.arange(0, _CHUNK * SEATS, SEATS)[:, None]  # by table, in [B * S, …]
_MOVE_ROWS: Final = np.arange(0, _CHUNK * RECENT, RECENT)[:, None]  # in [B * RECENT, 2]
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.int8)  # by place 0 … S
_RING: Final = (np.arange(RECENT)[:, None] - np.arange(1, RECENT + 1)) % RECENT
_RING_BITS: Final = np.array(RECENT - 1, np.int16)  # [moves & these] -> slots, newest first
# [RECENT * 2, RECENT]: what seat and action of each move add to the row of its event
_EVENT_WEIGHTS: Final = np.kron(np.eye(RECENT), [[1], [_SEAT_STEPS]]).astype(np.float32)
_EVENT_SHIFT: Final = (_FIRST_EVENT - _SEATS).astype(np.float32)[:, None]  # by viewer
_MOVES: Final = COLUMN["moves"]
_REDEALS: Final = slice(COLUMN["redeals"], COLUMN["redeals"] + 1)


def constants(rules: Rules) -> I8:
    """``[chunk, …]`` sections ``deck`` and ``options``, neighbours and the same in every state."""
    same = np.concatenate([rules.cards.counts, option_vector(rules)])
    return np.broadcast_to(same, (_CHUNK, len(same)))


def encode(state: State, t: Ints | None, viewer: Ints, constant: I8, out: I8 | None = None) -> I8:
    """Observations ``[N, D] int8`` of seats ``viewer`` at tables ``t``.

    Args:
        t: ``[N] intp`` table numbers, or None for all.
        viewer: ``[N] intp`` seats.
        constant: what :func:`constants` gave for the rules.
        out: ``[N, D] int8`` to write to; new memory if None.

    Raises:
        ValueError: an ``out`` of another shape or dtype.
    """
    out = _memory(out, len(viewer), OBSERVATION)
    for start in range(0, len(viewer), _CHUNK):
        part = slice(start, start + _CHUNK)
        _encode(_Tables(state, t, part), viewer[part], constant, out[part])
    return out


def encode_state(state: State, t: Ints | None, constant: I8, out: I8 | None = None) -> I8:
    """WARNING, god's eye: everything at tables ``t``, ``[N, Ds] int8``, seats absolute."""
    count = len(state) if t is None else len(t)
    out = _memory(out, count, STATE)
    for start in range(0, count, _CHUNK):
        part = slice(start, start + _CHUNK)
        _encode_state(_Tables(state, t, part), constant, out[part])
    return out


def _memory(out: I8 | None, count: int, layout: Layout) -> I8:
    if out is None:
        return np.empty((count, layout.size), np.int8)
    if out.shape != (count, layout.size) or out.dtype != np.int8:
        raise ValueError(f"out is {out.dtype} {out.shape}, expected int8 {(count, layout.size)}")
    return out


class _Tables:
    """Some tables of a state: their numbers, and where they begin in flat arrays."""

    __slots__ = ("move_rows", "numbers", "seat_rows", "shown", "state")

    def __init__(self, state: State, t: Ints | None, part: slice) -> None:
        self.state = state
        if t is None:
            self.numbers, self.shown = state.numbers[part], state.shown[part]
            count = len(self.numbers)
            self.seat_rows: Ints = _SEAT_ROWS[:count]
            self.move_rows: Ints = _MOVE_ROWS[:count]
            if part.start:
                self.seat_rows = self.seat_rows + part.start * SEATS
                self.move_rows = self.move_rows + part.start * RECENT
        else:
            rows = t[part]
            self.numbers = state.numbers.take(rows, axis=0)
            self.shown = state.shown.take(rows, axis=0)
            self.seat_rows, self.move_rows = rows[:, None] * SEATS, rows[:, None] * RECENT


def _encode(tables: _Tables, viewer: Ints, constant: I8, out: I8) -> None:
    seats = _ORDER.take(viewer, axis=0)
    seats += tables.seat_rows
    own_cards, roles, *public = observation_lookups().take(tables.numbers, viewer)
    own = (
        tables.state.hands.reshape(-1, NUM_KINDS).take(seats[:, 0], axis=0),  # own_hand
        own_cards,  # own_identity, own_marked_b
        roles,  # seat_roles, solo
    )
    _write(tables, viewer, seats, own, public, constant, out)


def _encode_state(tables: _Tables, constant: I8, out: I8) -> None:
    seats = tables.seat_rows + _SEATS
    viewer = np.zeros(len(seats), np.intp)
    roles, marks, *public = state_lookups().take(tables.numbers, viewer)
    hands = tables.state.hands.reshape(-1, NUM_KINDS).take(seats, axis=0)
    own = (
        hands.reshape(len(seats), -1),  # hands
        roles,  # roles, solo
        marks,  # identity_seat, marked_b
    )
    _write(tables, viewer, seats, own, public, constant, out)


def _write(
    tables: _Tables,
    viewer: Ints,
    seats: Ints,
    own: tuple[I8, ...],
    public: list[I8],
    constant: I8,
    out: I8,
) -> None:
    """All sections in the order of the layout; ``seats [N, S]`` are rows of ``[B * S, …]``."""
    state, count = tables.state, len(seats)
    phase, asked, called, scalars, standing, owner, passed, claimed = public
    said = state.said.take(seats).astype("<i4", copy=False).view(np.uint8).reshape(-1, 4)
    played = state.played.reshape(-1, NUM_KINDS).take(seats, axis=0)
    places = _PLACES.take(state.places.take(seats), axis=0)
    np.concatenate(
        (
            *own,
            phase,
            asked,  # actor, crown, first_holder
            np.unpackbits(said, 1, len(Said), "little").reshape(count, -1),
            called,  # called_kind
            tables.shown,
            scalars,  # role_public, multiplier, declared, votes
            state.sizes.take(seats),  # hand_sizes
            played.reshape(count, -1),
            places.reshape(count, -1),
            standing,  # standing, standing_cards
            owner,  # owner, owner_out, circle
            passed,  # passed, yielded
            claimed,  # claimed, left_trick
            tables.numbers[:, _REDEALS],
            constant[:count],  # deck, options
            _recent(tables, viewer),
        ),
        axis=1,
        out=out,
    )


def _recent(tables: _Tables, viewer: Ints) -> I8:
    """``[N, RECENT * fields]`` latest moves, newest first."""
    numbers = tables.numbers
    slots = _RING.take(numbers[:, _MOVES] & _RING_BITS, axis=0)
    slots += tables.move_rows
    moves = tables.state.recent.reshape(-1, 2).take(slots, axis=0)
    # exact in float32, like the rows of lookups
    events = np.dot(moves.reshape(len(numbers), -1).astype(np.float32), _EVENT_WEIGHTS)
    events += _EVENT_SHIFT.take(viewer, axis=0)
    seen: I8 = event_table().take(events.astype(np.intp), axis=0).reshape(len(numbers), -1)
    return seen


assert len(PHASE_NAMES) - 1 == Phase.OVER
