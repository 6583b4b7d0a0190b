"""Everything before the first lead (rules §4.1): who is emperor, and who is his guard.

1. Grab (抢庄): from the holder of R* going -1, all five: ``grab`` takes R* and plays alone.
2. Call (叫庄): the holder of R* calls a kind of which he holds three copies (the holder of the
   fourth is guard) or four (a solo, ``open`` or ``secret``), or cedes R* to the seat before him.
3. Forced call (逼庄) when all five ceded: the first, going -1 from the first holder, who holds
   *exactly three* copies of a kind (R* counts while the question is with him) must call; others
   are skipped, which everybody sees.
4. Void (黄庄) when nobody qualifies: the deal is dealt anew.
5. Declaration (明保): the four after the emperor are all asked, so that being asked tells nothing;
   the holder of the identity card may ``declare``. Not when it is public that he is alone.

Sources: S0 and S1 second half, S3 (青岛保皇). Order and single window of the grab are decided by
the project (docs/rules.md).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import CALL, VERB_ID
from lupai.envs.baohuang.legal import Ints, Legal, verb_mask
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, Phase, Said, Solo, State
from lupai.envs.cards import KIND_R, NUM_KINDS, RANK_R
from lupai.envs.seats import NOBODY, next_seat

COPIES: Final = 4
_ALL: Final = (1 << SEATS) - 1
_DOWN: Final = next_seat(SEATS, -1)
_NEXT: Final = next_seat(SEATS)
_GRAB, _CEDE, _DECLARE = VERB_ID["grab"], VERB_ID["cede"], VERB_ID["declare"]


def begin(state: State, t: Ints) -> None:
    """Open the first phase of freshly dealt tables."""
    state.phase[t] = Phase.GRAB
    state.actor[t] = state.crown[t]
    state.to_ask[t] = _ALL


def callable_kinds(rules: Rules) -> npt.NDArray[np.bool_]:
    """``[54] bool``: kinds of which the deck has four copies; only they may be called."""
    four: npt.NDArray[np.bool_] = rules.cards.counts == COPIES
    return four


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all before play."""
    out = Legal.empty(len(t))
    phase = state.phase[t]
    actor = state.actor[t]
    out.verbs[phase == Phase.GRAB] = verb_mask("grab", "decline")
    out.verbs[phase == Phase.CALL] = verb_mask("cede")
    holds = state.identity_seat[t] == actor
    asked = phase == Phase.DECLARE
    out.verbs[asked] = verb_mask("silent")
    out.verbs[asked & holds] = verb_mask("silent", "declare")
    calling = (phase == Phase.CALL) | (phase == Phase.FORCED_CALL)
    if calling.any():
        held = state.hands[t[calling], actor[calling]]
        ways = (held == COPIES - 1) + 2 * (held == COPIES)
        out.calls[calling] = np.where(callable_kinds(rules), ways, 0)
    return out


def step(state: State, t: Ints, actions: Ints, rules: Rules) -> npt.NDArray[np.intp]:
    """Apply legal moves before play in place; returns the tables whose deal is void."""
    phase = state.phase[t]
    void = np.zeros(0, dtype=np.intp)
    for which, apply in ((Phase.GRAB, _grab), (Phase.DECLARE, _declare)):
        here = phase == which
        if here.any():
            apply(state, t[here], actions[here])
    here = (phase == Phase.CALL) | (phase == Phase.FORCED_CALL)
    if here.any():
        void = _call(state, t[here], actions[here], rules)
    return void


def _say(state: State, t: Ints, what: Said) -> None:
    state.said[t, state.actor[t]] |= 1 << what


def _answered(state: State, t: Ints) -> npt.NDArray[np.bool_]:
    """Take the actor off the list of those to ask; which tables have nobody left."""
    state.to_ask[t] &= ~(1 << state.actor[t].astype(np.intp)).astype(np.int16)
    nobody_left: npt.NDArray[np.bool_] = state.to_ask[t] == 0
    return nobody_left


def move_crown(state: State, t: Ints, seat: Ints) -> None:
    """Move R* from its holder into the hand of ``seat``."""
    for holder, change in ((state.crown[t], -1), (seat, 1)):
        state.hands[t, holder, KIND_R] += np.int8(change)
        state.ranks[t, holder, RANK_R] += np.int8(change)
        state.sizes[t, holder] += np.int8(change)
    state.crown[t] = seat


