"""Rule options: presets, one named error for each wrong value, strings and dicts that read back."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import OPTION_NAMES, PRESETS, Rules, load_rules
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.errors import LupaiError, RulesError

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


SMALL = ["R*", "R", "R", "R", *["9c"] * 4, "3s", "3h", "Td"]
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
    "roles_by": st.just("called_card"),
    "guard_by": st.sampled_from(["called_card", "marked_small_joker"]),
    "guard_card": st.sampled_from(["ordinary", "supreme"]),
    "grab": st.booleans(),
    "forced_call": st.booleans(),
    "tribute_on_cede": st.booleans(),
}
MARKS = ANY | {
    "roles_by": st.just("marks"),
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
    table = MARKS if preset == "weihai" else CALLED
    chosen = draw(st.sets(st.sampled_from(sorted(table))))
    out = {"preset": preset} | {name: draw(table[name]) for name in sorted(chosen)}
    marked = preset == "weihai" or out.get("guard_by") == "marked_small_joker"
    decks = ["full216", MARKED if marked else SMALL] + ["weihai165"] * (preset == "weihai")
    if draw(st.booleans()):
        out["deck"] = draw(st.sampled_from(decks))
    return out


@given(options())
def test_rules_read_back_from_every_form(given_options: dict[str, Any]) -> None:
    rules = load_rules(given_options)
    dump = rules.model_dump(by_alias=True)
    for name, value in given_options.items():
        assert dump[name] == (tuple(value) if isinstance(value, list) else value)
    text = str(rules)
    assert "\n" not in text
    assert load_rules(text) == rules
    assert str(load_rules(text)) == text
    difference = rules.differing()
    assert load_rules(difference) == rules
    assert load_rules(json.loads(json.dumps(difference))) == rules
    assert load_rules(rules) is rules
    assert hash(load_rules(text)) == hash(rules)
    base = PRESETS[rules.preset]
    assert all(value != base[name] for name, value in difference.items() if name != "preset")


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
        ("guard_by", None, "must be set"),
        ("guard_card", "X", "'ordinary' or 'supreme'"),
        ("guard_card", None, "'ordinary' or 'supreme'"),
        ("grab", 1, "true or false"),
        ("grab", None, "must be set"),
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
        ("votes_needed", 0, "greater than or equal to 1"),
        ("votes_needed", 4, "less than or equal to 3"),
        ("votes_needed", True, "integer"),
        ("votes_needed", 2.0, "integer"),
        ("votes_needed", None, "must be set"),
        ("abandon_penalty", 10, "multiple of 4"),
        ("abandon_penalty", -4, "greater than or equal to 0"),
        ("abandon_penalty", None, "must be set"),
        ("guard_card", "supreme", "roles_by=called_card"),
        ("guard_by", "called_card", "no meaning with roles_by=marks"),
        ("grab", True, "no meaning with roles_by=marks"),
        ("forced_call", False, "no meaning with roles_by=marks"),
        ("tribute_on_cede", False, "no meaning with roles_by=marks"),
        ("deck", SMALL, r"one B\*"),
        ("open_solo", None, "must be set"),
    ],
)
def test_wrong_values_of_weihai(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(RulesError, match=allowed) as caught:
        load_rules({"preset": "weihai", name: value})
    assert name in str(caught.value)


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
