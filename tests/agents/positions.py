"""A player in the middle of a trick, made from his cards alone."""

import numpy as np

from lupai.envs.baohuang.actions import SET
from lupai.envs.baohuang.sets import parse_set
from lupai.envs.baohuang.state import Phase, State
from lupai.envs.cards import KIND_OF_TEXT, NUM_RANKS, RANK_OF_KIND
from lupai.envs.view import View


def position_of(engine, hand, standing=None):
    """View of a player in a trick who holds these cards; a star marks the identity card."""
    state = State(1)
    state.phase, state.actor, state.emperor, state.alive = Phase.PLAY, 0, 1, 31
    for card in hand.split(" "):
        kind = KIND_OF_TEXT[card.removesuffix("*")]
        state.hands[0, 0, kind] += 1
        if card.endswith("*"):
            state.identity_seat, state.identity_kind, state.guard = 0, kind, 0
    state.ranks[0, 0] = np.bincount(RANK_OF_KIND, state.hands[0, 0], NUM_RANKS)
    state.sizes[0] = 30
    state.sizes[0, 0] = state.hands[0, 0].sum()
    if standing is not None:
        state.standing, state.owner, state.to_ask = SET + parse_set(standing).id, 4, 15
    return View.of(engine, state, 0)
