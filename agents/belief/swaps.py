"""Moves from world to world that keep what a view knows: the rejuvenation of particles.

A step swaps cards that the viewer does not see between two hands: one, two, four or eight pairs of
any cards, or the card that makes the guard with any other. It is proposed symmetrically among the
ways to lay distinct unseen cards (a swap of the secret card is corrected for the sizes of the two
hands), and taken or not by Metropolis and Hastings, so that ``deals * blind * (likelihood / blind)
** heat`` stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.behaviour import Population
from lupai.agents.belief.likelihood import (
    LOG_FACTORIAL,
    CardLog,
    combine,
    deals_of,
    log_blind,
    log_by_seat,
    log_deals,
)
from lupai.envs.baohuang import evidence, hidden
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.cards import KIND_B, NUM_KINDS
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I8 = npt.NDArray[np.int8]

_MARK: Final = NUM_KINDS  # place of B* among the unseen cards
_MOST: Final = 8  # pairs that are swapped at once
DRAWS: Final = 5 + 2 * _MOST  # random numbers of one proposal


@dataclass
class Particles:
    """Worlds with all that a step needs to know of them.

    Attributes:
        worlds: B complete tables.
        of: ``[B]`` view of each.
        members, suits: as :func:`~lupai.agents.belief.likelihood.log_by_seat` gives them.
        weight: ``[B]`` logarithm of likelihood / blind.
        base: ``[B]`` logarithm of deals * blind for one way to lay the unseen cards.
    """

    worlds: State
    of: I64
    members: F64
    suits: F64
    weight: F64
    base: F64

    def take(self, rows: I64) -> Particles:
        """Copies of some, in the given order."""
        return Particles(
            self.worlds.take(rows), self.of[rows], self.members[:, rows], self.suits[rows],
            self.weight[rows], self.base[rows],
        )  # fmt: skip

    def put(self, rows: I64, other: Particles) -> None:
        """Overwrite some."""
        self.worlds.put(rows, other.worlds)
        self.members[:, rows], self.suits[rows] = other.members, other.suits
        self.weight[rows], self.base[rows] = other.weight, other.base


class Swaps:
    """Steps among the worlds of N views.

    Args:
        population: who plays.
        views: views of hidden roles.
        log: their public log.
    """

    def __init__(self, population: Population, views: Views, log: CardLog) -> None:
        self._population, self._views, self._log = population, views, log
        self._rules: Any = views.engine.rules
        self._proofs = evidence.gather(views.state, views.seats, self._rules)

    def weigh(
        self,
        worlds: State,
        of: I64,
        seats: npt.NDArray[np.bool_] | None = None,
        known: tuple[F64, F64] | None = None,
    ) -> Particles:
        """Particles from worlds.

        Args:
            worlds: complete tables that agree with their views ``of [B]``.
            seats: ``[B, S]`` whose decisions are to be asked again, all when None.
            known: members and suits of the others.
        """
        members, suits = log_by_seat(self._population, self._views, self._log, worlds, of, seats)
        if seats is not None and known is not None:
            members = np.where(seats, members, known[0])
            suits = np.where(seats, suits, known[1])
        marks = self._rules.needs_marked_b
        blind = log_blind(worlds, marks)
        base = log_deals(deals_of(worlds, marks)) + blind
        base += LOG_FACTORIAL[self._loose(worlds, of)].sum(axis=(1, 2))
        weight = combine(self._population, members, suits) - blind
        return Particles(worlds, of, members, suits, weight, base)

    def step(self, now: Particles, heat: F64, draws: F64) -> npt.NDArray[np.bool_]:
        """One proposal for each particle, in place.

        Args:
            now: B particles.
            heat: ``[N]`` exponent of the likelihood at each view.
            draws: ``[B, DRAWS]`` random numbers in [0, 1).

        Returns:
            ``[B] bool``: where it was taken.
        """
        loose = self._loose(now.worlds, now.of)
        hands, marked, a, b, fair = self._propose(now, loose, draws)
        row = np.arange(len(hands))
        guess = marked if self._rules.needs_marked_b else None
        masked = self._views.state.take(now.of)
        engine: Any = self._views.engine
        good = a != b
        good &= engine.consistent(masked, self._views.seats[now.of], hands, guess)
        taken = np.zeros(len(hands), bool)
        i = np.flatnonzero(good)
        if not i.size:
            return taken
        worlds, of = masked.take(i), now.of[i]
        guess = None if guess is None else guess[i]
        hidden.complete(worlds, self._views.seats[of], hands[i], guess, self._rules)
        seats = np.zeros((len(hands), SEATS), bool)
        seats[row, a] = seats[row, b] = True
        then = self.weigh(worlds, of, seats[i], (now.members[:, i], now.suits[i]))
        with np.errstate(invalid="ignore"):  # from a world without a chance to another such
            gain = heat[of] * (then.weight - now.weight[i]) + then.base - now.base[i] + fair[i]
        yes = np.flatnonzero(np.log1p(-draws[i, 3]) < gain)
        now.put(i[yes], then.take(yes))
        taken[i[yes]] = True
        return taken

    def _loose(self, worlds: State, of: I64) -> I8:
        """``[B, S, 55] int8`` unseen cards in each hand, B* last."""
        loose = np.zeros((len(worlds), SEATS, NUM_KINDS + 1), np.int8)
        loose[:, :, :NUM_KINDS] = worlds.hands - self._proofs.known[of]
        if self._rules.needs_marked_b:
            i = np.flatnonzero(self._proofs.secret[of] != NOBODY)
            loose[i, worlds.marked_b[i], KIND_B] -= 1
            loose[i, worlds.marked_b[i], _MARK] = 1
        return loose

    def _propose(self, now: Particles, loose: I8, draws: F64) -> tuple[I8, I64, I64, I64, F64]:
        """Hands, holders of B*, the two seats (equal: none), and the correction."""
        row = np.arange(len(loose))
        room = loose.sum(axis=2, dtype=np.int64)
        secret = self._proofs.secret[now.of].astype(np.intp)
        if self._rules.needs_marked_b:
            secret = np.full(len(loose), _MARK)
        special = draws[:, 0] < 0.5
        a = _nth(room > 0, draws[:, 1])
        a = np.where(special, (loose[row, :, secret] > 0).argmax(axis=1), a)
        others = room > 0
        others[row, a] = False
        alone = ~others.any(axis=1)
        b = np.where(alone, a, _nth(others, draws[:, 2]))
        fair = np.where(special, np.log(room[row, b]) - np.log(room[row, a]), 0.0)
        pairs = np.where(special, 1, 1 << (draws[:, 4] * 4).astype(np.int64))
        laid = loose.copy()
        for number in range(_MOST):  # backwards the same pairs lead back
            i = np.flatnonzero(pairs > number)
            if not i.size:
                break
            give, take = draws[i, 5 + 2 * number], draws[i, 6 + 2 * number]
            one = np.where(special[i], secret[i], _nth(laid[i, a[i]], give))
            other = _nth(laid[i, b[i]], take)
            for seat, kind, change in ((a, one, -1), (b, one, 1), (b, other, -1), (a, other, 1)):
                laid[i, seat[i], kind] += np.int8(change)
        hands = self._proofs.known[now.of] + laid[:, :, :NUM_KINDS]
        hands[:, :, KIND_B] += laid[:, :, _MARK]
        marked = np.where(laid[:, :, _MARK].any(axis=1), laid[:, :, _MARK].argmax(axis=1), NOBODY)
        return hands, marked, a, b, fair


def _nth(counts: npt.NDArray[Any], draws: F64) -> I64:
    """``[B]`` column of a card drawn from ``counts [B, K]``, each as likely."""
    upto = counts.cumsum(axis=1, dtype=np.int64)
    place = (draws * upto[:, -1]).astype(np.int64)
    column: I64 = (upto > place[:, None]).argmax(axis=1)
    return column
