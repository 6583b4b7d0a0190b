"""Predictors asked about the hands of data sets, and all their scores as one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import lupai
from lupai.agents.belief.base import BeliefError, Predictor, ask_predictor, candidates
from lupai.agents.belief.views import HandViews
from lupai.train.arena.provenance import module_sha256
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import OBSERVERS, decisions_of
from lupai.train.belief.scores import RESAMPLES, Answers, reliability, score
from lupai.train.belief.survival import survival

__all__ = ["FORMAT", "TRICKS", "answers_of", "check_causal", "score_answers", "score_data"]

FORMAT: Final = "lupai-belief-score/2"
# First and last trick of each group; 0: before the first lead.
TRICKS: Final = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (6, 8), (9, 12), (13, None))
CHECKED: Final = 6  # hands on which predictors are tried for looking ahead
_NEAR: Final = 1e-4
F64 = npt.NDArray[np.float64]


def check_causal(predictor: Predictor, views: HandViews) -> None:
    """Ask a predictor about the first halves of some hands, with all of them in sight and without
    what follows.

    Raises:
        BeliefError: it says something else: it looks ahead.
    """
    some = views.take(views.hand < CHECKED)
    if not len(some):
        return
    half = int(np.median(some.counts))
    seen = some.counts <= half
    whole = ask_predictor(predictor, some)[seen]
    cut = ask_predictor(predictor, some.until(half))
    far = np.abs(whole - cut).max(initial=0.0)
    if far > _NEAR:
        raise BeliefError(
            f"predictor {predictor.name!r} looks ahead: what it says of a decision moves by "
            f"{far:.3g} when later moves of the hand are taken away; use views.counts"
        )


def answers_of(
    predictors: Sequence[Predictor],
    data: DataSet,
    split: str,
    *,
    limit: int | None = None,
    moments: int | None = None,
    observers: Sequence[str] = OBSERVERS,
    progress: Callable[[int], object] | None = None,
) -> dict[tuple[int, str], Answers]:
    """What predictors say of the decisions of a split, by number of the predictor and observer.

    Args:
        predictors: any.
        data: its hands are read in parts.
        split: which of them.
        limit: the first so many hands.
        moments: ask about so many decisions of each hand, drawn by its deal; None: all.
        observers: some of OBSERVERS.
        progress: called with the number of hands done since the last call.

    Raises:
        BeliefError: an answer that is no chances, or one that looks ahead.
    """
    engine = data.engine()
    parts: dict[tuple[int, str], list[Answers]] = {}
    hands = 0
    for records in data.records(split, limit):
        decisions = decisions_of(engine, records)
        chosen = None if moments is None else decisions.some(moments)
        for observer in observers:
            rows = decisions.rows(observer)
            if not len(rows):
                continue
            views = decisions.views(observer)
            if chosen is not None:
                at = np.flatnonzero(chosen[rows])
                rows, views = rows[at], views.take(at)
            told = views.grounded
            some = candidates(views)
            for number, predictor in enumerate(predictors):
                if (number, observer) not in parts:
                    check_causal(predictor, views)
                    parts[number, observer] = []
                parts[number, observer].append(
                    Answers(
                        hand=decisions.hand[rows] + hands,
                        number=decisions.number[rows],
                        trick=decisions.trick[rows],
                        label=decisions.label[rows],
                        chances=ask_predictor(predictor, views),
                        grounded=told,
                        candidates=some,
                    )
                )
        hands += len(records)
        if progress is not None:
            progress(len(records))
    return {key: Answers.joined(some) for key, some in parts.items()}


def score_answers(
    answers: Answers,
    seed: int,
    *,
    reference: F64 | None = None,
    temperature: float | None = None,
    resamples: int = RESAMPLES,
    whole: bool = True,
) -> dict[str, Any]:
    """Scores of one predictor for one observer: over all, by trick, time to identify, calibration.

    Args:
        answers, seed, reference, temperature, resamples: as for
            :func:`~lupai.train.belief.scores.score`.
        whole: the answers are about all decisions of the hands; else nobody can say when a hand
            was identified.
    """
    tricks = []
    for first, last in TRICKS:
        rows = answers.trick >= first
        if last is not None:
            rows &= answers.trick <= last
        if rows.any():
            some = None if reference is None else reference[rows]
            tricks.append(
                {"from": first, "to": last}
                | _counted(answers.take(rows), seed, some, temperature, min(resamples, 200))
            )
    return _counted(answers, seed, reference, temperature, resamples) | {
        "tricks": tricks,
        "time_to_identify": survival(answers, seed, resamples) if whole else None,
        "bins": reliability(answers),
    }


def _counted(
    answers: Answers,
    seed: int,
    reference: F64 | None,
    temperature: float | None,
    resamples: int,
) -> dict[str, Any]:
    return {
        "hands": len(np.unique(answers.hand)),
        "decisions": len(answers),
        "scores": score(
            answers, seed, reference=reference, temperature=temperature, resamples=resamples
        ),
    }


def _temperature(predictor: Predictor, observer: str) -> float | None:
    """That of a predictor that has one for each observer."""
    known = getattr(predictor, "temperatures", None)
    return None if known is None else float(known[OBSERVERS.index(observer)])


def _identity(predictor: Predictor) -> dict[str, str]:
    """Name and what tells predictors of one name apart: the digest of weights, and for a class that
    is not lupai's own of the file it stands in."""
    told = {"name": str(predictor.name)}
    if weights := getattr(predictor, "weights_sha256", ""):
        told["weights_sha256"] = str(weights)
    if type(predictor).__module__.partition(".")[0] != lupai.__name__:
        module = module_sha256(predictor)
        if module is not None:
            told["module_sha256"] = module
    return told


