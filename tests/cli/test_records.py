"""`lupai record`: the same bytes from the same command, and every seed deals its hand again."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from lupai.agents.random_agent import RandomAgent
from lupai.envs import baohuang_v0
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.log import Log
from lupai.envs.records import dump_record
from lupai.train.cli import records
from tests.cli.running import COMMAND, HAND_CASES, lupai, process

MIXED = ("greedy", "random", "random", "greedy", "random")


def played(hands, seed, players=MIXED, **options):
    return list(records.play_hands(Engine("qingdao"), players, hands, seed, **options))


@pytest.fixture(scope="module")
def some():
    """Some hands."""
    return played(8, 7)


@pytest.mark.smoke
def test_record_then_verify(tmp_path):
    path = tmp_path / "hands.jsonl"
    words = "record --game baohuang --rules qingdao --players random,greedy,random,greedy,random"
    done = lupai(*words.split(), "--hands", "5", "--seed", "7", "-o", path)
    assert (done.status, done.out, done.err) == (0, "", "")
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line)["players"][1] for line in lines] == ["greedy"] * 5
    assert os.listdir(tmp_path) == ["hands.jsonl"]
    done = lupai("verify", path)
    assert (done.status, done.out, done.err) == (0, "5 hands, 0 faults\n", "")


@pytest.mark.parametrize("rules", ["shiwei", "weihai", "qingdao;guard_by=marked_small_joker"])
def test_record_then_verify_under_all_presets(rules):
    words = ("record", "--rules", rules, "--players", ",".join(MIXED), "--hands", "12")
    done = lupai(*words, "--seed", "3", "-o", "-")
    assert (done.status, done.err) == (0, "")
    for line in done.out.splitlines():
        record = json.loads(line)
        env = baohuang_v0.raw_env(record["rules"])
        env.reset(seed=record["seed"])
        assert env.record()["hands"] == record["hands"] or record["redeals"]
    assert lupai("verify", "-", stdin=done.out.encode()).out == "12 hands, 0 faults\n"
    assert lupai(*words, "--seed", "3", "-o", "-").out == done.out


@pytest.mark.smoke
def test_hash_seeds_do_not_matter():
    words = ("record", "--players", ",".join(MIXED), "--hands", "4", "--seed", "0", "-o", "-")
    outs = [process(*words, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")]
    assert outs[0] == outs[1]
    assert outs[0].count(b"\n") == 4


def test_number_of_tables_at_once_does_not_matter(some):
    assert played(3, 7, tables=1) == some[:3]
    assert played(8, 7, tables=5) == some[:8]


def test_first_hands_of_many_are_the_few(some):
    assert played(5, 7) == some[:5]


def test_other_seeds_and_players_give_other_hands(some):
    assert played(1, 8)[0]["hands"] != some[0]["hands"]
    other = played(1, 7, ("random",) * 5)[0]
    assert other["hands"] == some[0]["hands"]
    assert other["moves"] != some[0]["moves"]


def test_seats_of_one_agent_draw_apart():
    """Five random seats must not all take the same place of their lists."""
    moves = [r["moves"] for r in played(300, 3, ("random",) * 5)]
    grabs = [next((m for m in hand[:5] if m.endswith("grab")), None) for hand in moves]
    firsts = sum(g is not None and g == hand[0] for g, hand in zip(grabs, moves, strict=True))
    never = sum(g is None for g in grabs)
    assert 120 < firsts < 180  # half of the first asked grab
    assert 2 <= never < 30  # one in 32 hands has five declines


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_seed_of_a_record_deals_this_very_hand(seed):
    env = baohuang_v0.raw_env()
    for record in played(6, seed):
        env.reset(seed=record["seed"])
        start = env.record()
        assert (start["hands"], start["start"]) == (record["hands"], record["start"]) or record[
            "redeals"
        ]
        assert start["seed"] == record["seed"]


def test_hands_are_the_episodes_of_the_seed(some):
    env = baohuang_v0.raw_env()
    env.reset(seed=7)
    for record in some:
        assert env.record()["hands"] == record["hands"] or record["redeals"]
        env.reset()


class Bold:
    """Random, but it never grabs, so that calls, secret solos and identity cards come up."""

    name = "bold"

    def __init__(self):
        self.random = RandomAgent(1)

    def reset(self, seed=None):
        self.random.reset(seed)

    def act(self, view):
        raise NotImplementedError

    def act_batch(self, views):
        ids = self.random.act_batch(views)
        return np.where(ids == VERB_ID["grab"], VERB_ID["decline"], ids)


def test_env_writes_the_same_record(some, monkeypatch):
    """The log of many tables and the record of the env are written by different code."""
    monkeypatch.setattr(records, "load", lambda *_: Bold())
    deck = ["R*", *["R"] * 3, *[f"{r}{s}" for r in "3579JKA2" for s in "sd" for _ in range(4)]]
    small = Engine({"preset": "qingdao", "deck": deck})
    hands = list(records.play_hands(small, ("bold",) * 5, 150, 1))
    seen = set()
    for number, record in enumerate([*some[:3], *hands]):
        said = " ".join(record["moves"])
        rare = {w for w in ("*", "secret", "open", "claim", "declare", "cede") if w in said}
        if number > 12 and rare <= seen:
            continue
        seen |= rare
        env = baohuang_v0.raw_env(record["rules"])
        if record["redeals"]:
            env.reset(options={"hands": record["hands"], "start": record["start"]})
            record |= {"seed": None, "redeals": 0}
        else:
            env.reset(seed=record["seed"])
        for move in record["moves"]:
            action, _ = env.engine.read_move(env._state, 0, move.partition(" ")[2])
            env.step(action)
        assert env.record(record["players"]) == record
    assert len(seen) == 6


def test_any_number_of_processes_writes_the_same_bytes(monkeypatch):
    monkeypatch.setattr(records, "TABLES", 5)
    words = ("record", "--players", ",".join(MIXED), "--hands", "23", "--seed", "7", "-o", "-")
    outs = {lupai(*words, "--jobs", jobs).out for jobs in "123"}
    assert len(outs) == 1
    assert outs.pop().splitlines() == [dump_record(record) for record in played(23, 7, tables=23)]


def test_agents_that_draw_in_the_order_of_play_stay_in_one_process(monkeypatch):
    monkeypatch.setattr(records, "load", lambda *_: Bold())
    monkeypatch.setattr(records, "TABLES", 2)
    words = ("record", "--players", "bold", "--hands", "5", "-o", "-")
    one, two = lupai(*words), lupai(*words, "--jobs", "2")
    assert two.out == one.out
    assert two.err == "lupai: note: agent 'bold' draws in the order of play: one process\n"


@pytest.mark.parametrize(
    ("jobs", "says"), [("0", "must be at least 1"), ("257", "at most 256 processes, not 257")]
)
@pytest.mark.parametrize("command", [("record", "-o", "-"), ("verify", "-")])
def test_numbers_of_processes(command, jobs, says):
    done = lupai(*command, "--jobs", jobs)
    assert (done.status, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize("rules", ["shiwei;grab=false", "weihai;open_solo=false"])
def test_env_writes_the_same_record_under_other_presets(rules):
    env = baohuang_v0.raw_env(rules)
    seen = set()
    for record in records.play_hands(Engine(rules), MIXED, 12, 4):
        env.reset(seed=record["seed"])
        while (redeals := env.record()["redeals"]) < record["redeals"]:
            while env.record()["redeals"] == redeals:
                env.step(env.action_of("cede"))
        for move in record["moves"]:
            env.step(env.engine.read_move(env._state, 0, move.partition(" ")[2])[0])
            seen.add("*" in move)
        assert env.record(record["players"]) == record
    assert seen == {True, False}


def test_redeals_are_written_and_verified():
    """A deck with hardly a triple is often void; the record holds the moves since the last deal."""
    deck = ["R*", *(f"{r}{s}" for r in "3456789TJQKA2" for s in "sh"), *["9c"] * 4]
    engine = Engine({"preset": "qingdao", "deck": deck})
    hands = list(records.play_hands(engine, ("greedy",) * 5, 40, 5))
    assert max(record["redeals"] for record in hands) > 0
    text = "".join(dump_record(record) + "\n" for record in hands)
    done = lupai("verify", "-", stdin=text.encode())
    assert done.out == "40 hands, 0 faults\n"


def test_standard_output_and_file_get_the_same_bytes(tmp_path):
    words = ("record", "--hands", "2", "--seed", "5", "-o")
    lupai(*words, tmp_path / "file")
    assert lupai(*words, "-").out.encode() == (tmp_path / "file").read_bytes()


def test_old_file_stays_when_recording_fails(tmp_path, monkeypatch):
    path = tmp_path / "hands.jsonl"
    path.write_text("old")

    def fail(self, numbers):
        if numbers.start:
            raise KeyboardInterrupt
        return b"{}\n"

    monkeypatch.setattr(records.Recorder, "lines", fail)
    done = lupai("record", "--hands", "1000", "-o", path)
    assert (done.status, done.err) == (130, "lupai: error: interrupted\n")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["hands.jsonl"]


def test_link_stays_a_link_and_mode_stays(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert lupai("record", "-o", link).status == 0
    assert link.is_symlink()
    assert target.read_text().startswith('{"format"')
    assert target.stat().st_mode & 0o777 == 0o640


def group(number):
    """Processes of a group that still run."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True)
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    return [row for row in rows if int(row[0]) == number and not row[1].startswith("Z")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_leaves_nothing(tmp_path, jobs):
    """From the terminal to the whole group, when the first hands are in the temporary file."""
    words = ("--hands", "1000000", "--jobs", str(jobs), "-o", str(tmp_path / "x"), "--progress")
    running = subprocess.Popen(
        [*COMMAND, "record", *words], stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (names := os.listdir(tmp_path)) or not (tmp_path / names[0]).stat().st_size:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    while left := group(running.pid):
        assert time.monotonic() < deadline + 30, left
        time.sleep(0.05)
    assert b"Traceback" not in errors
    assert errors.endswith(b"lupai: error: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_reader_that_goes_away_is_no_error():
    command = [*COMMAND, "record", "--hands", "100000", "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 141


def test_history_of_the_log_keeps_a_secret_call_secret():
    line = next(t for t in HAND_CASES.read_text("utf-8").splitlines() if '"solo": "secret"' in t)
    record, engine = json.loads(line), Engine("qingdao")
    state = engine.reset_hands(record["hands"], record["start"])
    log = Log(engine, state)
    for move in record["moves"][:60]:
        action, _ = engine.read_move(state, 0, move.partition(" ")[2])
        log.step(np.array([action]), np.array([0]))
    (said,) = [move for move in log.moves[0] if move.endswith(" secret")]
    assert said in record["moves"]
    assert log.history[0] == [m if m != said else m.removesuffix(" secret") for m in log.moves[0]]
