"""Agents under all presets and options, and in phases that qingdao does not have."""

import random
from collections import Counter

import numpy as np
import pytest

from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.agents.registry import AGENTS, load
from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Phase, State
from lupai.envs.cards import KIND_OF_TEXT, NUM_RANKS, RANK_OF_KIND
from lupai.envs.view import View, Views
from tests.agents.positions import position_of
from tests.oracle.random_play import random_rules

PRESETS = ("qingdao", "shiwei", "weihai", "qingdao;guard_by=marked_small_joker")


def hands(engine, agents, tables):
    """Play whole hands, seat s by agents[s]; yields (agent, views, actions) of each turn and
    returns the scores."""
    state = engine.reset(np.arange(tables))
    while (rows := np.flatnonzero(~state.over)).size:
        actors = state.actor[rows].astype(int)
        actions = np.zeros(len(rows), int)
        for agent in dict.fromkeys(agents):
            mine = np.flatnonzero([agents[a] is agent for a in actors])
            if mine.size:
                views = Views(engine, state, actors[mine], rows[mine])
                actions[mine] = agent.act_batch(views)
                yield agent, views, actions[mine]
        engine.step(state, actions, rows)
    scores = engine.scores(state)
    assert not scores.sum(axis=1).any()
    return scores


def final(playing):
    """Play on to the end; the scores."""
    while True:
        try:
            next(playing)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "search"])
@pytest.mark.parametrize("seed", range(12))
def test_whole_hands_under_any_rules(name, seed):
    engine = Engine(random_rules(random.Random(seed), named_deck=0.1))
    agent, single = AGENTS[name](), AGENTS[name]()
    for chosen in (agent, single):
        chosen.reset(3)
    for _, views, actions in hands(engine, [agent] * 5, tables=3):
        assert views.legal.contains(actions).all()
        moves = [single.act(view) for view in views]
        assert moves == [v.move_of(int(a)) for v, a in zip(views, actions, strict=True)]
        assert all(move in view.legal for move, view in zip(moves, views, strict=True))


@pytest.mark.parametrize("method", ["flat", "tree"])
@pytest.mark.parametrize("seed", range(8))
def test_search_plays_whole_hands_under_any_rules(method, seed):
    engine = Engine(random_rules(random.Random(seed), named_deck=0))
    options = f"simulations=16+worlds=4+candidates=3+method={method}"
    agent = load(f"search:{options}")
    agent.reset(3)
    for _, views, actions in hands(engine, [agent] * 5, tables=2):
        assert views.legal.contains(actions).all()


@pytest.mark.parametrize("rules", PRESETS)
def test_greedy_takes_no_risk_before_play(rules):
    """Among random players, who bring it into every phase."""
    engine, greedy, said = Engine(rules), GreedyAgent(), Counter()
    for agent, views, actions in hands(engine, [RandomAgent(1), greedy] * 2 + [greedy], 120):
        if agent is greedy:
            for phase, action in zip(views.state.phase.tolist(), actions.tolist(), strict=True):
                if phase != Phase.PLAY:
                    said[ACTIONS.decode(action).verb] += 1
    calm = {"decline", "silent", "keep", "refuse", "cede", "call"}
    assert set(said) <= calm
    expected = {"weihai": {"decline", "silent", "keep"}}.get(rules, {"decline", "silent"})
    assert expected <= set(said)


@pytest.mark.parametrize("rules", PRESETS)
def test_greedy_beats_random_under_all_presets(rules):
    """One greedy among random players gains, and one random player among greedy ones loses."""
    engine, means = Engine(rules), []
    for me, other in ((GreedyAgent(), RandomAgent(1)), (RandomAgent(1), GreedyAgent())):
        means.append(final(hands(engine, [me, *[other] * 4], 150))[:, 0].mean())
    assert means[0] > 1
    assert means[1] < 0


def position(rules, hand, standing=None):
    """View of a player in a trick under some rules."""
    return position_of(Engine(rules), hand, standing)


@pytest.mark.parametrize(
    ("rules", "hand", "standing", "move"),
    [
        ("shiwei", "9s 9h 9c* Kd", None, "play 99"),  # X is not one of its nines
        ("shiwei", "9s 9h 9c* Kd", "8", "play K"),  # and breaks no pair
        ("shiwei", "9s 9c* Kd Kh", "8", "play 9"),  # nor does it leave one behind
        ("shiwei", "9c* Kd 4s", "2", "play X"),  # late, as the largest joker
        ("shiwei", "9c* Kd 4s R", "2", "play R"),
        ("shiwei", "9c* Kd 4s B", "R", "play X"),
        ("shiwei", "9c* 4s", None, "play 4X"),  # empties the hand
        ("shiwei", "9c*", "R", "play X"),
        ("shiwei", "9c* R R", None, "play RRX"),
        ("weihai", "6s 6h 7c", None, "play 7"),
        ("weihai", "6s 6h B", None, "play 66B"),
        ("weihai", "6s 6h B", "9", "play B"),
        ("weihai", "6s 6h", "9", "pass"),
        ("weihai", "7s B B*", "9", "play B"),
        ("qingdao;three_twos_beat_big=true", "2s 2h 2c 4s", "R", "play 222"),
    ],
)
def test_greedy_plays(rules, hand, standing, move):
    assert GreedyAgent().act(position(rules, hand, standing)) == move


def calling(rules):
    """A holder of R* with three 3s and three Kings."""
    engine, state = Engine(rules), State(1)
    state.phase, state.actor, state.crown = Phase.CALL, 0, 0
    for text, count in (("3s", 3), ("Kd", 3), ("2h", 4)):
        state.hands[0, 0, KIND_OF_TEXT[text]] = count
    state.ranks[0, 0] = np.bincount(RANK_OF_KIND, state.hands[0, 0], NUM_RANKS)
    return View.of(engine, state, 0)


def test_greedy_calls_low_where_the_card_becomes_supreme():
    assert GreedyAgent().act(calling("qingdao")) == "call Kd"
    assert GreedyAgent().act(calling("shiwei")) == "call 3s"
    assert GreedyAgent().act(calling("shiwei;guard_card=ordinary")) == "call Kd"


@pytest.mark.parametrize(
    ("phase", "verbs", "move"),
    [
        (Phase.SOLO, "solo decline", "decline"),
        (Phase.SOLO_TI, "ti silent", "silent"),
        (Phase.ABANDON, "keep abandon", "keep"),
        (Phase.OFFER, "accept refuse", "refuse"),
        (Phase.DECLARE, "declare silent", "silent"),
        (Phase.OPPOSE, "oppose silent", "silent"),
        (Phase.NIU, "niu silent", "silent"),
        (Phase.TI, "ti silent", "silent"),
    ],
)
def test_greedy_in_the_phases_of_weihai(phase, verbs, move):
    state = State(1)
    state.phase, state.actor, state.crown, state.emperor = phase, 0, 0, 1
    state.marked_b = 1 if phase == Phase.OPPOSE else 0
    view = View.of(Engine("weihai"), state, 0)
    assert set(view.legal) == set(verbs.split(" "))
    assert GreedyAgent().act(view) == move
    assert {RandomAgent(seed).act(view) for seed in range(20)} == set(view.legal)
