"""保皇 (Baohuang) in training: rewards during a hand, roles, and rates of the rule agents.

Letters: ``B`` tables, ``S`` = 5 seats. What a critic sees stands in :mod:`lupai.train.privileged`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import PLACE_VALUE, SOLO_VALUE, final_scores, half_shares
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, State
from lupai.envs.seats import NOBODY
from lupai.train.games.base import TrainingGame
from lupai.train.games.plackett_luce import chances_of_later
from lupai.train.privileged import PRIVILEGED_LAYOUT, learner_columns, privileged_rows

__all__ = ["GAME", "ROLES", "placement_credit", "potential", "seat_roles"]

ROLES: Final = ("none", "emperor", "guard", "rebel", "solo")

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Least and greatest rate of `greedy` and `tactical`, each in one seat against four of either, 200
# deals of seed 5, by preset. `alone`: share of a seat's emperorships without a guard.
RATES: Final[dict[str, dict[str, tuple[float, float]]]] = {
    "qingdao": {
        "grab": (0.0, 0.184),
        "call": (0.751, 0.840),
        "declare": (0.0, 0.172),
        "secret_solo": (0.0, 0.0),
        "reveal": (0.611, 0.942),
        "alone": (0.0, 0.655),
    },
    "shiwei": {
        "grab": (0.0, 0.127),
        "call": (0.750, 0.822),
        "declare": (0.0, 0.194),
        "secret_solo": (0.0, 0.0),
        "reveal": (0.737, 0.984),
        "alone": (0.0, 0.505),
    },
    "weihai": {
        "solo": (0.0, 0.037),
        "abandon": (0.0, 0.180),
        "accept": (0.0, 0.346),
        "declare": (0.0, 0.160),
        "oppose": (0.0, 0.199),
        "niu": (0.0, 0.148),
        "ti": (0.0, 0.060),
        "reveal": (0.760, 0.959),
        "alone": (0.210, 0.327),
    },
}

_MIDDLE: Final = 3  # a place's value is 3 - place
assert (PLACE_VALUE[1:] == _MIDDLE - np.arange(1, SEATS + 1)).all()


def seat_roles(state: Any) -> npt.NDArray[np.int8]:
    """``[B, 5] int8`` index into ROLES of every seat; the referee's knowledge, not a seat's."""
    seats = np.arange(SEATS)
    roles = np.full((len(state), SEATS), ROLES.index("rebel"), dtype=np.int8)
    emperor, guard = np.asarray(state.emperor)[:, None], np.asarray(state.guard)[:, None]
    alone = np.asarray(state.solo)[:, None] != 0
    roles[seats == guard] = ROLES.index("guard")
    roles[(seats == emperor) & ~alone] = ROLES.index("emperor")
    roles[(seats == emperor) & alone] = ROLES.index("solo")
    roles[np.broadcast_to(emperor < 0, roles.shape)] = ROLES.index("none")
    return roles


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
    row = np.arange(len(seats))
    out = np.zeros((len(seats), SEATS + 1))
    out[:, 1:] = chances_of_later(sizes, seats)[:, ::-1]
    taken = places[row, seats]
    out[taken > 0] = 0
    out[row[taken > 0], taken[taken > 0]] = 1
    return out


def _stakes(state: State) -> npt.NDArray[np.float32]:
    stakes: npt.NDArray[np.float32] = np.maximum(state.multiplier, 1).astype(np.float32)
    return stakes


GAME: Final = TrainingGame(
    name="baohuang",
    seats=SEATS,
    roles=ROLES,
    seat_roles=seat_roles,
    layout=PRIVILEGED_LAYOUT,
    privileged_rows=privileged_rows,
    learner_columns=learner_columns,
    points=final_scores,
    credits={"placement": placement_credit},
    potential=potential,
    stakes=_stakes,
    rare="solo",
    guards=True,
    rates=RATES,
)
