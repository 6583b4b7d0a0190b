"""Agent folders: what is saved is what plays; what is damaged is refused in one clear line."""

from __future__ import annotations

import hashlib
import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import lupai.agents  # noqa: E402
from lupai.agents.checkpoint import CheckpointError, find_agent, load_agent  # noqa: E402
from lupai.agents.network import move_table  # noqa: E402
from lupai.envs.baohuang.actions import VERB_ID  # noqa: E402
from lupai.envs.baohuang.engine import Engine  # noqa: E402
from lupai.envs.errors import RulesError  # noqa: E402
from lupai.envs.view import View, Views  # noqa: E402
from tests.tiny_agent import save_tiny_agent  # noqa: E402

pytestmark = pytest.mark.train


@pytest.fixture
def folder(tmp_path):
    return save_tiny_agent(tmp_path / "agent")


def edit(folder, **values):
    card = json.loads((folder / "agent.json").read_text())
    card.update(values)
    (folder / "agent.json").write_text(json.dumps(card))


def refuse(folder, *parts, **options):
    with pytest.raises(CheckpointError) as caught:
        load_agent(folder, **options)
    text = str(caught.value)
    assert "\n" not in text
    for part in parts:
        assert part in text
    return text


def decisions(tables=40, plies=80):
    engine = Engine("qingdao")
    state = engine.reset(np.arange(tables, dtype=np.uint64))
    rng = np.random.default_rng(1)
    for _ in range(plies):
        alive = np.flatnonzero(~state.over)
        ids, offsets = engine.legal(state, alive).ids()
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], alive)
    alive = np.flatnonzero(~state.over)
    return engine, state.take(alive)


def test_a_loaded_agent_has_the_saved_weights_and_plays_legal_moves(folder):
    agent = load_agent(folder)
    again = lupai.agents.load(folder)
    for key, value in agent.policy.state_dict().items():
        assert torch.equal(value, again.policy.state_dict()[key])
    engine, state = decisions()
    views = Views(engine, state, state.actor)
    assert views.legal.contains(agent.act_batch(views)).all()


@pytest.mark.parametrize("sample", [False, True])
def test_one_by_one_and_in_a_batch_it_plays_the_same(folder, sample):
    engine, state = decisions()
    views = Views(engine, state, state.actor)
    agent = load_agent(folder, sample=sample)
    agent.reset(5)
    batch = agent.act_batch(views)
    agent.reset(5)
    singly = [view.action_of(agent.act(view)) for view in views]
    assert batch.tolist() == singly
    lanes = np.arange(len(views)) + 7
    agent.reset(5)
    whole = agent.act_lanes(views, lanes)
    half = np.arange(0, len(views), 2)
    part = agent.act_lanes(Views(engine, state, state.actor[half], half), lanes[half])
    assert whole[half].tolist() == part.tolist()


def test_sampling_depends_on_the_seed_and_greedy_choice_does_not(folder):
    engine, state = decisions()
    views = Views(engine, state, state.actor)
    agent = load_agent(folder, sample=True)
    drawn = {}
    for seed in (1, 2, 1):
        agent.reset(seed)
        drawn.setdefault(seed, []).append(agent.act_batch(views).tolist())
    assert drawn[1][0] == drawn[1][1] != drawn[2][0]
    best = load_agent(folder)
    assert best.act_batch(views).tolist() == best.act_batch(views).tolist()


def test_an_agent_that_passed_unasked_in_training_does_so_in_play(folder):
    edit(folder, idle="pass")
    agent = load_agent(folder)
    engine, state = decisions(plies=120)
    views = Views(engine, state, state.actor)
    ids, offsets = views.legal.ids()
    chosen, idle = agent.act_batch(views), 0
    for i in range(len(views)):
        legal = set(ids[offsets[i] : offsets[i + 1]].tolist())
        if legal <= {VERB_ID["pass"], VERB_ID["yield"], VERB_ID["claim"]}:
            idle += 1
            assert chosen[i] == VERB_ID["pass"]
    assert idle > 3


def test_hidden_cards_do_not_move_it(folder):
    engine, state = decisions()
    agent = load_agent(folder)
    real = [agent.act(View.of(engine, state.take([i]), int(state.actor[i]))) for i in range(9)]
    masked = engine.mask_hidden(state, state.actor)
    assert real == [
        agent.act(View.of(engine, masked.take([i]), int(state.actor[i]))) for i in range(9)
    ]


def test_it_can_be_moved(folder, tmp_path):
    moved = tmp_path / "elsewhere" / "other"
    shutil.move(folder, moved)
    assert load_agent(moved).name == "tiny"
    assert str(tmp_path) not in (moved / "agent.json").read_text()


