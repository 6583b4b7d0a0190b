"""Rule options: presets, one named error for each wrong value, strings and dicts that read back."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lupai.envs import baohuang_v0
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import OPTION_NAMES, PRESETS, Rules, base_options, load_rules
from lupai.envs.cards import CODE_TEXTS, KIND_TEXTS
from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.records import dump_record, load_record
from tests.oracle.options import deck_of, options_of

# rules §7, column by column; None is a dash
TABLE = """
deck                full216     full216     weihai165
roles_by            called_card called_card marks
guard_by            called_card called_card -
guard_card          ordinary    supreme     ordinary
grab                true        true        -
forced_call         true        true        -
tribute_on_cede     false       true        -
declare             true        true        true
open_solo           -           -           true
oppose              -           -           true
doubling            -           -           true
votes_needed        -           -           2
abandon_penalty     -           -           12
yield               true        false       false
claim               true        false       false
pass_scope          set         set         set
hold_sixes          false       false       true
three_twos_beat_big false       false       false
end                 last_player camp_out    decided
"""


def read(word: str) -> Any:
    if word == "-":
        return None
    return json.loads(word) if word in ("true", "false") or word.isdigit() else word


@pytest.mark.parametrize("column", range(3))
def test_presets_are_the_table_of_the_rules(column: int) -> None:
    preset = ("qingdao", "shiwei", "weihai")[column]
    rows = [line.split() for line in TABLE.strip().splitlines()]
    expected = {name: read(values[column]) for name, *values in rows}
    assert PRESETS[preset] == expected
    assert tuple(PRESETS[preset]) == OPTION_NAMES
    rules = load_rules(preset)
    assert rules.model_dump(by_alias=True) == {"preset": preset, **expected}
    assert str(rules) == preset
    assert rules.differing() == {"preset": preset}


def test_the_default_is_qingdao() -> None:
    assert load_rules() == load_rules({}) == load_rules("qingdao") == Engine().rules


SMALL = ["R*", "R", "R", "R", *["9c"] * 4, "3s", "3h", "Td", "4s", "5s", "6s", "7s"]
MARKED = ["R*", "R", "R", "B*", *["9c"] * 4, "3s", "3h", "Td"]
ANY = {
    "declare": st.booleans(),
    "yield": st.booleans(),
    "claim": st.booleans(),
    "hold_sixes": st.booleans(),
    "three_twos_beat_big": st.booleans(),
    "pass_scope": st.sampled_from(["set", "trick"]),
    "end": st.sampled_from(["last_player", "camp_out", "decided"]),
}
CALLED = ANY | {
    "guard_by": st.sampled_from(["called_card", "marked_small_joker"]),
    "guard_card": st.sampled_from(["ordinary", "supreme"]),
    "grab": st.booleans(),
    "forced_call": st.booleans(),
    "tribute_on_cede": st.booleans(),
}
MARKS = ANY | {
    "guard_card": st.just("ordinary"),
    "open_solo": st.booleans(),
    "oppose": st.booleans(),
    "doubling": st.booleans(),
    "votes_needed": st.integers(1, 3),
    "abandon_penalty": st.integers(0, 50).map(lambda n: 4 * n),
}


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Options that make sense together, none of the preset's needed."""
    preset = draw(st.sampled_from(["qingdao", "shiwei", "weihai"]))
    own = PRESETS[preset]["roles_by"]
    roles_by = draw(st.sampled_from([own, own, "called_card", "marks"]))
    table = CALLED if roles_by == "called_card" else MARKS
    chosen = draw(st.sets(st.sampled_from(sorted(table))))
    out = {"preset": preset} | {name: draw(table[name]) for name in sorted(chosen)}
    if roles_by != own or draw(st.booleans()):
        out["roles_by"] = roles_by
    marks = roles_by == "marks"
    if marks and preset == "shiwei":
        out["guard_card"] = "ordinary"  # 特画 is for called cards
    marked = marks or out.get("guard_by") == "marked_small_joker"
    decks = ["full216", MARKED if marked else SMALL] + ["weihai165"] * marks
    if draw(st.booleans()) or (preset == "weihai" and not marks):
        out["deck"] = draw(st.sampled_from(decks))
        if out["deck"] is MARKED and not marks and draw(st.booleans()):
            out["deck"] = " ".join(MARKED)
    return out


