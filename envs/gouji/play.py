"""What may be played and what playing it does; the order of asking is in :mod:`.tricks`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import KIND_B, KIND_R, NUM_KINDS, NUM_RANKS, RANK_B, count_ranks
from lupai.envs.gouji import tricks
from lupai.envs.gouji.actions import SET, VERB_ID
from lupai.envs.gouji.leaving import ENDS, next_place, place_last, place_the_one_left
from lupai.envs.gouji.legal import BURNING, DUTY, Legal, sets_of, verb_mask
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.sets import DEAD, HAS_JOKER, IS_GOUJI, PARTS, SIZE
from lupai.envs.gouji.state import COLUMN, I8, I32, Phase, State
from lupai.envs.packed import rows
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]
_ACTOR: Final = COLUMN["actor"]
_ALIVE: Final = COLUMN["alive"]
_BURNING: Final = COLUMN["burning"]
_DUTY: Final = COLUMN["duty"]
_LEFT: Final = COLUMN["left"]
_PHASE: Final = COLUMN["phase"]
_REVOLTER: Final = COLUMN["revolter"]
_STANDING: Final = COLUMN["standing"]
RANK_2: Final = 12
# words beside the sets, by (lead, burn, may yield)
_WORDS: Final = np.zeros(8, np.uint32)
_WORDS[0], _WORDS[1], _WORDS[2] = verb_mask("pass"), verb_mask("pass", "yield"), verb_mask("silent")


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all in play."""
    numbers = rows(state.numbers, t)
    one = len(t) == 1
    was: Any = numbers[0].tolist() if one else numbers.T
    actor, lead, burn = was[_ACTOR], was[_STANDING] == NOBODY, was[_BURNING]
    yields = tricks.may_yield(was, tricks.ONE if one else tricks.MANY)
    mode = burn * BURNING
    if rules.burn_fail is None:
        mode = mode + (lead & (was[_DUTY] == actor)) * DUTY
    out = sets_of(
        state.ranks.reshape(-1, NUM_RANKS)[t * SEATS + actor],
        numbers[:, _STANDING],
        np.atleast_1d(mode),
    )
    out.verbs[:] = _WORDS[lead * 4 + burn * 2 + yields]
    return out


def cards_of_play(hands: I8, places: Ints) -> I8:
    """Cards ``[N, 54] int8`` that the engine takes for sets: suits in order s h c d.

    Args:
        hands: ``[N, 54] int8`` of the players.
        places: ``[N]`` places of the sets.
    """
    parts = PARTS[places].T
    cards = np.zeros_like(hands)
    held, taken = hands.reshape(-1), cards.reshape(-1)
    _take(held, taken, np.arange(0, hands.size, NUM_KINDS), parts, np.minimum)
    return cards


def _take(held: Any, taken: Any, base: Any, parts: Any, least: Any) -> None:
    """Take sets out of hands, both flat by kind from ``base`` on: arrays, or lists and ints."""
    row, n, twos, b, r = parts
    for first, left in ((base + 4 * least(row, RANK_2 - 1), n), (base + 4 * RANK_2, twos)):
        for suit in range(4):
            some = least(left, held[first + suit])
            taken[first + suit] += some
            left = left - some
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
    if len(t) == 1:
        was: Any = numbers[0].tolist()
        said = _one(state, t, was, int(actions[0]), rules, cards)
        numbers[0, tricks.CHANGED] = tricks.after(was, said, tricks.ONE)
        over = np.flatnonzero([said.ends])
    else:
        was = np.ascontiguousarray(numbers.T)
        said = _many(state, t, was, actions, rules, cards)
        numbers[:, tricks.CHANGED] = np.stack(tricks.after(was, said, tricks.MANY), axis=1)
        over = np.flatnonzero(said.ends)
    if over.size:
        numbers[over, _PHASE] = Phase.OVER
    if numbers is not state.numbers:
        state.numbers[t] = numbers


