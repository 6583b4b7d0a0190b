"""`lupai bench`: every case is measured, fairly, and what is printed is what is written."""

import importlib.util
import itertools
import json
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.game import GAMES, make_game
from lupai.train.bench import agents, cases, growth, loops, peers, report
from lupai.train.bench.cases import Case, Settings
from lupai.train.bench.peers import Peer
from tests.cli.running import PRESETS, lupai

ROOT = Path(__file__).resolve().parents[2]
needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


@pytest.mark.smoke
@pytest.mark.parametrize("rules", PRESETS)
def test_bench(tmp_path, monkeypatch, rules):
    monkeypatch.setattr(loops, "STAGGER", 40)
    path = tmp_path / "bench.json"
    words = ("--rules", rules, "--repeats", "2", "--seconds", "0.001", "--json", path)
    done = lupai("bench", *words)
    assert (done.status, done.err) == (0, "")
    data = json.loads(path.read_text("utf-8"))
    names = [result["case"] for result in data["results"]]
    assert names[0] == "AEC env() loop"
    assert [name for name in names if "+" not in name][1:] == [
        "engine B=1", "engine B=64", "engine B=1024",
    ]  # fmt: skip
    assert {name.partition(" + ")[2] for name in names} == {"", "observation", "mask"}
    assert all(len(r["steps_per_second"]) == 2 for r in data["results"])
    assert all(rate > 0 for r in data["results"] for rate in r["steps_per_second"])
    guesses = {result["case"]: result["views_per_second"] for result in data["guesses"]}
    told = ["32 worlds", "guard chances"]
    told += [f"{name}, forced call" for name in told] * (rules != "weihai")
    assert list(guesses) == told
    assert all(len(rates) == 2 and min(rates) > 0 for rates in guesses.values())
    assert all(name in done.out for name in guesses)
    assert all(name in done.out for name in names)
    assert {"processor", "cores", "python", "numpy", "lupai", "date"} <= set(data["machine"])
    assert data["machine"]["processor"] in done.out
    assert data["rules"] == rules
    assert f"rules: {rules}\n" in done.out


@pytest.mark.smoke
def test_how_long_an_agent_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "STAGGER", 40)
    monkeypatch.setattr(agents, "SINGLE", 6)
    path = tmp_path / "bench.json"
    words = ("--repeats", "2", "--seconds", "0.001", "--tables", "8", "--rules", "weihai")
    done = lupai("bench", "--agent", "greedy", *words, "--json", path)
    assert (done.status, done.err) == (0, "")
    single, batch = json.loads(path.read_text("utf-8"))["rows"]
    assert (single["unit"], batch["unit"]) == ("ms", "decisions/s")
    assert (single["target"], single["verdict"]) == (agents.GOAL, "met")
    assert min(single["values"] + batch["values"] + [single["slowest"]]) > 0
    assert len(single["values"]) == len(batch["values"]) == 2
    for text in ("one decision, numpy", "8 tables at once, numpy", "rules: weihai", "<= 5  met"):
        assert text in done.out
    assert lupai("bench", "--agent", "nobody").status == 2


# --- beside peers: two fakes that say when they were called --------------------------------------


class Script:
    """Loops that return given numbers, and the order in which they were asked."""

    def __init__(self):
        self.calls = []

    def loop(self, name, *numbers):
        left = itertools.chain([1.0], itertools.cycle(numbers))  # the first one is the warm-up

        def measure(limit):
            self.calls.append((name, limit))
            return next(left)

        return measure


def fake(name, module="json", make=None, package="numpy"):
    return Peer(name, package, module, make or (lambda: lambda _: 1.0))


@pytest.fixture
def rows(monkeypatch):
    """Set the cases of the command."""
    return lambda *found: monkeypatch.setattr(cases, "CASES", list(found))


def settings(tables=4):
    return Settings(load_rules("qingdao"), tables)