def test_saving_again_replaces_and_leaves_nothing_beside(folder):
    before = load_agent(folder)
    save_tiny_agent(folder)
    assert [p.name for p in folder.parent.iterdir()] == ["agent"]
    assert load_agent(folder).card == before.card


def test_a_run_folder_points_to_its_newest_agent(tmp_path):
    save_tiny_agent(tmp_path / "run" / "checkpoints" / "000002" / "agent")
    (tmp_path / "run" / "latest.json").write_text('{"checkpoint": "checkpoints/000002"}')
    assert find_agent(tmp_path / "run").name == "agent"
    (tmp_path / "run" / "latest.json").write_text('{"checkpoint": "checkpoints/000009"}')
    refuse(tmp_path / "run", "checkpoints/000009", "not there")


def test_missing_things_are_named(folder, tmp_path):
    refuse(tmp_path / "nowhere", "nowhere", "no such folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    refuse(empty, "agent.json", "weights.pt")
    (folder / "weights.pt").unlink()
    refuse(folder, "weights.pt", "cannot be read")


def test_other_layouts_and_rules_are_refused(folder):
    edit(folder, observation_layout="0" * 16)
    refuse(folder, "observation_layout", "'0000000000000000'", "train it again")
    edit(folder, observation_layout=Engine().observation_layout.hash, action_layout="f" * 16)
    refuse(folder, "action_layout", "'ffffffffffffffff'")


def test_other_rules_than_asked_for_are_refused(folder):
    edit(folder, rules="qingdao;deck=3s 3h 4s 4h 5s 5h 6s 6h 7s 7h R*")
    refuse(folder, "rules", "qingdao;deck", "it was trained under", rules="qingdao")
    edit(folder, rules="qingdoa")
    refuse(folder, "qingdoa", "qingdao")


def test_it_refuses_a_table_with_other_rules(folder):
    agent = load_agent(folder)
    engine = Engine("qingdao;deck=3s 3h 4s 4h 5s 5h 6s 6h 7s 7h R*")
    state = engine.reset([1])
    with pytest.raises(RulesError, match="trained under rules 'qingdao' and is asked"):
        agent.act(View.of(engine, state, int(state.actor[0])))
    with pytest.raises(RulesError, match="'tiny'"):
        agent.act_batch(Views(engine, state, state.actor))


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"format": "lupai-agent/9"}, "lupai-agent/1"),
        ({"rules": None}, "rules"),
        ({"network": {"hidden": [8]}}, "network"),
        ({"network": {"hidden": [9], "move_hidden": 8, "value_hidden": [8]}}, "weights.pt"),
        ({"idle": "sleep"}, "idle"),
        ({"game": "bridge"}, "bridge"),
    ],
)
def test_a_card_without_sense_is_refused(folder, values, part):
    edit(folder, **values)
    refuse(folder, part)


def test_damaged_weights_are_refused(folder):
    path = folder / "weights.pt"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    refuse(folder, "SHA-256", "damaged")
    path.write_bytes(b"")
    refuse(folder, "0 bytes")


def test_weights_that_would_run_code_are_refused(folder):
    class Evil:
        def __reduce__(self):
            return (print, ("ran",))

    torch.save({"head.weight": Evil()}, folder / "weights.pt")
    digest = hashlib.sha256((folder / "weights.pt").read_bytes()).hexdigest()
    edit(folder, weights_sha256=digest)
    refuse(folder, "weights.pt", "no weights of this network")


def test_infinite_weights_are_refused(folder):
    weights = torch.load(folder / "weights.pt", weights_only=True)
    weights["head.weight"][0, 0] = float("nan")
    torch.save(weights, folder / "weights.pt")
    digest = hashlib.sha256((folder / "weights.pt").read_bytes()).hexdigest()
    edit(folder, weights_sha256=digest)
    refuse(folder, "infinite or undefined")


def test_card_that_is_no_json_is_refused(folder):
    (folder / "agent.json").write_text("{")
    refuse(folder, "agent.json", "not JSON")
    (folder / "agent.json").write_text("[]")
    refuse(folder, "agent.json", "object")


def test_move_table_knows_the_cards_of_every_set():
    engine = Engine()
    table = move_table(engine.observation_layout)
    for action in range(0, engine.actions.size, 37):
        move = engine.actions.decode(action)
        size = 0 if move.cards is None else move.cards.n + move.cards.b + move.cards.r
        assert table.cards[action].sum() == size
