"""The team-aware model in training: what is privileged reaches the critic and nothing else."""

from __future__ import annotations

import copy
from unittest.mock import MagicMock

import numpy as np
import pytest

pytest.importorskip("ray")
import torch
from ray.rllib.core.columns import Columns
from torch.nn import functional

from lupai.agents.belief import load_predictor
from lupai.agents.network import NetworkConfig, move_table
from lupai.agents.policies import OWN_ROLES
from lupai.envs.baohuang.engine import Engine
from lupai.envs.cards import RANK_OF_KIND
from lupai.train.export import write_agent
from lupai.train.learning.heads import FEW_LABELS, value_network
from lupai.train.learning.role_stats import ROLES, RoleStats
from lupai.train.privileged import (
    FEATURES,
    GROUNDED,
    PRIVILEGED,
    PRIVILEGED_LAYOUT,
    privileged_rows,
)
from lupai.train.rllib.export import live_networks
from lupai.train.rllib.role_check import GROUNDED_LOSS, GUESSES, GUESSES_LOSS
from lupai.train.rllib.setup import algorithm_config
from lupai.train.run_folder import Progress
from lupai.train.sampling.tables import WORDS
from tests.belief.hands import decisions
from tests.train.conftest import tiny
from tests.train.test_privileged import quiet_positions

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def by_role(ray_session):
    """A tiny algorithm with everything on, after one iteration."""
    config = tiny(selfplay={"policies": "role"}, network={"history": "gru"})
    built = algorithm_config(config).build_algo()
    built.train()
    yield built
    built.stop()


def learned(built):
    """A copy of the learner's module whose heads, 0 at first, say something."""
    module = copy.deepcopy(built.learner_group._learner.module["shared"].unwrapped())
    for head in (module.vf.head, module.role_head.head):
        torch.nn.init.normal_(head.weight, std=0.1)
    return module


def played(built, steps):
    """Freshly sampled decisions as the learner gets them."""
    return built.env_runner_group.local_env_runner.sample(num_timesteps=steps)


def to_batch(built, episodes, metrics=None):
    """The learner's batch of them."""
    learner = built.learner_group._learner
    return learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=metrics
    )["shared"]


def batch_of(built, steps=600):
    """A learner's batch of freshly sampled decisions."""
    return to_batch(built, played(built, steps))


def labelled(batch):
    """The same with made-up labels at two rows of three: random play soon tells who is guard."""
    rows = batch[PRIVILEGED].clone()
    labels = torch.arange(len(rows)) % 7 - 2
    rows[:, FEATURES] = torch.where(labels < 0, -1, labels).to(torch.int8)
    return {**batch, PRIVILEGED: rows}


def scrambled(batch, seed=0):
    """The same with random numbers wherever something privileged stands."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(-128, 128, batch[PRIVILEGED].shape, np.int8)
    return {**batch, PRIVILEGED: torch.from_numpy(noise), Columns.INFOS: [{"roles": noise}]}


def same_bytes(a, b):
    assert a.keys() == b.keys()
    for key, value in a.items():
        assert value.numpy(force=True).tobytes() == b[key].numpy(force=True).tobytes(), key


@pytest.mark.parametrize("name", ["algorithm", "by_role"])
def test_the_actor_is_the_same_whatever_is_privileged(name, request):
    built = request.getfixturevalue(name)
    module, batch = learned(built), batch_of(built)
    other = scrambled(batch)
    assert not torch.equal(batch[PRIVILEGED], other[PRIVILEGED])
    same_bytes(module.forward_train(batch), module.forward_train(other))
    values = module.compute_values(batch)
    assert (module.compute_values(other) != values).float().mean() > 0.9  # the critic does read it
    some = batch[Columns.LOSS_MASK]
    play = [
        {k: v for k, v in b.items() if k in (PRIVILEGED, Columns.INFOS)}
        | {Columns.OBS: {k: v[some] for k, v in b[Columns.OBS].items()}}
        for b in (batch, other)
    ]
    with torch.no_grad():
        for forward in (module.forward_inference, module.forward_exploration):
            found = []
            for one in play:
                torch.manual_seed(1)
                found.append(forward(one))
            same_bytes(*found)


def test_the_label_is_nothing_to_the_critic(algorithm):
    """It follows from the roles anyway, but its coding is the head's business."""
    module, batch = learned(algorithm), batch_of(algorithm)
    other = batch[PRIVILEGED].clone()
    other[:, FEATURES] = 99
    assert torch.equal(
        module.compute_values(batch), module.compute_values({**batch, PRIVILEGED: other})
    )