def test_ours_and_the_peer_are_timed_in_turn():
    script = Script()
    peer = fake("peer", make=lambda: script.loop("peer", 10, 100, 20))
    case = Case("ours", "steps/s", lambda _: script.loop("ours", 20, 100, 80), peer, 2.0)
    row = cases.measure(case, settings(), repeats=3, seconds=0.5)
    warm, timed = script.calls[:2], script.calls[2:]
    assert warm == [("ours", cases.WARM_UP), ("peer", cases.WARM_UP)]
    assert timed == 3 * [("ours", 0.5), ("peer", 0.5)]
    assert (row["ours"], row["peer"]) == ([20, 100, 80], [10, 100, 20])
    assert row["ratio"] == [2, 1, 4]  # of neighbours, not of the medians: 80 / 20 would be 4
    assert row["verdict"] == "met"  # the median, 2
    assert report.cells(row) == (
        "ours", "peer", "steps/s", "80.0 (20.0-100)", "20.0 (10.0-100)", "2.00 (1.00-4.00)",
        ">= 2", "met",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "target", "at_most", "verdict"),
    [(2, 2, False, "met"), (1.99, 2, False, "missed"), (2, 2, True, "met"),
     (2.01, 2, True, "missed"), (0, None, False, "-")],
)  # fmt: skip
def test_verdicts(value, target, at_most, verdict):
    """With a peer of the ratio, without of our own number."""
    for peer in (None, fake("peer")):
        case = Case("", "", lambda _: lambda _: value, peer, target, at_most)
        row = cases.measure(case, settings(), repeats=2, seconds=0.001)
        assert row["verdict"] == verdict
        assert row["ratio"] == ([] if peer is None else [value, value])


def broken():
    raise ValueError("two\nlines")


def needy():
    import no_such_thing  # noqa: F401


def test_a_missing_or_broken_peer_costs_its_own_row_only(rows, tmp_path):
    rows(
        Case("first", "a/s", lambda _: lambda _: 3.0, fake("Gone", "no_such_suite"), 1),
        Case("second", "b/s", lambda _: lambda _: 3.0, fake("Needy", make=needy), 1),
        Case("third", "c/s", lambda _: lambda _: 3.0, fake("Broken", make=broken), 1),
        Case("fourth", "d/s", lambda _: lambda _: 3.0, fake("There"), 2),
        Case("fifth", "bytes", lambda _: lambda _: 5000.0, None, 4096, at_most=True),
    )
    path = tmp_path / "peers.json"
    words = ("--peers", "--repeats", "3", "--seconds", "0.001", "--json", path)
    done = lupai("bench", *words, "--tables", "16")
    assert (done.status, done.err) == (0, "")
    table = done.out[done.out.index("ours  ") :]
    lines = [re.split(r"  +", line.strip()) for line in table.splitlines()]
    install = 'not installed: pip install "lupai[bench]"'
    assert lines == [
        ["ours", "peer", "unit", "ours, median (low-high)", "peer", "ours / peer", "target",
         "verdict"],
        ["first", "Gone", "a/s", "3.00", ">= 1", "not installed"], [install],
        ["second", "Needy", "b/s", "3.00", ">= 1", "not installed"],
        [f"{install} (no_such_thing is missing)"],
        ["third", "Broken", "c/s", "3.00", ">= 1", "failed"],
        ["failed: ValueError: two lines"],
        ["fourth", "There", "d/s", "3.00", "1.00", "3.00", ">= 2", "met"],
        ["fifth", "bytes", "5,000", "<= 4,096", "missed"],
        [""], ["1 targets met, 2 missed"],
    ]  # fmt: skip
    data = json.loads(path.read_text("utf-8"))
    assert (data["rules"], data["tables"], data["repeats"]) == ("qingdao", 16, 3)
    assert [row["verdict"] for row in data["rows"]] == [
        "not installed", "not installed", "failed", "met", "missed",
    ]  # fmt: skip
    there = data["rows"][3]
    assert there | {"peer_version": np.__version__, "ratio": [3, 3, 3]} == there
    assert data["rows"][0]["ours"] == [3, 3, 3]
    assert data["rows"][0]["peer"] == []
    page = report.peers_markdown(data)
    assert page.count("\n") == 1 + len(data["rows"])
    assert "| fifth |  | bytes | 5,000 |  |  | ≤ 4,096 | missed |" in page
    assert f"numpy {np.__version__}" in report.machine_sentence(data)
    assert lupai("bench", *words, "--strict").status == 1


