"""Our sampler: every decision is learned once, with the right reward and the right value target."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("ray")

import itertools

import torch

from lupai.agents.network import in_words, unpack_words
from lupai.envs.baohuang.actions import VERB_ID
from lupai.train.games.baohuang import ROLES
from lupai.train.sampling.tables import WORDS, Tables
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


@pytest.mark.parametrize("rules", ["qingdao", "shiwei", "weihai"])
def test_tables_show_the_acting_seat_exactly_its_legal_moves(rules):
    """Under shiwei, whose identity card counts beside a set, tables once lost moves with it."""
    tables = Tables(rules, "idle", [2], 32)
    rng = np.random.default_rng(0)
    for _ in range(120):
        observation, words = tables.observe()
        direct = tables.engine.legal(tables.state)
        asked, moves = (part.numpy() for part in unpack_words(torch.from_numpy(words)))
        assert (np.stack([asked, moves]) == np.nonzero(direct.dense())).all()
        assert (observation == tables.engine.observe(tables.state, tables.state.actor)).all()
        ids, offsets = direct.ids()
        tables.step(ids[rng.integers(offsets[:-1], offsets[1:])])


@pytest.fixture
def runner(algorithm):
    """A fresh sampler that records which hands ended with which scores."""
    from lupai.train.rllib.runner import BatchEnvRunner

    class Recording(BatchEnvRunner):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.scores = {}

        def _close(self, end):
            self.scores[int(self._hands[end.table])] = end.scores
            super()._close(end)

    return Recording(config=algorithm.config, worker_index=0)


def test_every_decision_arrives_once_and_in_order(runner):
    pieces, total, learned = defaultdict(list), 0, 0
    for steps in (8, 400, 24, 800, 1600):
        total += steps
        for data in runner.sample(num_timesteps=steps):
            learned += len(data)
            for i, (hand, seat) in enumerate(zip(data.hands, data.seats, strict=True)):
                rows = slice(data.offsets[i], data.offsets[i + 1])
                piece = {name: column[rows] for name, column in data.columns.items()}
                after = int(data.following[i])
                next_ = None if after < 0 else {k: v[after] for k, v in data.columns.items()}
                pieces[int(hand), int(seat)].append((piece, next_))
    assert learned + runner._record.waiting == total
    finished = 0
    for (hand, seat), parts in pieces.items():
        for (_, next_), (after, _) in itertools.pairwise(parts):
            assert (next_["observation"] == after["observation"][0]).all()
            words, again = (found[found != 0] for found in (next_[WORDS], after[WORDS][0]))
            assert words.tolist() == again.tolist()  # one call may have wider rows than the other
        for piece, _ in parts:
            assert in_words(piece[WORDS], piece["actions"]).all()
            assert (piece["action_logp"] <= 0).all()
        rewards = np.concatenate([piece["rewards"] for piece, _ in parts])
        assert not rewards[:-1].any()
        if hand in runner.scores:
            finished += 1
            assert parts[-1][1] is None
            assert rewards[-1] == pytest.approx(0.1 * runner.scores[hand][seat])
        else:
            assert parts[-1][1] is not None
            assert rewards[-1] == 0
    assert finished > 20


def test_two_samplers_of_one_seed_play_the_same_and_of_others_not(algorithm):
    import torch

    from lupai.train.rllib.runner import BatchEnvRunner

    played = []
    for worker in (0, 0, 1):
        runner = BatchEnvRunner(config=algorithm.config, worker_index=worker)
        runner.module.set_state(algorithm.env_runner_group.local_env_runner.module.get_state())
        torch.manual_seed(1)
        (data,) = runner.sample(num_timesteps=400)
        played.append(data.columns["actions"].tolist())
    assert played[0] == played[1] != played[2]


def test_both_samplers_learn_the_same_kind_of_rows(algorithm, stock):
    """The columns and their dtypes are the same whichever runner played, but for the form of the
    legal moves."""
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
    assert (ours.pop(WORDS)[0], theirs.pop("legal")[0]) == (torch.int32, torch.uint8)
    assert set(ours) >= {"observation", "actions", "action_logp", "value_targets"}
    for key, value in ours.items():
        assert theirs[key][1] == value[1], key
        if key not in ("actions", "rewards"):
            assert theirs[key][0] == value[0], key


def test_metrics_tell_roles_apart(algorithm):
    algorithm.train()  # takes in what other tests sampled by hand
    result = algorithm.train()
    while not result["env_runners"].get("hands_ended", 0) > 0:
        result = algorithm.train()
    played = result["env_runners"]
    assert set(played["role_seats"]) == set(played["role_points"]) <= set(ROLES)
    assert 0 <= played["solo_hands"] <= played["hands_ended"] == played["num_episodes"]
    assert played["num_env_steps_sampled"] == 512


def test_unknown_skip_is_refused():
    with pytest.raises(ValueError, match="none, forced, idle"):
        Tables("qingdao", "all", [0], 1)
    assert tiny().env.skip == "idle"


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_the_weight_of_the_shaping_reaches_every_table(name, request):
    from lupai.train.rllib.setup import set_shaping

    built = request.getfixturevalue(name)
    runner = built.env_runner_group.local_env_runner
    config = tiny(reward={"kind": "potential", "coefficient": 0.8, "anneal_steps": 1000})
    payers = (
        [runner.rewards] if name == "algorithm" else [e.unwrapped.rewards for e in runner.env.envs]
    )
    before = [payer.coefficient for payer in payers]
    for steps, due in ((0, 0.8), (250, 0.6), (5000, 0.0)):
        set_shaping(built, config, steps)
        assert [payer.coefficient for payer in payers] == pytest.approx([due] * len(payers))
    set_shaping(built, tiny(), 0)  # another kind: nothing to tell
    assert payers[0].coefficient == 0.0
    for payer, value in zip(payers, before, strict=True):
        payer.coefficient = value


def test_the_sampler_itself_pays_the_shaping(ray_session):
    """A run with ``potential``: what its runner pays is the potential's, at its coefficient."""
    from lupai.train.rllib.runner import BatchEnvRunner
    from lupai.train.rllib.setup import algorithm_config

    settings = algorithm_config(tiny(reward={"kind": "potential", "coefficient": 0.5}))
    paid = []
    for coefficient in (0.5, 0.0):
        runner = BatchEnvRunner(config=settings, worker_index=0)
        assert runner.rewards.coefficient == 0.5
        runner.rewards.coefficient = coefficient
        (data,) = runner.sample(num_timesteps=1600)
        paid.append(np.count_nonzero(data.columns["rewards"]) / len(data))
        runner.stop()
    assert paid[0] > 0.3
    assert paid[1] < 0.1
