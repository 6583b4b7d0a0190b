"""More than one machine: two Ray nodes here, a runner on each, one of them killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("ray")

import itertools

from lupai.train.rllib.setup import algorithm_config
from lupai.train.runs import read_run
from lupai.train.session import place
from tests.train.conftest import tiny
from tests.train.marked import Marked, config_file, lines, wait_for

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray commands")]


def test_workers_are_placed_on_whole_nodes():
    assert place([("runners", 4, 2, 0)], [[4, 0], [5, 0]]) is None
    assert place([("runners", 4, 3, 0)], [[4, 0], [9, 0]]) is None
    assert place([("runners", 4, 3, 0)], [[5, 0], [8, 0]]) == "only 3 of 4 runners fit on the nodes"
    assert place([("runners", 1, 4, 0)], [[2, 0], [2, 0]]) == "only 0 of 1 runners fit on the nodes"
    wanted = [("learners", 1, 1, 1), ("runners", 2, 1, 0)]
    assert place(wanted, [[2, 0], [1, 1]]) is None
    assert place(wanted, [[3, 0]]) == "only 0 of 1 learners fit on the nodes"


def test_lost_runners_are_replaced_on_a_cluster_only():
    config = tiny(workers={"runners": 2, "restarts": 3, "cpus_per_runner": 2})
    here, there = algorithm_config(config), algorithm_config(config, cluster=True)
    assert not here.restart_failed_env_runners
    assert there.restart_failed_env_runners
    assert (there.max_num_env_runner_restarts, there.num_cpus_per_env_runner) == (3, 2)
    split = algorithm_config(tiny(learners={"num": 2, "cpus": 3, "gpus": 0.5}))
    assert (split.num_learners, split.num_cpus_per_learner, split.num_gpus_per_learner) == (
        2,
        3,
        0.5,
    )
    assert split.train_batch_size_per_learner == 256


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_training_on_two_nodes_goes_on_when_a_runner_is_killed(tmp_path):
    run = tmp_path / "runs" / "tiny"
    file = config_file(tmp_path, workers={"runners": 2, "envs_per_runner": 8})
    marked = Marked(tmp_path)
    try:
        process = marked.cluster("train", file)
        wait_for(process, lambda: len(lines(run)) >= 2, 200)
        runners = marked.processes("BatchEnvRunner")
        assert len(runners) == 2
        os.kill(runners[0], signal.SIGKILL)
        before = len(lines(run))
        wait_for(process, lambda: any(r.get("cluster/restarts") for r in lines(run)), 200)
        wait_for(process, lambda: lines(run)[-1].get("cluster/runners") == 2, 200)
        back = len(lines(run))
        wait_for(process, lambda: len(lines(run)) >= back + 2, 200)
        assert runners[1] in marked.processes("BatchEnvRunner")
        assert runners[0] not in marked.processes("BatchEnvRunner")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        rows = lines(run)
        assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
        steps = [0] + [row["steps"] for row in rows]
        assert all(b > a for a, b in itertools.pairwise(steps))  # T3: samples each time
        assert before <= back < len(rows)
        assert read_run(run).state == "stopped"
        assert marked.gone(60)
    finally:
        marked.close()