def test_strict_is_content_with_what_is_met_or_not_installed(rows):
    rows(
        Case("a", "a/s", lambda _: lambda _: 3.0, fake("Gone", "no_such_suite"), 9),
        Case("b", "b/s", lambda _: lambda _: 3.0, fake("There"), 3),
    )
    done = lupai("bench", "--peers", "--strict", "--repeats", "1", "--seconds", "0.001")
    assert (done.status, done.err) == (0, "")


def test_without_any_peer_it_says_so_before_it_measures(rows):
    def never(_):
        raise AssertionError

    rows(Case("a", "a/s", never, fake("Gone", "no_such_suite")), Case("b", "b/s", never))
    done = lupai("bench", "--peers")
    assert done.status == 2
    assert done.err == (
        'lupai: error: none of the peers is installed: pip install "lupai[bench]"\n'
    )


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system chooses the core")
def test_all_rows_run_on_one_core_and_leave_no_trace(rows):
    seen = []

    def look(_):
        seen.append((len(os.sched_getaffinity(0)), os.environ["OMP_NUM_THREADS"]))
        return lambda _: 1.0

    rows(Case("a", "a/s", look, fake("There", make=lambda: look(None))))
    before = os.sched_getaffinity(0), dict(os.environ)
    assert lupai("bench", "--peers", "--repeats", "1", "--seconds", "0.001").status == 0
    assert seen == [(1, "1"), (1, "1")]
    assert (os.sched_getaffinity(0), dict(os.environ)) == before


@pytest.mark.parametrize("rules", PRESETS)
def test_our_side_of_every_row(monkeypatch, rules):
    monkeypatch.setattr(peers, "PGX_BATCH", 3)
    monkeypatch.setattr(loops, "STAGGER", 40)
    shared = Settings(load_rules(rules), 4)
    for case in cases.CASES:
        assert case.ours(shared)(0.001) > 0, case.name
    assert {peer.name for case in cases.CASES if (peer := case.peer)} == {
        peer.name for peer in vars(peers).values() if isinstance(peer, Peer)
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "peer", [p for p in vars(peers).values() if isinstance(p, Peer)], ids=lambda p: p.name
)
def test_the_peer_s_side_of_every_row(peer):
    if not peer.present():
        pytest.skip(f"{peer.name} is not installed")
    assert peers.installed(peer.package)
    assert peer.make()(0.001) > 0


# --- loops ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [1, 5, 40])
def test_staggered_tables_stand_at_all_points_of_a_hand(monkeypatch, tables):
    monkeypatch.setattr(loops, "POOL", 16)
    state = loops.staggered(Engine("qingdao"), tables)
    assert len(state) == tables
    held = state.sizes.sum(axis=1)
    assert len(np.unique(held)) >= tables // 2
    if tables == 40:  # copies of a table go on from other moments
        assert held.min() < 60
        assert held.max() > 160
        assert not state.take(range(8)).equals(state.take(range(16, 24)))


def test_a_loop_goes_on_where_it_stopped():
    engine = Engine("weihai")
    play = loops.Tables(engine, engine.reset(range(4)))
    loop = play.loop("mask")
    for _ in range(3):
        before = play.decisions
        assert loop(1e-9) > 0
        assert play.decisions == before + 4
    while play.hands < 8:
        play.step("observation")
    assert not play.state.over.any()


def test_the_mask_in_slices_is_the_mask(monkeypatch):
    monkeypatch.setattr(loops, "mask_slice", lambda actions: 3)
    made = []
    engine = Engine("qingdao")
    play = loops.Tables(engine, engine.reset(range(7)))
    legal = engine.legal(play.state)
    whole = legal.dense()
    dense = type(legal).dense
    monkeypatch.setattr(type(legal), "dense", lambda self: made.append(dense(self)))
    play.step("mask")
    assert [len(part) for part in made] == [3, 3, 1]
    assert np.array_equal(np.concatenate(made), whole)


def test_the_vector_environment_begins_staggered_and_deals_its_own_hands_then():
    env = loops.vector(load_rules("qingdao"), 6)
    assert len(np.unique(env.state.sizes.sum(axis=1))) >= 3
    assert "reset" not in vars(env.engine)
    rng, ended = np.random.default_rng(0), 0
    while ended < 6:
        ids, offsets = env.legal_ids()
        ended += env.step(loops.pick(ids, offsets, rng))[2].sum()
    assert all(loop(1e-9) > 0 for loop in (loops.vector_loop(env, mask) for mask in (True, False)))


