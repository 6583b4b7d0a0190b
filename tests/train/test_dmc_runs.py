"""Runs of Deep Monte Carlo: the run folder, going on bit for bit, its processes, no Ray."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import lupai.agents
from lupai.agents.checkpoint import CheckpointError, load_agent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.view import Views
from lupai.train.dmc.sampler import Sampler
from lupai.train.dmc.trainer import DMCTrainer
from lupai.train.run_folder import Progress, TrainingError
from lupai.train.runs import read_run
from lupai.train.trainer import resume, run
from tests.arena.players import SMALL
from tests.train.marked import Marked, config_file, lines, wait_for
from tests.train.test_dmc import dmc

pytestmark = pytest.mark.train

needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")


def quiet(config, **kwargs):
    return run(config, out=io.StringIO(), **kwargs)


def told(folder):
    """Metrics without what depends on the clock."""
    drop = ("minutes", "time/")
    return [{k: v for k, v in row.items() if not k.startswith(drop)} for row in lines(folder)]


def digest(folder):
    """Of the newest agent's weights."""
    place = folder / json.loads((folder / "latest.json").read_text())["checkpoint"]
    return hashlib.sha256((place / "agent" / "weights.pt").read_bytes()).hexdigest()


def stop_after(monkeypatch, iterations):
    """Runs end after so many iterations; where they stop by steps is not theirs to say."""
    share = Progress.share
    monkeypatch.setattr(
        Progress, "share", lambda self, config: float(self.iteration >= iterations) or min(
            0.5, share(self, config)
        ),
    )  # fmt: skip


def test_a_run_leaves_what_every_run_leaves(tmp_path):
    config = dmc(runs=str(tmp_path), watch={"every": 2, "deals": 2, "anchors": ["random"]})
    folder = quiet(config)
    names = {p.name for p in folder.iterdir()}
    assert {"run.json", "config.yaml", "metrics.jsonl", "tensorboard", "checkpoints"} <= names
    rows = lines(folder)
    assert rows[-1]["steps"] >= 1024
    assert rows[-1]["steps"] > rows[0]["steps"] >= 256
    wanted = {
        "dmc/loss", "dmc/epsilon", "dmc/greedy_share", "loss/value", "loss/value_explained",
        "loss/gradient_norm", "play/illegal_actions", "play/decisions_per_hand",
        "time/sampling_share", "time/learning_share", "time/inference_share",
    }  # fmt: skip
    assert wanted <= set(rows[0])
    assert any(name.startswith("value_explained/") for name in rows[0])
    assert any(name.startswith("score/") for name in rows[0])
    assert "loss/entropy" not in rows[0]
    assert all(row["play/illegal_actions"] == 0 for row in rows)
    assert "eval/random/seat" in rows[-1]
    agent = lupai.agents.load(folder)
    assert agent.card.provenance["algorithm"] == "dmc"
    assert agent.card.temperature == 0.1
    assert read_run(folder).state == "finished"
    assert lupai.agents.load(folder / "best", SMALL).card.rules == SMALL


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"dmc": {"baseline": "none", "epochs": 2}, "selfplay": {"policies": "role"}},
        {"imitation": {"steps": 900, "agent": "greedy"}, "network": {"advice": "tactical"}},
        {"distillation": {"steps": 700}, "rules": "qingdao"},
        {
            "dmc": {"heads": "both", "win_weight": 2.0},
            "network": {"advice": "tactical"},
            "selfplay": {"policies": "role"},
        },
    ],
    ids=["plain", "by role", "teacher and advice", "distillation", "win head"],
)
def test_two_and_two_iterations_are_four_to_the_last_bit(tmp_path, monkeypatch, sections):
    config = {**sections, "workers": {"envs_per_runner": 6}}
    stop_after(monkeypatch, 4)
    whole = quiet(dmc(runs=str(tmp_path / "whole"), **config))
    stop_after(monkeypatch, 2)
    halves = quiet(dmc(runs=str(tmp_path / "halves"), **config))
    assert digest(halves) != digest(whole)
    stop_after(monkeypatch, 4)
    resume(halves, out=io.StringIO())
    assert told(halves) == told(whole)
    assert len(told(whole)) == 4
    assert digest(halves) == digest(whole)


def test_scores_are_means_over_the_latest_hands_of_a_run_and_its_resume(tmp_path, monkeypatch):
    """They once were those of an iteration's few hands."""
    stop_after(monkeypatch, 2)
    folder = quiet(dmc(runs=str(tmp_path)))
    stop_after(monkeypatch, 3)
    resume(folder, out=io.StringIO())
    rows = lines(folder)

    def kept():
        place = folder / json.loads((folder / "latest.json").read_text())["checkpoint"]
        file = place / "trainer.json"
        return file, json.loads(file.read_text())

    file, state = kept()
    window = state["states"]["windows"]["hands"]
    assert [hands for hands, _ in window][1:] == list(np.diff([row["hands"] for row in rows]))
    points, seats = (sum(s[f"{k}/rebel"] for _, s in window) for k in ("points", "seats"))
    assert rows[-1]["score/rebel"] == pytest.approx(points / seats, abs=1e-6)
    del state["states"]["windows"]  # of a version before
    file.write_text(json.dumps(state))
    stop_after(monkeypatch, 4)
    resume(folder, out=io.StringIO())
    assert len(kept()[1]["states"]["windows"]["hands"]) == 1


