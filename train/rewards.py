"""What a seat is paid during a hand, for the trainer only.

Three kinds (letters: ``B`` tables, ``S`` = 5 seats; points are those of the rules):

* ``score``: the final score, once, at the end.
* ``placement``: each finishing place's value goes to the whole camp of who takes it at the moment
  it is taken; what is known only at the end is paid there. The sum over the hand is the score,
  exactly, in integers.
* ``potential``: the score at the end and, at every decision, ``c (γ Φ(s') - Φ(s))``. Φ is
  :func:`potential`; c falls linearly to 0 over the run, see :func:`coefficient`. Over a hand the
  shaping sums to ``-c Φ(s0)`` for γ = 1, whatever is played, so it changes no preference.

Both samplers pay by the same two functions of a state: *credit*, the points paid so far, and Φ. The
reward of a seat's decision is what changed until its next decision, or until the end of the hand;
so a seat that is out gets what comes later with its last decision, and credit from before a seat's
first decision comes with the first. None of it is a part of any observation: a credit at the moment
a hidden guard goes out would tell who he is.
"""

from __future__ import annotations

from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import PLACE_VALUE, SOLO_VALUE, final_scores, half_shares
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, State
from lupai.envs.seats import NOBODY

__all__ = ["KINDS", "Rewards", "coefficient", "placement_credit", "potential"]

KINDS: Final = ("score", "placement", "potential")

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_MIDDLE: Final = 3  # a place's value is 3 - place
assert (PLACE_VALUE[1:] == _MIDDLE - np.arange(1, SEATS + 1)).all()

# All sets of the four others, and how "all of a set go out after him" gives "just k go out after".
_SETS: Final = np.arange(1 << (SEATS - 1))[:, None] >> np.arange(SEATS - 1) & 1  # [16, 4]
_OF_SIZE: Final = (_SETS.sum(axis=1)[:, None] == np.arange(SEATS)).astype(np.float64)  # [16, 5]
_JUST: Final = np.array(
    [[(-1) ** (n - k) * comb(n, k) if n >= k else 0 for k in range(SEATS)] for n in range(SEATS)],
    dtype=np.float64,
)


class Rewards:
    """Pays by one kind.

    Args:
        rules: of the tables.
        kind: one of KINDS.
        scale: reward = points x this.
        gamma: discount of the shaping.
        coefficient: c at the start; set it anew between iterations.

    Raises:
        ValueError: an unknown kind.
    """

    seats: Final = SEATS

    def __init__(
        self,
        rules: Rules,
        kind: str = "score",
        scale: float = 0.1,
        gamma: float = 1.0,
        coefficient: float = 0.0,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"reward is {kind!r}; allowed: {', '.join(KINDS)}")
        self.rules = rules
        self.kind = kind
        self.scale = float(scale)
        self.gamma = float(gamma)
        self.coefficient = float(coefficient)

    def credit(self, state: State) -> I64:
        """Points paid so far, ``[B, S] int64``; those of a hand that is over are its scores."""
        if self.kind == "placement":
            return placement_credit(state, self.rules)
        return final_scores(state, self.rules)

    def phi(self, state: State) -> F64:
        """Φ ``[B, S] float64``, zeros where nothing is shaped."""
        if self.kind == "potential":
            return potential(state, self.rules)
        return np.zeros((len(state), SEATS))

    def at(self, state: State, seats: Any) -> tuple[I64, F64]:
        """:meth:`credit` and :meth:`phi`, each ``[B]``, of one seat at each table, in a hand."""
        row = np.arange(len(state))
        credit = np.zeros(len(state), np.int64)
        if self.kind == "placement":
            credit = self.credit(state)[row, seats]
        return credit, self.phi(state)[row, seats]

    def pay(self, credit: Any, next_credit: Any, phi: Any, next_phi: Any) -> F64:
        """Rewards, ``float64``, of decisions between two states; shapes are free but equal."""
        gained = np.asarray(next_credit, np.float64) - credit
        if self.kind == "potential":
            gained = gained + self.coefficient * (self.gamma * np.asarray(next_phi) - phi)
        return np.asarray(self.scale * gained)


def coefficient(start: float, anneal_steps: int, steps: int) -> float:
    """c after ``steps`` decisions of the run: linear from ``start`` to 0 at ``anneal_steps``."""
    return start * max(0.0, 1.0 - steps / anneal_steps)


