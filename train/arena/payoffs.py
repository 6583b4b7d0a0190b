"""Everybody against everybody: payoff matrices, whether one scale orders them, and α-rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.arena.games.base import ArenaGame
from lupai.train.arena.measures import tidy
from lupai.train.arena.statistics import bootstrap, weights

__all__ = ["alpha_rank", "cycles", "payoffs", "scale"]

POPULATION: Final = 50  # α-rank's m
SELECTION: Final = 100.0  # α-rank's α, for payoffs scaled to at most 1
RANKED: Final = 200  # resamples of the deals that α-rank is averaged over
SHOWN_CYCLES: Final = 20

F64 = npt.NDArray[np.float64]


def payoffs(
    labels: Sequence[str], by_deal: dict[tuple[str, str, str], F64], seed: int, game: ArenaGame
) -> list[dict[str, Any]]:
    """For ``seat`` and ``camp``: the matrix with intervals, the best scale, cycles and α-rank.

    Args:
        labels: of the population.
        by_deal: mean scores of deals, by format, player and opponent.
        seed: of the bootstrap.
        game: which names its camp format.
    """
    out = []
    count = len(labels)
    for name in ("seat", game.camps.both):
        mean, low, high = (np.zeros((count, count)) for _ in range(3))
        pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
        columns = [by_deal[name, labels[i], labels[j]] for i, j in pairs]
        deals = len(columns[0])
        found = bootstrap(np.stack(columns, 1), np.ones((deals, len(pairs))), seed)
        for matrix, values in zip((mean, low, high), found, strict=True):
            for (i, j), value in zip(pairs, values, strict=True):
                matrix[i, j] = value
        # what i wins from j; one of i among j's is one game, one of j among i's another
        advantage = (mean - mean.T) / 2 if name == "seat" else mean
        sure = _sure(name, mean, low, high)
        ratings, explained = scale(advantage)
        out.append(
            {
                "format": name,
                "agents": list(labels),
                "mean": _rows(mean),
                "low": _rows(low),
                "high": _rows(high),
                "scale": [tidy(r) for r in ratings],
                "explained": tidy(explained),
                "cycles": [[labels[i] for i in cycle] for cycle in cycles(sure)[:SHOWN_CYCLES]],
                "alpha_rank": [tidy(p) for p in _alpha_rank(name, columns, pairs, count, seed)],
            }
        )
    return out


def _alpha_rank(
    name: str, columns: list[F64], pairs: list[tuple[int, int]], count: int, seed: int
) -> F64:
    """Mean α-rank over resamples of the deals: near a draw the winner is not certain."""
    deals, found = np.stack(columns, 1), np.zeros(count)
    matrix = np.zeros((count, count))
    at = tuple(np.array(pairs).T)
    for block in weights(len(deals), RANKED, seed):
        for means in block @ deals / len(deals):
            matrix[at] = means
            found += alpha_rank((matrix - matrix.T) / 2 if name == "seat" else matrix)
    return found / RANKED


def _rows(matrix: F64) -> list[list[float | None]]:
    return [[tidy(v) for v in row] for row in matrix]


def _sure(name: str, mean: F64, low: F64, high: F64) -> npt.NDArray[np.bool_]:
    """``[A, A]``: i beats j for sure; in ``seat`` one i among j's wins, and no j among i's does."""
    wins: npt.NDArray[np.bool_] = low > 0
    return wins & ~wins.T & (mean > mean.T) if name == "seat" else wins


def scale(advantage: F64) -> tuple[F64, float]:
    """Ratings whose differences come nearest to the advantages, and the share they explain.

    The rest is cyclic: with a share well below 1 no list tells who beats whom.

    Args:
        advantage: ``[A, A]``, antisymmetric.
    """
    ratings = advantage.mean(axis=1)
    total = float((advantage**2).sum())
    rest = advantage - (ratings[:, None] - ratings)
    return ratings, 1 - float((rest**2).sum()) / total if total else 1.0


def cycles(beats: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Threes of which each beats the next and the last the first."""
    count = len(beats)
    return [
        (i, j, k)
        for i in range(count)
        for j in range(i + 1, count)
        for k in range(i + 1, count)
        if k != j and beats[i, j] and beats[j, k] and beats[k, i]
    ]


def alpha_rank(advantage: F64, population: int = POPULATION, selection: float = SELECTION) -> F64:
    """Share of time that a population spends with each agent, if winners spread (Omidshafiei et
    al., "α-Rank: Multi-Agent Evaluation by Evolution", 2019).

    In a population of agents j a single i appears and takes over with the probability of
    Fermi's process; the answer is the stationary distribution of that chain. With a best agent it
    is 1 for that one; in a cycle it is shared.

    Args:
        advantage: ``[A, A]`` what i wins from j, antisymmetric; scaled to at most 1 here.
        population: its size m.
        selection: α, how much winning matters.
    """
    count = len(advantage)
    if count == 1:
        return np.ones(1)
    largest = float(np.abs(advantage).max())
    strength = 2 * selection * advantage / (largest or 1.0)
    fixation = np.full((count, count), 1.0 / population)
    some = np.abs(strength) > 1e-9
    x = strength[some]
    # (1 - e^-x) / (1 - e^-mx), without overflow for large negative x
    up = np.where(x > 0, x, 0.0)
    down = np.where(x < 0, -x, 0.0)
    with np.errstate(under="ignore"):
        rising = -np.expm1(-up) / np.where(x > 0, -np.expm1(-population * up), 1.0)
        falling = np.exp(-(population - 1) * down) * np.where(
            x < 0, np.expm1(-down) / np.where(x < 0, np.expm1(-population * down), 1.0), 1.0
        )
    fixation[some] = np.where(x > 0, rising, falling)
    # move[j, i]: from all j to all i
    move = np.maximum(fixation.T, 1e-12) / (count - 1)
    np.fill_diagonal(move, 0.0)
    np.fill_diagonal(move, 1 - move.sum(axis=1))
    system = np.vstack([move.T - np.eye(count), np.ones(count)])
    answer = np.linalg.lstsq(system, np.append(np.zeros(count), 1.0), rcond=None)[0]
    found: F64 = np.maximum(answer, 0.0)
    return found / found.sum()
