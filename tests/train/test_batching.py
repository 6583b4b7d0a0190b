"""The order in which decisions are learned, and what is asked of the role head."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray")

import torch
from ray.rllib.core.columns import Columns

from lupai.agents.role_head import RoleHead
from lupai.train.privileged import FEATURES, PRIVILEGED, UNLABELLED
from lupai.train.rllib.batching import RandomOrder

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def learned(built, episodes):
    learner = built.learner_group._learner
    return learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
    )["shared"]


def batch_of(count):
    place = torch.arange(count)
    return {
        Columns.LOSS_MASK: place >= 0,
        Columns.OBS: {"observation": place[:, None] * 2, "legal": place * 3},
        Columns.INFOS: [{"place": i} for i in range(count)],
        "place": place,
    }


def test_all_columns_of_a_batch_are_put_in_one_random_order():
    found = RandomOrder([5, 0])(batch={"shared": batch_of(200)})["shared"]
    place = found["place"].numpy()
    assert sorted(place) == list(range(200))
    assert np.corrcoef(place, np.arange(200))[0, 1] < 0.3
    assert (found[Columns.OBS]["observation"][:, 0] == 2 * found["place"]).all()
    assert (found[Columns.OBS]["legal"] == 3 * found["place"]).all()
    assert [info["place"] for info in found[Columns.INFOS]] == place.tolist()


def test_orders_come_from_a_stream_of_their_own_that_moves_with_the_iteration():
    def orders(*stream):
        piece = RandomOrder(stream)
        np.random.seed(stream[0])  # noqa: NPY002 - whatever is drawn elsewhere
        return [piece(batch={"shared": batch_of(50)})["shared"]["place"].tolist() for _ in "ab"]

    first = orders(5, 0)
    assert first == orders(5, 0)
    assert first[0] != first[1]
    assert len({tuple(order) for order in first + orders(5, 1) + orders(6, 0)}) == 6


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_the_first_epoch_does_not_go_through_the_hands_one_by_one(name, request):
    """It once did: RLlib shuffles between epochs only, and not at all where there is one."""
    built = request.getfixturevalue(name)
    batch = learned(built, built.env_runner_group.local_env_runner.sample(num_timesteps=400))
    observation = batch[Columns.OBS]["observation"][batch[Columns.LOSS_MASK]].numpy()
    # Neighbours in a trajectory differ in little; those of a random order in much.
    near = (observation[1:] != observation[:-1]).mean()
    rng = np.random.default_rng(0)
    mixed = observation[rng.permutation(len(observation))]
    assert near == pytest.approx((mixed[1:] != mixed[:-1]).mean(), rel=0.1)


def test_of_a_seats_decisions_in_a_hand_one_teaches_the_role_head(algorithm):
    """All of them, 20 to 100 with one label, once made the head learn the few hands by heart."""
    (data,) = algorithm.env_runner_group.local_env_runner.sample(num_timesteps=400)
    count = len(data)
    number = data.columns["observation"][:count, 0] = np.arange(count) % 100
    labels = np.random.default_rng(0).integers(-1, 5, len(data.columns[PRIVILEGED]))
    data.columns[PRIVILEGED][:, FEATURES] = labels
    batch = learned(algorithm, [data])
    assert (data.columns[PRIVILEGED][:, FEATURES] == labels).all()
    seats = np.repeat(np.arange(len(data.hands)), np.diff(data.offsets))
    has = np.bincount(seats, labels[:count] != UNLABELLED) > 0
    found = batch[PRIVILEGED][:, FEATURES].numpy()
    assert np.count_nonzero(found != UNLABELLED) == np.count_nonzero(has) < 0.5 * count
    there = set(zip(number.tolist(), labels[:count].tolist(), strict=True))
    observed = batch[Columns.OBS]["observation"][:, 0].tolist()
    kept = [(n, label) for n, label in zip(observed, found.tolist(), strict=True) if label >= 0]
    assert set(kept) <= there


def test_of_a_stock_samplers_decisions_one_teaches_too(stock):
    episodes = stock.env_runner_group.local_env_runner.sample(num_timesteps=800)
    wanted = 0
    for whole in episodes:
        for episode in whole.agent_episodes.values():
            for i in range(len(episode)):
                episode.infos.data[i][PRIVILEGED][FEATURES] = i % 5
            wanted += len(episode) > 0
    found = learned(stock, episodes)
    labels = found[PRIVILEGED][found[Columns.LOSS_MASK]][:, FEATURES]
    assert (labels != UNLABELLED).sum() == wanted > 0


@pytest.mark.parametrize("units", [16, 128, 1024])
def test_a_step_of_the_optimiser_moves_a_guess_by_little_whatever_the_width(units):
    """A step of the learning rate at each weight once moved a guess by half a nat."""
    head, generator = RoleHead(units, 1), torch.Generator().manual_seed(0)
    state = torch.rand(64, units, generator=generator) * 3
    which, labels = torch.zeros(64, dtype=torch.long), torch.full((64,), 2)
    optimizer = torch.optim.Adam(head.parameters(), lr=2e-3)
    torch.nn.functional.cross_entropy(head(state, which), labels).backward()
    optimizer.step()
    assert 1e-3 < head(state, which).abs().max() < 0.01
