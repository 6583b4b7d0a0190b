"""Who is guard, as far as a seat can tell.

A belief is a function of rules, masked state and viewers that gives chances ``[N, S + 1]``: seat
j is guard; last, nobody is (the emperor is secretly alone). It is asked only where the viewer
does not know. :func:`heuristic` is the default of ``tactical``, :func:`grounded` the one of
``bayes``; another can be given to the agent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, Said, Solo
from lupai.envs.baohuang.worlds import guard_chances
from lupai.envs.seats import NOBODY

F64 = npt.NDArray[np.float64]
Belief = Callable[[Rules, Any, npt.NDArray[np.intp]], F64]

_ALONE: Final = {"called_card": 0.05, "marks": 0.2}  # chance that nobody is guard, before play
_SEATS: Final = np.arange(SEATS)


def heuristic(rules: Rules, state: Any, viewers: npt.NDArray[np.intp]) -> F64:
    """By hand sizes: the identity card is among the cards that are not played yet."""
    emperor = state.emperor.astype(np.intp)[:, None]
    weight = state.sizes.astype(np.float64)
    weight *= (emperor != _SEATS) & (viewers[:, None] != _SEATS)
    weight *= state.said >> Said.OPPOSE & 1 == 0
    marks = rules.needs_marked_b
    alone = _ALONE["marks" if marks else "called_card"]
    total = weight.sum(axis=1, keepdims=True)
    # the emperor himself knows whether he is alone
    rest = np.where(viewers == emperor[:, 0], 0.0, alone)[:, None]
    rest = np.where(total > 0, rest, 1.0)
    shares = weight / np.maximum(total, 1) * (1 - rest)
    return np.concatenate([shares, rest], axis=1)


def grounded(rules: Rules, state: Any, viewers: npt.NDArray[np.intp]) -> F64:
    """All deals that are consistent with the record are equally likely; nothing is guessed from
    how somebody plays."""
    return guard_chances(state, viewers, rules)


def friends(
    rules: Rules, state: Any, viewers: npt.NDArray[np.intp], seats: npt.NDArray[np.intp],
    belief: Belief,
) -> F64:  # fmt: skip
    """Chance ``[N, 4]`` that each of the other ``seats [N, 4]`` is of the viewer's camp."""
    emperor, guard = state.emperor.astype(np.intp), state.guard.astype(np.intp)
    alone = (state.solo != Solo.NONE) & (emperor == viewers)
    known = (state.public == 1) | (guard == viewers) | alone
    chance = np.zeros((len(viewers), SEATS + 1))
    chance[np.arange(len(viewers)), np.where(guard == NOBODY, SEATS, guard)] = 1
    open_ = np.flatnonzero(~known)
    if open_.size:
        chance[open_] = belief(rules, state.take(open_), viewers[open_])
    row = np.arange(len(viewers))[:, None]
    theirs = chance[row, seats]
    mine = guard == viewers
    rules_ = (viewers == emperor)[:, None]
    crowned = seats == emperor[:, None]
    rebel = np.where(crowned, 0.0, 1 - theirs)
    out: F64 = np.where(rules_, theirs, np.where(mine[:, None], crowned * 1.0, rebel))
    return out
