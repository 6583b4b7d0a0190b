"""What a seat may not know: take it out of a state, or put a guess in its place.

Hidden are the other hands, who holds the identity card (so who is guard, or that the emperor is
secretly alone), who was dealt the marked small joker, and the seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.cards import KIND_B, KIND_R, KIND_TEXTS, NATURAL_RANKS, RANK_B, RANK_R
from lupai.envs.errors import RecordError
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]


def known_roles(state: State, t: Ints, viewer: Ints) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Roles that ``viewer`` knows.

    Returns:
        ``[N, S, 3] bool`` by absolute seat (emperor, guard, rebel), and the solo he knows ``[N]``.
    """
    emperor, guard, solo = state.emperor[t], state.guard[t], state.solo[t]
    seats = np.arange(SEATS)
    crowned = (emperor != NOBODY)[:, None]
    public = state.public[t] == 1
    knows_all = public | (guard == viewer) | ((solo == Solo.SECRET) & (emperor == viewer))
    roles = np.zeros((len(t), SEATS, 3), bool)
    is_emperor = seats == emperor[:, None]
    is_guard = (seats == guard[:, None]) & knows_all[:, None]
    is_self = seats == viewer[:, None]
    roles[:, :, 0] = is_emperor & crowned
    roles[:, :, 1] = is_guard & crowned
    roles[:, :, 2] = crowned & ~is_emperor & ~is_guard & (knows_all[:, None] | is_self)
    known_solo = np.where((solo == Solo.SECRET) & ~public & (emperor != viewer), Solo.NONE, solo)
    return roles, known_solo


def mask_hidden(state: State, t: Ints, viewer: Ints) -> State:
    """Copies of tables ``t`` without what seats ``viewer`` may not know."""
    out = state.take(t)
    row = np.arange(len(out))
    for name in ("hands", "ranks"):
        hidden = getattr(out, name)
        own = hidden[row, viewer].copy()
        hidden[:] = 0
        hidden[row, viewer] = own
    _, solo = known_roles(state, t, viewer)
    knows = (out.public == 1) | (out.guard == viewer)
    out.guard = np.where(knows, out.guard, NOBODY)
    out.solo = solo
    out.identity_seat = np.where(out.identity_seat == viewer, viewer, NOBODY)
    out.marked_b = np.where(out.marked_b == viewer, viewer, NOBODY)
    out.seeds[:] = 0  # a seed tells the whole deal
    return out


def fill_hidden(masked: State, viewer: Ints, hands: I8, deck: I8) -> State:
    """Complete states from masked ones and one guess of all hands for each.

    Where a card was called and the role is not public, the role follows from the guess: the other
    seat with a copy of the called card is guard, and without one the emperor is secretly alone.

    Args:
        masked: N tables from :func:`mask_hidden`.
        viewer: ``[N]`` whose view each is.
        hands: ``[N, S, 54] int8`` all hands, the viewer's own as it is.
        deck: ``[54] int8`` copies in the game.

    Raises:
        RecordError: a guess that contradicts the own hand, the hand sizes, the cards still out,
            or the own role; names the table and the seat or card.
    """
    n = len(masked)
    row = np.arange(n)
    hands = np.asarray(hands, np.int8)
    if hands.shape != masked.hands.shape:
        raise RecordError(f"hands {hands.shape}, expected {masked.hands.shape}")

    def check(good: Any, what: str, names: tuple[str, ...] = ()) -> None:
        wrong = np.argwhere(~good)
        if len(wrong):
            place = wrong[0]
            name = names[place[1]] if names else (f"seat {place[1]}" if len(place) > 1 else "")
            raise RecordError(f"guess for table {place[0]}: {what} {name}".rstrip())

    check((hands >= 0).all(axis=2), "a negative count in the hand of")
    check((hands[row, viewer] == masked.hands[row, viewer]).all(axis=1), "the own hand differs")
    check(hands.sum(axis=2, dtype=np.int64) == masked.sizes, "wrong hand size of")
    left = deck - masked.played.sum(axis=1, dtype=np.int8)
    check(hands.sum(axis=1, dtype=np.int8) == left, "wrong number of copies of", KIND_TEXTS)

    out = masked.copy()
    out.hands[:] = hands
    out.ranks[:, :, :NATURAL_RANKS] = (
        hands[:, :, :KIND_B].reshape(n, SEATS, NATURAL_RANKS, 4).sum(axis=3, dtype=np.int8)
    )
    out.ranks[:, :, RANK_B] = hands[:, :, KIND_B]
    out.ranks[:, :, RANK_R] = hands[:, :, KIND_R]

    open_ = np.flatnonzero((masked.identity_kind != NOBODY) & (masked.public == 0))
    if open_.size:
        kind = masked.identity_kind[open_]
        emperor = masked.emperor[open_].astype(np.intp)
        holds = hands[open_, :, kind] > 0
        holds[np.arange(len(open_)), emperor] = False
        alone = ~holds.any(axis=1)
        guard = np.where(alone, NOBODY, holds.argmax(axis=1))
        # the emperor has shown three copies; alone he must still hold one more than he showed
        shown = masked.shown[open_, kind] - masked.played[open_, emperor, kind]
        check(
            hands[open_, emperor, kind] == shown + alone, "the emperor's copies of the called card"
        )
        out.guard[open_] = guard
        out.solo[open_] = np.where(alone, Solo.SECRET, Solo.NONE)
        out.identity_seat[open_] = np.where(alone, emperor, guard)
    return out
