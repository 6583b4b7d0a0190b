"""Players play by the chances that they tell."""

import numpy as np
import pytest

from lupai.agents.belief.behaviour import (
    Behaviour,
    NoisyAgent,
    Population,
    UniformPlay,
    behaviour_of,
)
from lupai.agents.example_agent import LoyalAgent
from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.agents.search import SearchAgent
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.view import Views


def decisions(tables=40, plies=20, rules="qingdao"):
    """Decisions in the middle of random hands."""
    engine = Engine(rules)
    state, agent = engine.reset(range(tables)), RandomAgent(1)
    for _ in range(plies):
        engine.step(state, agent.act_batch(Views(engine, state, state.actor)))
    return Views(engine, state, state.actor)


def all_chances(behaviour, views):
    """Chances of all legal moves, ragged."""
    ids, offsets = views.legal.ids()
    rows = np.repeat(np.arange(len(views)), np.diff(offsets))
    many = Views(views.engine, views.state, views.seats[rows], rows)
    return behaviour.chances(many, ids), offsets


@pytest.mark.parametrize(
    "behaviour", [UniformPlay(), NoisyAgent(GreedyAgent(), 0.3), NoisyAgent(TacticalAgent(), 0.0)]
)
def test_chances_of_the_legal_moves_are_one_together(behaviour):
    assert isinstance(behaviour, Behaviour)
    for plies in (0, 8, 20):
        chances, offsets = all_chances(behaviour, decisions(plies=plies))
        np.testing.assert_allclose(np.add.reduceat(chances, offsets[:-1]), 1)
        assert chances.min() >= 0


@pytest.mark.parametrize("how", ["act", "act_batch", "act_lanes"])
def test_a_noisy_agent_plays_by_its_chances(how):
    views = decisions()
    few = int(np.flatnonzero((views.legal.counts() > 2) & (views.legal.counts() < 10))[0])
    views = Views(views.engine, views.state, views.seats[[few]], [few])
    agent = NoisyAgent(GreedyAgent(), 0.5, seed=3)
    chances, _ = all_chances(agent, views)
    ids, count = views.legal.ids()[0], 4000
    assert len(ids) >= 3
    if how == "act":
        count = 500
        played = [views[0].action_of(agent.act(views[0])) for _ in range(count)]
    else:
        rows = np.zeros(count, np.intp)
        many = Views(views.engine, views.state, views.seats[rows], rows)
        played = (
            agent.act_batch(many) if how == "act_batch" else agent.act_lanes(many, np.arange(count))
        )
    seen = (np.asarray(played)[:, None] == ids).sum(axis=0)
    assert seen.sum() == count
    error = np.sqrt(count * chances * (1 - chances))
    assert (np.abs(seen - count * chances) < 4.5 * error + 1e-9).all()


def test_a_noisy_agent_draws_by_its_seed_and_lane():
    views = decisions()
    lanes = np.arange(len(views))
    first, again, other = (NoisyAgent(GreedyAgent(), 0.5, seed=seed) for seed in (1, 1, 2))
    mine = first.act_lanes(views, lanes)
    assert (mine == again.act_lanes(views, lanes)).all()
    assert (mine != other.act_lanes(views, lanes)).any()
    some = np.array([3, 17])
    apart = Views(views.engine, views.state, views.seats[some], some)
    assert (first.act_lanes(apart, lanes[some]) == mine[some]).all()
    drawn = first.act_batch(views)
    assert (drawn != first.act_batch(views)).any()
    first.reset(1)
    assert (drawn == first.act_batch(views)).all()


def test_agents_have_behaviours():
    assert isinstance(behaviour_of(RandomAgent()), UniformPlay)
    noisy = behaviour_of(TacticalAgent(), 0.2)
    assert (noisy.name, noisy.epsilon) == ("tactical~0.2", 0.2)
    assert behaviour_of(noisy) is noisy
    with pytest.raises(LupaiError, match="agent 'search' draws worlds to decide"):
        behaviour_of(SearchAgent())
    with pytest.raises(LupaiError, match=r"agent '.*' has no act_batch"):
        behaviour_of(LoyalAgent())


def test_populations_that_cannot_be_are_refused():
    with pytest.raises(LupaiError, match="nobody in it"):
        Population(())
    with pytest.raises(LupaiError, match=r"weights \[1.0\] for 2 behaviours; give one positive"):
        Population((UniformPlay(), UniformPlay()), (1.0,))
    with pytest.raises(LupaiError, match="give one positive number"):
        Population((UniformPlay(),), (0.0,))
    with pytest.raises(LupaiError, match="per 'table'; allowed: seat or hand"):
        Population((UniformPlay(),), per="table")
    with pytest.raises(LupaiError, match="suits 'any'; allowed: blind or order"):
        Population((UniformPlay(),), suits="any")
    with pytest.raises(LupaiError, match=r"epsilon 1.5 is no chance; allowed: from 0 to 1"):
        NoisyAgent(GreedyAgent(), 1.5)


@pytest.mark.train
@pytest.mark.parametrize("idle", ["choose", "pass"])
def test_a_trained_policy_tells_its_softmax(idle):
    torch = pytest.importorskip("torch")
    from lupai.agents.belief.softmax import Softmax
    from lupai.agents.checkpoint import AgentCard
    from lupai.agents.trained import CheckpointAgent
    from tests.train.test_policies import small, untrained

    card = AgentCard("baohuang", "qingdao", "", "", small(), "", idle=idle, temperature=0.7)
    agent = CheckpointAgent(untrained(small()), card, sample=True, seed=4)
    behaviour = behaviour_of(agent)
    assert isinstance(behaviour, Softmax)
    views = decisions(tables=30, plies=12)
    chances, offsets = all_chances(behaviour, views)
    np.testing.assert_allclose(np.add.reduceat(chances, offsets[:-1]), 1, atol=1e-5)
    table = int(np.argmax(np.diff(offsets)))
    ids = views.legal.ids()[0][offsets[table] : offsets[table + 1]]
    told = chances[offsets[table] : offsets[table + 1]]
    rows = np.full(4000, table)
    played = agent.act_batch(Views(views.engine, views.state, views.seats[rows], rows))
    seen = (played[:, None] == ids).sum(axis=0)
    assert (np.abs(seen - 4000 * told) < 5 * np.sqrt(4000 * told * (1 - told)) + 1).all()
    assert torch.is_inference_mode_enabled() is False
