"""Ratings of a population, with camps as the teams that meet.

The model is Weng and Lin's online Bradley-Terry update for teams ("A Bayesian Approximation Method
for Online Ranking", JMLR 2011) as the package ``openskill`` computes it; it is written here for
many bootstrap resamples at once, and tests compare it with that package.

In Baohuang camps are teams of unequal size, two against three or one against four, in a game that
does not favour the larger one. A plain sum of ratings would. So all ratings begin at 0, an average
player adds nothing to his team, and the emperor's camp has one more member, the *situation* (with a
guard, or alone in one of three ways), whose rating learns what being in it is worth. A game whose
camps are alike has no situations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.train.arena.games import DEFAULT, arena_game
from lupai.train.arena.hands import Hands
from lupai.train.arena.measures import tidy

__all__ = ["Games", "rate", "update_all"]

MU: Final = 0.0
SIGMA: Final = 25 / 3
BETA: Final = 25 / 6
KAPPA: Final = 1e-4
RESAMPLES: Final = 100
MOST_HANDS: Final = 50_000  # deals beyond add little and take long, one hand after another
ANCHOR: Final = "random"

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Games:
    """Hands as games of two teams.

    Args:
        hands: matches of the population.
        members: numbers of its agents.
        game: name.

    Attributes:
        first, second: ``[G, E]`` how many members of the first and the second camp are entry e: an
            agent of the population, then a situation.
        result: ``[G]`` 1 if the first camp won, 0 if the second, 0.5 for a draw.
        of_deal: ``[n, K]`` numbers of each deal's games, -1 where it has fewer.
    """

    def __init__(
        self, hands: Sequence[Hands], members: Sequence[int], game: str = DEFAULT
    ) -> None:  # fmt: skip
        arena, count = arena_game(game), len(members)
        place = np.full(max(members) + 1, -1)
        place[list(members)] = np.arange(count)
        firsts, seconds, results, deals = [], [], [], []
        for part in hands:
            played, camp = np.flatnonzero(arena.played(part)), arena.first_camp(part)
            entries = place[part.lineups]
            two = np.zeros((2, len(part), count + len(arena.situations)))
            rows = np.repeat(np.arange(len(part)), arena.seats)
            np.add.at(two, (np.where(camp, 0, 1).ravel(), rows, entries.ravel()), 1)
            if arena.situations:
                two[0, np.arange(len(part)), count + arena.situation(part)] = 1
            score = np.where(camp, part.scores, 0).sum(axis=1)
            firsts.append(two[0, played])
            seconds.append(two[1, played])
            results.append((np.sign(score[played]) + 1) / 2)
            deals.append(part.deals[played])
        order = np.argsort(np.concatenate(deals), kind="stable")
        self.first: F64 = np.concatenate(firsts)[order]
        self.second: F64 = np.concatenate(seconds)[order]
        self.result: F64 = np.concatenate(results)[order]
        numbers = np.unique(np.concatenate(deals)[order], return_inverse=True)[1]
        each = np.bincount(numbers)
        self.of_deal: I64 = np.full((len(each), int(each.max())), -1)
        column = np.arange(len(order)) - np.repeat(np.cumsum(each) - each, each)
        self.of_deal[numbers, column] = np.arange(len(order))


def update_all(games: Games, deals: I64) -> tuple[F64, F64]:
    """Ratings after playing deals one after another, for R orders of deals at once.

    Args:
        games: the hands.
        deals: ``[R, n]`` numbers of deals in the order in which they are played.

    Returns:
        ``mu, sigma``, each ``[R, E]``.
    """
    runs, entries = len(deals), games.first.shape[1]
    mu, variance = np.full((runs, entries), MU), np.full((runs, entries), SIGMA**2)
    for column in deals.T:
        for game in games.of_deal[column].T:
            there = game >= 0
            if not there.any():
                continue
            first, second = games.first[game], games.second[game]
            sums = [(team * variance).sum(axis=1) for team in (first, second)]
            c2 = sums[0] + sums[1] + 2 * BETA**2
            c = np.sqrt(c2)
            gap = ((first - second) * mu).sum(axis=1)
            chance = 1 / (1 + np.exp(-gap / c))
            shift = np.where(there, (games.result[game] - chance) / c, 0.0)
            less = np.where(there, chance * (1 - chance) / c2, 0.0)
            change = (first - second) * variance * shift[:, None]
            factor = np.ones_like(variance)
            for team, total in ((first, sums[0]), (second, sums[1])):
                gamma = np.sqrt(total) / c
                one = np.maximum(1 - variance * (gamma * less)[:, None], KAPPA)
                factor *= one**team
            mu, variance = mu + change, variance * factor
    return mu, np.sqrt(variance)


def rate(
    hands: Sequence[Hands], members: Sequence[int], labels: Sequence[str], seed: int,
    game: str = DEFAULT,
) -> dict[str, Any]:  # fmt: skip
    """Ratings with intervals over deals.

    Args:
        hands: matches of the population.
        members: numbers of its agents.
        labels: their names. Ratings are relative to ``random``, or to the mean without it.
        seed: of the resampling.
        game: name.
    """
    arena, games = arena_game(game), Games(hands, members, game)
    most = max(1, MOST_HANDS // games.of_deal.shape[1])
    games.of_deal = games.of_deal[:most]
    number = len(games.of_deal)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x72617465,)))
    order = rng.integers(0, number, size=(RESAMPLES, number))
    mu, sigma = update_all(games, np.vstack([np.arange(number), order]))
    count = len(members)
    agents = mu[:, :count]
    anchor = labels.index(ANCHOR) if ANCHOR in labels else None
    zero = agents.mean(axis=1) if anchor is None else agents[:, anchor]
    agents = agents - zero[:, None]
    low, high = np.quantile(agents[1:], [0.025, 0.975], axis=0)
    used = games.of_deal[games.of_deal >= 0]
    played = games.first[used, :count] + games.second[used, :count] > 0
    met = games.first[used][:, count:].sum(axis=0)
    return {
        "model": f"Weng-Lin Bradley-Terry, {arena.camps.plural} as teams",
        "mu": MU, "sigma": SIGMA, "beta": BETA,
        "zero": "mean" if anchor is None else ANCHOR,
        "deals": number,
        "hands": len(used),
        "resamples": RESAMPLES,
        "agents": [
            {
                "label": label, "rating": tidy(agents[0, i]), "low": tidy(low[i]),
                "high": tidy(high[i]), "sigma": tidy(sigma[0, i]), "hands": int(played[:, i].sum()),
            }
            for i, label in enumerate(labels)
        ],
        "situations": [
            {"label": name, "rating": tidy(mu[0, count + i]), "hands": int(met[i])}
            for i, name in enumerate(arena.situations)
            if met[i]
        ],
    }  # fmt: skip