def _grab(state: State, t: Ints, actions: Ints) -> None:
    taken = actions == _GRAB
    if taken.any():
        g = t[taken]
        seat = state.actor[g].copy()
        _say(state, g, Said.GRAB)
        move_crown(state, g, seat)
        state.emperor[g] = seat
        state.solo[g] = Solo.GRAB
        state.public[g] = 1
        _open_play(state, g)
    if not taken.all():
        d = t[~taken]
        _say(state, d, Said.DECLINE_GRAB)
        done = _answered(state, d)
        state.actor[d] = _DOWN[state.to_ask[d], state.actor[d]]
        c = d[done]
        state.phase[c] = Phase.CALL
        state.actor[c] = state.crown[c]
        state.to_ask[c] = _ALL


def _call(state: State, t: Ints, actions: Ints, rules: Rules) -> npt.NDArray[np.intp]:
    ceded = actions == _CEDE
    void = np.zeros(0, dtype=np.intp)
    if not ceded.all():
        _crown_emperor(state, t[~ceded], actions[~ceded] - CALL)
    if ceded.any():
        c = t[ceded]
        _say(state, c, Said.CEDE)
        done = _answered(state, c)
        before = (state.actor[c] - 1) % SEATS
        move_crown(state, c, before)
        state.actor[c] = before
        if done.any():
            void = _force(state, c[done], rules)
    return void


def _force(state: State, t: Ints, rules: Rules) -> npt.NDArray[np.intp]:
    """Carry R* from the first holder to the first seat that must call; returns void tables."""
    can_call = callable_kinds(rules)
    state.phase[t] = Phase.FORCED_CALL
    open_ = t
    for _ in range(SEATS):
        held = state.hands[open_, state.actor[open_]]
        must = ((held == COPIES - 1) & can_call).any(axis=1)
        open_ = open_[~must]
        if not open_.size:
            break
        _say(state, open_, Said.SKIPPED_FORCED_CALL)
        before = (state.actor[open_] - 1) % SEATS
        move_crown(state, open_, before)
        state.actor[open_] = before
    return open_.astype(np.intp)


def nobody_must_call(state: State, rules: Rules) -> bool:
    """Whether a deal of one table ends void when all five cede."""
    trial = state.copy()
    return bool(_force(trial, np.zeros(1, np.intp), rules).size)


def _crown_emperor(state: State, t: Ints, call: Ints) -> None:
    way, kind = np.divmod(call, NUM_KINDS)
    seat = state.actor[t].copy()
    _say(state, t, Said.CALL)
    state.emperor[t] = seat
    state.identity_kind[t] = kind
    state.shown[t, kind] = COPIES - 1
    state.solo[t] = np.choose(way, (Solo.NONE, Solo.OPEN, Solo.SECRET))
    state.public[t] = way == 1

    fourth = state.hands[t, :, kind] > 0
    fourth[np.arange(len(t)), seat] = False
    guard = np.where(way == 0, fourth.argmax(axis=1), NOBODY)
    state.guard[t] = guard
    state.identity_seat[t] = np.where(way == 0, guard, np.where(way == 1, NOBODY, seat))

    open_solo = way == 1
    _open_play(state, t[open_solo])
    d = t[~open_solo]
    state.phase[d] = Phase.DECLARE
    state.to_ask[d] = _ALL & ~(1 << state.emperor[d].astype(np.intp))
    state.actor[d] = _NEXT[state.to_ask[d], state.emperor[d]]


def _declare(state: State, t: Ints, actions: Ints) -> None:
    shown = actions == _DECLARE
    if shown.any():
        d = t[shown]
        _say(state, d, Said.DECLARE)
        state.declared[d] = 1
        state.public[d] = 1
        state.identity_seat[d] = NOBODY
        state.multiplier[d] = 2
        _open_play(state, d)
    if not shown.all():
        s = t[~shown]
        _say(state, s, Said.SILENT_DECLARE)
        done = _answered(state, s)
        state.actor[s] = _NEXT[state.to_ask[s], state.actor[s]]
        _open_play(state, s[done])


def _open_play(state: State, t: Ints) -> None:
    """The emperor leads the first trick."""
    state.phase[t] = PHASE_PLAY
    state.actor[t] = state.emperor[t]
    state.to_ask[t] = 0
    state.alive[t] = _ALL
