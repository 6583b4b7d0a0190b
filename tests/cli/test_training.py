"""`lupai train` and `lupai evaluate`: what reaches the trainer, and what is refused before."""

import json

import pytest

from lupai.train.cli import training
from tests.cli.running import lupai


@pytest.mark.smoke
def test_evaluate_needs_no_extra(tmp_path):
    path = tmp_path / "result.json"
    done = lupai("evaluate", "greedy", "--against", "random,greedy", "--hands", "20", "-o", path)
    assert (done.status, done.err) == (0, "")
    assert "seat          random" in done.out
    result = json.loads(path.read_text("utf-8"))
    assert (result["seed"], result["rules"], result["players"]) == (1, "qingdao", ["greedy"])
    assert {m["opponent"] for m in result["matches"]} == {"random", "greedy"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.json", "result.timing.json"]


def test_evaluate_to_standard_output_is_json_alone():
    done = lupai("evaluate", "greedy", "--format", "seat", "--hands", "10", "-o", "-")
    assert json.loads(done.out)["matches"][0]["format"] == "seat"
    assert "seat          random" in done.err


@pytest.mark.train
def test_evaluate_of_a_run_leaves_its_result_in_the_run_folder(tmp_path):
    pytest.importorskip("torch")
    from tests.tiny_agent import save_tiny_agent

    folder = save_tiny_agent(tmp_path / "tiny")
    done = lupai("evaluate", folder, "--format", "seat", "--hands", "10")
    assert done.status == 0, done.err
    result = json.loads((folder / "evaluation.json").read_text("utf-8"))
    assert result["players"] == ["tiny"]
    assert result["agents"][0]["checkpoint"]["rules"] == "qingdao"
    assert done.out.endswith(f"result: {folder / 'evaluation.json'}\n")


def test_evaluate_takes_formats_and_seeds():
    words = ("evaluate", "random", "--format", "seat", "--hands", "10", "--seed")
    one, again, other = (lupai(*words, seed).out for seed in ("3", "3", "4"))
    assert one == again
    assert one.splitlines()[2:] != other.splitlines()[2:]
    assert "emperor_camp" not in one


@pytest.mark.parametrize("words", ["train qingdao_quick", "train --resume ."])
def test_without_the_extra_one_line_says_what_to_install(words, monkeypatch):
    monkeypatch.setattr(training, "find_spec", {"torch": "here"}.get)
    done = lupai(*words.split())
    assert done.status == 2
    assert done.err == 'lupai: error: training needs ray, tensorboard: pip install "lupai[train]"\n'


def test_deep_monte_carlo_needs_no_ray(monkeypatch, tmp_path):
    (tmp_path / "config.yaml").write_text("name: x\nalgorithm: dmc\nstop: {steps: 1}\n")
    monkeypatch.setattr(training, "find_spec", {"torch": "here"}.get)
    for words in (("qingdao_dmc",), ("--resume", tmp_path)):
        done = lupai("train", *words)
        assert done.status == 2
        assert done.err == 'lupai: error: training needs tensorboard: pip install "lupai[train]"\n'


def test_config_is_read_before_the_extra_is_missed(monkeypatch):
    monkeypatch.setattr(training, "find_spec", {}.get)
    assert "unknown key 'nonsense'" in lupai("train", "qingdao_quick", "nonsense=1").err


@pytest.mark.train
def test_words_reach_the_trainer(monkeypatch, tmp_path):
    trainer = pytest.importorskip("lupai.train.trainer")
    calls = []

    def run(config, **options):
        calls.append((config.name, config.stop.minutes, options))
        return tmp_path / "run"

    def resume(folder, values, **options):
        calls.append((folder, values, options))
        return tmp_path / "run"

    monkeypatch.setattr(trainer, "run", run)
    monkeypatch.setattr(trainer, "resume", resume)
    done = lupai("train", "qingdao_quick", "name=mine", "stop.minutes=2")
    assert done.status == 0, done.err
    assert done.out.endswith(f"measure it: lupai evaluate {tmp_path / 'run'}\n")
    assert lupai("train", "qingdao_quick", "--replace").status == 0
    assert lupai("train", "--resume", "runs/x", "stop.minutes=9").status == 0
    assert lupai("train", "qingdao_quick", "--address", "auto").status == 0
    assert lupai("train", "--resume", "runs/x", "--address", "10.0.0.1:6379").status == 0
    assert calls[0] == ("mine", 2, {"existing": "refuse", "address": None})
    assert calls[1][2] == {"existing": "replace", "address": None}
    assert calls[2] == ("runs/x", ("stop.minutes=9",), {"address": None})
    assert calls[3][2] == {"existing": "refuse", "address": "auto"}
    assert calls[4] == ("runs/x", (), {"address": "10.0.0.1:6379"})
