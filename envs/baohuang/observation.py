"""What a seat sees, as one flat ``int8`` vector, for all presets and phases.

Seats are counted from the observer: 0 is himself, 1 his 下家, and so on. Everything the seat knows
is in it and nothing else: :func:`encode` reads hidden fields only where the observer may know
them, so a state from which :mod:`lupai.envs.baohuang.hidden` removed them gives the same bytes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ACTIONS, CALL, SET_IDENTITY, VERBS
from lupai.envs.baohuang.hidden import known_roles
from lupai.envs.baohuang.legal import Ints, set_of_action
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import (
    COLUMN,
    PHASE_NAMES,
    RECENT,
    SEATS,
    Phase,
    Said,
    Solo,
    State,
)  # fmt: skip
from lupai.envs.cards import NUM_KINDS
from lupai.envs.layout import Layout, Section
from lupai.envs.seats import NOBODY, members
from lupai.envs.sets import PARTS, ROWS

I8 = npt.NDArray[np.int8]

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


def _event_table() -> I8:
    """``[A + 1, fields after the seat] int8``; the last row, no move, is zero."""
    names = EVENT_FIELDS[SEATS:]
    table = np.zeros((ACTIONS.size + 1, len(names)), np.int8)
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


_EVENTS: Final = _event_table()


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


# Sections that are written together are neighbours in both layouts, in this order.
_SCALARS: Final = ("role_public", "multiplier", "declared", "votes")
_SEAT_SETS: Final = ("passed", "yielded", "claimed", "left_trick")
_SEAT_ONE_HOTS: Final = ("actor", "crown", "first_holder", "owner")
_ONE_HOTS: Final = ("phase", *_SEAT_ONE_HOTS, "circle", "called_kind", "standing")
_SCALAR_COLUMNS: Final = [COLUMN[n] for n in ("public", "multiplier", "declared", "votes")]
_SEAT_SET_COLUMNS: Final = [COLUMN[n] for n in _SEAT_SETS]
_SEAT_COLUMNS: Final = [COLUMN[n] for n in _SEAT_ONE_HOTS]
_SOLO: Final = np.eye(len(Solo), len(Solo) - 1, k=-1, dtype=np.int8)  # by Solo
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.int8)  # by place 0 … S
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS  # [viewer, relative seat] -> seat
_MEMBERS: Final = np.stack([members(SEATS)[:, order] for order in _ORDER])  # [viewer, set, seat]
_SAID_BITS: Final = np.arange(len(Said))
_AGES: Final = np.arange(1, RECENT + 1)
_NOWHERE: Final = 0  # where absent one-hots are written; the first section is written after them


def _span(layout: Layout, names: tuple[str, ...]) -> slice:
    return slice(layout.slices[names[0]].start, layout.slices[names[-1]].stop)


def _write_public(
    out: I8, layout: Layout, state: State, t: Ints, viewer: Ints, constant: I8
) -> None:
    at = layout.slices
    count = len(t)
    column = t[:, None]
    order = _ORDER[viewer]
    numbers = state.numbers[t]

    standing = numbers[:, COLUMN["standing"]].astype(np.intp)
    there = standing != NOBODY
    parts = PARTS[set_of_action(standing) * there]
    seats = numbers[:, _SEAT_COLUMNS]
    index = np.empty((count, len(_ONE_HOTS)), np.intp)
    index[:, 0] = numbers[:, COLUMN["phase"]]
    index[:, 1:5] = np.where(seats >= 0, (seats - viewer[:, None]) % SEATS, NOBODY)
    index[:, 5] = numbers[:, COLUMN["circle"]] - 1
    index[:, 6] = numbers[:, COLUMN["identity_kind"]]
    index[:, 7] = np.where(there, parts[:, 0], NOBODY)
    first = [layout.offsets[name] for name in _ONE_HOTS]
    out[np.arange(count)[:, None], np.where(index >= 0, index + first, _NOWHERE)] = 1

    said = (state.said[column, order][:, :, None] >> _SAID_BITS) & 1
    out[:, at["said"]] = said.reshape(count, -1)
    out[:, at["shown"]] = state.shown[t]
    out[:, _span(layout, _SCALARS)] = numbers[:, _SCALAR_COLUMNS]
    out[:, at["hand_sizes"]] = state.sizes[column, order]
    out[:, at["played"]] = state.played[column, order].reshape(count, -1)
    out[:, at["places"]] = _PLACES[state.places[column, order]].reshape(count, -1)
    beat = out[:, at["standing_cards"]]
    beat[:, :3] = parts[:, 1:] * there[:, None]
    beat[:, 3] = standing >= SET_IDENTITY
    owner_in = numbers[:, COLUMN["alive"]] >> np.maximum(numbers[:, COLUMN["owner"]], 0)
    out[:, at["owner_out"]] = (there & (owner_in & 1 == 0))[:, None]
    seat_sets = _MEMBERS[viewer[:, None], numbers[:, _SEAT_SET_COLUMNS]]
    out[:, _span(layout, _SEAT_SETS)] = seat_sets.reshape(count, -1)
    out[:, at["redeals"]] = numbers[:, COLUMN["redeals"], None]
    out[:, _span(layout, ("deck", "options"))] = constant

    slot = (numbers[:, COLUMN["moves"], None] - _AGES) % RECENT
    recent = state.recent[column, slot]
    seat, action = recent[:, :, 0], recent[:, :, 1]
    relative = np.where(seat >= 0, (seat - viewer[:, None]) % SEATS, NOBODY)
    events = np.empty((count, RECENT, len(EVENT_FIELDS)), np.int8)
    events[:, :, :SEATS] = relative[:, :, None] == _SEATS
    events[:, :, SEATS:] = _EVENTS[action]  # no move is -1: the last row
    out[:, at["recent"]] = events.reshape(count, -1)


def constants(rules: Rules) -> I8:
    """The sections ``deck`` and ``options``, which are adjacent and the same in every state."""
    return np.concatenate([rules.cards.counts, option_vector(rules)])


def encode(state: State, t: Ints, viewer: Ints, constant: I8) -> I8:
    """Observations ``[N, D] int8`` of seats ``viewer`` at tables ``t``."""
    out = np.zeros((len(t), OBSERVATION.size), np.int8)
    _write_public(out, OBSERVATION, state, t, viewer, constant)
    at = OBSERVATION.slices
    out[:, at["own_hand"]] = state.hands[t, viewer]
    out[:, at["own_identity"]] = (state.identity_seat[t] == viewer)[:, None]
    out[:, at["own_marked_b"]] = (state.marked_b[t] == viewer)[:, None]
    roles, solo = known_roles(state, t, viewer)
    relative = roles[np.arange(len(t))[:, None], _ORDER[viewer]]
    out[:, at["seat_roles"]] = relative.reshape(len(t), -1)
    out[:, at["solo"]] = _SOLO[solo]
    return out


def encode_state(state: State, t: Ints, constant: I8) -> I8:
    """WARNING, god's eye: everything at tables ``t``, ``[N, Ds] int8``, seats absolute."""
    out = np.zeros((len(t), STATE.size), np.int8)
    _write_public(out, STATE, state, t, np.zeros(len(t), np.intp), constant)
    at = STATE.slices
    out[:, at["hands"]] = state.hands[t].reshape(len(t), -1)
    crowned = (state.emperor[t] != NOBODY)[:, None]
    is_emperor = state.emperor[t][:, None] == _SEATS
    is_guard = state.guard[t][:, None] == _SEATS
    roles = np.stack([is_emperor, is_guard, crowned & ~is_emperor & ~is_guard], axis=2)
    out[:, at["roles"]] = roles.reshape(len(t), -1)
    out[:, at["solo"]] = _SOLO[state.solo[t]]
    out[:, at["identity_seat"]] = state.identity_seat[t][:, None] == _SEATS
    out[:, at["marked_b"]] = state.marked_b[t][:, None] == _SEATS
    return out


assert len(PHASE_NAMES) - 1 == Phase.OVER
