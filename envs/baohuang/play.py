"""Tricks of Baohuang (rules §5): what is asked of whom after each set.

After a set by P, circle 1 asks the players after P who still hold cards: a beating set, ``pass``,
``yield`` (让牌: to be asked once more), or, for the next player after P and only if the set was
P's last (底牌), ``claim`` (申请接风). If somebody yielded, circle 2 asks those again in the same
order. A beating set starts circle 1 anew for everyone (with ``pass_scope = trick`` for everyone who
has not passed or claimed in this trick). If nobody beats it, P leads again, or, if
P is out, the next player after P who still holds cards (接风; S1's automatic one and the
application of S0 and S3 give the same leader, so a claim only announces). The hand ends when one
player is left, who takes the last place (S0: 大落), when one camp is out (``camp_out``), or as soon
as the scores are ``decided``.

Other copies than the identity card are interchangeable, so the engine plays them in suit order
s, h, c, d unless told which (records name them).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.asking import emperors_camp
from lupai.envs.baohuang.legal import Ints, Legal, play_moves, set_of_action, verb_mask
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import solo_decided
from lupai.envs.baohuang.state import PHASE_OVER, SEATS, State
from lupai.envs.cards import KIND_B, KIND_R, NATURAL_RANKS, RANK_B, RANK_OF_KIND, RANK_R
from lupai.envs.seats import NOBODY, next_seat
from lupai.envs.sets import PARTS

_NEXT: Final = next_seat(SEATS)
_NO_VERB: Final = np.uint32(0)
_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]
_CLAIM: Final = VERB_ID["claim"]


def trick_verbs(
    rules: Rules, standing: Ints, circle: Ints, claimable: Ints
) -> npt.NDArray[np.uint32]:
    """Words beside the sets, ``[N] uint32``: none in a lead; yield and claim in circle 1."""
    first = verb_mask("pass") | (verb_mask("yield") if rules.yield_ else _NO_VERB)
    extra = verb_mask("claim") if rules.claim else _NO_VERB
    verbs = np.where(circle == 1, first, verb_mask("pass"))
    verbs = verbs | np.where((circle == 1) & (claimable != 0), extra, _NO_VERB)
    return np.where(standing == NOBODY, _NO_VERB, verbs).astype(np.uint32)


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all in the play phase."""
    actor = state.actor[t]
    owner = state.owner[t]
    standing = state.standing[t]
    alive = state.alive[t]
    next_in = _NEXT[alive, owner]
    last_set = (alive >> np.maximum(owner, 0)) & 1 == 0
    claimable = (standing != NOBODY) & last_set & (next_in == actor)
    hides = state.identity_seat[t] == actor
    identity = np.where(hides, RANK_OF_KIND[state.identity_kind[t]], NOBODY)
    verbs = trick_verbs(rules, standing, state.circle[t], claimable)
    return play_moves(state.ranks[t, actor], identity, standing, verbs, rules)


def cards_of_play(state: State, t: Ints, actions: Ints, *, supreme: bool) -> npt.NDArray[np.int8]:
    """Cards ``[N, 54] int8`` that the engine takes for ``play`` actions: suits in order s h c d.

    Args:
        supreme: the identity flag adds the card to the set (特画) and is not one of its naturals.
    """
    seat = state.actor[t].astype(np.intp)
    row = np.arange(len(t))
    rank, n, b, r = PARTS[set_of_action(actions)].astype(np.int64).T
    starred = actions >= SET_IDENTITY
    hides = state.identity_seat[t] == seat
    kind = np.where(hides, state.identity_kind[t], NOBODY).astype(np.intp)

    free = state.hands[t, seat].copy()
    free[row[hides], kind[hides]] -= 1
    cards = np.zeros_like(free)
    # a starred joker is among the jokers that the set counts, unless it is 特画
    alone = starred & hides if supreme else starred & hides & (kind < KIND_B)
    cards[row[alone], kind[alone]] = 1
    n = n if supreme else n - alone

    at = np.minimum(rank, NATURAL_RANKS - 1)[:, None] * 4 + np.arange(4)
    have = np.where((rank < NATURAL_RANKS)[:, None], np.take_along_axis(free, at, axis=1), 0)
    before = np.cumsum(have, axis=1) - have
    taken = np.clip(n[:, None] - before, 0, have)
    np.put_along_axis(cards, at, np.take_along_axis(cards, at, axis=1) + taken, axis=1)
    cards[:, KIND_B] += b.astype(np.int8)
    cards[:, KIND_R] += r.astype(np.int8)
    return cards.astype(np.int8)


