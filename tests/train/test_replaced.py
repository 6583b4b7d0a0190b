"""Runners that take the place of lost ones."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

pytest.importorskip("ray")

import ray

import lupai.agents
from lupai.train.league.coach import make_coach
from lupai.train.loop import _iteration
from lupai.train.rllib.trainer import RLlibTrainer
from lupai.train.run_folder import Progress
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def keyed(*key):
    """What tells the stream of a key from all others, however far it is."""
    return np.random.PCG64(np.random.SeedSequence(key)).state["state"]["inc"]


def knowledge(group):
    """What each remote runner knows."""

    def told(runner):  # local, so that it travels whole: the runners have no test files
        return {
            "stream": runner._tables._deals.bit_generator.state["state"]["inc"],
            "teacher": None if runner.teacher is None else runner.teacher.agent.name,
            "plan": runner.lineups._plan,
            "coefficient": runner.rewards.coefficient,
            "weights": float(sum(p.double().sum() for p in runner.module["shared"].parameters())),
        }

    return group.foreach_env_runner(told, local_env_runner=False)


def back(actor):
    """Wait until a killed runner is there again, told nothing yet."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        with contextlib.suppress(ray.exceptions.RayActorError):
            if not ray.get(actor.apply.remote(lambda runner: hasattr(runner, "told"))):
                return
        time.sleep(0.2)
    raise AssertionError("it does not come back")


def test_a_runner_in_the_place_of_a_lost_one_knows_what_the_others_know(ray_session, tmp_path):
    """It dealt the session's first hands again, without plan, teacher and coefficient; and with the
    weights of a new network where it died and was back between two iterations."""
    config = tiny(
        runs=str(tmp_path),
        workers={"runners": 2, "restarts": 5, "cpus_per_runner": 1},
        selfplay={"mode": "league", "anchors": ["random"]},
        imitation={"agent": "greedy", "steps": 100_000},
        reward={"kind": "potential", "coefficient": 1.0, "anneal_steps": 100_000},
    )
    progress = Progress()
    coach = make_coach(config, tmp_path, None)
    trainer = RLlibTrainer(config, progress, True, coach, lupai.agents.load("greedy"))
    group = trainer.algorithm.env_runner_group
    try:
        _iteration(trainer, progress)
        streams = [keyed(3, 0, number) for number in (1, 2)]
        assert [one["stream"] for one in knowledge(group)] == streams
        for number, unnoticed in ((1, True), (2, False)):
            actor = group._worker_manager.actors()[number]
            ray.kill(actor, no_restart=False)
            if unnoticed:
                back(actor)
            for _ in range(50):  # the others play until it is back
                row = _iteration(trainer, progress)
                if row["cluster/restarts"] == number:
                    break
                assert not unnoticed
                back(actor)
            streams[number - 1] = keyed(3, progress.iteration - 1, number)
            known = knowledge(group)
            assert [one["stream"] for one in known] == streams
            for key in ("teacher", "plan", "coefficient", "weights"):
                assert known[0][key] == known[1][key], key
            assert known[0]["teacher"] == "greedy"
            assert known[0]["coefficient"] < 1
            assert known[0]["plan"].word
    finally:
        trainer.close()
