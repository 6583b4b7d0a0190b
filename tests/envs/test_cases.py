"""The cases of tests/cases: positions through the move generator, hands through the engine."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.legal import Legal
from lupai.envs.baohuang.moves import play_moves
from lupai.envs.baohuang.notation import move_with_cards, ordered_texts, read_move
from lupai.envs.baohuang.play import trick_verbs
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.state import SOLO_NAMES, Phase, State
from lupai.envs.cards import RANK_OF_KIND, parse_cards
from lupai.envs.errors import IllegalMoveError, LupaiError, NotationError

CASES = Path(__file__).parents[1] / "cases"


def read_cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


PRESETS = ("qingdao", "shiwei", "weihai")
POSITIONS = [case for preset in PRESETS for case in read_cases(f"legal_{preset}.jsonl")]
HANDS = [case for preset in PRESETS for case in read_cases(f"hands_{preset}.jsonl")]


def numbered(cases: list[dict[str, Any]]) -> list[str]:
    """Names of cases: preset and line."""
    per = len(cases) // len(PRESETS)
    return [f"{PRESETS[i // per]} {i % per + 1}" for i in range(len(cases))]


def test_there_are_cases_of_each_preset() -> None:
    assert [case["rules"] for case in POSITIONS] == [p for p in PRESETS for _ in range(60)]
    assert [case["rules"] for case in HANDS] == [{"preset": p} for p in PRESETS for _ in range(16)]


def generate(positions: list[dict[str, Any]]) -> tuple[Legal, np.ndarray]:
    """Legal moves of some positions of one preset in one call, and the identity ranks."""
    rules = load_rules(positions[0]["rules"])
    n = len(positions)
    ranks, identity = np.zeros((n, 15), np.int8), np.full(n, -1)
    standing = np.full(n, -1)
    for i, case in enumerate(positions):
        for kind, starred in parse_cards(case["hand"]):
            ranks[i, RANK_OF_KIND[kind]] += 1
            if starred:
                identity[i] = RANK_OF_KIND[kind]
        if case["standing"]:
            standing[i] = ACTIONS.encode(ACTIONS.parse("play " + case["standing"]))
    circle = np.array([case["circle"] for case in positions])
    claimable = np.array([int(case["claimable"]) for case in positions])
    verbs = trick_verbs(rules, standing, circle, claimable)
    return play_moves(ranks, identity, standing, verbs, rules), identity


def texts(ids: np.ndarray, identity: int, rules: str) -> list[str]:
    rank = identity if identity >= 0 else None
    return ordered_texts(ids, rank, supreme=load_rules(rules).supreme)


@pytest.mark.parametrize("case", POSITIONS, ids=numbered(POSITIONS))
def test_position(case: dict[str, Any]) -> None:
    legal, identity = generate([case])
    ids, _ = legal.ids()
    assert texts(ids, int(identity[0]), case["rules"]) == case["legal"]
    assert legal.counts().tolist() == [len(case["legal"])]


@pytest.mark.parametrize("preset", PRESETS)
def test_all_positions_in_one_call(preset: str) -> None:
    """Ragged ids, counts, dense masks, membership and order of all positions at once agree."""
    cases = [case for case in POSITIONS if case["rules"] == preset]
    legal, identity = generate(cases)
    flat, offsets = legal.ids()
    dense = legal.dense()
    assert dense.shape == (len(cases), ACTIONS.size)
    assert dense.dtype == np.int8
    assert np.array_equal(legal.counts(), np.diff(offsets))
    for i, case in enumerate(cases):
        ids = flat[offsets[i] : offsets[i + 1]]
        assert texts(ids, int(identity[i]), preset) == case["legal"]
        assert (np.diff(ids) > 0).all()
        assert np.array_equal(np.flatnonzero(dense[i]), ids)
    for action in [*range(0, ACTIONS.size, 5), -1, ACTIONS.size, 10**6, -(10**6)]:
        column = dense[:, action] if 0 <= action < ACTIONS.size else np.zeros(len(cases))
        asked = np.full(len(cases), action)
        assert np.array_equal(legal.contains(asked), column == 1), action


def make(engine: Engine, state: State, move: str) -> None:
    """A move as records write it, with its very cards."""
    action, cards = read_move(state, 0, move, supreme=engine.rules.supreme)
    engine.step(state, [action], cards=cards[None])


def replay(record: dict[str, Any]) -> tuple[Engine, State]:
    engine = Engine(record["rules"])
    state = engine.reset_hands(record["hands"], record["start"])
    for number, text in enumerate(record["moves"]):
        seat, move = text.split(" ", 1)
        assert int(seat) == state.actor[0], (number, text)
        supreme = engine.rules.supreme
        action, cards = read_move(state, 0, move, supreme=supreme)
        if move.startswith("play "):
            again, taken = move_with_cards(state, 0, action, supreme=supreme)
            assert read_move(state, 0, again, supreme=supreme)[0] == action
            assert taken.sum() == cards.sum()
        engine.step(state, [action], cards=cards[None])
    return engine, state


@pytest.mark.parametrize("record", HANDS, ids=numbered(HANDS))
def test_hand(record: dict[str, Any]) -> None:
    engine, state = replay(record)
    assert state.phase[0] == Phase.OVER
    assert engine.scores(state)[0].tolist() == record["scores"]
    roles = record["roles"]
    guard = int(state.guard[0])
    assert (int(state.emperor[0]), None if guard < 0 else guard) == (
        roles["emperor"], roles["guard"],
    )  # fmt: skip
    assert SOLO_NAMES[state.solo[0]] == roles["solo"]
    places = state.places[0].tolist()
    out = sorted(p for p in places if p)
    assert out == list(range(1, len(out) + 1))
    assert [places.index(p) for p in out] == record["finish"]
    assert record["rules"]["preset"] != "qingdao" or not record["finish"] or len(out) == 5


def test_a_hand_with_a_move_altered_does_not_replay() -> None:
    """Each of the first sixty moves of a hand left out, or made by the next seat."""
    record = HANDS[0]
    moves = [m.split(" ", 1)[1] for m in record["moves"]]
    seats = [int(m[0]) for m in record["moves"]]
    follow(record, seats, moves)
    for i in range(60):
        with pytest.raises((LupaiError, AssertionError)):
            follow(record, seats[:i] + seats[i + 1 :], moves[:i] + moves[i + 1 :])
        with pytest.raises(AssertionError):
            follow(record, [*seats[:i], (seats[i] + 1) % 5, *seats[i + 1 :]], moves)


def follow(record: dict[str, Any], seats: list[int], moves: list[str]) -> None:
    engine = Engine(record["rules"])
    state = engine.reset_hands(record["hands"], record["start"])
    for seat, move in zip(seats, moves, strict=True):
        assert seat == state.actor[0]
        make(engine, state, move)
    assert state.over[0]


GUARD_HANDS = ["9c 9c 9c 4h", "R* 4s 3h", "5s 6s 3h", "9c 9d 3h", "7s 8s Th"]


def hidden_guard() -> tuple[Engine, State]:
    """4h stands, and seat 3 is asked: he holds 9d and, hidden, the fourth 9c."""
    hands = GUARD_HANDS
    engine = Engine({"preset": "qingdao", "deck": " ".join(hands)})
    state = engine.reset_hands(hands, 0)
    lead = ["play 4h", "pass", "pass"]
    for text in ["decline"] * 5 + ["cede", "call 9c"] + ["silent"] * 4 + lead:
        make(engine, state, text)
    assert state.actor[0] == 3
    return engine, state


@pytest.mark.parametrize(("move", "public"), [("play 9d", 0), ("play 9c*", 1), ("pass", 0)])
def test_a_hidden_guard_chooses_the_copy(move: str, public: int) -> None:
    engine, state = hidden_guard()
    make(engine, state, move)
    assert state.public[0] == public
    assert state.sizes[0, 3] == 3 - (move != "pass")
    assert state.identity_seat[0] == (-1 if public else 3)


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("play 9c", "has 0"),
        ("play 9d*", "star is not on the identity card"),
        ("play 9s", "has 0"),
        ("play 9d 5s", "do not mix"),
        ("play 9d 9c*", "illegal"),
        ("play 9d 9c", "illegal"),
        ("play ", "unreadable"),
        ("play", "unreadable"),
        ("play 9c* 9c*", "stars"),
        ("play 9", "unreadable"),
        ("play X", "unreadable"),
        ("play 9d  9c*", "unreadable"),
        ("play R R R R R", "more cards"),
        ("play " + " ".join(["9s"] * 17), "more cards"),
        ("call 9c", "illegal"),
        ("", "unreadable"),
        ("9d", "unreadable"),
    ],
)
def test_impossible_cards_of_a_hidden_guard(move: str, message: str) -> None:
    engine, state = hidden_guard()
    before = state.copy()
    with pytest.raises((IllegalMoveError, NotationError), match=message):
        make(engine, state, move)
    assert state.equals(before)
