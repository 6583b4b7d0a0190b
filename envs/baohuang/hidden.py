"""What a seat may not know: take it out of a state, or put a guess in its place.

Hidden are the other hands, who holds the identity card (so who is guard, or that the emperor is
secretly alone), who was dealt the marked small joker, and the seed. A viewer of -1 is a spectator:
he sees what is public and has no hand of his own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import COLUMN, SEATS, Said, Solo, State
from lupai.envs.cards import KIND_B, KIND_R, KIND_TEXTS, NATURAL_RANKS, RANK_B, RANK_R
from lupai.envs.errors import RecordError
from lupai.envs.guesses import check, check_hands, hide_hands
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
COPIES_SHOWN = 3  # of the called card
_ROLE_COLUMNS = [COLUMN[name] for name in ("emperor", "guard", "solo", "public")]


def known_roles(state: State, t: Ints, viewer: Ints) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Roles that ``viewer`` knows.

    Returns:
        ``[N, S, 3] bool`` by absolute seat (emperor, guard, rebel), and the solo he knows ``[N]``.
    """
    emperor, guard, solo, public = state.numbers[t][:, _ROLE_COLUMNS].T
    return roles_known(emperor, guard, solo, public, viewer)


def roles_known(
    emperor: Ints, guard: Ints, solo: Ints, public: Ints, viewer: Ints
) -> tuple[npt.NDArray[np.bool_], Ints]:
    """:func:`known_roles` from the true roles and whether they are public, each ``[N]``.

    A viewer of -1 knows what is public.
    """
    seats = np.arange(SEATS)
    crowned = (emperor != NOBODY)[:, None]
    secret = (solo == Solo.SECRET) & (public != 1)
    owns_it = (guard == viewer) | (secret & (emperor == viewer))
    knows_all = (public == 1) | ((viewer != NOBODY) & owns_it)
    roles = np.empty((len(viewer), SEATS, 3), bool)
    is_emperor = seats == emperor[:, None]
    is_guard = seats == guard[:, None]
    is_self = seats == viewer[:, None]
    roles[:, :, 0] = is_emperor
    roles[:, :, 1] = is_guard & knows_all[:, None] & crowned
    roles[:, :, 2] = crowned & ~is_emperor & ~is_guard & (knows_all[:, None] | is_self)
    known_solo = np.where(secret & (emperor != viewer), Solo.NONE, solo)
    return roles, known_solo


def mask_hidden(state: State, t: Ints, viewer: Ints) -> State:
    """Copies of tables ``t`` without what seats ``viewer``, -1 for a spectator, may not know."""
    out = state.take(t)
    hide_hands(out, viewer)
    _, solo = known_roles(state, t, viewer)
    public = out.public == 1
    out.guard = np.where(public | (out.guard == viewer), out.guard, NOBODY)
    out.solo = solo
    seen = public | (out.identity_seat == viewer)
    out.identity_seat = np.where(seen, out.identity_seat, NOBODY)
    # who is guard by the marks is who was dealt B*; an open solo makes that nobody's business
    seen = (public & (out.identity_kind != NOBODY)) | (out.marked_b == viewer)
    out.marked_b = np.where(seen, out.marked_b, NOBODY)
    out.seeds[:] = 0  # a seed tells the whole deal
    return out


def fill_hidden(
    masked: State, viewer: Ints, hands: I8, marked_b: Ints | None, rules: Rules
) -> State:
    """Complete states from masked ones and one guess of all hands for each.

    Where the role is not public it follows from the guess. Where a card was called, the other seat
    with a copy of it is guard, and without one the emperor is secretly alone. Where marks make the
    roles, copies of B do not tell which one is B*, so its holder has to be guessed too.

    Args:
        masked: N tables from :func:`mask_hidden`.
        viewer: ``[N]`` whose view each is, -1 for a spectator's.
        hands: ``[N, S, 54] int8`` all hands, the viewer's own as it is.
        marked_b: ``[N]`` who was dealt B*; read only where there are marks and the viewer does not
            know. Without it, and where nobody needs to know, it stays open.

    Raises:
        RecordError: a guess that contradicts the own hand, the hand sizes, the cards still out,
            what was shown, or what an answer proves of B*; names the table and the seat or card.
            (What a forced call, an added card or a hand that goes on prove is not checked: see
            :func:`lupai.envs.baohuang.worlds.consistent`.)
    """
    n = len(masked)
    row = np.arange(n)
    hands = check_hands(masked, viewer, hands, rules.cards.counts)
    crown = masked.crown
    shown = masked.shown - masked.played[row, crown]
    check(hands[row, crown] >= shown, "the holder of R* has too few copies of", KIND_TEXTS)
    has_r = (hands[row, crown, KIND_R] > 0) | (masked.played[row, crown, KIND_R] > 0)
    check(has_r[:, None], "no R, and so no R*, with seat", crown[:, None])

    out = masked.copy()
    complete(out, viewer, hands, marked_b, rules)
    return out


