"""`lupai belief`: from hands to scores, and what goes wrong in one line."""

import json

import pytest

from tests.cli.running import lupai as run

EXAMPLE = "lupai.agents.belief.example_predictor:Suspicious"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "weihai"
    done = run(
        "belief", "make-data", "--rules", "weihai", "--players", "greedy", "--hands", "60",
        "--seed", "2", "-o", folder,
    )  # fmt: skip
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith("train ")
    assert done.out.splitlines()[-1].startswith("sha256 ")
    return folder


def test_train_score_export(data, tmp_path):
    done = run("belief", "train", "naive_bayes", "--data", data, "-o", tmp_path / "bayes")
    assert done.status == 0, done.err
    assert "exponent" in done.out
    names = f"grounded,{tmp_path / 'bayes'},{EXAMPLE}"
    out = tmp_path / "scores.json"
    done = run("belief", "score", names, "--data", data, "--split", "train", "--json", out,
               "--tricks", "--limit", "20")  # fmt: skip
    assert (done.status, done.err) == (0, "")
    assert "greedy, rules weihai, split train" in done.out
    assert "(20 hands, " in done.out
    (result,) = json.loads(out.read_text())
    assert {row["predictor"] for row in result["results"]} == set(names.split(","))
    done = run("belief", "score", "grounded", "--data", f"{data},{data}", "--json", "-")
    assert len(json.loads(done.out)) == 2
    assert "rebel, gain" in done.err
    done = run("belief", "export", data, "--split", "dev", "-o", tmp_path / "out")
    assert done.status == 0, done.err
    assert (tmp_path / "out" / "columns.json").is_file()


def test_leak(data, tmp_path):
    for out, *words in (("bayes",), ("control", "--redraw-roles", "--seed", "3")):
        where = ("--data", data, "-o", tmp_path / out)
        assert run("belief", "train", "naive_bayes", *where, *words).status == 0
    card = json.loads((tmp_path / "control" / "belief.json").read_text())
    assert (card["provenance"]["roles"], card["provenance"]["seed"]) == ("redrawn", 3)
    names = f"{tmp_path / 'bayes'},{tmp_path / 'control'}"
    out = tmp_path / "leak.json"
    words = ("belief", "leak", names, "--data", data, "--split", "train", "--limit", "20")
    done = run(*words, "--tricks", "--json", out)
    assert (done.status, done.err) == (0, "")
    assert "greedy, rules weihai, split train; nats for the true guard" in done.out
    assert done.out.count("all moves of the guard") == 4
    assert "  trick 1 " in done.out
    (result,) = json.loads(out.read_text())
    assert {(r["predictor"], r["observer"]) for r in result["results"]} == {
        (name, observer) for name in names.split(",") for observer in ("spectator", "rebel")
    }
    done = run(*words, "--observers", "emperor", "--json", "-")
    assert {r["observer"] for r in json.loads(done.out)[0]["results"]} == {"emperor"}
    assert "trick" not in done.err


def test_samples_need_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("belief", "score", "grounded", "--data", "sample:weihai", "--limit", "2")
    assert (done.status, done.err) == (0, "")
    assert "tactical, rules weihai, split test" in done.out
    assert run("belief", "export", "sample:weihai", "--limit", "1", "-o", "out").status == 0


def test_the_same_command_again_changes_nothing(data):
    before = (data / "data.json").read_bytes()
    done = run(
        "belief", "make-data", "--rules", "weihai", "--players", "greedy", "--hands", "60",
        "--seed", "2", "-o", data,
    )  # fmt: skip
    assert done.status == 0
    assert (data / "data.json").read_bytes() == before


MINI = "qingdao;deck=R* 3s 3s 3s 3s 9h 9h 9h 9h Kc Kc Kc Kc 2d B;grab=false;declare=false"


