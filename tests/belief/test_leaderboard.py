"""Leaderboards of beliefs: from real scores to tables, and what must not get into them."""

from __future__ import annotations

import copy
import hashlib
import json
import re

import pytest

from lupai.agents.belief import load_predictor
from lupai.agents.belief.files import write_folder
from lupai.agents.belief.known import known_predictor
from lupai.train.belief.data import open_data
from lupai.train.belief.leaderboard import boards_of, entries_of, markdown, tables, text_table
from lupai.train.belief.scoring import score_data
from lupai.train.leaderboards import BELIEF, keep, read_entries
from tests.belief.hands import some_bayes
from tests.cli.running import lupai as run

SIMPLE = ("uniform", "grounded", "tactical")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """What `score --json` writes of three hands of each of two samples."""
    out = tmp_path_factory.mktemp("scores") / "scores.json"
    done = run("belief", "score", ",".join(SIMPLE), "--data", "sample:qingdao,sample:weihai",
               "--limit", "3", "--json", out)  # fmt: skip
    assert (done.status, done.err) == (0, "")
    return out


@pytest.fixture
def results(file):
    """The same as objects, to be changed."""
    return json.loads(file.read_text("utf-8"))


@pytest.fixture
def add(tmp_path):
    """Adds results to a folder, and gives its boards."""
    numbers = iter(range(100))

    def adding(*results):
        path = tmp_path / f"{next(numbers)}.json"
        path.write_text(json.dumps(results), "utf-8")
        for entry in entries_of(path):
            keep(tmp_path / "board", entry)
        return boards_of(read_entries(tmp_path / "board")[BELIEF])

    return adding


