"""Predictors: chances, nothing hidden in them, nothing of what comes later; the registry."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, ask_predictor, candidates, load_predictor
from lupai.agents.tactical.beliefs import heuristic
from lupai.envs.view import Views
from lupai.train.belief.decisions import OBSERVERS
from lupai.train.belief.scoring import check_causal
from tests.belief.hands import RULES, decisions, some_bayes
from tests.envs.redeal import Story
from tests.envs.side_by_side import engine_of
from tests.envs.test_leaks import TABLES, choose, new_env, put_world
from tests.envs.test_leaks import small as with_small_deck
from tests.oracle.random_play import biased_deal

EXAMPLE = "lupai.agents.belief.example_predictor:Suspicious"
NAMES = ("uniform", "grounded", "tactical", EXAMPLE)


def predictors(rules):
    return [*(load_predictor(name) for name in NAMES), some_bayes(rules)]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("observer", OBSERVERS)
def test_chances_are_chances_for_who_comes_into_question(rules, observer):
    views = decisions(rules).views(observer)
    for predictor in predictors(rules):
        chances = ask_predictor(predictor, views)
        assert not chances[~candidates(views)].any(), predictor.name
        check_causal(predictor, views)


def test_the_simple_ones_are_what_they_say():
    views = decisions("weihai").views("rebel")
    some = candidates(views)
    uniform = load_predictor("uniform").predict(views)
    assert np.allclose(uniform, some / some.sum(axis=1, keepdims=True), atol=1e-15)
    assert (uniform[some] == 0.25).all()
    grounded = views.engine.guard_chances(views.state, views.seats)
    assert (load_predictor("grounded").predict(views) == grounded).all()
    told = heuristic(views.engine.rules, views.state, np.asarray(views.seats))
    assert (load_predictor("tactical").predict(views) == told).all()


def test_a_view_alone_and_in_a_batch_is_told_the_same():
    views = decisions("shiwei").views("spectator")
    for predictor in predictors("shiwei"):
        whole = ask_predictor(predictor, views)
        for row in range(0, len(views), 211):
            alone = ask_predictor(predictor, views.take([row]))[0]
            assert np.allclose(alone, whole[row], atol=1e-12), predictor.name


class LooksAhead:
    name = "looks_ahead"

    def predict(self, views):
        who = candidates(views) * (1.0 + np.arange(6) * (views.log.seats >= 0).sum() % 7)
        return who / who.sum(axis=1, keepdims=True)


def test_looking_ahead_is_noticed():
    with pytest.raises(BeliefError, match="'looks_ahead' looks ahead"):
        check_causal(LooksAhead(), decisions("qingdao").views("rebel"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (np.ones((3, 6)), "answered"),
        (np.full(6, 0.2), "are no chances"),
        (np.array([1.5, -0.5, 0, 0, 0, 0]), "are no chances"),
        (np.full(6, np.nan), "are no chances"),
    ],
)
def test_answers_that_are_no_chances_are_refused(answer, why):
    views = decisions("qingdao").views("rebel").take([0, 1])

    class Wrong:
        name = "wrong"

        def predict(self, views):
            return answer if answer.ndim == 2 else np.tile(answer, (len(views), 1))

    with pytest.raises(BeliefError, match=f"predictor 'wrong'.*{why}"):
        ask_predictor(Wrong(), views)


# --- hidden means hidden ------------------------------------------------------------------------


def chances_in_two_worlds(rng, rules, every, count, chosen):
    """One hand; at every so many-th decision predictors are asked in the true and another deal."""
    engine = engine_of(rules)
    hands, start = biased_deal(rng, rules=rules)
    env, other = new_env(rules, hands, start), new_env(rules, hands, start)
    story = Story(rules, hands, start)
    while not env.terminations["player_0"]:
        state = env._state
        hidden = state.emperor[0] >= 0 and not state.public[0]
        if hidden and rng.randrange(every) == 0:
            emperor, guard = int(state.emperor[0]), int(state.guard[0])
            rebel = rng.choice([s for s in range(5) if s not in (emperor, guard)])
            viewers = [rebel, -1] + [emperor] * (guard >= 0)
            history = [list(env._log.history)] * len(viewers)
            tables = [0] * len(viewers)
            here = Views(engine, state, viewers, tables, history)
            said = [ask_predictor(predictor, here) for predictor in chosen]
            for i, viewer in enumerate(viewers):
                world = story.redeal(max(viewer, 0), rng)
                if world is None:
                    continue
                other._state = state.copy()
                put_world(other, world, rng)
                there = Views(engine, other._state, viewers, tables, history)
                for predictor, before in zip(chosen, said, strict=True):
                    now = ask_predictor(predictor, there)
                    assert (now[i] == before[i]).all(), predictor.name
                count["worlds"] += world.hand.hands != story.hand.hands
                count["roles"] += world.hand.guard != story.hand.guard
        env.step(env.action_of(choose(env.legal_moves(), rng)))
        if env._log.moves:
            story.tell(env._log.moves[-1])


@pytest.mark.parametrize("table", TABLES)
def test_chances_do_not_depend_on_what_is_hidden(table):
    rng, rules, count = random.Random(7), TABLES[table], Counter()
    for _ in range(150):
        small = with_small_deck(rng, rules)
        chosen = predictors(str(engine_of(small).rules))
        chances_in_two_worlds(rng, small, 2, count, chosen)
        if count["worlds"] > 60 and count["roles"] > 10:
            break
    else:
        pytest.fail(f"too few other worlds: {count}")


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("table", TABLES)
def test_chances_of_many_hands_do_not_depend_on_what_is_hidden(table):
    rng, rules, count = random.Random(8), TABLES[table], Counter()
    while count["worlds"] < 5000 or count["roles"] < 500:
        small = with_small_deck(rng, rules)
        chosen = predictors(str(engine_of(small).rules))
        chances_in_two_worlds(rng, small, 1, count, chosen)


# --- by name --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "no such predictor and no such folder; predictors: uniform, grounded"),
        ("", "no such predictor"),
        ("no_module_here:X", "there is no module 'no_module_here'"),
        ("lupai.agents.belief.base:Nothing", "has no 'Nothing'"),
        ("lupai.agents.belief.base:ALONE", "lacks name, predict"),
        ("1x:Y", "a class is named as module:Class"),
        ("/", "cannot be read"),
    ],
)
def test_what_is_no_predictor_is_refused(name, why):
    with pytest.raises(BeliefError, match=why):
        load_predictor(name)


def test_a_class_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "own_predictor.py").write_text(
        "class Own:\n    name = 'own'\n    def predict(self, views):\n        return None\n"
    )
    monkeypatch.chdir(tmp_path)
    assert load_predictor("own_predictor:Own").name == "own"
