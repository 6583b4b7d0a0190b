"""The posterior of a known population from weighted worlds, for decks of any size.

For each view ``worlds`` tables are drawn by ``determinize``, exact samples of all deals consistent
with what the viewer knows *now*. Each is replayed from its deal, and gets as weight the chance that
the population plays what was played, divided by what the draw counted for it already
(:mod:`lupai.agents.belief.likelihood`). That is self-normalised importance sampling: right in the
limit, with an error of about ``1 / sqrt(effective sample size)``.

Views of one hand are answered one by one, each from worlds of its own. Worlds of an earlier view
are not carried on: nearly all of them contradict the next cards that somebody lays down. Worlds of
a later view are not used before: they know what was played in between. So an answer depends on the
view, the seed and the settings alone, not on the views beside it.

With ``steps`` the worlds are moved as well (:mod:`lupai.agents.belief.swaps`): the likelihood is
brought in little by little, each time so far that half of the sample stays effective; the worlds
are resampled (systematically), and take ``steps`` steps among the deals. That too is right in the
limit, and reaches posteriors of which importance sampling draws hardly a world.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.behaviour import Population
from lupai.agents.belief.exact import pick, settled
from lupai.agents.belief.likelihood import TABLES, CardLog
from lupai.agents.belief.swaps import DRAWS, Particles, Swaps
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.errors import LupaiError
from lupai.envs.view import Views

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

WORLDS: Final = 1024
MOST_STAGES: Final = 60  # in which the likelihood is brought in; then at once
_HALVINGS: Final = 40  # of the search for the next heat


class ParticlePosterior:
    """Chance of each seat to be guard if a known population plays.

    Where the effective sample size is 0, no drawn world has a chance; the answer is then that of
    all drawn worlds alike, as if nothing were known of how they play.

    Args:
        population: who plays.
        worlds: for each view.
        steps: of each world after each resampling; 0: weights only.
        seed: of all draws.
        name: shown in tables; ``particles:`` and the population's name when None.

    Raises:
        LupaiError: numbers that cannot be.
    """

    def __init__(
        self,
        population: Population,
        worlds: int = WORLDS,
        steps: int = 0,
        seed: int = 0,
        name: str | None = None,
    ) -> None:
        if worlds < 1 or steps < 0:
            raise LupaiError(
                f"particles: {worlds} worlds and {steps} steps; allowed: 1 or more worlds, 0 or "
                "more steps"
            )
        self.population = population
        self.weights_sha256 = ""  # of trained agents in it, where it was read from a name
        self.worlds = worlds
        self.steps = steps
        self.seed = seed
        self.name = f"particles:{population.name}" if name is None else name

    def predict(self, views: Views) -> F64:
        """``[B, 6]`` chance that seats 0 … 4 are guard, last that nobody is; rows sum to 1. See
        :meth:`predict_with_ess`."""
        return self.predict_with_ess(views)[0]

    def predict_with_ess(self, views: Views) -> tuple[F64, F64]:
        """The same, and the effective sample size ``[B]`` of each row: how many worlds drawn from
        the posterior itself would be worth as much; ``worlds`` where the viewer knows the guard.

        With steps it is that of the last weights, and does not count that worlds which come from
        one are alike.

        Args:
            views: B views with the histories of their tables, of seats or (-1) of a spectator;
                there has to be an emperor.

        Raises:
            LupaiError: no emperor yet; a history that is missing or of another table; or a record
                that contradicts itself.
        """
        chances, open_ = settled(views)
        ess = np.full(len(views), float(self.worlds))
        at_once = max(1, TABLES // self.worlds)
        for start in range(0, len(open_), at_once):
            rows = open_[start : start + at_once]
            particles, weight = self._sample(pick(views, rows), rows)
            share = _shares(weight)
            guard = particles.worlds.guard.reshape(weight.shape)
            for i, row in enumerate(rows):
                chances[row] = np.bincount(guard[i] % (SEATS + 1), share[i], SEATS + 1)
            ess[rows] = _ess(weight)
        return chances, ess

    def draw(self, views: Views) -> tuple[State, F64]:
        """Worlds that come from the posterior, all alike: ``[B * worlds]`` complete tables, those
        of a view in a row, and the effective sample size ``[B]`` before they were resampled. Views
        have to be of hidden roles.

        Raises:
            LupaiError: as :meth:`predict_with_ess`, or the viewer knows the guard.
        """
        _, open_ = settled(views)
        if len(open_) < len(views):
            known = int(np.setdiff1d(np.arange(len(views)), open_)[0])
            raise LupaiError(
                f"view {known}: its seat knows who is guard; determinize draws its worlds"
            )
        particles, weight = self._sample(views, open_)
        chosen = _resample(_shares(weight), np.stack([g.random(1) for g in self._streams(views)]))
        return particles.worlds.take(chosen), _ess(weight)

    def _streams(self, views: Views) -> list[np.random.Generator]:
        """A generator for each view, by what is seen in it."""
        assert views.histories is not None
        hands = views.state.hands
        out = []
        for i, seat in enumerate(views.seats.tolist()):
            seen = "\n".join([str(views.engine.rules), str(seat), *views.histories[i]]).encode()
            digest = hashlib.blake2b(seen + hands[i].tobytes(), digest_size=16).digest()
            words = np.frombuffer(digest, "<u4").tolist()
            out.append(np.random.default_rng([self.seed, *words]))
        return out

    def _sample(self, views: Views, numbers: I64) -> tuple[Particles, F64]:
        """Particles ``[N * worlds]`` of N views of hidden roles, and their log weights; errors name
        the views by ``numbers [N]``."""
        log = CardLog.of(views, numbers)
        streams = self._streams(views)
        swaps = Swaps(self.population, views, log)
        engine: Any = views.engine
        drawn = [
            engine.determinize(views.state, views.seats[i], self.worlds, stream, [i])
            for i, stream in enumerate(streams)
        ]
        of = np.repeat(np.arange(len(views)), self.worlds)
        particles = swaps.weigh(_join(drawn), of)
        shape = (len(views), self.worlds)
        if not self.steps:
            return particles, particles.weight.reshape(shape)
        weight, heat = np.zeros(shape), np.zeros(len(views))
        going = np.arange(
            len(views)
        )  # each stops by itself, so that it does not matter beside whom
        for stage in range(MOST_STAGES):
            now = particles.weight.reshape(shape)[going]
            hotter = _next_heat(now, heat[going])
            if stage == MOST_STAGES - 1:
                hotter = np.ones(len(going))
            weight[going] = _heated(now, hotter - heat[going])
            heat[going] = hotter
            going = going[hotter < 1]
            if not going.size:
                break
            dice = np.stack([streams[i].random(1) for i in going])
            chosen = _resample(_shares(weight[going]), dice)
            rows = (going[:, None] * self.worlds + np.arange(self.worlds)).ravel()
            some = particles.take(rows[chosen])
            for _ in range(self.steps):
                draws = np.stack([streams[i].random((self.worlds, DRAWS)) for i in going])
                swaps.step(some, heat, draws.reshape(-1, DRAWS))
            particles.put(rows, some)
        return particles, weight


def _join(parts: list[State]) -> State:
    whole = State(sum(len(part) for part in parts))
    start = 0
    for part in parts:
        whole.put(np.arange(start, start + len(part)), part)
        start += len(part)
    return whole


def _heated(weight: F64, heat: F64) -> F64:
    """``[N, W]`` log weights times a heat each; what has no chance keeps none with any heat > 0."""
    with np.errstate(invalid="ignore"):
        out: F64 = np.where(heat[:, None] > 0, weight * heat[:, None], 0.0)
    return out


def _shares(weight: F64) -> F64:
    """``[N, W]`` shares of log weights; alike where none has a chance."""
    best = weight.max(axis=1, keepdims=True)
    share = np.exp(weight - np.where(np.isneginf(best), 0, best))
    share[np.isneginf(best[:, 0])] = 1
    out: F64 = share / share.sum(axis=1, keepdims=True)
    return out


def _ess(weight: F64) -> F64:
    """``[N]`` effective sample sizes, 0 where no world has a chance."""
    size: F64 = 1 / (_shares(weight) ** 2).sum(axis=1)
    return np.where(np.isneginf(weight.max(axis=1)), 0.0, size)


def _resample(share: F64, dice: F64) -> I64:
    """``[N * W]`` places in ``[N * W]``, systematically: one die ``[N, 1]`` for each row."""
    n, worlds = share.shape
    upto = share.cumsum(axis=1)
    upto /= upto[:, -1:]
    points = (np.arange(worlds) + dice) / worlds
    chosen = [
        i * worlds + np.minimum(np.searchsorted(upto[i], points[i], side="right"), worlds - 1)
        for i in range(n)
    ]
    return np.concatenate(chosen)


def _next_heat(weight: F64, heat: F64) -> F64:
    """``[N]`` the highest heat with which half of the sample stays effective, at most 1.

    Worlds without any chance are lost with the first heat; of the others half stays.
    """
    alive = np.isfinite(weight).sum(axis=1)
    low, high = heat.copy(), np.ones_like(heat)
    enough = _ess(_heated(weight, high - heat)) >= 0.5 * alive
    low = np.where(enough, high, low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        good = _ess(_heated(weight, middle - heat)) >= 0.5 * alive
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    # a step at least, where even the smallest leaves too few
    out: F64 = np.maximum(low, np.minimum(heat + 1e-6, 1.0))
    return np.where(out > 1 - 1e-9, 1.0, out)
