"""Counts of the naive Bayes predictor, from the hands of data sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, CLASSES, BeliefError
from lupai.agents.belief.features import CONTEXTS, RESPONSES
from lupai.agents.belief.naive_bayes import ROLES, NaiveBayes, reweigh
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import (
    OBSERVERS,
    Decisions,
    answer_features,
    decisions_of,
    redrawn,
)
from lupai.train.belief.scores import FLOOR

__all__ = ["count_moves", "fit_naive_bayes", "one_rules"]

HIGHEST: Final = 2.0  # exponent
_STEPS: Final = 30  # of the golden section: to 1e-6
F64 = npt.NDArray[np.float64]


def one_rules(data: Sequence[DataSet]) -> str:
    """Rules of all data sets.

    Raises:
        BeliefError: there is none, or they have different ones.
    """
    rules = list(dict.fromkeys(some.rules for some in data))
    if len(rules) != 1:
        raise BeliefError(
            f"data sets of {len(rules)} rules ({', '.join(rules)}): a predictor is for one"
        )
    return rules[0]


def count_moves(decisions: Decisions) -> F64:
    """``[4, K, R]``: moves made while the role was hidden, by the mover's role (ROLES), context and
    response."""
    counts = np.zeros(len(ROLES) * CONTEXTS * RESPONSES)
    if not len(decisions):
        return counts.reshape(len(ROLES), CONTEXTS, RESPONSES)
    state, which = decisions.state, answer_features(decisions)
    king = state.actor == state.emperor
    alone = decisions.label == ALONE
    role = np.where(king, 2 + alone, state.actor == decisions.label)
    counts += np.bincount(role * CONTEXTS * RESPONSES + which, minlength=len(counts))
    return counts.reshape(len(ROLES), CONTEXTS, RESPONSES)


def fit_naive_bayes(
    data: Sequence[DataSet],
    *,
    name: str = "naive_bayes",
    limit: int | None = None,
    redraw: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NaiveBayes:
    """Count moves on the split ``train``, and fit the exponent on ``dev``.

    Args:
        data: of one set of rules.
        name: of the predictor.
        limit: the first so many hands of each split of each data set.
        redraw: None; or a control, in which nothing can be learned: at each decision who is guard
            is drawn anew from the grounded chances, with this seed.
        progress: called with the number of hands done since the last call.

    Raises:
        BeliefError: different rules, or no hands.
    """
    rules = one_rules(data)
    rng = None if redraw is None else np.random.default_rng(redraw)
    counts = np.zeros((len(ROLES), CONTEXTS, RESPONSES))
    for some in data:
        for records in some.records("train", limit):
            decisions = decisions_of(some.engine(), records)
            if rng is not None:
                label = redrawn(decisions.views("spectator").grounded, rng)
                decisions = replace(decisions, label=label)
            counts += count_moves(decisions)
            if progress is not None:
                progress(len(records))
    if not counts.any():
        raise BeliefError("the data sets have no hands in split train: play more")
    predictor = NaiveBayes(rules, counts, name=name)
    priors, evidence, labels = [np.zeros((0, CLASSES))], [np.zeros((0, CLASSES))], []
    for some in data:
        for records in some.records("dev", limit):
            decisions = decisions_of(some.engine(), records)
            for observer in OBSERVERS:
                rows = decisions.rows(observer)
                if len(rows):
                    views = decisions.views(observer)
                    priors.append(views.grounded)
                    evidence.append(predictor.evidence(views))
                    true = decisions.label[rows]
                    labels.append(true if rng is None else redrawn(views.grounded, rng))
            if progress is not None:
                progress(len(records))
    if labels:
        told = np.concatenate(labels)[:, None]
        prior, says = np.concatenate(priors), np.concatenate(evidence)

        def loss(exponent: float) -> float:
            chances = np.take_along_axis(reweigh(prior, exponent * says), told, axis=1)
            return float(-np.log(np.maximum(chances, FLOOR)).mean())

        predictor.exponent = lowest(loss, 0.0, HIGHEST)
    return predictor


def lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one valley is lowest, by golden section.

    >>> round(lowest(lambda x: (x - 1.25) ** 2, 0, 2), 4)
    1.25
    """
    ratio = (math.sqrt(5) - 1) / 2
    a, b = low, high
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(_STEPS):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = function(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = function(d)
    return (a + b) / 2
