"""Runs: what they leave behind, going on later, stopping cleanly."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("ray")

import lupai.agents
from lupai.envs.errors import LupaiError
from lupai.train.config import load_config
from lupai.train.learning.windows import Windows
from lupai.train.rllib.metrics import metrics
from lupai.train.run_folder import Progress, check_start
from lupai.train.runs import read_run
from lupai.train.trainer import TrainingError, resume, run
from lupai.train.watch import Watch
from tests.arena.players import SMALL
from tests.train.conftest import tiny
from tests.train.test_run_folder import content

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def lines(folder):
    text = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in text]


def curve(folder, tag="steps"):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return [(e.step, e.value) for e in events.Scalars(tag)]


@pytest.fixture(scope="module")
def finished(ray_session, tmp_path_factory):
    """A finished tiny run (copy it before changing it)."""
    bar = io.StringIO()
    folder = run(tiny(runs=str(tmp_path_factory.mktemp("runs"))), out=bar)
    assert "steps" in bar.getvalue()
    return folder


@pytest.fixture
def moved(finished, tmp_path):
    """The run, copied to another place."""
    return Path(shutil.copytree(finished, tmp_path / "moved" / "elsewhere"))


def test_a_run_leaves_config_metrics_curves_and_checkpoint(finished):
    names = {p.name for p in finished.iterdir()}
    assert names == {
        "run.json", "config.yaml", "metrics.jsonl", "tensorboard", "checkpoints", "latest.json",
    }  # fmt: skip
    rows = lines(finished)
    assert [row["iteration"] for row in rows] == [1, 2]
    assert [row["steps"] for row in rows] == [512, 1024]
    assert all(row["time/steps_per_second"] > 0 for row in rows)
    assert {"loss/policy", "loss/value", "loss/entropy", "loss/approx_kl"} <= set(rows[0])
    assert curve(finished) == [(1, 512), (2, 1024)]
    assert [p.name for p in (finished / "checkpoints").iterdir()] == ["000002"]


def test_its_agent_plays_wherever_the_run_lies(moved):
    agent = lupai.agents.load(moved)
    assert agent.name == "tiny"
    assert agent.card.provenance["steps"] == 1024
    assert agent.card.idle == "pass"
    from lupai.envs.baohuang.engine import Engine
    from lupai.envs.view import Views

    engine = Engine()
    state = engine.reset([0, 1])
    views = Views(engine, state, state.actor)
    assert views.legal.contains(agent.act_batch(views)).all()


def test_nothing_that_is_needed_names_an_absolute_path(finished):
    for path in (finished / "latest.json", *finished.glob("checkpoints/*/agent/agent.json")):
        assert str(finished.parent) not in path.read_text()


def test_a_moved_run_goes_on_where_it_stopped(moved):
    with open(moved / "metrics.jsonl", "a") as file:  # written after the last checkpoint
        file.write('{"iteration": 3, "steps": 1536}\n{"iteration": 4, "st')
    before = json.loads((moved / "latest.json").read_text())["checkpoint"]
    assert resume(moved, ("stop.steps=2048",)) == moved
    rows = lines(moved)
    assert [row["iteration"] for row in rows] == [1, 2, 3, 4]
    assert [row["steps"] for row in rows] == [512, 1024, 1536, 2048]
    minutes = [row["minutes"] for row in rows]
    assert minutes == sorted(minutes)
    assert [step for step, _ in curve(moved)] == [1, 2, 3, 4]
    after = json.loads((moved / "latest.json").read_text())["checkpoint"]
    assert (before, after) == ("checkpoints/000002", "checkpoints/000004")
    assert lupai.agents.load(moved).card.provenance["iteration"] == 4


def test_a_finished_run_that_goes_on_without_new_limits_does_nothing(moved):
    resume(moved)
    assert len(lines(moved)) == 2


def test_runs_of_one_seed_are_the_same_and_others_not(ray_session, tmp_path):
    drop = ("minutes", "time/")
    seen = []
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        folder = run(tiny(runs=str(tmp_path / place), seed=seed), out=io.StringIO())
        kept = [{k: v for k, v in row.items() if not k.startswith(drop)} for row in lines(folder)]
        seen.append(kept)
    assert seen[0] == seen[1] != seen[2]


def test_a_taken_folder_is_refused_or_replaced(moved):
    config = tiny()
    with pytest.raises(TrainingError, match="resume it, replace it"):
        check_start(moved, config, "refuse")
    start = check_start(moved, config, "replace")
    assert (start.progress, start.checkpoint) == (Progress(), None)
    assert (moved / "checkpoints").exists()
    start.commit()
    assert {p.name for p in moved.iterdir()} == {"run.json", "config.yaml"}


def test_a_strange_folder_is_never_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(TrainingError, match="not empty"):
        check_start(tmp_path, tiny(), "replace")
    assert (tmp_path / "thesis.txt").exists()


def test_a_resumed_run_keeps_its_network_and_rules(moved, tmp_path):
    with pytest.raises(TrainingError, match="network"):
        resume(moved, ("network.move_hidden=9",))
    with pytest.raises(TrainingError, match=r"selfplay.policies is 'shared' there and 'role' now"):
        resume(moved, ("selfplay.policies=role",))
    with pytest.raises(TrainingError, match="nothing to go on from"):
        run(tiny(runs=str(tmp_path)), existing="resume")
    with pytest.raises(TrainingError, match=r"config\.yaml"):
        resume(tmp_path / "nowhere")


REFUSED = [
    (["selfplay.mode=league", "selfplay.anchors=[rendom]"], "rendom"),
    (["selfplay.mode=league", "selfplay.anchors=[lupai.agents.example_agent:LoyalAgent]"],
     "no act_batch"),
    (["selfplay.mode=exploit", "target=rendom"], "rendom"),
    (["imitation.agent=tactica", "imitation.steps=5000"], "tactica"),
    (["watch.every=1", "watch.anchors=[gready]"], "gready"),
    (["workers.runners=9", "workers.wait_minutes=0"], "no room for the workers"),
    (["ppo.lr=1e-4"], "rllib: cannot be read"),  # with a damaged part, see below
]  # fmt: skip


@pytest.mark.parametrize(("values", "why"), REFUSED)
def test_a_refused_resume_leaves_the_run_as_it_was(moved, values, why):
    """Its config was stored: after a typo in an anchor each plain resume failed."""
    state = next(moved.glob("checkpoints/*/rllib/algorithm_state.pkl"))
    whole = state.read_bytes()
    if "cannot be read" in why:
        state.write_bytes(b"nothing of RLlib")
    (moved / "run.lock").write_text('{"pid": 1}\n')  # of a process that was killed
    before = content(moved)
    with pytest.raises(LupaiError, match=why):
        resume(moved, ("stop.steps=4096", "seed=8", *values))
    assert content(moved) == before
    assert read_run(moved).state == "crashed"
    state.write_bytes(whole)
    resume(moved, out=io.StringIO())
    assert read_run(moved).state == "finished"


@pytest.mark.parametrize(("values", "why"), REFUSED[:-1])
def test_a_refused_run_removes_nothing_of_the_old_one(moved, values, why):
    config = load_config(moved / "config.yaml", (f"runs={moved.parent}", "name=elsewhere", *values))
    before = content(moved)
    with pytest.raises(LupaiError, match=why):
        run(config, existing="replace")
    assert content(moved) == before


def test_an_imitation_that_is_over_needs_nobody(moved):
    gone = ("imitation.agent=gone", "imitation.steps=1000")
    resume(moved, ("stop.steps=1536", *gone), out=io.StringIO())
    assert len(lines(moved)) == 3


def test_old_checkpoints_go(ray_session, tmp_path):
    config = tiny(
        runs=str(tmp_path),
        stop={"steps": 512 * 4},
        checkpoint={"every_minutes": 1e-6, "keep": 2},
    )
    folder = run(config, out=io.StringIO())
    assert sorted(p.name for p in (folder / "checkpoints").iterdir()) == ["000003", "000004"]


def test_two_runners_count_hands_even_where_one_finished_none(ray_session, tmp_path):
    config = tiny(runs=str(tmp_path), workers={"runners": 2}, stop={"steps": 512 * 6})
    rows = lines(run(config, out=io.StringIO()))
    assert [row["steps"] for row in rows] == [512 * i for i in range(1, 7)]
    hands = [row["hands"] for row in rows]
    assert hands == sorted(hands)


def test_a_learner_process_tells_of_roles_and_hands_too(ray_session, tmp_path):
    config = tiny(
        runs=str(tmp_path),
        learners={"num": 1},
        workers={"envs_per_runner": 16},
        ppo={"batch_size": 2048, "minibatch_size": 512},
        imitation={"agent": "greedy", "steps": 9999},  # random play soon tells who is guard
        stop={"steps": 2048 * 3},
    )
    rows = lines(run(config, out=io.StringIO()))
    assert len(rows) == 3
    told = set().union(*rows)
    assert {"score/rebel", "play/solo_share", "entropy/bidder", "entropy/rebel"} <= told
    assert {"role/log_loss", "role/check_log_loss", "role/grounded_log_loss"} <= told
    assert any(name.startswith("value_explained/") for name in told)
    assert all(0 < row["time/learning_share"] < 1 for row in rows)


def test_a_run_is_watched_with_its_live_policy_and_learns_the_same(ray_session, tmp_path):
    def rows(name, **watch):
        config = tiny(rules=SMALL, runs=str(tmp_path), name=name, watch=watch)
        return config, lines(run(config, out=io.StringIO()))

    config, watched = rows("watched", every=2, deals=2, anchors=["random"])
    _, alone = rows("alone")
    drop = ("minutes", "time/", "eval/", "rates/")
    kept = [[{k: v for k, v in r.items() if not k.startswith(drop)} for r in w]
            for w in (watched, alone)]  # fmt: skip
    assert kept[0] == kept[1]
    assert not any(k.startswith("eval/") for k in watched[0])
    best = lupai.agents.load(tmp_path / "watched" / "best", SMALL)
    again = Watch(config).measure(best)
    again.pop("time/watching")
    assert {k: round(v, 6) for k, v in again.items()}.items() <= watched[-1].items()
    assert "eval/random/seat" in again
    for row in watched:
        assert row["play/illegal_actions"] == 0
        shares = [row[f"time/{part}_share"] for part in ("inference", "sampling", "learning")]
        assert 0 < shares[0] < shares[1] < 1
        assert 0 < shares[2] < 1


def test_unknown_metrics_of_a_learner_keep_their_names():
    learned = {"policy_loss": 1.0, "x": 0.5, "y": float("nan"), "weights_seq_no": 3}
    learned |= {"role_entropy": {"guard": 0.2}, "by_seat": {"0": {"loss": 0.1}}}
    result = {"env_runners": {"num_env_steps_sampled": 8}, "learners": {"shared": learned}}
    row = metrics(result, Windows())
    assert row == {
        "steps": 8, "hands": 0, "loss/policy": 1.0, "loss/x": 0.5,
        "entropy/guard": 0.2, "loss/by_seat/0/loss": 0.1,
    }  # fmt: skip


def test_the_shaping_goes_on_where_it_stopped(ray_session, tmp_path, monkeypatch):
    from lupai.train.rllib import setup, trainer

    told = []
    tell = setup.set_shaping

    def listen(algorithm, config, steps):
        tell(algorithm, config, steps)
        told.append(algorithm.env_runner_group.local_env_runner.rewards.coefficient)

    monkeypatch.setattr(trainer, "set_shaping", listen)
    reward = {"kind": "potential", "coefficient": 1.0, "anneal_steps": 2048}
    folder = run(tiny(runs=str(tmp_path), reward=reward), out=io.StringIO())
    resume(folder, ("stop.steps=2560",))
    assert told == [1.0, 0.75, 0.5, 0.25, 0.0]
