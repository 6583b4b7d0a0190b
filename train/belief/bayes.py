"""Counts of the naive Bayes predictor, from the hands of data sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, OBSERVERS, BeliefError, observers_of
from lupai.agents.belief.course import course_of, hands_of
from lupai.agents.belief.features import CONTEXTS, RESPONSES, features
from lupai.agents.belief.naive_bayes import ROLES, NaiveBayes, ratios, reweigh, summed
from lupai.agents.belief.views import PublicLog
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import Decisions, answer_features, decisions_of, redrawn
from lupai.train.belief.scores import FLOOR

__all__ = ["WIDEST", "count_moves", "fit_naive_bayes", "one_rules"]

HIGHEST: Final = 2.0  # weight of the evidence
SPREAD: Final = 0.5  # by which logarithms of temperatures are expected to be away from 0
WIDEST: Final = math.log(4)  # logarithm of a temperature, up or down
EVERY: Final = 4  # decision of a hand is asked about; those next to each other are much alike
HANDS_OF_PART: Final = 100  # of `train` that are left out at once, or fewer: there are PARTS
PARTS: Final = 5
_TURNS: Final = 6  # between the two weights
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
    state = decisions.state
    which = answer_features(decisions)
    king = state.actor == state.emperor
    alone = decisions.label == ALONE
    role = np.where(king, 2 + alone, state.actor == decisions.label)
    counts += np.bincount(role * CONTEXTS * RESPONSES + which, minlength=len(counts))
    return counts.reshape(len(ROLES), CONTEXTS, RESPONSES)


@dataclass(frozen=True)
class _Questions:
    """What is needed to ask about some hands with whatever counts.

    Attributes:
        log, which, emperor: of the hands; see :func:`~lupai.agents.belief.naive_bayes.summed`.
        hand, seen: ``[n]`` hand of each question, and how many of its moves were seen.
        prior: ``[n, 6]`` grounded chances. label: ``[n]`` the true class.
        observer: ``[n]`` place in OBSERVERS.
    """

    log: PublicLog
    which: npt.NDArray[np.integer[Any]]
    emperor: npt.NDArray[np.integer[Any]]
    hand: npt.NDArray[np.integer[Any]]
    seen: npt.NDArray[np.integer[Any]]
    prior: F64
    label: npt.NDArray[np.int64]
    observer: npt.NDArray[np.intp]

    @classmethod
    def of(cls, decisions: Decisions, rng: np.random.Generator | None = None) -> _Questions:
        """About every EVERYth decision, of all observers; with ``rng`` labels are drawn from what
        each observer could know, and nothing that was done tells of them."""
        views = decisions.views("spectator")
        emperor, dealt = hands_of(views)
        which = features(views.log, course_of(views.log, dealt, views.engine.rules), emperor)
        parts = []
        for observer in OBSERVERS:
            rows = decisions.rows(observer)
            at = np.flatnonzero(decisions.number[rows] % EVERY == 0)
            some = decisions.views(observer).take(at)
            true = decisions.label[rows[at]]
            label = true if rng is None else redrawn(some.grounded, rng)
            parts.append((some.hand, some.counts, some.grounded, label, observers_of(some)))
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(views.log, which, emperor, *joined)

    def evidence(self, counts: F64) -> F64:
        """``[n, 6]`` by these counts."""
        found: F64 = summed(self.log, self.which, self.emperor, ratios(counts))[
            self.hand, self.seen
        ]
        return found


def fit_naive_bayes(
    data: Sequence[DataSet],
    *,
    name: str = "naive_bayes",
    limit: int | None = None,
    redraw: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NaiveBayes:
    """Count moves on the split ``train``, and fit exponent and temperature on hands that were not
    counted: on ``dev``, and on each part of ``train`` with the counts of the others.

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
    hands = sum(some.hands("train", limit) for some in data)
    size = max(1, min(HANDS_OF_PART, -(-hands // PARTS)))
    parts: list[tuple[F64, _Questions]] = []
    for split in ("train", "dev"):
        for some in data:
            for records in some.records(split, limit, size):
                decisions = decisions_of(some.engine(), records)
                asked = _Questions.of(decisions, rng)
                if rng is not None:
                    label = redrawn(decisions.views("spectator").grounded, rng)
                    decisions = replace(decisions, label=label)
                parts.append((count_moves(decisions) * (split == "train"), asked))
                if progress is not None:
                    progress(len(records))
    counts = sum((counted for counted, _ in parts), np.zeros((len(ROLES), CONTEXTS, RESPONSES)))
    if not counts.any():
        raise BeliefError("the data sets have no hands in split train: play more")
    predictor = NaiveBayes(rules, counts, name=name)
    # of one part alone nothing is left to be counted
    fair = [(q, counts - own) for own, q in parts if len(q.label) and (counts > own).any()]
    for who in range(len(OBSERVERS)):
        mine = [(q, q.observer == who, others) for q, others in fair]
        if any(rows.any() for _, rows, _ in mine):
            of_prior, of_evidence = fit_weights(
                np.concatenate([q.prior[rows] for q, rows, _ in mine]),
                np.concatenate([q.evidence(others)[rows] for q, rows, others in mine]),
                np.concatenate([q.label[rows] for q, rows, _ in mine])[:, None],
                sum(len(np.unique(q.hand[rows])) for q, rows, _ in mine),
            )
            predictor.exponents[who] = of_evidence / of_prior
            predictor.temperatures[who] = 1 / of_prior
    return predictor


def fit_weights(
    prior: F64, says: F64, told: npt.NDArray[np.int64], hands: int
) -> tuple[float, float]:
    """Weights of log prior and evidence with the least log loss, 1/4 … 4 and 0 … HIGHEST.

    The loss has one valley (it is a logistic regression), so that going down in one weight and in
    the other by turns leads there. A prior's weight far from 1 costs as much as some hands say, so
    that few hands move it little.

    Args:
        prior, says: ``[N, C]`` chances and evidence.
        told: ``[N, 1]`` the true class.
        hands: from how many hands they are.
    """

    def loss(of_prior: float, of_evidence: float) -> float:
        chances = reweigh(prior, of_evidence / of_prior * says, 1 / of_prior)
        right = np.take_along_axis(chances, told, axis=1)
        far = math.log(of_prior) ** 2 / (2 * SPREAD**2)
        return float(-np.log(np.maximum(right, FLOOR)).mean()) + far / hands

    of_prior, of_evidence = 1.0, 1.0
    for _ in range(_TURNS):
        fixed = of_prior
        of_evidence = lowest(lambda e, a=fixed: loss(a, e), 0.0, HIGHEST)  # type: ignore[misc]
        fixed = of_evidence
        of_prior = math.exp(lowest(lambda t, e=fixed: loss(math.exp(t), e), -WIDEST, WIDEST))  # type: ignore[misc]
    return of_prior, of_evidence


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
