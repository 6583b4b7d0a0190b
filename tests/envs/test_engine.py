"""The engine's edges: what it refuses, what it leaves untouched, and hands played by hand."""

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

from lupai.envs.baohuang import notation
from lupai.envs.baohuang.actions import ACTIONS, CALL, SET, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Phase, Said, State
from lupai.envs.deals import MAX_VOIDS
from lupai.envs.errors import IllegalMoveError, NotationError, RulesError, SeedError
from tests.envs.side_by_side import play, small, walk
from tests.oracle.random_play import small_deck

PASS, DECLINE = VERB_ID["pass"], VERB_ID["decline"]


# ---- illegal actions


@pytest.mark.parametrize("seed", range(12))
def test_illegal_actions_are_refused_and_change_nothing(seed: int) -> None:
    """In every state of random hands: the message names seat, move, table and what is legal."""
    for party, _, rng in walk(seed, {"preset": "qingdao", "deck": small_deck(random.Random(seed))}):
        engine, state = party.engine, party.state
        if state.over[0]:
            break
        mask = engine.legal(state).dense()[0]
        legal = engine.legal_texts(state, 0)
        before = state.copy()
        near = [a for a in (*range(CALL), rng.randrange(CALL, SET)) if not mask[a]]
        far = [a for a in rng.sample(range(SET, ACTIONS.size), 5) if not mask[a]]
        for action in [*rng.sample(near, 3), *far, -1, ACTIONS.size, 10**9]:
            with pytest.raises(IllegalMoveError) as caught:
                engine.step(state, [action])
            message = str(caught.value)
            assert f"seat {state.actor[0]}" in message
            assert f"action {action}" in message
            assert f"legal: {', '.join(legal[:12])}" in message
            if state.standing[0] >= 0:
                assert f"to beat: {party.hands[0].standing} of seat" in message
        assert state.equals(before)


def test_one_illegal_action_stops_the_whole_batch() -> None:
    engine = Engine()
    state = engine.reset(range(6))
    before = state.copy()
    with pytest.raises(IllegalMoveError, match=f"seat {state.actor[4]}"):
        engine.step(state, [DECLINE] * 4 + [PASS, DECLINE])
    assert state.equals(before)


@pytest.mark.parametrize("actions", [[3.0, 4.0], ["grab", "grab"], [None, 4], [True, False]])
def test_actions_are_integers(actions: Any) -> None:
    state = Engine().reset([0, 1])
    with pytest.raises(TypeError, match="integers"):
        Engine().step(state, actions)


@pytest.mark.parametrize("actions", [[4], [4, 4, 4], 4, [[4], [4]], []])
def test_one_action_for_each_table(actions: Any) -> None:
    engine = Engine()
    state = engine.reset([0, 1])
    with pytest.raises(ValueError, match="for 2 tables"):
        engine.step(state, actions)
    engine.step(state, [], [])
    assert state.equals(engine.reset([0, 1]))


@pytest.mark.parametrize(
    ("text", "message"),
    [("play 3*", "star"), ("play 9*", "star"), ("play X", "no X"), ("play 99X", "no X"),
     ("play 3R*", "star")],
)  # fmt: skip
def test_stars_and_x_are_not_read_as_something_else(text: str, message: str) -> None:
    """`play 99X` once was the id of `play 9*9`: the flag means the star under these rules."""
    engine, state = small("9c 9c 9c R*", "3s 4s 5s", "9c 9d 9h", "7s 8s 9s", "Ts Js Qs")
    with pytest.raises(IllegalMoveError, match=message):
        engine.action_of(state, 0, text)
    play(engine, state, "0 decline", "4 decline", "3 decline", "2 decline", "1 decline")
    play(engine, state, "0 call 9c", *(f"{s} silent" for s in (1, 2, 3, 4)), "0 play 9c", "1 pass")
    if text == "play 9*":
        assert engine.action_of(state, 0, text) == ACTIONS.offsets["set_identity"] + 6 * 400
    else:
        with pytest.raises(IllegalMoveError, match=message):
            engine.action_of(state, 0, text)


# ---- copies