def _many(
    state: State, t: Ints, was: I32, actions: Ints, rules: Rules, cards: I8 | None
) -> tricks.Answer:
    plays = actions >= SET
    places = ((actions - SET) * plays).astype(np.int32)
    empty = fails = ends = np.zeros(len(t), bool)
    place = next_place(was[_LEFT], was[_REVOLTER])
    sets = np.flatnonzero(plays)
    if sets.size:
        chosen, actor = places[sets], was[_ACTOR, sets]
        at = t[sets] * SEATS + actor
        hands = state.hands.reshape(-1, NUM_KINDS)
        took = cards_of_play(hands[at], chosen) if cards is None else cards[sets]
        left = _put_down(state, at, took, SIZE[chosen])
        empty = plays.copy()
        empty[sets] = left == 0
        gone = empty
        if rules.burn_fail is not None:
            fails = np.zeros(len(t), bool)
            broke = _broke(state.ranks.reshape(-1, NUM_RANKS)[at], HAS_JOKER[chosen])
            fails[sets] = broke & (left > 0) & (was[_DUTY, sets] == actor)
            gone = empty | fails
        if gone.any():
            ends = _leave(state, t, was, gone, empty, place, rules)
    return tricks.Answer(
        plays, actions == _PASS, actions == _YIELD, places, IS_GOUJI[places] & plays,
        DEAD[places] & plays, empty, place, fails, ends,
    )  # fmt: skip


def _one(
    state: State, t: Ints, was: list[int], action: int, rules: Rules, cards: I8 | None
) -> tricks.Answer:
    """:func:`_many` of one table, with Python's ints."""
    if action < SET:
        none = (0, False, False, False, 0, False, False)
        return tricks.Answer(False, action == _PASS, action == _YIELD, *none)
    chosen, actor = action - SET, was[_ACTOR]
    at = int(t[0]) * SEATS + actor
    if cards is None:
        taken = [0] * NUM_KINDS
        held = state.hands.reshape(-1, NUM_KINDS)[at].tolist()
        _take(held, taken, 0, PARTS[chosen].tolist(), min)
        took = np.array(taken, np.int8)
    else:
        took = cards[0]
    left = _put_down(state, at, took, SIZE[chosen])
    empty, fails, ends = bool(left == 0), False, False
    place = next_place(was[_LEFT], was[_REVOLTER])
    if rules.burn_fail is not None and was[_DUTY] == actor and not empty:
        ranks = state.ranks.reshape(-1, NUM_RANKS)[at]
        fails = bool(_broke(ranks[None], HAS_JOKER[[chosen]])[0])
    if empty or fails:
        columns, yes = np.array(was, np.int32)[:, None], np.array([empty])
        gone = np.ones(1, bool)
        ends = bool(_leave(state, t, columns, gone, yes, np.array([place]), rules)[0])
    gouji, dead = bool(IS_GOUJI[chosen]), bool(DEAD[chosen])
    return tricks.Answer(True, False, False, chosen, gouji, dead, empty, place, fails, ends)


def _put_down(state: State, at: Any, took: I8, size: Any) -> Any:
    """Take cards out of the hands of seats ``at`` (table * 6 + seat); cards left."""
    state.hands.reshape(-1, NUM_KINDS)[at] -= took
    state.played.reshape(-1, NUM_KINDS)[at] += took
    state.ranks.reshape(-1, NUM_RANKS)[at] -= count_ranks(took)
    sizes = state.sizes.reshape(-1)
    left = sizes[at] - size
    sizes[at] = left
    return left


def _broke(ranks: I8, joker: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether one on duty breaks his promise by a set after which he holds ``ranks [N, 15]``: it
    held no joker, or none is left for more than one set."""
    several = np.count_nonzero(ranks[:, :RANK_2], axis=1) > 1
    broke: npt.NDArray[np.bool_] = ~joker | (ranks[:, RANK_B:].sum(axis=1) == 0) & several
    return broke


def _leave(
    state: State, t: Ints, was: I32, gone: Ints, empty: Ints, place: Ints, rules: Rules
) -> npt.NDArray[np.bool_]:
    """Give places to actors who are out (``gone [N]``), by their last card (``empty``) or by a
    burn that failed; ``[N]`` whether the hand ends."""
    actor = was[_ACTOR]
    i = np.flatnonzero(empty)
    state.places[t[i], actor[i]] = place[i]
    i = np.flatnonzero(gone & ~empty)
    if i.size:
        place_last(state, t[i], actor[i])
    alive = was[_ALIVE] & ~(gone * (1 << actor))
    ends: npt.NDArray[np.bool_] = gone & ENDS[rules.end][alive]
    i = np.flatnonzero(ends)
    if i.size:
        place_the_one_left(state, t[i], alive[i])
    return ends
