"""Data sets: the same bytes on all numbers of processes, gone on with after a stop; export."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, load_predictor
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.records import verify_record
from lupai.train.belief.bayes import fit_naive_bayes
from lupai.train.belief.data import DataSet, make_data, open_data, sample_names
from lupai.train.belief.decisions import decisions_of
from lupai.train.belief.export import DECISIONS, HANDS, export
from lupai.train.belief.playing import Plan, Population
from lupai.train.belief.scoring import TRICKS, score_data
from lupai.train.belief.splits import SPLITS, deal_hash, split_of

SMALL = "weihai;deck=R* R B* B B 3s 3s 3s 3s 8h 8h 8h 8h;open_solo=false;declare=false"
PLAN = Plan(
    "weihai", ("greedy", "random", "random"), mix="seat", noise=0.1, calling="neutral",
    hands=30, seed=5,
    hands_of_part=8,
)  # fmt: skip


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("belief") / "data"
    told = []
    make_data(PLAN, folder, progress=told.append)
    assert sum(told) == PLAN.hands
    return folder


@pytest.fixture
def data(made, tmp_path):
    shutil.copytree(made, tmp_path / "data")
    return tmp_path / "data"


def test_every_hand_is_possible_and_in_its_split(made):
    found, data = Counter(), DataSet(made)
    index = [json.loads(line) for path in sorted((made / "index").iterdir())
             for line in path.read_text("utf-8").splitlines()]  # fmt: skip
    for split in SPLITS:
        records = [record for some in data.records(split, at_once=3) for record in some]
        entries = [entry for entry in index if entry["split"] == split]
        assert len(records) == data.hands(split) == len(entries)
        for record, entry in zip(records, entries, strict=True):
            assert verify_record(record) == []
            assert split_of(deal_hash(record)) == split
            assert entry["deal"] == deal_hash(record)
            assert (entry["roles"], entry["players"]) == (record["roles"], record["players"])
            assert entry["decisions"] > 0
            assert record["meta"]["belief"] == {"noise": 0.1, "calling": "neutral"}
            found.update(record["players"])
    assert found["random"] > found["greedy"] > 20
    assert sum(data.splits[s]["hands"] for s in SPLITS) == len(index) > 20


@pytest.mark.slow
def test_samples_are_what_their_plans_make(tmp_path):
    """They go with the agents of this version: where those play otherwise, make samples anew."""
    for name in sample_names():
        sample = open_data(name)
        again = make_data(sample.plan, tmp_path / name.removeprefix("sample:"))
        assert again.sha256 == sample.sha256, name


def test_a_data_set_is_opened_by_folder_or_by_name(made):
    assert open_data(str(made)).sha256 == DataSet(made).sha256
    with pytest.raises(BeliefError, match="no such sample; there are sample:qingdao, "):
        open_data("sample:nowhere")


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(made, tmp_path):
    make_data(PLAN, tmp_path / "two", jobs=2)
    assert content(tmp_path / "two") == content(made)


def test_what_was_stopped_goes_on(data, made):
    """Stopped within the second part, and before the end."""
    for name in ("data.json", "index/00001.jsonl", "hands/00001-dev.jsonl", "index/00003.jsonl"):
        (data / name).unlink()
    with pytest.raises(BeliefError, match="not finished"):
        DataSet(data)
    (data / "hands" / "00003-dev.jsonl").write_text("half a li")
    told = []
    make_data(PLAN, data, progress=told.append)
    assert content(data) == content(made)
    assert (told[0], sum(told)) == (16, 30)


def test_another_plan_is_refused(data, tmp_path):
    with pytest.raises(BeliefError, match="another plan \\(other noise, seed\\)"):
        make_data(replace(PLAN, noise=0.2, seed=6), data)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "notes").touch()
    with pytest.raises(BeliefError, match="holds no data set"):
        make_data(PLAN, tmp_path / "else")
    with pytest.raises(BeliefError, match="no data set"):
        DataSet(tmp_path / "else")


def test_an_altered_file_is_noticed(data):
    for path in (data / "hands").glob("*-train.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"pass", b"yield", 1))
    with pytest.raises(BeliefError, match="it was altered or damaged"):
        list(DataSet(data).records("train"))
    with pytest.raises(BeliefError, match="split 'all': none of train, dev, test, private"):
        list(DataSet(data).records("all"))


@pytest.mark.parametrize("change", [{"format": "x"}, {"plan": {}}, {"splits": {}}])
def test_altered_descriptions_are_refused(data, change):
    path = data / "data.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BeliefError, match=r"data\.json"):
        DataSet(data)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"players": ()}, "name one agent"),
        ({"mix": "table"}, "mix 'table'"),
        ({"noise": 1.5}, "noise 1.5"),
        ({"noise": float("nan")}, "noise nan"),
        ({"hands": 0}, "one or more"),
        ({"rules": "weihai;votes_needed=2"}, "not written as a rules string"),
    ],
)
def test_plans_that_make_no_sense_are_refused(change, why):
    with pytest.raises(BeliefError, match=why):
        replace(PLAN, **change)


def test_who_plays():
    """One agent in a hand, or one in a seat; as often as named; without noise all his moves."""
    hands = np.arange(3000)
    by_hand = Population(replace(PLAN, mix="hand")).seated(hands)
    assert (by_hand == by_hand[:, :1]).all()
    by_seat = Population(PLAN).seated(hands)
    for seated in (by_hand, by_seat):
        assert abs(np.bincount(seated.ravel()) / seated.size - 1 / 3).max() < 0.03
    assert len({tuple(row) for row in by_seat[:100].tolist()}) > 60


def test_noise_replaces_so_many_decisions():
    """Against the same hands: ``greedy`` is deterministic, so other first moves are noise."""
    plan = Plan("weihai", ("greedy",), calling="neutral", hands=200, seed=1)
    calm = list(Population(plan).play(0))
    wild = list(Population(replace(plan, noise=0.3)).play(0))
    first = [next(m for m in r["moves"] if " play " in m) for r in calm]
    others = [next(m for m in r["moves"] if " play " in m) for r in wild]
    differ = np.mean([a != b for a, b in zip(first, others, strict=True)])
    assert 0.2 < differ < 0.4  # most leads have many legal moves


@pytest.mark.parametrize(
    ("players", "rules", "noise"),
    [
        (("search:simulations=8",), SMALL, 0.0),
        (("search:simulations=8", "tactical", "greedy"), SMALL, 0.1),
        (("bayes",), SMALL, 0.05),
        pytest.param(("lupai/weihai-v1", "tactical"), "weihai", 0.05, marks=pytest.mark.train),
    ],
)
def test_all_kinds_of_agents_play_data(players, rules, noise, tmp_path):
    """Searching and trained ones, and mixtures of them, with noise and without."""
    if players[0].startswith("lupai/"):
        pytest.importorskip("torch")
    plan = Plan(
        str(load_rules(rules)), players, mix="seat", noise=noise, calling="neutral", hands=6, seed=2
    )
    data = make_data(plan, tmp_path / "one")
    found = [r for split in SPLITS for some in data.records(split) for r in some]
    assert len(found) >= 4
    for record in found:
        assert verify_record(record) == []
    played = {player for record in found for player in record["players"]}
    assert played == set(players)
    if rules == SMALL:
        make_data(plan, tmp_path / "two")
        assert content(tmp_path / "one") == content(tmp_path / "two")


def test_some_decisions_are_drawn_by_the_deal(made):
    data = DataSet(made)
    (records,) = data.records("train")
    found = decisions_of(data.engine(), records)
    chosen = found.some(3)
    count = np.bincount(found.hand, minlength=len(records))
    assert (np.bincount(found.hand[chosen], minlength=len(records)) == np.minimum(count, 3)).all()
    assert (decisions_of(data.engine(), records[1:]).some(3) == chosen[found.hand > 0]).all()
    assert found.some(10**6).all()
    share = found.number[chosen] / (count[found.hand[chosen]] - 1)
    assert 0.3 < share.mean() < 0.7  # from all of the hand
    some = score_data([("g", load_predictor("grounded"))], data, "train", moments=3, resamples=20)
    rows = {row["observer"]: row for row in some["results"]}
    assert rows["spectator"]["decisions"] == chosen.sum()
    assert rows["spectator"]["time_to_identify"] is None
    assert 0 < rows["emperor"]["decisions"] <= chosen.sum()


def test_bayes_is_fitted_and_scored(made):
    data = DataSet(made)
    told = []
    bayes = fit_naive_bayes([data], progress=told.append)
    assert sum(told) == data.hands("train") + data.hands("dev")
    assert bayes.counts.sum() == data.splits["train"]["decisions"]
    scores = score_data([("mine", bayes)], data, "train", resamples=20, reference="mine")
    rows = {row["observer"]: row for row in scores["results"]}
    assert set(rows) == {"rebel", "emperor", "spectator"}
    assert rows["rebel"]["decisions"] == data.splits["train"]["decisions"]
    assert rows["emperor"]["decisions"] < rows["rebel"]["decisions"]  # alone he knows it
    for row in rows.values():
        # a few hands of players who tell nothing: it stays near grounded
        assert abs(row["scores"]["gain"]["value"]) < 0.01
        assert row["scores"]["recovered"]["value"] == pytest.approx(1)
        assert sum(part["decisions"] for part in row["tricks"]) == row["decisions"]
        assert [(p["from"], p["to"]) for p in row["tricks"]] == list(TRICKS)[: len(row["tricks"])]
    assert json.loads(json.dumps(scores)) == scores
    with pytest.raises(BeliefError, match="reference 'other' is none of the predictors mine"):
        score_data([("mine", bayes)], data, "train", reference="other")


def test_the_same_scores_again(made):
    data = DataSet(made)
    bayes = fit_naive_bayes([data], limit=5)
    twice = [score_data([("b", bayes)], data, "dev", resamples=20) for _ in range(2)]
    assert twice[0] == twice[1]


# --- export -----------------------------------------------------------------------------------


def test_exported_arrays_hold_every_view(made, tmp_path):
    data = DataSet(made)
    about = export(data, "train", tmp_path / "out")
    columns = json.loads((tmp_path / "out" / "columns.json").read_text())
    assert columns == about
    with np.load(tmp_path / "out" / "decisions-00000.npz") as file:
        rows = {name: file[name] for name in file.files}
    with np.load(tmp_path / "out" / "hands-00000.npz") as file:
        hands = {name: file[name] for name in file.files}
    assert (set(rows), set(hands)) == (set(DECISIONS), set(HANDS))
    assert {len(column) for column in rows.values()} == {about["views"]}
    assert len(hands["deal"]) == about["hands"] == data.hands("train")
    assert rows["candidates"][np.arange(len(rows["label"])), rows["label"]].all()
    assert (rows["moves"] <= hands["length"][rows["hand"]]).all()
    assert np.allclose(rows["grounded"].sum(axis=1), 1)
    order = np.lexsort((rows["number"], rows["observer"], rows["hand"]))
    assert (order == np.arange(len(order))).all()
    with pytest.raises(BeliefError, match="is there"):
        export(data, "train", tmp_path / "out")


def test_parquet_holds_the_same(made, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    data = DataSet(made)
    export(data, "dev", tmp_path / "npz")
    export(data, "dev", tmp_path / "parquet", form="parquet")
    for name in ("decisions", "hands"):
        table = parquet.read_table(tmp_path / "parquet" / f"{name}-00000.parquet")
        with np.load(tmp_path / "npz" / f"{name}-00000.npz") as file:
            for column in file.files:
                assert np.array_equal(np.array(table[column].to_pylist()), file[column]), column


def test_hashes_of_a_data_set_are_those_of_its_files(made):
    data = json.loads((made / "data.json").read_text())
    for name, digest in data["files"].items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest
    assert DataSet(made).sha256 == DataSet(made).sha256