def plain(deck: Any) -> Any:
    """A deck as the rules hold it."""
    if isinstance(deck, str) and " " in deck:
        deck = deck.split(" ")
    return tuple(deck) if isinstance(deck, list) else deck


@settings(max_examples=300)
@given(options())
def test_rules_read_back_from_every_form(given_options: dict[str, Any]) -> None:
    rules = load_rules(given_options)
    dump = rules.model_dump(by_alias=True)
    for name, value in given_options.items():
        assert dump[name] == plain(value)
    text = str(rules)
    assert "\n" not in text
    assert load_rules(text) == rules
    assert str(load_rules(text)) == text
    difference = rules.differing()
    assert load_rules(difference) == rules
    assert load_rules(json.loads(json.dumps(difference))) == rules
    assert load_rules(rules) is rules
    assert hash(load_rules(text)) == hash(rules)
    base = base_options(rules.preset, rules.roles_by)
    for name, value in difference.items():
        home = PRESETS[rules.preset] if name == "roles_by" else base
        assert name == "preset" or value != home[name]


@given(options())
def test_rules_are_the_oracle_s_options(given_options: dict[str, Any]) -> None:
    """A second reading of the presets, and of what fills the dashes when roles_by is changed."""
    mine = load_rules(given_options).model_dump(by_alias=True)
    for name, value in options_of(given_options).items():
        assert mine[name] is None or mine[name] == plain(value), name


@settings(max_examples=20)
@given(options())
def test_rules_read_back_from_a_file_and_a_record(given_options: dict[str, Any]) -> None:
    rules = load_rules(given_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "my table.yaml"
        path.write_text(yaml.safe_dump(rules.differing()), encoding="utf-8")
        assert load_rules(str(path)) == rules
        path.write_text(yaml.safe_dump(given_options), encoding="utf-8")
        assert load_rules(str(path)) == rules
    env = baohuang_v0.raw_env(str(rules))
    env.reset(seed=1)
    record = load_record(dump_record(env.record()))
    assert load_rules(record["rules"]) == rules
    assert env.infos["player_0"]["rules"] == str(rules)


@settings(max_examples=15)
@given(options())
def test_every_sensible_combination_plays(given_options: dict[str, Any]) -> None:
    """Some hands at random to their ends: sums of zero, and everybody asked has an answer."""
    engine = Engine(given_options)
    state = engine.reset(range(4 if len(engine.rules.cards) < 100 else 1))
    rng = np.random.default_rng(0)
    while not state.over.all():
        tables = np.flatnonzero(~state.over)
        legal = engine.legal(state, tables)
        assert (legal.counts() > 0).all()
        ids, offsets = legal.ids()
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], tables)
    assert not engine.scores(state).sum(axis=1).any()


@pytest.mark.parametrize(
    ("preset", "changed", "filled"),
    [
        (
            "weihai",
            {"roles_by": "called_card", "deck": "full216"},
            {
                "guard_by": "called_card", "guard_card": "ordinary", "grab": True,
                "forced_call": True, "tribute_on_cede": False, "hold_sixes": True,
                "end": "decided", "open_solo": None, "votes_needed": None, "yield": False,
            },
        ),
        (
            "qingdao",
            {"roles_by": "marks"},
            {
                "guard_by": None, "grab": None, "forced_call": None, "tribute_on_cede": None,
                "open_solo": True, "oppose": True, "doubling": True, "votes_needed": 2,
                "abandon_penalty": 12, "deck": "full216", "yield": True, "end": "last_player",
            },
        ),
        (
            "shiwei",
            {"roles_by": "marks", "guard_card": "ordinary", "votes_needed": 1},
            {"votes_needed": 1, "open_solo": True, "guard_by": None, "end": "camp_out"},
        ),
    ],
)  # fmt: skip
def test_roles_by_may_differ_from_the_preset(
    preset: str, changed: dict[str, Any], filled: dict[str, Any]
) -> None:
    rules = load_rules({"preset": preset, **changed})
    dump = rules.model_dump(by_alias=True)
    assert {name: dump[name] for name in filled} == filled
    assert rules.differing() == {"preset": preset, **changed}
    assert load_rules(str(rules)) == rules


