"""Hands that follow one another in the vector environment agree with the oracle at every step."""

import random
from collections import Counter

import pytest

from tests.envs.side_by_side import PRESETS, Rules, tiny_deck, with_deck
from tests.envs.vector_party import VectorParty
from tests.oracle.random_play import random_rules, small_deck


def many_steps(rules: Rules, tables: int, steps: int, seed: int, skip_forced: bool) -> VectorParty:
    """Some tables for some steps, with random legal moves, compared at each."""
    rng = random.Random(seed)
    party = VectorParty(rules, tables, seed, skip_forced=skip_forced)
    for _ in range(steps):
        party.play(rng)
    party.check_step()
    assert (party.unasked > 0) == skip_forced
    return party


def small_rules(preset: str, seed: int) -> Rules:
    """The preset with one of the small decks, so that hands follow one another quickly."""
    rng, rules = random.Random(seed), {"preset": preset}
    return with_deck(rules, tiny_deck(rng, rules) if seed % 2 else small_deck(rng, rules))


@pytest.mark.parametrize("preset", PRESETS)
def test_full_deck_hands_in_the_vector_env(preset: str) -> None:
    steps = 450 if preset == "qingdao" else 300
    party = many_steps({"preset": preset}, 1, steps, 11, skip_forced=True)
    assert party.seen["play: play"] > 50
    assert party.episodes[0] >= 1


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_small_deck_hands_in_the_vector_env(preset: str, skip_forced: bool) -> None:
    seen: Counter[str] = Counter()
    hands = 0
    for seed in range(3):
        party = many_steps(small_rules(preset, seed), 2, 120, 100 * seed, skip_forced)
        hands += sum(party.episodes)
        seen += party.seen
    assert hands >= 4
    assert seen["void"] >= (0 if preset == "weihai" else 2)


def test_hands_under_random_options_in_the_vector_env() -> None:
    hands = 0
    for seed in range(6):
        rules = random_rules(random.Random(seed), named_deck=0.0)
        hands += sum(many_steps(rules, 2, 60, seed, skip_forced=True).episodes)
    assert hands >= 4


# ---- more of them


@pytest.mark.soak
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_many_hands_in_the_vector_env(preset: str, skip_forced: bool, part: int) -> None:
    """In a part 8 or more hands of the preset's own deck and 100 or more of 20 small ones."""
    own = many_steps({"preset": preset}, 8, 1000, 1000 * part, skip_forced)
    assert sum(own.episodes) >= 8
    hands = 0
    for seed in range(20 * part, 20 * part + 20):
        party = many_steps(small_rules(preset, seed), 4, 250, 7 * seed, skip_forced)
        hands += sum(party.episodes)
    assert hands >= 100


@pytest.mark.soak
@pytest.mark.parametrize("part", range(6))
def test_many_hands_under_random_options_in_the_vector_env(part: int) -> None:
    for seed in range(10 * part, 10 * part + 10):
        rules = random_rules(random.Random(5000 + seed), named_deck=0.2)
        many_steps(rules, 4, 300, seed, skip_forced=seed % 2 == 0)
