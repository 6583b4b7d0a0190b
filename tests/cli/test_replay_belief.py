"""`lupai replay --belief`: what is shown at which step and to whom; diagrams."""

import re

import numpy as np
import pytest

from lupai.agents.belief import candidates, load_predictor
from lupai.agents.belief.base import ALONE
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.records import dump_record
from lupai.envs.replay import Replay
from lupai.train.cli.replay_belief import beliefs_of, load_all
from lupai.train.cli.replay_page import make_page
from lupai.train.cli.words import Words
from tests.belief.hands import decisions, records_of
from tests.cli.running import lupai as run
from tests.cli.test_replay_page import page_data


def ask(record, names, seat):
    """Beliefs about a hand, by names of predictors."""
    replay = Replay(record)
    return beliefs_of(replay, load_all(names, str(replay.engine.rules)), seat)


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
        told = ask(found.records[hand], ["grounded", "uniform"], seat)
        assert told.steps.tolist() == views.counts[rows].tolist()
        assert np.array_equal(told.chances["grounded"], chances[rows])
        assert told.label == found.label[found.hand == hand][0]
        assert ((told.chances["uniform"] > 0) == candidates(views.take(rows))).all()


def test_who_knows_is_told_nothing():
    found = decisions("qingdao")
    hand = int(found.hand[0])
    assert not len(ask(found.records[hand], ["grounded"], int(found.label[0])).steps)


def test_lines_under_the_steps(file):
    done = run("replay", file, "--all", "--belief", "grounded,tactical")
    assert done.status == 0, done.err
    lines = re.findall(r"^guard, says (\w+): (.*)$", done.out, re.M)
    hidden = len(ask(records_of("weihai")[0], ["grounded"], None).steps)
    assert len(lines) == 2 * hidden > 0
    assert {name for name, _ in lines} == {"grounded", "tactical"}
    assert max(map(len, done.out.splitlines())) <= 80
    assert "谁是保（grounded）" in run(
        "replay", file, "--all", "--belief", "grounded", "--lang", "zh"
    ).out  # fmt: skip


@pytest.mark.parametrize("rules", ["qingdao", "weihai"])
def test_the_page_has_bars_for_those_who_do_not_know(rules):
    found = decisions(rules)
    record, names = found.records[0], ["grounded", "uniform"]
    replay, predictors = Replay(record), load_all(names, str(found.engine.rules))
    seats = [None, *range(5)]
    told = {seat: beliefs_of(replay, predictors, seat) for seat in seats}
    data = page_data(make_page(replay, None, Words("en"), told))
    mine = found.hand == 0
    emperor, guard = int(found.state.emperor[mine][0]), int(found.label[mine][0])
    knows = emperor if guard == ALONE else guard
    for seat, view in zip(seats, data["views"], strict=True):
        assert view["says"] == names
        shown = [number for number, step in enumerate(view["steps"]) if step["beliefs"]]
        assert shown == ([] if seat == knows else found.state.moves[mine].tolist())
        for number in shown[:: max(1, len(shown) // 5)]:
            at = np.flatnonzero(told[seat].steps == number)[0]
            for name, row in zip(names, view["steps"][number]["beliefs"], strict=True):
                none = {c for c in range(6) if row[c] is None}
                assert none == ({emperor, seat} if seat != emperor else {emperor, ALONE}) - {None}
                for c in set(range(6)) - none:
                    assert row[c] == pytest.approx(told[seat].chances[name][at, c], abs=6e-4)


def test_the_page_of_a_seat_holds_its_own_beliefs_and_no_others():
    """What the other seats hold may be anything else that agrees: the page is the same."""
    found = decisions("qingdao")
    record = found.records[0]
    seat, guard = int(found.rebel[0]), int(found.label[0])
    predictors = load_all(["grounded", "uniform"], "qingdao")
    # two cards that nobody has seen by the middle of the hand change hands
    middle = Replay(record).steps[int(np.median(found.state.moves[found.hand == 0]))]
    left = middle.state.hands[0, :, :52].copy()
    left[:, int(middle.state.identity_kind[0])] = 0
    one, two = (s for s in range(5) if s not in (seat, guard, int(middle.state.emperor[0])))
    kinds = [int(np.flatnonzero(left[s] > left[t])[0]) for s, t in ((one, two), (two, one))]
    hands = [hand.split(" ") for hand in record["hands"]]
    for s, gives, takes in ((one, *kinds), (two, *kinds[::-1])):
        hands[s][hands[s].index(KIND_TEXTS[gives])] = KIND_TEXTS[takes]
    moves = record["moves"][: middle.number]
    cut = [record | {"seed": None, "moves": moves, "hands": each}
           for each in (record["hands"], [" ".join(hand) for hand in hands])]  # fmt: skip
    pages = []
    for each in cut:
        replay = Replay(each)
        assert len(replay) == middle.number + 1
        pages.append(
            make_page(replay, seat, Words("en"), {seat: beliefs_of(replay, predictors, seat)})
        )
    assert pages[0] == pages[1]
    data = page_data(pages[0])
    assert len(data["views"]) == 1
    assert any(step["beliefs"] for step in data["views"][0]["steps"])


def test_the_command_writes_bars(file, tmp_path):
    for seat in ((), ("--seat", "3")):
        done = run("replay", file, *seat, "--belief", "grounded,tactical", "--html", "-")
        assert (done.status, done.err) == (0, "")
        data = page_data(done.out)
        assert len(data["views"]) == (1 if seat else 6)
        assert all(view["says"] == ["grounded", "tactical"] for view in data["views"])
    plain = page_data(run("replay", file, "--html", "-").out)
    assert not any(step["beliefs"] for view in plain["views"] for step in view["steps"])


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
        ("--belief grounded --plot x.svg --html x.html", "one of them"),
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