def test_decks_are_as_large_as_they_must_be() -> None:
    """Ten cards, so that each seat keeps one after giving R* away; fifteen with 贴牌."""
    ten = ["R*", *["3s", "4s", "5s", "6s", "7s", "8s", "9s", "Ts", "Js"]]
    fifteen = [*ten, *["Qs", "Ks", "As", "2s", "3h"]]
    for preset, marked in (("qingdao", False), ("weihai", True)):
        deck = [*ten[:-1], "B*"] if marked else ten
        assert len(load_rules({"preset": preset, "deck": deck}).cards) == 10
        with pytest.raises(RulesError, match="'deck' has 9 cards; it needs 10 or more"):
            load_rules({"preset": preset, "deck": deck[:8] + deck[9:]})
    assert len(load_rules({"preset": "shiwei", "deck": fifteen}).cards) == 15
    with pytest.raises(RulesError, match="'deck' has 14 cards; it needs 15 or more"):
        load_rules({"preset": "shiwei", "deck": fifteen[:-1]})
    # without 贴牌, by the option or because nothing is ever ceded, ten are enough
    load_rules({"preset": "shiwei", "tribute_on_cede": False, "deck": ten})
    joker = {"preset": "shiwei", "guard_by": "marked_small_joker"}
    load_rules({**joker, "deck": [*ten[:-1], "B*"]})
    for rules, deck, message in (
        ({"preset": "qingdao"}, [*ten, "B*"], r"no B\*"),
        ({"preset": "weihai"}, ten, r"one B\*"),
        (joker, ten, r"one B\*"),
        ({"preset": "weihai"}, [*ten, "B*", "B*"], r"at most one B\*"),
        ({"preset": "weihai"}, [*ten[1:], "B*"], r"exactly one R\*"),
    ):
        with pytest.raises(RulesError, match=message):
            load_rules({**rules, "deck": deck})


