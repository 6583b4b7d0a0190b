"""Moves of Gouji as text: suit-free for people, with the very cards in records."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import (
    KIND_B,
    KIND_R,
    KIND_TEXTS,
    NUM_KINDS,
    RANK_OF_KIND,
    cards_of_counts,
    count_ranks,
    parse_cards,
    shorten,
)  # fmt: skip
from lupai.envs.errors import IllegalMoveError, NotationError
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, Move
from lupai.envs.gouji.play import cards_of_play
from lupai.envs.gouji.sets import PARTS, ROW_TWOS, GoujiSet, set_place
from lupai.envs.gouji.state import PHASE_NAMES, Kind, State
from lupai.envs.seats import NOBODY
from lupai.envs.sets import MAX_JOKERS, MAX_NATURALS, ROW_JOKERS

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[Any]

_KIND_TEXTS: Final = {Kind.ORDINARY: "", Kind.GOUJI: " (gouji)", Kind.DEATH: " (death)"}


def text_order(action: int) -> tuple[int, ...]:
    """Sort key of the ``lupai legal`` contract: verbs, offers, then sets by size, rank, 2s, small
    jokers, big jokers."""
    if action < SET:
        return (0, action)
    row, n, t, b, r = PARTS[action - SET].tolist()
    return (1, n + t + b + r, row, t, b, r)


def ordered_texts(ids: npt.NDArray[np.int32]) -> list[str]:
    """Texts of action ids, sorted as :func:`text_order` says."""
    return [ACTIONS.text(action) for action in sorted(ids.tolist(), key=text_order)]


def action_of(text: str) -> int:
    """Action id of a move text.

    Raises:
        NotationError: unreadable.
    """
    return ACTIONS.encode(ACTIONS.parse(text))


def standing_text(state: State, table: int) -> str:
    """Set to beat, as people write it."""
    return GoujiSet.at(int(state.standing[table])).text


def explain_illegal(state: State, table: int, action: int, legal: list[str]) -> str:
    """Message for an illegal action: seat, move, table in text, what would be legal."""
    seat = int(state.actor[table])
    try:
        move = f"{ACTIONS.text(action)!r} (action {action})"
    except NotationError:
        move = f"action {action}"
    shown = ", ".join(legal[:12]) + (f", … ({len(legal)} in all)" if len(legal) > 12 else "")
    where = f"phase {PHASE_NAMES[state.phase[table]]}"
    if state.standing[table] != NOBODY:
        kind = _KIND_TEXTS[Kind(int(state.kind[table]))]
        beat = standing_text(state, table)
        where += f", to beat: {beat}{kind} of seat {state.owner[table]}"
    hand = " ".join(hand_texts(state, table, seat))
    return f"seat {seat}: {move} is illegal ({where}; hand: {hand}); legal: {shown}"


def hand_texts(state: State, table: int, seat: int) -> list[str]:
    """Cards of a seat, ascending."""
    return cards_of_counts(state.hands[table, seat])


def move_with_cards(state: State, table: int, action: int) -> tuple[str, I8]:
    """Record text of a legal move (without the seat), and the cards it takes or offers,
    ``[54] int8``."""
    none = np.zeros(NUM_KINDS, np.int8)
    hand = state.hands[table, state.actor[table]]
    if action < OFFER:
        return ACTIONS.text(action), none
    if action < SET:
        kind = int(((hand > 0) & (action - OFFER == RANK_OF_KIND)).argmax())
        none[kind] = 1
        return f"offer {KIND_TEXTS[kind]}", none
    took = cards_of_play(hand[None], np.array([action - SET]))[0]
    return "play " + " ".join(cards_of_counts(took)), took


def read_move(text: str) -> tuple[int, I8]:
    """Action id and cards ``[54] int8`` of a record's move text (without the seat).

    Raises:
        NotationError: unreadable.
        IllegalMoveError: the cards make no set.
    """
    verb, _, rest = text.partition(" ")
    if verb not in ("play", "offer"):
        return action_of(text), np.zeros(NUM_KINDS, np.int8)
    cards = parse_cards(rest)
    if not cards or any(starred for _, starred in cards):
        raise NotationError(f"unreadable move {shorten(text)!r}: {verb} needs cards without stars")
    kinds = np.array([kind for kind, _ in cards], dtype=np.intp)
    counts = np.bincount(kinds, minlength=NUM_KINDS).astype(np.int8)
    ranks = RANK_OF_KIND[kinds]
    if verb == "offer":
        if len(kinds) > 1:
            raise NotationError(f"unreadable move {shorten(text)!r}: offer one card")
        return ACTIONS.encode(Move("offer", rank=int(ranks[0]))), counts
    below = np.unique(ranks[ranks < ROW_TWOS])
    n, t = int((ranks < ROW_TWOS).sum()), int((ranks == ROW_TWOS).sum())
    b, r = int((kinds == KIND_B).sum()), int((kinds == KIND_R).sum())
    if len(below) > 1:
        raise IllegalMoveError(f"{shorten(text)!r}: two natural ranks below 2 do not mix in a set")
    if max(n, t) > MAX_NATURALS or max(b, r) > MAX_JOKERS:
        raise NotationError(f"{shorten(text)!r}: more cards than there are")
    row = int(below[0]) if n else ROW_TWOS if t else ROW_JOKERS
    return ACTIONS.encode(Move("play", cards=GoujiSet(row, n, t, b, r))), counts


def sets_of(
    cards: npt.NDArray[np.integer], stars: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Action ids ``[P]`` of played cards ``[P, 54]``, -1 where they make no set or one of them has
    a star (``stars [P]``, kinds, -1 for none)."""
    ranks = cards[:, :KIND_B].reshape(len(cards), ROW_TWOS + 1, 4).sum(axis=2)
    below, t = ranks[:, :ROW_TWOS], ranks[:, ROW_TWOS]
    b, r, n = cards[:, KIND_B], cards[:, KIND_R], below.sum(axis=1)
    good = (np.count_nonzero(below, axis=1) <= 1) & (stars == NOBODY) & (n + t + b + r > 0)
    good &= (np.maximum(n, t) <= MAX_NATURALS) & (np.maximum(b, r) <= MAX_JOKERS)
    row = np.where(n > 0, below.argmax(axis=1), np.where(t > 0, ROW_TWOS, ROW_JOKERS))
    row, n, t, b, r = (np.where(good, part, 0) for part in (row, n, t, b, r))
    return np.where(good, SET + set_place(row, n, t, b, r), NOBODY)


