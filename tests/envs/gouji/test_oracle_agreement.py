"""The engine agrees with the plain oracle in every state of random hands, alone and in batches."""

import itertools
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lupai.envs.view import View
from tests.envs.gouji.side_by_side import (
    Deal,
    Party,
    compare,
    engine_deal,
    engine_of,
    follow,
    played_hand,
    rare_runs,
    rules_of,
    stacked_deal,
    watched,
)
from tests.oracle_gouji.events import EVENTS, NEEDS_OPTION, NEVER
from tests.oracle_gouji.hand import Hand
from tests.oracle_gouji.options import BURN_FAIL, END, HAND_SIZES, Options
from tests.oracle_gouji.random_play import play_out

COMBINATIONS = [
    Options(revolution, hand_sizes, burn_fail, tribute, end)
    for revolution, burn_fail, tribute, end, hand_sizes in itertools.product(
        (True, False), BURN_FAIL, (False, True), END, HAND_SIZES
    )
]


def some_deals(options: Options, count: int, seed: int) -> list[Deal]:
    """Deals for one set of options, one of four by the engine and the others stacked."""
    rng = random.Random(seed)
    return [
        engine_deal(options, seed + i) if i % 4 == 0 else stacked_deal(options, rng)
        for i in range(count)
    ]


def assert_common(seen: Counter[str], least: dict[str, int]) -> None:
    """Each thing happened at least so often; else the comparison says nothing about it."""
    rare = {name: (seen[name], count) for name, count in least.items() if seen[name] < count}
    assert not rare, f"too rare (seen, wanted): {rare}; all: {seen}"


# ---- a sample


def test_hands_of_the_preset() -> None:
    seen: Counter[str] = Counter()
    for part in range(4):
        compare(some_deals(Options(), 24, 1000 * part), part, seen)
    assert_common(seen, COMMON)
    assert not any(seen[name] for name in (*NEVER, *NEEDS_OPTION))


# A third of what the seeds above gave; a change of the players may move them.
COMMON: dict[str, int] = {
    "first leader: start seat": 5, "first leader: two 3s": 24, "first leader: taken over": 2,
    "set: ordinary": 1264, "set: 2s attached": 193, "set: jokers alone": 63,
    "set: 够级 by joker": 118, "set: 够级 by size": 255, "set: 够级 by its attached 2s": 19,
    "set: dead": 91, "ordinary: play": 818, "ordinary: pass": 1277, "ordinary: headless asked": 140,
    "opponent: play": 75, "opponent: pass": 165, "yield: with a beating set": 80,
    "yield: without a beating set": 64, "yield: not open": 56, "yield: somebody else plays": 60,
    "again: play": 24, "again: pass": 59, "last: play": 13, "last: pass": 69,
    "out: plays against his 对头": 20, "no 对头: ordinary set": 3, "trick: owner leads again": 734,
    "trick: 接风": 41, "burn: asked unable": 523, "burn: could not go on": 254,
    "burn: silent though able": 5, "burn: by a mate": 8, "burn: by a neighbour": 4,
    "burn: of a burn": 1, "burn: without a joker": 5, "burn: dead": 6, "duty: leads": 17,
    "duty: bars a set": 15, "duty: ends, a later set is beaten": 1, "duty: ends, he is out": 8,
    "gouji: play": 51, "gouji: pass": 224, "gouji: asked though out": 51, "headless: play": 4,
    "headless: pass": 38, "底牌 of 头科: ordinary": 19, "底牌 of 头科: 够级": 6,
    "底牌 of 头科: dead": 3, "底牌 of 二科: ordinary": 24, "底牌 of 二科: 够级": 2,
    "底牌 of 二科: dead": 2, "底牌 of 三科: ordinary": 2, "底牌: 对头's chance is gone": 20,
    "底牌: burned": 2, "底牌: beaten after 对头 passed": 6, "deadly: play": 7, "deadly: pass": 19,
    "够死级: on an ordinary 底牌": 6, "够死级: on a 够级 底牌": 1,
    "够死级: no 够级牌 by its cards": 5, "够死级: stands": 6, "headless: 底牌 beaten": 18,
    "headless: its trick ends": 10, "headless: leads": 36, "headless: two at once": 7,
    "headless: ordinary set": 69, "headless: 够级 set": 17, "headless: 够级 set beaten": 8,
    "open: play": 55, "open: pass": 134, "melee: begins with 4": 18, "melee: begins with 3": 11,
    "melee: lead": 192, "melee: play": 78, "melee: pass": 366, "melee: plays after a decline": 2,
    "melee: 底牌": 67, "revolution: revolt": 14, "revolution: silent though able": 5,
    "revolution: one": 7, "revolution: void": 2, "revolution: by the first leader": 1,
    "revolution: waive": 3, "revolution: waive not used": 4, "revolution: 够死级 1": 3,
    "revolution: 够死级 2": 2, "revolution: 够死级 3": 1, "revolution: 够死级 led": 2,
    "revolution: 够死级 as an answer": 4, "revolution: 够死级 as a burn": 1,
    "revolution: 够死级 dead": 3, "end: a side is out": 8, "end: one player left": 20,
    "scores: even": 6, "scores: 2": 12, "scores: 4": 6, "scores: 6": 2, "scores: 12": 2,
    "scores: string of three played": 1, "scores: string of three against the revolter's side": 1,
}  # fmt: skip