def test_the_aec_loop_counts_turns_through_the_end_of_a_hand():
    """Closing turns of one hand, then the next one, without a reset that is forgotten."""
    from lupai.envs import baohuang_v0

    env = baohuang_v0.env("weihai")
    turns, resets = loops._turns(env, np.random.default_rng(0)), []
    env.unwrapped.reset = lambda reset=env.unwrapped.reset, **given: (
        resets.append(given["seed"]), reset(**given),
    )  # fmt: skip
    while len(resets) < 3:
        next(turns)
    assert resets == [0, 1, 2]


def test_the_bytes_of_a_table_count_shared_memory_once():
    class Some:
        __slots__ = ("a", "b", "c", "name")

        def __len__(self):
            return 4

    some = Some()
    some.a = np.zeros((4, 8), np.int8)
    some.b, some.c, some.name = some.a[:, 2:], np.zeros(4, np.int64), "x"
    assert loops.bytes_per_table(some) == 8 + 8
    state = Engine("qingdao").reset(range(2))
    assert loops.bytes_per_table(state) > state.hands.nbytes / 2 + state.numbers.nbytes / 2


@pytest.mark.parametrize(("actions", "tables"), [(10_628, 4096), (82_046, 512), (1 << 30, 1)])
def test_a_slice_of_the_mask_takes_so_much_memory_whatever_the_game(actions, tables):
    assert loops.mask_slice(actions) == tables


# --- growth --------------------------------------------------------------------------------------


CARDS = {"weihai": 33, "shandong": 36}  # dealt to a seat


@pytest.fixture(scope="module", params=CARDS)
def grown(request, tmp_path_factory):
    """A tiny run of the command for each game."""
    folder = tmp_path_factory.mktemp("growth") / "new"
    words = ("--repeats", "2", "--seconds", "0.001", "--tables", "20", "-o", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "STAGGER", 240)
        patch.setattr(growth, "STAGGER", 240)
        done = lupai("bench", "--growth", "--rules", request.param, *words)
    assert (done.status, done.err) == (0, "")
    return done, folder, json.loads((folder / "growth.json").read_text("utf-8"))


def test_growth_measures_all_sizes_buckets_and_rules(grown):
    done, _, data = grown
    rules = data["rules"]
    assert data["most_tables"] == 20
    assert [row["tables"] for row in data["by_tables"]] == [1, 4, 16]
    game = "gouji" if rules == "shandong" else "baohuang"
    assert [row["rules"] for row in data["by_rules"]] == list(growth.rules_of(game))
    assert data["actions"] == make_game(game, rules).actions.size
    for row in data["by_tables"] + data["by_rules"]:
        for name in growth.NAMES.values():
            assert len(row[name]) == 2
            assert min(row[name]) > 0
    lows = [int(row["cards"].split("-")[0]) for row in data["by_cards"]]
    assert lows == sorted(set(lows))
    assert set(lows) <= set(range(1, CARDS[rules] + 1, 5))
    assert len(lows) >= 5
    for row in data["by_cards"]:
        assert row["tables"] == 20
        assert len(row["us"]) == 2
        assert row["legal_moves"] >= 1
    assert "by tables" in done.out.lower()
    assert growth.text(data) in done.out


def test_rules_of_growth_are_rules_that_differ():
    assert growth.rules_of("baohuang") == PRESETS
    for game in GAMES:
        found = growth.rules_of(game)
        assert found == tuple(str(make_game(game, rules).rules) for rules in found)
        assert len(set(found)) == len(found) >= 3


def test_the_page_says_how_large_a_whole_mask_would_be(grown):
    data = grown[2]
    assert "in slices" not in growth.text(data)
    data = data | {"by_tables": [row | {"tables": 65_536} for row in data["by_tables"]]}
    size = {"weihai": "697", "shandong": "5,380"}[data["rules"]]
    assert f"that of 65,536 tables would take {size} MB." in growth.text(data)


