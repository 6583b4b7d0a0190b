"""Runs with opponents: what is learned, what is kept, what is proved about a target."""

from __future__ import annotations

import io
import json
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray")

import lupai.agents
from lupai.agents.registry import UnknownAgentError
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.errors import LupaiError
from lupai.train import files
from lupai.train.checkpoints import save_checkpoint
from lupai.train.config import ConfigError
from lupai.train.export import write_agent
from lupai.train.league.coach import League, check_opponents, make_coach, seating
from lupai.train.league.exploit import FRESH_SEED, Exploit, dev_pack, gain, summary
from lupai.train.league.frozen import Copies
from lupai.train.league.population import LeagueError
from lupai.train.rllib.export import live_policy
from lupai.train.run_folder import Progress, TrainingError, check_start
from lupai.train.trainer import resume, run
from tests.tiny_agent import save_tiny_agent
from tests.train.conftest import tiny
from tests.train.plain import Counter
from tests.train.test_run_folder import content

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]

LEAGUE = {"mode": "league", "every": 1, "snapshots": 2, "self_share": 0.3}


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(ray_session, tmp_path_factory):
    """A tiny league after four iterations (copy it before changing it)."""
    config = tiny(
        runs=str(tmp_path_factory.mktemp("runs")), selfplay=LEAGUE, stop={"steps": 512 * 4}
    )
    return run(config, out=io.StringIO())


@pytest.fixture
def moved(finished, tmp_path):
    return Path(shutil.copytree(finished, tmp_path / "elsewhere"))


def stored(folder):
    name = json.loads((folder / "latest.json").read_text())["checkpoint"]
    return folder / name / "league" / "league.json"


# --- what is learned --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["score", "placement"])
def test_only_the_learners_decisions_are_learned_and_paid_their_final_scores(ray_session, kind):
    from lupai.train.league.coach import _send
    from lupai.train.rllib.runner import BatchEnvRunner
    from lupai.train.rllib.setup import algorithm_config

    config = tiny(selfplay=LEAGUE, workers={"envs_per_runner": 16}, reward={"kind": kind})
    settings = algorithm_config(config)
    settings.validate()
    runner = BatchEnvRunner(config=settings, worker_index=0)
    seats, ended = {}, {}

    class Trainer:
        def each_sampler(self, function):
            return [function(runner)]

    league = League(config, Path("nowhere"), None)
    _send(Trainer(), league._next_plan(5), league._packed)
    close = runner._close

    def watched(end):
        hand = int(runner._hands[end.table])
        ended[hand] = end.scores
        seats[hand] = end.learner
        close(end)

    runner._close = watched
    paid, learned = defaultdict(list), 0
    for _ in range(4):
        (data,) = runner.sample(num_timesteps=1000)
        learned += len(data)
        rewards = data.columns["rewards"]
        for i, (hand, seat) in enumerate(
            zip(data.hands.tolist(), data.seats.tolist(), strict=True)
        ):
            paid[hand, seat] += rewards[data.offsets[i] : data.offsets[i + 1]].tolist()
    total = runner.metrics.peek("num_env_steps_sampled_lifetime")
    assert total >= 4000
    assert learned + runner._record.waiting == total
    mixed = early = 0
    for (hand, seat), rewards in paid.items():
        if hand not in ended:
            continue
        assert seats[hand][seat]
        mixed += not seats[hand].all()
        early += any(rewards[:-1])
        assert sum(rewards) == pytest.approx(0.1 * ended[hand][seat])
    assert mixed > 20
    assert (early > 0) == (kind == "placement")