@pytest.mark.parametrize("name", ["algorithm", "stock", "by_role"])
def test_rows_belong_to_the_decisions_they_stand_beside(name, request):
    batch = batch_of(request.getfixturevalue(name))
    mask = batch[Columns.LOSS_MASK].numpy()
    observation = batch[Columns.OBS]["observation"].numpy()[mask]
    rows = batch[PRIVILEGED].numpy()[mask]
    layout = Engine().observation_layout
    hand = layout.section(observation, "own_hand").astype(int)
    own = np.zeros((len(hand), 15), int)
    np.add.at(own.T, RANK_OF_KIND, hand.T)
    assert (PRIVILEGED_LAYOUT.section(rows, "ranks")[:, 0] == own).all()
    known = layout.section(observation, "seat_roles").astype(bool)
    assert PRIVILEGED_LAYOUT.section(rows, "roles")[known].all()
    sizes = layout.section(observation, "hand_sizes")
    assert (PRIVILEGED_LAYOUT.section(rows, "ranks").sum(2) == sizes).all()
    assert len(rows) > 300


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_what_follows_a_cut_is_valued_with_its_own_row(name, request, monkeypatch):
    """The row for bootstrapping stands for the seat's next decision, with all hands of then."""
    built = request.getfixturevalue(name)
    episodes = played(built, 80)
    module = built.learner_group._learner.module["shared"].unwrapped()
    asked, values = [], module.compute_values
    monkeypatch.setattr(module, "compute_values", lambda b, **k: asked.append(b) or values(b, **k))
    to_batch(built, episodes)
    (valued,) = asked
    if name == "algorithm":
        (data,) = episodes
        cut = data.following[data.following >= 0]
        assert (cut >= len(data)).all()
    else:
        mask, ended = valued[Columns.LOSS_MASK].numpy(), valued[Columns.TERMINATEDS].numpy()
        cut = [i for i in np.flatnonzero(~mask) if not ended[i - 1]]
    layout = Engine().observation_layout
    sizes = layout.section(valued[Columns.OBS]["observation"].numpy()[cut], "hand_sizes")
    ranks = PRIVILEGED_LAYOUT.section(valued[PRIVILEGED].numpy()[cut], "ranks")
    assert (ranks.sum(2) == sizes).all()
    assert len(cut) > 5


@pytest.mark.parametrize("name", ["algorithm", "stock", "by_role"])
def test_runners_hold_the_policy_alone_and_get_observations_alone(name, request, monkeypatch):
    built = request.getfixturevalue(name)
    runner = built.env_runner_group.local_env_runner
    played = runner.module["shared"]
    state = learned(built).get_state(inference_only=True)  # what a sync sends
    for keys in (played.get_state(), dict(played.named_parameters()), state):
        assert keys
        assert {key.split(".")[0] for key in keys} == {"pi"}
    assert {k.split(".")[0] for k in learned(built).state_dict()} == {"pi", "vf", "role_head"}
    seen, forward = [], played._forward_exploration

    def spy(batch, **kwargs):
        seen.append({k: set(v) if isinstance(v, dict) else None for k, v in batch.items()})
        return forward(batch, **kwargs)

    monkeypatch.setattr(played, "_forward_exploration", spy)
    runner.sample(num_timesteps=64)
    assert seen
    legal = "legal" if name == "stock" else WORDS
    assert all(keys == {"obs": {"observation", legal}} for keys in seen)


@pytest.mark.parametrize("name", ["algorithm", "by_role"])
def test_an_agent_of_the_run_says_what_its_role_head_says(name, request, tmp_path):
    """``role-head:AGENT`` of a written agent folder, beside the learner's own module."""
    built = request.getfixturevalue(name)
    changes = {} if name == "algorithm" else {
        "selfplay": {"policies": "role"}, "network": {"history": "gru"},
    }  # fmt: skip
    config, views = tiny(**changes), decisions("qingdao").views("rebel")
    module = built.learner_group._learner.module["shared"].unwrapped()
    with torch.no_grad():
        module.role_head.head.weight.normal_(std=20.0)
        logits = module.role_logits(torch.tensor(views.observation)).numpy()
    engine = Engine(config.rules_string)
    policy, head = live_networks(built, config, engine)
    write_agent(policy, config, engine, tmp_path / "agent", Progress(), head)
    chances = load_predictor(f"role-head:{tmp_path / 'agent'}").predict(views)
    row = np.arange(len(views))
    nobody, next_seat = chances[row, 5], chances[row, (views.seats + 1) % 5]
    both = (nobody > 0) & (next_seat > 0)  # not where the next is the emperor
    assert both.sum() > 100
    told = np.log(nobody[both] / next_seat[both])
    assert np.allclose(told, logits[both, 4] - logits[both, 0], atol=1e-3)
    assert np.abs(told).max() > 0.1


