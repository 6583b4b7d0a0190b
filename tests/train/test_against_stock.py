"""Our sampler and learner pipeline against RLlib's own, hand for hand."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ray")

import torch
from ray.rllib.core.columns import Columns

from lupai.agents.network import pack_legal, unpack_words
from lupai.envs.baohuang.actions import ACTIONS
from lupai.train.rllib import module as policy_module
from lupai.train.rllib.batching import RandomOrder
from lupai.train.rllib.env import LEGAL, OBSERVATION, LupaiEnv
from lupai.train.rllib.mapping import POLICY
from lupai.train.rllib.setup import algorithm_config
from lupai.train.sampling.tables import WORDS, Tables
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]

TOLERANCE = 1e-5
CALLS = (90, 41, 900, 333)  # hands are cut at other places each time
KEPT = (Columns.ACTIONS, Columns.ACTION_LOGP, Columns.REWARDS, "value_targets", "advantages")


def some_move(log_probs, rows, count, uniform):
    """In the place of the draw: a legal move that depends on the legal moves only."""
    sizes = torch.bincount(rows, minlength=count)
    first = sizes.cumsum(0) - sizes
    return first + (sizes * 7 + 3) % 11 % sizes


def one_stream(monkeypatch):
    """Both deal the same hands, whatever seeds they are given."""
    monkeypatch.setattr(
        Tables, "_deal", lambda self, rows: self.engine.reset(deals(self, len(rows)))
    )
    reset = LupaiEnv.reset

    def reset_env(self, *, seed=None, options=None):
        if seed is not None:
            vars(self).pop("same", None)
        self._deals = SimpleNamespace(integers=lambda *_, size, dtype: deals(self, size))
        return reset(self)

    monkeypatch.setattr(LupaiEnv, "reset", reset_env)


def deals(owner, count):
    """The next seeds of the stream that ``owner`` holds."""
    generator = vars(owner).setdefault("same", np.random.default_rng(99))
    return generator.integers(0, 1 << 63, size=count, dtype=np.uint64)


def with_places(monkeypatch):
    """Each row of a batch carries the place that it had before the batch was put in random order:
    there it is known by hand, seat and step."""
    shuffled = RandomOrder.__call__

    def shuffle(self, *, batch, **kwargs):
        for columns in batch.values():
            columns["place"] = torch.arange(len(columns[Columns.LOSS_MASK]))
        return shuffled(self, batch=batch, **kwargs)

    monkeypatch.setattr(RandomOrder, "__call__", shuffle)


def learned(algorithm, episodes):
    """The learner's batch before its epochs, by hand, seat and step."""
    learner = algorithm.learner_group._learner
    batch = learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
    )[POLICY]
    order = batch.pop("place").argsort()
    assert len(order) < 20 or not (order.diff() > 0).all()
    observed = {name: column[order] for name, column in batch.pop(Columns.OBS).items()}
    ordered = {k: v[order] for k, v in batch.items() if isinstance(v, torch.Tensor)}
    return ordered | {Columns.OBS: observed}


def rows(batch, keep):
    flat = {name: batch[name].numpy()[keep] for name in KEPT}
    seen = batch[Columns.OBS]
    if WORDS in seen:  # as bits, which the env of RLlib's runner has
        asked, ids = (part.numpy() for part in unpack_words(seen[WORDS]))
        offsets = np.searchsorted(asked, np.arange(len(seen[WORDS]) + 1))
        seen = seen | {LEGAL: torch.from_numpy(pack_legal(ids, offsets, ACTIONS.size))}
    return flat | {name: seen[name].numpy()[keep] for name in (OBSERVATION, LEGAL)}


def ours(algorithm, runner, count):
    """Trajectories of one call, ``{(first observation, seat): columns}``."""
    (data,) = runner.sample(num_timesteps=count)
    batch = rows(learned(algorithm, [data]), slice(None))
    found = {}
    for i, (hand, seat) in enumerate(zip(data.hands, data.seats, strict=True)):
        part = slice(data.offsets[i], data.offsets[i + 1])
        found[int(hand), int(seat)] = {name: column[part] for name, column in batch.items()}
    return found


def theirs(algorithm, runner, count, hands):
    """The same of RLlib's runner; ``hands`` numbers its episodes as they appear."""
    episodes = runner.sample(num_timesteps=count)
    for episode in episodes:
        hands.setdefault(episode.id_, len(hands))
    connectors = algorithm.learner_group._learner._learner_connector.connectors
    seats = connectors[0].single_agent_episode_iterator(episodes, agents_that_stepped_only=False)
    pieces = [
        ((hands[seat.multi_agent_episode_id], int(seat.agent_id[-1])), len(seat)) for seat in seats
    ]
    batch = learned(algorithm, episodes)
    mask = batch[Columns.LOSS_MASK].numpy()
    flat, found, start = rows(batch, mask), {}, 0
    for key, length in pieces:
        part = slice(start, start + length)
        if length:
            found[key] = {name: column[part] for name, column in flat.items()}
        start += length
    assert start == mask.sum()
    return found


@pytest.mark.parametrize(
    "kind", ["score", pytest.param("placement", marks=pytest.mark.soak), "potential"]
)
def test_trajectories_and_advantages_are_those_of_the_stock_runner(ray_session, monkeypatch, kind):
    """The same deals, weights and moves give the learner the same numbers, in cut pieces too."""
    monkeypatch.setattr(policy_module, "segment_sample", some_move)
    one_stream(monkeypatch)
    with_places(monkeypatch)
    one_table = {"envs_per_runner": 1}
    built = [
        algorithm_config(
            tiny(
                workers={"sampler": sampler, **one_table},
                reward={"kind": kind, "coefficient": 0.7},
                ppo={"gamma": 0.98},
            )
        ).build_algo()
        for sampler in ("batch", "rllib")
    ]
    try:
        value = built[0].learner_group._learner.module[POLICY].unwrapped().vf.head
        torch.nn.init.normal_(value.weight, generator=torch.Generator().manual_seed(1))
        state = built[0].learner_group._learner.module[POLICY].unwrapped().state_dict()
        for algorithm in built:
            algorithm.learner_group._learner.module[POLICY].unwrapped().load_state_dict(state)
            playing = algorithm.env_runner_group.local_env_runner.module[POLICY]
            playing.load_state_dict({k: v for k, v in state.items() if k.startswith("pi.")})
        runners = [a.env_runner_group.local_env_runner for a in built]
        hands, compared = {}, defaultdict(int)
        for count in CALLS:
            found = ours(built[0], runners[0], count)
            other = theirs(built[1], runners[1], count, hands)
            assert set(found) == set(other)
            for key, columns in found.items():
                for name in (OBSERVATION, LEGAL, Columns.ACTIONS):
                    assert (columns[name] == other[key][name]).all(), (key, name)
                for name in KEPT[1:]:
                    assert np.abs(columns[name] - other[key][name]).max() < TOLERANCE, (key, name)
                compared["decisions"] += len(columns[Columns.ACTIONS])
                compared["paid"] += np.count_nonzero(columns[Columns.REWARDS])
            compared["hands"] = len(hands)
        assert compared["hands"] >= 3
        assert compared["decisions"] > 200
        assert compared["paid"] >= 10
    finally:
        for algorithm in built:
            algorithm.stop()
