"""Gouji in training: config, what a critic sees, both algorithms from the config to an agent."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
import yaml

pytest.importorskip("torch")

import torch

import lupai.agents
from lupai.agents.network import move_table
from lupai.agents.rollout import rollout
from lupai.envs.gouji.actions import ACTIONS
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import Phase
from lupai.envs.view import Views
from lupai.train.config import ConfigError, dump_config, parse_config
from lupai.train.dmc.sampler import ACTION, OBSERVATION, Sampler
from lupai.train.games.gouji import GAME, LAYOUT, ROLES, privileged_rows, seat_roles
from lupai.train.privileged import LABEL, PRIVILEGED, UNLABELLED
from lupai.train.run_folder import Progress
from lupai.train.sampling.advised import ADVISED
from lupai.train.sampling.tables import Tables
from lupai.train.trainer import resume, run
from tests.train.conftest import tiny

pytestmark = pytest.mark.train

BASE = {"name": "x", "stop": {"minutes": 1}}


def gouji(**sections):
    """A tiny config."""
    return tiny(game="gouji", **sections)


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def after(monkeypatch, iterations):
    """Runs end after so many iterations."""
    monkeypatch.setattr(Progress, "share", lambda self, config: float(self.iteration >= iterations))


# --- the config ----------------------------------------------------------------------------------


def test_the_game_is_that_of_the_preset():
    config = parse_config(BASE, ["rules=shandong;tribute=true"])
    assert config.game == "gouji"
    assert config.network.role_head == 0
    assert len(config.selfplay.seats) == 5
    assert parse_config(yaml.safe_load(dump_config(config))) == config
    assert parse_config(BASE, ["game=gouji"]).rules == "shandong"
    plain = parse_config(BASE)
    assert (plain.game, plain.rules, plain.network.role_head) == ("baohuang", "qingdao", 0.1)
    assert len(plain.selfplay.seats) == 4


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["game=bridge"], "game = 'bridge' is not allowed; allowed: baohuang, gouji"),
        (["game=gouji", "rules=qingdao"], "leave game out, or give game=baohuang"),
        (["game=baohuang", "rules=shandong"], "leave game out, or give game=gouji"),
        (["game=gouji", "rules=shandong;tribute=maybe"], "allowed: true or false"),
        (["rules=shandong", "network.role_head=0.1"], "without network.role_head"),
        (["rules=shandong", "reward.kind=placement"], "reward.kind placement is not of gouji"),
        (["rules=shandong", "selfplay.policies=role"], "without selfplay.policies role"),
        (["rules=shandong", "selfplay.mode=exploit", "target=greedy"], "without selfplay.mode"),
        (["rules=shandong", "selfplay.seats=[1,1,1,1]"], "has 4 weights; it should have 5"),
        (["rules=shandong", "watch.bands={call: [0, 1]}"], "known here: revolt, waive"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_clear_error(overrides, told):
    with pytest.raises(ConfigError) as caught:
        parse_config(BASE, overrides)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


# --- what the networks see -----------------------------------------------------------------------


def midgame(count=48, moves=60, rules="shandong"):
    """Tables in which hands are on their way, and the seats that are asked."""
    engine = Engine(rules)
    state, rng = engine.reset(np.arange(count)), np.random.default_rng(2)
    for _ in range(moves):
        rows = np.flatnonzero(~state.over)
        legal = engine.legal(state, rows)
        engine.step(state, legal.pick(rng.random(len(rows))), rows, legal=legal)
    rows = np.flatnonzero(~state.over)
    return engine, state.take(rows)


def test_what_a_move_takes_is_what_leaves_the_hand():
    engine, state = midgame()
    seen = 0
    for seed in range(20):
        legal = engine.legal(state)
        actions = legal.pick(np.random.default_rng(seed).random(len(state)))
        after = state.take(np.arange(len(state)))
        engine.step(after, actions)
        row, seats = np.arange(len(state)), state.actor.astype(int)
        gone = state.ranks[row, seats] - after.ranks[row, seats]
        going = after.phase == Phase.PLAY  # a hand that is over, or dealt anew, tells nothing
        np.testing.assert_array_equal(ACTIONS.cards[actions][going], gone[going])
        seen += int((gone[going] > 0).any(axis=1).sum())
    assert seen > 100


def test_what_is_left_after_a_move_with_attached_2s():
    """The rank was once that of which a set takes the most cards, which may be the 2s."""
    from lupai.agents.network import MoveScorer, NetworkConfig

    layout = Engine().observation_layout
    constants = MoveScorer(move_table(layout, ACTIONS), NetworkConfig()).constants
    hand = {"3s": 1, "3h": 1, "2s": 3, "2h": 1, "B": 2, "R": 1}
    from lupai.envs.cards import KIND_TEXTS

    observation = torch.zeros(1, layout.size, dtype=torch.int8)
    for card, count in hand.items():
        observation[0, layout.offsets["own_hand"] + KIND_TEXTS.index(card)] = count
    texts = ["play 3222B", "play 2", "pass"]
    ids = torch.tensor([ACTIONS.encode(ACTIONS.parse(text)) for text in texts])
    found = constants.dynamic(observation, torch.zeros(3, dtype=torch.int64), ids)
    expected = [
        [1 / 8, 0, 1 / 4, 1 / 4, 4 / 44, 0, 1 / 4],  # one 3, one B, one R and one 2 stay
        [3 / 8, 0, 2 / 4, 1 / 4, 8 / 44, 0, 3 / 4],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_the_critic_sees_all_hands_and_a_player_none_of_them():
    _, state = midgame(moves=150)
    seats = state.actor.astype(int)
    rows = privileged_rows(state, seats)
    assert rows.shape == (len(state), LAYOUT.size)
    assert (rows[:, LABEL] == UNLABELLED).all()
    for i, seat in enumerate(seats):
        part = {name: rows[i, where] for name, where in LAYOUT.slices.items()}
        order = [(seat + k) % 6 for k in range(6)]
        assert part["ranks"].reshape(6, 15).tolist() == state.ranks[i, order].tolist()
        assert part["duty"].tolist() == [int(s == state.duty[i]) for s in order]
        assert part["revolter"].tolist() == [int(s == state.revolter[i]) for s in order]
        assert part["headless"].tolist() == [int(state.headless[i]) >> s & 1 for s in order]
    assert rows[:, LAYOUT.slice("headless")].any()
    tables = Tables("shandong", "idle", [1], 6, game="gouji")
    columns = tables.privileged()
    np.testing.assert_array_equal(
        columns[PRIVILEGED], privileged_rows(tables.waiting, tables.seats)
    )
    with pytest.raises(ValueError, match="no hidden roles in Gouji"):
        tables.privileged(np.ones(6, bool))


def test_scores_are_told_by_the_side_of_the_first_leader():
    engine = Engine()
    state = engine.reset(np.arange(6))
    leader = state.first_leader.astype(int)
    rollout(lupai.agents.load("random"), state, engine)
    names = np.array(ROLES)[seat_roles(state)]
    for i, first in enumerate(leader):
        wanted = ["leading_side" if (s - first) % 2 == 0 else "other_side" for s in range(6)]
        assert names[i].tolist() == wanted
    assert GAME.reward_kinds == ("score",)


# --- runs ----------------------------------------------------------------------------------------

SMALL = {"batch_size": 256, "minibatch_size": 64}


def dmc(**sections):
    return gouji(algorithm="dmc", dmc=SMALL, **sections)


ADVICE = ("none", "tactical")


@pytest.mark.parametrize("advice", ADVICE)
def test_what_is_learned_is_what_hands_end_with(advice):
    network = {"advice": advice, "candidates": 5}
    sampler = Sampler(dmc(workers={"envs_per_runner": 4}, network=network))
    from lupai.train.dmc.learner import Learner

    learner = Learner(sampler.config)
    weights = {k: v.detach().numpy() for k, v in learner.policy.state_dict().items()}
    sampler.take(weights, 0.5)
    data, tally = sampler.sample(300)
    assert tally.illegal == 0
    assert set(np.unique(data["seat"])) == set(range(6))
    assert data[OBSERVATION].shape[1] == sampler.tables.engine.observation_layout.size
    assert data[PRIVILEGED].shape[1] == LAYOUT.size
    assert tally.seats[0] + tally.seats[1:].sum() == 6 * tally.hands
    assert tally.points.sum() == 0
    row = learner.learn(data, 1e-3, np.random.default_rng(0))
    assert all(math.isfinite(row[name]) for name in ("dmc/loss", "loss/value"))
    assert data[ACTION].max() < ACTIONS.size
    if advice == "tactical":  # who plays by himself plays candidates
        assert (data[ADVISED] == data[ACTION][:, None]).any(axis=1).all()


def test_a_run_of_deep_monte_carlo_goes_on_bit_for_bit(tmp_path, monkeypatch):
    def told(folder):
        drop = ("minutes", "time/")
        return [{k: v for k, v in r.items() if not k.startswith(drop)} for r in lines(folder)]

    sections = {
        "imitation": {"steps": 300, "agent": "greedy"},
        "watch": {"every": 2, "deals": 2, "anchors": ["random"]},
    }
    after(monkeypatch, 2)
    whole = run(dmc(runs=str(tmp_path / "whole"), **sections), out=io.StringIO())
    after(monkeypatch, 1)
    halves = run(dmc(runs=str(tmp_path / "halves"), **sections), out=io.StringIO())
    after(monkeypatch, 2)
    resume(halves, out=io.StringIO())
    rows = told(whole)
    assert told(halves)[-1] == rows[-1]
    assert {"eval/random/seat", "eval/random/side", "score/leading_side"} <= set(rows[-1])
    assert "play/solo_share" not in rows[-1]
    assert all(row["play/illegal_actions"] == 0 for row in rows)
    agent = lupai.agents.load(whole)
    assert agent.card.game == "gouji"
    engine = Engine()
    scores = rollout([agent, lupai.agents.load("greedy")] * 3, engine.reset([1, 2]), engine)
    assert (scores.sum(axis=1) == 0).all()


def test_a_league_seats_opponents_at_six_seats(tmp_path, monkeypatch):
    after(monkeypatch, 2)
    league = {"mode": "league", "anchors": ["random"], "every": 1, "self_share": 0.2}
    folder = run(dmc(runs=str(tmp_path), selfplay=league), out=io.StringIO())
    assert "league/random/score" in lines(folder)[-1]


@pytest.mark.parametrize("advice", ADVICE)
def test_onnx_decides_as_torch_does(advice):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    from lupai.agents.onnx_agent import OnnxAgent
    from lupai.train.dmc.learner import Learner
    from lupai.train.export import agent_of
    from lupai.train.onnx_export import onnx_bytes

    config = dmc(network={"advice": advice})
    policy = Learner(config).policy
    with torch.random.fork_rng():
        torch.manual_seed(1)
        torch.nn.init.normal_(policy.head.weight)
    agent = agent_of(policy, config, Engine())
    onnx_agent = OnnxAgent(onnx_bytes(agent))
    chosen = 0
    for moves in (0, 40, 80, 120):
        engine, state = midgame(100, moves)
        views = Views(engine, state, state.actor)
        mine, theirs = (player.act_batch(views) for player in (agent, onnx_agent))
        np.testing.assert_array_equal(mine, theirs)
        chosen += len(mine)
    assert chosen >= 250


@pytest.mark.xdist_group("ray")
@pytest.mark.parametrize("sampler", ["batch", "rllib"])
def test_two_iterations_of_ppo(ray_session, tmp_path, monkeypatch, sampler):
    after(monkeypatch, 2)
    batch = sampler == "batch"
    config = gouji(
        runs=str(tmp_path),
        ppo={"batch_size": 256, "minibatch_size": 128},
        imitation={"steps": 200 if batch else 0},
        workers={"sampler": sampler, "envs_per_runner": 4},
        network={"advice": "tactical" if batch else "none"},
    )
    folder = run(config, out=io.StringIO())
    rows = lines(folder)
    assert len(rows) == 2
    assert all(math.isfinite(row["loss/value"]) for row in rows)
    assert ("loss/imitation" in rows[0]) == batch
    assert not any(row.get("play/illegal_actions") for row in rows)
    assert lupai.agents.load(folder).card.game == "gouji"