def test_hands_are_played_alike_with_and_without_privileged_rows(algorithm):
    from lupai.train.rllib.runner import BatchEnvRunner

    found = []
    for critic, head in (("perfect", 0.1), ("perfect", 0.0), ("observation", 0.0)):
        config = algorithm_config(tiny(network={"critic": critic, "role_head": head}))
        runner = BatchEnvRunner(config=config, worker_index=0)
        runner.module.set_state(algorithm.env_runner_group.local_env_runner.module.get_state())
        torch.manual_seed(1)
        (data,) = runner.sample(num_timesteps=400)
        assert (PRIVILEGED in data.columns) == (critic == "perfect")
        assert (GROUNDED in data.columns) == (head > 0)
        names = ("actions", "action_logp", "observation", "rewards")
        found.append([data.columns[name].tobytes() for name in names])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["algorithm", "by_role"])
def test_the_role_loss_teaches_the_trunk(name, request):
    built = request.getfixturevalue(name)
    module, batch = learned(built), labelled(batch_of(built))
    labels = batch[PRIVILEGED][:, FEATURES].long()
    rows = (labels >= 0) & batch[Columns.LOSS_MASK]
    logits = module.forward_train(batch)["lupai_role_logits"]
    assert logits.shape == (len(labels), 5)
    functional.cross_entropy(logits[rows], labels[rows]).backward()
    trunks = [p for n, p in module.pi.named_parameters() if n.endswith("trunk.0.weight")]
    assert len(trunks) == (1 if name == "algorithm" else len(OWN_ROLES))
    assert any(bool(p.grad is not None and p.grad.any()) for p in trunks)


def test_only_hidden_roles_are_learned(algorithm):
    """Rows without a label, and masked ones, leave the loss as it is."""
    learner, batch = algorithm.learner_group._learner, labelled(batch_of(algorithm))
    module, config = learned(algorithm), algorithm.config.get_config_for_module("shared")
    labels = batch[PRIVILEGED][:, FEATURES].long()

    def loss(off, rows):
        out = module.forward_train(batch)
        logits = out["lupai_role_logits"]
        out["lupai_role_logits"] = torch.where(rows[:, None], logits + off, logits)
        learner._stats.clear()
        found = learner.compute_loss_for_module(
            module_id="shared", config=config, batch=batch, fwd_out=out
        )
        return found.item(), learner._stats["shared"].results()["role_log_loss"], logits

    off = torch.tensor([9.0, -9.0, 9.0, -9.0, 5.0])
    rows = (labels >= 0) & batch[Columns.LOSS_MASK]
    plain, log_loss, logits = loss(torch.zeros(5), rows)
    assert log_loss == pytest.approx(functional.cross_entropy(logits[rows], labels[rows]).item())
    assert loss(off, ~rows)[:2] == (plain, log_loss)
    other, other_loss, _ = loss(off, rows)
    # the rest of the loss is the same: the difference is the head's, times its weight
    assert other - plain == pytest.approx(0.1 * (other_loss - log_loss), rel=1e-3)
    learner._stats.clear()


def test_a_minibatch_with_one_guess_teaches_the_role_head_little(algorithm):
    """It once taught as much as one with many: who was guard in that one hand."""
    learner, batch = algorithm.learner_group._learner, batch_of(algorithm)
    module, config = learned(algorithm), algorithm.config.get_config_for_module("shared")

    def loss(label):
        batch[PRIVILEGED][:, FEATURES] = -1
        batch[PRIVILEGED][0, FEATURES] = label
        out = module.forward_train(batch)
        out["lupai_role_logits"] = out["lupai_role_logits"] * 0 + torch.tensor([4.0, 0, 0, 0, 0])
        found = learner.compute_loss_for_module(
            module_id="shared", config=config, batch=batch, fwd_out=out
        )
        learner._stats.clear()
        return found.item()

    assert loss(1) - loss(0) == pytest.approx(0.1 * 4 / FEW_LABELS, rel=1e-2)


def checked(built, episodes):
    """What the check of the role head logs."""
    metrics = MagicMock()
    to_batch(built, episodes, metrics)
    (call,) = (c for c in metrics.log_dict.call_args_list if c.kwargs.get("key") == "shared")
    return call.args[0]


