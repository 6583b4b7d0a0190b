"""The engine agrees with the plain oracle in every state of random hands, alone and in batches."""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lupai.envs.baohuang.actions import ACTIONS, CALL
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Phase
from tests.envs.side_by_side import (
    PRESETS,
    Party,
    Rules,
    deal_of,
    engine_of,
    play_out,
    tiny_deck,
    with_deck,
)
from tests.oracle.hand import Hand
from tests.oracle.options import options_of
from tests.oracle.random_play import biased_deal, biased_move, random_rules, small_deck


def one_hand(seed: int, rules: Rules, seen: Counter[str]) -> None:
    """A hand compared in every state; in some the very cards are given, as records give them."""
    rng = random.Random(seed)
    deal = deal_of(rng, rules) if seed % 2 == 0 else biased_deal(rng, rules=rules)
    seen.update(play_out(Party(rules, [deal]), rng, given=seed % 3 == 0).seen)


def many_hands(seeds: range, rules: Rules, seen: Counter[str]) -> None:
    """The hands of some seeds, all at once."""
    rng = random.Random(seeds[0])
    deals = [deal_of(random.Random(seed), rules) for seed in seeds]
    seen.update(play_out(Party(rules, deals), rng, given=seeds[0] % 3 == 0).seen)


def own_deck(seed: int, rules: Rules, tiny: bool) -> Rules:
    """The rules with a random small deck, or a tiny one."""
    rng = random.Random(seed)
    return with_deck(rules, tiny_deck(rng, rules) if tiny else small_deck(rng, rules))


def assert_common(seen: Counter[str], least: dict[str, int]) -> None:
    """Each thing happened at least so often; else the comparison says nothing about it."""
    rare = {name: (seen[name], count) for name, count in least.items() if seen[name] < count}
    assert not rare, f"too rare (seen, wanted): {rare}; all: {seen}"