def test_a_league_plays_all_its_members_and_tells_how_it_fares(finished):
    last = rows(finished)[-1]
    names = ["random", "greedy", "tactical", "snapshot-000001", "snapshot-000003"]
    shares = [last[f"league/{name}/share"] for name in names[:4]]
    assert min(shares) > 0
    assert sum(v for k, v in last.items() if k.endswith("/share")) == pytest.approx(0.7, abs=1e-5)
    assert any(k.endswith("/score") and k.startswith("league/") for k in last)
    assert [row["iteration"] for row in rows(finished)] == [1, 2, 3, 4]
    assert all(row["steps"] >= 512 * row["iteration"] for row in rows(finished))


def test_the_first_and_the_newest_snapshot_are_agents_in_the_folder(finished):
    folders = sorted(path.name for path in (finished / "league").iterdir())
    assert folders == ["snapshot-000001", "snapshot-000004"]
    agent = lupai.agents.load(finished / "league" / "snapshot-000001")
    assert agent.card.provenance["iteration"] == 1
    members = json.loads(stored(finished).read_text())["members"]
    assert [m["name"] for m in members if m["anchor"]] == ["random", "greedy", "tactical"]


# --- going on ---------------------------------------------------------------------------------


def test_a_resumed_league_is_the_same_to_the_last_bit(moved):
    config = tiny(selfplay=LEAGUE)
    one, two = (League(config, moved, stored(moved).parents[1]) for _ in range(2))
    assert one.dump() == stored(moved).read_text()

    class Trainer:
        plans = ()

        def each_sampler(self, function):
            if "plan" in function.keywords:
                self.plans = (*self.plans, function.keywords["plan"])
            return [[]]

    first, second, fresh = Trainer(), Trainer(), Trainer()
    for league, trainer in ((one, first), (two, second), (League(config, moved, None), fresh)):
        league.plan()
        league.tell(trainer)
    assert first.plans == second.plans
    assert fresh.plans[0].word != first.plans[0].word


def test_a_league_goes_on_and_its_first_snapshot_stays(moved):
    before = {m["name"]: m for m in json.loads(stored(moved).read_text())["members"]}
    resume(moved, (f"stop.steps={rows(moved)[-1]['steps'] + 1024}",))
    after = {m["name"]: m for m in json.loads(stored(moved).read_text())["members"]}
    newest = f"snapshot-{rows(moved)[-1]['iteration']:06d}"
    assert set(after) == {"random", "greedy", "tactical", "snapshot-000001", newest}
    for name in ("random", "greedy", "tactical"):
        assert after[name]["hands"] >= before[name]["hands"]
    kept = {path.name for path in (moved / "league").iterdir()}
    assert {"snapshot-000001", "snapshot-000004"} <= kept  # an older checkpoint names the second


def test_snapshots_that_nothing_names_are_removed(moved):
    league = League(tiny(selfplay=LEAGUE), moved, stored(moved).parents[1])
    stray = save_tiny_agent(moved / "league" / "snapshot-000002")
    half = moved / "league" / ".snapshot-000009-x1"
    half.mkdir()
    league.sweep()
    assert not stray.exists()
    League(tiny(selfplay=LEAGUE), moved, None).copy()
    assert not half.exists()
    assert (moved / "league" / "snapshot-000001").is_dir()
    save_tiny_agent(stray)
    (moved / "checkpoints" / "000099" / "league").mkdir(parents=True)
    (moved / "checkpoints" / "000099" / "league" / "league.json").write_text("{")
    league.sweep()
    assert stray.exists()  # the damaged checkpoint may have named it


def test_what_is_missing_or_damaged_is_one_clear_error(moved):
    shutil.rmtree(moved / "league" / "snapshot-000001")
    with pytest.raises(LeagueError, match=r"needs league/snapshot-000001, which is missing"):
        resume(moved, ("stop.steps=99999",))
    data = json.loads(stored(moved).read_text())
    data["rng"]["state"]["state"] = "x"
    stored(moved).write_text(json.dumps(data))
    with pytest.raises(LeagueError, match="rng: no state of a generator"):
        resume(moved, ("stop.steps=99999",))
    stored(moved).write_text("{")
    with pytest.raises(LeagueError, match=r"league\.json: no JSON; copy it again"):
        resume(moved, ("stop.steps=99999",))