def test_named_decks_follow_the_rules() -> None:
    """full216 has a B* where the rules mark one; weihai165 always."""
    for options_, cards, marked in (
        ("qingdao", 216, False),
        ("shiwei", 216, False),
        ("weihai", 165, True),
        ("shiwei;guard_by=marked_small_joker", 216, True),
        ("qingdao;roles_by=marks", 216, True),
        ("qingdao;roles_by=marks;deck=weihai165", 165, True),
        ("weihai;deck=full216", 216, True),
    ):
        deck = load_rules(options_).cards
        assert (len(deck), deck.has_marked_b) == (cards, marked), options_
        codes = [CODE_TEXTS[code] for code in deck.codes]
        assert sorted(codes) == sorted(deck_of(load_rules(options_).differing()))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("deck", "full", "full216"),
        ("deck", 7, "full216"),
        ("deck", [1, 2], "full216"),
        ("deck", None, "full216"),
        ("deck", [], "exactly one R"),
        ("deck", ["R*"] * 2, "exactly one R"),
        ("deck", ["R*", *["9c"] * 3], "has 4 cards; it needs 10 or more"),
        ("deck", ["R*", *["9c"] * 5, "3s", "4s", "5s", "6s"], "at most 4"),
        ("deck", ["R*", "9x"], "unreadable card"),
        ("deck", MARKED, r"no B\*"),
        ("deck", "weihai165", "roles_by=marks"),
        ("roles_by", "fate", "'called_card' or 'marks'"),
        ("guard_by", "fate", "'called_card' or 'marked_small_joker'"),
        ("guard_by", None, "must be set with roles_by=called_card; allowed: 'called_card' or"),
        ("guard_card", "X", "'ordinary' or 'supreme'"),
        ("guard_card", None, "'ordinary' or 'supreme'"),
        ("grab", 1, "true or false"),
        ("grab", None, "must be set with roles_by=called_card; allowed: true or false"),
        ("forced_call", "yes", "true or false"),
        ("tribute_on_cede", "true", "true or false"),
        ("declare", None, "true or false"),
        ("yield", 0, "true or false"),
        ("claim", "on", "true or false"),
        ("pass_scope", "hand", "'set' or 'trick'"),
        ("hold_sixes", [], "true or false"),
        ("three_twos_beat_big", 1.0, "true or false"),
        ("end", "never", "'last_player', 'camp_out' or 'decided'"),
        ("open_solo", True, "no meaning with roles_by=called_card"),
        ("oppose", False, "no meaning with roles_by=called_card"),
        ("doubling", True, "no meaning with roles_by=called_card"),
        ("votes_needed", 2, "no meaning with roles_by=called_card"),
        ("abandon_penalty", 12, "no meaning with roles_by=called_card"),
    ],
)
def test_wrong_values_of_qingdao(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(RulesError, match=allowed) as caught:
        load_rules({"preset": "qingdao", name: value})
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("votes_needed", 0, "1, 2 or 3"),
        ("votes_needed", 4, "1, 2 or 3"),
        ("votes_needed", True, "1, 2 or 3"),
        ("votes_needed", 2.0, "1, 2 or 3"),
        ("votes_needed", None, "must be set with roles_by=marks; allowed: 1, 2 or 3"),
        ("abandon_penalty", 10, "a multiple of 4, from 0"),
        ("abandon_penalty", -4, "a multiple of 4, from 0"),
        ("abandon_penalty", None, "must be set with roles_by=marks; allowed: a multiple"),
        ("guard_card", "supreme", "roles_by=called_card"),
        ("guard_by", "called_card", "no meaning with roles_by=marks"),
        ("grab", True, "no meaning with roles_by=marks"),
        ("forced_call", False, "no meaning with roles_by=marks"),
        ("tribute_on_cede", False, "no meaning with roles_by=marks"),
        ("deck", SMALL, r"one B\*"),
        ("open_solo", None, "must be set with roles_by=marks; allowed: true or false"),
    ],
)
def test_wrong_values_of_weihai(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(RulesError, match=allowed) as caught:
        load_rules({"preset": "weihai", name: value})
    assert name in str(caught.value)


JUNK = [None, "", "fate", "true", 0, 1, 7, -4, 2.5, True, [], {}, [1], ("R*",), 10**30, "\0"]


@pytest.mark.parametrize("preset", ["qingdao", "shiwei", "weihai"])
@pytest.mark.parametrize("name", OPTION_NAMES)
def test_every_wrong_value_is_answered_with_the_option_and_what_is_allowed(
    preset: str, name: str
) -> None:
    refused = 0
    for value in JUNK:
        try:
            load_rules({"preset": preset, name: value})
        except RulesError as error:
            message = str(error)
            assert repr(name) in message or f"{name}=" in message
            words = (
                "allowed: ",
                "leave it out",
                "exactly one R*",
                "cards; it needs",
                "must hold",
                "unreadable",
            )
            assert any(word in message for word in words), message
            assert "\n" not in message
            assert len(message) < 300
            refused += 1
    assert refused >= 8


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("beijing", "unknown preset 'beijing'; presets: qingdao, shiwei, weihai"),
        ("", "unknown preset ''"),
        ({"preset": None}, "unknown preset None"),
        ({"preset": ["qingdao"]}, "unknown preset"),
        ({"yeild": True}, "unknown option 'yeild'; did you mean 'yield'"),
        ({"yield_": True}, "unknown option 'yield_'"),
        ({7: True}, "unknown option 7"),
        ("qingdao;", "is not option=value"),
        ("qingdao;claim", "is not option=value"),
        ("qingdao;claim=true;claim=true", "stands twice"),
        ("qingdao;preset=weihai", "stands twice"),
        ("qingdao;claim=True", "option 'claim' cannot be 'True'; allowed: true or false"),
        ("weihai;abandon_penalty=1e400", "abandon_penalty"),
        (None, "give a preset's name"),
        (7, "give a preset's name"),
        (["qingdao"], "give a preset's name"),
    ],
)
def test_wrong_sources(source: Any, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        load_rules(source)


@given(st.text(alphabet="qingdaoweh;=,[]{}\"' 19tru_.-e", max_size=40).map("qingdao;".__add__))
def test_any_rules_string_is_read_or_a_named_error(text: str) -> None:
    with contextlib.suppress(LupaiError):
        assert isinstance(load_rules(text), Rules)


def test_rules_are_frozen() -> None:
    rules = load_rules()
    with pytest.raises(ValueError, match="frozen"):
        rules.grab = False


def test_a_deck_may_hold_any_card_up_to_four_times() -> None:
    full = [*(text for text in KIND_TEXTS[:-1] for _ in range(4)), "R", "R", "R", "R*"]
    rules = load_rules({"deck": full})
    assert rules.cards == load_rules("qingdao").cards
    assert load_rules(str(rules)) == rules
    assert load_rules({"deck": " ".join(full)}) == rules
    assert load_rules({"deck": tuple(full)}) == rules
