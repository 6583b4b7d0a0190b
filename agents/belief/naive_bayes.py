"""Naive Bayes over what players do: each move, given what it answers, speaks for itself.

The posterior of a class is the grounded chance times, for each move of the seat, how much likelier
a guard makes it than a rebel; for "nobody", how much likelier a lonely emperor makes his moves than
one with a guard. Moves of one player are not independent, so that the sum of their evidence says
too much; an exponent, fitted on other hands than the counts, takes it back. Grounded chances have
heard part of the evidence too (who lays down many cards and not the guard's is less likely the
guard); a temperature, fitted together with the exponent, takes that back. Each kind of observer has
his own two.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, CLASSES, BeliefError, observers_of
from lupai.agents.belief.course import course_of, hands_of
from lupai.agents.belief.features import CONTEXTS, LAYOUT, RESPONSES, features
from lupai.agents.belief.files import (
    BeliefCard,
    by_observer,
    check_inputs,
    layout_hash,
    read_folder,
)
from lupai.agents.belief.simple import grounded_of
from lupai.agents.belief.views import HandViews, PublicLog, hand_views
from lupai.envs.baohuang.state import SEATS
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

__all__ = ["KIND", "NaiveBayes", "ratios", "reweigh", "summed"]

KIND: Final = "naive_bayes"
ROLES: Final = ("rebel", "guard", "emperor", "emperor_alone")  # rows of the counts
SMOOTHING: Final = 10.0  # moves of the contexts' own distribution that each role is given
F64 = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]


def ratios(counts: F64, smoothing: float = SMOOTHING) -> F64:
    """Log likelihood ratios ``[2, K * R]``: guard to rebel, lonely emperor to emperor.

    Args:
        counts: ``[4, K, R]`` moves of each of ROLES.
        smoothing: each role's responses in a context are drawn towards those of both roles
            together, which are Laplace-smoothed, by so many moves: without data nothing is said.
    """
    out = np.zeros((2, CONTEXTS, RESPONSES))
    for pair in range(2):
        usual, other = counts[2 * pair], counts[2 * pair + 1]
        both = usual + other + 1.0
        prior = smoothing * both / both.sum(axis=1, keepdims=True)
        given = (usual + prior, other + prior)
        logs = [np.log(n / n.sum(axis=1, keepdims=True)) for n in given]
        out[pair] = logs[1] - logs[0]
    return out.reshape(2, -1)


def summed(log: PublicLog, which: Ints, emperor: Ints, logs: F64) -> F64:
    """``[H, T + 1, 6]``: what the first 0 … T moves of H hands say for each class.

    Args:
        log: of the hands.
        which: ``[H, T]`` features of the moves.
        emperor: ``[H]``.
        logs: ``[2, K * R]`` of :func:`ratios`.
    """
    moved = log.seats.astype(np.intp)
    king = moved == emperor[:, None]
    said = np.where(which == NOBODY, 0.0, logs[king.astype(np.intp), which])
    sums = np.zeros((len(log), log.seats.shape[1] + 1, CLASSES))
    of = np.where(king, ALONE, moved)[:, :, None] == np.arange(CLASSES)
    sums[:, 1:] = (of * said[:, :, None]).cumsum(axis=1)
    return sums


def reweigh(prior: F64, evidence: F64, temperature: float | F64 = 1.0) -> F64:
    """``(prior * exp(evidence)) ** (1 / temperature)``, ``[N, C]``, rows summing to 1; a class that
    the prior excludes stays excluded. The temperature is one number, or ``[N, 1]``."""
    with np.errstate(divide="ignore"):
        logs = (np.log(prior) + evidence) / temperature
    logs -= logs.max(axis=1, keepdims=True)
    weights = np.exp(logs)
    chances: F64 = weights / weights.sum(axis=1, keepdims=True)
    return chances


class NaiveBayes:
    """The predictor.

    Args:
        rules: rules string that the counts were made under.
        counts: ``[4, K, R]`` moves by ROLES, context and response.
        exponents: of the evidence: ``[3]`` by OBSERVERS, or one for all.
        name: shown in tables.
        temperatures: logarithms of chances are divided by them: ``[3]``, or one for all.
        weights_sha256: of the file they were read from; "": of none.
    """

    def __init__(
        self,
        rules: str,
        counts: F64,
        exponents: npt.ArrayLike = 1.0,
        name: str = "naive_bayes",
        temperatures: npt.ArrayLike = 1.0,
        weights_sha256: str = "",
    ) -> None:
        if counts.shape != (len(ROLES), CONTEXTS, RESPONSES):
            raise BeliefError(
                f"counts {counts.shape}, expected {(len(ROLES), CONTEXTS, RESPONSES)}"
            )
        self.rules, self.counts, self.name = rules, counts, name
        self.weights_sha256 = weights_sha256
        self.exponents = by_observer(exponents, "exponent")
        self.temperatures = by_observer(temperatures, "temperature", positive=True)
        self._ratios = ratios(counts)

    def evidence(self, views: HandViews) -> F64:
        """``[N, 6]`` log likelihood ratios of the moves until each view, before the exponent."""
        emperor, dealt = hands_of(views)
        log = views.log
        which = features(log, course_of(log, dealt, views.engine.rules), emperor)
        evidence: F64 = summed(log, which, emperor, self._ratios)[views.hand, views.counts]
        return evidence

    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``.

        Raises:
            BeliefError: views of other rules, or without a history.
        """
        check_rules(self, views)
        seen = hand_views(views)
        who = observers_of(seen)[:, None]
        evidence = self.exponents[who] * self.evidence(seen)
        return reweigh(grounded_of(seen), evidence, self.temperatures[who])

    def strongest(self, most: int = 5) -> list[tuple[str, str, float, int]]:
        """Moves that tell most of who is guard: context, response, log likelihood ratio of guard to
        rebel, and how often it was counted; ordered by ratio times the square root of that. Moves
        that only one of them made, such as to show the card, are left out."""
        seen = self.counts[:2].sum(axis=0).reshape(-1)
        ratio = self._ratios[0] * (self.counts[:2] > 0).all(axis=0).reshape(-1)
        best = np.argsort(-np.abs(ratio) * np.sqrt(seen), kind="stable")[:most]
        contexts, responses = LAYOUT
        return [
            (
                contexts[place // RESPONSES],
                responses[place % RESPONSES],
                float(ratio[place]),
                int(seen[place]),
            )
            for place in best.tolist()
        ]

    def card(self, provenance: dict[str, Any]) -> tuple[BeliefCard, dict[str, F64]]:
        """What is saved of it."""
        settings = {
            "exponent": self.exponents.tolist(),
            "temperature": self.temperatures.tolist(),
        }
        card = BeliefCard(KIND, self.name, self.rules, layout_hash(LAYOUT), settings, provenance)
        return card, {"counts": self.counts}

    @classmethod
    def load(cls, folder: str | os.PathLike[str], rules: str | None = None) -> NaiveBayes:
        """From a folder.

        Raises:
            BeliefError: see :func:`~lupai.agents.belief.files.read_folder`.
        """
        card, arrays = read_folder(folder, rules)
        check_inputs(card, LAYOUT, folder)
        counts, temperature = arrays.get("counts"), card.settings.get("temperature", 1.0)
        try:
            if counts is None or (counts < 0).any():
                raise BeliefError("no counts")
            exponent: Any = card.settings.get("exponent")
            # older ones have no temperature
            return cls(
                card.rules, counts.astype(np.float64), exponent, card.name, temperature,
                card.weights_sha256,
            )  # fmt: skip
        except BeliefError as error:
            raise BeliefError(f"{folder}: {error}; train it again") from None


def check_rules(predictor: Any, views: Views) -> None:
    """Refuse views of other rules than a predictor's.

    Raises:
        BeliefError: they are.
    """
    if str(views.engine.rules) != predictor.rules:
        raise BeliefError(
            f"predictor {predictor.name!r} was trained under rules {predictor.rules!r}, and is "
            f"asked about {str(views.engine.rules)!r}; train one under those"
        )


assert SEATS == ALONE
