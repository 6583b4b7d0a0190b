"""Variants of the policy: history encoders, a policy for each role; their agent folders."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lupai.agents.checkpoint import CheckpointError, load_agent, save_agent  # noqa: E402
from lupai.agents.history import HISTORIES, history_encoder  # noqa: E402
from lupai.agents.network import NetworkConfig, move_table, offsets_to_rows  # noqa: E402
from lupai.agents.policies import OWN_ROLES, build_policy, own_role  # noqa: E402
from lupai.envs.baohuang.engine import Engine  # noqa: E402
from lupai.envs.view import Views  # noqa: E402
from tests.train.test_checkpoint import decisions  # noqa: E402

pytestmark = pytest.mark.train

VARIANTS = [(history, policies) for history in HISTORIES for policies in ("shared", "role")]


def small(history="none", policies="shared"):
    return NetworkConfig(
        hidden=(16,),
        move_hidden=8,
        value_hidden=(8,),
        history=history,
        history_units=12,
        policies=policies,
    )


def untrained(config, engine=None, seed=0):
    """A policy whose choices vary: the heads start at almost nothing."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = build_policy(move_table((engine or Engine()).observation_layout), config)
        with torch.no_grad():
            for name, value in policy.named_parameters():
                if name.endswith("head.weight"):
                    value.normal_()
    return policy


def mixed_decisions():
    """Decisions from before roles to late play."""
    parts = [decisions(tables=24, plies=plies) for plies in (0, 3, 12, 60)]
    return parts


def inputs(engine, state):
    views = Views(engine, state, state.actor)
    ids, offsets = views.legal.ids()
    rows = offsets_to_rows(torch.from_numpy(offsets.astype(np.int64)))
    return torch.tensor(views.observation), rows, torch.from_numpy(ids.astype(np.int64))


@pytest.mark.parametrize(("history", "policies"), VARIANTS)
def test_a_folder_of_each_variant_plays_as_what_was_saved(tmp_path, history, policies):
    config = small(history, policies)
    engine = Engine()
    policy = untrained(config, engine)
    folder = save_agent(tmp_path / "agent", policy, config, engine)
    card = json.loads((folder / "agent.json").read_text())
    assert (card["network"]["history"], card["network"]["policies"]) == (history, policies)
    agent, again = load_agent(folder), load_agent(folder)
    chosen = []
    for engine, state in mixed_decisions():
        views = Views(engine, state, state.actor)
        observation, rows, ids = inputs(engine, state)
        with torch.no_grad():
            logits = policy(observation, rows, ids)
            assert torch.equal(agent.policy(observation, rows, ids), logits)
        best = [int(ids[rows == i][logits[rows == i].argmax()]) for i in range(len(views))]
        assert agent.act_batch(views).tolist() == again.act_batch(views).tolist() == best
        chosen += best
        assert [view.action_of(agent.act(view)) for view in views][:5] == best[:5]
    assert len(set(chosen)) > 3


def test_a_folder_from_before_the_variants_still_loads(tmp_path):
    config = small()
    engine = Engine()
    folder = save_agent(tmp_path / "agent", untrained(config), config, engine)
    card = json.loads((folder / "agent.json").read_text())
    for key in ("history", "history_units", "policies"):
        del card["network"][key]
    (folder / "agent.json").write_text(json.dumps(card))
    agent = load_agent(folder)
    assert agent.card.network.history == "none"
    assert agent.card.network.policies == "shared"


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [("history", "lstm", "none, gru, attention"), ("policies", "each", "shared, role")],
)
def test_an_unknown_variant_is_refused_in_one_line(tmp_path, key, value, part):
    config = small()
    folder = save_agent(tmp_path / "agent", untrained(config), config, Engine())
    card = json.loads((folder / "agent.json").read_text())
    card["network"][key] = value
    (folder / "agent.json").write_text(json.dumps(card))
    with pytest.raises(CheckpointError, match=part) as caught:
        load_agent(folder)
    assert "\n" not in str(caught.value)


