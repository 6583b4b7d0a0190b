"""What people read: report pages and the leaderboard."""

import copy
import json
import re
import sys
import xml.etree.ElementTree as ET

import pytest

from lupai.train.arena.leaderboard import add_result, boards, markdown, standings, text_table
from lupai.train.arena.plans import ArenaError
from lupai.train.arena.report import NO_PLOTS, html_report, markdown_report, write_report
from lupai.train.arena.results import read_result, to_json, write_json
from lupai.train.arena.run import run_arena
from lupai.train.arena.terminal import table, timing_table, variance_table
from tests.arena.players import SMALL, Loser


@pytest.fixture(scope="module")
def everything():
    players = ["greedy", "random", Loser()]
    formats = ["round_robin", "mixed"]
    return run_arena(players, formats=formats, deals=3, seed=2, rules=SMALL)


@pytest.fixture(scope="module")
def single():
    return run_arena(["greedy", "random"], ["random"], deals=4, seed=2, rules=SMALL)


def test_texts_fit_a_terminal(everything, single):
    for outcome in (everything, single):
        for text in (
            table(outcome.result), variance_table(outcome.result), timing_table(outcome.timing)
        ):  # fmt: skip
            assert max(map(len, text.splitlines())) <= 80
    assert "α-rank: " in table(everything.result)
    assert "rating (camps as teams)" in table(everything.result)
    assert "p (Holm)" in table(single.result)


def test_markdown_holds_every_match(everything, single):
    for outcome in (everything, single):
        text = markdown_report(outcome.result, outcome.timing)
        for match in outcome.result["matches"]:
            assert f"{match['player']} – {match['opponent']}, {match['format']}" in text
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert len(rows) > 20
        assert "None" not in text
        assert "nan" not in text


def test_html_is_one_page_with_plots_and_loads_nothing(everything):
    pytest.importorskip("matplotlib")
    page = html_report(everything.result, everything.timing)
    plots = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(plots) == 6  # scores, two matrices, roles, seats, places
    for plot in plots:
        ET.fromstring(plot)
    assert not re.search(r'<(script|link|img)|src="|url\(http|href="http', page)
    assert page == html_report(copy.deepcopy(everything.result), everything.timing)


def test_without_matplotlib_there_are_tables_and_a_note(single, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "lupai.train.arena.plots", raising=False)
    import lupai.train.arena as package

    monkeypatch.delattr(package, "plots", raising=False)
    write_report(tmp_path / "r.html", single.result, single.timing)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<svg" not in page
    assert NO_PLOTS.replace('"', "&quot;") in page
    assert page.count("<table>") >= 5
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_names_of_agents_are_text_and_no_markup(tmp_path):
    rogue = Loser()
    rogue.name = "<b>$x|y"
    outcome = run_arena([rogue], ["greedy"], formats=["camp"], deals=1, rules=SMALL)
    assert "<b>$x" not in html_report(outcome.result)
    assert "<b>$x\\|y" in markdown_report(outcome.result)


# --- leaderboard ---------------------------------------------------------------------------------


def stored(tmp_path, outcome, name="r.json"):
    path = tmp_path / name
    write_json(path, outcome.result)
    return path


def test_results_are_kept_once_and_ranked(tmp_path, everything, single):
    board = tmp_path / "board"
    assert add_result(board, stored(tmp_path, everything)) is not None
    assert add_result(board, stored(tmp_path, single, "s.json")) is not None
    assert add_result(board, stored(tmp_path, single, "again.json")) is None
    found = boards(board)
    assert list(found) == [SMALL]
    lines = standings(found[SMALL])
    assert [s.agent for s in lines] == ["greedy", "random", "loser"]
    assert next(s.rating for s in lines if s.agent == "random") == 0
    assert lines[0].low < lines[0].rating < lines[0].high
    assert {s.agent: s.results for s in lines} == {"greedy": 2, "random": 2, "loser": 1}
    assert {s.agent: s.deals for s in lines}["loser"] == 6
    assert "| 1 | greedy | +" in markdown(found)
    assert max(map(len, text_table("qingdao", found[SMALL]).splitlines())) <= 80


def made(player, opponent, mean, half=0.5):
    match = {"format": "camp", "player": player, "opponent": opponent, "deals": 10, "hands": 20}
    match |= {"mean": mean, "low": mean - half, "high": mean + half}
    return {"matches": [match]}


def test_ratings_are_joined_through_common_opponents():
    lines = {s.agent: s for s in standings(
        [made("a", "random", 4.0), made("b", "a", 1.5), made("x", "y", 3.0)]
    )}  # fmt: skip
    assert lines["a"].rating == pytest.approx(4)
    assert lines["b"].rating == pytest.approx(5.5)
    assert lines["b"].high - lines["b"].low == pytest.approx(2 * 0.5 * 2**0.5)
    assert lines["x"].rating is None
    exact, vague = made("a", "random", 4.0, 0.1), made("a", "random", 8.0, 1.0)
    (a,) = (s for s in standings([exact, vague]) if s.agent == "a")
    assert 4 < a.rating < 4.1


def test_runs_of_one_name_are_told_apart(tmp_path, single):
    result = copy.deepcopy(single.result)
    for i, digest in ((0, "a" * 64), (1, "b" * 64)):
        result["agents"][i] |= {"name": "quick", "checkpoint": {"weights_sha256": digest}}
    path = tmp_path / "r.json"
    path.write_text(to_json(result))
    add_result(tmp_path / "board", path)
    agents = {s.agent for s in standings(boards(tmp_path / "board")[SMALL])}
    assert agents == {"quick (aaaaaaaa)", "quick (bbbbbbbb)", "random"}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "no JSON"),
        ('{"format": "lupai-evaluation/1"}', "'lupai-evaluation/1', not 'lupai-evaluation/2'"),
        ("[]", "format is None"),
        ('{"format": "lupai-evaluation/2"}', r"not a whole result \(KeyError: 'players'\)"),
    ],
)
def test_what_is_no_result(text, part, tmp_path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ArenaError, match=part):
        add_result(tmp_path / "board", tmp_path / "r.json")
    assert not (tmp_path / "board").exists()


def test_a_result_without_two_agents_is_refused(tmp_path):
    alone = run_arena(["greedy"], ["greedy"], formats=["camp"], deals=1, rules=SMALL)
    with pytest.raises(ArenaError, match="nothing to compare"):
        add_result(tmp_path / "board", stored(tmp_path, alone))
    with pytest.raises(ArenaError, match="no such folder"):
        boards(tmp_path / "board")


def test_a_result_reads_back(tmp_path, single):
    assert read_result(stored(tmp_path, single)) == json.loads(to_json(single.result))
