"""What a seat may not know: take it out of a state, or put a guess in its place.

Hidden are the other hands (the revolter's, who laid his down unseen, too), the answers to a poll
about a revolution that is still running, and the seed. A viewer of -1 is a spectator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import NUM_RANKS, count_ranks, four_packs
from lupai.envs.gouji.state import I8, Phase, State
from lupai.envs.guesses import check, check_hands, hide_hands
from lupai.envs.seats import NOBODY

Ints = npt.NDArray[Any]

DECK = four_packs(marked_r=False).counts


def mask_hidden(state: State, t: Ints, viewer: Ints) -> State:
    """Copies of tables ``t`` without what seats ``viewer``, -1 for a spectator, may not know."""
    out = state.take(t)
    hide_hands(out, viewer)
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
    hands = check_hands(masked, viewer, hands, DECK)
    check((hands >= known_cards(masked)).all(axis=2), "a card that was shown is not with seat")
    got = count_ranks(masked.shown)
    had = count_ranks(hands) + count_ranks(masked.played)
    lacks = masked.lacks[:, :, None] >> np.arange(NUM_RANKS) & 1 == 1
    check((~lacks | (had <= got)).all(axis=2), "a rank that it does not hold is with seat")
    out = masked.copy()
    out.hands[:] = hands
    out.ranks[:] = count_ranks(hands)
    return out
