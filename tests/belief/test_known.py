"""``exact:…`` and ``particles:…`` by name, and many views of a hand at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, load_predictor
from lupai.agents.belief.behaviour import (
    AfterNeutralCalls,
    NoisyAgent,
    Population,
    UniformPlay,
)
from lupai.agents.belief.exact import ExactPosterior
from lupai.agents.belief.known import read_options
from lupai.agents.belief.particles import ParticlePosterior
from lupai.agents.caller import NeutralCaller
from lupai.agents.greedy import GreedyAgent
from lupai.agents.streams import decision_numbers
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.view import Views
from lupai.train.belief.decisions import OBSERVERS, Decisions, decisions_of
from lupai.train.belief.playing import Plan
from lupai.train.belief.playing import Population as Hands

MINI = "qingdao;deck=R* 3s 3s 3s 3s 9h 9h 9h 9h Kc Kc Kc Kc 2d B;grab=false;declare=false"
WEIHAI = "weihai;deck=R* R B* B B 3s 3s 3s 3s 8h;open_solo=false;declare=false;oppose=false"


def mini(rules: str, hands: int = 4, calling: str = "players") -> Decisions:
    """Mini-games of a noisy greedy."""
    plan = Plan(
        str(load_rules(rules)), ("greedy",), noise=0.1, calling=calling, hands=hands, seed=3
    )
    return decisions_of(Engine(plan.rules), list(Hands(plan).play(0)))


@pytest.mark.parametrize("observer", OBSERVERS)
@pytest.mark.parametrize("rules", [MINI, WEIHAI])
def test_many_views_of_a_hand_are_answered_as_each_alone(rules, observer):
    """Together they ask a player once for what he does after the same moves."""
    views = mini(rules).views(observer)
    views = views.take(np.arange(0, len(views), 5 if rules == MINI else 2))
    exact = load_predictor("exact:agent=greedy+noise=0.1")
    together = exact.predict(views)
    assert len(views) > 8 > len(np.unique(views.hand))
    for row in range(len(views)):
        alone = Views(views.engine, views.state, [views.seats[row]], [row], [views.histories[row]])
        np.testing.assert_allclose(exact.predict(alone)[0], together[row], rtol=0, atol=1e-12)


def test_a_player_is_asked_once_for_all_views_of_a_hand():
    class Counting(NoisyAgent):
        asked = 0

        def chances(self, views, actions):
            Counting.asked += len(views)
            return super().chances(views, actions)

    views = mini(MINI, 1).views("emperor")
    exact = ExactPosterior(Population((Counting(GreedyAgent(), 0.1),)))
    exact.predict(views.take([len(views) // 2]))
    one, Counting.asked = Counting.asked, 0
    exact.predict(views.take([len(views) // 2, len(views) // 2]))
    assert Counting.asked == one > 0


def test_names_make_the_posteriors_they_say():
    views = mini(MINI).views("rebel")
    views = views.take(np.arange(0, len(views), 9))
    mixture = Population((UniformPlay(), NoisyAgent(GreedyAgent(), 0.2)), per="hand", suits="order")
    options = "agent=random+agent=greedy+noise=0.2+per=hand+suits=order"
    named = load_predictor(f"exact:{options}")
    assert named.name == f"exact:{options}"
    assert (named.predict(views) == ExactPosterior(mixture).predict(views)).all()
    sampled = load_predictor(f"particles:{options}+worlds=32+steps=1+seed=5")
    same = ParticlePosterior(mixture, 32, 1, 5)
    assert (sampled.predict(views) == same.predict(views)).all()
    defaults = load_predictor("particles")
    assert (defaults.worlds, defaults.steps, defaults.seed) == (1024, 0, 0)
    assert defaults.population.name == "tactical~0.05"
    assert load_predictor("exact:limit=5").limit == 5


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("exact:nois=0.1", "unknown option 'nois'; did you mean 'noise'"),
        ("exact:worlds=5", "unknown option 'worlds' .options: agent, noise"),
        ("exact:noise=2", "'noise' cannot be '2'; allowed: from 0 to 1"),
        ("exact:noise=nan", "'noise' cannot be 'nan'"),
        ("exact:noise=0.1+noise=0.2", "'noise' stands twice"),
        ("exact:noise=0.1+greedy", "'greedy' is no option=value; .* exact:agent=tactical"),
        ("exact:per=table+noise=0", "'per' cannot be 'table'; allowed: seat or hand"),
        ("particles:worlds=0", "'worlds' cannot be '0'; allowed: whole numbers from 1 to"),
        ("particles:steps=1.5", "'steps' cannot be '1.5'"),
        ("particles:agent=nobody", "agent 'nobody': no such agent"),
        ("particles:agent=search", "'search' draws worlds to decide"),
    ],
)
def test_names_that_make_no_sense_are_refused(name, why):
    with pytest.raises(BeliefError, match=f"predictor '.*{why}"):
        load_predictor(name)


def test_a_module_of_that_name_is_still_a_module():
    with pytest.raises(BeliefError, match="there is no module 'exact'"):
        load_predictor("exact:Posterior")
    assert read_options("exact:")["agent"] == ["tactical"]


def test_chances_of_the_neutral_caller_are_those_it_plays_by():
    """Over many deals each hand's calls come about as often; all together they are one."""
    engine = Engine("qingdao")
    state = engine.reset(range(3000))
    caller, behaviour = NeutralCaller(), AfterNeutralCalls(UniformPlay())
    expected = seen = variance = 0.0
    while True:
        rows = np.flatnonzero(state.phase < engine.phases.index("play"))
        if not rows.size:
            break
        views = Views(engine, state, state.actor[rows].astype(np.intp), rows)
        ids, offsets = views.legal.ids()
        at = np.repeat(np.arange(len(rows)), np.diff(offsets))
        every = Views(engine, state, views.seats[at], rows[at])
        chances = behaviour.chances(every, ids)
        np.testing.assert_allclose(np.add.reduceat(chances, offsets[:-1]), 1)
        played = caller.choose(views, state.seeds[rows, 0], decision_numbers(state, rows))
        assert (behaviour.chances(views, played) > 0).all()
        # the first of several that it draws among, as often as its chance says
        first = np.array([a + chances[a:b].argmax() for a, b in pairwise(offsets)])
        p = chances[first]
        expected, variance = expected + p.sum(), variance + (p * (1 - p)).sum()
        seen += (ids[first] == played).sum()
        engine.step(state, played, rows)
    assert variance > 100
    assert abs(seen - expected) < 4 * np.sqrt(variance)
    views = Views(engine, state, state.actor.astype(np.intp))  # from the first lead on
    ids, offsets = views.legal.ids()
    lead = ids[offsets[:-1]]
    assert (behaviour.chances(views, lead) == UniformPlay().chances(views, lead)).all()


def test_exact_knows_the_neutral_caller():
    """After calls of his own the emperor's other triples would have been as likely called."""
    views = mini(MINI, 6, "neutral").views("spectator")
    views = views.take(np.arange(0, len(views), 6))
    told = [
        load_predictor(f"exact:agent=greedy+noise=0.1+calls={calls}").predict(views)
        for calls in ("neutral", "players")
    ]
    assert np.abs(told[0] - told[1]).max() > 1e-4