def compares(built, logged, seen, wanted, least=50):
    """Whether that is the mean over decisions ``seen``, pairs of observation and label."""
    module = built.learner_group._learner.module["shared"].unwrapped()
    with torch.no_grad():
        logits = module.role_logits(torch.from_numpy(np.stack([o for o, _ in seen])))
    own = functional.cross_entropy(logits, torch.tensor([label for _, label in seen]))
    assert len(seen) > least
    assert logged[GUESSES] == len(seen)
    assert logged[GUESSES_LOSS] / len(seen) == pytest.approx(own.item(), rel=1e-5)
    assert logged[GROUNDED_LOSS] / len(seen) == pytest.approx(np.mean(wanted), rel=1e-5)


@pytest.mark.parametrize("name", ["algorithm", "by_role"])
def test_the_head_is_compared_with_the_evidence_on_the_same_decisions(name, request):
    built = request.getfixturevalue(name)
    (data,) = played(built, 400)
    rng = np.random.default_rng(0)
    chances = data.columns[GROUNDED]
    chances[: len(data)] = np.nan
    chances[len(data) :] = 0.5  # what is here for its value only is never checked
    seen, wanted = [], []
    for i in range(0, len(data), 3):
        chances[i] = rng.dirichlet(np.ones(5))
        label = data.columns[PRIVILEGED][i, FEATURES] = rng.integers(5)
        seen.append((data.columns["observation"][i], int(label)))
        wanted.append(-np.log(chances[i, label]))
    compares(built, checked(built, [data]), seen, wanted)
    assert GROUNDED not in to_batch(built, [data])


def test_the_stock_samplers_head_is_compared_too(stock):
    episodes = played(stock, 2400)  # enough that hands begin in it at any time
    rng = np.random.default_rng(0)
    seen, wanted = [], []
    for whole in episodes:
        for episode in whole.agent_episodes.values():
            for i in range(len(episode)):
                info = episode.infos.data[i]
                info.pop(GROUNDED, None)
                if i % 3 == 0:
                    info[GROUNDED] = rng.dirichlet(np.ones(5)).astype(np.float32)
                    info[PRIVILEGED][FEATURES] = label = int(rng.integers(5))
                    if episode.t_started == 0:  # else the hand is known in part
                        seen.append((episode.get_observations(i)["observation"], label))
                        wanted.append(-np.log(info[GROUNDED][label]))
    compares(stock, checked(stock, episodes), seen, wanted, least=10)


def columns_of(tables):
    """Made-up columns of the tables that wait, all with grounded chances."""
    count = len(tables.rows)
    return {
        PRIVILEGED: np.zeros((count, PRIVILEGED_LAYOUT.size), np.int8),
        GROUNDED: np.full((count, 5), 0.2, np.float32),
    }


def test_only_hands_the_learner_has_not_seen_are_checked(algorithm, monkeypatch):
    """Later decisions of a known hand would flatter the head, which remembers the guard."""
    from lupai.train.rllib import runner as sampler
    from lupai.train.sampling.tables import Tables

    asked = []

    def privileged(self, check=None):
        asked.append(list(check))
        return columns_of(self)

    monkeypatch.setattr(Tables, "privileged", privileged)
    monkeypatch.setattr(sampler, "CHECK_EVERY", 1)
    runner = sampler.BatchEnvRunner(config=algorithm.config, worker_index=0)
    runner.sample(num_timesteps=320)
    assert asked[0] == [True] * 8  # all are new
    asked.clear()
    running = list(runner._hands)
    runner.sample(num_timesteps=3200)
    assert asked[0] == [False] * 8
    assert asked[-1] == [new != old for new, old in zip(runner._hands, running, strict=True)]
    assert any(asked[-1])


def test_a_decision_that_waited_for_its_batch_is_not_checked(algorithm, monkeypatch):
    from lupai.train.rllib.runner import BatchEnvRunner
    from lupai.train.sampling.tables import Tables

    monkeypatch.setattr(Tables, "privileged", lambda self, check=None: columns_of(self))
    runner = BatchEnvRunner(config=algorithm.config, worker_index=0)
    both = set()
    for call in range(4):
        first = runner._next_hand
        (data,) = runner.sample(num_timesteps=800)
        new = np.repeat(data.hands >= first, np.diff(data.offsets))
        chances = data.columns[GROUNDED][: len(data)]
        assert (np.isnan(chances).any(1) == ~new).all()
        assert new.all() == (call == 0)
        both |= set(new.tolist()) if call else set()
    assert both == {True, False}