def placement_credit(state: State, rules: Rules) -> I64:
    """Points ``[B, S] int64`` for the places taken so far.

    With a guard, a place of value v at multiplier m is worth ``2 v m`` to the emperor and ``v m``
    to the guard where one of the two takes it (from m = 4 on 1.5 v m to both), and ``v m`` to each
    rebel where a rebel takes it. An emperor alone, and the others against him, are paid by his own
    place. Hands that are over have their scores: the last places, places that an early end leaves
    open, and penalties are paid there. Multiplier and roles are settled before the first place.
    """
    row = np.arange(len(state))
    emperor = np.maximum(state.emperor, 0).astype(np.intp)
    multiplier = state.multiplier.astype(np.int64)
    alone = SOLO_VALUE[rules.roles_by][state.solo, state.places[row, emperor]] * multiplier
    out = np.repeat(-(alone // 4)[:, None], SEATS, axis=1)
    out[row, emperor] = alone

    pair = np.flatnonzero(state.guard != NOBODY)
    if pair.size:
        i, e, g = np.arange(len(pair)), emperor[pair], state.guard[pair].astype(np.intp)
        value = PLACE_VALUE[state.places[pair]] * multiplier[pair, None]
        camp = value[i, e] + value[i, g]
        share_e, share_g = half_shares(multiplier[pair])
        out[pair] = (value.sum(axis=1) - camp)[:, None]
        out[pair, e] = camp * share_e // 2
        out[pair, g] = camp * share_g // 2
    out[state.emperor == NOBODY] = 0
    over = state.over
    if over.any():
        out[over] = final_scores(state, rules)[over]
    return out


def potential(state: State, rules: Rules) -> F64:
    """Φ ``[B, S] float64``: the score to be expected from the places so far and the cards left.

    As if the next to go out were drawn again and again among the seats still in, with weights
    1 / cards left (Plackett-Luce). A seat with ``n`` cards then ends at the place ``1 +`` the sum
    over the others of ``n / (n + n')``, who is out having ``n' = 0``; values of places, multiplier,
    shares and solo tables are those of the rules. It sums to zero over the seats and lies within
    the scores of the hand. 0 before play and when the hand is over.
    """
    out = np.zeros((len(state), SEATS))
    play = np.flatnonzero((state.phase == PHASE_PLAY) & (state.emperor != NOBODY))
    if not play.size:
        return out
    emperor, guard = state.emperor[play].astype(np.intp), state.guard[play].astype(np.intp)
    multiplier = state.multiplier[play].astype(np.float64)
    sizes = state.sizes[play].astype(np.float64)
    places = state.places[play].astype(np.intp)

    pair = np.flatnonzero(guard != NOBODY)
    if pair.size:
        i, e, g = np.arange(len(pair)), emperor[pair], guard[pair]
        value = _MIDDLE - _mean_places(sizes[pair], places[pair])
        camp = (value[i, e] + value[i, g]) * multiplier[pair]
        share_e, share_g = half_shares(state.multiplier[play[pair]])
        out[play[pair]] = -camp[:, None]
        out[play[pair], e] = camp * share_e / 2
        out[play[pair], g] = camp * share_g / 2
    solo = np.flatnonzero(guard == NOBODY)
    if solo.size:
        chances = _chances_of_places(sizes[solo], places[solo], emperor[solo])
        table = SOLO_VALUE[rules.roles_by][state.solo[play[solo]]]
        alone = (chances * table).sum(axis=1) * multiplier[solo]
        out[play[solo]] = -(alone / 4)[:, None]
        out[play[solo], emperor[solo]] = alone
    return out


def _mean_places(sizes: F64, places: npt.NDArray[np.intp]) -> F64:
    """Expected places ``[N, S]``; taken ones as they are."""
    both = sizes[:, :, None] + sizes[:, None, :]
    before = sizes[:, :, None] / np.where(both > 0, both, 1)
    before[:, np.arange(SEATS), np.arange(SEATS)] = 0
    return np.where(places > 0, places, 1 + before.sum(axis=2))


def _chances_of_places(
    sizes: F64, places: npt.NDArray[np.intp], seats: npt.NDArray[np.intp]
) -> F64:
    """``[N, S + 1]`` chances of one seat's places 0 … S (0: never)."""
    n = len(seats)
    row = np.arange(n)
    others = sizes[row[:, None], (seats[:, None] + np.arange(1, SEATS)) % SEATS]
    weights = np.where(others > 0, 1 / np.where(others > 0, others, 1), 0)
    own = 1 / np.maximum(sizes[row, seats], 1)
    possible = (others == 0).astype(np.float64) @ _SETS.T == 0  # who is out goes after nobody
    all_after = np.where(possible, own[:, None] / (own[:, None] + weights @ _SETS.T), 0)
    after = all_after @ _OF_SIZE @ _JUST  # [N, S]: just k of the others go out later
    out = np.zeros((n, SEATS + 1))
    out[:, 1:] = after[:, ::-1]
    taken = places[row, seats]
    out[taken > 0] = 0
    out[row[taken > 0], taken[taken > 0]] = 1
    return out