# Half of what the seeds below gave; a change of the bias may move them, a hole in the rules too.
FULL = {
    "qingdao": {
        "phase play": 9000, "phase grab": 100, "phase call": 50, "phase forced_call": 3,
        "phase declare": 60, "grab": 3, "decline": 90, "cede": 30, "call": 16, "call secret": 3,
        "declare": 5, "silent": 50, "yield": 3000, "claim": 30, "star": 10, "circle 2": 2000,
        "beaten in circle 2": 200, "接风": 30, "circle 2 by a last set": 40,
        "last set while some yielded": 4,
    },
    "shiwei": {
        "phase play": 4117, "phase grab": 54, "phase call": 27, "phase forced_call": 1,
        "phase declare": 29, "grab": 2, "decline": 52, "cede": 19, "call": 9,
        "call with a guard": 5, "call open": 1, "call secret": 3,
        "call with a card of the pile": 1, "declare": 2, "silent": 27, "X alone": 1,
        "X hangs": 8, "X when public": 4, "X beats R": 3, "接风": 13, "end: early by camp_out": 4,
        "asked by a last set": 64,
    },
    "weihai": {
        "phase solo": 53, "phase solo_ti": 16, "phase abandon": 7, "phase offer": 6,
        "phase declare": 20, "phase oppose": 13, "phase niu": 7, "phase ti": 8,
        "phase play": 2697, "solo": 5, "keep": 5, "abandon": 2, "refuse": 6, "declare": 1,
        "oppose": 8, "niu by camp: niu": 2, "niu by rebels: niu": 2, "ti by camp: ti": 1,
        "ti by rebels: ti": 5, "ti by soloist: ti": 1, "silent": 35, "held sixes leave": 22,
        "接风": 8, "end: early by decided": 7, "end: crown refused by all": 1, "end: guard x8": 3,
        "end: open x1": 2, "end: open x2": 3, "end: secret x4": 1,
    },
}  # fmt: skip
SMALL = {
    "qingdao": {
        "phase play": 7000, "phase grab": 600, "phase call": 400, "phase forced_call": 20,
        "phase declare": 200, "grab": 40, "grab by the holder": 5, "decline": 600, "cede": 350,
        "call": 60, "call with a guard": 40, "call open": 8, "call secret": 15, "call of B": 4,
        "call of R": 15, "solo of B": 1, "solo of R": 3, "forced call of a joker": 3,
        "declare": 15, "silent": 200, "void": 30, "yield": 2000, "claim": 200, "star": 40,
        "star on a joker": 12, "circle 2": 1500, "beaten in circle 2": 150, "接风": 200,
        "circle 2 by a last set": 300, "last set while some yielded": 15,
    },
    "shiwei": {
        "phase play": 2764, "phase grab": 449, "phase call": 297, "phase forced_call": 19,
        "phase declare": 178, "grab": 24, "grab by the holder": 3, "decline": 425, "cede": 256,
        "call": 60, "call with a guard": 38, "call open": 10, "call secret": 12, "call of B": 2,
        "call of R": 10, "forced call of a joker": 4, "call with a card of the pile": 20,
        "declare": 15, "silent": 163, "void": 15, "X alone": 36, "X hangs": 24,
        "X when public": 25, "X beats R": 12, "接风": 74, "end: early by camp_out": 59,
        "asked by a last set": 321,
    },
    "weihai": {
        "phase solo": 453, "phase solo_ti": 57, "phase abandon": 80, "phase offer": 31,
        "phase declare": 283, "phase oppose": 185, "phase niu": 86, "phase ti": 86,
        "phase play": 3450, "solo": 20, "keep": 67, "abandon": 12, "accept": 9, "refuse": 22,
        "declare": 21, "oppose": 90, "niu by camp: niu": 17, "niu by rebels: niu": 35,
        "ti by camp: ti": 11, "ti by rebels: ti": 24, "ti by soloist: ti": 11,
        "ti by soloist: silent": 6, "silent": 448, "star on a joker": 30,
        "held sixes leave": 102, "接风": 70, "end: early by decided": 74,
        "end: crown refused by all": 3, "end: guard x1": 10, "end: guard x2": 11,
        "end: guard x4": 12, "end: guard x8": 19, "end: open x1": 2, "end: open x2": 18,
        "end: secret x1": 5, "end: secret x2": 6, "end: secret x4": 11,
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_full_deck_hands(preset: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(40 if preset == "qingdao" else 24):
        one_hand(seed, {"preset": preset}, seen)
    assert_common(seen, FULL[preset])


@pytest.mark.parametrize("preset", PRESETS)
def test_small_deck_hands(preset: str) -> None:
    """15 to 52 cards (voids, skipped seats), and 10 to 24 (jokers called, seats out at once)."""
    seen: Counter[str] = Counter()
    for seed in range(300 if preset == "qingdao" else 200):
        one_hand(seed, own_deck(-seed - 1, {"preset": preset}, seed % 3 == 0), seen)
    assert_common(seen, SMALL[preset])


COMBINATIONS = 15


def combination(seed: int, named_deck: float = 0.0) -> Rules:
    """Options drawn at random, and a deck for them."""
    return random_rules(random.Random(1000 + seed), named_deck)


@pytest.mark.parametrize("seed", range(COMBINATIONS))
def test_option_combinations(seed: int) -> None:
    seen: Counter[str] = Counter()
    many_hands(range(seed, seed + 14), combination(seed), seen)
    assert sum(seen[f"phase {phase}"] for phase in ASKED) > 14 * 10


def test_the_option_combinations_have_every_value_but_the_deck() -> None:
    found: dict[str, set[object]] = {}
    for seed in range(COMBINATIONS):
        for name, value in options_of(combination(seed)).items():
            if name != "deck":
                found.setdefault(name, set()).add(value)
    assert not {name: values for name, values in found.items() if len(values) < 2}
    assert len({str(combination(seed)) for seed in range(COMBINATIONS)}) == COMBINATIONS


# ---- the full counts

SOAK_OPTIONS = 60
SOAK_PARTS = [(preset, part) for preset in PRESETS for part in range(20)]
SOAK_PARTS += [
    (f"{preset} small", part)
    for preset, parts in (("qingdao", 10), ("shiwei", 3), ("weihai", 3))
    for part in range(parts)
]
SOAK_PARTS += [("options", part) for part in range(SOAK_OPTIONS)]
TOTAL: dict[str, Counter[str]] = {}  # column of the table: how often each thing happened
DONE: set[tuple[str, int]] = set()
ASKED = {
    "grab": "grab decline", "call": "call cede", "forced_call": "call", "open": "open silent",
    "solo": "solo decline", "solo_ti": "ti silent", "abandon": "keep abandon",
    "offer": "accept refuse", "declare": "declare silent", "oppose": "oppose silent",
    "niu": "niu silent", "ti": "ti silent", "play": "play pass yield claim",
}  # fmt: skip
RARE = (
    "call: call guard", "call: call open", "call: call secret", "forced_call: call guard",
    "call of a joker", "call with a card of the pile", "grab by the holder",
    "declare after abandon: declare", "oppose after abandon: oppose", "niu by camp: niu",
    "niu by rebels: niu", "ti by soloist: ti", "ti by rebels: ti", "ti by camp: ti",
    "circle 2: play", "claim by a last set", "asked while some are out of the trick",
    "star on a joker", "star on a natural", "X alone", "X hangs", "X when public", "X beats R",
    "222 beats R", "held sixes leave", "end: void", "end: crown refused by all",
    "end: early by camp_out", "end: early by decided", "end: grab x1", "end: guard x1",
    "end: guard x2", "end: guard x4", "end: guard x8", "end: open x1", "end: open x2",
    "end: secret x1", "end: secret x2", "end: secret x4",
)  # fmt: skip


@pytest.mark.soak
@pytest.mark.xdist_group("oracle soak")  # one process, which adds up the counts
@pytest.mark.parametrize(("column", "part"), SOAK_PARTS)
def test_many_hands(column: str, part: int) -> None:
    """100 of 2,000 hands of a preset's deck, 1,000 of many of small ones, or 200 hands of one
    of 60 combinations of options."""
    seen = TOTAL.setdefault(column, Counter())
    preset = column.split(" ")[0]
    if column == "options":
        rules = combination(1000 + part, named_deck=0.2)
        for first in range(0, 200, 20):
            many_hands(range(first, first + 20), rules, seen)
    elif column == preset:
        for first in range(10_000 + part * 100, 10_100 + part * 100, 20):
            many_hands(range(first, first + 20), {"preset": preset}, seen)
    else:
        for seed in range(20_000 + part * 1000, 21_000 + part * 1000):
            one_hand(seed, own_deck(-seed, {"preset": preset}, seed % 2 == 1), seen)
    DONE.add((column, part))


@pytest.mark.soak
@pytest.mark.xdist_group("oracle soak")
def test_each_phase_and_verb_occurred_in_the_many_hands() -> None:
    """Run after them; prints the table, and writes it to the file in LUPAI_SOAK_TABLE."""
    if set(SOAK_PARTS) != DONE:
        pytest.skip("the counts are of the whole soak in one process")
    table = "\n".join(soak_table()) + "\n"
    print("\n" + table)
    if path := os.environ.get("LUPAI_SOAK_TABLE"):
        Path(path).write_text(table, encoding="utf-8")
    together: Counter[str] = sum(TOTAL.values(), Counter())
    wanted = [f"{phase}: {verb}" for phase, verbs in ASKED.items() for verb in verbs.split()]
    assert_common(together, dict.fromkeys([*wanted, *RARE], 100))
    options = [combination(1000 + part, named_deck=0.2) for part in range(SOAK_OPTIONS)]
    kinds = {json.dumps({k: v for k, v in o.items() if k != "deck"}) for o in options}
    assert len(kinds) >= 40


def soak_table() -> Iterator[str]:
    """Lines: what happened, how often in each column, in all."""
    columns = list(TOTAL)
    asked = [f"{phase}: {verb}" for phase, verbs in ASKED.items() for verb in verbs.split()]
    yield f"{'':34}" + "".join(f"{name:>15}" for name in [*columns, "all"])
    for name in [*asked, *RARE]:
        row = [TOTAL[column][name] for column in columns]
        yield f"{name:34}" + "".join(f"{count:15,}" for count in [*row, sum(row)])


# ---- many tables


@pytest.mark.parametrize("preset", PRESETS)
def test_many_tables_do_not_mix(preset: str) -> None:
    """32 tables in different phases, some of them stepped at a time; new hands come in between."""
    rng = random.Random(5)
    deck = ["R*", "R", "R", "R"] + ["B"] * 4 + [f"{r}{s}" for r in "36K" for s in "sh"] * 4
    if preset == "weihai":
        deck[4] = "B*"
    rules = with_deck({"preset": preset}, deck)
    party = Party(rules, [biased_deal(rng, deck) for _ in range(32)])
    engine, phases = party.engine, []
    for _ in range(300 if preset == "qingdao" else 120):
        for table, hand in enumerate(party.hands):
            if hand.seat is None:
                party.check(table)
                party.deal(table, *biased_deal(rng, deck))
        chosen = rng.sample(range(32), rng.randrange(1, 33))
        phases.append(len(set(party.state.phase[chosen].tolist())))
        legal = engine.legal(party.state, chosen)
        flat, offsets = legal.ids()
        dense = legal.dense()
        viewers = [rng.randrange(5) for _ in chosen]
        seen = engine.observe(party.state, viewers, chosen)
        for i, table in enumerate(chosen):
            alone, _ = engine.legal(party.state, [table]).ids()
            assert np.array_equal(flat[offsets[i] : offsets[i + 1]], alone)
            assert np.array_equal(np.flatnonzero(dense[i]), alone)
            assert np.array_equal(engine.observe(party.state, [viewers[i]], [table])[0], seen[i])
        for action in [*range(CALL), *rng.sample(range(CALL, ACTIONS.size), 20)]:
            asked = legal.contains(np.full(len(chosen), action))
            assert np.array_equal(asked, dense[:, action] == 1), action
        untouched = [table for table in range(32) if table not in chosen]
        before = party.state.take(untouched)
        party.step(chosen, party.random_moves(chosen, rng), given=rng.random() < 0.5)
        assert party.state.take(untouched).equals(before)
    assert max(phases) >= (6 if preset == "weihai" else 4)
    for table in range(32):
        party.check(table)


@pytest.mark.parametrize("preset", ["qingdao", "shiwei"])
def test_void_hands_are_dealt_anew_from_the_same_stream(preset: str) -> None:
    """Tables with seeds: each void gives the deal of the next redeal, which the oracle follows."""
    deck = ["R*"] + ["9c"] * 4 + [f"{r}s" for r in "3456788TTJJQQKKAA22"] + ["B", "B"]
    rules = with_deck({"preset": preset}, deck)
    engine = engine_of(rules)
    seeds = list(range(24))
    state, rng = engine.reset(seeds), random.Random(1)
    party = Party(rules, [])
    party.state = state
    party.hands = [fresh_oracle(engine, rules, seed, 0) for seed in seeds]
    redeals = [0] * len(seeds)
    while tables := party.open:
        party.step(tables, party.random_moves(tables, rng))
        for table in tables:
            if party.hands[table].void:
                redeals[table] += 1
                party.hands[table] = fresh_oracle(engine, rules, seeds[table], redeals[table])
                assert state.moves[table] == 0
                assert (state.recent[table] == -1).all()
        assert state.redeals.tolist() == redeals
    assert max(redeals) >= 3
    assert all(state.phase == Phase.OVER)


def fresh_oracle(engine: Engine, rules: Rules, seed: int, redeal: int) -> Hand:
    hands, start = engine.dealt_hands(seed, redeal)
    return Hand([hand.split(" ") for hand in hands], start, rules)


@pytest.mark.parametrize("preset", PRESETS)
def test_uniform_moves(preset: str) -> None:
    """Uniform legal moves half of the time: more grabs, large leads and big sets to beat."""
    rules: Rules = {"preset": preset}
    for seed in range(4):
        rng = random.Random(seed)
        party = Party(rules, [biased_deal(rng, rules=rules)])
        while party.open:
            legal = party.check(0)
            party.step([0], [rng.choice(legal) if rng.random() < 0.5 else biased_move(legal, rng)])
        party.check(0)
