"""Everything before the first lead where a card is called (rules §4.1, §4.2): emperor and guard.

1. Grab (抢庄, option ``grab``): from the holder of R* going -1, all five: ``grab`` takes R* and
   plays alone.
2. Call (叫庄): the holder of R* calls a kind of which he holds three copies (the holder of the
   fourth is guard) or four (a solo, ``open`` or ``secret``), or cedes R* to the seat before him.
   With ``tribute_on_cede`` (贴牌) the second and later ceders add their highest natural card to a
   pile that goes with R*.
3. Forced call (逼庄) when all five ceded: the first, going -1 from the first holder, who holds
   *exactly three* copies of a kind (R* and the pile count while the question is with him) must
   call; others are skipped, which everybody sees.
4. Void (黄庄) when nobody qualifies: the deal is dealt anew.
5. Declaration (明保): the four after the emperor are all asked, so that being asked tells nothing;
   the holder of the identity card may ``declare``. Not when it is public that he is alone.

With ``guard_by = marked_small_joker`` nothing is called: after the grab phase the marks make
emperor and guard, and the emperor is asked whether he shows both marks (``open``).

Sources: S0 and S1 second half, S3 (青岛保皇); S1 first half for 贴牌, 特画 and the marked joker.
Order and single window of the grab are decided by the project (docs/rules.md).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.asking import answered, say, seat_bit
from lupai.envs.baohuang import marks
from lupai.envs.baohuang.actions import CALL, VERB_ID
from lupai.envs.baohuang.asking import ALL, ask, make_public, move_crown, open_play
from lupai.envs.baohuang.legal import Ints, Legal, verb_mask
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, Phase, Said, Solo, State
from lupai.envs.cards import NATURAL_RANKS, NUM_KINDS
from lupai.envs.seats import NOBODY, next_seat

COPIES: Final = 4
_DOWN: Final = next_seat(SEATS, -1)


def begin(state: State, t: Ints, rules: Rules) -> None:
    """Open the first phase of freshly dealt tables."""
    if rules.roles_by == "marks":
        marks.begin(state, t, rules)
    elif rules.grab:
        state.phase[t] = Phase.GRAB
        state.actor[t] = state.crown[t]
        state.to_ask[t] = ALL
    else:
        _nobody_grabbed(state, t, rules)


def callable_kinds(rules: Rules) -> npt.NDArray[np.bool_]:
    """``[54] bool``: kinds of which the deck has four copies; only they may be called."""
    four: npt.NDArray[np.bool_] = rules.cards.counts == COPIES
    return four


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all before play."""
    out = Legal.empty(len(t))
    marks.legal(out, state, t)
    phase = state.phase[t]
    actor = state.actor[t]
    out.verbs[phase == Phase.GRAB] = verb_mask("grab", "decline")
    out.verbs[phase == Phase.CALL] = verb_mask("cede")
    asked = phase == Phase.DECLARE
    out.verbs[asked] = verb_mask("silent")
    out.verbs[asked & _holds_identity(state, t)] = verb_mask("silent", "declare")
    shows = phase == Phase.OPEN
    out.verbs[shows] = verb_mask("silent")
    out.verbs[shows & (state.marked_b[t] == actor)] = verb_mask("silent", "open")
    calling = (phase == Phase.CALL) | (phase == Phase.FORCED_CALL)
    if calling.any():
        held = state.hands[t[calling], actor[calling]]
        ways = (held == COPIES - 1) + 2 * (held == COPIES)
        out.calls = np.zeros((len(t), NUM_KINDS), np.int8)
        out.calls[calling] = np.where(callable_kinds(rules), ways, 0)
    return out


def _holds_identity(state: State, t: Ints) -> npt.NDArray[np.bool_]:
    """Whether the actor holds the card that makes the guard, who may already be public (弃皇)."""
    actor = state.actor[t]
    marked = state.marked_b[t]
    holds: npt.NDArray[np.bool_] = np.where(
        marked == NOBODY, state.identity_seat[t] == actor, marked == actor
    )
    return holds


def step(state: State, t: Ints, actions: Ints, rules: Rules) -> npt.NDArray[np.intp]:
    """Apply legal moves before play in place; returns the tables whose deal is void."""
    phase = state.phase[t]
    void = np.zeros(0, dtype=np.intp)
    for which, apply in ((Phase.GRAB, _grab), (Phase.DECLARE, _declare), (Phase.OPEN, _open)):
        here = phase == which
        if here.any():
            apply(state, t[here], actions[here], rules)
    here = (phase == Phase.CALL) | (phase == Phase.FORCED_CALL)
    if here.any():
        void = _call(state, t[here], actions[here], rules)
    if rules.roles_by == "marks":
        other = phase != Phase.DECLARE
        marks.step(state, t[other], actions[other], rules)
    return void


