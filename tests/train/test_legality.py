"""Runner and learner over many decisions: no action is illegal, in play or in what is learned."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray")

from lupai.agents.network import in_words
from lupai.train.rllib.runner import BatchEnvRunner
from lupai.train.rllib.setup import algorithm_config
from lupai.train.sampling.tables import WORDS
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def train(rules, decisions):
    """Learn until so many decisions were made; every action is looked up in its words.

    The engine itself raises IllegalMoveError at the first illegal move, so play is checked too.
    """
    counted = {"decisions": 0, "illegal": 0, "choices": 0}

    class Checked(BatchEnvRunner):
        def sample(self, **kwargs):
            out = super().sample(**kwargs)
            for data in out:
                actions = data.columns["actions"][: len(data)]
                legal = data.columns[WORDS][: len(data)]
                counted["illegal"] += int((~in_words(legal, actions)).sum())
                counted["choices"] += int(np.bitwise_count(legal & 0xFFFF).sum())
                counted["decisions"] += len(data)
            return out

    config = tiny(
        rules=rules,
        workers={"envs_per_runner": 256},
        ppo={"batch_size": 12_800, "minibatch_size": 1600},
    )
    settings = algorithm_config(config)
    settings.env_runners(env_runner_cls=Checked)
    built = settings.build_algo()
    try:
        before = built.learner_group._learner.module["shared"].unwrapped().pi.head.weight.clone()
        while counted["decisions"] < decisions:
            result = built.train()
            assert np.isfinite(result["learners"]["shared"]["total_loss"])
        after = built.learner_group._learner.module["shared"].unwrapped().pi.head.weight
        assert (before != after).any()
    finally:
        built.stop()
    return counted


def check(counted, decisions):
    assert counted["illegal"] == 0
    assert counted["decisions"] >= decisions
    assert counted["choices"] > 4 * counted["decisions"]  # there was something to choose


def test_100_000_masked_decisions_are_legal(ray_session):
    check(train("qingdao", 100_000), 100_000)


@pytest.mark.soak
@pytest.mark.parametrize("rules", ["qingdao", "shiwei", "weihai"])
def test_10_000_000_masked_decisions_are_legal(ray_session, rules):
    """A third of them under each preset."""
    check(train(rules, 3_400_000), 3_400_000)
