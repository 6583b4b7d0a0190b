"""What moves of Gouji are worth, all hands seen, and networks that learn it."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

pytest.importorskip("torch")

import lupai.agents
from lupai.agents.advice import BEHIND, Adviser
from lupai.agents.gouji import TacticalAgent
from lupai.agents.search.network import load_value
from lupai.train.config import ConfigError
from lupai.train.sampling.advised import ADVICE, advice_columns
from lupai.train.sampling.judged import CANDIDATES, STAKES, WORTH, Judging
from lupai.train.sampling.tables import Tables
from lupai.train.trainer import run
from tests.train.conftest import tiny

pytestmark = pytest.mark.train


@pytest.mark.parametrize("advised", [False, True])
def test_worth_is_what_the_value_network_says_behind_each_move(advised):
    tables = Tables("shandong", "idle", [3], 8, game="gouji")
    engine, agent, rng = tables.engine, TacticalAgent(), np.random.default_rng(1)
    judging = Judging(engine, candidates=7, limit=1.5, seed=4, trust=0.5)
    network = load_value("gouji", engine.rules)
    clipped = judged = ended = 0
    for _ in range(110):
        legal, seats = tables.asked, tables.seats
        drawn = rng.random(len(tables.rows)) < 0.3
        moves = np.where(
            drawn, legal.pick(rng.random(len(drawn))), agent.act_batch(tables.views())
        ).astype(np.int64)
        before = {name: array.tobytes() for name, array in tables.state.arrays().items()}
        advice = advice_columns(Adviser(7, "gouji"), tables) if advised else None
        found = judging.columns(tables, moves, advice=advice)
        assert before == {n: array.tobytes() for n, array in tables.state.arrays().items()}
        np.testing.assert_array_equal(found[STAKES], 1)
        for i, (row, seat) in enumerate(zip(tables.rows, seats, strict=True)):
            ids = found[CANDIDATES][i]
            there = ids >= 0
            assert not found[WORTH][i][~there].any()
            if not there.any():  # nothing to compare
                continue
            if not advised:
                assert ids[0] == moves[i]
            assert len(set(ids[there])) == there.sum() > 1
            assert set(ids[there]) <= set(legal.take(np.array([i])).ids()[0].tolist())
            after = tables.state.take(np.full(there.sum(), row))
            engine.step(after, ids[there])
            if (after.phase < after.PLAY).any():  # others answer before the first lead
                continue
            points, live = engine.scores(after)[:, seat].astype(float), np.flatnonzero(~after.over)
            if live.size:
                points[live] = network.scores(after.take(live), engine.rules)[:, seat]
            ended += len(points) - live.size
            judged += 1
            worth = points - points[0]
            clipped += (np.abs(worth) > 1.5).sum()
            worth = worth.clip(-1.5, 1.5)
            if advised:
                worth += 0.5 * advice[ADVICE][i, there, BEHIND]
            np.testing.assert_allclose(found[WORTH][i][there], worth, atol=3e-3)
        tables.step(moves)
    assert judged > 100, judged
    assert clipped > 0
    assert ended > 0 or advised  # advice leaves a move that surely runs out alone


def test_deep_monte_carlo_learns_what_moves_are_worth(tmp_path):
    config = tiny(
        game="gouji",
        algorithm="dmc",
        runs=str(tmp_path),
        imitation={"agent": "tactical", "steps": 10**6, "lr": 5e-3},
        distillation={"steps": 10**6},
        network={"hidden": [64], "move_hidden": 32},
        dmc={"batch_size": 1024, "minibatch_size": 64},
        workers={"envs_per_runner": 16},
        stop={"steps": 12_000},
    )
    lines = (run(config, out=io.StringIO()) / "metrics.jsonl").read_text().splitlines()
    losses = [json.loads(line)["loss/distillation"] for line in lines]
    assert np.mean(losses[-3:]) < 0.85 * losses[0]
    assert lupai.agents.load(tmp_path / "tiny").card.rules == "shandong"


def test_rules_without_a_value_network_are_refused():
    with pytest.raises(ConfigError, match="as in the preset have to be burn_fail"):
        tiny(game="gouji", rules="shandong;burn_fail=last_place", distillation={"steps": 1})
    assert tiny(game="gouji", distillation={"steps": 1}).distillation.steps == 1
