"""One decision at each of N tables, whatever phase each is in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.gouji import play, revolution, tribute
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
    _after_tribute(c, np.arange(len(t)), rules)
    c.store(state, t)


def _after_tribute(c: Columns, i: Ints, rules: Rules) -> None:
    done = tribute.open_returns(c, i)
    if done.size:
        revolution.begin(c, done, rules)


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players; none where the hand is over."""
    phase = state.phase[t]
    late = (phase == Phase.PLAY) | (phase == Phase.BURN)
    if late.all():
        return play.legal(state, t, rules)
    out = Legal.empty(len(t))
    here = np.flatnonzero(late)
    if here.size:
        out.put(here, play.legal(state, t[here], rules))
    _early(state, t, phase, out)
    return out


def _early(state: State, t: Ints, phase: Ints, out: Legal) -> None:
    i = np.flatnonzero(phase == Phase.REVOLT)
    if i.size:
        can = revolution.may_revolt(state.ranks[t[i], state.actor[t[i]]])
        out.verbs[i] = np.where(can, _BIT["silent"] | _BIT["revolt"], _BIT["silent"])
    out.verbs[phase == Phase.WAIVE] = _BIT["silent"] | _BIT["waive"]
    i = np.flatnonzero(phase == Phase.OFFER)
    if i.size:
        out.offers[i] = tribute.offers(state, t[i])
    i = np.flatnonzero(phase == Phase.ANSWER_OFFER)
    if i.size:
        can = tribute.may_refuse(state, t[i])
        out.verbs[i] = np.where(can, _BIT["take"] | _BIT["refuse"], _BIT["take"])


def step(
    state: State, t: Ints, actions: Ints, rules: Rules, cards: I8 | None = None
) -> npt.NDArray[np.intp]:
    """Apply legal moves in place.

    Args:
        t: ``[N]`` table numbers.
        actions: ``[N]`` ids.
        cards: ``[N, 54] int8`` the very cards of each ``play`` and ``offer``; None: suits in order.

    Returns:
        Table numbers whose deal turned out void.
    """
    c = Columns(state, t)
    phase = c.phase.copy()
    void = np.zeros(0, np.intp)

    def rows(*phases: Phase) -> Ints:
        return np.flatnonzero(np.isin(phase, phases))

    late = rows(Phase.PLAY, Phase.BURN)
    early = len(late) < len(t)
    if early:
        void = _step_early(state, t, c, actions, rules, cards, rows)
    if late.size:
        play.step(state, t, c, late, actions, rules, cards)
    c.store(state, t)
    return t[void]


def _step_early(
    state: State, t: Ints, c: Columns, actions: Ints, rules: Rules, cards: I8 | None, rows: Any
) -> npt.NDArray[np.intp]:
    i = rows(Phase.OFFER)
    if i.size:
        tribute.offer(state, t, c, i, actions[i], None if cards is None else cards[i])
    i = rows(Phase.ANSWER_OFFER)
    if i.size:
        done = tribute.answer(state, t, c, i, actions[i])
        if done.size:
            revolution.begin(c, done, rules)
    i = rows(Phase.WAIVE)
    if i.size:
        revolution.waive(c, i, actions[i])
    i = rows(Phase.REVOLT)
    void = np.zeros(0, np.intp)
    if i.size:
        void = revolution.answer(state, t, c, i, actions[i])
    return void
