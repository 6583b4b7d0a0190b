"""Random hands under all rules: records replay, rare branches occur, and what must always hold."""

import json
import random
from collections import Counter
from typing import Any

import pytest

from tests.oracle.hand import PHASES
from tests.oracle.options import deck_of, options_of
from tests.oracle.qingdao import play_record
from tests.oracle.random_play import random_record, random_rules, small_deck

HANDS = 150  # per preset, mostly of small decks


def one_hand(seed: int, rules: dict[str, Any], seen: Counter[str]) -> dict[str, Any]:
    rng = random.Random(seed)
    hand, record = random_record(rng, rules, seen)
    again = play_record(json.loads(json.dumps(record)))
    assert again.hands == hand.hands
    assert hand.scores is not None
    assert sum(hand.scores) == 0
    assert hand.phase == "over"
    return record


CALLED = {"declare: declare", "declare: silent", "play: play", "play: pass"}
CALLED |= {"grab: grab", "grab: decline"}
CALLING = {"call: cede", "call: call guard", "call: call open", "call: call secret"}
CALLING |= {"forced_call: call", "end: void", "end: guard x2", "call of a joker"}
EXPECTED = {
    "qingdao": CALLED | CALLING | {"play: yield", "play: claim", "circle 2: play"},
    "shiwei": CALLED
    | CALLING
    | {"X alone", "X hangs", "X beats R", "X when public", "call with a card of the pile"},
    "weihai": {
        *("solo: solo", "solo: decline", "solo_ti: ti", "solo_ti: silent", "abandon: keep"),
        *("abandon: abandon", "offer: accept", "offer: refuse", "declare: declare"),
        *("oppose: oppose", "oppose: silent", "niu by camp: niu", "niu by rebels: niu"),
        *("ti by camp: ti", "ti by rebels: ti", "ti by soloist: ti", "ti by soloist: silent"),
        *("end: crown refused by all", "end: early by decided", "held sixes leave"),
        *("declare: silent", "star on a joker", "end: guard x4", "end: guard x8"),
        *("play: play", "play: pass", "end: secret x1", "end: secret x2", "end: secret x4"),
    },
}


@pytest.mark.parametrize("preset", EXPECTED)
def test_presets(preset: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(HANDS):
        rules: dict[str, Any] = {"preset": preset}
        if seed % 30:
            rules["deck"] = small_deck(random.Random(seed), rules)
        one_hand(seed, rules, seen)
    rare = {branch: seen[branch] for branch in EXPECTED[preset] if seen[branch] < 3}
    assert not rare


def test_marked_small_joker() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        rules: dict[str, Any] = {"preset": "shiwei", "guard_by": "marked_small_joker"}
        rules["deck"] = small_deck(random.Random(seed), rules)
        one_hand(seed, rules, seen)
    for branch in ("open: open", "open: silent", "declare: declare", "star on a joker"):
        assert seen[branch] >= 4, (branch, seen)
    assert not [branch for branch in seen if branch.startswith(("call", "X", "end: void"))]


def test_random_rules() -> None:
    seen: Counter[str] = Counter()
    combinations: set[str] = set()
    values: dict[str, set[str]] = {}
    for seed in range(200):
        rules = random_rules(random.Random(seed), named_deck=0)
        for name, value in options_of(rules).items():
            if name != "deck":
                values.setdefault(name, set()).add(str(value))
        one_hand(seed, rules, seen)
        combinations.add(str(sorted((k, v) for k, v in rules.items() if k != "deck")))
    assert len(combinations) >= 100
    assert all(len(found) >= 2 for found in values.values()), values
    phases = {branch.split(":")[0] for branch in seen}
    assert set(PHASES) - {"over"} <= phases
    assert seen["asked while some are out of the trick"] >= 100
    assert seen["222 beats R"] >= 4


def test_random_rules_name_decks_too() -> None:
    decks = Counter()
    for seed in range(400):
        rules = random_rules(random.Random(seed), named_deck=1)
        assert json.loads(json.dumps(rules)) == rules
        decks[options_of(rules)["deck"]] += 1
        assert len(deck_of(rules)) in (165, 216)
    assert min(decks.values()) >= 20
    assert set(decks) == {"full216", "weihai165"}