def test_weights_of_another_variant_are_refused(tmp_path):
    config = small(policies="role")
    folder = save_agent(tmp_path / "agent", untrained(config), config, Engine())
    card = json.loads((folder / "agent.json").read_text())
    card["network"]["policies"] = "shared"
    (folder / "agent.json").write_text(json.dumps(card))
    with pytest.raises(CheckpointError, match="no weights of this network"):
        load_agent(folder)


def test_the_policy_is_chosen_by_what_the_seat_knows_of_itself():
    table = move_table(Engine().observation_layout)
    seen = set()
    for engine, state in mixed_decisions():
        for seat in range(5):
            observation = torch.tensor(engine.observe(state, seat))
            found = own_role(observation, table)
            masked = engine.mask_hidden(state, np.full(len(state), seat))
            assert torch.equal(found, own_role(torch.tensor(engine.observe(masked, seat)), table))
            for i, outcome in enumerate(engine.outcomes(state)):
                roles = outcome["roles"]
                wanted = "rebel"
                if roles["emperor"] is None:
                    wanted = "bidder"
                elif roles["emperor"] == seat:
                    wanted = "emperor"
                elif roles["guard"] == seat:
                    wanted = "guard"
                seen.add(wanted)
                assert OWN_ROLES[int(found[i])] == wanted
    assert seen == set(OWN_ROLES)


def test_each_row_is_scored_by_the_policy_of_its_role_alone():
    engine = Engine()
    policy = untrained(small(policies="role"), engine)
    for position_engine, state in mixed_decisions():
        observation, rows, ids = inputs(position_engine, state)
        logits = policy(observation, rows, ids)
        which = policy.which(observation)
        for number, name in enumerate(OWN_ROLES):
            alone = policy.members[name](observation, rows, ids)
            mine = which[rows] == number
            torch.testing.assert_close(logits[mine], alone[mine], atol=1e-5, rtol=1e-4)


def test_every_policy_gets_a_gradient_even_without_a_row():
    """RLlib's learner does not take None for a gradient."""
    engine, state = decisions(tables=6, plies=0)  # bidders only
    policy = untrained(small("gru", "role"), engine)
    policy(*inputs(engine, state)).sum().backward()
    for name, value in policy.named_parameters():
        assert value.grad is not None, name
    assert policy.members["bidder"].trunk[0].weight.grad.any()
    assert not policy.members["guard"].trunk[0].weight.grad.any()


@pytest.mark.parametrize("kind", ["gru", "attention"])
def test_encoders_read_every_move_and_their_order(kind):
    torch.manual_seed(0)
    encoder = history_encoder(kind, 16, 42, 12)
    recent = torch.rand(3, 16, 42)
    out = encoder(recent)
    assert out.shape == (3, 12)
    assert encoder(recent[:0]).shape == (0, 12)
    assert encoder(torch.zeros(2, 16, 42)).isfinite().all()  # no move yet
    for move in range(16):
        other = recent.clone()
        other[0, move] += 1
        assert not torch.allclose(encoder(other)[0], out[0])
        assert torch.allclose(encoder(other)[1:], out[1:])
    swapped = recent[:, [1, 0, *range(2, 16)]]
    assert not torch.allclose(encoder(swapped), out)


@pytest.mark.parametrize("history", ["gru", "attention"])
def test_the_latest_moves_reach_the_policy_through_the_encoder_only(history):
    engine, state = decisions(tables=12, plies=40)
    policy = untrained(small(history), engine)
    observation, rows, ids = inputs(engine, state)
    logits = policy(observation, rows, ids)
    policy.history = torch.nn.Identity()
    policy.history.forward = lambda recent: torch.zeros(len(recent), 12)
    without = policy(observation, rows, ids)
    assert not torch.equal(without, logits)
    columns = engine.observation_layout.slice("recent")
    observation[:, columns] = 0
    assert torch.equal(policy(observation, rows, ids), without)
