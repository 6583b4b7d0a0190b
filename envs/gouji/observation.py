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

from lupai.envs.cards import NUM_KINDS, NUM_RANKS, RANKS
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERBS
from lupai.envs.gouji.orders import EMPTY, GAP, SEATS
from lupai.envs.gouji.rules import OPTION_NAMES, Rules
from lupai.envs.gouji.sets import PARTS
from lupai.envs.gouji.state import PHASE_NAMES, Kind, Phase, State
from lupai.envs.layout import Layout, Section
from lupai.envs.packed import RECENT
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
    Section("next_asked", (SEATS,), "when else a seat is asked about this: 1 next, 2 …; 0 not",
            high=SEATS, axes=_SEAT),
    Section("first_leader", (SEATS,), "who leads the first trick (上班)", axes=_SEAT),
    Section("threes", (4,), "3s that he showed", high=4, axes="suit s, h, c, d"),
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
    Section("burning", (1,), "1 when the question is whether to burn it (烧牌)"),
    Section("owner", (SEATS,), "who played it", axes=_SEAT),
    Section("bottom", (2,), "it is the 底牌 of 头科, of 二科"),
    Section("passed", (SEATS,), "out of the trick", axes=_SEAT),
    Section("yielded", (1,), "1 when the 对头 has yielded this set (让牌)"),
    Section("duty", (SEATS,), "who burned and has to go on so", axes=_SEAT),
    Section("burned", (SEATS,), "whose set he burned", axes=_SEAT),
    Section("headless", (SEATS,), "无头", axes=_SEAT),
    Section("melee", (1,), "1 in 四人乱缠"),
    Section("revolter", (SEATS,), "who laid his cards down (革命)", axes=_SEAT),
    Section("deaths", (1,), "够死级 that the revolter's 对头 has left", high=3),
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

_CHUNK: Final = 256
_SEATS: Final = np.arange(SEATS)
_ORDER: Final = (_SEATS[:, None] + _SEATS) % SEATS  # [viewer, relative seat] -> seat
_PLACES: Final = np.eye(SEATS + 1, SEATS, k=-1, dtype=np.int8)  # by place 0 … 6
_ONE: Final = np.concatenate([np.eye(SEATS), np.zeros((2, SEATS))]).astype(np.int8)  # -1: none


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


def viewers(seats: npt.ArrayLike, count: int) -> Ints:
    """``[count] intp`` of one seat or ``count`` of them.

    Raises:
        ValueError: another number of seats, or a seat outside of 0 … 5.
    """
    viewer = np.broadcast_to(np.asarray(seats, dtype=np.intp), (count,))
    if count and not (viewer.min() >= 0 and viewer.max() < SEATS):
        raise ValueError(f"seats are 0 … {SEATS - 1}, not {seats!r}")
    return viewer


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
    t = np.arange(len(state)) if t is None else t
    out = _memory(out, len(t), OBSERVATION)
    for start in range(0, len(t), _CHUNK):
        part = slice(start, start + _CHUNK)
        rows, who = t[part], viewer[part]
        into = _Writer(OBSERVATION, out[part])
        into["own_hand"] = state.hands[rows, who]
        running = state.phase[rows] == Phase.REVOLT
        into["own_revolt"] = (running & (state.revolts[rows] >> who & 1 == 1))[:, None]
        _write_public(state, rows, _ORDER[who], options, into)
    return out


def encode_state(state: State, t: Ints, options: I8) -> I8:
    """WARNING, god's eye: everything at tables ``t``, ``[N, Ds] int8``, seats absolute."""
    out = _memory(None, len(t), STATE)
    into = _Writer(STATE, out)
    into["hands"] = state.hands[t]
    running = (state.phase[t] == Phase.REVOLT)[:, None]
    into["revolts"] = running & (state.revolts[t, None] >> _SEATS & 1 == 1)
    _write_public(state, t, np.broadcast_to(_SEATS, (len(t), SEATS)), options, into)
    return out


