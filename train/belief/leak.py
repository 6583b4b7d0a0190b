"""What each move tells of the guard: nats by kind of move, beside a control with the role redrawn.

Before a move an observer gives the true guard a chance, after it another one. *change* is the
difference of their logarithms. Part of it is what the rules alone tell: cards are seen, hands get
smaller. *leak* is the change of the predictor less the same change of the grounded chances: what
was read from how somebody plays. A move that makes the role public is counted apart: it tells all
that was left.

*control* is the leak with the role redrawn: at each move the guard is drawn anew from the grounded
chances after it, so that he agrees with all that is known, and who he is has nothing to do with
what was done. It is computed as an expectation, without draws. A predictor that reads nothing has
0; one that reads something loses by it over a hand, since whom it suspects is then anybody. It is
told over all kinds of moves together: of one kind alone it is as suspicious as the kind, whoever
did it. Where players ignore roles, a predictor's leak is its control.

The other control is a predictor trained on redrawn roles (``redraw`` of
:func:`~lupai.train.belief.bayes.fit_naive_bayes`), which can have learned nothing: all its leaks
should be about 0.

Letters in shapes: ``M`` moves, ``H`` hands, ``C`` = 6 classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import lupai
from lupai.agents.belief.base import ALONE, BeliefError, Predictor, ask_predictor
from lupai.agents.belief.features import MOVE_KINDS, move_kinds
from lupai.train.arena.statistics import bootstrap
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import Decisions, answer_features, decisions_of
from lupai.train.belief.scores import FLOOR, RESAMPLES
from lupai.train.belief.scoring import TRICKS, check_causal

__all__ = ["FORMAT", "KINDS", "MOVERS", "Leaks", "leak_data", "leaks_of", "summary"]

FORMAT: Final = "lupai-belief-leak/1"
MOVERS: Final = ("guard", "rebel", "emperor")
SHOWS: Final = len(MOVE_KINDS)
KINDS: Final = (*MOVE_KINDS, "shows the role")
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Leaks:
    """Moves as one observer saw them, in hands that have a guard; not the observer's own moves.

    Attributes:
        hand: ``[M]`` number of the hand, ascending.
        mover: ``[M]`` true role of who moved, by place in MOVERS.
        kind: ``[M]`` by place in KINDS.
        trick: ``[M]`` tricks begun; 0 before play.
        change: ``[M]`` nats by which the guard is likelier after the move; of one that shows the
            role, to certainty.
        leak: ``[M]`` the same less that of grounded; 0 for a move that shows the role.
        control: ``[M, 3]`` leaks with the role redrawn, by who then moved, times their weights.
        weight: ``[M, 3]`` chances that such a role moved; 0 for a move that shows the role.
    """

    hand: I64
    mover: I64
    kind: I64
    trick: I64
    change: F64
    leak: F64
    control: F64
    weight: F64

    def __len__(self) -> int:
        return len(self.hand)

    @classmethod
    def joined(cls, parts: list[Leaks]) -> Leaks:
        """One after another, which are about different hands."""
        return cls(
            *(np.concatenate([getattr(p, n) for p in parts]) for n in cls.__dataclass_fields__)
        )


def leaks_of(
    decisions: Decisions, observer: str, chances: F64, grounded: F64, first_hand: int = 0
) -> Leaks:
    """Compare what was said before and after each move.

    Args:
        decisions: of some hands.
        observer: who was asked.
        chances: ``[N, C]`` what a predictor says at ``decisions.rows(observer)``.
        grounded: ``[N, C]`` the grounded chances there.
        first_hand: number that the first hand gets.
    """
    rows = decisions.rows(observer)
    hand, label = decisions.hand[rows], decisions.label[rows]
    actor = decisions.state.actor[rows].astype(np.int64)
    emperor = decisions.state.emperor[rows].astype(np.int64)
    kind = move_kinds(answer_features(decisions)[rows]).astype(np.int64)
    last = np.append(hand[1:] != hand[:-1], True)
    shows = last & decisions.ends_public[hand]
    kind = np.where(shows, SHOWS, kind)
    own = {"rebel": decisions.rebel[hand], "emperor": emperor}.get(observer, -1)
    # A hand may end with its role hidden: nobody is asked after its last move.
    kept = np.flatnonzero((label != ALONE) & (shows | ~last) & (actor != own))
    then = kept + ~shows[kept]  # for moves that show the role itself: nothing changes
    guard, mover, at = label[kept], actor[kept], np.arange(len(kept))
    said, told = (np.log(np.maximum(c, FLOOR)) for c in (chances, grounded))
    moved = said[then] - said[kept]
    leak = moved - (told[then] - told[kept])
    change = np.where(shows[kept], -said[kept, guard], moved[at, guard])
    king = mover == emperor[kept]

    # Who may be guard, given what is known after the move and that somebody is.
    might = grounded[then].copy()
    might[:, ALONE] = 0
    might *= ~shows[kept][:, None]
    might /= np.maximum(might.sum(axis=1, keepdims=True), 1e-300)
    himself, each = might[at, mover], (might * leak).sum(axis=1)
    his = himself * leak[at, mover]  # 0 for an emperor, who is no guard
    weight = np.stack([himself, (might.sum(axis=1) - himself) * ~king, king * ~shows[kept]], axis=1)
    control = np.stack([his, (each - his) * ~king, each * king], axis=1)
    return Leaks(
        hand=hand[kept] + first_hand,
        mover=np.where(king, 2, np.where(mover == guard, 0, 1)),
        kind=kind[kept],
        trick=decisions.trick[rows][kept],
        change=change,
        leak=leak[at, guard],
        control=control,
        weight=weight,
    )


# --- intervals over hands -------------------------------------------------------------------------


def summary(leaks: Leaks, seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Means with 95 % intervals over hands.

    Args:
        leaks: of one predictor and observer; at least one move.
        seed: of the bootstrap.
        resamples: how many.

    Returns:
        ``hands``, and ``rows``: a row for each mover over all moves (``kind`` and ``tricks`` None),
        one for each kind of his, one for each group of tricks: ``moves``; ``change``, ``leak``, and
        unless it is one of a kind ``control``, each with ``value``, ``low`` and ``high``, nats per
        move; and in rows over all moves ``per_hand``, the leak of all moves of a hand. Moves that
        show the role are in their own rows only, which have no leak.
    """
    hands, at = np.unique(leaks.hand, return_inverse=True)
    count = len(hands)

    def sums(values: F64, some: Bools) -> F64:
        return np.bincount(at[some], values[some], count).astype(np.float64)

    rows: list[dict[str, Any]] = []
    tops: list[F64] = []
    bottoms: list[F64] = []
    one = np.ones(len(leaks))
    for which, mover in enumerate(MOVERS):
        for kind, tricks, some in _cells(leaks):
            his = some & (leaks.mover == which)
            moves = sums(one, his)
            if not moves.any():
                continue
            rows.append({"mover": mover, "kind": kind, "tricks": tricks, "moves": int(moves.sum())})
            above = [sums(leaks.change, his), sums(leaks.leak, his)]
            tops += [*above, sums(leaks.control[:, which], some), above[1]]
            bottoms += [moves, moves, sums(leaks.weight[:, which], some), np.ones(count)]
    value, low, high = bootstrap(np.stack(tops, 1), np.stack(bottoms, 1), seed, resamples)
    for number, row in enumerate(rows):
        for k, name in enumerate(("change", "leak", "control", "per_hand"), 4 * number):
            if name in _told(row["kind"], row["tricks"]):
                told = {"value": value[k], "low": low[k], "high": high[k]}
                row[name] = {n: float(v) if np.isfinite(v) else None for n, v in told.items()}
    return {"hands": count, "rows": rows}


