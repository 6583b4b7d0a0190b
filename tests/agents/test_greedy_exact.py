"""`greedy` chooses what a cost for every legal id chooses, in every phase, under any rules."""

import random

import numpy as np
import pytest

from lupai.agents.greedy import _BEST_HIGH, _BEST_LOW, _BY_WORTH, _LOW_BITS, _WORTH, GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.envs.baohuang.actions import SET
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.sets import NUM_SETS, SET_SIZE
from lupai.envs.baohuang.state import PHASE_PLAY, State
from lupai.envs.cards import NATURAL_RANKS, NUM_KINDS, NUM_RANKS, RANK_OF_KIND
from lupai.envs.seats import NOBODY
from lupai.envs.sets import COMBOS
from tests.agents.greedy_by_id import by_id
from tests.agents.positions import position_of
from tests.oracle.random_play import random_rules

RULES = (
    "qingdao",
    "shiwei",
    "weihai",
    "qingdao;guard_by=marked_small_joker",
    "qingdao;three_twos_beat_big=true;pass_scope=trick",
    "shiwei;three_twos_beat_big=true",
)


def compare(engine, state, rows):
    """Moves of `greedy` at some tables, seen to be those of the slow one."""
    legal = engine.legal(state, rows)
    chosen = GreedyAgent().choose(engine, state, legal, rows, rows)
    ids, offsets = legal.ids()
    part = state.take(rows)
    assert chosen.dtype == np.int32
    slow = by_id(part, part.actor.astype(int), ids, offsets, bool(engine.rules.supreme))
    assert chosen.tolist() == slow.tolist()
    return chosen


def compare_hands(engine, tables, seed=0):
    """Compare at every decision of hands in which greedy and random moves alternate."""
    state, rng = engine.reset(np.arange(tables) + 1000 * seed), np.random.default_rng(seed)
    careful = rng.random((tables, engine.seats)) < 0.5
    other, count = RandomAgent(seed), 0
    while (rows := np.flatnonzero(~state.over)).size:
        chosen = compare(engine, state, rows)
        drawn = other.choose(engine, state, engine.legal(state, rows), rows, rows)
        engine.step(state, np.where(careful[rows, state.actor[rows]], chosen, drawn), rows)
        count += len(rows)
    return count


@pytest.mark.parametrize("rules", RULES)
def test_the_same_moves_in_whole_hands(rules):
    assert compare_hands(Engine(rules), 20) > 2000


@pytest.mark.parametrize("seed", range(8))
def test_the_same_moves_under_any_rules(seed):
    assert compare_hands(Engine(random_rules(random.Random(seed), named_deck=0.2)), 6, seed) > 50


def tricks(engine, count, rng):
    """Players in a trick with any cards, few or many, against any set."""
    state = State(count)
    state.phase, state.actor, state.emperor, state.alive = PHASE_PLAY, 0, 1, 31
    few = rng.integers(1, 8, (count, 1))
    likely = rng.random((count, NUM_KINDS)) < rng.choice([0.05, 0.1, 0.3, 1], (count, 1))
    likely[:, -2:] |= rng.random((count, 2)) < 0.5
    hands = np.minimum(rng.integers(0, few + 1, (count, NUM_KINDS)), 4) * likely
    hands[np.arange(count), rng.integers(0, NUM_KINDS, count)] += hands.sum(axis=1) == 0
    crowded = hands[:, : 4 * NATURAL_RANKS].reshape(count, NATURAL_RANKS, 4).sum(axis=2).max(axis=1)
    assert crowded.max() <= 16
    state.hands[:, 0] = hands
    for kind in range(NUM_KINDS):
        state.ranks[:, 0, RANK_OF_KIND[kind]] += state.hands[:, 0, kind]
    assert state.ranks.shape[2] == NUM_RANKS
    state.sizes[:] = 30
    state.sizes[:, 0] = hands.sum(axis=1)
    hides = rng.random(count) < 0.5
    state.identity_seat = np.where(hides, 0, NOBODY)
    # one of the cards held is the identity card
    state.identity_kind = (rng.random((count, NUM_KINDS)) * (hands > 0)).argmax(axis=1)
    sets = rng.integers(0, NUM_SETS, count)
    small = np.flatnonzero(SET_SIZE[:NUM_SETS] <= 4)
    sets = np.where(rng.random(count) < 0.8, rng.choice(small, count), sets)
    fits = SET_SIZE[sets] > state.sizes[:, 0]
    sets[fits] = rng.choice(np.flatnonzero(SET_SIZE[:NUM_SETS] == 1), fits.sum())
    answers = rng.random(count) < 0.75
    state.standing = np.where(answers, SET + sets, NOBODY)
    state.owner = np.where(answers, 4, NOBODY)
    state.to_ask = np.where(answers, 15, 0)
    return state


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("count", [1, 3000])
def test_the_same_moves_with_any_cards_against_any_set(rules, count):
    engine, rng = Engine(rules), np.random.default_rng(count)
    seen = set()
    for _ in range(2 if count > 1 else 200):
        state = tricks(engine, count, rng)
        # 憋6 may leave a leader without any move, in positions that no hand comes to
        rows = np.flatnonzero(engine.legal(state).counts())
        if rows.size:
            seen.update(compare(engine, state, rows).tolist())
    assert len(seen) > 40


@pytest.mark.parametrize("star", ["", "*"])
@pytest.mark.parametrize("rules", ["qingdao", "shiwei"])
def test_a_large_hand_that_goes_out_as_an_answer(rules, star):
    """It hangs its jokers although it is early."""
    hand = " ".join(["4s"] * 3 + ["4h"] * 3 + ["4c"] * 4 + ["4d" + star, "B"])
    engine = Engine(rules)
    state = position_of(engine, hand, "3" * 12).state
    (action,) = compare(engine, state, np.zeros(1, np.intp))
    engine.step(state, [action])
    assert state.sizes[0, 0] == 0


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
def test_soak_the_same_moves(rules):
    engine, rng = Engine(rules), np.random.default_rng(1)
    for _ in range(100):
        state = tricks(engine, 10_000, rng)
        compare(engine, state, np.flatnonzero(engine.legal(state).counts()))
    compare_hands(engine, 2000, 1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_soak_the_same_moves_under_any_rules(seed):
    rng = random.Random(seed + 1000)
    compare_hands(Engine(random_rules(rng, named_deck=0.2)), 40, seed)


def test_best_joker_part_of_every_word():
    """Against a plain search: least worth, of equals the fewer cards."""
    rng = np.random.default_rng(0)
    words = rng.integers(1, 1 << COMBOS, 2000) & rng.integers(1, 1 << COMBOS, 2000)
    words = np.concatenate([words[words > 0], 1 << np.arange(COMBOS)])
    low, high = words & ((1 << _LOW_BITS) - 1), words >> _LOW_BITS
    best = _BY_WORTH[np.minimum(_BEST_LOW[low], _BEST_HIGH[high])]
    for word, found in zip(words.tolist(), best.tolist(), strict=True):
        combos = [c for c in range(COMBOS) if word >> c & 1]
        assert found == min(combos, key=lambda c: (c // 5 + 2 * (c % 5), c // 5 + c % 5))
        assert _WORTH[found] == found // 5 + 2 * (found % 5)
