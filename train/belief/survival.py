"""Time to identify: when a predictor knows who is guard and stays with it (Kaplan and Meier).

A hand is *identified* at the first decision from which on the chance of the truth stays at 0.9 or
more; its time is the trick of that decision. A hand in which that never happens is censored at its
last decision, where the role became public or the hand ended: nobody knows how much longer it would
have taken.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.arena.statistics import weights
from lupai.train.belief.scores import RESAMPLES, Answers

__all__ = ["SURE", "identified", "kaplan_meier", "survival"]

SURE: Final = 0.9
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def identified(answers: Answers, sure: float = SURE) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Time ``[H]`` in tricks of each hand, and whether it was identified (else censored).

    Args:
        answers: of one observer, hand by hand in the order of decisions.
        sure: how much the truth must be given.
    """
    told = np.take_along_axis(answers.chances, answers.label[:, None], axis=1)[:, 0]
    _, first = np.unique(answers.hand, return_index=True)
    last = np.append(first[1:], len(answers)) - 1
    # the last decision of each hand that is not sure; what follows it stays sure
    unsure = np.maximum.reduceat(np.where(told < sure, np.arange(len(told)), -1), first)
    since = np.where(unsure < first, first, unsure + 1)
    found = since <= last
    return answers.trick[np.where(found, since, last)].astype(np.int64), found


def kaplan_meier(times: I64, found: npt.NDArray[np.bool_], weight: F64 | None = None) -> F64:
    """Share not identified after trick 0, 1, … of the last time, ``[U + 1]``, or for several
    weightings ``[R, H]`` of the hands ``[R, U + 1]``. Where a time ends hands both ways, those that
    are censored count as still there.

    Args:
        times: ``[H]`` from 0 up.
        found: ``[H]``: identified then, else censored.
        weight: ``[R, H]``; None: each hand once, and one row less.
    """
    grid = np.arange(int(times.max(initial=0)) + 1)
    events = ((times[:, None] == grid) & found[:, None]).astype(np.float64)
    there = (times[:, None] >= grid).astype(np.float64)
    w = np.ones((1, len(times))) if weight is None else weight
    risk = w @ there
    share = np.divide(w @ events, risk, out=np.zeros_like(risk), where=risk > 0)
    curve: F64 = np.cumprod(1 - share, axis=1)
    return curve[0] if weight is None else curve


def survival(answers: Answers, seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Kaplan and Meier's curve with 95 % percentile intervals over hands.

    Returns:
        ``hands``; ``identified``, the share of hands; ``median``, the first trick after which half
        are identified, or None; and ``curve``: ``trick``, ``value``, ``low``, ``high``, ``hands``
        (still there) of each trick.
    """
    times, found = identified(answers)
    curve = kaplan_meier(times, found)
    ends = np.full((2, len(curve)), np.nan)
    if len(times) > 1:
        drawn = [kaplan_meier(times, found, w) for w in weights(len(times), resamples, seed)]
        ends = np.quantile(np.concatenate(drawn), [0.025, 0.975], axis=0)
    below = np.flatnonzero(curve <= 0.5)
    there = (times[:, None] >= np.arange(len(curve))).sum(axis=0)
    return {
        "hands": len(times),
        "identified": float(found.mean()),
        "median": int(below[0]) if below.size else None,
        "curve": [
            {
                "trick": k,
                "value": float(curve[k]),
                "low": float(ends[0, k]) if np.isfinite(ends[0, k]) else None,
                "high": float(ends[1, k]) if np.isfinite(ends[1, k]) else None,
                "hands": int(there[k]),
            }
            for k in range(len(curve))
        ],
    }
