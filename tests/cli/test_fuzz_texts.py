"""Anything as hand, set, move, option or rules: one clear error; what is right reads back."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.baohuang.actions import ACTIONS, SET_IDENTITY
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import OPTION_NAMES, PRESETS, load_rules
from lupai.envs.cards import NUM_RANKS
from lupai.envs.errors import LupaiError
from tests.cli.junk import FUZZ, JUNK, MOVES, VALUES
from tests.cli.running import lupai
from tests.oracle.random_play import random_record, random_rules


def outcome(function, value):
    """Result, or the short message of an error of the library's own."""
    try:
        return function(value), ""
    except LupaiError as error:
        return None, str(error)


# --- positions, hands, sets ----------------------------------------------------------------------

CARDS = st.lists(
    st.sampled_from(["9c", "9c*", "9d", "B", "B*", "R", "R*", "X", "6s", "2h"]) | JUNK, max_size=7
).map(" ".join)
SETS = st.text(alphabet="39T2BRX* c", max_size=8) | JUNK


@FUZZ
@given(CARDS, st.none() | SETS, st.sampled_from([*PRESETS, "shiwei;yield=true"]), st.booleans(),
       st.sampled_from([1, 2, 3, True, None]), st.booleans())  # fmt: skip
def test_any_position(hand, standing, rules, claimable, circle, public):
    position = {
        "rules": rules, "hand": hand, "standing": standing, "circle": circle,
        "claimable": claimable, "public": public,
    }  # fmt: skip
    done = lupai("legal", "--file", "-", stdin=json.dumps(position).encode())
    answer = json.loads(done.out)
    if isinstance(answer, dict):
        assert list(answer) == ["error"]
        assert len(answer["error"]) < 700
        assert done.status == 1
    else:
        assert (done.status, done.err) == (0, "")
        assert len(set(answer)) == len(answer) > 0


@FUZZ
@given(st.dictionaries(st.sampled_from(["rules", "hand", "standing", "circle", "claimable",
                                        "public", "x"]), VALUES, max_size=7))  # fmt: skip
def test_any_values_in_a_position(position):
    done = lupai("legal", "--file", "-", stdin=json.dumps(position).encode())
    assert done.out.count("\n") == 1
    json.loads(done.out)
    assert "internal error" not in done.err


@FUZZ
@given(CARDS, SETS)
def test_any_words(hand, standing):
    if "\x00" in hand + standing:
        return
    done = lupai("legal", "--hand=" + hand, "--standing=" + standing)
    assert done.status in (0, 2)
    assert "internal error" not in done.err
    assert done.err.count("\n") == (done.status != 0)


# --- rules ---------------------------------------------------------------------------------------


@FUZZ
@given(st.dictionaries(st.sampled_from([*OPTION_NAMES, "preset"]) | JUNK, VALUES, max_size=4))
def test_any_options(options):
    rules, error = outcome(load_rules, options)
    assert len(error) < 700
    assert error or load_rules(str(rules)) == rules


@FUZZ
@given(
    st.lists(
        st.sampled_from([*PRESETS, *OPTION_NAMES, "true", "false", "1", "-1", "null", "[]", "{}",
                         "R* 9c", "supreme", "marks", "called_card"]) | JUNK, max_size=5),
    st.lists(st.sampled_from([";", "=", "==", ";;", ""]), min_size=5, max_size=5),
)  # fmt: skip
def test_any_rules_string(parts, joints):
    text = "".join(part + joint for part, joint in zip(parts, joints, strict=False))
    rules, error = outcome(load_rules, text)
    assert len(error) < 700
    assert error or load_rules(str(rules)) == rules


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_each_option_names_itself_and_what_is_allowed(name):
    for value in ("nonsense", 7.5, [], {}, "", -1, None):
        for preset in PRESETS:
            rules, error = outcome(load_rules, {"preset": preset, name: value})
            if rules is None:
                assert name in error
            else:  # a dash of the table may be written out
                assert value is None
                assert rules == load_rules(preset)


@FUZZ
@given(st.integers(0, 10**6))
def test_rules_print_and_read_back(seed):
    rules = load_rules(random_rules(random.Random(seed)))
    assert load_rules(str(rules)) == rules
    assert str(load_rules(str(rules))) == str(rules)
    assert load_rules(json.loads(json.dumps(rules.differing()))) == rules
    assert load_rules(rules.model_dump(by_alias=True)) == rules


# --- moves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("supreme", [False, True])
def test_every_move_prints_and_reads_back(supreme):
    """All ids; a starred set with every rank of the identity card that is in it."""
    printed = set()
    for action in range(ACTIONS.size):
        if action < SET_IDENTITY or supreme or action == ACTIONS.size - 1:
            texts = [ACTIONS.text(action, supreme=supreme)]
        else:
            cards = ACTIONS.decode(action).cards
            ranks = [r for r, n in ((cards.rank, cards.n), (13, cards.b), (14, cards.r)) if n]
            texts = [ACTIONS.text(action, rank) for rank in ranks]
            assert all(rank < NUM_RANKS for rank in ranks)
        for text in texts:
            assert ACTIONS.encode(ACTIONS.parse(text)) == action
            assert text.isascii()
        assert not printed & set(texts)
        printed |= set(texts)
    assert len(printed) >= ACTIONS.size


@FUZZ
@given(MOVES)
def test_any_move_text(text):
    move, error = outcome(ACTIONS.parse, text)
    assert len(error) < 700
    assert error or 0 <= ACTIONS.encode(move) < ACTIONS.size


@pytest.mark.parametrize("seed", range(12))
def test_every_legal_move_of_a_hand_prints_and_reads_back(seed):
    """As people write it and as records do, in every phase that the hand comes to."""
    rng = random.Random(seed)
    rules = random_rules(rng, named_deck=0.0)
    _, record = random_record(rng, rules)
    engine = Engine(rules)
    supreme = engine.rules.supreme
    state = engine.reset_hands(record["hands"], record["start"])
    for move in record["moves"]:
        ids = engine.legal(state).ids()[0].tolist()
        for action in ids[:: max(1, len(ids) // 25)]:
            assert engine.action_of(state, 0, engine.move_text(state, 0, action)) == action
            text, _, cards = engine.record_move(state, 0, action)
            again, taken = engine.read_move(state, 0, text)
            assert again == action
            assert (taken == cards).all()
            assert ("X" in engine.move_text(state, 0, action)) <= supreme
        action, cards = engine.read_move(state, 0, move.partition(" ")[2])
        engine.step(state, [action], cards=cards[None])
    assert state.over[0]
