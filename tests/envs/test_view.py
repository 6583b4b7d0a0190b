"""Views: what agents get, and putting a guess in the place of what is hidden."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs import baohuang_v0
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.state import Solo, State
from lupai.envs.cards import KIND_R, KIND_TEXTS
from lupai.envs.errors import RecordError
from lupai.envs.view import View, Views
from tests.envs.side_by_side import Rules, play, small
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
        with pytest.raises(RecordError, match=r"the holder of R\* has too few copies"):
            View.of(engine, state, viewer).with_hidden(hands)
        return
    pytest.fail("no hand with a hidden role among the seeds")


def swapped(state: State, giver: int, kind: int, taker: int) -> np.ndarray:
    """All hands, one copy of a kind changed against a card of another seat."""
    hands: np.ndarray = state.hands[0].copy()
    other = next(k for k in range(52) if hands[taker, k] and k != kind)
    for seat, sign in ((giver, 1), (taker, -1)):
        hands[seat, kind] -= sign
        hands[seat, other] += sign
    return hands


def test_a_guess_leaves_the_crown_where_everybody_saw_it() -> None:
    """R* is with its holder until he plays an R, in the calling too."""
    deal = ["R* 3s 3h", "4s 4h 4d", "5s 5h 5d", "6s 6h 6d", "7s 7h 7d"]
    engine, state = small(*deal)
    with pytest.raises(RecordError, match=r"no R\*?, and so no R\*, with seat 0"):
        View.of(engine, state, 4).with_hidden(swapped(state, 0, KIND_R, 1))


CALL = ["R* 9c 9c 9c", "9c 4h 4d 4c", "5s 5h 5d 5c", "6s 6h 6d 6c", "7s 7h 7d 7c"]
DECLINED = [f"{seat} decline" for seat in (0, 4, 3, 2, 1)]


@pytest.mark.parametrize("preset", ["qingdao", "shiwei"])
def test_a_guess_leaves_the_identity_card_with_the_guard_who_declared(preset: str) -> None:
    """Else a guard without his 特画 would hold -1 of it."""
    deal = [cards + f" {r}s" for cards, r in zip(CALL, "TJQKA", strict=True)]
    engine, state = small(*deal, rules=preset)
    play(engine, state, *DECLINED, "0 call 9c", "1 declare")
    view = View.of(engine, state, 4)
    assert view.with_hidden(state.hands[0]).guard[0] == 1
    with pytest.raises(RecordError, match="no copy of the called card with the guard, seat 1"):
        view.with_hidden(swapped(state, 1, KIND_TEXTS.index("9c"), 2))


@pytest.mark.parametrize(
    ("rules", "asked"),
    [("weihai", "solo"), ({"preset": "shiwei", "guard_by": "marked_small_joker"}, "grab")],
)
def test_a_seat_sees_its_mark_before_there_are_roles(rules: Rules | str, asked: str) -> None:
    """Who decides about `solo` or `grab` must see 保 in the text of his hand, and nobody else."""
    engine, state = small(*MARKS, rules=rules)
    views = [View.of(engine, state, seat) for seat in range(5)]
    assert views[0].phase == asked
    assert [view.hand.count("B*") for view in views] == [0, 1, 0, 0, 0]
    assert [view.hand.count("B") for view in views] == [1, 0, 1, 1, 0]
    texts = [str(view) for view in views]  # the rules on top name the whole deck
    assert ["B*" in text.split("Your hand")[1] for text in texts] == [s == 1 for s in range(5)]
    assert max(len(line) for text in texts for line in text.splitlines()) <= 80
    god = engine.render_gods_eye(state)
    assert "GOD'S EYE" in " ".join(god.split())
    assert max(map(len, god.splitlines())) <= 80
    play(engine, state, "0 solo" if asked == "solo" else "0 grab")
    assert View.of(engine, state, 1).hand.count("B") == 1  # the marks have lost their meaning


MARKS = ["R* B 3s", "B* 4h 4d", "B 5h 5d", "B 6h 6d", "7s 7h 7d"]
BOTH = ["R* B* 3s", "B 4h 4d", "B 5h 5d", "B 6h 6d", "7s 7h 7d"]
UP = [f"{seat} decline" for seat in range(5)]


@pytest.mark.parametrize(
    ("deal", "moves", "guess", "message"),
    [
        (MARKS, [], 4, "B\\* is not with the viewer"),
        (MARKS, [*UP, "0 keep"], 5, None),
        (MARKS, [*UP, "0 keep"], 0, None),
        (
            MARKS,
            [*UP, "0 keep", "1 silent", "2 silent", "3 silent", "4 silent", "1 silent", "2 oppose"],
            2,
            "not with one who opposed, seat 2",
        ),
        (BOTH, [*UP, "0 abandon", "2 refuse"], 1, "the seat that gives up the crown, not with 1"),
        (BOTH, [*UP, "0 abandon", "2 refuse"], 0, None),
    ],
)
def test_guesses_of_who_was_dealt_the_mark(
    deal: list[str], moves: list[str], guess: int, message: str | None
) -> None:
    """What `oppose` and `abandon` prove binds a guess."""
    engine, state = small(*deal, rules="weihai")
    play(engine, state, *moves)
    view = View.of(engine, state, 4)
    holder = int(state.marked_b[0])
    if message is None:
        marked = holder if guess == 5 else guess
        filled = view.with_hidden(state.hands[0], marked)
        assert filled.marked_b[0] == marked
        if state.emperor[0] == marked:
            assert (filled.guard[0], filled.solo[0]) == (-1, Solo.SECRET)
        else:
            assert filled.guard[0] == marked
        with pytest.raises(RecordError, match="the holder of B\\* is to be guessed"):
            view.with_hidden(state.hands[0])
    else:
        with pytest.raises(RecordError, match=message):
            view.with_hidden(state.hands[0], guess)


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
                assert any(m.endswith("secret") for m in env._log.moves)
                assert not any("secret" in m for m in env.view("player_0").history)
                return
    pytest.fail("nobody ever held four copies")


def test_a_lead_with_more_than_860_sets_is_complete() -> None:
    hand = np.zeros((1, 15), np.int8)
    hand[0, :13] = 3
    hand[0, 13:] = 4
    from lupai.envs.baohuang.moves import play_moves

    nobody, no_verb = np.array([-1]), np.zeros(1, np.uint32)
    legal = play_moves(hand, nobody, nobody, no_verb, load_rules())
    ids, _ = legal.ids()
    assert len(ids) == legal.counts()[0] == 39 * 25 + 24
    assert legal.dense().sum() == len(ids)
