"""`tactical`: evident moves, arithmetic against brute force, no leaks, and that it wins."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.agents.chances import tails
from lupai.agents.random_agent import RandomAgent
from lupai.agents.tactical import TacticalAgent, heuristic
from lupai.agents.tactical.counting import Count
from lupai.agents.tactical.play import Trick
from lupai.agents.tactical.weights import Wills
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.sets import CardSet, beats
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R
from lupai.envs.view import View, Views
from lupai.train.evaluate import evaluate
from tests.envs.redeal import Story
from tests.envs.side_by_side import play, small
from tests.envs.test_leaks import TABLES, choose, new_env, put_world
from tests.envs.test_leaks import small as with_small_deck
from tests.oracle.random_play import biased_deal

AGENT = TacticalAgent()


def asked(engine, state):
    """Move of tactical at a table of one."""
    return AGENT.act(View.of(engine, state, int(state.actor[0])))


# --- evident moves ------------------------------------------------------------------------------


def test_goes_out_when_it_can():
    engine, state = small("R* 3c", "4s 4h", "5s 5h", "6s 6h", "7s 7h")
    play(engine, state, "0 grab")
    assert asked(engine, state) == "play 3R"
    engine, state = small("R* 3c 3d", "4s 4h", "5s 5h", "6s 6h", "7s 7h")
    play(engine, state, "0 grab", "0 play 3c 3d")
    assert asked(engine, state) == "play 44"


def test_runs_out_by_sets_that_nobody_can_beat():
    """Two losers and R: R takes one along, the other is the last set."""
    engine, state = small("R* 3c 3d 4c", "B 9h 9d 9s", "Ks Kh Kd Kc", "As Ah Ad Ac", "2s 2h 2d 2c")
    play(engine, state, "0 grab")
    move = asked(engine, state)
    assert move in ("play 33R", "play 4R")
    engine.step(state, [engine.action_of(state, 0, move)])
    for _ in range(4):
        play(engine, state, f"{state.actor[0]} pass")
    assert int(state.actor[0]) == 0
    engine.step(state, [engine.action_of(state, 0, asked(engine, state))])
    assert state.places[0, 0] == 1


def called(*hands, start=0):
    """Seat 0 has called 9s with three copies, seat 2 is guard, nobody has said a word."""
    engine, state = small(*hands, start=start)
    play(engine, state, *(f"{-i % 5} decline" for i in range(5)), "0 call 9s")
    play(engine, state, *(f"{i} silent" for i in range(1, 5)))
    assert (state.emperor[0], state.guard[0]) == (0, 2)
    return engine, state


def test_the_guard_leaves_the_emperors_set_alone():
    engine, state = called(
        "9s 9s 9s R* Ks Jh", "3s 4s 5s 6s 7s 8s", "9s As Ah 3c 4c 5c", "3d 4d 5d 6d 7d 8d",
        "3h 4h 5h 6h 7h 8h",
    )  # fmt: skip
    for cards in ("9s 9s 9s", "R"):
        play(engine, state, f"0 play {cards}", *(f"{i} pass" for i in range(1, 5)))
    play(engine, state, "0 play Ks", "1 pass")
    assert asked(engine, state) == "yield"


def test_a_rebel_beats_the_emperors_set():
    engine, state = called(
        "9s 9s 9s R* 8s Jh", "As Ah 3s 4s 5s 6s", "9s 8c 3c 4c 5c 6c", "3d 4d 5d 6d 7d 8d",
        "3h 4h 5h 6h 7h 8h",
    )  # fmt: skip
    play(engine, state, "0 play 9s 9s 9s", *(f"{i} pass" for i in range(1, 5)))
    play(engine, state, "0 play R", *(f"{i} pass" for i in range(1, 5)))
    play(engine, state, "0 play 8s")
    assert asked(engine, state) == "play A"


def test_a_leader_does_not_feed_a_foe_with_one_card():
    """Seat 1, a rebel, leads beside an emperor with one card."""
    engine, state = called(
        "9s 9s 9s R* Jh", "6s 4c 4h 5h 5d", "9s 8c 3c 6d 6c", "3d 4d 5c 7c 7d", "3h 6h 7h 8h 8d",
    )  # fmt: skip
    play(engine, state, "0 play 9s 9s 9s R", *(f"{i} pass" for i in range(1, 5)))
    assert state.sizes[0, 0] == 1
    state.actor = 1
    assert asked(engine, state) in ("play 44", "play 55")


def test_holds_up_a_foe_with_one_card():
    """Seat 3 is asked before seat 0, who has one card: of 5 and 2 it plays the 2."""
    engine, state = called(
        "9s 9s 9s R* Jh", "3s 4c 4h 6h 7d", "9s 8c 3c 6d 6c", "5d 2d 3d 3d 3d", "3h 6h 7h 8h 8d",
    )  # fmt: skip
    play(engine, state, "0 play 9s 9s 9s R", *(f"{i} pass" for i in range(1, 5)))
    state.actor = 2
    play(engine, state, "2 play 3c")
    assert asked(engine, state) == "play 2"


# --- arithmetic ---------------------------------------------------------------------------------


def test_tails_are_those_of_the_binomial():
    rng = np.random.default_rng(0)
    draws = rng.random((200_000, 6)) < 16 / 64
    for least in range(7):
        share = (draws.sum(axis=1) >= least).mean()
        assert abs(tails()[16, 6, least] - share) < 0.005
    assert (tails()[:, :, 0] == 1).all()
    assert tails()[64, 5, 5] == 1
    assert not tails()[:, 2, 3:].any()


def decisions(rules, tables, player, seed=0):
    """Views in play, batch by batch, of hands that ``player`` plays with itself."""
    engine = Engine(rules)
    state = engine.reset(np.arange(seed, seed + tables))
    while (rows := np.flatnonzero(~state.over)).size:
        views = Views(engine, state, state.actor[rows], rows)
        playing = np.flatnonzero(views.state.phase == PHASE_PLAY)
        if playing.size:
            yield Views(engine, state, state.actor[rows[playing]], rows[playing])
        engine.step(state, player.act_batch(views), rows)


def can_be_beaten(cards, unseen, has_x, largest):
    """By enumeration: some set from the unseen cards, in one hand, beats this one."""
    for rank in range(NATURAL_RANKS + 1):
        naturals = range(1, unseen[rank] + 1) if rank < NATURAL_RANKS else (0,)
        for n in naturals:
            for b in range(unseen[RANK_B] + 1):
                for r in range(unseen[RANK_R] + 1):
                    for x in range(has_x + 1):
                        answer = CardSet(rank, n, b, r, x)
                        if 0 < answer.size <= largest and beats(answer, cards):
                            return True
    return False


@pytest.mark.parametrize("rules", ["qingdao", "shiwei"])
def test_sure_sets_are_those_that_no_hand_can_beat(rules):
    """Random late positions; ``sure`` may miss one, and may never be wrong."""
    rng, seen = np.random.default_rng(1), Counter()
    for number, views in enumerate(decisions(rules, 12, RandomAgent(0))):
        if number % 11:
            continue
        count = Count(views.engine.rules, views.state, views.seats)
        for at in range(len(views)):
            rank, n = int(rng.integers(14)), int(rng.integers(1, 7))
            b, r, x = (int(v) for v in rng.integers(0, 3, 3) * (rng.random(3) < 0.3))
            x = min(x, 1) * (rules == "shiwei")
            n = n if rank < NATURAL_RANKS else 0
            if n + b + r + x == 0:
                continue
            parts = (np.array([v]) for v in (at, rank, n, b, r, x))
            sure = bool(count.sure(*parts, twos=False)[0])
            unseen, has_x = count.unseen[at].tolist(), int(count.unseen_x[at])
            true = can_be_beaten(CardSet(rank, n, b, r, x), unseen, has_x, int(count.largest[at]))
            assert not (sure and true)
            seen[sure, true] += 1
    assert seen[True, False] > 100
    assert seen[False, True] > 100
    assert seen[False, False] < 0.03 * seen.total()


@pytest.mark.parametrize(
    "rules", ["shiwei", "weihai", "qingdao;pass_scope=trick;three_twos_beat_big=true"]
)
def test_who_surely_runs_out_does(rules):
    """Once tactical sees a sure way out nobody else plays before it is out."""
    engine, other, found = Engine(rules), RandomAgent(3), 0
    state = engine.reset(np.arange(30))
    sure = np.full(30, -1)
    while (rows := np.flatnonzero(~state.over)).size:
        views = Views(engine, state, state.actor[rows], rows)
        actions = AGENT.act_batch(views)
        wild = np.flatnonzero((views.seats % 2 == 0) & (sure[rows] != views.seats))
        if wild.size:  # all may answer anything, tactical or not
            some = Views(engine, state, state.actor[rows[wild]], rows[wild])
            actions[wild] = other.act_batch(some)
        sizes = state.sizes[rows, views.seats]
        engine.step(state, actions, rows)
        played = state.sizes[rows, views.seats] < sizes
        for row, seat, plays in zip(rows, views.seats, played, strict=True):
            assert not (plays and sure[row] not in (-1, seat))
            if sure[row] == seat and state.places[row, seat]:
                sure[row] = -1
        leads = np.flatnonzero(
            (views.state.phase == PHASE_PLAY) & (state.phase[rows] == PHASE_PLAY)
        )
        tame = leads[(views.seats[leads] % 2 == 1) & played[leads]]
        tame = tame[state.places[rows[tame], views.seats[tame]] == 0]
        if tame.size:
            some = views.state.take(tame)
            trick = Trick(engine.rules, some, views.seats[tame], Wills(), heuristic)
            runs = trick.terms(actions[tame], np.arange(len(tame)))["runs_out"] == 1
            sure[rows[tame[runs]]] = views.seats[tame[runs]]
            found += int(runs.sum())
    assert found > 10


# --- hidden means hidden --------------------------------------------------------------------------


def moves_in_two_worlds(rng, rules, every, count, said=AGENT.act):
    """One hand; at every so many-th decision ``said`` looks at the true and at another deal."""
    hands, start = biased_deal(rng, rules=rules)
    env, other = new_env(rules, hands, start), new_env(rules, hands, start)
    story = Story(rules, hands, start)
    while not env.terminations["player_0"]:
        viewer = int(env._state.actor[0])
        if len(env.legal_moves()) > 1 and rng.randrange(every) == 0:
            move = said(env.view(f"player_{viewer}"))
            for _ in range(3):
                world = story.redeal(viewer, rng)
                if world is None:
                    continue
                other._state = env._state.copy()
                put_world(other, world, rng)
                assert said(other.view(f"player_{viewer}")) == move
                now = world.hand
                count["worlds"] += now.hands != story.hand.hands
                count["roles"] += (story.hand.guard, story.hand.solo) != (now.guard, now.solo)
        view = env.view(f"player_{viewer}")
        best = view.phase == "play" and rng.random() < 0.5 and AGENT.act(view)
        env.step(env.action_of(best or choose(env.legal_moves(), rng)))
        if env._log.moves:
            story.tell(env._log.moves[-1])


@pytest.mark.parametrize("table", TABLES)
def test_moves_do_not_depend_on_what_is_hidden(table):
    rng, rules, count = random.Random(5), TABLES[table], Counter()
    moves_in_two_worlds(rng, rules, 40, count)
    for _ in range(100):
        moves_in_two_worlds(rng, with_small_deck(rng, rules), 3, count)
        if count["worlds"] > 100 and count["roles"] > 10:
            break
    else:
        pytest.fail(f"too few other worlds: {count}")


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("table", TABLES)
def test_moves_of_many_hands_do_not_depend_on_what_is_hidden(table):
    rng, rules, count = random.Random(6), TABLES[table], Counter()
    for _ in range(20):
        moves_in_two_worlds(rng, rules, 1, count)
    for _ in range(500):
        moves_in_two_worlds(rng, with_small_deck(rng, rules), 1, count)
    assert count["worlds"] > 10_000


@pytest.mark.parametrize("rules", TABLES.values())
def test_beliefs_are_chances(rules):
    """They add up to one, and exclude the emperor, the viewer, and who has opposed."""
    for views in list(decisions(rules, 5, AGENT))[::10]:
        chance = heuristic(views.engine.rules, views.state, views.seats)
        row = np.arange(len(views))
        assert np.allclose(chance.sum(axis=1), 1)
        assert not chance[row, views.state.emperor].any()
        assert not chance[row, views.seats].any()


# --- strength -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["qingdao", "shiwei", "weihai"])
def test_beats_greedy(rules):
    result = evaluate("tactical", ["greedy"], rules=rules, hands=120)
    means = {match["format"]: match["mean"] for match in result["matches"]}
    assert means["camp"] > 1.0
    assert means["seat"] > 0.0
