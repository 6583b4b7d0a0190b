"""Agents as ONNX files: they decide as torch does, need no torch, and refuse what is damaged."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

import lupai.agents  # noqa: E402
from lupai.agents.card import (  # noqa: E402
    HISTORIES,
    AgentCard,
    CheckpointError,
    NetworkConfig,
    advice_of,
)
from lupai.agents.network import move_table  # noqa: E402
from lupai.agents.onnx_agent import CARD_KEY, OnnxAgent, load_onnx, seal  # noqa: E402
from lupai.agents.policies import build_policy  # noqa: E402
from lupai.agents.trained import CheckpointAgent  # noqa: E402
from lupai.envs.baohuang.engine import Engine  # noqa: E402
from lupai.envs.baohuang.rules import PRESETS  # noqa: E402
from lupai.envs.errors import RulesError  # noqa: E402
from lupai.envs.view import View, Views  # noqa: E402
from lupai.train.bench.loops import Tables, staggered  # noqa: E402
from lupai.train.onnx_export import export_agent, onnx_bytes  # noqa: E402
from tests.cli.running import lupai as command  # noqa: E402
from tests.tiny_agent import save_tiny_agent  # noqa: E402

pytestmark = pytest.mark.train

WIDE = [
    (preset, history, policies, advice)
    for preset in PRESETS
    for history in HISTORIES
    for policies in ("shared", "role")
    for advice in ("none", "tactical")
]
SAMPLE = [
    ("qingdao", "none", "role", "none"),
    ("shiwei", "gru", "shared", "tactical"),
    ("weihai", "attention", "shared", "none"),
]


def untrained(preset, history, policies, advice):
    """An agent whose choices vary: the heads start at almost nothing."""
    engine = Engine(preset)
    config = NetworkConfig(
        hidden=(48, 32),
        move_hidden=24,
        history=history,
        history_units=12,
        policies=policies,
        advice=advice,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        policy = build_policy(move_table(engine.observation_layout), config)
        with torch.no_grad():
            for name, value in policy.named_parameters():
                if name.endswith("head.weight"):
                    value.normal_()
    card = AgentCard(
        "baohuang", preset, engine.actions.hash, engine.observation_layout.hash, config, "0" * 64,
        advice=advice_of(config, engine), provenance={"name": f"{preset}-{history}", "seed": 3},
    )  # fmt: skip
    return CheckpointAgent(policy, card)


@cache
def both(preset, history, policies, advice):
    agent = untrained(preset, history, policies, advice)
    return agent, OnnxAgent(onnx_bytes(agent))


def positions(engine, count):
    """Decisions at all points of hands, ``[count]``, and then the same tables some moves on."""
    play = Tables(engine, staggered(engine, min(count, 1000)), seed=1)
    for _ in range(-(-count // 1000)):
        yield Views(engine, play.state.take(np.arange(len(play.state))), play.state.actor.copy())
        for _ in range(37):
            play.step()


def compare(variant, count):
    agent, onnx_agent = both(*variant)
    chosen = [], []
    for views in positions(Engine(variant[0]), count):
        for agent_, out in zip((agent, onnx_agent), chosen, strict=True):
            out.append(agent_.act_batch(views))
    mine, theirs = (np.concatenate(part) for part in chosen)
    assert len(mine) >= count
    assert len(np.unique(mine)) > 20
    assert np.flatnonzero(mine != theirs).tolist() == []
    return views


@pytest.mark.parametrize("variant", SAMPLE, ids="-".join)
def test_it_decides_as_torch_does(variant):
    views = compare(variant, 1000)
    agent, onnx_agent = both(*variant)
    batch = onnx_agent.act_batch(views)[:40].tolist()
    single = [view.action_of(onnx_agent.act(view)) for view in list(views)[:40]]
    assert single == batch
    lanes = np.arange(len(views))
    for player in (agent, onnx_agent):
        player.sample = True
        player.reset(5)
    try:
        assert (onnx_agent.act_lanes(views, lanes) == agent.act_lanes(views, lanes)).mean() > 0.999
        assert (onnx_agent.act_lanes(views, lanes) != batch[0]).any()
    finally:
        agent.sample = onnx_agent.sample = False


@pytest.mark.soak
@pytest.mark.parametrize("variant", WIDE, ids="-".join)
def test_it_decides_as_torch_does_ten_thousand_times(variant):
    compare(variant, 10_000)


def test_roles_that_nobody_has_are_no_trouble():
    """onnxruntime ends the process on a recurrent loop without rows; bidders have no roles yet."""
    engine = Engine("qingdao")
    state = engine.reset(np.arange(3))
    views = Views(engine, state, state.actor)
    agent, onnx_agent = both("qingdao", "none", "role", "none")
    assert onnx_agent.act_batch(views).tolist() == agent.act_batch(views).tolist()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = save_tiny_agent(tmp_path_factory.mktemp("agents") / "tiny")
    out = folder.parent / "tiny.onnx"
    done = command("export", folder, out)
    assert (done.status, done.err) == (0, "")
    assert "tiny, rules qingdao" in done.out
    assert sorted(p.name for p in folder.parent.iterdir()) == ["tiny", "tiny.onnx"]
    return out


def test_the_file_is_sound_holds_the_card_and_no_path_of_this_machine(file):
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    entries = {entry.key: entry.value for entry in model.metadata_props}
    card = json.loads((file.parent / "tiny" / "agent.json").read_text())
    assert json.loads(entries[CARD_KEY]) == card
    assert not any(node.metadata_props or node.doc_string for node in model.graph.node)
    content = file.read_bytes()
    for piece in (b"/lupai/", b".py", str(file.parent).encode()):
        assert piece not in content
    agent = load_onnx(file)
    assert agent.name == "tiny"
    assert json.loads(json.dumps(agent.card.to_json())) == card
    assert onnx_bytes(lupai.agents.load(file.parent / "tiny")) == content


PLAY = """
import sys
import numpy as np
import lupai.agents
from lupai.envs.baohuang.engine import Engine
from lupai.envs.view import Views
engine = Engine("qingdao")
state = engine.reset(np.arange(8))
agent = lupai.agents.load(sys.argv[1], "qingdao")
agent.reset(1)
while (alive := np.flatnonzero(~state.over)).size:
    views = Views(engine, state, state.actor[alive], alive)
    engine.step(state, agent.act_lanes(views, alive), alive)