def test_real_scores_go_there_and_back(file, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("leaderboard", "add", file)
    assert (done.status, done.err, done.out.count(": added as leaderboard")) == (0, "", 2)
    names = sorted((tmp_path / "leaderboard").iterdir())
    before = [path.read_bytes() for path in names]
    entry = json.loads(before[0])
    assert entry["result_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert len(before[0]) < 5000 < file.stat().st_size
    done = run("leaderboard", "add", file)
    assert (done.status, done.out.count(": was there before")) == (0, 2)
    assert [path.read_bytes() for path in sorted((tmp_path / "leaderboard").iterdir())] == before

    done = run("leaderboard", "show", "-o", "board.md")
    assert (done.status, done.err) == (0, "")
    shown = re.findall(r"^who is the guard, rules (\w+), .*$", done.out, re.M)
    assert shown == ["qingdao", "weihai"]
    page = (tmp_path / "board.md").read_text("utf-8")
    assert page.startswith("# Leaderboard\n\n## Who is the guard?\n")
    for result in results:
        assert f"{result['rules']}, tactical, split test, the first 3 hands, data " in done.out
        for row in result["results"]:
            cells = [f"{row['scores'][k]['value'] + 0.0:.3f}" for k in ("log_loss", "brier", "ece")]
            line = re.compile(rf" {row['predictor']} +{cells[0]} .*{cells[1]} +{cells[2]} .* %$")
            assert any(map(line.search, done.out.splitlines())), row["predictor"]
            size = f"{row['observer']}, {row['hands']:,} hands, {row['decisions']:,} decisions"
            assert f"\n{size}\n" in done.out
            assert f"\n{size.capitalize()}:\n" in page
    done = run("leaderboard", "show", "--rules", "weihai")
    assert re.findall(r"rules (\w+)", done.out) == ["weihai"]
    done = run("leaderboard", "show", "--rules", "shiwei")
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("no results of rules 'shiwei'; there are qingdao, weihai\n")


def test_the_lowest_log_loss_comes_first(add, results):
    ((board, lines),) = add(results[0]).items()
    found = tables(lines)
    assert [some[0].observer for some in found] == ["rebel", "emperor", "spectator"]
    for some in found:
        losses = {
            row["predictor"]: row["scores"]["log_loss"]["value"]
            for row in results[0]["results"] if row["observer"] == some[0].observer
        }  # fmt: skip
        assert sorted(line.predictor for line in some) == sorted(SIMPLE)
        assert [line.log_loss for line in some] == sorted(line.log_loss for line in some)
        for line in some:
            assert line.log_loss == pytest.approx(losses[line.predictor], abs=1e-6)
    text = text_table(board, lines)
    assert text.index("1  " + found[0][0].predictor) < text.index("2  " + found[0][1].predictor)


@pytest.mark.parametrize(
    "other",
    [
        {"data_sha256": "0" * 64}, {"split": "dev"}, {"split": "private"}, {"limit": None},
        {"limit": 4}, {"moments": 2}, {"rules": "qingdao;yield=false"},
    ],
    ids=str,
)  # fmt: skip
def test_what_was_asked_differently_is_not_compared(add, results, other):
    found = add(results[0], results[0] | other)
    assert len(found) == 2
    assert {len(some) for lines in found.values() for some in tables(lines)} == {3}
    headings = {board.heading for board in found}
    assert len(headings) == 2
    assert any("split private (held back" in heading for heading in headings) == (
        other == {"split": "private"}
    )


def test_other_decisions_of_an_observer_stand_in_a_table_of_their_own(add, results):
    other = copy.deepcopy(results[0])
    for row in other["results"]:
        row["decisions"] += 1
    (lines,) = add(results[0], other).values()
    assert [len(some) for some in tables(lines)] == [3] * 6


def test_the_same_figures_show_once_and_others_twice(add, results):
    again = copy.deepcopy(results[0]) | {"seed": 2}
    for row in again["results"]:
        row["scores"]["gain"]["low"] = -9.0  # other resamples
        row["scores"]["brier"]["value"] += 1e-13  # another machine
    (lines,) = add(results[0], again).values()
    assert [len(some) for some in tables(lines)] == [3, 3, 3]
    again["results"][0]["scores"]["log_loss"]["value"] += 0.001
    (lines,) = add(again).values()
    assert [len(some) for some in tables(lines)] == [4, 3, 3]


def test_predictors_are_known_by_weights_and_files(add, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    code = (
        "from lupai.agents.belief.simple import Uniform\nclass Mine(Uniform):\n    name = 'a|b'\n"
    )
    (tmp_path / "predictor_of_mine.py").write_text(code)
    digests = []
    for seed in (0, 1):
        folder = write_folder(tmp_path / f"bayes{seed}", *some_bayes("qingdao", seed).card({}))
        digests.append(json.loads((folder / "belief.json").read_text())["weights_sha256"])
    asked = [str(tmp_path / "bayes0"), str(tmp_path / "bayes1"), "predictor_of_mine:Mine",
             "lupai.agents.belief.example_predictor:Suspicious"]  # fmt: skip
    result = score_data(
        [(name, load_predictor(name, "qingdao")) for name in asked],
        open_data("sample:qingdao"), "test", limit=2, observers=["rebel"], resamples=20,
    )  # fmt: skip
    rows = result["results"]
    assert [row.get("weights_sha256") for row in rows] == [*digests, None, None]
    assert [row["predictor"] for row in rows] == asked
    module = hashlib.sha256(code.encode()).hexdigest()
    assert [row.get("module_sha256") for row in rows] == [None, None, module, None]
    found = add(result)
    (lines,) = found.values()
    names = {f"naive_bayes ({digest[:8]})" for digest in digests}
    assert {line.predictor for line in lines} == names | {f"a|b ({module[:8]})", "suspicious"}
    page = markdown(found)
    assert f"| a\\|b ({module[:8]}) |" in page
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in re.findall(r"^\|.*$", page, re.M)} == {10}


def test_a_limit_beyond_the_split_is_none():
    """`--limit 1000` of ten hands asks what no limit asks."""
    data, uniform = open_data("sample:qingdao"), [("u", load_predictor("uniform"))]
    there = data.hands("test")
    for limit, told in ((None, None), (there, None), (there + 1, None), (1, 1)):
        result = score_data(uniform, data, "test", limit=limit, moments=1, resamples=2)
        assert (result["limit"], result["moments"]) == (told, 1)


def test_trained_agents_of_a_population_are_told_apart_by_their_weights(monkeypatch):
    from lupai.agents.belief import known
    from lupai.agents.greedy import GreedyAgent

    def load(name, rules):
        agent = GreedyAgent()
        if name != "greedy":
            agent.card = type("Card", (), {"weights_sha256": name * 64})()
        return agent

    assert known_predictor("exact:agent=greedy+agent=tactical").weights_sha256 == ""
    monkeypatch.setattr(known, "load", load)
    assert known_predictor("particles:agent=a").weights_sha256 == "a" * 64
    both = {known_predictor(f"exact:agent=greedy+agent={x}").weights_sha256 for x in "ab"}
    assert len(both) == 2
    assert "" not in both


def test_matches_and_beliefs_share_a_folder(file, tmp_path, monkeypatch):
    """What is shown of matches is byte for byte what is shown of them alone."""
    monkeypatch.chdir(tmp_path)
    match = ("arena", "--players", "greedy", "--against", "random", "--format", "camp")
    assert run(*match, "--deals", "2", "-o", "r.json").status == 0
    assert run("leaderboard", "add", "r.json").status == 0
    alone = run("leaderboard", "show", "-o", "alone.md").out
    assert run("leaderboard", "add", "r.json", file).out.startswith("r.json: was there before\n")
    both = run("leaderboard", "show", "-o", "both.md")
    assert both.out.startswith(alone + "\nwho is the guard, rules qingdao, ")
    page = (tmp_path / "alone.md").read_text("utf-8")
    assert (tmp_path / "both.md").read_text("utf-8").startswith(page + "\n## Who is the guard?\n")
    some = run("leaderboard", "show", "--rules", "qingdao").out
    assert some.startswith(alone + "\nwho is the guard, rules qingdao, ")
    assert "weihai" not in some
    assert "rules qingdao: " not in run("leaderboard", "show", "--rules", "weihai").out


def with_score(value):
    return lambda result: result["results"][0]["scores"]["log_loss"].update(value=value)


WRONG = [
    (lambda result: result.update(format="lupai-belief-score/1"), "score again"),
    (lambda result: result.pop("format"), "score again"),
    (lambda result: result.pop("limit"), "KeyError: 'limit'"),
    (lambda result: result.update(results=[]), "no scores in it"),
    (lambda result: result.update(split="all"), "split is 'all'"),
    (lambda result: result.update(moments=True), "moments is True"),
    (lambda result: result.update(rules=["qingdao"]), "rules is ['qingdao']"),
    (lambda result: result["results"][0].update(observer="guard"), "observer is 'guard'"),
    (lambda result: result["results"][0].pop("name"), "KeyError: 'name'"),
    (lambda result: result["results"][0].update(hands=0), "hands is 0"),
    (with_score("low"), "log_loss is 'low'"),
    (with_score(None), "log_loss is None"),
    (with_score(float("nan")), "log_loss is nan"),
]


@pytest.mark.parametrize(("change", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_is_no_result_is_refused_and_nothing_is_kept(change, why, results, tmp_path):
    change(results[1])  # the first is whole
    path = tmp_path / "s.json"
    path.write_text(json.dumps(results))
    done = run("leaderboard", "add", path, "--folder", tmp_path / "board")
    refused(done, f"{path}: ", why, "`lupai belief score --json`")
    assert not (tmp_path / "board").exists()


def refused(done, *parts):
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    for part in parts:
        assert part in done.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"), ("[]", "an empty list"), ("[1]", "score again"), ("7", "its format is"),
        ('{"format": "lupai-run/1"}', "right would be a file of `lupai arena -o`"),
        ('{"format": ["lupai"]}', "right would be a file of `lupai arena -o`"),
    ],
)  # fmt: skip
def test_files_of_other_kinds_are_refused(text, why, file, tmp_path):
    path = tmp_path / "s.json"
    path.write_text(text)
    done = run("leaderboard", "add", file, path, "--folder", tmp_path / "board")
    refused(done, f"{path}: ", why)
    assert not (tmp_path / "board").exists()  # of the whole file beside it neither


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"log_loss": 1', '"log_loss": 0', "altered or damaged (its digest is another)"),
        ('"entry_sha256"', '"other"', "altered or damaged"),
        (BELIEF, "lupai-leaderboard/9", "no entry of format lupai-leaderboard/1 or "),
        ("{", "", "no JSON"),
    ],
)
def test_entries_that_were_altered_are_refused(old, new, why, file, tmp_path):
    board = tmp_path / "board"
    assert run("leaderboard", "add", file, "--folder", board).status == 0
    entry = min(board.iterdir())
    text = entry.read_text("utf-8")
    assert old in text
    entry.write_text(text.replace(old, new, 1), "utf-8")
    refused(run("leaderboard", "show", "--folder", board), f"{entry}: ", why)


def test_folders_without_results_are_refused(tmp_path):
    refused(run("leaderboard", "show", "--folder", tmp_path / "none"), "no such folder")
    refused(run("leaderboard", "show", "--folder", tmp_path), "no results")
    (tmp_path / "arena.json").write_text('{"format": "lupai-leaderboard/1", "rules": "qingdao"}')
    refused(run("leaderboard", "show", "--folder", tmp_path), "arena.json: altered or damaged")
