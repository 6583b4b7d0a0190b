"""Rollouts: the scores of a plain loop, whatever runs beside a table, and nothing else changed."""

import numpy as np
import pytest

import lupai.agents
from lupai.agents.base import LaneAgent
from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.agents.rollout import AgentPolicy, Policy, rollout
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import IllegalMoveError, LupaiError

PRESETS = ("qingdao", "shiwei", "weihai")
ENGINE = Engine("qingdao")


class Last:
    """An agent without batches: the last legal move."""

    name = "last"

    def __init__(self):
        self.asked = 0

    def reset(self, seed=None):
        pass

    def act(self, view):
        assert len(view.legal) > 1
        self.asked += 1
        return view.legal[-1]


def plain(policy, state, engine, lanes):
    """The same by a loop that moves no table."""
    state = state.copy()
    while (rows := np.flatnonzero(~state.over)).size:
        legal = engine.legal(state, rows)
        engine.step(state, policy.choose(engine, state, legal, rows, lanes[rows]), rows)
    return engine.scores(state), state


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("agent", [RandomAgent(3), GreedyAgent()])
def test_scores_of_a_plain_loop(rules, agent):
    """From the deal, and from the middle of hands of which some have ended."""
    engine, lanes = Engine(rules), np.arange(16) * 3 + 5
    state = engine.reset(np.arange(16))
    for halfway in (False, True):
        assert (state.over.any(), state.over.all()) == (halfway, False)
        before = state.copy()
        scores, final = plain(agent, state, engine, lanes)
        got = rollout(agent, state, engine, lanes=lanes)
        assert (got.dtype, got.tolist()) == (np.int64, scores.tolist())
        assert state.equals(before)
        inplace = state.copy()
        assert (rollout(agent, inplace, engine, lanes=lanes, inplace=True) == scores).all()
        assert inplace.equals(final)
        half = int(np.median(final.moves))
        rollout(agent, state, engine, lanes=lanes, limit=half, inplace=True)


def test_scores_of_a_table_do_not_depend_on_the_others():
    state, lanes = ENGINE.reset(np.arange(24)), np.arange(24) + 100
    one, two = RandomAgent(1), RandomAgent(2)
    back = np.arange(24)[::-1]
    for policy in (RandomAgent(5), AgentPolicy(one, two, one, two, one)):
        together = rollout(policy, state, ENGINE, lanes=lanes)
        others = rollout(policy, state.take(back), ENGINE, lanes=lanes[back])
        assert (others == together[back]).all()
        alone = rollout(policy, state.take([17]), ENGINE, lanes=lanes[[17]])
        assert (alone[0] == together[17]).all()
    assert (rollout(policy, state, ENGINE) != together).any()


def test_lanes_and_seeds_give_other_rollouts_of_one_table():
    state = ENGINE.reset(np.zeros(25, np.int64))
    scores = rollout(RandomAgent(0), state, ENGINE)
    assert len(np.unique(scores, axis=0)) > 4
    assert (rollout(RandomAgent(1), state, ENGINE) != scores).any()
    assert len(np.unique(rollout(RandomAgent(0), state, ENGINE, lanes=np.full(25, 7)), axis=0)) == 1


@pytest.mark.parametrize("rules", [*PRESETS, "qingdao;guard_by=marked_small_joker"])
def test_policies_play_as_their_agents_do(rules):
    """Without a view random and greedy choose what they choose with one."""
    engine = Engine(rules)
    state = engine.reset(np.arange(8))
    for agent in (RandomAgent(2), GreedyAgent()):
        assert isinstance(agent, Policy)
        assert isinstance(agent, LaneAgent)
        with_views = rollout(AgentPolicy(agent), state, engine)
        assert (rollout(agent, state, engine) == with_views).all()


def test_an_agent_for_each_seat():
    state = ENGINE.reset(np.arange(60))
    others = RandomAgent(1)
    scores = rollout([GreedyAgent(), *[others] * 4], state, ENGINE)
    assert scores[:, 0].mean() > 4
    scores = rollout([others, GreedyAgent(), *[others] * 3], state, ENGINE)
    assert scores[:, 1].mean() > 4


def test_any_agent_and_no_forced_question():
    state, last = ENGINE.reset(np.arange(3)), Last()
    scores = rollout(last, state, ENGINE)
    assert not isinstance(last, Policy)
    assert not scores.sum(axis=1).any()
    decisions = 0
    final = state.copy()
    while not final.over.all():
        before = final.moves.sum()
        rollout(last, final, ENGINE, limit=1, inplace=True)
        decisions += final.moves.sum() - before
    assert (ENGINE.scores(final) == scores).all()
    assert 0 < last.asked / 2 < decisions


def test_limit():
    state = ENGINE.reset(np.arange(9))
    for limit in (0, 37):
        some = state.copy()
        scores = rollout(RandomAgent(0), some, ENGINE, limit=limit, inplace=True)
        assert not scores.any()
        assert (some.moves == limit).all()
    halves = state.copy()
    rollout(RandomAgent(0), halves, ENGINE, limit=250, inplace=True)
    assert (rollout(RandomAgent(0), halves, ENGINE) == rollout(RandomAgent(0), state, ENGINE)).all()
    rollout(RandomAgent(0), halves, ENGINE, inplace=True)
    assert halves.over.all()
    again = halves.copy()
    scores = ENGINE.scores(halves)
    assert (rollout(Last(), halves, ENGINE, inplace=True) == scores).all()
    assert halves.equals(again)
    assert rollout(Last(), state.take([]), ENGINE).shape == (0, 5)


def test_void_deals_are_dealt_anew():
    deck = ["R*", *(f"{r}{s}" for r in "3456789TJQKA2" for s in "sh"), *["9c"] * 4]
    engine = Engine({"preset": "qingdao", "deck": deck})
    state = engine.reset(np.arange(30))
    scores, final = plain(GreedyAgent(), state, engine, np.arange(30))
    assert final.redeals.any()
    assert (rollout(GreedyAgent(), state, engine) == scores).all()


def test_errors():
    state = ENGINE.reset(np.arange(4))
    with pytest.raises(LupaiError, match=r"lanes \(3,\) for 4 tables"):
        rollout(RandomAgent(0), state, ENGINE, lanes=np.arange(3))
    with pytest.raises(LupaiError, match="limit -1: a number of decisions from 0 up"):
        rollout(RandomAgent(0), state, ENGINE, limit=-1)
    with pytest.raises(LupaiError, match="2 agents: one for all seats, or 5, one for each"):
        rollout([GreedyAgent(), GreedyAgent()], state, ENGINE)

    class Wrong:
        def choose(self, engine, state, legal, rows, lanes):
            return np.full(len(rows), 5)

    with pytest.raises(IllegalMoveError, match=r"'cede'.* is illegal"):
        rollout(Wrong(), state, ENGINE)


def test_loaded_agents_are_policies():
    state = ENGINE.reset(np.arange(10))
    scores = rollout(lupai.agents.load("greedy"), state, ENGINE)
    assert (scores == rollout(GreedyAgent(), state, ENGINE)).all()