heavy = {"torch", "ray", "onnx", "onnxscript", "pandas", "scipy"}
print(sorted(heavy & set(sys.modules)), "onnxruntime" in sys.modules, len(state))
"""


def test_playing_from_the_file_needs_neither_torch_nor_ray(file):
    done = subprocess.run(
        [sys.executable, "-c", PLAY, file], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == "[] True 8"


def test_it_travels_to_other_processes(file):
    engine = Engine("qingdao")
    state = engine.reset(np.arange(30))
    views = Views(engine, state, state.actor)
    agent = load_onnx(file)
    again = pickle.loads(pickle.dumps(agent))
    assert (again.act_batch(views) == agent.act_batch(views)).all()


def test_play_and_arena_take_the_file(file):
    done = command("play", "--against", file, "--seed", "3", stdin=b"q\n")
    assert done.status == 0, done.err
    words = ("--against", "random", "--hands", "5", "--format", "seat")
    done = command("evaluate", file, *words)
    assert done.status == 0, done.err
    assert done.out.startswith("tiny, rules qingdao")


def test_a_table_of_other_rules_is_refused(file):
    done = command("play", "--against", file, "--rules", "weihai", stdin=b"q\n")
    assert done.status == 2
    assert "rules is 'qingdao', needed is 'weihai'" in done.err
    engine = Engine("weihai")
    state = engine.reset([1])
    with pytest.raises(RulesError, match="trained under rules 'qingdao' and is asked"):
        load_onnx(file).act(View.of(engine, state, int(state.actor[0])))


def refuse(path, *parts):
    with pytest.raises(CheckpointError) as caught:
        load_onnx(path)
    text = str(caught.value)
    assert "\n" not in text
    assert str(path) in text
    for part in parts:
        assert part in text


def test_damaged_and_foreign_files_are_refused_in_one_line(file, tmp_path):
    content = file.read_bytes()
    bad = tmp_path / "bad.onnx"
    refuse(bad, "cannot be read")
    for junk in (b"", b"junk", content[:-1], content[: len(content) // 2]):
        bad.write_bytes(junk)
        refuse(bad, f"{len(junk)} bytes", "copy it again")
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    bad.write_bytes(flipped)
    refuse(bad, "SHA-256", "damaged")
    bad.write_bytes(seal(b"no protobuf"))
    refuse(bad, "onnxruntime", "cannot read it")


def changed(file, out, edit):
    model = onnx.load(file)
    del model.metadata_props[-1]  # the digest
    edit(model)
    out.write_bytes(seal(model.SerializeToString()))
    return out


def test_models_of_others_and_other_versions_are_refused(file, tmp_path):
    def with_card(**values):
        def edit(model):
            entry = model.metadata_props[0]
            entry.value = json.dumps(json.loads(entry.value) | values)

        return edit

    def no_card(model):
        del model.metadata_props[:]

    def other_inputs(model):
        for node in model.graph.node:
            node.input[:] = ["lines" if name == "rows" else name for name in node.input]
        next(i for i in model.graph.input if i.name == "rows").name = "lines"

    out = tmp_path / "other.onnx"
    refuse(changed(file, out, no_card), CARD_KEY, "lupai export")
    refuse(changed(file, out, other_inputs), "lines", "rows")
    refuse(changed(file, out, with_card(format="lupai-agent/9")), "lupai-agent/1")
    refuse(changed(file, out, with_card(observation_layout="0" * 16)), "train it again")
    refuse(changed(file, out, with_card(rules="qingdoa")), "qingdoa")
    done = command("play", "--against", out, stdin=b"q\n")
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_what_plays_otherwise_is_not_written(tmp_path, monkeypatch):
    agent = untrained("qingdao", "none", "shared", "none")
    other = untrained("qingdao", "none", "shared", "none")
    with torch.no_grad():
        other.policy.head.weight.neg_()
    content = onnx_bytes(other)
    monkeypatch.setattr("lupai.train.onnx_export.onnx_bytes", lambda _agent: content)
    with pytest.raises(CheckpointError, match=r"not written: .* otherwise than torch's"):
        export_agent(agent, tmp_path / "out.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("greedy", "out.onnx"), "no folder of a trained agent"),
        (("nowhere", "out.onnx"), "no folder of a trained agent"),
        (("lupai/nobody-v1", "out.onnx"), "no such agent comes with"),
        ((".", "out.onnx"), "no agent.json in it"),
        (("greedy", "."), "is a folder"),
        (("greedy", "no/where.onnx"), "does not exist"),
    ],
)
def test_export_says_what_is_wrong_in_one_line(tmp_path, monkeypatch, words, part):
    monkeypatch.chdir(tmp_path)
    done = command("export", *words)
    assert done.status == 2
    assert part in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