def _memory(out: I8 | None, count: int, layout: Layout) -> I8:
    if out is None:
        return np.empty((count, layout.size), np.int8)
    if out.shape != (count, layout.size) or out.dtype != np.int8:
        raise ValueError(f"out is {out.dtype} {out.shape}, expected int8 {(count, layout.size)}")
    return out


class _Writer:
    """Sections of vectors ``[N, D]``, each to be assigned once."""

    def __init__(self, layout: Layout, out: I8) -> None:
        self._slices, self._out = layout.slices, out

    def __setitem__(self, name: str, values: Any) -> None:
        self._out[:, self._slices[name]] = values.reshape(len(self._out), -1)


def _write_public(state: State, t: Ints, order: Ints, options: I8, into: _Writer) -> None:
    """All public sections; ``order [N, 6]`` are the seats as the observer counts them."""
    c = state.numbers[t]
    at = state.COLUMN
    row = np.arange(len(t))[:, None]

    def seat(name: str) -> I8:
        return _ONE[c[:, at[name]]][row, order]

    def members(name: str) -> Ints:
        return c[:, at[name], None] >> order & 1

    def one_hot(name: str, count: int) -> Any:
        return c[:, at[name], None] == np.arange(count)

    into["phase"] = one_hot("phase", len(PHASE_NAMES))
    for name in ("actor", "first_leader", "owner", "duty", "burned", "revolter"):
        into[name] = seat(name)
    for name in ("passed", "headless"):
        into[name] = members(name)
    for name in ("burning", "yielded", "melee", "deaths", "redeals"):
        into[name] = c[:, at[name], None]
    into["next_asked"] = _when_asked(c[:, at["queue"]], c[:, at["phase"]])[row, order]
    into["threes"] = one_hot("threes_suit", 4) * c[:, at["threes"], None]
    into["hand_sizes"] = state.sizes[t][row, order]
    into["played"] = state.played[t][row, order]
    into["shown"] = state.shown[t][row, order]
    into["places"] = _PLACES[state.places[t][row, order]]
    standing = c[:, at["standing"]]
    there = (standing != NOBODY)[:, None]
    parts = PARTS[standing]
    into["standing"] = (parts[:, :1] == np.arange(ROWS)) & there
    into["standing_cards"] = parts[:, 1:] * there
    into["kind"] = one_hot("kind", len(Kind)) & there
    into["bottom"] = c[:, at["bottom"], None] == np.array([1, 2])
    into["offered"] = one_hot("offered", NUM_KINDS)
    into["refused"] = c[:, at["refused"], None] >> np.arange(NUM_RANKS) & 1
    into["owes"] = state.owes[t][row, order]
    giver = state.giver[t][row, order]
    into["giver"] = giver[:, :, None] == order[:, None, :]
    previous = state.previous[t]
    into["previous"] = (previous[:, None, :] == order[:, :, None]) & (previous != NOBODY)[:, None]
    into["options"] = np.broadcast_to(options, (len(t), len(options)))
    into["recent"] = _recent(state, t, c[:, at["moves"]], order)


def _when_asked(queue: Ints, phase: Ints) -> I8:
    """``[N, 6]`` place of each seat in the queue, from 1; 0 for none."""
    out = np.zeros((len(queue), SEATS + 2), np.int8)
    row = np.arange(len(queue))
    queue = np.where(phase == Phase.OVER, EMPTY, queue)
    for place in range(SEATS - 1, -1, -1):
        out[row, queue >> 3 * place & GAP] = place + 1
    return out[:, :SEATS]


def _recent(state: State, t: Ints, moves: Ints, order: Ints) -> I8:
    """``[N, RECENT, fields]`` latest moves, newest first."""
    slots = (moves[:, None] - np.arange(1, RECENT + 1)) % RECENT
    ring = np.take_along_axis(state.recent[t], slots[:, :, None], axis=1)
    out = np.empty((len(t), RECENT, len(EVENT_FIELDS)), np.int8)
    out[:, :, :SEATS] = ring[:, :, 0, None] == order[:, None, :]
    out[:, :, SEATS:] = move_table()[ring[:, :, 1]]
    return out
