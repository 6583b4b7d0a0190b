"""The engine agrees with the plain oracle in every state of random hands, alone and in batches."""

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs.actions import ACTIONS, CALL
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Phase
from tests.envs.side_by_side import Party, engine_of, play_out, short_deal, tiny_deck
from tests.oracle.qingdao import Hand
from tests.oracle.random_play import biased_deal, biased_move, small_deck


def one_hand(seed: int, deck: list[str] | None, seen: Counter[str]) -> None:
    """A hand compared in every state; in some the very cards are given, as records give them."""
    rng = random.Random(seed)
    deal = biased_deal(rng, deck) if deck is None or seed % 2 else short_deal(rng, deck)
    party = Party(engine_of(None if deck is None else tuple(deck)), [deal])
    seen.update(play_out(party, rng, given=seed % 3 == 0).seen)


def assert_common(seen: Counter[str], least: dict[str, int]) -> None:
    """Each thing happened at least so often; else the comparison says nothing about it."""
    rare = {name: (seen[name], count) for name, count in least.items() if seen[name] < count}
    assert not rare, f"too rare (seen, wanted): {rare}; all: {seen}"


# Half of what the seeds below gave; a change of the bias may move them, a hole in the rules too.
FULL = {
    "phase play": 9000, "phase grab": 100, "phase call": 50, "phase forced_call": 3,
    "phase declare": 60, "grab": 3, "decline": 90, "cede": 30, "call": 16, "call secret": 3,
    "declare": 5, "silent": 50, "yield": 3000, "claim": 30, "star": 10, "circle 2": 2000,
    "beaten in circle 2": 200, "接风": 30, "circle 2 by a last set": 40,
    "last set while some yielded": 4,
}  # fmt: skip
SMALL = {
    "phase play": 7000, "phase grab": 600, "phase call": 400, "phase forced_call": 20,
    "phase declare": 200, "grab": 40, "grab by the holder": 5, "decline": 600, "cede": 350,
    "call": 60, "call with a guard": 40, "call open": 8, "call secret": 15, "call of B": 4,
    "call of R": 15, "solo of B": 1, "solo of R": 3, "forced call of a joker": 3, "declare": 15,
    "silent": 200, "void": 30, "yield": 2000, "claim": 200, "star": 40, "star on a joker": 12,
    "circle 2": 1500, "beaten in circle 2": 150, "接风": 200, "circle 2 by a last set": 300,
    "last set while some yielded": 15,
}  # fmt: skip


@pytest.mark.slow
def test_full_deck_hands() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        one_hand(seed, None, seen)
    assert_common(seen, FULL)


def test_small_deck_hands() -> None:
    """15 to 52 cards (voids, skipped seats), and 10 to 24 (jokers called, seats out at once)."""
    seen: Counter[str] = Counter()
    for seed in range(300):
        rng = random.Random(-seed - 1)
        one_hand(seed, small_deck(rng) if seed % 3 else tiny_deck(rng), seen)
    assert_common(seen, SMALL)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_two_thousand_full_deck_hands(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(10_000 + part * 100, 10_100 + part * 100):
        one_hand(seed, None, seen)
    assert_common(seen, FULL)


@pytest.mark.soak
def test_ten_thousand_small_deck_hands() -> None:
    seen: Counter[str] = Counter()
    for seed in range(20_000, 30_000):
        rng = random.Random(-seed)
        one_hand(seed, small_deck(rng) if seed % 2 else tiny_deck(rng), seen)
    assert_common(seen, SMALL)


def test_many_tables_do_not_mix() -> None:
    """32 tables in different phases, some of them stepped at a time; new hands come in between."""
    rng = random.Random(5)
    deck = ["R*", "R", "R", "R"] + ["B"] * 4 + [f"{r}{s}" for r in "36K" for s in "sh"] * 4
    engine = engine_of(tuple(deck))
    party = Party(engine, [biased_deal(rng, deck) for _ in range(32)])
    phases = []
    for _ in range(300):
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
    assert max(phases) >= 4
    for table in range(32):
        party.check(table)


def test_void_hands_are_dealt_anew_from_the_same_stream() -> None:
    """Tables with seeds: each void gives the deal of the next redeal, which the oracle follows."""
    deck = ["R*"] + ["9c"] * 4 + [f"{r}s" for r in "3456788TTJJQQKKAA22"] + ["B", "B"]
    engine = engine_of(tuple(deck))
    seeds = list(range(24))
    state, rng = engine.reset(seeds), random.Random(1)
    party = Party(engine, [])
    party.state = state
    party.hands = [fresh_oracle(engine, seed, 0) for seed in seeds]
    redeals = [0] * len(seeds)
    while tables := party.open:
        party.step(tables, party.random_moves(tables, rng))
        for table in tables:
            if party.hands[table].void:
                redeals[table] += 1
                party.hands[table] = fresh_oracle(engine, seeds[table], redeals[table])
                assert state.moves[table] == 0
                assert (state.recent[table] == -1).all()
        assert state.redeals.tolist() == redeals
    assert max(redeals) >= 3
    assert all(state.phase == Phase.OVER)


def fresh_oracle(engine: Engine, seed: int, redeal: int) -> Hand:
    hands, start = engine.dealt_hands(seed, redeal)
    return Hand([hand.split(" ") for hand in hands], start)


def test_uniform_moves() -> None:
    """Uniform legal moves half of the time: more grabs, large leads and big sets to beat."""
    for seed in range(4):
        rng = random.Random(seed)
        party = Party(engine_of(), [biased_deal(rng)])
        while party.open:
            legal = party.check(0)
            party.step([0], [rng.choice(legal) if rng.random() < 0.5 else biased_move(legal, rng)])
        party.check(0)