def _told(kind: str | None, tricks: object) -> tuple[str, ...]:
    """What a row tells."""
    if kind is not None:
        return ("change",) if kind == KINDS[SHOWS] else ("change", "leak")
    both = ("change", "leak", "control")
    return (*both, "per_hand") if tricks is None else both


def _cells(leaks: Leaks) -> Iterator[tuple[str | None, list[int | None] | None, Bools]]:
    """Kind, tricks, and ``[M]`` which moves are meant, whoever made them."""
    hides = leaks.kind != SHOWS
    yield None, None, hides
    for number, kind in enumerate(KINDS):
        yield kind, None, leaks.kind == number
    for first, last in TRICKS:
        some = hides & (leaks.trick >= first)
        yield None, [first, last], some if last is None else some & (leaks.trick <= last)


def leak_data(
    predictors: Sequence[tuple[str, Predictor]],
    data: DataSet,
    split: str,
    *,
    observers: Sequence[str] = ("spectator", "rebel"),
    seed: int = 1,
    limit: int | None = None,
    resamples: int = RESAMPLES,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """What the moves of a split tell predictors of the guard.

    Args:
        predictors: labels and predictors.
        data, split: which hands.
        observers: who watches, some of :data:`~lupai.train.belief.decisions.OBSERVERS`.
        seed: of the bootstrap.
        limit: the first so many hands.
        resamples: of the bootstrap.
        progress: called with the number of hands done since the last call.

    Returns:
        The object that ``lupai belief leak --json`` prints for a data set: where it came from, and
        ``results``, the :func:`summary` of each predictor and observer.

    Raises:
        BeliefError: no hands with a guard, an answer that is no chances, or one that looks ahead.
    """
    engine, hands = data.engine(), 0
    parts: dict[tuple[int, str], list[Leaks]] = {}
    for records in data.records(split, limit):
        decisions = decisions_of(engine, records)
        for observer in observers:
            if not len(decisions.rows(observer)):
                continue
            views = decisions.views(observer)
            for number, (_, predictor) in enumerate(predictors):
                if (number, observer) not in parts:
                    check_causal(predictor, views)
                chances = ask_predictor(predictor, views)
                found = leaks_of(decisions, observer, chances, views.grounded, hands)
                parts.setdefault((number, observer), []).append(found)
        hands += len(records)
        if progress is not None:
            progress(len(records))
    results = []
    for observer in observers:
        for number, (label, _) in enumerate(predictors):
            leaks = Leaks.joined(parts[number, observer]) if (number, observer) in parts else None
            if leaks is not None and len(leaks):
                told = summary(leaks, seed, resamples)
                results.append({"predictor": label, "observer": observer} | told)
    if not results:
        raise BeliefError(f"{data.folder}: no hand of split {split!r} has a guard who is hidden")
    return {
        "format": FORMAT,
        "lupai": lupai.__version__,
        "rules": data.rules,
        "population": data.name,
        "data_sha256": data.sha256,
        "split": split,
        "seed": seed,
        "resamples": resamples,
        "results": results,
    }
