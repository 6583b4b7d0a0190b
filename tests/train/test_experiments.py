"""Experiments: recipes times seeds, each trained and measured once, and what is told of them."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lupai.envs.errors import LupaiError
from lupai.train.arena.packs import load_pack
from lupai.train.config import ConfigError, dump_config, load_config
from lupai.train.experiments import pages, results
from lupai.train.experiments.plan import (
    EXPERIMENTS,
    Experiment,
    Variant,
    ablation,
    algorithms,
    changed,
    dmc,
    full,
    quick,
)
from lupai.train.experiments.queue import duration, run_queue
from lupai.train.experiments.run import conduct, draw
from lupai.train.experiments.work import RunJob, check, measured
from lupai.train.run_folder import TrainingError
from tests.train.conftest import TINY

SCORES = {"random": 2.0, "greedy": -0.5, "tactical": -1.0}


# --- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_recipe_is_allowed_and_every_run_has_its_folder(name):
    runs = EXPERIMENTS[name]().all_runs()
    assert len({run.folder for run in runs}) == len(runs)
    for run in runs:
        config = run.config()
        assert config.run_folder == run.folder == Path("runs") / name / run.name
        assert config.seed == run.seed


def test_the_ablation_compares_equal_samples_one_change_at_a_time():
    runs = {run.name: run.config() for run in ablation(200_000).all_runs()}
    assert len(runs) == 5 * 3
    assert {(c.stop.steps, c.stop.minutes) for c in runs.values()} == {(200_000, None)}
    base = runs["base-1"].model_dump()
    assert base["network"]["critic"] == "perfect"
    assert base["network"]["role_head"] > 0
    assert base["reward"]["kind"] == "score"

    def differences(name):
        other = runs[name].model_dump()
        return {
            (section, key): value
            for section in ("env", "network", "reward", "ppo", "selfplay", "workers", "watch")
            for key, value in other[section].items()
            if value != base[section][key]
        }

    assert differences("base-2") == {}
    assert differences("critic-off-1") == {("network", "critic"): "observation"}
    assert differences("role-head-off-1") == {("network", "role_head"): 0}
    assert differences("placement-1") == {("reward", "kind"): "placement"}
    assert differences("potential-1") == {
        ("reward", "kind"): "potential",
        ("reward", "anneal_steps"): 100_000,
    }


def test_the_parts_of_deep_monte_carlo_are_compared_at_equal_samples_one_change_at_a_time():
    runs = {run.name: run.config() for run in dmc(90_000).all_runs()}
    assert len(runs) == 6 * 3
    assert {(c.stop.steps, c.stop.minutes) for c in runs.values()} == {(90_000, None)}
    base = runs["base-1"].model_dump()
    changes = {
        "base": {},
        "distillation-off": {("distillation", "steps"): 0},
        "trust-off": {("distillation", "trust"): 0},
        "advice-off": {("network", "advice"): "none", ("distillation", "trust"): 0},
        "role-head-off": {("network", "role_head"): 0},
        "heads-both": {("dmc", "heads"): "both"},
    }
    assert base["dmc"]["win_weight"] == 0
    sections = ("env", "network", "reward", "dmc", "imitation", "distillation", "workers", "watch")
    for name, change in changes.items():
        other = runs[f"{name}-2"].model_dump()
        found = {
            (section, key): value
            for section in sections
            for key, value in other[section].items()
            if value != base[section][key]
        }
        assert found == change, name


def test_both_algorithms_have_the_same_time_and_one_process():
    runs = [run.config() for run in algorithms(12).all_runs()]
    assert {c.algorithm for c in runs} == {"dmc", "ppo"}
    assert {(c.stop.minutes, c.stop.steps, c.workers.runners) for c in runs} == {(12, None, 0)}
    assert {(c.network.advice, c.distillation.trust) for c in runs} == {("tactical", 1.5)}


def test_sizes_can_be_changed():
    one = changed(full(30), seeds=1, deals=50, runs=Path("x"), overrides=["ppo.lr=1e-5"])
    (run,) = one.all_runs()
    assert run.folder == Path("x/full/qingdao-1")
    assert (run.config().stop.minutes, run.config().ppo.lr, one.deals) == (30, 1e-5, 50)
    assert changed(quick()) == quick()


@pytest.mark.parametrize(
    ("made", "override", "parts"),
    [
        (ablation(), "network.critic=perfect", ["'critic-off'", "sets network.critic itself"]),
        (ablation(), "network={role_head: 0.2}", ["'critic-off'", "network.critic"]),
        (ablation(), "reward.kind=score", ["'placement'", "reward.kind"]),
        (ablation(), "reward.anneal_steps.x=1", ["'potential'", "reward.anneal_steps"]),
        (full(30), "stop.minutes=60", ["'qingdao'", "stop.minutes=30"]),
        (quick(), "seed=7", ["its own seed", "--seeds"]),
        (quick(), " runs =x", ["its own runs", "--runs"]),
    ],
)
def test_a_value_that_a_recipe_sets_itself_cannot_be_set_for_all(made, override, parts):
    """`--set network.critic=perfect` made two recipes of the ablation the same without a word."""
    with pytest.raises(ConfigError) as caught:
        changed(made, overrides=["ppo.epochs=2", override])
    text = str(caught.value)
    assert "\n" not in text
    for part in (f"--set {override}", *parts):
        assert part in text


def test_a_value_beside_those_of_the_recipes_is_set_for_all():
    made = changed(ablation(), overrides=["network.move_hidden=32", "reward.scale=0.2"])
    assert {run.config().network.move_hidden for run in made.all_runs()} == {32}
    assert {run.config().network.critic for run in made.all_runs()} == {"perfect", "observation"}


# --- the queue ------------------------------------------------------------------------------------


class Words:
    """A job of Python programs, one after the other."""

    def __init__(self, folder, name, *programs):
        self.name, self.log, self._programs = name, folder / f"{name}.log", list(programs)

    def command(self):
        return [sys.executable, "-c", self._programs.pop(0)] if self._programs else None

    def share(self):
        return 0.5


class Same(Words):
    """A job that is never done."""

    def command(self):
        return [sys.executable, "-c", self._programs[0]]


def test_jobs_run_one_command_after_another_with_one_thread(tmp_path):
    show = "import os; print('threads', os.environ['OMP_NUM_THREADS'])"
    jobs = [Words(tmp_path, "a", show, "print('second')"), Words(tmp_path, "b"),
            Words(tmp_path, "c", "print('only')")]  # fmt: skip
    assert run_queue(jobs, 2) == {}
    assert (tmp_path / "a.log").read_text() == "threads 1\nsecond\n"
    assert (tmp_path / "c.log").read_text() == "only\n"
    assert not (tmp_path / "b.log").exists()


def test_only_so_many_run_at_once(tmp_path):
    program = (
        "import pathlib, time; me = pathlib.Path({0!r}, {1!r}); me.touch(); time.sleep(0.6); "
        "print(len(list(me.parent.iterdir()))); me.unlink()"
    )
    place = tmp_path / "running"
    place.mkdir()
    jobs = [Words(tmp_path, n, program.format(str(place), n)) for n in "abcd"]
    assert run_queue(jobs, 2) == {}
    assert max(int((tmp_path / f"{n}.log").read_text()) for n in "abcd") <= 2


def test_a_failure_is_told_and_the_others_are_done(tmp_path):
    jobs = [
        Words(tmp_path, "bad", "print('before'); raise SystemExit('no room')", "print('never')"),
        Same(tmp_path, "idle", "pass"),
        Words(tmp_path, "good", "print('done')"),
    ]
    failed = run_queue(jobs, 1)
    assert sorted(failed) == ["bad", "idle"]
    assert failed["bad"].startswith("status 1: no room (")
    assert "never" not in (tmp_path / "bad.log").read_text()
    assert "before its limit" in failed["idle"]
    assert (tmp_path / "good.log").read_text() == "done\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_passed_on_once_and_waited_for(tmp_path, number, capsys):
    program = (
        "import signal, time, sys\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\n"
        "while not seen: time.sleep(0.02)\n"
        "time.sleep(0.5); print('saved', len(seen), flush=True)\n"
    )
    jobs = [Words(tmp_path, name, program) for name in "abc"]

    def interrupt():
        end = time.monotonic() + 30
        logs = [tmp_path / "a.log", tmp_path / "b.log"]
        while time.monotonic() < end and not all(
            log.exists() and "ready" in log.read_text() for log in logs
        ):
            time.sleep(0.02)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    stops = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(stop) for stop in stops]
    with pytest.raises(KeyboardInterrupt):
        run_queue(jobs, 2)
    thread.join()
    for name in "ab":
        assert (tmp_path / f"{name}.log").read_text() == "ready\nsaved 1\n"
    assert not (tmp_path / "c.log").exists()
    assert [signal.getsignal(stop) for stop in stops] == before


def test_children_hear_a_ctrl_c_where_it_was_ignored(tmp_path):
    """As after `command &` in a script; a child that ignored it would never stop."""
    show = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run_queue([Words(tmp_path, "a", show)], 1)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "a.log").read_text() == "True\n"


def test_durations_are_short():
    assert [duration(s) for s in (5, 89, 90, 600, 3600 + 5 * 60)] == [
        "5 s", "89 s", "2 min", "10 min", "1 h 05 min",
    ]  # fmt: skip


# --- figures, from run folders made by hand -------------------------------------------------------


def experiment_of(folder, **more):
    file = folder / "tiny.yaml"
    file.write_text(yaml.safe_dump(TINY))
    variants = (
        Variant("base", str(file), "as it is"),
        Variant("other", str(file), "faster", ("ppo.lr=2e-3",)),
    )
    settings = {"seeds": (1, 2, 3), "base": "base", "runs": folder / "runs", "deals": 20, **more}
    return Experiment("trial", variants, **settings)


def fake(experiment, run, shift, minutes=2.0, steps=1024):
    """A finished and measured run; its scores are SCORES + shift."""
    folder = run.folder
    config = run.config()
    agent = folder / "checkpoints" / "000002" / "agent"
    agent.mkdir(parents=True)
    (folder / "config.yaml").write_text(dump_config(config))
    (folder / "latest.json").write_text('{"checkpoint": "checkpoints/000002"}')
    card = {"rules": config.rules_string, "weights_sha256": "ab"}
    (agent / "agent.json").write_text(json.dumps(card))
    rows = []
    for i in (1, 2):
        row = {"iteration": i, "steps": steps * i // 2, "hands": 10 * i, "minutes": minutes * i / 2,
               "time/watching": 20.0, "time/league": 10.0}  # fmt: skip
        for name in ("greedy", "tactical"):
            row |= {f"eval/{name}/{form}": SCORES[name] + shift + i for form in ("seat", "camp")}
        rows.append(row)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = {"started": "2026-01-01T00:00:00+00:00",
               "versions": {"lupai": "1", "python": "3.12", "commit": "c" * 40}}  # fmt: skip
    (folder / "run.json").write_text(json.dumps({"sessions": [session]}))
    result = {
        "agents": [{"checkpoint": card}, *({"name": name} for name in SCORES)],
        "pack": {"sha256": load_pack("test", config.rules_string).sha256},
        "formats": ["seat", "camp"],
        "opponents": list(SCORES),
        "matches": [
            {"format": form, "opponent": name, "deals": experiment.deals, "hands": 100,
             "mean": score + shift, "low": score + shift - 1, "high": score + shift + 1}
            for form in ("seat", "emperor_camp", "camp") for name, score in SCORES.items()
        ],
    }  # fmt: skip
    (folder / "arena-test.json").write_text(json.dumps(result))


@pytest.fixture
def finished(tmp_path):
    """Base: shifts 0, 1, 2; the other: 1, 3, 5."""
    experiment = experiment_of(tmp_path)
    for run in experiment.all_runs():
        by = (0, 1, 2) if run.variant.name == "base" else (1, 3, 5)
        fake(experiment, run, by[run.seed - 1])
    return experiment


def test_means_over_seeds_by_hand():
    # Deviation 1, so half of the interval is t(2) / sqrt(3) = 4.3027 / 1.7321.
    assert results.over_seeds([1, 2, 3]) == {
        "mean": 2.0, "low": -0.4842, "high": 4.4842, "seeds": 3,
    }  # fmt: skip
    assert results.over_seeds([5, 7])["high"] == pytest.approx(6 + 12.7062, abs=1e-3)
    assert results.over_seeds([5]) == {"mean": 5.0, "low": None, "high": None, "seeds": 1}


def test_figures_of_an_experiment_by_hand(finished):
    data = results.collect(finished, "the command")
    base, other = data["variants"]
    assert base["scores"]["seat"]["greedy"] == {
        "mean": 0.5, "low": -1.9842, "high": 2.9842, "seeds": 3,
    }  # fmt: skip
    assert other["scores"]["camp"]["tactical"]["mean"] == 2.0
    assert "differences" not in base
    # Seed by seed 1, 2, 3: narrower than what the two intervals would tell.
    assert other["differences"]["seat"]["random"] == {
        "mean": 2.0, "low": -0.4842, "high": 4.4842, "seeds": 3,
    }  # fmt: skip
    run = base["runs"][1]
    assert (run["seed"], run["steps"], run["minutes"], run["wall_minutes"]) == (2, 1024, 2.0, 3.0)
    assert run["samples_per_second"] == round(1024 / 120, 1)
    assert run["scores"]["seat"]["random"] == {
        "mean": 3.0, "low": 2.0, "high": 4.0, "deals": 20, "hands": 100,
    }  # fmt: skip
    assert run["curve"]["steps"] == [512, 1024]
    assert run["curve"]["eval/greedy/seat"] == [1.5, 2.5]
    assert data["versions"] == [{"lupai": "1", "python": "3.12", "commit": "c" * 40}]
    assert (data["command"], data["seeds"], data["base"]) == ("the command", [1, 2, 3], "base")
    assert "Student's t" in data["statistics"]


def test_the_tables_say_what_was_measured(finished):
    text = pages.tables(results.collect(finished, "the command"))
    assert "`the command`" in text
    assert "the seed is the unit, n = 3" in text
    assert "commit `cccccccccc`" in text
    assert "+0.50 (−1.98 to +2.98)" in text
    means, differences, runs = (p for p in text.split("\n\n") if p.startswith("|"))
    assert "| other: faster | +5.00 (+0.03 to +9.97) |" in means
    assert differences.count("\n") == 2
    assert "| other: faster | +2.00 (−0.48 to +4.48) |" in differences
    assert "| base-2 | 1,024 | 20 | 2.0 | 3.0 | 8 | +0.50 (−0.50 to +1.50) |" in runs
    one = pages.tables(results.collect(replace(finished, seeds=(1,)), "x"))
    assert "One seed" in one
    assert "| base: as it is | +2.00 | −0.50 |" in one


def test_the_picture_is_small_and_shows_every_recipe(finished, tmp_path):
    pytest.importorskip("matplotlib")
    data = results.collect(finished, "x")
    curve = data["variants"][0]["runs"][0]["curve"]
    for variant in data["variants"]:  # as long as real ones, and wilder
        for number, run in enumerate(variant["runs"]):
            run["curve"] = {
                key: [float((7 * i * (number + 1)) % 11) if "/" in key else i * 8000.0
                      for i in range(60)]
                for key in curve
            }  # fmt: skip
    data["variants"] = [dict(v, name=f"{v['name']}{k}") for v in data["variants"] for k in range(3)]
    (tmp_path / "trial.json").write_text(json.dumps(data))
    draw(tmp_path / "trial.json")
    picture = (tmp_path / "trial.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert 5_000 < len(picture) < 150_000


def test_a_mean_curve_ends_where_a_seed_ends():
    x, y = pages.mean_curve([([1.0, 3.0], [0.0, 2.0]), ([0.0, 2.0], [1.0, 1.0])])
    assert (x[0], x[-1]) == (1.0, 2.0)
    assert (y[0], y[-1]) == (0.5, 1.0)


# --- what is done and what is not -----------------------------------------------------------------


def test_what_is_finished_is_not_done_again(finished):
    check(finished)
    for run in finished.all_runs():
        job = RunJob(finished, run)
        assert job.command() is None
        assert job.share() == 1.0


def test_other_measurements_are_made_anew(finished):
    run = finished.all_runs()[0]
    assert measured(finished, run) is not None
    for other in (
        replace(finished, deals=21),
        replace(finished, pack="dev"),
        replace(finished, opponents=("greedy",)),
        replace(finished, formats=("seat",)),
    ):
        assert measured(other, run) is None
    command = RunJob(replace(finished, deals=21), run).command()
    assert command[3:6] == ["arena", "--players", str(run.folder)]
    assert "--strict" in command
    card = run.folder / "checkpoints" / "000002" / "agent" / "agent.json"
    card.write_text(card.read_text().replace("ab", "cd"))  # it was trained on
    assert measured(finished, run) is None


def test_interrupted_runs_go_on_and_new_ones_begin(finished):
    run = finished.all_runs()[0]
    metrics = run.folder / "metrics.jsonl"
    metrics.write_text(metrics.read_text().splitlines()[0] + "\n")
    job = RunJob(finished, run)
    assert job.command()[3:] == [
        "train", "--resume", str(run.folder), *run.overrides, "stop.minutes=null",
        "stop.steps=1024",
    ]  # fmt: skip
    assert job.share() == pytest.approx(0.95 * 0.5 + 0.05)
    (run.folder / "latest.json").unlink()
    words = job.command()
    assert words[3:5] == ["train", run.variant.config]
    assert "--replace" in words
    assert f"name={run.name}" in words


def test_more_steps_go_on_from_what_is_there(finished):
    longer = changed(finished, overrides=["stop.steps=4096"])
    check(longer)
    command = RunJob(longer, longer.all_runs()[0]).command()
    assert command[4] == "--resume"
    assert command[-1] == "stop.steps=4096"


def unfinish(experiment):
    for run in experiment.all_runs():
        metrics = run.folder / "metrics.jsonl"
        metrics.write_text(metrics.read_text().splitlines()[0] + "\n")


def test_a_run_that_goes_on_gets_all_values_of_the_plan(finished):
    """Only the limits were passed: a changed watch.every was neither applied nor refused."""
    unfinish(finished)
    other = changed(finished, overrides=["watch.every=1", "checkpoint.keep=7"])
    check(other)
    for run in other.all_runs():
        _, _, _, _, _, folder, *values = RunJob(other, run).command()
        assert load_config(Path(folder) / "config.yaml", values) == run.config()
        assert run.config().watch.every == 1
    with pytest.raises(TrainingError, match=r"base-1.*another imitation; remove it"):
        check(changed(finished, overrides=["imitation.steps=100"]))


def test_a_finished_run_with_curves_of_another_kind_is_refused(finished):
    other = changed(finished, overrides=["watch.every=1"])
    with pytest.raises(TrainingError, match=r"base-1.*is finished.*with another watch"):
        check(other)
    check(changed(finished, overrides=["watch.every=1", "stop.steps=4096"]))
    check(changed(finished, overrides=["checkpoint.keep=7"]))


def test_folders_of_something_else_are_refused(finished):
    with pytest.raises(TrainingError, match=r"base-1.*another ppo; remove it"):
        check(changed(finished, overrides=["ppo.epochs=2"]))
    with pytest.raises(TrainingError, match=r"base-1.*beyond"):
        check(changed(finished, overrides=["stop.steps=512"]))
    with pytest.raises(ConfigError, match=r"ppo.epochs=0"):
        check(changed(finished, overrides=["ppo.epochs=0"]))


def test_an_experiment_that_is_not_finished_tells_nothing(finished):
    run = finished.all_runs()[-1]
    (run.folder / "arena-test.json").unlink()
    with pytest.raises(TrainingError, match=r"other-3.*not finished, or not measured"):
        results.collect(finished, "x")


# --- with real runs -------------------------------------------------------------------------------


@pytest.mark.train
@pytest.mark.slow
@pytest.mark.xdist_group("ray commands")
def test_an_experiment_from_the_first_run_to_its_page(tmp_path):
    pytest.importorskip("ray")
    experiment = experiment_of(
        tmp_path,
        seeds=(1, 2),
        deals=2,
        opponents=("random", "greedy"),
        anchors=("greedy",),
        overrides=("watch.every=1", "watch.deals=2", "watch.anchors=[greedy]"),
    )
    experiment = replace(experiment, variants=experiment.variants[:1])
    file = conduct(experiment, 2, "the command", tmp_path)
    data = results.read(file)
    (variant,) = data["variants"]
    assert [run["seed"] for run in variant["runs"]] == [1, 2]
    for run in variant["runs"]:
        assert run["steps"] >= 1024
        assert run["sessions"] == 1
        assert len(run["curve"]["eval/greedy/seat"]) == run["iterations"]
        assert run["scores"]["seat"]["greedy"]["hands"] == 10
        assert run["scores"]["camp"]["random"]["hands"] == 4
    one, two = (run["scores"]["seat"]["random"]["mean"] for run in variant["runs"])
    assert variant["scores"]["seat"]["random"]["mean"] == pytest.approx((one + two) / 2, abs=1e-4)
    assert "| base-1 |" in pages.tables(data)

    logs = {log: log.read_bytes() for log in (tmp_path / "runs" / "trial").glob("*.log")}
    assert len(logs) == 2
    again = conduct(experiment, 2, "the command", tmp_path / "again")
    assert {log: log.read_bytes() for log in logs} == logs  # nothing was started
    assert results.read(again) == data

    with pytest.raises(LupaiError, match=r"(?s)2 of 2 runs failed.*base-1: status 2.*no-such"):
        conduct(replace(experiment, opponents=("no-such",)), 2, "x", tmp_path)