def score_data(
    predictors: Sequence[tuple[str, Predictor]],
    data: DataSet,
    split: str,
    *,
    seed: int = 1,
    limit: int | None = None,
    moments: int | None = None,
    reference: str | None = None,
    observers: Sequence[str] = OBSERVERS,
    resamples: int = RESAMPLES,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Score predictors on a split of a data set.

    Args:
        predictors: labels and predictors.
        data, split, limit, moments, observers, progress: see :func:`answers_of`.
        seed: of the bootstrap.
        reference: label of the predictor whose gain over grounded counts as all that there is to
            know; None: no ``recovered``.
        resamples: of the bootstrap.

    Returns:
        The object that ``lupai belief score --json`` prints for a data set; docs/belief.md tells
        its keys.

    Raises:
        BeliefError: no hands, a reference that is not among the predictors, or see
            :func:`answers_of`.
    """
    labels = [label for label, _ in predictors]
    if reference is not None and reference not in labels:
        raise BeliefError(f"reference {reference!r} is none of the predictors {', '.join(labels)}")
    found = answers_of(
        [predictor for _, predictor in predictors], data, split,
        limit=limit, moments=moments, observers=observers, progress=progress,
    )  # fmt: skip
    if not found:
        raise BeliefError(f"{data.folder}: no hand of split {split!r} has anything to guess")
    results = []
    for observer in observers:
        base = None
        if reference is not None and (labels.index(reference), observer) in found:
            base = found[labels.index(reference), observer].gains
        for number, (label, predictor) in enumerate(predictors):
            answers = found.get((number, observer))
            if answers is not None:
                told = score_answers(
                    answers, seed, reference=base, resamples=resamples, whole=moments is None,
                    temperature=_temperature(predictor, observer),
                )  # fmt: skip
                who = {"predictor": label} | _identity(predictor)
                results.append(who | {"observer": observer} | told)
    return {
        "format": FORMAT,
        "lupai": lupai.__version__,
        "rules": data.rules,
        "population": data.name,
        "data_sha256": data.sha256,
        "split": split,
        # None as well where there are no more hands: the same was asked then.
        "limit": limit if limit is not None and limit < data.hands(split) else None,
        "seed": seed,
        "resamples": resamples,
        "moments": moments,
        "reference": reference,
        "results": results,
    }