def step(
    state: State, t: Ints, actions: Ints, rules: Rules, cards: npt.NDArray[np.int8] | None = None
) -> None:
    """Apply legal moves of the play phase in place.

    Args:
        t: ``[N]`` table numbers.
        actions: ``[N]`` ids.
        cards: ``[N, 54] int8`` the very cards of each ``play``; None takes suits in order.
    """
    sets = actions >= SET
    if sets.any():
        i = np.flatnonzero(sets)
        if cards is None:
            took = cards_of_play(state, t[i], actions[i], supreme=rules.supreme)
        else:
            took = cards[i]
        _put_down(state, t[i], actions[i], took, rules)
    if not sets.all():
        i = np.flatnonzero(~sets)
        _decline(state, t[i], actions[i], rules)
    _go_on(state, t, rules)


def _put_down(
    state: State, t: Ints, actions: Ints, cards: npt.NDArray[np.int8], rules: Rules
) -> None:
    seat = state.actor[t].astype(np.intp)
    state.hands[t, seat] -= cards
    state.played[t, seat] += cards
    by_rank = cards[:, :KIND_B].reshape(-1, NATURAL_RANKS, 4).sum(axis=2, dtype=np.int8)
    state.ranks[t, seat, :NATURAL_RANKS] -= by_rank
    state.ranks[t, seat, RANK_B] -= cards[:, KIND_B]
    state.ranks[t, seat, RANK_R] -= cards[:, KIND_R]

    starred = actions >= SET_IDENTITY
    if starred.any():  # playing the identity card makes the role public
        s = t[starred]
        state.public[s] = 1
        state.identity_seat[s] = NOBODY

    state.sizes[t, seat] -= cards.sum(axis=1, dtype=np.int8)
    out = state.sizes[t, seat] == 0
    if out.any():
        o = t[out]
        state.out_count[o] += 1
        state.places[o, seat[out]] = state.out_count[o]
        state.alive[o] &= ~(1 << seat[out]).astype(np.int16)
    bit = (1 << seat).astype(np.int16)
    # an X keeps its flag, since nothing beats it; a star has said what it had to say
    state.standing[t] = actions if rules.supreme else SET + set_of_action(actions)
    state.owner[t] = seat
    state.circle[t] = 1
    state.to_ask[t] = state.alive[t] & ~bit & ~state.left_trick[t]
    state.passed[t] = 0
    state.yielded[t] = 0
    state.claimed[t] = 0


def _decline(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    bit = (1 << state.actor[t].astype(np.intp)).astype(np.int16)
    state.to_ask[t] &= ~bit
    state.passed[t] |= np.where(actions == _PASS, bit, 0).astype(np.int16)
    state.yielded[t] |= np.where(actions == _YIELD, bit, 0).astype(np.int16)
    state.claimed[t] |= np.where(actions == _CLAIM, bit, 0).astype(np.int16)
    if rules.pass_scope == "trick":
        state.left_trick[t] |= np.where(actions == _YIELD, 0, bit).astype(np.int16)


def _ended(state: State, t: Ints, rules: Rules) -> npt.NDArray[np.bool_]:
    """Whether the hand has ended, by option ``end``."""
    alive = state.alive[t]
    ended: npt.NDArray[np.bool_] = (alive & (alive - 1)) == 0  # one player left
    if rules.end != "last_player":
        camp = emperors_camp(state, t)
        ended |= ((alive & camp) == 0) | ((alive & ~camp) == 0)
    if rules.end == "decided":
        ended |= solo_decided(rules)[state.solo[t], state.out_count[t]]
    return ended


def _go_on(state: State, t: Ints, rules: Rules) -> None:
    """Find who is asked next, who leads, or that the hand is over."""
    last = _ended(state, t, rules)
    if last.any():
        end = t[last]
        alive = state.alive[end]
        one = (alive & (alive - 1)) == 0
        e = end[one]
        state.places[e, _NEXT[alive[one], 0].astype(np.intp)] = SEATS
        state.out_count[e] = SEATS
        state.phase[end] = PHASE_OVER
        state.actor[end] = NOBODY
        state.to_ask[end] = 0

    again = (state.to_ask[t] == 0) & (state.circle[t] == 1) & (state.yielded[t] != 0) & ~last
    if again.any():
        c = t[again]
        state.circle[c] = 2
        state.to_ask[c] = state.yielded[c]
        state.actor[c] = state.owner[c]  # so that the first to be asked is found after the owner

    to_ask = state.to_ask[t]
    asked = to_ask != 0
    a = t[asked]
    state.actor[a] = _NEXT[state.to_ask[a], state.actor[a]]
    closed = ~asked & ~last
    if closed.any():  # 扣牌: nobody beat it
        c = t[closed]
        owner = state.owner[c]
        owner_in = (state.alive[c] >> owner) & 1 == 1
        state.actor[c] = np.where(owner_in, owner, _NEXT[state.alive[c], owner])
        state.standing[c] = NOBODY
        state.owner[c] = NOBODY
        state.circle[c] = 1
        state.passed[c] = 0
        state.yielded[c] = 0
        state.claimed[c] = 0
        state.left_trick[c] = 0
