"""Particle posteriors beside exact ones, and what they may depend on."""

import random
import subprocess
import sys

import numpy as np
import pytest

from lupai.agents.belief.behaviour import NoisyAgent, Population
from lupai.agents.belief.exact import ExactPosterior, every_world
from lupai.agents.belief.likelihood import CardLog
from lupai.agents.belief.particles import ParticlePosterior
from lupai.agents.belief.swaps import DRAWS, Swaps
from lupai.agents.greedy import GreedyAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import State
from lupai.envs.errors import LupaiError
from lupai.envs.log import Log
from lupai.envs.view import Views
from tests.belief.brute import history, positions, views_of
from tests.belief.questions import MIXED, PRESETS, SHARP, questions
from tests.envs.side_by_side import Party


@pytest.mark.parametrize("preset", PRESETS)
def test_the_error_falls_with_the_root_of_the_number_of_worlds(preset):
    sizes, errors = [64, 256, 1024], []
    asked = questions(preset, 4)
    for worlds in sizes:
        off = []
        for seed in range({64: 16, 256: 8, 1024: 4}[worlds]):
            for question in asked:
                got = ParticlePosterior(MIXED, worlds, seed=seed).predict(question.views)[0]
                off.append(((got - question.exact) ** 2).sum())
        errors.append(np.sqrt(np.mean(off)))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.75 < slope < -0.25, errors
    assert errors[-1] < 0.06


@pytest.mark.parametrize("preset", PRESETS)
def test_errors_are_those_that_the_effective_sample_size_tells(preset):
    unlikely = []
    for question in questions(preset, 4):
        for seed in range(8):
            got, ess = ParticlePosterior(MIXED, 512, seed=seed).predict_with_ess(question.views)
            assert 1 < ess[0] <= 512
            open_ = question.exact * (1 - question.exact) > 1e-9
            scale = np.sqrt(question.exact * (1 - question.exact) / ess[0])
            unlikely += ((got[0] - question.exact)[open_] / scale[open_]).tolist()
            assert np.abs(got[0] - question.exact)[~open_].max(initial=0) < 1e-6
    assert 0.5 < np.std(unlikely) < 1.5
    assert np.abs(unlikely).max() < 6


@pytest.mark.parametrize("heat", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("preset", PRESETS)
def test_steps_leave_the_posterior_as_it_is(preset, heat):
    """Worlds drawn from the exact heated posterior still come from it after six steps."""
    count = 1500
    for number, question in enumerate(questions(preset, 3)):
        rng = np.random.default_rng(number)
        views = question.views
        swaps = Swaps(MIXED, views, CardLog.of(views))
        worlds, of = every_world(views)
        every = swaps.weigh(worlds, of)
        loose = swaps._loose(worlds, of).astype(int)
        factorial = np.cumprod([1.0, *range(1, 60)])
        layings = 1 / factorial[loose].prod(axis=(1, 2))
        share = layings * np.exp(every.base + heat * every.weight - every.base.max())
        share /= share.sum()
        now = every.take(rng.choice(len(worlds), count, p=share))
        guard = every.worlds.guard % 6
        exact = np.bincount(guard, share, 6)
        taken = [swaps.step(now, np.array([heat]), rng.random((count, DRAWS))) for _ in range(6)]
        assert np.mean(taken) > 0.05
        got = np.bincount(now.worlds.guard % 6, minlength=6) / count
        error = np.sqrt(exact * (1 - exact) / count)
        assert (np.abs(got - exact) <= 4.5 * error + 1e-9).all()
        again = swaps.weigh(now.worlds, now.of)  # what is carried along is what it would be anew
        np.testing.assert_allclose(again.weight, now.weight, rtol=0, atol=1e-9)
        np.testing.assert_allclose(again.base, now.base, rtol=0, atol=1e-9)
        known = question.grounded if heat == 0 else question.exact if heat == 1 else exact
        np.testing.assert_allclose(exact, known, rtol=0, atol=1e-9)


@pytest.mark.parametrize("preset", PRESETS)
def test_moved_worlds_agree_with_exact_where_weights_alone_do_badly(preset):
    plain, moved, ess = [], [], []
    for question in questions(preset, 3, SHARP):
        for seed in range(3):
            got, size = ParticlePosterior(SHARP, 64, seed=seed).predict_with_ess(question.views)
            plain.append(np.abs(got[0] - question.exact).max())
            ess.append(size[0])
            posterior = ParticlePosterior(SHARP, 256, steps=4, seed=seed)
            moved.append(np.abs(posterior.predict(question.views)[0] - question.exact).max())
    assert min(ess) < 32
    assert np.mean(moved) < 0.06
    assert np.mean(moved) < np.mean(plain)


@pytest.mark.parametrize("steps", [0, 2])
def test_an_answer_depends_on_its_view_alone(steps):
    """Also where others need more stages."""
    posterior = ParticlePosterior(SHARP, 64, steps)
    party, story = next(
        (party, story)
        for party, story in positions("qingdao", 3)
        if party.state.moves[0] > 10 and party.state.guard[0] >= 0
    )
    guard = int(party.state.guard[0])
    state, engine = party.state.copy(), party.engine
    log = Log(engine, engine.reset_hands([" ".join(cards) for cards in story.dealt], story.start))
    for move in story.moves:
        log.step(np.array([engine.read_move(log.state, 0, move[2:])[0]]), np.array([0]))
        if log.state.emperor[0] >= 0:
            break
    both = State(2)
    both.put([0], log.state)
    both.put([1], state)
    tables, seats = [1, 0, 1, 1, 0, 1, 1], [2, -1, -1, guard, 2, 0, 1]
    histories = [[log.history[0], history(story)][table] for table in tables]
    together, sizes = posterior.predict_with_ess(Views(engine, both, seats, tables, histories))
    for row, (table, seat) in enumerate(zip(tables, seats, strict=True)):
        views = Views(engine, both, [seat], [table], [histories[row]])
        alone, size = posterior.predict_with_ess(views)
        assert alone[0].tobytes() == together[row].tobytes()
        assert size[0] == sizes[row]
    np.testing.assert_allclose(together.sum(axis=1), 1)
    assert together[3, guard] == 1  # who is guard knows it
    assert sizes[3] == 64


def answer(predictor, views):
    """Bytes of the answer, or why there is none."""
    try:
        return predictor.predict(views).tobytes()
    except LupaiError as error:
        return str(error)


@pytest.mark.parametrize("preset", PRESETS)
def test_hidden_cards_and_roles_move_no_byte(preset):
    predictors = [
        ParticlePosterior(SHARP, 32, 1),
        ParticlePosterior(MIXED, 32),
        ExactPosterior(MIXED, limit=3000),
    ]
    rng, seen = random.Random(0), 0
    for party, story in positions(preset, 40):
        viewer = rng.choice([-1, int(party.state.emperor[0])])
        other = next((w for _ in range(30) if (w := story.redeal(viewer, rng)) is not None), None)
        if viewer == -1 or other is None or other.dealt == story.dealt:
            continue
        twin = Party(story.rules, [(other.dealt, story.start)])
        for move in other.moves:
            action, cards = twin.engine.read_move(twin.state, 0, move[2:])
            twin.engine.step(twin.state, [action], cards=cards[None])
        there = Views(twin.engine, twin.state, [viewer], histories=[history(story)])
        here = views_of(party, story, viewer)
        for predictor in predictors:
            assert answer(predictor, here) == answer(predictor, there)
        seen += 1
        if seen == 5:
            return


SCRIPT = """
from lupai.agents.belief.particles import ParticlePosterior
from tests.belief.questions import SHARP, questions
for question in questions("qingdao", 2, SHARP):
    for steps in (0, 2):
        print(ParticlePosterior(SHARP, 64, steps, seed=5).predict(question.views).tobytes().hex())
"""


def test_another_process_answers_the_same():
    mine = [
        ParticlePosterior(SHARP, 64, steps, seed=5).predict(question.views).tobytes().hex()
        for question in questions("qingdao", 2, SHARP)
        for steps in (0, 2)
    ]
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=120
    )
    assert told.stdout.split() == mine
    assert len(set(mine)) == len(mine)


