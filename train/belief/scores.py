"""Scores of chances: log loss, Brier and its parts, calibration, ranking, nats over grounded.

The hand is the unit of all intervals, since decisions of one hand are not independent. Letters in
shapes: ``N`` answers, ``C`` = 6 classes, ``H`` hands, ``B`` bins, ``P`` pairs of an answer and a
class that comes into question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, CLASSES
from lupai.train.arena.statistics import bootstrap, weights

__all__ = ["FLOOR", "METRICS", "Answers", "Interval", "auroc", "bin_of", "reliability", "score"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Interval = dict[str, float | None]  # value, low, high; None: cannot be told

BINS: Final = 15
FLOOR: Final = 1e-6  # a chance below counts as this in logarithms: at most 13.8 nats
RESAMPLES: Final = 1000
RANKED: Final = 200  # resamples of the AUROC, each of which goes through all answers
METRICS: Final = {
    "log_loss": "nats: mean of -log of the chance given to the truth",
    "gain": "nats gained over grounded",
    "skill": "that as a share of the log loss of grounded",
    "brier": "mean of the squared errors of the six chances, summed",
    "reliability": "Brier's part by miscalibration; lower is better",
    "resolution": "Brier's part by telling cases apart; higher is better",
    "uncertainty": "Brier's part by the data alone",
    "within": "what the bins hide of Brier: brier - reliability + resolution - uncertainty",
    "ece": "expected calibration error in 15 bins of equal mass",
    "ece_before": "the same without the predictor's temperature",
    "auroc": "chance that a guard is given more than a rebel",
    "recovered": "share of the reference's gain",
}
_RATIOS: Final = ("log_loss", "gain", "brier", "skill")
_BINNED: Final = ("reliability", "resolution", "uncertainty", "within", "ece")


@dataclass(frozen=True)
class Answers:
    """What a predictor said for one observer.

    Attributes:
        hand: ``[N]`` number of the hand, ascending.
        number: ``[N]`` of the decision in it.
        trick: ``[N]``.
        label: ``[N]`` the true class.
        chances: ``[N, C]``.
        grounded: ``[N, C]`` the grounded ones.
        candidates: ``[N, C] bool`` classes that come into question.
    """

    hand: I64
    number: I64
    trick: I64
    label: I64
    chances: F64
    grounded: F64
    candidates: Bools

    def __len__(self) -> int:
        return len(self.hand)

    def take(self, rows: npt.ArrayLike) -> Answers:
        """Some of them."""
        at = np.asarray(rows)
        return Answers(*(getattr(self, name)[at] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: list[Answers]) -> Answers:
        """Answers one after another, which are about different hands."""
        return cls(
            *(np.concatenate([getattr(p, n) for p in parts]) for n in cls.__dataclass_fields__)
        )

    @property
    def losses(self) -> F64:
        """``[N]`` log loss of each."""
        return _losses(self.chances, self.label)

    @property
    def gains(self) -> F64:
        """``[N]`` nats gained over grounded."""
        gains: F64 = _losses(self.grounded, self.label) - self.losses
        return gains


def _losses(chances: F64, label: I64) -> F64:
    told = np.take_along_axis(chances, label[:, None], axis=1)[:, 0]
    losses: F64 = -np.log(np.maximum(told.astype(np.float64), FLOOR))
    return losses


def score(
    answers: Answers,
    seed: int,
    *,
    reference: F64 | None = None,
    temperature: float | None = None,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """All metrics with 95 % intervals over hands.

    Ratios of sums (log loss, gain, skill, Brier, recovered) have BCa intervals. Calibration and
    ranking are no such ratios, and those of the parts that cannot be negative are larger in a
    resample than in truth, so their intervals are the pivotal ones, cut at what is possible.

    Args:
        answers: of one observer; at least one.
        seed: of the resampling.
        reference: ``[N]`` gains of the predictor that ``recovered`` is measured by.
        temperature: of the predictor, for ``ece_before``; None: it has none.
        resamples: how many; of the AUROC RANKED at most.
    """
    hands, at = np.unique(answers.hand, return_inverse=True)
    count = len(hands)
    truth = np.arange(CLASSES) == answers.label[:, None]
    brier = ((answers.chances - truth) ** 2).sum(axis=1)
    gains, one = answers.gains, np.ones(len(at))
    tops = [answers.losses, gains, brier, gains]
    bottoms = [one, one, one, gains + answers.losses]
    names = list(_RATIOS)
    if reference is not None:
        tops, bottoms = [*tops, gains], [*bottoms, reference]
        names.append("recovered")
    above, below = _of_hands(tops, at, count), _of_hands(bottoms, at, count)
    told = bootstrap(above, below, seed, resamples)
    out = {name: _interval(*values) for name, *values in zip(names, *told, strict=True)}
    out |= _calibration(answers, at, count, truth, above[:, 2], seed, resamples)
    if temperature is not None:
        before = replace(answers, chances=_unscaled(answers.chances, temperature))
        found = _calibration(before, at, count, truth, above[:, 2], seed, resamples)
        out["ece_before"] = found["ece"]
    out["auroc"] = _ranking(answers, at, count, truth, seed, min(resamples, RANKED))
    return {name: out[name] for name in METRICS if name in out}


def _unscaled(chances: F64, temperature: float) -> F64:
    """What chances ``[N, C]`` were before their logarithms were divided by a temperature."""
    with np.errstate(divide="ignore"):
        logs = np.log(chances)
    powers: F64 = np.exp(temperature * (logs - logs.max(axis=1, keepdims=True)))
    return powers / powers.sum(axis=1, keepdims=True)


def _of_hands(values: list[F64], at: I64, count: int) -> F64:
    """``[H, K]`` sums of K columns ``[N]``."""
    sums: F64 = np.stack([np.bincount(at, v, count) for v in values], axis=1, dtype=np.float64)
    return sums


def _interval(value: Any, low: Any, high: Any) -> Interval:
    told = {"value": value, "low": low, "high": high}
    return {name: float(v) if np.isfinite(v) else None for name, v in told.items()}


def _pivotal(value: float, drawn: F64, least: float, most: float) -> Interval:
    good = drawn[np.isfinite(drawn)]
    if len(good) < 2:
        return _interval(value, np.nan, np.nan)
    low, high = 2 * value - np.quantile(good, [0.975, 0.025])
    return _interval(value, np.clip(low, least, most), np.clip(high, least, most))


# --- calibration ----------------------------------------------------------------------------------


def bin_of(chances: F64, bins: int = BINS) -> I64:
    """``[P]`` bin 0 … B - 1 of each chance: bins of equal mass, equal chances in one bin."""
    edges = np.quantile(chances, np.arange(1, bins) / bins)
    found: I64 = np.searchsorted(edges, chances, side="right").astype(np.int64)
    return found


def reliability(answers: Answers) -> list[dict[str, float]]:
    """Bins of the pairs of answer and candidate: their number, mean chance and share that is true;
    for a reliability diagram. Empty bins are left out."""
    rows, classes = np.nonzero(answers.candidates)
    told = answers.chances[rows, classes].astype(np.float64)
    true = (answers.label[rows] == classes).astype(np.float64)
    which = bin_of(told)
    sums = [np.bincount(which, v, BINS) for v in (np.ones(len(told)), told, true)]
    return [
        {"pairs": int(n), "chance": float(c / n), "true": float(t / n)}
        for n, c, t in zip(*sums, strict=True)
        if n
    ]


def _parts(sums: F64, brier: F64, answers: F64) -> F64:
    """``[R, 5]`` the metrics of _BINNED for sums ``[R, B, 3]`` (pairs, chances, truths) of the
    bins, of Brier and of answers ``[R]``."""
    n, chance, true = sums[..., 0], sums[..., 1], sums[..., 2]
    safe = np.maximum(n, 1e-300)
    pairs = n.sum(axis=1)
    said, is_ = chance / safe, true / safe
    base = true.sum(axis=1) / pairs
    share = n / pairs[:, None]
    scale = pairs / answers  # Brier is a sum over the classes of an answer
    miss = (share * (said - is_) ** 2).sum(axis=1) * scale
    apart = (share * (is_ - base[:, None]) ** 2).sum(axis=1) * scale
    doubt = base * (1 - base) * scale
    ece = (share * np.abs(said - is_)).sum(axis=1)
    return np.stack([miss, apart, doubt, brier / answers - miss + apart - doubt, ece], axis=1)


def _calibration(
    answers: Answers, at: I64, count: int, truth: Bools, brier: F64, seed: int, resamples: int
) -> dict[str, Interval]:
    rows, classes = np.nonzero(answers.candidates)
    told = answers.chances[rows, classes].astype(np.float64)
    true = truth[rows, classes].astype(np.float64)
    place = at[rows] * BINS + bin_of(told)
    each = [np.bincount(place, v, count * BINS) for v in (np.ones(len(told)), told, true)]
    of_hand = np.stack(each, axis=1).reshape(count, BINS * 3)
    of_hand = np.column_stack([of_hand, brier, np.bincount(at, minlength=count)])

    def parts(sums: F64) -> F64:
        binned = sums[:, :-2].reshape(-1, BINS, 3)
        return _parts(binned, sums[:, -2], sums[:, -1])

    value = parts(of_hand.sum(axis=0, keepdims=True))[0]
    drawn = np.zeros((0, len(_BINNED)))
    if count > 1:
        drawn = np.concatenate([parts(w @ of_hand) for w in weights(count, resamples, seed)])
    least = [0.0, 0.0, 0.0, -np.inf, 0.0]
    most = [np.inf, np.inf, np.inf, np.inf, 1.0]
    return {
        name: _pivotal(float(value[k]), drawn[:, k], least[k], most[k])
        for k, name in enumerate(_BINNED)
    }


# --- ranking --------------------------------------------------------------------------------------


def auroc(told: F64, true: Bools, weight: F64 | None = None) -> float:
    """Chance that a true pair was given more than a false one, equal ones counting half; NaN if all
    are true or none is.

    Args:
        told, true: ``[P]``.
        weight: ``[P]`` how often each pair counts; None: once.
    """
    _, tie = np.unique(told, return_inverse=True)
    return _auroc(tie, true, np.ones(len(told)) if weight is None else weight)


def _auroc(tie: I64, true: Bools, weight: F64) -> float:
    count = int(tie.max(initial=-1)) + 1
    good = np.bincount(tie, weight * true, count)
    bad = np.bincount(tie, weight * ~true, count)
    pairs = good.sum() * bad.sum()
    below = bad.cumsum() - bad / 2
    return float((good * below).sum() / pairs) if pairs > 0 else float("nan")


def _ranking(
    answers: Answers, at: I64, count: int, truth: Bools, seed: int, resamples: int
) -> Interval:
    seats = answers.candidates.copy()
    seats[:, ALONE] = False
    rows, classes = np.nonzero(seats)
    true = truth[rows, classes]
    # sixteenths of a millionth: what differs by rounding only is a tie
    _, tie = np.unique(np.rint(answers.chances[rows, classes] * 2**24), return_inverse=True)
    value = _auroc(tie, true, np.ones(len(tie)))
    drawn = []
    if count > 1:
        owner = at[rows]
        for block in weights(count, resamples, seed):
            drawn += [_auroc(tie, true, w[owner]) for w in block]
    return _pivotal(value, np.array(drawn), 0.0, 1.0)