def test_other_tables_are_dealt_anew_on_a_resume(tmp_path, monkeypatch):
    stop_after(monkeypatch, 2)
    folder = quiet(dmc(runs=str(tmp_path)))
    stop_after(monkeypatch, 3)
    resume(folder, ("workers.envs_per_runner=5",), out=io.StringIO())
    assert len(lines(folder)) == 3
    with pytest.raises(TrainingError, match=r"dmc\.baseline is 'perfect' there and 'none' now"):
        resume(folder, ("dmc.baseline=none",))


def test_runs_of_one_seed_are_the_same_and_others_not(tmp_path, monkeypatch):
    stop_after(monkeypatch, 2)
    seen = []
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        folder = quiet(dmc(runs=str(tmp_path / place), seed=seed))
        seen.append((digest(folder), told(folder)))
    assert seen[0] == seen[1] != seen[2]


def test_a_watched_run_learns_the_same(tmp_path, monkeypatch):
    stop_after(monkeypatch, 3)
    watch = {"every": 1, "deals": 2, "anchors": ["random"]}
    one = quiet(dmc(runs=str(tmp_path / "a"), watch=watch))
    two = quiet(dmc(runs=str(tmp_path / "b")))
    assert digest(one) == digest(two)


def test_a_league_plays_snapshots_that_draw_by_the_temperature(tmp_path, monkeypatch):
    stop_after(monkeypatch, 4)
    league = {"mode": "league", "every": 1, "self_share": 0.2, "anchors": ["random"]}
    folder = quiet(dmc(runs=str(tmp_path), selfplay=league))
    assert "league/snapshot-000001/share" in lines(folder)[-1]
    assert any("league/random/score" in row for row in lines(folder))
    snapshot = load_agent(folder / "league" / "snapshot-000001", sample=True)
    assert snapshot.card.temperature == 0.1
    stop_after(monkeypatch, 5)
    resume(folder, out=io.StringIO())
    assert len(lines(folder)) == 5


def test_an_exploiter_is_gated_and_confirmed(tmp_path):
    config = dmc(
        runs=str(tmp_path),
        selfplay={"mode": "exploit"},
        target="greedy",
        exploit={"every": 1, "deals": 2, "confirm_deals": 2},
    )
    report = json.loads((quiet(config) / "exploit.json").read_text())
    assert report["confirmed"]["iteration"] == report["best"]["iteration"]
    assert len(report["gates"]) >= 2


def test_a_higher_temperature_draws_worse_moves(tmp_path, monkeypatch):
    stop_after(monkeypatch, 1)
    folder = quiet(dmc(runs=str(tmp_path), dmc={"lr": 0.01}))
    card = next(folder.glob("checkpoints/*/agent/agent.json"))
    engine = Engine(SMALL)
    state = engine.reset(np.arange(200, dtype=np.uint64))
    views = Views(engine, state, state.actor)
    best = load_agent(folder).act_batch(views)
    same = []
    for temperature in (1e-6, 0.02, 1e6):
        card.write_text(json.dumps(json.loads(card.read_text()) | {"temperature": temperature}))
        same.append((load_agent(folder, sample=True).act_batch(views) == best).mean())
    assert same[0] == 1
    assert same[0] > same[2]
    assert same[1] >= same[2]
    card.write_text(json.dumps(json.loads(card.read_text()) | {"temperature": 0}))
    with pytest.raises(CheckpointError, match="'temperature' is 0; it should be a number above 0"):
        load_agent(folder)


def test_an_imitation_without_its_agent_is_one_clear_error():
    trainer = DMCTrainer(dmc(imitation={"steps": 5, "agent": "greedy"}), Progress(steps=3))
    with pytest.raises(TrainingError, match=r"imitation\.agent 'greedy' .* after 3 dec"):
        trainer.train()


def test_an_address_of_a_cluster_is_refused(tmp_path):
    with pytest.raises(TrainingError, match="algorithm dmc trains on this machine alone"):
        run(dmc(runs=str(tmp_path)), address="auto")
    assert list(tmp_path.iterdir()) == []