def test_a_run_of_plain_self_play_can_go_on_as_a_league(ray_session, tmp_path):
    folder = run(tiny(runs=str(tmp_path), stop={"steps": 512}), out=io.StringIO())
    resume(folder, ("stop.steps=1024", "selfplay.mode=league", "selfplay.every=2"))
    assert "league/tactical/share" in rows(folder)[-1]
    assert (folder / "league" / "snapshot-000002").is_dir()


def test_remote_samplers_get_the_league_too(ray_session, tmp_path):
    config = tiny(
        runs=str(tmp_path),
        selfplay=LEAGUE | {"self_share": 0.0},
        workers={"runners": 1},
        stop={"steps": 512 * 4},
    )
    folder = run(config, out=io.StringIO())
    hands = sum(m["hands"] for m in json.loads(stored(folder).read_text())["members"])
    assert 0 < hands <= rows(folder)[-1]["hands"]  # those of dropped snapshots are gone
    assert (folder / "league" / "snapshot-000001").is_dir()


def test_a_refused_resume_copies_no_opponent(moved, tmp_path):
    new = save_tiny_agent(tmp_path / "new")
    before = content(moved)
    values = ("stop.steps=99999", f"selfplay.anchors=[random, {new}]")
    with pytest.raises(TrainingError, match="no room"):
        resume(moved, (*values, "workers.runners=9", "workers.wait_minutes=0"))
    assert content(moved) == before
    steps = rows(moved)[-1]["steps"] + 512
    resume(moved, (values[1], f"stop.steps={steps}"), out=io.StringIO())
    (copy,) = (moved / "league").glob("anchor-*")
    shutil.rmtree(new)
    resume(moved, (f"stop.steps={steps + 512}",), out=io.StringIO())
    assert f"league/{copy.name.removeprefix('anchor-')}/share" in rows(moved)[-1]


# --- opponents that cannot be had -------------------------------------------------------------


@pytest.mark.parametrize(
    ("anchors", "error", "why"),
    [
        (["random", "strong"], UnknownAgentError, "agents: random, greedy, tactical"),
        (["lupai.agents.example_agent:LoyalAgent"], LeagueError, "no act_batch"),
    ],
)
def test_an_unknown_or_slow_opponent_is_refused_before_anything_is_made(
    anchors, error, why, tmp_path
):
    config = tiny(runs=str(tmp_path), selfplay={"mode": "league", "anchors": anchors})
    with pytest.raises(error, match=why):
        run(config)
    assert not list(tmp_path.iterdir())


def test_configs_that_make_no_sense_are_refused():
    for sections, why in (
        ({"selfplay": {"mode": "exploit"}}, "give target="),
        ({"target": "random"}, "selfplay.mode=exploit"),
        ({"selfplay": {"mode": "league"}, "workers": {"sampler": "rllib"}}, "sampler batch"),
        ({"selfplay": {"anchors": ["greedy", "greedy"]}}, "'greedy' stands twice"),
        ({"selfplay": {"seats": [0, 0, 0, 0]}}, "not all 0"),
        ({"selfplay": {"mode": "leage"}}, "'self', 'league' or 'exploit'"),
    ):
        with pytest.raises(ConfigError, match=why):
            tiny(**sections)
    assert seating(tiny()) is None
    assert make_coach(tiny(), Path("nowhere"), None) is None


