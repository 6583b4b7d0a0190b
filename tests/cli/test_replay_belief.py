"""`lupai replay --belief`: what is shown at which step and to whom; diagrams."""

import re

import numpy as np
import pytest

from lupai.agents.belief import candidates, load_predictor
from lupai.envs.records import dump_record
from lupai.envs.replay import Replay
from lupai.train.cli.replay_belief import beliefs_of
from tests.belief.hands import decisions, records_of
from tests.cli.running import lupai as run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text("".join(dump_record(record) + "\n" for record in records_of("weihai")))
    return path


@pytest.mark.parametrize("observer", ["rebel", "emperor", "spectator"])
@pytest.mark.parametrize("rules", ["qingdao", "weihai"])
def test_what_is_said_is_what_the_benchmark_scores(rules, observer):
    found = decisions(rules)
    views = found.views(observer)
    chances = load_predictor("grounded").predict(views)
    for hand in np.unique(views.hand)[:3].tolist():
        rows = np.flatnonzero(views.hand == hand)
        seat = None if observer == "spectator" else int(views.seats[rows[0]])
        told = beliefs_of(Replay(found.records[hand]), ["grounded", "uniform"], seat)
        assert told.steps.tolist() == views.counts[rows].tolist()
        assert np.array_equal(told.chances["grounded"], chances[rows])
        assert told.label == found.label[found.hand == hand][0]
        assert ((told.chances["uniform"] > 0) == candidates(views.take(rows))).all()


def test_who_knows_is_told_nothing():
    found = decisions("qingdao")
    hand = int(found.hand[0])
    assert not len(beliefs_of(Replay(found.records[hand]), ["grounded"], int(found.label[0])).steps)


def test_lines_under_the_steps(file):
    done = run("replay", file, "--all", "--belief", "grounded,tactical")
    assert done.status == 0, done.err
    lines = re.findall(r"^guard, says (\w+): (.*)$", done.out, re.M)
    hidden = len(beliefs_of(Replay(records_of("weihai")[0]), ["grounded"], None).steps)
    assert len(lines) == 2 * hidden > 0
    assert {name for name, _ in lines} == {"grounded", "tactical"}
    assert max(map(len, done.out.splitlines())) <= 80
    assert "谁是保（grounded）" in run(
        "replay", file, "--all", "--belief", "grounded", "--lang", "zh"
    ).out  # fmt: skip


def test_the_plot_is_drawn_the_same_twice(file, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        done = run("replay", file, "--belief", "grounded,uniform", "--plot", tmp_path / name)
        assert (done.status, done.out, done.err) == (0, "", "")
    drawn = (tmp_path / "a.svg").read_text("utf-8")
    assert drawn.startswith("<svg")
    assert "grounded" in drawn
    assert drawn == (tmp_path / "b.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--plot x.svg", "name them with --belief"),
        ("--belief nobody --all", "no such predictor"),
        ("--belief grounded --html x.html", "not with --html"),
        ("--belief grounded --plot /no/such/folder/x.svg", "does not exist"),
        ("--belief= --all", "no such predictor"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(file, words, why):
    done = run("replay", file, *words.split(" "))
    assert done.status == 2
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert why in done.err


def test_score_draws_diagrams(tmp_path):
    pytest.importorskip("matplotlib")
    data = tmp_path / "data"
    run("belief", "make-data", "--rules", "weihai", "--players", "greedy", "--hands", "60",
        "--seed", "2", "-o", data)  # fmt: skip
    words = ("belief", "score", "grounded,uniform", "--data", data, "--plots", tmp_path / "plots")
    assert run(*words).status == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
    assert set(first) == {"reliability.svg", "survival.svg"}
    assert run(*words).status == 0
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
