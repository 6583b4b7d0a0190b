"""What may be played and what playing it does; the order of asking is in :mod:`.tricks`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import KIND_B, KIND_R, RANK_B, RANK_R
from lupai.envs.gouji import tricks
from lupai.envs.gouji.actions import SET, VERB_ID
from lupai.envs.gouji.columns import Columns
from lupai.envs.gouji.leaving import end_hands, go_out, next_place, place_last
from lupai.envs.gouji.legal import Legal, sets_of
from lupai.envs.gouji.rules import Rules
from lupai.envs.gouji.sets import DEAD, HAS_JOKER, IS_GOUJI, PARTS
from lupai.envs.gouji.state import I8, State
from lupai.envs.seats import NOBODY, next_seat

Ints = npt.NDArray[Any]

_PASS: Final = VERB_ID["pass"]
_YIELD: Final = VERB_ID["yield"]
_VERB_BITS: Final = {name: np.uint32(1 << i) for name, i in VERB_ID.items()}
RANK_2: Final = 12
_NEXT: Final = next_seat(6).astype(np.int32)
FREE, BURNING, DUTY, WORDS_ONLY = 0, 1, 2, 3  # modes of lupai.envs.gouji.legal


def legal(state: State, t: Ints, rules: Rules) -> Legal:
    """Legal moves of the acting players of tables ``t``, all in play."""
    c = Columns(state, t)
    lead = c.standing == NOBODY
    burn = c.burning == 1
    mode = np.zeros(len(t), np.int8)
    mode[burn] = BURNING
    if rules.burn_fail is None:
        mode[lead & (c.duty == c.actor)] = DUTY
    out = sets_of(state.ranks[t, c.actor], c.standing, mode)
    verbs = np.where(lead, np.uint32(0), _VERB_BITS["pass"])
    verbs = np.where(burn, _VERB_BITS["silent"], verbs)
    out.verbs[:] = verbs | np.where(tricks.may_yield(c), _VERB_BITS["yield"], np.uint32(0))
    return out


def cards_of_play(hands: I8, places: Ints) -> I8:
    """Cards ``[N, 54] int8`` that the engine takes for sets: suits in order s h c d.

    Args:
        hands: ``[N, 54] int8`` of the players.
        places: ``[N]`` places of the sets.
    """
    parts = PARTS[places]
    cards = np.zeros_like(hands)
    rows = np.arange(len(hands))
    for first, count in ((4 * np.minimum(parts[:, 0], RANK_2), parts[:, 1]), (48, parts[:, 2])):
        left = count.copy()
        for suit in range(4):
            some = np.minimum(left, hands[rows, first + suit])
            cards[rows, first + suit] += some
            left -= some
    cards[:, KIND_B] = parts[:, 3]
    cards[:, KIND_R] = parts[:, 4]
    return cards


def step(state: State, t: Ints, actions: Ints, rules: Rules, cards: I8 | None = None) -> None:
    """Apply legal moves of the play phase in place.

    Args:
        t: ``[N]`` table numbers.
        actions: ``[N]`` ids.
        cards: ``[N, 54] int8`` the very cards of each ``play``; None takes suits in order.
    """
    c = Columns(state, t)
    plays = actions >= SET
    on = words = np.flatnonzero(~plays)
    if words.size:
        said = actions[words]
        tricks.note_word(c, words, said == _PASS, said == _YIELD)
    sets = np.flatnonzero(plays)
    if sets.size:
        took = None if cards is None else cards[sets]
        going = _put_down(state, t, c, sets, actions[sets] - SET, rules, took)
        on = np.concatenate([words, going])
    tricks.next_question(c, on)
    c.store(state, t)


def _put_down(
    state: State, t: Ints, c: Columns, i: Ints, places: Ints, rules: Rules, cards: I8 | None
) -> Ints:
    """Lay sets; the rows whose trick goes on."""
    at, actor = t[i], c.actor[i]
    took = cards_of_play(state.hands[at, actor], places) if cards is None else cards
    state.hands[at, actor] -= took
    state.played[at, actor] += took
    parts = PARTS[places]
    rank = np.minimum(parts[:, 0], RANK_2)
    rows = np.arange(len(i))
    ranks = state.ranks[at, actor]
    ranks[rows, rank] -= parts[:, 1]
    ranks[:, RANK_2] -= parts[:, 2]
    ranks[:, RANK_B] -= parts[:, 3]
    ranks[:, RANK_R] -= parts[:, 4]
    state.ranks[at, actor] = ranks
    sizes = state.sizes[at, actor] - parts[:, 1:].sum(axis=1, dtype=np.int8)
    state.sizes[at, actor] = sizes
    empty = sizes == 0
    place = next_place(c, i)
    bound = c.duty[i] == actor
    tricks.lay(c, i, IS_GOUJI[places], empty, place)
    c.standing[i] = places
    c.owner[i] = actor
    if empty.any():
        go_out(state, t, c, i[empty], place[empty])
    tricks.ask_about_set(c, i, DEAD[places])
    if rules.burn_fail is None:
        return end_hands(state, t, c, i, rules) if empty.any() else i
    failed = bound & (c.duty[i] == actor) & _broke(ranks, HAS_JOKER[places])
    if failed.any():
        _throw_out(state, t, c, i[failed], rules)
    return end_hands(state, t, c, i[~failed], rules)


def _broke(ranks: I8, joker: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether one on duty breaks his promise by a set after which he holds ``ranks [N, 15]``: it
    held no joker, or none is left for more than one set."""
    several = np.count_nonzero(ranks[:, :RANK_2], axis=1) > 1
    return ~joker | (ranks[:, RANK_B:].sum(axis=1) == 0) & several


def _throw_out(state: State, t: Ints, c: Columns, i: Ints, rules: Rules) -> None:
    """Place burners last; whom they burned leads, or the next player in."""
    seat, burned = c.actor[i], c.burned[i]
    place_last(state, t, c, i)
    on = end_hands(state, t, c, i, rules)
    alive = c.alive[i]
    leader = np.where(alive >> burned & 1 == 1, burned, _NEXT[alive, seat])
    tricks.end_trick(c, on, leader[np.isin(i, on)])
