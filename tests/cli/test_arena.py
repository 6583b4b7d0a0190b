"""`lupai arena`, `lupai deals`, `lupai leaderboard`: what reaches them and what they leave."""

import json
import signal
import subprocess
import time

import pytest

from tests.arena.players import SMALL
from tests.cli.running import COMMAND
from tests.cli.running import lupai as run

MATCH = ("arena", "--players", "greedy", "--against", "random", "--rules", SMALL, "--deals", "4")


@pytest.mark.smoke
def test_arena_leaves_result_times_report_and_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*MATCH, "-o", "r.json", "--report", "r.md", "--records", "r.jsonl", "--variance")
    assert (done.status, done.err) == (0, "")
    names = ["r.json", "r.jsonl", "r.md", "r.timing.json"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    result = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert [m["format"] for m in result["matches"]] == [
        "seat", "emperor_camp", "rebel_camp", "camp",
    ]  # fmt: skip
    assert "factor: times as many hands" in done.out
    assert run("verify", "r.jsonl").out == f"{4 * 5 + 4 + 4} hands, 0 faults\n"
    times = json.loads((tmp_path / "r.timing.json").read_text("utf-8"))
    assert times["hands"] == 28
    first = (tmp_path / "r.json").read_bytes()
    assert run(*MATCH, "-o", "r.json", "--records", "other.jsonl").status == 0
    assert (tmp_path / "r.json").read_bytes() == first
    assert (tmp_path / "other.jsonl").read_bytes() == (tmp_path / "r.jsonl").read_bytes()


def test_evaluate_is_arena_in_short(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--rules", SMALL, "--seed", "5")
    short = run("evaluate", "greedy", "--format", "camp", "--hands", "4", *words, "-o", "-")
    whole = ("--players", "greedy", "--against", "random", "--format", "camp", "--deals", "4")
    long = run("arena", *whole, "--strict", *words, "-o", "-")
    assert short.status == long.status == 0
    assert short.out == long.out
    assert short.err == long.err


def test_a_user_agent_is_named_by_its_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code = (
        "from lupai.agents.greedy import GreedyAgent\n"
        "class Mine(GreedyAgent):\n    name = 'mine'\n"
        "class Wrong(Mine):\n    act_batch = act_lanes = None\n"
        "    def act(self, view): return 'fly'\n"
        "def make(): return Mine()\nready = Mine()\nclass No: pass\n"
    )
    (tmp_path / "agent_of_mine.py").write_text(code)
    for name in ("Mine", "make", "ready"):
        done = run("arena", "--players", f"agent_of_mine:{name}", *MATCH[3:], "-o", "-")
        assert done.status == 0, done.err
        about = json.loads(done.out)["agents"][0]
        assert about["name"] == "mine"
        assert len(about["module_sha256"]) == 64
    match = ("--against", "random", "--rules", SMALL, "--deals", "1", "--format", "camp")
    done = run("arena", "--players", "agent_of_mine:Wrong", *match)
    assert done.status == 0
    assert "faults in" in done.out
    assert "'fly'" in done.out
    done = run("arena", "--players", "agent_of_mine:Wrong", *match, "--strict")
    assert done.status == 2
    assert "agent 'mine', deal 0" in done.err
    for name, part in (
        ("No", "No makes no agent: it lacks name, reset, act"),
        ("Nobody", "has no 'Nobody'"),
    ):
        done = run("arena", "--players", f"agent_of_mine:{name}", *match)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert part in done.err


def test_packs_are_made_shown_and_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("deals", "make", "--rules", SMALL, "--deals", "3", "-o", "p.json").status == 0
    shown = run("deals", "show", "p.json").out
    assert "3 deals" in shown
    match = ("arena", "--players", "greedy", "--against", "random", "--format", "camp")
    done = run(*match, "--pack", "p.json", "-o", "-")
    result = json.loads(done.out)
    assert result["rules"] == SMALL  # those of the pack
    assert result["pack"]["sha256"] in shown
    done = run(*match, "--pack", "p.json", "--rules", "weihai")
    assert "not of 'weihai'" in done.err
    (tmp_path / "p.json").write_text((tmp_path / "p.json").read_text().replace(": 3", ": 4"))
    done = run(*match, "--pack", "p.json")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "altered or damaged" in done.err
    only = ("deals", "make", "--only", "secret_guard", "--deals", "2", "--seed", "1", "-o")
    assert run(*only, "g.json").status == run(*only, "h.json").status == 0
    assert (tmp_path / "g.json").read_bytes() == (tmp_path / "h.json").read_bytes()
    assert "only secret_guard" in run("deals", "show", "g.json").out
    assert run("deals", "show", "test", "--rules", "shiwei").out.startswith("test: 10,000 deals")


def test_the_leaderboard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*MATCH, "-o", "r.json").status == 0
    assert "added as leaderboard" in run("leaderboard", "add", "r.json").out
    assert "was there before" in run("leaderboard", "add", "r.json").out
    done = run("leaderboard", "show", "-o", "board.md")
    assert done.status == 0
    assert "greedy" in done.out.splitlines()[2]
    assert "# Leaderboard" in (tmp_path / "board.md").read_text("utf-8")
    assert "there are" in run("leaderboard", "show", "--rules", "weihai").err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path):
    """A stopped command tells where its parts are, and the same one ends as if never stopped."""
    match = "arena --players random --against random --format seat --deals 40 --deals-per-part 2"
    words = [*match.split(), "--rules", SMALL, "-o", "r.json"]
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    folder, limit = tmp_path / "r.json.partial", time.monotonic() + 100
    while time.monotonic() < limit and len(list(folder.glob("*.npz"))) < 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 130, err
    assert "the same command goes on from it" in err
    assert not (tmp_path / "r.json").exists()
    assert len(list(folder.glob("*.npz"))) >= 3
    for where in (tmp_path, tmp_path / "other"):
        where.mkdir(exist_ok=True)
        done = subprocess.run([*COMMAND, *words], cwd=where, capture_output=True, timeout=250)
        assert done.returncode == 0, done.stderr
    one, two = (p / "r.json" for p in (tmp_path, tmp_path / "other"))
    assert one.read_bytes() == two.read_bytes()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("arena", "--players"),
        ("arena --players random", "at least two players"),
        ("arena --players random --against random --format seat,mixed", "at least two players"),
        ("arena --players nobody --against random", "no such agent"),
        ("arena --players random --against random --jobs 0", "at least 1"),
        ("arena --players random --against random --jobs 999 --deals 400", "jobs"),
        ("arena --players random --against random --pack nothing", "dev, test"),
        ("arena --players random --against random --report r.pdf", ".html or .md"),
        ("arena --players random --against random -o nowhere/r.json", "does not exist"),
        ("arena --players random --against random --time-limit 0", "no time in seconds"),
        ("arena --players random --against random -o - --records -", "both"),
        ("arena --players :x --against random", "module:Class"),
        ("deals make --deals 5 --only nothing -o -", "secret_guard, solo, grab"),
        ("deals make --deals 0 -o -", "at least 1"),
        ("deals show nothing", "no such file"),
        ("deals", "COMMAND"),
        ("leaderboard add nothing.json", "nothing.json"),
        ("leaderboard show --folder nowhere", "no such folder"),
    ],
)
def test_mistakes_are_told_in_one_line(words, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words.split())
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert part in done.err
    assert not list(tmp_path.iterdir())
