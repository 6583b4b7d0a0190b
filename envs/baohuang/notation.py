"""Moves of Baohuang as text: suit-free for people, with the very cards in records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang import play
from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY, Move
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.sets import CardSet, set_id
from lupai.envs.baohuang.state import PHASE_NAMES, State
from lupai.envs.cards import (
    KIND_B,
    KIND_R,
    KIND_TEXTS,
    NATURAL_RANKS,
    NUM_KINDS,
    NUM_RANKS,
    RANK_OF_KIND,
    cards_of_counts,
    count_ranks,
    parse_cards,
    shorten,
)  # fmt: skip
from lupai.envs.errors import IllegalMoveError, NotationError
from lupai.envs.seats import NOBODY
from lupai.envs.sets import MAX_JOKERS, MAX_NATURALS, ROW_JOKERS

I8 = npt.NDArray[np.int8]


def identity_rank(state: State, table: int) -> int | None:
    """Rank of the called card at a table, None before there is one."""
    kind = int(state.identity_kind[table])
    return int(RANK_OF_KIND[kind]) if kind >= 0 else None


def text_order(action: int, *, supreme: bool = False) -> tuple[int, ...]:
    """Sort key of the ``lupai legal`` contract: verbs, calls, then sets by size, rank, small
    jokers, big jokers, X, unstarred before starred."""
    if action < SET:
        return (0, action)
    c = ACTIONS.decode(action, supreme=supreme).cards
    assert c is not None
    return (1, c.size, c.rank, c.b, c.r, c.x, int(c.starred))


def texts(state: State, table: int, ids: npt.NDArray[np.int32], *, supreme: bool) -> list[str]:
    """Texts of action ids of the acting player, in the order of the contract."""
    return ordered_texts(ids, identity_rank(state, table), supreme=supreme)


def ordered_texts(ids: npt.NDArray[np.int32], identity: int | None, *, supreme: bool) -> list[str]:
    """Texts of action ids, sorted as :func:`text_order` says."""
    order = sorted(ids.tolist(), key=lambda a: text_order(a, supreme=supreme))
    return [ACTIONS.text(a, identity, supreme=supreme) for a in order]


def action_of(state: State, table: int, text: str, *, supreme: bool) -> int:
    """Action id of a move text for the acting player of a table.

    Raises:
        NotationError: unreadable.
        IllegalMoveError: the star is not on the identity card, or the wrong one of star and X.
    """
    move = ACTIONS.parse(text)
    action = ACTIONS.encode(move)
    cards = move.cards
    if cards is None or not (cards.starred or cards.x):
        return action
    seat = f"seat {state.actor[table]}: {text!r}: "
    if cards.x and not supreme:
        raise IllegalMoveError(seat + "there is no X (特画) under these rules")
    if cards.starred and supreme:
        raise IllegalMoveError(seat + "the identity card is X (特画) under these rules, no star")
    identity = identity_rank(state, table)
    if cards.starred and (identity is None or _star_misplaced(action, identity, text)):
        raise IllegalMoveError(seat + "the star is not on the identity card")
    return action


def _star_misplaced(action: int, identity: int, text: str) -> bool:
    try:
        return ACTIONS.text(action, identity) != text
    except ValueError:  # the set holds no card of that rank
        return True


def explain_illegal(
    state: State, table: int, action: int, legal: list[str], *, supreme: bool
) -> str:
    """Message for an illegal action: seat, move, table in text, what would be legal."""
    seat = int(state.actor[table])
    identity = identity_rank(state, table)
    try:
        move = f"{ACTIONS.text(action, identity, supreme=supreme)!r} (action {action})"
    except ValueError:
        move = f"action {action}"
    shown = ", ".join(legal[:12]) + (f", … ({len(legal)} in all)" if len(legal) > 12 else "")
    where = f"phase {PHASE_NAMES[state.phase[table]]}"
    standing = int(state.standing[table])
    if standing != NOBODY:
        beat = standing_text(state, table)
        where += f", to beat: {beat} of seat {state.owner[table]}, circle {state.circle[table]}"
    hand = " ".join(hand_texts(state, table, seat))
    return f"seat {seat}: {move} is illegal ({where}; hand: {hand}); legal: {shown}"


def standing_text(state: State, table: int) -> str:
    """Set to beat, as people write it; a flag on the table is always an X."""
    standing = int(state.standing[table])
    return ACTIONS.text(standing, supreme=True).removeprefix("play ")


def hand_texts(state: State, table: int, seat: int) -> list[str]:
    """Cards of a seat, ascending; the identity card carries the star while it differs."""
    cards = cards_of_counts(state.hands[table, seat])
    kind = None
    if state.identity_seat[table] == seat:
        kind = KIND_TEXTS[int(state.identity_kind[table])]
    elif state.emperor[table] == NOBODY and state.marked_b[table] == seat:
        kind = "B"  # 保, before the marks make roles
    if kind in cards:
        cards[cards.index(kind)] += "*"
    return cards


def move_with_cards(state: State, table: int, action: int, *, supreme: bool) -> tuple[str, I8]:
    """Record text of a legal move (without the seat), and the cards it takes, ``[54] int8``."""
    if action < SET:
        return ACTIONS.text(action), np.zeros(NUM_KINDS, np.int8)
    took = play.cards_of_play(state, np.array([table]), np.array([action]), supreme=supreme)[0]
    cards = cards_of_counts(took)
    if action >= SET_IDENTITY:
        kind = KIND_TEXTS[int(state.identity_kind[table])]
        cards[cards.index(kind)] += "*"
    return "play " + " ".join(cards), took


def public_text(record_text: str) -> str:
    """What others see of a move: a secret call reads as a call."""
    return record_text.removesuffix(" secret") if record_text.startswith("call ") else record_text


def read_move(state: State, table: int, text: str, *, supreme: bool) -> tuple[int, I8]:
    """Action id and cards ``[54] int8`` of a record's move text (without the seat).

    Raises:
        NotationError: unreadable.
        IllegalMoveError: the cards make no set, or the star is on another card.
    """
    if not text.startswith("play "):
        return ACTIONS.encode(ACTIONS.parse(text)), np.zeros(NUM_KINDS, np.int8)
    cards = parse_cards(text.removeprefix("play "))
    if not cards:
        raise NotationError(f"unreadable move {text!r}: play without a card")
    kinds = np.array([kind for kind, _ in cards], dtype=np.intp)
    counts = np.bincount(kinds, minlength=NUM_KINDS).astype(np.int8)
    stars = [kind for kind, starred in cards if starred]
    if supreme:  # the starred card is X, whatever else it is
        kinds = np.array([kind for kind, starred in cards if not starred], dtype=np.intp)
    ranks = RANK_OF_KIND[kinds]
    naturals = ranks[ranks < NATURAL_RANKS]
    b, r = int((kinds == KIND_B).sum()), int((kinds == KIND_R).sum())
    if len(set(naturals.tolist())) > 1:
        raise IllegalMoveError(f"{shorten(text)!r}: two natural ranks do not mix in a set")
    if len(naturals) > MAX_NATURALS or max(b, r) > MAX_JOKERS or len(stars) > 1:
        raise NotationError(f"{shorten(text)!r}: more cards or stars than there are")
    if stars and stars[0] != state.identity_kind[table]:
        raise IllegalMoveError(f"{shorten(text)!r}: the star is not on the identity card")
    rank = int(naturals[0]) if naturals.size else ROW_JOKERS
    x = int(supreme and bool(stars))
    played = CardSet(rank, len(naturals), b, r, x, starred=bool(stars) and not x)
    return ACTIONS.encode(Move("play", cards=played)), counts


def sets_of(
    cards: npt.NDArray[np.integer], stars: npt.NDArray[np.integer], *, supreme: bool
) -> npt.NDArray[np.int64]:
    """Action ids ``[P]`` of played cards ``[P, 54]``, -1 where they make no set; ``stars [P]`` are
    the kinds of the starred cards, -1 for none."""
    total = len(cards)
    flagged = stars != NOBODY
    if supreme:  # the starred card is X, whatever else it is
        cards = cards.copy()
        row = np.flatnonzero(flagged)
        cards[row, stars[row]] -= 1
    naturals = cards[:, :KIND_B].reshape(total, NATURAL_RANKS, 4).sum(axis=2)
    b, r, n = cards[:, KIND_B], cards[:, KIND_R], naturals.sum(axis=1)
    good = ((naturals > 0).sum(axis=1) <= 1) & (n <= MAX_NATURALS)
    good &= (b <= MAX_JOKERS) & (r <= MAX_JOKERS) & ((n + b + r + flagged) > 0)
    rank = np.where(n > 0, naturals.argmax(axis=1), ROW_JOKERS)
    ids = set_id(rank, n, b, r) + np.where(flagged, SET_IDENTITY, SET)
    return np.where(good, ids, NOBODY)


def hold(
    state: State, t: Ints, actions: Ints, cards: I8, *, supreme: bool
) -> npt.NDArray[np.bool_]:
    """``[N] bool``: :func:`check_cards` has nothing to say."""
    good = np.ones(len(t), bool)
    i = np.flatnonzero(actions >= SET)
    if not i.size:
        return good
    t, actions, cards = t[i], actions[i], cards[i]
    usual = play.cards_of_play(state, t, actions, supreme=supreme)
    seat = state.actor[t].astype(np.intp)
    free = state.hands[t, seat].copy()
    row = np.arange(len(t))
    starred = actions >= SET_IDENTITY
    hides = state.identity_seat[t] == seat
    kind = np.where(hides, state.identity_kind[t], 0).astype(np.intp)
    free[row, kind] -= hides & ~starred
    shows = ~hides | ~starred | (cards[row, kind] > 0)
    same = (count_ranks(usual) == count_ranks(cards)).all(axis=1)
    good[i] = shows & same & ((cards <= free) & (cards >= 0)).all(axis=1)
    return good


def check_cards(state: State, t: Ints, actions: Ints, cards: I8, *, supreme: bool) -> None:
    """Check that the very cards of ``play`` actions are held and make the set.

    Raises:
        IllegalMoveError: names the seat and the card.
    """
    for i in np.flatnonzero(~hold(state, t, actions, cards, supreme=supreme)):
        table, action = int(t[i]), int(actions[i])
        seat = int(state.actor[table])
        usual = play.cards_of_play(state, t[i : i + 1], actions[i : i + 1], supreme=supreme)[0]
        by_rank = [
            np.bincount(RANK_OF_KIND, weights=c, minlength=NUM_RANKS) for c in (usual, cards[i])
        ]
        if (by_rank[0] != by_rank[1]).any():
            raise IllegalMoveError(f"seat {seat}: the cards do not make the set")
        free = state.hands[table, seat].copy()
        if state.identity_seat[table] == seat:
            kind = int(state.identity_kind[table])
            free[kind] -= action < SET_IDENTITY
            if action >= SET_IDENTITY and cards[i, kind] == 0:
                raise IllegalMoveError(f"seat {seat}: a starred play holds {KIND_TEXTS[kind]}")
        short = np.flatnonzero((cards[i] > free) | (cards[i] < 0))
        if short.size:
            k = int(short[0])
            raise IllegalMoveError(
                f"seat {seat} plays {cards[i, k]} of {KIND_TEXTS[k]} and has {free[k]} for it"
            )
