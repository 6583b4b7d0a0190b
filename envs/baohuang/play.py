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

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.legal import Ints, Legal, verb_mask
from lupai.envs.baohuang.moves import one_play, play_moves
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import solo_decided
from lupai.envs.baohuang.state import COLUMN, I16, PHASE_OVER, SEATS, State
from lupai.envs.baohuang.tables import PARTS_OF, SIZE_OF
from lupai.envs.cards import (
    KIND_B,
    KIND_R,
    NATURAL_RANKS,
    NUM_KINDS,
    NUM_RANKS,
    RANK_OF_KIND,
    count_ranks,
)  # fmt: skip
from lupai.envs.packed import rows
from lupai.envs.seats import NOBODY, members, next_seat

I8 = npt.NDArray[np.int8]
_NO_VERB: Final = np.uint32(0)
_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]
_CLAIM: Final = VERB_ID["claim"]

_ACTOR: Final = COLUMN["actor"]
_ALIVE: Final = COLUMN["alive"]
_CIRCLE: Final = COLUMN["circle"]
_CLAIMED: Final = COLUMN["claimed"]
_EMPEROR: Final = COLUMN["emperor"]
_GUARD: Final = COLUMN["guard"]
_IDENTITY_KIND: Final = COLUMN["identity_kind"]
_IDENTITY_SEAT: Final = COLUMN["identity_seat"]
_LEFT_TRICK: Final = COLUMN["left_trick"]
_OUT_COUNT: Final = COLUMN["out_count"]
_OWNER: Final = COLUMN["owner"]
_PASSED: Final = COLUMN["passed"]
_PHASE: Final = COLUMN["phase"]
_PUBLIC: Final = COLUMN["public"]
_SOLO: Final = COLUMN["solo"]
_STANDING: Final = COLUMN["standing"]
_TO_ASK: Final = COLUMN["to_ask"]
_YIELDED: Final = COLUMN["yielded"]
# what _trick gives, in this order
_TRICK: Final = (
    _ACTOR, _STANDING, _OWNER, _CIRCLE, _TO_ASK, _PASSED, _YIELDED, _CLAIMED, _LEFT_TRICK,
)  # fmt: skip

_BIT: Final = np.array([1 << seat for seat in range(SEATS)] + [0], np.int16)  # nobody, -1: none
_NEXT: Final = next_seat(SEATS).astype(np.int16).reshape(-1)  # by set * SEATS + seat
# by set * SEATS + seat: who leads after a set of the seat: he, or if he is out the next one (接风)
_LEADER: Final = np.where(members(SEATS), np.arange(SEATS, dtype=np.int8), next_seat(SEATS)).ravel()
# the same tables for Python ints
_ONE: Final = (_NEXT.tolist(), _LEADER.tolist())
_MANY: Final = (_NEXT, _LEADER)


def trick_verbs(
    rules: Rules, standing: Ints, circle: Ints, claimable: Ints
) -> npt.NDArray[np.uint32]:
    """Words beside the sets, ``[N] uint32``: none in a lead; yield and claim in circle 1."""
    return _verbs(rules.yield_, rules.claim, standing, circle, claimable)


def _verbs(
    yields: bool, claims: bool, standing: Ints, circle: Ints, claimable: Ints
) -> npt.NDArray[np.uint32]:
    first = verb_mask("pass") | (verb_mask("yield") if yields else _NO_VERB)
    extra = verb_mask("claim") if claims else _NO_VERB
    verbs = np.where(circle == 1, first, verb_mask("pass"))
    verbs = verbs | np.where((circle == 1) & (claimable != 0), extra, _NO_VERB)
    return np.where(standing == NOBODY, _NO_VERB, verbs).astype(np.uint32)


