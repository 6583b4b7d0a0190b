"""What a seat may not know: take it out of a state, or put a guess in its place.

Hidden are the other hands (the revolter's, who laid his down unseen, too), the answers to a poll
about a revolution that is still running, and the seed. A viewer of -1 is a spectator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import KIND_TEXTS, NUM_RANKS, count_ranks, four_packs
from lupai.envs.errors import RecordError
from lupai.envs.gouji.state import I8, Phase, State
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

DECK = four_packs(marked_r=False).counts


def mask_hidden(state: State, t: Ints, viewer: Ints) -> State:
    """Copies of tables ``t`` without what seats ``viewer``, -1 for a spectator, may not know."""
    out = state.take(t)
    row = np.arange(len(out))
    for name in ("hands", "ranks"):
        hidden = getattr(out, name)
        own = hidden[row, viewer].copy()
        own[viewer == NOBODY] = 0
        hidden[:] = 0
        hidden[row, viewer] = own
    mine = np.where(viewer == NOBODY, 0, 1 << np.maximum(viewer, 0))
    running = out.phase == Phase.REVOLT
    out.revolts = np.where(running, out.revolts & mine, out.revolts)
    out.seeds[:] = 0  # a seed tells the whole deal
    return out


def known_cards(state: State) -> I8:
    """``[B, 6, 54] int8``: copies of each card that everybody knows to be with a seat."""
    known: I8 = np.maximum(state.shown - state.played, 0)
    return known


def fill_hidden(masked: State, viewer: Ints, hands: I8) -> State:
    """Complete states from masked ones and one guess of all hands for each.

    Args:
        masked: N tables from :func:`mask_hidden`.
        viewer: ``[N]`` whose view each is, -1 for a spectator's.
        hands: ``[N, 6, 54] int8`` all hands, the viewer's own as it is.

    Raises:
        RecordError: a guess that contradicts the own hand, the hand sizes, the cards still out,
            cards that were seen to come to a seat, or a rank that it was seen not to hold; names
            the table and the seat or card.
    """
    hands = np.asarray(hands, np.int8)
    if hands.shape != masked.hands.shape:
        raise RecordError(f"hands {hands.shape}, expected {masked.hands.shape}")
    row = np.arange(len(masked))
    _check((hands >= 0).all(axis=2), "a negative count in the hand of seat")
    own = (hands[row, viewer] == masked.hands[row, viewer]).all(axis=1) | (viewer == NOBODY)
    _check(own[:, None], "the own hand differs from that of seat", viewer[:, None])
    _check(hands.sum(axis=2, dtype=np.int64) == masked.sizes, "wrong hand size of seat")
    left = DECK - masked.played.sum(axis=1, dtype=np.int8)
    _check(hands.sum(axis=1, dtype=np.int8) == left, "wrong number of copies of", KIND_TEXTS)
    _check((hands >= known_cards(masked)).all(axis=2), "a card that was shown is not with seat")
    got = count_ranks(masked.shown)
    had = count_ranks(hands) + count_ranks(masked.played)
    lacks = masked.lacks[:, :, None] >> np.arange(NUM_RANKS) & 1 == 1
    _check((~lacks | (had <= got)).all(axis=2), "a rank that it does not hold is with seat")
    out = masked.copy()
    out.hands[:] = hands
    out.ranks[:] = count_ranks(hands)
    return out


def _check(good: Any, what: str, names: Any = None) -> None:
    """Raise for the first False of ``good [N, K]``; ``names`` are those of its columns."""
    wrong = np.argwhere(~good)
    if len(wrong):
        table, column = (int(v) for v in wrong[0])
        if isinstance(names, np.ndarray):
            name = names[table, 0]
        else:
            name = column if names is None else names[column]
        raise RecordError(f"guess for table {table}: {what} {name}")
