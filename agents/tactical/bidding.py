"""Before the first lead: every answer is worth a linear function of the hand; the best is given.

The features are counted from the own hand against the cards it does not hold:

==========  =====================================================
``one``     1
``big``     big jokers, and 特画 where the player holds it
``small``   small jokers
``weak``    expected sets that need help to win their trick
``sets``    ranks held
``crown``   the player holds R*
``rank``    of a called card: its rank, 0 … 14, through 14
==========  =====================================================

There is a row of coefficients for each question, role and kind of answer
(:mod:`lupai.agents.tactical.bids`, made by ``tools/fit_tactical_bids.py``). Where the rules ask
something for which there is none, the answer is the one that risks nothing.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, best_of_rows
from lupai.agents.tactical.counting import I64, OTHERS, Count
from lupai.agents.tactical.planning import Plan
from lupai.agents.tactical.weights import Wills
from lupai.envs.baohuang.actions import CALL, SET, VERB_ID, VERBS
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_NAMES, Phase
from lupai.envs.cards import NATURAL_RANKS, NUM_KINDS, RANK_B, RANK_OF_KIND, RANK_R

F64 = npt.NDArray[np.float64]
Bids = dict[tuple[str, str, str], tuple[float, ...]]  # (phase, role, answer): coefficients

FEATURES: Final = ("one", "big", "small", "weak", "sets", "crown", "rank")
ROLES: Final = ("any", "emperor", "guard", "rebel")
ANSWERS: Final = (*VERBS, "call", "call open", "call secret")
_WILLS: Final = Wills()
_ANSWER: Final = np.zeros(SET, np.intp)  # by action id
_ANSWER[: len(VERBS)] = np.arange(len(VERBS))
_ANSWER[CALL:SET] = len(VERBS) + np.repeat(np.arange(3), NUM_KINDS)
_RANK: Final = np.zeros(SET)
_RANK[CALL:SET] = np.tile(RANK_OF_KIND, 3) / 14
_STEPS: Final = 4096.0  # worths are compared in steps of 1/4096
_CALM: Final = [VERB_ID[verb] for verb in ("decline", "silent", "keep", "refuse")]


def features(rules: Rules, state: Any, me: npt.NDArray[np.intp]) -> F64:
    """``[N, F]`` of N players before play, ``rank`` 0."""
    count = Count(rules, state, me)
    foes = np.zeros((len(me), OTHERS), np.float32)
    plan = Plan(rules, count, *_WILLS.blend(foes, count.sizes / count.start))
    out = np.zeros((len(me), len(FEATURES)))
    out[:, 0] = 1
    out[:, 1] = count.own[:, RANK_R] + count.own_x
    out[:, 2] = count.own[:, RANK_B]
    out[:, 3] = plan.losers
    out[:, 4] = (count.own[:, :NATURAL_RANKS] > 0).sum(axis=1)
    out[:, 5] = state.crown == me
    return out


def roles(state: Any, me: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """``[N]`` numbers of :data:`ROLES` of the players; ``any`` before there is an emperor."""
    role = np.where(state.emperor == me, 1, np.where(state.guard == me, 2, 3))
    return np.where(state.emperor < 0, 0, role).astype(np.intp)


def answers(ids: I32) -> npt.NDArray[np.intp]:
    """``[C]`` numbers of :data:`ANSWERS` of action ids before play."""
    return _ANSWER[ids]


def rank_of(ids: I32) -> F64:
    """``[C]``: rank of a called card, through 14; 0 where nothing is called."""
    rank: F64 = _RANK[ids]
    return rank


def worth(
    rules: Rules, table: F64, state: Any, me: npt.NDArray[np.intp], ids: I32, rows: I64
) -> F64:
    """``[C]``: what each legal answer is worth, rounded, so that the last bits of a float decide
    nothing.

    Args:
        table: from :func:`table_of`.
        state: masked tables, none in play.
        ids, rows: legal id i is of the player at table ``rows[i]``.
    """
    hand = features(rules, state, me)
    row = table[state.phase[rows], roles(state, me)[rows], answers(ids)]  # [C, F]
    value = rank_of(ids) * row[:, -1]
    for i in range(len(FEATURES) - 1):
        value = value + row[:, i] * hand[rows, i]
    return np.asarray(np.rint(value * _STEPS) / _STEPS)


def choose(
    rules: Rules, table: F64, state: Any, me: npt.NDArray[np.intp], ids: I32, offsets: I64
) -> I32:
    """The best answers ``[N]`` of players before play; the lowest id of equals.

    Args:
        table, state: as for :func:`worth`.
        ids, offsets: legal ids, ragged.
    """
    rows = np.repeat(np.arange(len(me)), np.diff(offsets))
    value = worth(rules, table, state, me, ids, rows)
    return ids[best_of_rows(value, offsets)]


def table_of(bids: Bids) -> F64:
    """Coefficients ``[phases, roles, answers, F]``; answers without a row are the calm ones."""
    table = np.zeros((len(Phase), len(ROLES), len(ANSWERS), len(FEATURES)))
    table[..., 0] = -1e3
    table[:, :, _CALM, 0] = 0
    table[:, :, VERB_ID["cede"], 0] = -1
    table[:, :, len(VERBS) :, 0] = -10  # solo only where nothing else is legal
    table[:, :, len(VERBS), 0] = 0
    for (phase, role, answer), row in bids.items():
        table[PHASE_NAMES.index(phase), ROLES.index(role), ANSWERS.index(answer)] = row
    table.setflags(write=False)
    return table