def test_the_exact_posterior_is_the_reference_of_mini_games(tmp_path):
    data, out = tmp_path / "mini", tmp_path / "scores.json"
    done = run(
        "belief", "make-data", "--rules", MINI, "--players", "greedy", "--noise", "0.1",
        "--hands", "12", "-o", data,
    )  # fmt: skip
    assert (done.status, done.err) == (0, "")
    exact = "exact:agent=greedy+noise=0.1"
    done = run(
        "belief", "score", f"grounded,{exact}", "--reference", exact, "--moments", "2",
        "--observers", "rebel,spectator", "--data", data, "--split", "train", "--json", out,
    )  # fmt: skip
    assert (done.status, done.err) == (0, "")
    assert "split train, 2 decisions of each hand; 95 % intervals" in done.out
    assert "identified" not in done.out
    (result,) = json.loads(out.read_text())
    assert (result["moments"], result["reference"]) == (2, exact)
    for row in result["results"]:
        assert row["decisions"] == 2 * row["hands"] > 10
        assert row["time_to_identify"] is None
        share = row["scores"]["recovered"]["value"]
        assert share == (1 if row["predictor"] == exact else 0)
    file = next((data / "hands").glob("*-train.jsonl"))
    done = run("replay", file, "--all", "--belief", f"grounded,{exact}")
    assert (done.status, done.err) == (0, "")
    assert "guard, says exact:agent=greedy" in done.out


WRONG = [
    ("", "required: COMMAND"),
    ("make-data", "required: -o"),
    ("make-data -o x --noise 2", "no chance in 0 … 1"),
    ("make-data -o x --hands 0", "must be at least 1"),
    ("make-data -o x --players nobody", "agent 'nobody'"),
    ("make-data -o x --players random,,random", "name one agent or more"),
    ("make-data -o /no/such/folder/x", "the folder above it does not exist"),
    ("make-data -o {data}", "another plan"),
    ("make-data -o x --rules nowhere", "nowhere"),
    ("make-data -o x --seed -1", "seed"),
    ("train", "required: KIND"),
    ("train oracle --data {data} -o x", "invalid choice"),
    ("train naive_bayes --data /no/such -o x", "no data set"),
    ("train naive_bayes --data {data} -o {data}", "holds no predictor"),
    ("train naive_bayes --data {data}, -o x", "commas between"),
    ("train gru --data {data} -o x --minutes 0", "no time in minutes"),
    ("train gru --data {data} -o x --redraw-roles", "goes with naive_bayes"),
    ("leak", "required: PREDICTORS"),
    ("leak grounded --data /no/such", "no data set"),
    ("leak grounded --data {data} --observers guard", "none of rebel, emperor, spectator"),
    ("score", "required: PREDICTORS"),
    ("score grounded --data /no/such", "no data set"),
    ("score nobody --data {data}", "no such predictor"),
    ("score grounded --data {data} --observers guard", "none of rebel, emperor, spectator"),
    ("score grounded --data {data} --reference uniform", "reference 'uniform' is none"),
    ("score grounded --data {data} --split all", "invalid choice"),
    ("score grounded --data {data} --limit 0", "must be at least 1"),
    ("score grounded --data {data} --moments 0", "must be at least 1"),
    ("score exact --data {data}", "exact posteriors are for mini-games"),
    ("score exact:nois=1 --data {data}", "did you mean 'noise'"),
    ("score role-head:nowhere --data {data}", "no such folder"),
    ("score grounded --data {data} --json /no/such/folder/x", "does not exist"),
    ("score grounded --data sample:nowhere", "no such sample; there are sample:qingdao, "),
    ("export /no/such -o x", "no data set"),
    ("export {data} -o {data}", "is there; give a new name"),
]


@pytest.mark.parametrize(("words", "why"), WRONG, ids=lambda w: w[:40] or "nothing")
def test_what_is_wrong_is_told_in_one_line(data, tmp_path, monkeypatch, words, why):
    monkeypatch.chdir(tmp_path)
    words = [word.format(data=data) for word in words.split(" ")] if words else []
    done = run("belief", *words)
    assert done.status == 2, done
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert why in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["make-data", "train", "score", "leak", "export"])
def test_every_command_helps(command):
    done = run("belief", command, "--help")
    assert (done.status, done.err) == (0, "")
    assert "examples:\n  lupai belief " in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 100