def hold(state: State, t: Ints, actions: Ints, cards: I8) -> npt.NDArray[np.bool_]:
    """``[N] bool``: whether the very cards ``[N, 54]`` of each ``play`` and ``offer`` are held and
    make it; True for other moves."""
    good = np.ones(len(t), bool)
    i = np.flatnonzero(actions >= OFFER)
    if not i.size:
        return good
    hands = state.hands[t[i], state.actor[t[i]]]
    wanted = np.zeros((len(i), 15), np.int8)
    offers = np.flatnonzero(actions[i] < SET)
    wanted[offers, actions[i[offers]] - OFFER] = 1
    sets = np.flatnonzero(actions[i] >= SET)
    parts = PARTS[actions[i[sets]] - SET]
    wanted[sets, np.minimum(parts[:, 0], ROW_TWOS)] = parts[:, 1]
    wanted[sets, ROW_TWOS] += parts[:, 2]
    wanted[sets, 13:] = parts[:, 3:]
    same = (count_ranks(cards[i]) == wanted).all(axis=1)
    good[i] = same & ((cards[i] <= hands) & (cards[i] >= 0)).all(axis=1)
    return good


def check_cards(state: State, t: Ints, actions: Ints, cards: I8) -> None:
    """Check that the very cards of ``play`` and ``offer`` are held and make the move.

    Raises:
        IllegalMoveError: names the seat and the cards.
    """
    for i in np.flatnonzero(~hold(state, t, actions, cards)):
        seat = int(state.actor[t[i]])
        shown = " ".join(cards_of_counts(np.maximum(cards[i], 0)))
        raise IllegalMoveError(
            f"seat {seat}: the cards {shown or 'none'} are not held, or do not make "
            f"{ACTIONS.text(int(actions[i]))!r}"
        )