def test_a_decision_of_the_stock_sampler_without_its_row_is_an_error(stock):
    episodes = played(stock, 80)
    episode = next(e for e in episodes[0].agent_episodes.values() if len(e))
    del episode.infos.data[episode.infos.lookback][PRIVILEGED]  # those before are known already
    with pytest.raises(RuntimeError, match="lacks its privileged row"):
        to_batch(stock, episodes)


def test_a_decision_of_our_sampler_without_its_row_is_an_error(algorithm, monkeypatch):
    from lupai.train.rllib.runner import BatchEnvRunner
    from lupai.train.sampling.tables import Tables

    (data,) = played(algorithm, 80)
    del data.columns[PRIVILEGED], data.columns[GROUNDED]
    with pytest.raises(KeyError, match=PRIVILEGED):
        to_batch(algorithm, [data])
    runner = BatchEnvRunner(config=algorithm.config, worker_index=0)
    runner.sample(num_timesteps=80)
    monkeypatch.setattr(Tables, "privileged", lambda self, check=None: {})
    with pytest.raises(ValueError, match=r"the ones before had .*privileged"):
        runner.sample(num_timesteps=80)


def test_metrics_tell_the_roles_apart(by_role):
    row: dict = {}
    while "role_value_explained" not in row:  # without a hand's end the targets do not vary
        row = by_role.train()["learners"]["shared"]
    assert {"bidder", "rebel"} <= set(row["role_entropy"]) <= set(ROLES)
    assert set(row["role_value_explained"]) <= set(ROLES)
    assert all(h >= 0 for h in row["role_entropy"].values())
    assert all(v <= 1 for v in row["role_value_explained"].values())


def test_explained_variance_by_role_agrees_with_one_over_all_rows():
    engine = Engine()
    table = move_table(engine.observation_layout)
    state = engine.reset(np.arange(40, dtype=np.uint64))  # nobody has a role yet
    observation = torch.tensor(engine.observe(state, state.actor))
    generator = torch.Generator().manual_seed(0)
    targets, noise, entropy = torch.randn(3, 40, generator=generator)
    values, mask = targets + 0.5 * noise, torch.arange(40) < 30
    stats = RoleStats(table)
    for part in (slice(0, 17), slice(17, 40)):
        stats.add(observation[part], mask[part], targets[part], values[part], entropy[part].abs())
    found = stats.results()
    assert set(found) == {"role_value_explained", "role_entropy"}
    assert set(found["role_entropy"]) == {"bidder"}
    wanted = 1 - (targets - values)[mask].var(correction=0) / targets[mask].var(correction=0)
    assert found["role_value_explained"]["bidder"] == pytest.approx(wanted.item(), abs=1e-5)
    assert found["role_entropy"]["bidder"] == pytest.approx(entropy[mask].abs().mean().item())


def test_a_critic_that_sees_all_hands_explains_more():
    """Fitted to what is hidden from the seat, and asked about other hands.

    The target is a stand-in for scores that needs few hands: by how many high cards (jokers, 2s)
    the hand of the next seat is better than that of the seat before.
    """
    tables, known = 400, 300
    engine, state = list(quiet_positions("qingdao", tables=tables, plies=21))[-1]
    rows, seats = np.tile(np.arange(len(state)), 5), np.repeat(np.arange(5), len(state))
    state = state.take(rows)
    observation = torch.tensor(engine.observe(state, seats))
    privileged = torch.from_numpy(privileged_rows(state, seats))
    high = state.ranks[:, :, 12:].sum(2).astype(float)
    every = np.arange(len(rows))
    target = torch.from_numpy(high[every, (seats + 1) % 5] - high[every, (seats + 4) % 5]).float()
    target = target / target.std()
    fit = torch.from_numpy(rows < known)
    table, config = move_table(engine.observation_layout), NetworkConfig(value_hidden=(32,))
    explained = {}
    for layout in (None, PRIVILEGED_LAYOUT):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = value_network(table, config, layout)
        inputs = (observation,) if layout is None else (observation, privileged)
        optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
        for _ in range(50):
            optimizer.zero_grad()
            (network(*(x[fit] for x in inputs)) - target[fit]).square().mean().backward()
            optimizer.step()
        with torch.no_grad():
            error = target[~fit] - network(*(x[~fit] for x in inputs))
        explained[layout is not None] = (1 - error.var() / target[~fit].var()).item()
    assert explained[True] > explained[False] + 0.3, explained
