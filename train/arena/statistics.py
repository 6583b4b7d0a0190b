"""Statistics over deals: bootstrap intervals, detectable differences, paired tests.

The deal is the unit everywhere, since hands of one deal are not independent. Every number that is
reported is a ratio of two sums over deals (score over hands, wins over hands, …), so that one
bootstrap over deals serves all of them, and differences of agents on the same deals stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["bootstrap", "detectable", "holm", "sign_flip", "weights"]

RESAMPLES: Final = 2000
FLIPS: Final = 9999
CONFIDENCE: Final = 0.95
POWER: Final = 0.8
_AT_ONCE: Final = 4_000_000  # numbers of a block of weights
_NORMAL: Final = NormalDist()

F64 = npt.NDArray[np.float64]


def weights(deals: int, resamples: int, seed: int) -> list[F64]:
    """How often each deal stands in each resample, in blocks ``[≤ R, deals]``."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x626F6F74,)))
    rows, out = max(1, _AT_ONCE // deals), []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = rng.integers(0, deals, size=(count, deals))
        drawn += np.arange(count)[:, None] * deals
        block = np.bincount(drawn.ravel(), minlength=count * deals).reshape(count, deals)
        out.append(block.astype(np.float64))
    return out


def bootstrap(
    numerators: F64, denominators: F64, seed: int, resamples: int = RESAMPLES
) -> tuple[F64, F64, F64]:
    """Ratios of sums over deals with bias-corrected and accelerated (BCa) 95 % intervals.

    The interval's level is widened as Student's t is beyond the normal one (Hesterberg's expanded
    percentiles), by the number of deals that count; without that it is too narrow for few.

    Args:
        numerators, denominators: ``[n, K]``, a row for each deal.
        seed: of the resampling; the same seed and n give the same resamples.
        resamples: how many.

    Returns:
        ``value, low, high``, each ``[K]``; NaN for a denominator of 0, and for the interval where
        fewer than two deals count.
    """
    n, k = numerators.shape
    top, bottom = numerators.sum(axis=0), denominators.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = top / bottom
        without = (top - numerators) / (bottom - denominators)  # jackknife [n, K]
    if n < 2:
        return value, np.full(k, np.nan), np.full(k, np.nan)
    drawn = np.empty((resamples, k))
    row = 0
    for block in weights(n, resamples, seed):
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn[row : row + len(block)] = (block @ numerators) / (block @ denominators)
        row += len(block)
    low, high = np.full(k, np.nan), np.full(k, np.nan)
    cases = np.count_nonzero(denominators, axis=0).tolist()
    for j in range(k):
        if cases[j] < 2:
            continue
        wide = math.sqrt(cases[j] / (cases[j] - 1)) * student(cases[j] - 1)
        tail = max(_NORMAL.cdf(-wide), 1 / resamples)
        good = drawn[:, j][np.isfinite(drawn[:, j])]
        jack = without[:, j][np.isfinite(without[:, j])]
        low[j], high[j] = _bca(float(value[j]), good, jack, tail)
    return value, low, high


def _bca(value: float, drawn: F64, jack: F64, tail: float) -> tuple[float, float]:
    near = 1e-12 * max(1.0, abs(value))
    below = np.count_nonzero(drawn < value - near) + np.count_nonzero(drawn <= value + near)
    share = min(max(below / 2 / len(drawn), 1 / len(drawn)), 1 - 1 / len(drawn))
    bias = _NORMAL.inv_cdf(share)
    off = jack.mean() - jack
    spread = float((off**2).sum()) ** 1.5
    acceleration = float((off**3).sum()) / (6 * spread) if spread > 0 else 0.0
    ends = []
    for quantile in (tail, 1 - tail):
        z = bias + _NORMAL.inv_cdf(quantile)
        z = bias + z / max(1 - acceleration * z, 1e-6)
        ends.append(float(np.quantile(drawn, _NORMAL.cdf(z))))
    return ends[0], ends[1]


def student(freedom: int) -> float:
    """97.5 % quantile of Student's t: exact for 1 and 2, else by Cornish and Fisher's expansion,
    1 % off at 3."""
    if freedom <= 2:
        return (12.7062, 4.3027)[freedom - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def detectable(deviation: float, deals: int) -> float:
    """Smallest true mean that a two-sided 5 % test finds in 80 % of matches of so many deals."""
    z = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) + _NORMAL.inv_cdf(POWER)
    return z * deviation / math.sqrt(deals)


def sign_flip(differences: F64, seed: int, flips: int = FLIPS) -> float:
    """Two-sided p-value of the hypothesis that paired differences are as often this as that way.

    Args:
        differences: ``[n]``, one for each deal.
        seed: of the drawn signs.
        flips: how many; the least p-value is 1 / (flips + 1).
    """
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x666C6970,)))
    seen = abs(float(moved.sum())) - 1e-9 * float(np.abs(moved).sum())
    rows, extreme = max(1, _AT_ONCE // len(moved)), 0
    for start in range(0, flips, rows):
        count = min(rows, flips - start)
        signs = rng.integers(0, 2, size=(count, len(moved)), dtype=np.int8)
        sums = (2.0 * signs - 1.0) @ moved
        extreme += int(np.count_nonzero(np.abs(sums) >= seen))
    return (extreme + 1) / (flips + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that hold for all hypotheses together."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out, worst = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[i]))
        out[i] = worst
    return out
