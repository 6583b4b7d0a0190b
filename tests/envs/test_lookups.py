"""The tables from which observations are looked up, entry by entry against plain Python."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lupai.envs.baohuang import observation
from lupai.envs.baohuang.actions import ACTIONS, SET, VERBS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.lookups import RANGES, VIEWER, Lookup
from lupai.envs.baohuang.observation import EVENT_FIELDS, OBSERVATION, STATE
from lupai.envs.baohuang.state import COLUMN, COLUMNS, State
from lupai.envs.layout import Layout
from tests.envs.side_by_side import PRESETS, engine_of
from tests.oracle.random_play import random_rules

SEATS = range(5)
LOOKUPS = (
    *observation._PRIVATE_LOOKUPS,
    *observation._TRUE_LOOKUPS,
    *observation._PUBLIC_LOOKUPS,
)


# ---- what each lookup says, of one table and one viewer, without numpy


def one(place: int, count: int) -> list[int]:
    return [int(i == place) for i in range(count)]


def relative(seat: int, viewer: int) -> list[int]:
    return [int(seat == (viewer + i) % 5) for i in SEATS]


def members(seats: int, viewer: int) -> list[int]:
    return [seats >> (viewer + i) % 5 & 1 for i in SEATS]


def known(emperor: int, guard: int, solo: int, public: int, viewer: int) -> list[int]:
    secret = solo == 3 and not public
    sees_all = public or guard == viewer or (secret and emperor == viewer)
    out = []
    for i in SEATS:
        seat, role = (viewer + i) % 5, None
        if emperor != -1:
            if seat == emperor:
                role = 0
            elif seat == guard:  # the viewer himself sees all if he is guard
                role = 1 if sees_all else None
            elif sees_all or seat == viewer:
                role = 2
            if role == 0 and seat == guard and sees_all:
                out += [1, 1, 0]  # no state has this: emperor and guard in one
                continue
        out += [int(role == r) for r in range(3)]
    seen = 0 if secret and emperor != viewer else solo
    return out + one(seen - 1, 3)


def standing(action: int) -> list[int]:
    if action == -1:
        return [0] * 18
    cards = ACTIONS.decode(action, supreme=True).cards
    assert cards is not None
    return [*one(cards.rank, 14), cards.n, cards.b, cards.r, cards.x]


def owned(owner: int, alive: int, circle: int, viewer: int) -> list[int]:
    out = owner >= 0 and not alive >> owner & 1
    return [*relative(owner, viewer), int(out), *one(circle - 1, 2)]


PLAIN: dict[tuple[str, ...], Callable[..., list[int]]] = {
    ("own_identity", "own_marked_b"): lambda i, m, viewer: [int(i == viewer), int(m == viewer)],
    ("seat_roles", "solo"): known,
    ("roles", "solo"): lambda emperor, guard, solo: known(emperor, guard, solo, 1, 0),
    ("identity_seat", "marked_b"): lambda i, m: one(i, 5) + one(m, 5),
    ("phase",): lambda phase: one(phase, 14),
    ("actor", "crown", "first_holder"): lambda a, c, f, viewer: (
        relative(a, viewer) + relative(c, viewer) + relative(f, viewer)
    ),
    ("called_kind",): lambda kind: one(kind, 54),
    ("role_public", "multiplier", "declared", "votes"): lambda *numbers: list(numbers),
    ("standing", "standing_cards"): standing,
    ("owner", "owner_out", "circle"): owned,
    ("passed", "yielded"): lambda p, y, viewer: members(p, viewer) + members(y, viewer),
    ("claimed", "left_trick"): lambda c, t, viewer: members(c, viewer) + members(t, viewer),
}


@pytest.mark.parametrize("lookup", LOOKUPS, ids=lambda lookup: lookup.sections[0])
def test_each_lookup_says_what_it_should_in_every_case(lookup: Lookup) -> None:
    rows = lookup.rows()
    columns = [column.tolist() for column in lookup.combinations()]
    assert len(rows) == np.prod(lookup.counts)
    plain = PLAIN[lookup.sections]
    for row, values in zip(rows.tolist(), zip(*columns, strict=True), strict=True):
        if lookup.sections[0] == "standing" and 0 <= values[0] < SET:
            continue  # no set
        assert row == plain(*values), values


def test_each_lookup_has_the_size_of_its_sections() -> None:
    mine = ((OBSERVATION, observation._PRIVATE_LOOKUPS), (STATE, observation._TRUE_LOOKUPS))
    for layout, own in mine:
        for lookup in (*own, *observation._PUBLIC_LOOKUPS):
            names = [s.name for s in layout.sections]
            at = names.index(lookup.sections[0])
            assert tuple(names[at : at + len(lookup.sections)]) == lookup.sections
            width = sum(layout.by_name[name].length for name in lookup.sections)
            assert lookup.rows().shape[1] == width
        assert layout.sections[-1].name == "recent"


# ---- the row that is taken is the right one


def any_numbers(rng: np.random.Generator, count: int) -> np.ndarray:
    """``[count, F]``: every column anywhere in its range, independent of the others."""
    out = rng.integers(-1, 500, (count, len(COLUMNS))).astype(np.int16)
    for name, (low, high) in RANGES.items():
        if name != VIEWER:
            out[:, COLUMN[name]] = rng.integers(low, high + 1, count)
            ends = rng.integers(0, 4, count)
            out[ends == 0, COLUMN[name]] = low
            out[ends == 1, COLUMN[name]] = high
    return out


@pytest.mark.parametrize("layout", [OBSERVATION, STATE], ids=lambda layout: layout.name)
def test_the_matrix_product_finds_the_row_of_the_numbers(layout: Layout) -> None:
    rng = np.random.default_rng(0)
    own, table = {
        OBSERVATION.name: (observation._PRIVATE_LOOKUPS, observation.observation_lookups()),
        STATE.name: (observation._TRUE_LOOKUPS, observation.state_lookups()),
    }[layout.name]
    numbers, viewer = any_numbers(rng, 20_000), rng.integers(0, 5, 20_000)
    taken = table.take(numbers, viewer)
    lookups = (*own, *observation._PUBLIC_LOOKUPS)
    assert len(taken) == len(lookups)
    for lookup, block in zip(lookups, taken, strict=True):
        columns = [
            viewer if name == VIEWER else numbers[:, COLUMN[name]].astype(int)
            for name in lookup.numbers
        ]
        assert block.dtype == np.int8
        assert np.array_equal(block, lookup.write(*columns).astype(np.int8)), lookup.sections


def play_on(state: State, engine: Engine, rng: np.random.Generator) -> bool:
    """A random move where a hand goes on; whether there was one."""
    tables = np.flatnonzero(~state.over)
    ids, offsets = engine.legal(state, tables).ids()
    if tables.size:
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], tables)
    return bool(tables.size)


@pytest.mark.parametrize("table", [*PRESETS, "random"])
def test_numbers_stay_in_their_ranges(table: str) -> None:
    """Else a row of another lookup would be read; so too in states with guessed hands."""
    rules: list[Any] = [{"preset": table}]
    if table == "random":
        rules = [random_rules(random.Random(seed), named_deck=0.2) for seed in range(12)]
    low = np.array([RANGES.get(name, (-(2**15), 0))[0] for name, _ in COLUMNS])
    high = np.array([RANGES.get(name, (0, 2**15))[1] for name, _ in COLUMNS])
    for number, some in enumerate(rules):
        engine, rng = engine_of(some), np.random.default_rng(number)
        state = engine.reset(range(number, number + 400 // len(rules)))
        while play_on(state, engine, rng):
            assert (state.numbers >= low).all()
            assert (state.numbers <= high).all()
            # owner_out is said of the owner; the set to beat and its owner come and go together
            assert ((state.owner == -1) == (state.standing == -1)).all()
            masked = engine.mask_hidden(state, rng.integers(0, 5, len(state)))
            assert (masked.numbers >= low).all()


# ---- events


def event_fields(action: int) -> list[int]:
    """What others see of a move, without the seat."""
    move = ACTIONS.decode(action)
    said = dict.fromkeys(EVENT_FIELDS[5:], 0)
    if move.verb == "call":
        said["call"], said["open"] = 1, int(move.way == "open")
        assert list(said)[:17] == list(VERBS)
        if move.kind < 52:
            said[f"rank_{move.kind // 4}"] = 1
        else:
            said["jokers_only"] = said["b" if move.kind == 52 else "r"] = 1
    elif move.cards is not None:
        cards = move.cards
        said["play"] = 1
        said["jokers_only" if cards.rank == 13 else f"rank_{cards.rank}"] = 1
        said |= {"n": cards.n, "b": cards.b, "r": cards.r}
        said["identity"] = int(cards.starred or cards.x)
    else:
        said[move.verb] = 1
    return list(said.values())


def test_events_of_all_moves_seats_and_viewers() -> None:
    table = observation.event_table()
    seats = np.arange(5)
    by_seat = (seats[:, None] - seats) % 5  # [seat, viewer]
    for action in range(ACTIONS.size):
        if ACTIONS.block_of(action)[0] == "call_secret":
            continue  # remembered as a call: no state has one
        rows = table[action * 9 + seats[:, None] - seats + 14]
        assert (rows[:, :, :5] == np.eye(5)[by_seat]).all(), action
        assert (rows[:, :, 5:] == event_fields(action)).all(), action
    assert not table[-9 - 1 - seats + 14].any()  # no move: seat and action are -1
    assert len(table) == 10 + 9 * ACTIONS.size


# ---- many rows, and memory to write to


def tables(count: int) -> tuple[Engine, State]:
    engine, rng = engine_of({"preset": "weihai"}), np.random.default_rng(3)
    state = engine.reset(range(count))
    for _ in range(60):
        play_on(state, engine, rng)
    return engine, state


def test_many_rows_are_those_of_each_table_alone() -> None:
    engine, state = tables(600)
    rng = np.random.default_rng(1)
    viewer = rng.integers(0, 5, 600)
    alone = np.concatenate([engine.observe(state, [viewer[i]], [i]) for i in range(600)])
    assert np.array_equal(engine.observe(state, viewer), alone)
    some = rng.integers(0, 600, 1100)  # in any order, with repeats
    assert np.array_equal(engine.observe(state, viewer[some], some), alone[some])
    whole = np.concatenate([engine.state_vector(state, [i]) for i in range(600)])
    assert np.array_equal(engine.state_vector(state), whole)
    assert np.array_equal(engine.state_vector(state, some), whole[some])
    assert engine.observe(state, [], []).shape == (0, OBSERVATION.size)
    assert engine.state_vector(state, []).shape == (0, STATE.size)


def test_one_seat_is_that_of_every_table() -> None:
    engine, state = tables(7)
    expected = engine.observe(state, np.full(7, 3))
    assert np.array_equal(engine.observe(state, 3), expected)
    assert np.array_equal(engine.observe(state, [3]), expected)
    for bad in (-1, 5, [0, 1, 2, 3, 4, 0, 5], [-1] * 7, [0, 1], 1 << 40):
        with pytest.raises(ValueError, match=r"seats are 0|broadcast"):
            engine.observe(state, bad)
        with pytest.raises(ValueError, match=r"seats are 0|broadcast"):
            engine.observe(state, bad, [2])


def test_observations_are_written_where_one_wants_them() -> None:
    engine, state = tables(300)
    expected = engine.observe(state, state.actor)
    wide = np.full((300, OBSERVATION.size + 5), 99, np.int8)
    for out in (np.full_like(expected, 99), wide[:, 2:-3], np.asfortranarray(wide[:, 5:])):
        assert engine.observe(state, state.actor, out=out) is out
        assert np.array_equal(out, expected)
    assert (wide[:, :2] == 99).all()
    assert (wide[:, -3:] == 99).all()
    for bad in (expected[1:].copy(), expected.astype(np.int16), expected[:, 1:].copy()):
        with pytest.raises(ValueError, match="out is"):
            engine.observe(state, state.actor, out=bad)
