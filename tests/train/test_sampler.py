"""Our sampler: every decision is learned once, with the right reward and the right value target."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("ray")

import itertools

from lupai.envs.actions import ACTIONS, VERB_ID
from lupai.train.rllib.tables import ROLES, Tables
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]

IDLE = {VERB_ID["pass"], VERB_ID["yield"], VERB_ID["claim"]}


def rows_of(legal):
    ids, offsets = legal.ids()
    return [set(ids[offsets[i] : offsets[i + 1]].tolist()) for i in range(len(offsets) - 1)]


@pytest.mark.parametrize("skip", ["none", "forced", "idle"])
def test_tables_ask_what_they_should_and_pay_once(skip):
    tables = Tables("qingdao", skip, [1], 16)
    rng = np.random.default_rng(0)
    hands, kinds, roles = 0, defaultdict(int), set()
    for _ in range(700 if skip == "none" else 400):
        assert not tables.state.over.any()
        for row in rows_of(tables.legal):
            kinds["forced"] += len(row) == 1
            kinds["idle"] += row <= IDLE
        ids, offsets = tables.legal.ids()
        for end in tables.step(ids[rng.integers(offsets[:-1], offsets[1:])]):
            hands += 1
            assert end.scores.sum() == 0
            roles |= {ROLES[r] for r in end.roles}
    assert hands > 5
    assert "solo" in roles
    assert (kinds["forced"] > 0) == (skip == "none")
    assert (kinds["idle"] > 0) == (skip != "idle")


def test_tables_show_the_acting_seat_exactly_its_legal_moves():
    tables = Tables("qingdao", "idle", [2], 8)
    rng = np.random.default_rng(0)
    for _ in range(60):
        observation, packed = tables.observe()
        bits = np.unpackbits(packed, axis=1)[:, : ACTIONS.size]
        direct = tables.engine.legal(tables.state)
        assert (bits == direct.dense()).all()
        assert (observation == tables.engine.observe(tables.state, tables.state.actor)).all()
        ids, offsets = direct.ids()
        tables.step(ids[rng.integers(offsets[:-1], offsets[1:])])


@pytest.fixture
def runner(algorithm):
    """A fresh sampler that records which hands ended with which scores."""
    from lupai.train.rllib.runner import BatchEnvRunner

    class Recording(BatchEnvRunner):
        ended = ()

        def _episodes(self, games, ended):
            self.ended = dict(ended)
            return super()._episodes(games, ended)

    return Recording(config=algorithm.config, worker_index=0)


def test_every_decision_arrives_once_and_in_order(runner):
    pieces, total = defaultdict(list), 0
    scores = {}
    for steps in (8, 400, 24, 800, 1600):
        episodes = runner.sample(num_timesteps=steps)
        total += steps
        scores |= {hand: end.scores for hand, end in runner.ended.items()}
        for episode in episodes:
            hand = int(episode.id_.split("-")[1])
            pieces[hand, episode.agent_id].append(episode)
    learned = sum(len(e) for parts in pieces.values() for e in parts)
    assert learned + len(runner._waiting) == total
    finished = 0
    for (hand, agent), parts in pieces.items():
        for before, after in itertools.pairwise(parts):
            assert not before.is_done
            last, first = before.get_observations(-1), after.get_observations(0)
            assert (last["observation"] == first["observation"]).all()
            assert (last["legal"] == first["legal"]).all()
        for part in parts:
            for i in range(len(part)):
                bits = np.unpackbits(part.get_observations(i)["legal"])
                assert bits[part.get_actions(i)] == 1
                assert part.get_extra_model_outputs("action_logp", i) <= 0
        rewards = [r for part in parts for r in part.get_rewards()]
        assert not any(rewards[:-1])
        if hand in scores:
            finished += 1
            assert parts[-1].is_terminated
            assert rewards[-1] == pytest.approx(0.1 * scores[hand][int(agent[-1])])
        else:
            assert not parts[-1].is_done
            assert rewards[-1] == 0
    assert finished > 20


def test_value_targets_are_those_of_generalised_advantage(runner, algorithm):
    """RLlib's own connectors, fed by our sampler, against a computation by hand."""
    from ray.rllib.core.columns import Columns

    learner = algorithm.learner_group._learner
    module = learner.module["shared"].unwrapped()
    episodes = [e for _ in range(3) for e in runner.sample(num_timesteps=1200)]
    batch = learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
    )["shared"]
    values = module.compute_values(batch).detach().numpy()
    targets = batch["value_targets"].numpy()
    mask = batch[Columns.LOSS_MASK].numpy()
    rewards = batch[Columns.REWARDS].numpy()
    done = batch[Columns.TERMINATEDS].numpy()
    lambda_, start, checked = 0.95, 0, 0
    for stop in np.flatnonzero(~mask):  # the row that RLlib appends to each piece
        advantage = 0.0
        for i in range(stop - 1, start - 1, -1):
            following = 0.0 if done[i] else values[i + 1]
            advantage = rewards[i] + following - values[i] + (0 if done[i] else lambda_) * advantage
            assert targets[i] == pytest.approx(advantage + values[i], abs=1e-4)
            checked += 1
        start = stop + 1
    assert checked == mask.sum() > 3000
    assert done.any()


def test_two_samplers_of_one_seed_play_the_same_and_of_others_not(algorithm):
    import torch

    from lupai.train.rllib.runner import BatchEnvRunner

    played = []
    for worker in (0, 0, 1):
        runner = BatchEnvRunner(config=algorithm.config, worker_index=worker)
        runner.module.set_state(algorithm.env_runner_group.local_env_runner.module.get_state())
        torch.manual_seed(1)
        played.append([e.get_actions() for e in runner.sample(num_timesteps=400)])
    assert played[0] == played[1] != played[2]


def test_both_samplers_learn_the_same_kind_of_rows(algorithm, stock):
    """The columns and their dtypes are the same whichever runner played."""
    seen = []
    for built in (algorithm, stock):
        episodes = built.env_runner_group.local_env_runner.sample(num_timesteps=400)
        learner = built.learner_group._learner
        batch = learner._learner_connector(
            rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
        )["shared"]
        flat = {**batch.pop("obs"), **batch}
        seen.append(
            {k: (v.dtype, tuple(v.shape[1:])) for k, v in flat.items() if hasattr(v, "dtype")}
        )
    ours, theirs = seen
    assert set(ours) >= {"observation", "legal", "actions", "action_logp", "value_targets"}
    for key, value in ours.items():
        assert theirs[key][1] == value[1], key
        if key not in ("actions", "rewards"):
            assert theirs[key][0] == value[0], key


def test_metrics_tell_roles_apart(algorithm):
    algorithm.train()  # takes in what other tests sampled by hand
    result = algorithm.train()
    while "role_score" not in result["env_runners"]:
        result = algorithm.train()
    played = result["env_runners"]
    assert set(played["role_score"]) <= set(ROLES)
    assert 0 <= played["solo_share"] <= 1
    assert played["num_env_steps_sampled"] == 512


def test_unknown_skip_is_refused():
    with pytest.raises(ValueError, match="none, forced, idle"):
        Tables("qingdao", "all", [0], 1)
    assert tiny().env.skip == "idle"
