"""Agents that come with lupai: made by tools/ship_agent.py, taken by name everywhere."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

import lupai.agents
from lupai.agents import registry, shipped
from lupai.agents.checkpoint import load_agent
from lupai.agents.onnx_agent import OnnxAgent
from lupai.agents.registry import UnknownAgentError
from lupai.agents.trained import CheckpointAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.view import Views
from lupai.train.arena.run import run_arena
from lupai.train.league.frozen import Copies, load_opponent
from tests.cli.running import lupai as command
from tests.tiny_agent import save_tiny_agent

pytestmark = pytest.mark.train

_SPEC = importlib.util.spec_from_file_location(
    "ship_agent", Path(__file__).resolve().parents[2] / "tools" / "ship_agent.py"
)
ship_agent = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(ship_agent)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder of shipped agents with one in it, its result measured."""
    folder = tmp_path_factory.mktemp("shipped")
    run = save_tiny_agent(folder / "work" / "tiny")
    outcome = run_arena([str(run)], ["random", "greedy"], deals=3, formats=["seat", "camp"])
    result = folder / "work" / "match.json"
    result.write_text(json.dumps(outcome.result), "utf-8")
    status = ship_agent.main(
        [str(run), "tiny-v1", "--results", str(result), "--limit", "A toy.", "--home", str(folder)]
    )
    assert status == 0
    return folder


@pytest.fixture
def there(home, monkeypatch):
    monkeypatch.setattr(shipped, "_home", lambda: home)
    return home


def test_a_card_tells_of_a_win_head_where_there_is_one():
    card = lupai.agents.load("lupai/qingdao-v1").card
    other = replace(card, network=replace(card.network, heads="both", win_weight=0.5))
    plain, told = (ship_agent.model_card("a-v1", c, [], [], False) for c in (card, other))
    assert "win head" not in plain
    assert "advice `tactical`, win head with weight 0.5 |" in told


def test_the_folder_holds_the_same_weights_and_a_card(home):
    folder = home / "tiny-v1"
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md", "agent.json", "agent.onnx", "weights.pt",
    ]  # fmt: skip
    work = home / "work" / "tiny"
    assert (folder / "weights.pt").read_bytes() == (work / "weights.pt").read_bytes()
    page = (folder / "README.md").read_text("utf-8")
    result = json.loads((home / "work" / "match.json").read_text("utf-8"))
    for match in result["matches"]:
        score = f"{match['mean']:+.2f} [{match['low']:+.2f}, {match['high']:+.2f}]"
        assert f"| {match['opponent']} | {match['format']} | {match['deals']} |" in page
        assert score in page
    assert (
        "lupai arena --players lupai/tiny-v1 --against random,greedy --format seat,camp "
        "--rules 'qingdao' --deals 3 --seed 1\n"
    ) in page
    assert "- A toy." in page
    assert str(home) not in page + (folder / "agent.json").read_text("utf-8")


def test_it_is_taken_by_name(there, monkeypatch):
    assert shipped.shipped_names() == ("lupai/tiny-v1",)
    agent = lupai.agents.load("lupai/tiny-v1", "qingdao")
    assert isinstance(agent, CheckpointAgent)
    assert agent.name == "tiny-v1"
    assert load_agent("lupai/tiny-v1", sample=True).sample
    assert load_opponent("lupai/tiny-v1", "qingdao").name == "tiny-v1"
    monkeypatch.setattr(registry, "find_spec", lambda name: None)  # as if torch were not there
    other = lupai.agents.load("lupai/tiny-v1")
    assert isinstance(other, OnnxAgent)
    engine = Engine("qingdao")
    state = engine.reset(np.arange(50))
    views = Views(engine, state, state.actor)
    assert (other.act_batch(views) == agent.act_batch(views)).all()


def test_commands_take_it_and_list_it(there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = command("agents")
    assert [line.split()[:3] for line in listed.out.splitlines()[-2:]] == [
        ["search", "baohuang", "any"], ["lupai/tiny-v1", "baohuang", "qingdao"],
    ]  # fmt: skip
    assert json.loads(command("agents", "--json").out)[-1]["agent"] == "lupai/tiny-v1"
    done = command("play", "--against", "lupai/tiny-v1", "--seed", "3", stdin=b"q\n")
    assert done.status == 0, done.err
    done = command("evaluate", "lupai/tiny-v1", "--hands", "5", "--format", "seat")
    assert done.status == 0, done.err
    assert not (there / "tiny-v1" / "evaluation.json").exists()


def test_an_unknown_one_is_refused_with_those_that_are_there(there):
    with pytest.raises(UnknownAgentError, match=r"'lupai/other-v1'.*there are: lupai/tiny-v1"):
        lupai.agents.load("lupai/other-v1")
    with pytest.raises(UnknownAgentError, match=r"agents: random, greedy, .*lupai/tiny-v1"):
        lupai.agents.load("nobody")


@pytest.mark.parametrize("name", ["lupai/tiny-v1", "{home}/tiny-v1/agent.onnx"])
def test_a_run_copies_it(there, tmp_path, name):
    copies = Copies(tmp_path, new=True)
    source = copies.source(name.format(home=there), "league/anchor-tiny")
    assert copies.load(source, "qingdao").name == "tiny-v1"
    copies.write()
    assert not list(tmp_path.glob("league/.*"))
    agent = Copies(tmp_path, new=False).load(source, "qingdao", sample=True)
    assert agent.sample
    assert isinstance(agent, CheckpointAgent if name.startswith("lupai/") else OnnxAgent)


def refuse(home, *words, part):
    with pytest.raises(LupaiError, match=part):
        ship_agent.ship(*words, home)


def test_what_cannot_be_shipped_is_refused(home, tmp_path, monkeypatch, capsys):
    tiny, result = home / "work" / "tiny", home / "work" / "match.json"
    other = save_tiny_agent(tmp_path / "other", "weihai")
    refuse(home, tiny, "Tiny", [], [], part="small letters")
    refuse(home, tiny, "tiny", [], [], part="small letters")
    refuse(home, other, "other-v1", [result], [], part="none of its agents .* has these weights")
    card = json.loads((other / "agent.json").read_text())
    (other / "agent.json").write_text(json.dumps(card | {"weights_sha256": "0" * 64}))
    refuse(home, other, "tiny-v1", [], [], part="other weights; a better agent gets the next")
    assert ship_agent.main([str(tmp_path), "none-v1", "--home", str(home)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr(ship_agent, "MOST_BYTES", 1000)
    monkeypatch.setattr(ship_agent, "export_agent", lambda agent, file: 0)
    refuse(home, tiny, "large-v1", [], [], part="at most 1,000 are shipped")
    assert sorted(p.name for p in home.iterdir()) == ["tiny-v1", "work"]
