"""Recorded hands for the tests of beliefs, played once for each set of rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from lupai.agents.belief.features import CONTEXTS, RESPONSES
from lupai.agents.belief.naive_bayes import ROLES, NaiveBayes
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.game import make_game
from lupai.train.belief.decisions import Decisions, decisions_of
from lupai.train.belief.playing import Plan, Population

RULES = ("qingdao", "shiwei", "weihai", "qingdao;pass_scope=trick;yield=false")


@lru_cache(maxsize=16)
def records_of(rules: str, hands: int = 8, seed: int = 1) -> list[dict[str, Any]]:
    """Hands of greedy and random players after neutral calls."""
    plan = Plan(
        str(load_rules(rules)), ("greedy", "random"), mix="seat", noise=0.05, calling="neutral",
        hands=hands, seed=seed,
    )  # fmt: skip
    return list(Population(plan).play(0))


@lru_cache(maxsize=16)
def decisions(rules: str, hands: int = 8, seed: int = 1) -> Decisions:
    """The same as decisions."""
    return decisions_of(make_game("baohuang", rules), records_of(rules, hands, seed))


def some_bayes(rules: str, seed: int = 0) -> NaiveBayes:
    """A naive Bayes that has counted nothing but draws, so that all moves tell it something."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, (len(ROLES), CONTEXTS, RESPONSES)).astype(np.float64)
    return NaiveBayes(str(load_rules(rules)), counts, 0.3)
