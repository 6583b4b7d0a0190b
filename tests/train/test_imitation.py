"""Runs that begin by learning an agent's moves."""

from __future__ import annotations

import io
import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ray")

from ray.rllib.core.columns import Columns

import lupai.agents
from lupai.agents.base import ask
from lupai.agents.registry import UnknownAgentError
from lupai.agents.streams import agent_seed, table_lanes
from lupai.train.config import ConfigError
from lupai.train.league.frozen import Copies, load_teacher, pack
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.runner import BatchEnvRunner
from lupai.train.rllib.setup import algorithm_config, learning_rate
from lupai.train.rllib.trainer import train_once
from lupai.train.run_folder import TrainingError
from lupai.train.sampling.tables import Tables
from lupai.train.sampling.teacher import TAUGHT, Teacher, set_teacher
from lupai.train.trainer import resume, run
from tests.tiny_agent import save_tiny_agent
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


class Samplers:
    """As much of a trainer as is needed."""

    def __init__(self, *runners):
        self.runners = runners

    def each_sampler(self, function):
        return [function(runner) for runner in self.runners]


@pytest.mark.parametrize("name", ["tactical", "random"])
def test_the_teacher_moves_as_the_agent_does_alone(name):
    tables = Tables("shiwei", "idle", [4], 12)
    teacher = Teacher(lupai.agents.load(name), seed=3, worker=1)
    for _ in range(25):
        agent = lupai.agents.load(name)
        agent.reset(agent_seed(3, 1))
        lanes = table_lanes(tables.state.seeds[tables.rows, 0], tables.seats)
        alone = ask(agent, tables.views(), lanes)
        moves = teacher.moves(tables)
        np.testing.assert_array_equal(moves, alone)
        tables.step(moves)


def test_decisions_say_who_made_them(ray_session):
    config = tiny(imitation={"agent": "greedy", "steps": 600})
    built = algorithm_config(config).build_algo()
    try:
        runner = BatchEnvRunner(config=built.config, worker_index=0)
        made = []
        for steps in (0, 400, 800):
            set_teacher(Samplers(runner), config, steps, pack(lupai.agents.load("greedy")))
            assert (runner.teacher is None) == (steps >= 600)
            made.append(runner.sample(num_timesteps=400)[0])
        for data in made[:2]:
            assert data.columns[TAUGHT].all()
            assert (data.columns[Columns.ACTION_LOGP] == 0).all()
        last = made[2].columns
        taught, logp = last[TAUGHT][: len(made[2])], last[Columns.ACTION_LOGP][: len(made[2])]
        # What a seat did last under the teacher waits for its answer: at most one for each seat.
        assert 0 < taught.sum() <= 8 * 5
        assert (logp[taught] == 0).all()
        assert (logp[~taught] < 0).mean() > 0.5
    finally:
        built.stop()


def test_the_policy_comes_to_play_like_the_teacher_and_then_learns_on(ray_session, tmp_path):
    config = tiny(
        runs=str(tmp_path),
        imitation={"agent": "greedy", "steps": 512 * 12, "lr": 5e-3},
        ppo={"minibatch_size": 64},
        stop={"steps": 512 * 13},
    )
    folder = run(config, out=io.StringIO())
    loss = [row.get("loss/imitation") for row in rows(folder)]
    assert loss[11] < 0.75 * loss[0]
    assert all(row.get("loss/clip_fraction") == 0 for row in rows(folder)[:12])
    resume(folder, ("stop.steps=7680",), out=io.StringIO())
    after = rows(folder)[13:]
    assert len(after) == 2
    # All that is learned now was played by the policy itself; a resume does not begin anew.
    assert all("loss/imitation" not in row for row in after)
    assert all(row["loss/approx_kl"] > 0 for row in after)


def test_the_learning_rate_has_a_stretch_of_its_own():
    assert learning_rate(tiny()) == 1e-3
    section = {"steps": 100, "lr": 0.01}
    assert learning_rate(tiny(imitation=section)) == [[0, 0.01], [100, 1e-3]]
    falling = {"lr_end": 1e-4, "lr_steps": 50}
    assert learning_rate(tiny(ppo=falling)) == [[0, 1e-3], [50, 1e-4]]
    both = learning_rate(tiny(imitation=section, ppo=falling))
    assert both == [[0, 0.01], [100, 1e-3], [150, 1e-4]]


def test_what_cannot_be_imitated_is_refused_at_once(tmp_path):
    with pytest.raises(UnknownAgentError, match="tactica"):
        run(tiny(runs=str(tmp_path), imitation={"agent": "tactica", "steps": 9}))
    with pytest.raises(UnknownAgentError, match="gready"):
        run(tiny(runs=str(tmp_path), watch={"every": 1, "anchors": ["gready"]}))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match=r"needs workers\.sampler batch, not rllib"):
        tiny(imitation={"steps": 9}, workers={"sampler": "rllib"})


def test_a_teacher_that_is_a_folder_is_copied_and_may_change_or_go(ray_session, tmp_path):
    """It was loaded by name in each sampler: from the folder as it was then, if it was there."""
    there = save_tiny_agent(tmp_path / "teacher")
    config = tiny(
        runs=str(tmp_path / "runs"),
        imitation={"agent": str(there), "steps": 1024},
        stop={"steps": 512},
        workers={"runners": 1},
    )
    folder = run(config, out=io.StringIO())
    (copy,) = (folder / "imitation").iterdir()
    assert (copy / "weights.pt").read_bytes() == (there / "weights.pt").read_bytes()
    shutil.rmtree(there)
    resume(folder, ("stop.steps=1024",), out=io.StringIO())
    assert "loss/imitation" in rows(folder)[-1]
    copies = Copies(folder, new=False)
    assert load_teacher(config, copies, 1023).name == "tiny"
    assert load_teacher(config, copies, 1024) is None


def test_samplers_get_a_teacher_once_and_from_no_folder(tmp_path):
    there = save_tiny_agent(tmp_path / "teacher")
    packed = pack(lupai.agents.load(there))
    shutil.rmtree(there)
    config = tiny(imitation={"agent": str(there), "steps": 9})
    runner = SimpleNamespace(teacher=None, worker_index=1)
    set_teacher(Samplers(runner), config, 0, packed)
    first = runner.teacher
    assert first.agent.name == "tiny"
    set_teacher(Samplers(runner), config, 8, b"not needed again")
    assert runner.teacher is first
    set_teacher(Samplers(runner), config, 9, None)
    assert runner.teacher is None


def test_points_of_the_teacher_are_not_the_learners(ray_session, tmp_path):
    config = tiny(
        runs=str(tmp_path),
        imitation={"agent": "greedy", "steps": 1024},
        selfplay={"mode": "league", "every": 1, "self_share": 0.0, "anchors": ["random"]},
        stop={"steps": 512 * 7},
    )
    folder = run(config, out=io.StringIO())
    measured = rows(folder)
    scored = ["league/random/score" in row for row in measured]
    assert scored[:2] == [False, False]
    assert scored[-1]
    taken = sorted(path.name for path in folder.glob("**/snapshot-*"))
    assert taken
    assert min(taken) >= "snapshot-000003"


def test_a_loss_that_is_no_number_ends_an_imitation_too():
    class Broken:
        def train(self):
            return {
                "env_runners": {"num_env_steps_sampled": 8},
                "learners": {POLICY: {"policy_loss": 0.0, "total_loss": float("nan")}},
            }

    with pytest.raises(TrainingError, match="diverged"):
        train_once(Broken())
