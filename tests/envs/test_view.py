"""Views: what agents get, and putting a guess in the place of what is hidden."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs import baohuang_v0
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.state import State
from lupai.envs.errors import RecordError
from lupai.envs.view import View, Views
from tests.oracle.random_play import biased_deal, biased_move

DECK = Engine().rules.cards.counts


def hands_of_a_hand(seed: int) -> list[tuple[State, int]]:
    """True states of one biased random hand, with the seat asked, at each decision."""
    env = baohuang_v0.raw_env()
    rng = random.Random(seed)
    hands, start = biased_deal(rng)  # fours of a kind are common: solos happen
    env.reset(options={"hands": [" ".join(h) for h in hands], "start": start})
    out = []
    while not env.terminations["player_0"]:
        out.append((env._state.copy(), int(env._state.actor[0])))
        env.step(env.action_of(biased_move(env.legal_moves(), rng)))
    return out


def test_the_true_hands_put_back_give_the_true_state() -> None:
    engine = Engine()
    seen: Counter[str] = Counter()
    for seed in range(12):
        for state, actor in hands_of_a_hand(seed)[::9]:
            for seat in {actor, (actor + 2) % 5}:
                view = View.of(engine, state, seat)
                filled = view.with_hidden(state.hands[0])
                filled.seeds[:] = state.seeds
                assert filled.equals(state)
                seen[view.phase] += 1
                seen["secret solo"] += int(state.solo[0] == 3 and not state.public[0])
    assert seen["play"] > 50
    assert seen["secret solo"] > 0


def test_the_hidden_part_is_gone_from_a_view() -> None:
    engine = Engine()
    for state, actor in hands_of_a_hand(3)[::11]:
        masked = View.of(engine, state, actor).state
        others = [s for s in range(5) if s != actor]
        assert not masked.hands[0, others].any()
        assert not masked.ranks[0, others].any()
        assert not masked.seeds.any()
        assert np.array_equal(masked.sizes, state.sizes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("own", "the own hand differs"),
        ("size", "wrong hand size of seat"),
        ("card", "wrong number of copies of"),
        ("negative", "a negative count in the hand of seat"),
        ("shape", "expected"),
    ],
)
def test_a_guess_that_contradicts_the_view_is_refused(change: str, message: str) -> None:
    engine = Engine()
    state = engine.reset([1])
    view = View.of(engine, state, 0)
    hands = state.hands[0].copy()
    if change == "own":
        a, b = np.argmax(hands[0]), np.argmax(hands[1] * (hands[0] == 0))
        hands[0, a] -= 1
        hands[1, a] += 1
        hands[1, b] -= 1
        hands[0, b] += 1
    elif change == "size":
        kind = np.argmax(hands[1])
        hands[1, kind] -= 1
        hands[2, kind] += 1
    elif change == "card":
        kind, other = np.argmax(hands[1]), np.argmin(hands[1])
        hands[1, kind] -= 1
        hands[1, other] += 1
    elif change == "negative":
        kind = np.argmin(hands[1])
        hands[1, kind] -= 5
    else:
        hands = hands[:4]
    with pytest.raises(RecordError, match=message):
        view.with_hidden(hands)


def test_a_guess_may_not_take_a_shown_copy_from_the_emperor() -> None:
    engine = Engine()
    for seed in range(40):
        states = hands_of_a_hand(seed)
        found = [s for s, _ in states if s.guard[0] >= 0 and not s.public[0] and s.moves[0] > 14]
        if not found:
            continue
        state = found[0]
        kind, emperor, guard = (
            int(v[0]) for v in (state.identity_kind, state.emperor, state.guard)
        )
        viewer = next(s for s in range(5) if s not in (emperor, guard))
        other = next(s for s in range(5) if s not in (emperor, guard, viewer))
        hands = state.hands[0].copy()
        swap = next(k for k in range(54) if hands[other, k] and k != kind)
        hands[emperor, kind] -= 1
        hands[emperor, swap] += 1
        hands[other, kind] += 1
        hands[other, swap] -= 1
        with pytest.raises(RecordError, match="the holder of R.* has too few copies"):
            View.of(engine, state, viewer).with_hidden(hands)
        return
    pytest.fail("no hand with a hidden role among the seeds")


def test_a_batch_of_views_equals_single_views() -> None:
    engine = Engine()
    state = engine.reset(np.arange(20))
    rng = np.random.default_rng(0)
    for _ in range(30):
        ids, offsets = engine.legal(state).ids()
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])])
    histories = [[f"0 pass {i}"] for i in range(20)]
    views = Views(engine, state, state.actor, histories=histories)
    flat, offsets = views.legal.ids()
    assert len(views) == 20
    for i, view in enumerate(views):
        assert view.seat == view.actor == state.actor[i]
        assert np.array_equal(view.observation, views.observation[i])
        assert np.array_equal(view.legal_ids, flat[offsets[i] : offsets[i + 1]])
        assert [view.action_of(m) for m in view.legal] != []
        assert view.history == tuple(histories[i])
    with pytest.raises(ValueError, match="asked seat only"):
        _ = Views(engine, state, (state.actor + 1) % 5).legal


def test_a_seat_that_is_not_asked_has_no_legal_moves() -> None:
    engine = Engine()
    state = engine.reset([0])
    seat = (int(state.actor[0]) + 1) % 5
    view = View.of(engine, state, seat)
    assert view.legal == []
    assert view.legal_ids.size == 0
    assert len(view.hand) == state.sizes[0, seat]


def test_history_of_a_secret_call_does_not_tell_the_secret() -> None:
    for seed in range(60):
        env = baohuang_v0.raw_env()
        env.reset(seed=seed)
        rng = random.Random(seed)
        while env.infos["player_0"]["phase"] != "play":
            legal = env.legal_moves()
            secret = [m for m in legal if m.endswith("secret")]
            choice = secret[0] if secret else "decline" if "decline" in legal else None
            env.step(env.action_of(choice or biased_move(legal, rng)))
            if secret:
                assert any(m.endswith("secret") for m in env._moves)
                assert not any("secret" in m for m in env.view("player_0").history)
                return
    pytest.fail("nobody ever held four copies")


def test_a_lead_with_more_than_860_sets_is_complete() -> None:
    hand = np.zeros((1, 15), np.int8)
    hand[0, :13] = 3
    hand[0, 13:] = 4
    from lupai.envs.baohuang.legal import play_moves

    nobody, no_verb = np.array([-1]), np.zeros(1, np.uint32)
    legal = play_moves(hand, nobody, nobody, no_verb, load_rules())
    ids, _ = legal.ids()
    assert len(ids) == legal.counts()[0] == 39 * 25 + 24
    assert legal.dense().sum() == len(ids)