def complete(out: State, viewer: Ints, hands: I8, marked_b: Ints | None, rules: Rules) -> None:
    """:func:`fill_hidden` in place, for hands that are known to fit what is checked there."""
    out.hands[:] = hands
    naturals = hands[:, :, :KIND_B]
    out.ranks[:, :, :NATURAL_RANKS] = sum(naturals[:, :, suit::4] for suit in range(4))
    out.ranks[:, :, RANK_B] = hands[:, :, KIND_B]
    out.ranks[:, :, RANK_R] = hands[:, :, KIND_R]
    if rules.needs_marked_b:
        _fill_marks(out, viewer, marked_b)
    else:
        _fill_called(out)


def _fill_called(out: State) -> None:
    """Guard or secret solo from who holds the called card."""
    _check_public_call(out)
    i = np.flatnonzero((out.identity_kind != NOBODY) & (out.public == 0))
    if not i.size:
        return
    kind = out.identity_kind[i]
    emperor = out.emperor[i].astype(np.intp)
    row = np.arange(len(i))
    holds = out.hands[i, :, kind] > 0
    holds[row, emperor] = False
    alone = ~holds.any(axis=1)
    guard = np.where(alone, NOBODY, holds.argmax(axis=1))
    # he has shown three copies; alone he must still hold one more than those he has not played
    held = COPIES_SHOWN - out.played[i, emperor, kind] + alone
    good = out.hands[i, emperor, kind] == held
    check(good[:, None], "wrong copies of the called card with seat", emperor[:, None])
    out.guard[i] = guard
    out.solo[i] = np.where(alone, int(Solo.SECRET), int(Solo.NONE))
    out.identity_seat[i] = np.where(alone, emperor, guard)


def _check_public_call(out: State) -> None:
    """Where the role is public so is whose the four copies of the called card were."""
    i = np.flatnonzero((out.identity_kind != NOBODY) & (out.public == 1))
    if not i.size:
        return
    kind, guard = out.identity_kind[i], out.guard[i]
    had = out.hands[i, :, kind] + out.played[i, :, kind]
    row = np.arange(len(i))
    check(
        (guard == NOBODY)[:, None] | (had[row, guard] == 1)[:, None],
        "no copy of the called card with the guard, seat",
        guard[:, None],
    )


def _fill_marks(out: State, viewer: Ints, marked_b: Ints | None) -> None:
    """Guard or secret solo from who was dealt B*."""
    row = np.arange(len(out))
    open_ = out.marked_b == NOBODY
    playing = out.identity_kind != NOBODY
    if marked_b is None:
        if (open_ & playing & (out.public == 0)).any():
            raise RecordError("marked_b: under rules with marks the holder of B* is to be guessed")
        return
    guess = np.where(open_, marked_b, out.marked_b)
    held = out.hands[row, guess, KIND_B] > 0
    secret = playing & (out.public == 0)
    check((held | ~secret)[:, None], "no B, and so no B*, with seat", guess[:, None])
    good = ~open_ | (guess != viewer)
    check(good[:, None], "B* is not with the viewer, seat", guess[:, None])
    opposed = (out.said[row, guess] >> Said.OPPOSE) & 1 == 1
    check(~(opposed & secret)[:, None], "B* is not with one who opposed, seat", guess[:, None])
    gave_up = (out.said[row, out.emperor] >> Said.ABANDON) & 1 == 1
    good = ~(gave_up & secret) | (guess == out.emperor)
    check(good[:, None], "B* is with the seat that gives up the crown, not with", guess[:, None])
    out.marked_b = guess
    i = np.flatnonzero(secret)
    alone = guess[i] == out.emperor[i]
    out.guard[i] = np.where(alone, NOBODY, guess[i])
    out.solo[i] = np.where(alone, int(Solo.SECRET), int(Solo.NONE))
    out.identity_seat[i] = guess[i]