@pytest.mark.parametrize(
    "clone",
    [State.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_are_equal_and_independent(clone: Any) -> None:
    for party, _, rng in walk(4, {"preset": "qingdao"}):
        if rng.random() < 0.97:
            continue
        engine, state = party.engine, party.state
        other, before = clone(state), state.copy()
        assert other.equals(state)
        for _ in range(30):
            if other.over[0]:
                break
            ids, _ = engine.legal(other).ids()
            engine.step(other, [int(rng.choice(ids.tolist()))])
        assert state.equals(before)


def test_take_and_put() -> None:
    engine = Engine()
    state = engine.reset(range(5))
    before = state.copy()
    part = state.take([3, 1])
    assert part.equals(engine.reset([3, 1]))
    engine.step(part, [DECLINE, DECLINE])
    assert state.equals(before)
    state.put([0, 4], part)
    assert state.take([0, 4]).equals(part)
    assert state.take([1, 2, 3]).equals(before.take([1, 2, 3]))
    engine.step(part, [DECLINE, DECLINE])
    assert not state.take([0, 4]).equals(part)


def test_what_the_engine_gives_out_is_not_changed_later() -> None:
    engine = Engine()
    state = engine.reset(range(3))
    seen = engine.observe(state, 0), engine.state_vector(state), engine.legal(state).dense()
    kept = [array.copy() for array in seen]
    for _ in range(40):
        flat, offsets = engine.legal(state).ids()
        engine.step(state, flat[offsets[1:] - 1])
    assert all(np.array_equal(a, b) for a, b in zip(seen, kept, strict=True))


def test_stepping_with_the_legal_moves_at_hand_is_the_same() -> None:
    engine = Engine()
    one, other = engine.reset(range(8)), engine.reset(range(8))
    rng = np.random.default_rng(0)
    for _ in range(300):
        tables = np.flatnonzero(~one.over)
        legal = engine.legal(one, tables)
        ids, offsets = legal.ids()
        actions = ids[rng.integers(offsets[:-1], offsets[1:])]
        engine.step(one, actions, tables, legal=legal)
        engine.step(other, actions, tables)
    assert one.equals(other)


@pytest.mark.parametrize("rules", ["qingdao", "shiwei", "weihai"])
def test_tables_stepped_alone_and_together_are_the_same(rules: str) -> None:
    """One table goes through Python's ints, several through arrays: the same bytes come out."""
    engine = Engine(rules)
    together = engine.reset(range(12))
    alone = [together.take([i]) for i in range(12)]
    rng = np.random.default_rng(2)
    for _ in range(500):
        tables = np.flatnonzero(~together.over)
        if not tables.size:
            break
        legal = engine.legal(together, tables)
        flat, offsets = legal.ids()
        actions = legal.pick(rng.random(len(tables)))
        for i, table in enumerate(tables.tolist()):
            own = engine.legal(alone[table])
            assert own.ids()[0].tolist() == flat[offsets[i] : offsets[i + 1]].tolist()
            assert np.array_equal(own.dense(), legal.take([i]).dense())
            engine.step(alone[table], [int(actions[i])], legal=own if table % 2 else None)
        engine.step(together, actions, tables, legal=legal)
        for table in tables.tolist():
            assert together.take([table]).equals(alone[table])


def test_a_table_takes_at_most_4_kib() -> None:
    state = Engine().reset(range(64))
    arrays = [value for value in vars(state).values() if isinstance(value, np.ndarray)]
    assert len(arrays) == len(vars(state)) == 12
    assert sum(array.nbytes for array in arrays) / len(state) <= 4096


# ---- injected deals


HANDS = ["R* 3s 4s", "5s 5h 6h", "6s 6d 7d", "7s 7h 8h", "8s 8d 9d"]


@pytest.mark.parametrize(
    ("hands", "start", "error", "message"),
    [
        (HANDS, 5, RulesError, "start 5 is no seat"),
        (HANDS, -1, RulesError, "start -1 is no seat"),
        (HANDS, True, RulesError, "start True is no seat"),
        (HANDS, None, RulesError, "start None is no seat"),
        (HANDS[:4], 0, RulesError, "5 hands"),
        ("R* 3s", 0, RulesError, "5 hands"),
        ([*HANDS[:4], None], 0, RulesError, "hand of seat 4: cards as text, not None"),
        ([*HANDS[:4], ["8s", "8d", "9d"]], 0, RulesError, "hand of seat 4: cards as text"),
        ([*HANDS[:4], "8s 8d"], 0, RulesError, "hold 0 of 9d, the deck 1"),
        ([*HANDS[:4], "8s 8d 8d"], 0, RulesError, "hold 2 of 8d, the deck 1"),
        ([HANDS[0].replace("*", ""), *HANDS[1:]], 0, RulesError, r"hold 1 of R, the deck 0"),
        ([HANDS[0] + " R*", *HANDS[1:]], 0, RulesError, r"hold 2 of R\*, the deck 1"),
        ([HANDS[0] + " 5s", "5h 6h", *HANDS[2:]], 0, RulesError, "hand of seat 0 has 4 cards"),
        (["", *HANDS[1:4], HANDS[4] + " " + HANDS[0]], 0, RulesError, "seat 0 has 0 cards"),
        ([*HANDS[:4], " ".join(["8s"] * 300)], 0, RulesError, "300 cards"),
        ([*HANDS[:4], "8s 8d 9x"], 0, NotationError, "unreadable card '9x'"),
        ([*HANDS[:4], "8s  8d 9d"], 0, NotationError, "unreadable card ''"),
        ([*HANDS[:4], "8s 8d 9d*"], 0, NotationError, r"R\* or B\* only"),
    ],
)
def test_impossible_deals(hands: Any, start: Any, error: type[Exception], message: str) -> None:
    engine = Engine({"preset": "qingdao", "deck": " ".join(HANDS)})
    assert engine.reset_hands(HANDS, 0).injected[0] == 1
    with pytest.raises(error, match=message):
        engine.reset_hands(hands, start)


def test_hand_sizes_follow_the_start_seat() -> None:
    engine = Engine()
    hands, start = engine.dealt_hands(1)
    with pytest.raises(RulesError, match=f"hand of seat {min(start, (start + 1) % 5)} has"):
        engine.reset_hands(hands, (start + 1) % 5)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_dealt_hands_checks_its_seed(seed: Any) -> None:
    with pytest.raises(SeedError):
        Engine().dealt_hands(seed)


@pytest.mark.parametrize("episode", [-1, 0.5, True, "1", None])
def test_episodes_are_counted_from_zero(episode: Any) -> None:
    with pytest.raises(SeedError, match="episodes"):
        Engine().reset([0, 1], episode)


# ---- voids


def test_an_injected_void_ends_the_hand_with_zeros() -> None:
    engine, state = small(*HANDS)
    play(engine, state, "0 decline", "4 decline", "3 decline", "2 decline", "1 decline")
    play(engine, state, "0 cede", "4 cede", "3 cede", "2 cede", "1 cede")
    assert (state.phase[0], state.actor[0], state.void[0]) == (Phase.OVER, -1, 1)
    assert (state.emperor[0], state.guard[0], state.redeals[0]) == (-1, -1, 0)
    assert engine.scores(state)[0].tolist() == [0] * 5
    assert state.places[0].tolist() == [0] * 5
    assert all(state.said[0] >> Said.SKIPPED_FORCED_CALL & 1)
    assert notation.hand_texts(state, 0, 0) == ["3s", "4s", "R"]  # R* is back where it was dealt


def test_a_hundred_voids_end_the_hand() -> None:
    """No kind has four copies, so nobody can ever call: two tables, void after void."""
    engine = Engine({"preset": "qingdao", "deck": " ".join(HANDS)})
    state = engine.reset([0, 1])
    dealt = set()
    for void in range(MAX_VOIDS):
        assert state.redeals.tolist() == [void, void]
        dealt.add(state.hands.tobytes())
        for verb in ["decline"] * 5 + ["cede"] * 5:
            expected = ["grab", "decline"] if verb == "decline" else ["cede"]
            assert engine.legal_texts(state, 1) == expected
            engine.step(state, [VERB_ID[verb]] * 2)
    assert MAX_VOIDS == len(dealt) == 100
    assert state.over.all()
    assert state.void.tolist() == [1, 1]
    assert state.redeals.tolist() == [99, 99]
    assert engine.scores(state).tolist() == [[0] * 5] * 2
    assert state.places.tolist() == [[0] * 5] * 2