def test_growth_as_a_page(grown):
    _, folder, data = grown
    page = (folder / "growth.md").read_text("utf-8")
    assert growth.tables_markdown(data) in page
    assert (
        "| tables | legal ids, per s | µs | + observation, per s | µs | + mask, per s | µs |"
        in page
    )
    counts = [2 + len(data[part]) for part in ("by_tables", "by_cards", "by_rules")]
    tables = [found.count("\n") for found in re.findall(r"(?:^\|.*\n)+", page, re.M)]
    assert tables == counts
    assert not re.search(r"\bus\b|\d-\d+ \|", page)


def test_growth_says_when_it_cannot_draw(grown):
    done, folder, _ = grown
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert (folder / "growth.svg").exists() == drawn
    assert ("no plot: matplotlib is not installed" in done.out) != drawn
    assert {path.suffix for path in folder.iterdir()} == {".json", ".md"} | (
        {".svg"} if drawn else set()
    )


@needs_matplotlib
def test_the_picture_is_the_same_for_the_same_numbers(grown):
    _, folder, data = grown
    picture = growth.draw(data)
    assert picture == growth.draw(data) == (folder / "growth.svg").read_bytes()
    assert picture.startswith(b"<?xml")


def test_progress_ends_where_it_should(monkeypatch):
    monkeypatch.setattr(loops, "STAGGER", 40)
    monkeypatch.setattr(growth, "STAGGER", 40)
    ticks = []
    work = growth.Growth(Engine("qingdao"), most=4)
    work.run(2, 0.0001, lambda: ticks.append(1))
    assert len(ticks) == work.turns(2)


# --- words, numbers, files -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--strict", "--strict goes with --peers or --train or --agent only"),
        ("--growth --strict", "--strict goes with --peers or --train or --agent only"),
        ("-o x", "--output goes with --growth only"),
        ("--peers -o x", "--output goes with --growth only"),
        ("--tables 4", "--tables goes with --peers or --growth or --train or --agent only"),
        ("--train -o x", "--output goes with --growth only"),
        ("--train --peers", "not allowed with argument"),
        ("--peers --growth", "not allowed with argument"),
        ("--growth --tables 0", "must be at least 1"),
        ("--growth --tables 200000", "at most 131,072 tables"),
        (f"--growth -o {Path(__file__).as_posix()}", "File exists"),
    ],
)
def test_options_that_do_not_go_together(words, said):
    done = lupai("bench", *words.split(" "))
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_help_tells_the_defaults():
    done = lupai("bench", "--help")
    assert f"--peers ({cases.TABLES})" in " ".join(done.out.split())
    assert f"--growth ({growth.MOST})" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0.00"), (0.567, "0.57"), (9.994, "9.99"), (9.996, "10.0"), (99.96, "100"), (893.4, "893"),
     (999.6, "1,000"), (3337, "3,340"), (9996, "10k"), (236_400, "236k"), (999_600, "1M"),
     (1_154_000, "1.15M")],
)  # fmt: skip
def test_numbers_have_three_digits(value, told):
    assert report.number(value) == told


def test_what_the_extra_brings_is_pinned():
    if not (ROOT / "pyproject.toml").is_file() or not (ROOT / "constraints.txt").is_file():
        pytest.skip("needs a checkout")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    named = [re.match(r"[\w-]+", line)[0] for line in extras["optional-dependencies"]["bench"]]
    assert named
    assert set(named) <= set(pins)


def test_the_page_is_filled_from_the_files(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "tools")
    spec = importlib.util.spec_from_file_location(
        "make_performance", ROOT / "tools" / "make_performance.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = tmp_path / "performance.md"
    page.write_text("<!-- generated: performance_peers -->\n<!-- /generated -->\n", "utf-8")
    monkeypatch.setattr(tool, "PAGE", page)
    monkeypatch.setattr(tool, "draw", lambda: None)
    monkeypatch.setattr(tool.make_docs, "ROOT", tmp_path)
    (tmp_path / "docs" / "performance").mkdir(parents=True)
    source = ROOT / "docs" / "performance" / "peers.json"
    (tmp_path / "docs" / "performance" / "peers.json").write_bytes(source.read_bytes())
    assert tool.main(["--page"]) == 0
    assert "wrote performance.md" in capsys.readouterr().out
    assert "| no observation | OpenSpiel dou_dizhu |" in page.read_text("utf-8")
