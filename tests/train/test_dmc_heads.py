"""A second head of Deep Monte Carlo: who wins, beside what is scored."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from lupai.agents.card import AgentCard, CheckpointError
from lupai.agents.checkpoint import load_agent
from lupai.agents.network import DRAW, LOSS, WIN, combined
from lupai.train.dmc.decisions import SCORE
from lupai.train.dmc.learner import Learner
from lupai.train.dmc.sampler import ACTION, OBSERVATION
from lupai.train.export import agent_of, policy_with
from lupai.train.learning.heads import win_loss
from lupai.train.run_folder import TrainingError
from lupai.train.trainer import resume
from tests.train.test_dmc import dmc, ready, stir_win_heads
from tests.train.test_dmc_runs import digest, quiet, stop_after

pytestmark = pytest.mark.train


def both(weight=0.0, **section):
    return {"heads": "both", "win_weight": weight} | section


def test_moves_are_chosen_by_value_and_by_chances_of_winning():
    generator = torch.Generator().manual_seed(0)
    heads = torch.randn(50, 4, generator=generator)
    value, *logits = heads.numpy().astype(np.float64).T
    weights = np.exp(logits)
    chances = weights / weights.sum(axis=0)
    wanted = value + 2.5 * (chances[WIN] - chances[LOSS])
    np.testing.assert_allclose(combined(heads, 2.5).numpy(), wanted, atol=1e-6)
    for plain in (combined(heads, 0.0), combined(heads[:, :1], 2.5)):
        assert torch.equal(plain, heads[:, 0])


def test_what_is_won_is_told_by_the_sign_of_the_score():
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    scores = torch.tensor([-40.0, -0.1, 0.0, 0.1, 12.0])
    classes = [LOSS, LOSS, DRAW, WIN, WIN]
    wanted = -sum(logits.log_softmax(1)[i, c] for i, c in enumerate(classes)) / 5
    assert win_loss(logits, scores).item() == pytest.approx(wanted.item())


@pytest.mark.parametrize("policies", ["shared", "role"])
def test_with_a_win_head_a_run_begins_with_the_same_values(policies):
    sections = {"selfplay": {"policies": policies}, "network": {"advice": "tactical"}}
    plain, other = Learner(dmc(**sections)), Learner(dmc(dmc=both(), **sections))
    for name, network in plain.networks.items():
        states = network.state_dict(), other.networks[name].state_dict()
        new = set(states[1]) - set(states[0])
        assert all("win_head" in key for key in new)
        assert bool(new) == (name == "policy")
        for key, value in states[0].items():
            assert torch.equal(value, states[1][key])


def test_a_rare_huge_win_decides_by_score_and_a_weight_on_winning_decides_otherwise():
    """One move wins 23 points one time of eight and loses one else; the other wins one mostly."""
    section = {"minibatch_size": 64, "batch_size": 128, "baseline": "none", "win_loss": 1.0}
    config = dmc("qingdao", dmc=both(**section), network={"hidden": [32], "move_hidden": 32})
    data, _ = ready(config).sample(1)
    lead = int(np.flatnonzero(data[OBSERVATION].any(1))[0])
    one = {name: np.repeat(column[lead : lead + 1], 128, 0) for name, column in data.items()}
    moves, number = np.array([3000, 3001]), np.arange(128)  # two sets
    rare = number % 2 == 0
    seldom = number // 2 % 8 == 0
    one[ACTION] = np.where(rare, *moves).astype(np.int32)
    scores = np.where(rare, np.where(seldom, 23, -1), np.where(seldom, -1, 1))
    assert (scores[rare].mean(), scores[~rare].mean()) == (2, 0.75)
    one[SCORE] = scores.astype(np.float32)
    learner, rng = Learner(config), np.random.default_rng(0)
    for _ in range(150):
        row = learner.learn(one, 3e-3, rng)
    uncertain = -(7 * np.log(7 / 8) + np.log(1 / 8)) / 8  # of both moves
    assert row["dmc/win_log_loss"] == pytest.approx(uncertain, abs=0.05)

    engine = ready(config).tables.engine
    observation = torch.from_numpy(one[OBSERVATION][:1])
    chosen = {}
    for weight in (0.0, 0.02, 1.0):
        other = dmc("qingdao", dmc=both(weight, **section), network=config.network.model_dump())
        policy = policy_with(learner.policy.state_dict(), other, engine)
        with torch.no_grad():
            outputs = policy(observation, torch.zeros(2, dtype=torch.int64), torch.tensor(moves))
        chosen[weight] = int(outputs.argmax())
        wanted = np.array([0.2, 0.075]) + weight * np.array([-0.75, 0.75])
        np.testing.assert_allclose(outputs.numpy(), wanted, atol=0.05 + 0.1 * weight)
    # The rare win is worth 0.125 more; the other's chances are worth 1.5 weights more.
    assert chosen == {0.0: 0, 0.02: 0, 1.0: 1}


@pytest.mark.parametrize(
    ("weight", "policies", "advice"),
    [(4.0, "shared", "none"), (4.0, "role", "tactical"), (0.0, "shared", "tactical")],
)
def test_trainer_agent_and_its_onnx_file_play_the_same(weight, policies, advice):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    from lupai.agents.onnx_agent import OnnxAgent
    from lupai.train.onnx_export import onnx_bytes

    sections = {
        "network": {"advice": advice},
        "selfplay": {"policies": policies},
        "workers": {"envs_per_runner": 32},
    }
    config = dmc("qingdao", dmc=both(weight), **sections)
    learner = Learner(config)
    stir_win_heads(learner.policy)
    sampler = ready(config, learner, 0.0)
    agent = agent_of(learner.policy, config, sampler.tables.engine)
    exported = OnnxAgent(onnx_bytes(agent))
    assert exported.card == agent.card
    assert exported.card.network.win_weight == weight
    unweighted = dmc("qingdao", dmc=both(), **sections)
    policy = policy_with(learner.policy.state_dict(), unweighted, sampler.tables.engine)
    by_score = agent_of(policy, unweighted, sampler.tables.engine)
    decide, seen, moved = sampler._decide, 0, 0

    def compare(tables, tally):
        nonlocal seen, moved
        views = tables.views()
        alone, from_file, other = (a.act_batch(views) for a in (agent, exported, by_score))
        moves = decide(tables, tally)
        np.testing.assert_array_equal(moves, alone)
        np.testing.assert_array_equal(moves, from_file)
        seen, moved = seen + len(moves), moved + int((moves != other).sum())
        return moves

    sampler._decide = compare
    sampler.sample(400)
    assert seen >= 400
    assert (moved > 20) == (weight > 0)


def test_cards_say_which_heads_there_are_and_old_ones_have_the_score_alone():
    config = dmc("qingdao", dmc=both(0.5))
    learner = Learner(config)
    card = agent_of(learner.policy, config, ready(config, learner).tables.engine).card
    data = json.loads(json.dumps(card.to_json()))
    assert AgentCard.from_json(data, "x") == card
    for key in ("heads", "win_weight"):
        del data["network"][key]
    old = AgentCard.from_json(data, "x")
    assert (old.network.heads, old.network.win_weight) == ("score", 0)
    for wrong, told in (
        ({"heads": "win"}, "heads is 'win'; allowed: score, both"),
        ({"heads": "both", "win_weight": -1}, r"win_weight is -1\.0 with heads 'both'"),
        ({"heads": "both", "win_weight": float("nan")}, "win_weight is nan"),
        ({"heads": "score", "win_weight": 1}, r"win_weight is 1\.0 with heads 'score'"),
    ):
        with pytest.raises(CheckpointError, match=told):
            AgentCard.from_json(data | {"network": data["network"] | wrong}, "x")


def test_a_resume_keeps_the_heads_and_may_change_their_weight(tmp_path, monkeypatch):
    stop_after(monkeypatch, 1)
    folder = quiet(dmc(runs=str(tmp_path), dmc=both()))
    assert load_agent(folder).card.network.heads == "both"
    before = digest(folder)
    stop_after(monkeypatch, 2)
    resume(folder, ("dmc.win_weight=2",), out=io.StringIO())
    assert load_agent(folder).card.network.win_weight == 2
    assert digest(folder) != before
    with pytest.raises(TrainingError, match=r"dmc\.heads is 'both' there and 'score' now"):
        resume(folder, ("dmc.heads=score", "dmc.win_weight=0"))