@pytest.mark.parametrize("part", range(0, len(COMBINATIONS), 2))
def test_hands_under_all_options(part: int) -> None:
    """Both ways to show hand sizes in turn: the option changes only what is displayed."""
    options = COMBINATIONS[part + part // 2 % 2]
    seen: Counter[str] = Counter()
    compare(some_deals(options, 10, 100 * part), part, seen)
    assert not seen[NEVER[0]]
    if options.tribute:
        assert any(name.startswith("tribute") for name in seen)


def test_the_rules_of_the_page_are_the_engines() -> None:
    assert len({str(engine_of(options).rules) for options in COMBINATIONS}) == 32
    assert str(engine_of(Options()).rules) == "shandong"
    assert rules_of(Options())["burn_fail"] is None


def test_many_tables_do_not_mix() -> None:
    """24 tables in different phases, some of them stepped at a time, and read one by one."""
    options, rng = Options(tribute=True), random.Random(3)
    deals = some_deals(options, 24, 700)
    hands = [played_hand(deal, rng, Counter()) for deal in deals]
    party, phases = Party(deals, hands), set()
    engine, state = party.engine, party.state
    while tables := party.open:
        chosen = sorted(rng.sample(tables, rng.randint(1, len(tables))))
        phases.add(len(set(state.phase[chosen].tolist())))
        party.check(chosen)
        if rng.random() < 0.1:
            viewers = [rng.randrange(6) for _ in chosen]
            seen = engine.observe(state, viewers, chosen)
            flat, offsets = engine.legal(state, chosen).ids()
            for i, table in enumerate(chosen):
                alone, _ = engine.legal(state, [table]).ids()
                assert np.array_equal(flat[offsets[i] : offsets[i + 1]], alone)
                mine = engine.observe(state, [viewers[i]], [table])[0]
                assert np.array_equal(mine, seen[i])
        untouched = [table for table in range(24) if table not in chosen]
        before = state.take(untouched)
        party.move(chosen)
        assert state.take(untouched).equals(before)
    party.check(range(24))
    assert max(phases) >= 4


@pytest.mark.parametrize("shown", HAND_SIZES)
def test_hand_sizes_are_displayed_as_the_option_says(shown: str) -> None:
    """To a spectator: announced at ten cards or fewer, or always."""
    options, rng = Options(hand_sizes=shown), random.Random(8)
    deal = stacked_deal(options, rng)
    party = Party([deal], [played_hand(deal, rng, Counter())])
    hidden = 0
    while party.open:
        sizes = party.steps([0])[0].ranks.sum(axis=1).tolist()
        view = str(View.of(party.engine, party.state, -1))
        lines = re.findall(r"seat (\d) +(?:even|odd) +(> 10|\d+ cards)", view)
        assert [int(seat) for seat, _ in lines] == list(range(6))
        for seat, text in lines:
            if sizes[int(seat)] >= 0:  # else the cards were laid down
                told = shown == "always" or sizes[int(seat)] <= 10
                assert text == (f"{sizes[int(seat)]} cards" if told else "> 10")
                hidden += not told
        party.move([0])
    assert (hidden > 50) == (shown == "ten")


# ---- what once was wrong


def test_a_burner_who_may_fail_needs_the_jokers_to_begin() -> None:
    """Under burn_fail = last_place any set that beats once burned; only later sets are free."""
    options, seen = Options(burn_fail="last_place"), Counter[str]()
    rng = random.Random(5)
    compare([stacked_deal(options, rng) for _ in range(6)], 5, seen)
    assert_common(seen, {"burn: could not go on": 6})


def test_hands_at_a_table_alone() -> None:
    """One table is computed with Python's ints, many are with arrays."""
    for seed, options in enumerate((Options(), Options(burn_fail="last_place", tribute=True)) * 4):
        compare([stacked_deal(options, random.Random(seed))], seed, Counter())


# ---- the full counts

SOAK_PARTS = [("preset", part) for part in range(40)]
SOAK_PARTS += [("options", part) for part in range(len(COMBINATIONS))]
ENOUGH = 100
TOTAL: dict[str, Counter[str]] = {"preset": Counter(), "options": Counter()}
DONE: set[tuple[str, int]] = set()


@pytest.mark.soak
@pytest.mark.xdist_group("gouji oracle soak")  # one process, which adds up the counts
@pytest.mark.parametrize(("column", "part"), SOAK_PARTS)
def test_many_hands(column: str, part: int) -> None:
    """100 of 4,000 hands of the preset, or 100 of a combination of options: 20 of them dealt by
    the engine, 40 stacked, and 40 that go on otherwise where something rare happened.

    They look for what is rare in the counts so far, so a part alone plays other hands.
    """
    options = Options() if column == "preset" else COMBINATIONS[part]
    seed = 100_000 * (column == "options") + 1000 * part
    rng, seen = random.Random(seed), TOTAL[column]
    dealt = [engine_deal(options, seed + i) for i in range(20)]
    compare(dealt + [stacked_deal(options, rng) for _ in range(40)], seed, seen)
    deals, hands = zip(*itertools.islice(rare_runs(options, rng, seen, ENOUGH), 40), strict=True)
    follow(deals, hands, rng)
    DONE.add((column, part))


# Under these every branch can occur.
SOUGHT = (Options(), Options(burn_fail="last_place"), Options(burn_fail="last_place", tribute=True))
MOST_SOUGHT = 100_000  # hands of the oracle alone, about 130 in a second; two in 1,000 are enough


@pytest.mark.soak
@pytest.mark.xdist_group("gouji oracle soak")
def test_hands_with_what_was_rare_in_them() -> None:
    """What the oracle's hands have too seldom is looked for, and the engine follows those."""
    if set(SOAK_PARTS) != DONE:
        pytest.skip("what was rare is told by the whole soak in one process")
    rng, counts = random.Random(7), TOTAL["preset"] + TOTAL["options"]
    for number in range(MOST_SOUGHT):
        lacking = {name for name in EVENTS if name not in NEVER and counts[name] < ENOUGH}
        if not lacking:
            break
        options = SOUGHT[number % len(SOUGHT)]
        deal = stacked_deal(options, rng)
        hand = Hand(deal.options, deal.hands, deal.start, deal.previous)
        moves = play_out(hand, rng)
        if lacking & set(hand.events):
            follow([deal], [watched(deal, moves)], rng)
            TOTAL["preset" if options == Options() else "options"].update(hand.events)
            counts.update(hand.events)


@pytest.mark.soak
@pytest.mark.xdist_group("gouji oracle soak")
def test_each_branch_occurred_in_the_many_hands() -> None:
    """Run after them; prints the table, and writes it to the file in LUPAI_SOAK_TABLE."""
    if set(SOAK_PARTS) != DONE:
        pytest.skip("the counts are of the whole soak in one process")
    table = "\n".join(soak_table()) + "\n"
    print("\n" + table)
    if path := os.environ.get("LUPAI_SOAK_TABLE"):
        Path(path).write_text(table, encoding="utf-8")
    together = TOTAL["preset"] + TOTAL["options"]
    assert not {name: together[name] for name in NEVER if together[name]}
    assert_common(together, {name: ENOUGH for name in EVENTS if name not in NEVER})


def soak_table() -> Iterator[str]:
    """Lines: how often each branch was met with the preset, with other options, and in all."""
    for name in EVENTS:
        one, other = (TOTAL[column][name] for column in ("preset", "options"))
        yield f"{one:9,}{other:9,}{one + other:9,}  {name}"