def test_reading_a_config_leaves_the_environment_and_training_takes_one_thread():
    """To look at a config once gave every process that was started later a single thread."""
    code = """
import os
from lupai.train.config import load_config
load_config("qingdao_dmc")
print("OMP_NUM_THREADS" in os.environ)
import torch
from lupai.train.dmc.sampler import Sampler
from lupai.train.dmc.trainer import DMCTrainer
from lupai.train.run_folder import Progress
from tests.train.test_dmc import dmc
os.environ.pop("OMP_NUM_THREADS", None)  # the tests set it
torch.set_num_threads(2)
DMCTrainer(dmc(), Progress())
print(torch.get_num_threads(), "OMP_NUM_THREADS" in os.environ)
"""
    plain = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False,
        env=plain,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "1", "False"], done.stderr


def test_neither_ray_nor_rllib_is_imported(tmp_path):
    code = f"""
import sys
from lupai.train.trainer import run
from tests.train.test_dmc_runs import dmc
run(dmc(runs={str(tmp_path)!r}, watch={{"every": 1, "deals": 2, "anchors": ["random"]}}))
print(sorted(name for name in sys.modules if name.partition(".")[0] == "ray"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"


# --- samplers in processes of their own -----------------------------------------------------------


class InTurn:
    """What :class:`Actors` do, in this process."""

    ahead = True

    def __init__(self, config, iteration):
        numbers = range(1, config.workers.runners + 1)
        self.samplers = [Sampler(config, number, iteration) for number in numbers]

    def begin(self, function):
        self.answers = [function(sampler) for sampler in self.samplers]

    def results(self):
        return self.answers

    def close(self):
        pass


def test_two_samplers_in_processes_play_what_they_play_in_turn(tmp_path, monkeypatch):
    stop_after(monkeypatch, 3)
    seen = []
    for place in ("processes", "turn"):
        if place == "turn":
            monkeypatch.setattr("lupai.train.dmc.trainer.make_samplers", InTurn)
        folder = quiet(
            dmc(
                runs=str(tmp_path / place),
                workers={"runners": 2, "envs_per_runner": 4},
                selfplay={"mode": "league", "every": 1, "anchors": ["greedy"]},
                imitation={"steps": 600, "agent": "greedy"},
                dmc={"share": 0.5},
            )
        )
        seen.append((digest(folder), told(folder)))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 3


def test_a_sampler_that_is_killed_or_fails_is_named():
    config = dmc(workers={"runners": 2, "envs_per_runner": 4})
    trainer = DMCTrainer(config, Progress())
    try:
        trainer.train()
        with pytest.raises(TrainingError, match=r"sampler 1 failed: AttributeError: .*nothing"):
            trainer.each_sampler(lambda sampler: sampler.nothing)
        second = trainer.samplers.pids[1]
        os.kill(second, signal.SIGKILL)
        with pytest.raises(TrainingError, match=rf"sampler 2 of 2 \(process {second}\).*SIGKILL"):
            trainer.train()
    finally:
        trainer.close()
    assert not any(process.is_alive() for process in trainer.samplers._processes)


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_nothing_is_left_and_it_goes_on(tmp_path, number):
    """SIGTERM to the group once killed the samplers, and the run ended without its checkpoint."""
    marked, whole_group = Marked(tmp_path), number != signal.SIGKILL
    try:
        run_folder = tmp_path / "runs" / "tiny"
        section = {"batch_size": 256, "minibatch_size": 64}
        every = 30 if whole_group else 1e-6  # minutes: the first checkpoint is that of the end
        file = config_file(
            tmp_path, algorithm="dmc", rules=SMALL, dmc=section,
            workers={"runners": 1, "envs_per_runner": 8}, checkpoint={"every_minutes": every},
        )  # fmt: skip
        process = marked.start("train", file)
        wait_for(process, lambda: len(lines(run_folder)) >= 3)
        if whole_group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == (0 if whole_group else -9), err
        assert marked.gone(10)
        assert read_run(run_folder).state == ("stopped" if whole_group else "crashed")
        last = lines(run_folder)[-1]
        newest = json.loads((run_folder / "latest.json").read_text())["checkpoint"]
        if whole_group:
            assert newest == f"checkpoints/{last['iteration']:06d}"
    finally:
        marked.close()
    resume(
        run_folder, (f"stop.steps={last['steps'] + 600}", "workers.runners=0"), out=io.StringIO()
    )
    assert lines(run_folder)[-1]["steps"] >= last["steps"] + 600


SCRIPT = """
from lupai.train.config import load_config
from lupai.train.dmc.actors import Actors
actors = Actors(load_config("qingdao_dmc"), 0)
actors.begin(id)
actors.results()
"""


def test_a_script_without_a_guard_is_told_so(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 1
    assert "sampler 1 of 1" in done.stderr
    assert "below `if __name__ == '__main__':`" in done.stderr


def test_samplers_that_nobody_closes_do_not_keep_their_process():
    """They hear no SIGTERM, with which multiprocessing would end them."""
    code = """
from lupai.train.config import load_config
from lupai.train.dmc.actors import Actors
actors = Actors(load_config("qingdao_dmc"), 0)
print(len(actors.pids))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
