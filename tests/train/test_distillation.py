"""What moves are worth, all hands seen, and networks that learn it."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import lupai.agents
from lupai.agents.advice import Adviser
from lupai.agents.search.judge import Judge
from lupai.agents.search.options import Options
from lupai.agents.tactical.agent import TacticalAgent
from lupai.train.config import ConfigError
from lupai.train.dmc.learner import Learner
from lupai.train.dmc.sampler import Sampler
from lupai.train.export import agent_of
from lupai.train.learning.distil import distil_loss, judged_moves
from lupai.train.sampling.advised import ADVISED, advice_columns
from lupai.train.sampling.judged import CANDIDATES, STAKES, WORTH, Judging, set_judging
from lupai.train.sampling.tables import Tables
from lupai.train.trainer import run
from tests.train.conftest import tiny
from tests.train.test_dmc import dmc, ready

pytestmark = pytest.mark.train

PRESETS = ("qingdao", "shiwei", "weihai")


def rows_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("advised", [False, True])
@pytest.mark.parametrize("rules", PRESETS)
def test_worth_is_what_the_value_network_says_behind_each_move(rules, advised):
    tables = Tables(rules, "idle", [3], 6)
    engine, agent = tables.engine, TacticalAgent()
    trust = 0.7
    judging = Judging(engine, candidates=7, limit=2.5, seed=4, trust=trust)
    judge, rng = Judge(engine, Options(), agent), np.random.default_rng(1)
    clipped = judged = 0
    for _ in range(60):
        legal = tables.asked
        moves = np.where(
            rng.random(len(tables.rows)) < 0.7,
            agent.act_batch(tables.views()),
            legal.pick(rng.random(len(tables.rows))),
        ).astype(np.int64)
        some = np.flatnonzero(rng.random(len(moves)) < 0.6)
        asked = advice = None
        if not len(some):
            continue
        if advised:
            advice = {
                k: v[some] for k, v in advice_columns(Adviser(7, engine.game), tables).items()
            }
            asked = advice[ADVISED]
        before = {name: array.tobytes() for name, array in tables.state.arrays().items()}
        found = judging.columns(tables, moves[some], some, advice)
        assert before == {n: array.tobytes() for n, array in tables.state.arrays().items()}
        for i, place in enumerate(some):
            row, seat = int(tables.rows[place]), int(tables.seats[place])
            ids = found[CANDIDATES][i]
            there = ids >= 0
            assert not found[WORTH][i][~there].any()
            if not there.any():  # nothing to compare
                if asked is not None:
                    assert (asked[i] >= 0).sum() == 1
                continue
            judged += 1
            if asked is None:
                assert ids[0] == moves[place]
                assert len(set(ids[there])) == there.sum() > 1
                assert set(ids[there]) <= set(legal.take(np.array([place])).ids()[0].tolist())
            else:
                np.testing.assert_array_equal(ids, asked[i])
            stakes = max(1, int(tables.state.multiplier[row]))
            assert found[STAKES][i] == stakes
            points = []
            for move in ids[there]:
                after = tables.state.take(np.array([row]))
                engine.step(after, np.array([move]))
                points.append(judge.scores(after, np.zeros(1, int))[0, seat])
            worth = (np.array(points) - points[0]) / stakes
            clipped += (np.abs(worth) > 2.5).sum()
            worth = worth.clip(-2.5, 2.5)
            if advice is not None:  # by how much the price is below the best
                views = tables.views(np.array([place]))
                flat, ends = legal.take(np.array([place])).ids()
                price = agent.prices(engine.rules, views.state, views.seats, flat, ends)
                behind = [price[np.flatnonzero(flat == move)[0]] for move in ids[there]]
                worth += trust * np.maximum(np.array(behind) - max(behind), -4) / stakes
            np.testing.assert_allclose(found[WORTH][i][there], worth, atol=3e-3)
        tables.step(moves)
    assert judged > 50
    assert clipped > 0


def test_the_loss_is_that_of_differences():
    generator = torch.Generator().manual_seed(0)
    candidates = torch.randint(-1, 3, (9, 5), generator=generator)
    candidates[4] = -1  # not judged
    rows, places, ids = judged_moves(candidates)
    assert ids.tolist() == [int(candidates[r, p]) for r, p in zip(rows, places, strict=True)]
    values = torch.randn(len(rows), generator=generator, dtype=torch.float64, requires_grad=True)
    worth = torch.randn(len(rows), generator=generator, dtype=torch.float64)
    total, count = distil_loss(values, worth, rows, 9)
    expected = 0.0
    for row in range(9):
        error = (values - worth)[rows == row]
        if len(error):
            expected = expected + ((error - error.mean()) ** 2).mean()
    assert total.item() == pytest.approx(float(expected))
    assert int(count) == len(set(rows.tolist()))
    shifted, _ = distil_loss(values + torch.randn(9)[rows], worth, rows, 9)
    assert shifted.item() == pytest.approx(total.item())
    assert distil_loss(values[:0], worth[:0], rows[:0], 9)[0] == 0


def test_judging_begins_and_ends_by_the_decisions_of_the_run():
    config = dmc("qingdao", distillation={"steps": 100}, workers={"envs_per_runner": 2})
    sampler = ready(config)
    samplers = SimpleNamespace(each_sampler=lambda call: [call(sampler)])
    for steps, judges in ((0, True), (99, True), (100, False)):
        set_judging(samplers, config, steps)
        assert (sampler.judging is not None) == judges
    sampler.sample(400)  # what waited is learned too
    data, _ = sampler.sample(400)
    assert (data[CANDIDATES] == -1).all()
    assert "distillation" not in str(Learner(config).learn(data, 1e-3, np.random.default_rng(0)))
    set_judging(samplers, config, 0)
    data, _ = sampler.sample(800)
    assert 0.3 < (data[CANDIDATES][:, 0] >= 0).mean() < 1


@pytest.mark.parametrize("rules", PRESETS)
def test_an_untrained_network_with_advice_plays_as_who_advises(rules):
    config = dmc(rules, network={"advice": "tactical"}, workers={"envs_per_runner": 8})
    agent = agent_of(Learner(config).policy, config, Sampler(config).tables.engine)
    tables, tactical = Tables(rules, "idle", [5], 16), TacticalAgent()
    same = []
    for _ in range(60):
        views = tables.views()
        moves = tactical.act_batch(views)
        same.append(agent.act_batch(views) == moves)
        tables.step(moves.astype(np.int64))
    assert np.concatenate(same).mean() > 0.97


@pytest.mark.parametrize("advice", ["none", pytest.param("tactical", marks=pytest.mark.soak)])
def test_deep_monte_carlo_learns_what_moves_are_worth(tmp_path, advice):
    config = dmc(
        "qingdao",
        runs=str(tmp_path),
        name=advice,
        imitation={"agent": "tactical", "steps": 10**6, "lr": 5e-3},
        distillation={"steps": 10**6},
        network={"hidden": [64], "move_hidden": 32, "advice": advice},
        dmc={"batch_size": 1024, "minibatch_size": 64},
        workers={"envs_per_runner": 16},
        stop={"steps": 12_000},
    )
    losses = [row["loss/distillation"] for row in rows_of(run(config, out=io.StringIO()))]
    assert np.mean(losses[-3:]) < 0.85 * losses[0]
    agent = lupai.agents.load(tmp_path / advice)
    assert agent.card.network.advice == advice
    assert (agent.card.advice != "") == (advice != "none")


@pytest.mark.xdist_group("ray")
@pytest.mark.parametrize("advice", [pytest.param("none", marks=pytest.mark.soak), "tactical"])
def test_ppo_learns_what_moves_are_worth_and_then_goes_on(ray_session, tmp_path, advice):
    config = tiny(
        runs=str(tmp_path),
        rules="qingdao",
        imitation={"agent": "tactical", "steps": 512 * 4, "lr": 5e-3},
        distillation={"steps": 512 * 10},
        network={"hidden": [64], "move_hidden": 32, "advice": advice},
        ppo={"minibatch_size": 64, "lr": 5e-3},
        stop={"steps": 512 * 12},
    )
    rows = rows_of(run(config, out=io.StringIO()))
    losses = [row.get("loss/distillation") for row in rows]
    assert np.mean(losses[7:10]) < np.mean(losses[:2])
    assert all(row["loss/clip_fraction"] == 0 for row in rows[:8])
    assert rows[11]["loss/approx_kl"] > 0
    assert all(row["play/illegal_actions"] == 0 for row in rows)


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        (
            {"workers": {"sampler": "rllib"}},
            r"distillation needs workers\.sampler batch, not rllib",
        ),
        (
            {"rules": "qingdao;guard_by=marked_small_joker"},
            "distillation needs a value network for the rules",
        ),
        ({"distillation": {"steps": 1, "candidates": 3}}, r"distillation\.candidates = 3 is not"),
        (
            {
                "distillation": {},
                "network": {"advice": "tactical"},
                "workers": {"sampler": "rllib"},
            },
            r"network\.advice needs workers\.sampler batch, not rllib",
        ),
        ({"network": {"advice": "greedy"}}, r"network\.advice = 'greedy' is not allowed"),
    ],
)
def test_what_cannot_be_distilled_is_refused(sections, told):
    with pytest.raises(ConfigError, match=told):
        tiny(**{"distillation": {"steps": 1}} | sections)
