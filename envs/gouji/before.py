"""Before the first lead: what the deal opens, and the answers of its phases."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji import revolution, tribute
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.legal import Legal
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.state import I8, I32, Phase, State
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

_BIT: Final = {name: np.uint32(1 << i) for name, i in VERB_ID.items()}


def begin(state: State, t: Ints, deal: tuple[I32, I32, I32], rules: Rules) -> None:
    """Open fresh tables ``t``, whose cards are dealt: gifts, then the first question.

    Args:
        deal: first leader, suit and number of his 3s; see :func:`.dealing.first_leaders`.
    """
    leader, suit, threes = deal
    state.first_leader[t], state.threes_suit[t], state.threes[t] = deal
    made = np.flatnonzero(suit != NOBODY)
    state.shown[t[made], leader[made], suit[made]] = threes[made]
    if rules.tribute:
        tribute.give(state, t)
    c = Columns(state, t)
    revolution.begin(c, tribute.open_returns(c, np.arange(len(t))), rules)
    c.store(state, t)


def legal_before(state: State, t: Ints) -> Legal:
    """Legal moves of the acting players at tables ``t``, all in phases before play."""
    phase, actor = state.phase[t], state.actor[t]
    out = Legal.empty(len(t))
    i = np.flatnonzero(phase == Phase.REVOLT)
    if i.size:
        can = revolution.may_revolt(state.ranks[t[i], actor[i]])
        out.verbs[i] = np.where(can, _BIT["silent"] | _BIT["revolt"], _BIT["silent"])
    out.verbs[phase == Phase.WAIVE] = _BIT["silent"] | _BIT["waive"]
    i = np.flatnonzero(phase == Phase.OFFER)
    if i.size:
        out.offers[i] = tribute.offers(state, t[i])
    i = np.flatnonzero(phase == Phase.ANSWER_OFFER)
    if i.size:
        can = tribute.may_refuse(state, t[i])
        out.verbs[i] = np.where(can, _BIT["take"] | _BIT["refuse"], _BIT["take"])
    return out


def step_before(
    state: State, t: Ints, actions: Ints, rules: Rules, cards: I8 | None = None
) -> npt.NDArray[np.intp]:
    """Apply legal moves in place at tables ``t [N]``, all in phases before play.

    Args:
        actions: ``[N]`` ids.
        cards: ``[N, 54] int8`` the very card of each ``offer``; None: the first suit held.

    Returns:
        Table numbers whose deal turned out void.
    """
    c = Columns(state, t)
    phase = c.phase.copy()
    void = np.zeros(0, np.intp)
    i = np.flatnonzero(phase == Phase.OFFER)
    if i.size:
        tribute.offer(state, t, c, i, actions[i], None if cards is None else cards[i])
    i = np.flatnonzero(phase == Phase.ANSWER_OFFER)
    if i.size:
        done = tribute.answer(state, t, c, i, actions[i])
        revolution.begin(c, done, rules)
    i = np.flatnonzero(phase == Phase.WAIVE)
    if i.size:
        revolution.waive(c, i, actions[i])
    i = np.flatnonzero(phase == Phase.REVOLT)
    if i.size:
        void = revolution.answer(state, t, c, i, actions[i])
    c.store(state, t)
    return t[void]