@cache
def verb_table(yields: bool, claims: bool) -> npt.NDArray[np.uint32]:
    """:func:`trick_verbs` by ``((circle * 32 + alive) * 6 + owner) * 5 + actor``.

    Made from all circles 0 … 2, sets of seats alive, owners -1 … 4 of the standing set and actors.
    """
    circle, alive, owner, actor = np.indices((3, 1 << SEATS, SEATS + 1, SEATS)).reshape(4, -1)
    owner -= 1
    owner_out = alive >> np.maximum(owner, 0) & 1 == 0
    claimable = owner_out & (_NEXT[alive * SEATS + owner] == actor)
    return np.roll(_verbs(yields, claims, owner, circle, claimable), -SEATS)


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all in the play phase."""
    numbers = rows(state.numbers, t)
    one = len(t) == 1
    was: Any = numbers[0].tolist() if one else numbers.T  # one table: ints instead of arrays
    actor = was[_ACTOR]
    trick = ((was[_CIRCLE] * 32 + was[_ALIVE]) * 6 + was[_OWNER]) * SEATS + actor
    verbs = verb_table(rules.yield_, rules.claim)[trick]
    hides = was[_IDENTITY_SEAT] == actor
    ranks = state.ranks.reshape(-1, NUM_RANKS)
    if one and not (hides or rules.hold_sixes or rules.three_twos_beat_big):
        return one_play(ranks[int(t[0]) * SEATS + actor], was[_STANDING], verbs, rules)
    identity = (RANK_OF_KIND[numbers[:, _IDENTITY_KIND]] + 1) * hides - 1
    return play_moves(
        ranks[t * SEATS + actor], identity, numbers[:, _STANDING], np.atleast_1d(verbs), rules
    )


def cards_of_play(state: State, t: Ints, actions: Ints, *, supreme: bool) -> I8:
    """Cards ``[N, 54] int8`` that the engine takes for ``play`` actions: suits in order s h c d.

    Args:
        supreme: the identity flag adds the card to the set (特画) and is not one of its naturals.
    """
    was = rows(state.numbers, t).T
    hands = state.hands.reshape(-1, NUM_KINDS)[t * SEATS + was[_ACTOR]]
    return _usual_cards(hands, was, actions, supreme)


def _usual_cards(hands: I8, was: I16, actions: Ints, supreme: bool) -> I8:
    cards = np.zeros_like(hands)
    base = np.arange(0, hands.size, NUM_KINDS)
    parts = PARTS_OF[actions].T
    _take(hands.reshape(-1), cards.reshape(-1), base, was, actions, parts, np.minimum, supreme)
    return cards


def _take(
    held: Any, taken: Any, base: Any, was: Any, actions: Any, parts: Any, least: Any, supreme: bool
) -> None:  # fmt: skip
    """Take the cards of ``play`` actions out of hands, both flat by kind from ``base`` on.

    Arithmetic only, as :func:`_trick`: for arrays, or for one hand as lists and ints.
    """
    rank, n, b, r = parts
    hides = was[_IDENTITY_SEAT] == was[_ACTOR]
    kind = was[_IDENTITY_KIND] * hides
    flagged = hides & (actions >= SET_IDENTITY)
    # a starred joker is among the jokers that the set counts, unless it is 特画
    alone = flagged & ((kind < KIND_B) | supreme)
    held[base + kind] -= hides  # without the flag the identity card stays in the hand
    taken[base + kind] += alone
    n = n - alone * (1 - supreme)
    first = base + 4 * rank * (rank < NATURAL_RANKS)
    for suit in range(4):
        some = least(n, held[first + suit])
        taken[first + suit] += some
        n = n - some
    taken[base + KIND_B] += b
    taken[base + KIND_R] += r


def step(state: State, t: Ints, actions: Ints, rules: Rules, cards: I8 | None = None) -> None:
    """Apply legal moves of the play phase in place.

    Args:
        t: ``[N]`` table numbers.
        actions: ``[N]`` ids.
        cards: ``[N, 54] int8`` the very cards of each ``play``; None takes suits in order.
    """
    numbers = rows(state.numbers, t)
    ended: Any = None
    if len(t) == 1:  # the same arithmetic with Python's ints
        action = int(actions[0])
        if action >= SET:
            took = None if cards is None else cards[0]
            ended = _put_down(state, t, numbers, 0, action, took, rules)
        after = _trick(numbers[0].tolist(), action, None if ended is None else True, rules, *_ONE)
        for column, value in zip(_TRICK, after, strict=True):
            numbers[0, column] = value
    else:
        sets = np.flatnonzero(actions >= SET)
        if sets.size:
            took = None if cards is None else cards[sets]
            ended = _put_down(state, t, numbers, sets, actions[sets], took, rules)
        after = _trick(numbers.T, actions.astype(np.int16), ended, rules, *_MANY)
        for column, value in zip(_TRICK, after, strict=True):
            numbers[:, column] = value
    if numbers is not state.numbers:
        state.numbers[t] = numbers


def follow(numbers: I16, actions: Ints, rules: Rules) -> None:
    """The trick after moves of the play phase, in place, for who knows no hands: columns ``alive``
    and the actors are the caller's to keep, and no hand ends.

    Args:
        numbers: ``[N, F] int16`` columns of N tables.
        actions: ``[N]`` public ids of moves that were legal.
    """
    after = _trick(numbers.T, actions.astype(np.int16), None, rules, *_MANY)
    for column, value in zip(_TRICK, after, strict=True):
        numbers[:, column] = value


def _put_down(
    state: State, t: Ints, numbers: I16, sets: Any, actions: Any, cards: I8 | None, rules: Rules
) -> npt.NDArray[np.bool_] | None:
    """Take the cards of sets ``actions [M]`` off the hands at rows ``sets [M]``.

    One table may be given as ints, cards without the axis M.

    Returns:
        ``[N]`` where the hand has ended; None: nowhere.
    """
    one = isinstance(actions, int)
    was = numbers[0].tolist() if one else numbers[sets].T
    place = t[sets] * SEATS + was[_ACTOR]
    hands = state.hands.reshape(-1, NUM_KINDS)
    if cards is not None:
        took = cards
    elif one:
        taken = [0] * NUM_KINDS
        parts = PARTS_OF[actions].tolist()
        _take(hands[place].tolist(), taken, 0, was, actions, parts, min, rules.supreme)
        took = np.array(taken, np.int8)
    else:
        took = _usual_cards(hands[place], was, actions, rules.supreme)
    hands[place] -= took
    state.played.reshape(-1, NUM_KINDS)[place] += took
    state.ranks.reshape(-1, NUM_RANKS)[place] -= count_ranks(took)

    starred = actions >= SET_IDENTITY  # playing the identity card makes the role public
    numbers[sets, _PUBLIC] |= starred
    numbers[sets, _IDENTITY_SEAT] = was[_IDENTITY_SEAT] * (starred ^ True) - starred

    sizes = state.sizes.reshape(-1)
    left = sizes[place] - SIZE_OF[actions] - starred * rules.supreme
    sizes[place] = left
    out = np.flatnonzero(left == 0) if one else sets[left == 0]
    return _go_out(state, t, numbers, out, rules) if out.size else None


def _go_out(
    state: State, t: Ints, numbers: I16, out: Ints, rules: Rules
) -> npt.NDArray[np.bool_] | None:
    """Give the actors of rows ``out [M]`` their places; as :func:`_put_down`."""
    seat = numbers[out, _ACTOR]
    alive = numbers[out, _ALIVE] & ~_BIT[seat]
    numbers[out, _ALIVE] = alive
    numbers[out, _OUT_COUNT] += 1
    state.places[t[out], seat] = numbers[out, _OUT_COUNT]
    last = _ended(numbers[out], rules)
    if not last.any():
        return None
    end, alive = out[last], alive[last]
    one = (alive & (alive - 1)) == 0
    state.places[t[end[one]], _NEXT[alive[one] * SEATS]] = SEATS
    numbers[end[one], _OUT_COUNT] = SEATS
    numbers[end, _PHASE] = PHASE_OVER
    ended = np.zeros(len(t), bool)
    ended[end] = True
    return ended


def _ended(numbers: I16, rules: Rules) -> npt.NDArray[np.bool_]:
    """Whether the hand has ended where somebody has gone out, by option ``end``."""
    alive = numbers[:, _ALIVE]
    ended: npt.NDArray[np.bool_] = (alive & (alive - 1)) == 0  # one player left
    if rules.end != "last_player":
        camp = _BIT[numbers[:, _EMPEROR]] | _BIT[numbers[:, _GUARD]]
        ended |= ((alive & camp) == 0) | ((alive & ~camp) == 0)
    if rules.end == "decided":
        ended |= solo_decided(rules)[numbers[:, _SOLO], numbers[:, _OUT_COUNT]]
    return ended


def _trick(
    was: Any, action: Any, ended: Any, rules: Rules, next_: Any, leader: Any
) -> tuple[Any, ...]:
    """Who is asked next, or leads, and the trick after a move; :data:`_TRICK` of it.

    Arithmetic only, so that the same lines serve one table as Python ints and N tables as arrays:
    a truth value times a number is the number or 0.

    Args:
        was: columns before the move, but the cards put down and the seat gone out.
        action: id. ended: whether the hand has ended; None: no.
        next_, leader: tables by set * SEATS + seat.
    """
    seat, alive = was[_ACTOR], was[_ALIVE]
    bit = 1 << seat
    puts, keeps = action >= SET, action < SET
    left = was[_LEFT_TRICK]
    to_ask = ((alive & ~left) * puts + was[_TO_ASK] * keeps) & ~bit
    if rules.pass_scope == "trick":
        left = left | bit * (keeps & (action != _YIELD))
    passed = (was[_PASSED] | bit * (action == _PASS)) * keeps
    yielded = (was[_YIELDED] | bit * (action == _YIELD)) * keeps
    claimed = (was[_CLAIMED] | bit * (action == _CLAIM)) * keeps
    owner = seat * puts + was[_OWNER] * keeps
    circle = was[_CIRCLE] * keeps + puts
    # an X keeps its flag, since nothing beats it; a star has said what it had to say
    flag = 0 if rules.supreme else (SET_IDENTITY - SET) * (action >= SET_IDENTITY)
    standing = (action - flag) * puts + was[_STANDING] * keeps

    again = (to_ask == 0) & (circle == 1) & (yielded != 0)
    circle = circle + again
    to_ask = to_ask + yielded * again
    if ended is not None:
        to_ask = to_ask * (ended ^ True)
    after = seat + (owner - seat) * again  # circle 2 begins after the owner
    closed = to_ask == 0  # 扣牌: nobody beat it
    if ended is not None:
        closed = closed & (ended ^ True)
    goes = closed ^ True
    actor = next_[to_ask * SEATS + after] * goes + leader[alive * SEATS + owner] * closed
    return (
        actor,
        standing * goes - closed,
        owner * goes - closed,
        circle * goes + closed,
        to_ask,
        passed * goes,
        yielded * goes,
        claimed * goes,
        left * goes,
    )


assert NOBODY == -1