def test_another_seed_draws_other_worlds():
    views = questions("qingdao", 4)[0].views
    first, second = (ParticlePosterior(MIXED, 64, seed=seed).predict(views) for seed in (0, 1))
    assert (first != second).any()


def test_drawn_worlds_agree_with_the_view_and_come_from_the_posterior():
    for question in questions("shiwei", 4):
        views = question.views
        worlds, ess = ParticlePosterior(MIXED, 2048).draw(views)
        state = views.state.take(np.zeros(2048, np.intp))
        seats = np.broadcast_to(views.seats, 2048)
        assert views.engine.consistent(state, seats, worlds.hands).all()
        share = np.bincount(worlds.guard % 6, minlength=6) / 2048
        scale = np.sqrt(question.exact * (1 - question.exact) / min(ess[0], 2048))
        assert (np.abs(share - question.exact) <= 6 * scale + 1e-3).all()


class Never:
    """Would have played otherwise."""

    name = "never"

    def chances(self, views, actions):
        return np.zeros(len(actions))


@pytest.mark.parametrize("steps", [0, 1])
def test_without_any_world_that_has_a_chance_the_answer_is_that_of_all(steps):
    question = questions("qingdao", 4)[1]
    posterior = ParticlePosterior(Population((Never(),)), 2000, steps)
    chances, ess = posterior.predict_with_ess(question.views)
    assert ess[0] == 0
    assert np.abs(chances[0] - question.grounded).max() < 0.06


def test_full_decks_in_one_batch():
    engine = Engine("weihai")
    log = Log(engine, engine.reset(range(4)))
    agent, tables = NoisyAgent(GreedyAgent(), 0.1), np.arange(4)
    for _ in range(30):
        log.step(agent.act_batch(Views(engine, log.state, log.state.actor[tables])), tables)
    views = Views(engine, log.state, [-1, 0, 1, 2], histories=log.history)
    chances, _ = ParticlePosterior(Population((agent,)), 64, 1).predict_with_ess(views)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(LupaiError, match="0 worlds and 0 steps; allowed"):
        ParticlePosterior(MIXED, 0)
    with pytest.raises(LupaiError, match="1024 worlds and -1 steps; allowed"):
        ParticlePosterior(MIXED, steps=-1)
    party, story = next(
        (party, story) for party, story in positions("qingdao", 3) if party.state.guard[0] >= 0
    )
    with pytest.raises(LupaiError, match="view 0: its seat knows who is guard"):
        ParticlePosterior(MIXED, 8).draw(views_of(party, story, int(party.state.guard[0])))