def _grab(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    taken = actions == VERB_ID["grab"]
    if taken.any():
        g = t[taken]
        seat = state.actor[g].copy()
        say(state, g, Said.GRAB)
        move_crown(state, g, seat)
        state.emperor[g] = seat
        state.solo[g] = Solo.GRAB
        state.public[g] = 1
        open_play(state, g)
    if not taken.all():
        d = t[~taken]
        say(state, d, Said.DECLINE_GRAB)
        before = state.actor[d].copy()
        done = answered(state, d)
        state.actor[d] = _DOWN[state.to_ask[d], before]  # this question goes -1
        _nobody_grabbed(state, d[done], rules)


def _nobody_grabbed(state: State, t: Ints, rules: Rules) -> None:
    if rules.guard_by == "marked_small_joker":
        marks.take_roles(state, t)
        emperor = state.emperor[t].copy()
        ask(state, t, Phase.OPEN, seat_bit(emperor), emperor)
    else:
        state.phase[t] = Phase.CALL
        state.actor[t] = state.crown[t]
        state.to_ask[t] = ALL


def _call(state: State, t: Ints, actions: Ints, rules: Rules) -> npt.NDArray[np.intp]:
    ceded = actions == VERB_ID["cede"]
    void = np.zeros(0, dtype=np.intp)
    if not ceded.all():
        _crown_emperor(state, t[~ceded], actions[~ceded] - CALL, rules)
    if ceded.any():
        c = t[ceded]
        say(state, c, Said.CEDE)
        if rules.tribute_on_cede:
            later = state.to_ask[c] != ALL  # the first to cede adds nothing
            _add_tribute(state, c[later])
        before = (state.actor[c] - 1) % SEATS
        done = answered(state, c)
        move_crown(state, c, before)
        state.actor[c] = before
        if done.any():
            all_ceded = c[done]
            left = _force(state, all_ceded, rules) if rules.forced_call else all_ceded
            void = left.astype(np.intp)
    return void


def _add_tribute(state: State, t: Ints) -> None:
    """Put the actor's highest natural card of his own on the pile: of the suits he holds in that
    rank the one with fewest copies, ties by suit order. It stays in his hand until R* moves."""
    own = (state.hands[t, state.actor[t]] - state.pile[t])[:, :52].reshape(-1, NATURAL_RANKS, 4)
    has = own.sum(axis=2) > 0
    rich = has.any(axis=1)
    t, own, has = t[rich], own[rich], has[rich]
    rank = NATURAL_RANKS - 1 - has[:, ::-1].argmax(axis=1)
    copies = own[np.arange(len(t)), rank]
    suit = np.where(copies > 0, copies, 127).argmin(axis=1)
    kind = rank * 4 + suit
    state.pile[t, kind] += 1
    state.shown[t, kind] += 1
    state.added[t, state.actor[t]] = kind


def _force(state: State, t: Ints, rules: Rules) -> Ints:
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
        say(state, open_, Said.SKIPPED_FORCED_CALL)
        before = (state.actor[open_] - 1) % SEATS
        move_crown(state, open_, before)
        state.actor[open_] = before
    return open_


def _crown_emperor(state: State, t: Ints, call: Ints, rules: Rules) -> None:
    way, kind = np.divmod(call, NUM_KINDS)
    seat = state.actor[t].copy()
    say(state, t, Said.CALL)
    state.emperor[t] = seat
    state.identity_kind[t] = kind
    state.shown[t, kind] = np.maximum(state.shown[t, kind], COPIES - 1)
    state.solo[t] = np.choose(way, (int(Solo.NONE), int(Solo.OPEN), int(Solo.SECRET)))

    fourth = state.hands[t, :, kind] > 0
    fourth[np.arange(len(t)), seat] = False
    guard = np.where(way == 0, fourth.argmax(axis=1), NOBODY)
    state.guard[t] = guard
    state.identity_seat[t] = np.where(way == 0, guard, seat)

    open_solo = way == 1
    o = t[open_solo]
    make_public(state, o, supreme=rules.supreme)
    open_play(state, o)
    marks.declare_phase(state, t[~open_solo], rules)


def _open(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    shows = actions == VERB_ID["open"]
    if shows.any():
        o = t[shows]
        say(state, o, Said.OPEN)
        state.solo[o] = Solo.OPEN
        make_public(state, o)
        open_play(state, o)
    if not shows.all():
        s = t[~shows]
        say(state, s, Said.SILENT_OPEN)
        marks.declare_phase(state, s, rules)


def _declare(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    shown = actions == VERB_ID["declare"]
    if shown.any():
        d = t[shown]
        say(state, d, Said.DECLARE)
        state.declared[d] = 1
        state.multiplier[d] = 2
        make_public(state, d, supreme=rules.supreme)
        marks.guard_declared(state, d, rules)
    if not shown.all():
        s = t[~shown]
        say(state, s, Said.SILENT_DECLARE)
        marks.nobody_declared(state, s[answered(state, s)], rules)