def test_anchors_and_targets_that_are_folders_are_copied(tmp_path):
    folder = save_tiny_agent(tmp_path / "agents" / "mine")
    config = tiny(runs=str(tmp_path), selfplay={"mode": "league", "anchors": [str(folder)]})
    league = League(config, tmp_path / "tiny", None)
    (member,) = league.population.anchors
    copy = tmp_path / "tiny" / member.source
    assert not copy.exists()  # the run may still be refused
    league.copy()
    assert member.source.startswith("league/anchor-")
    assert (copy / "weights.pt").read_bytes() == (folder / "weights.pt").read_bytes()
    shutil.rmtree(folder)  # it plays on
    check_opponents(config, progress=Progress(3))
    again = League(config, tmp_path / "tiny", tmp_path / "tiny" / "checkpoints" / "000003")
    assert again.population.anchors[0].source == member.source
    again.copy()
    assert copy.is_dir()
    # A new run does not play against what the run before it has left.
    with pytest.raises(UnknownAgentError, match="no such folder"):
        check_opponents(config)
    with pytest.raises(UnknownAgentError, match="no such folder"):
        League(config, tmp_path / "tiny", None)


def test_snapshots_and_copies_are_on_the_disk_before_they_appear(algorithm, tmp_path, monkeypatch):
    """After a power cut a league could name agents with empty files."""
    synced = []

    def watched(folder):
        assert not (tmp_path / "new").exists()
        synced.append(sorted(path.name for path in folder.iterdir()))

    monkeypatch.setattr(files, "sync_folder", watched)
    config = tiny()
    engine = Engine(config.rules_string)
    policy = live_policy(algorithm, config, engine)
    write_agent(policy, config, engine, tmp_path / "new", Progress(3))
    (tmp_path / "new").rename(tmp_path / "old")
    copies = Copies(tmp_path, new=True)
    assert copies.source(str(tmp_path / "old"), "new") == "new"
    copies.write()
    assert synced == [["agent.json", "weights.pt"]] * 2
    assert lupai.agents.load(tmp_path / "new").card.provenance["iteration"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


@pytest.mark.parametrize(
    "sections",
    [
        {"target": "HERE", "selfplay": {"mode": "exploit"}},
        {"selfplay": {"mode": "league", "anchors": ["HERE"]}},
        {"imitation": {"agent": "HERE", "steps": 5}},
        {"watch": {"every": 1, "anchors": ["random", "HERE"]}},
    ],
    ids=["target", "anchor", "teacher", "watch"],
)
def test_an_agent_in_the_runs_own_folder_is_refused(tmp_path, sections):
    """With --replace it was removed before it was copied."""
    folder = save_tiny_agent(tmp_path / "tiny" / "agent")
    text = json.dumps(sections).replace("HERE", str(folder))
    with pytest.raises(LeagueError, match="lies in the folder of the run itself"):
        check_opponents(tiny(runs=str(tmp_path), **json.loads(text)))


def test_copies_that_were_cut_off_go_and_a_source_that_has_gone_is_told(tmp_path):
    for place in ("imitation", "league", "exploit"):
        (tmp_path / "run" / place / ".half.0a1b").mkdir(parents=True)
    there = save_tiny_agent(tmp_path / "there")
    copies = Copies(tmp_path / "run", new=True)
    assert copies.source(str(there), "imitation/there") == "imitation/there"
    shutil.rmtree(there)
    with pytest.raises(LeagueError, match="was removed while this run started"):
        copies.write()
    assert not list((tmp_path / "run").rglob(".*"))


# --- exploiters -------------------------------------------------------------------------------


def exploit_config(tmp_path, **sections):
    small = {
        "name": "exploit", "runs": str(tmp_path), "target": "random", "seed": 1,
        "selfplay": {"mode": "exploit"}, "network": {"hidden": [16], "move_hidden": 16},
        "ppo": {"batch_size": 1000, "minibatch_size": 250, "epochs": 4, "lr": 1e-2, "lambda": 1.0},
        "exploit": {"every": 2, "deals": 20, "confirm_deals": 40},
        "workers": {"envs_per_runner": 24}, "stop": {"steps": 1000 * 4},
    }  # fmt: skip
    return tiny(**(small | sections))


def test_an_exploiter_of_a_bad_agent_proves_it_on_fresh_deals(ray_session, tmp_path):
    config = exploit_config(tmp_path)
    folder = run(config, out=io.StringIO())
    report = json.loads((folder / "exploit.json").read_text())
    assert [gate["iteration"] for gate in report["gates"]] == [2, 4]
    best, confirmed = report["best"], report["confirmed"]
    assert best["low"] == max(gate["low"] for gate in report["gates"])
    assert (confirmed["iteration"], confirmed["deals"]) == (best["iteration"], 40)
    assert confirmed["mean"] != best["mean"]
    assert confirmed["low"] > 0
    (kept,) = (folder / "exploit").iterdir()
    assert kept.name == f"agent-{best['iteration']:06d}"
    text = summary(folder)
    assert f"{confirmed['mean']:+.2f}" in text
    assert "40 fresh deals" in text
    assert "a lower bound" in text
    # the agent that was confirmed is the one that is kept
    again = gain(kept, "random", "seat", dev_pack("qingdao", 20), 20)
    assert again["mean"] == best["mean"]
    assert [row.get("exploit/gain") for row in rows(folder)][1] == report["gates"][0]["mean"]
    assert rows(folder)[-1]["league/random/share"] == 1
    assert rows(folder)[1]["time/league"] > rows(folder)[0]["time/league"]

    before = (folder / "exploit.json").read_text()
    resume(folder)  # nothing left to do
    assert (folder / "exploit.json").read_text() == before
    kept = content(folder)
    for value, why in (
        ("exploit.role=rebel_camp", "role is 'seat' there and 'rebel_camp' now"),
        ("target=greedy", "target is 'random' there and 'greedy' now"),
    ):
        with pytest.raises(TrainingError, match=why):
            resume(folder, (value,))
    assert content(folder) == kept
    (folder / "exploit.json").write_text('{"format": 1}')
    with pytest.raises(LeagueError, match=r"exploit\.json: no report of an exploiter"):
        resume(folder)


def test_a_crash_after_a_gate_pairs_no_numbers_with_another_agent(tmp_path, monkeypatch):
    """Gate 4 was best and its run died; the resumed one overwrote the agent, not the numbers."""
    from lupai.train.league import exploit as module

    lows = iter([1.0, 2.0, 0.5, 3.0])

    def measured(*_):
        low = next(lows)
        return {"mean": low + 1, "low": low, "high": low + 2}

    class Learner:
        def __init__(self, name):
            self.name = name

        def each_sampler(self, function):
            return []

        def write_agent(self, place, progress):
            place.mkdir(parents=True, exist_ok=True)
            (place / "who").write_text(self.name)

    monkeypatch.setattr(module, "gain", measured)
    config, folder = exploit_config(tmp_path), tmp_path / "exploit"
    check_start(folder, config, "refuse").commit()

    def agents():
        return {p.name: (p / "who").read_text() for p in (folder / "exploit").iterdir()}

    first = Exploit(config, folder, None)
    first.after(Learner("before"), Progress(2, 9))
    place = save_checkpoint(folder, config, Progress(2, 9), {"league": first})
    first.after(Learner("lost"), Progress(4, 18))
    assert agents() == {"agent-000002": "before", "agent-000004": "lost"}

    second = Exploit(config, folder, place)
    assert set(agents()) == {"agent-000002", "agent-000004"}, "nothing is written yet"
    second.copy()
    stored = json.loads((folder / "exploit.json").read_text())
    assert [gate["iteration"] for gate in stored["gates"]] == [2]
    assert (stored["best"]["low"], stored["confirmed"]) == (1.0, None)
    assert agents() == {"agent-000002": "before"}
    second.after(Learner("again"), Progress(4, 18))
    assert second.report.best.iteration == 2
    assert agents() == {"agent-000002": "before"}
    second.after(Learner("later"), Progress(6, 27))
    assert [gate.low for gate in second.report.gates] == [1.0, 0.5, 3.0]
    save_checkpoint(folder, config, Progress(6, 27), {"league": second})
    assert agents() == {"agent-000002": "before", "agent-000006": "later"}
    shutil.rmtree(place)  # no run can go on from there any more
    second.save(tmp_path)
    assert agents() == {"agent-000006": "later"}


def test_a_gate_whose_agent_is_gone_is_no_best_gate(tmp_path):
    config, folder = exploit_config(tmp_path), tmp_path / "exploit"
    check_start(folder, config, "refuse").commit()
    place = save_checkpoint(folder, config, Progress(3, 9), {"plain": Counter()})
    gates = [
        {"iteration": i, "steps": i, "deals": 2, "mean": 1.0, "low": low, "high": 2.0}
        for i, low in ((1, 0.3), (2, 0.4), (4, 0.5))
    ]
    report = {"target": "random", "role": "seat", "rules": "qingdao", "gates": gates}
    (folder / "exploit.json").write_text(json.dumps(report | {"best": gates[2]}))
    save_tiny_agent(folder / "exploit" / "agent-000001")
    assert Exploit(config, folder, place).report.best.iteration == 1
    shutil.rmtree(folder / "exploit")
    (folder / "exploit.json").write_text(json.dumps(report | {"best": gates[2]}))
    assert Exploit(config, folder, place).report.best is None


def test_gains_are_measured_against_the_targets_own_play():
    pack = dev_pack("qingdao", 10)
    for role in ("seat", "emperor_camp", "rebel_camp"):
        assert gain("greedy", "greedy", role, pack, 10) == {"mean": 0, "low": 0, "high": 0}
        assert gain("greedy", "random", role, pack, 10)["low"] > 0
        assert gain("random", "greedy", role, pack, 10)["high"] < 0


def test_gates_and_confirmations_share_no_deal():
    from lupai.train.arena.packs import load_pack, make_pack

    numbers = np.arange(5000)
    fresh = set(make_pack("qingdao", 5000, FRESH_SEED).hand_seeds(numbers).tolist())
    for other in ("dev", "test"):
        assert not fresh & set(load_pack(other).hand_seeds(numbers).tolist())
    assert dev_pack("qingdao", 7).sha256 == load_pack("dev").sha256
    other = str(load_rules({"preset": "qingdao", "grab": False}))
    assert dev_pack(other, 7).rules == other != "qingdao"


def test_a_new_confirmation_takes_new_deals(tmp_path):
    folder = tmp_path / "exploit"
    config = exploit_config(tmp_path, exploit={"confirm_deals": 4})
    check_start(folder, config, "refuse").commit()
    place = save_checkpoint(folder, config, Progress(3, 9), {"plain": Counter()})
    gate = {"iteration": 3, "steps": 9, "deals": 2, "mean": 1.0, "low": 0.5, "high": 2.0}
    save_tiny_agent(folder / "exploit" / "agent-000003")
    report = {
        "format": "lupai-exploit/1", "target": "random", "role": "seat", "rules": "qingdao",
        "gates": [gate], "best": gate,
    }  # fmt: skip
    (folder / "exploit.json").write_text(json.dumps(report))
    found = []
    for _ in range(2):
        exploit = Exploit(config, folder, place)
        exploit.report = exploit.report.model_copy(update={"confirmed": None})
        assert "not confirmed yet" in summary(folder) or found
        exploit.finish(None, type("At", (), {"iteration": 3, "steps": 9}))
        found.append(json.loads((folder / "exploit.json").read_text()))
    assert [each["fresh"] for each in found] == [4, 8]
    assert found[0]["confirmed"]["mean"] != found[1]["confirmed"]["mean"]
    with pytest.raises(LupaiError, match="target is 'random' there and 'greedy' now"):
        Exploit(exploit_config(tmp_path, target="greedy"), folder, place)
    assert Exploit(exploit_config(tmp_path, target="greedy"), folder, None).report.gates == []
