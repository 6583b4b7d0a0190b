"""The course of many hands as everybody saw it: tables before each move, from public logs alone.

Letters in shapes: ``H`` hands, ``T`` moves, ``S`` = 5 seats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.views import HandViews, PublicLog
from lupai.envs.baohuang import play
from lupai.envs.baohuang.actions import SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.state import COLUMN, SEATS, State
from lupai.envs.baohuang.tables import SIZE_OF
from lupai.envs.seats import NOBODY

__all__ = ["Course", "course_of", "hands_of"]

I8 = npt.NDArray[np.int8]
I16 = npt.NDArray[np.int16]
Ints = npt.NDArray[np.integer[Any]]

_PLAY_VERBS: Final = tuple(VERB_ID[verb] for verb in ("pass", "yield", "claim"))
_ACTOR, _ALIVE = COLUMN["actor"], COLUMN["alive"]
_STANDING, _OWNER, _CIRCLE = COLUMN["standing"], COLUMN["owner"], COLUMN["circle"]


@dataclass(frozen=True)
class Course:
    """Tables of H hands before each of T moves.

    Attributes:
        playing: ``[H, T] bool``: the move is one of the play phase.
        standing: ``[H, T] int16`` action id of the set to beat, -1: a lead.
        owner: ``[H, T] int8`` who played it, -1.
        circle: ``[H, T] int8``.
        trick: ``[H, T] int16`` tricks begun, the one that this move begins among them; 0 before
            play.
        sizes: ``[H, T, S] int8`` cards held.
    """

    playing: npt.NDArray[np.bool_]
    standing: I16
    owner: I8
    circle: I8
    trick: I16
    sizes: I8


def course_of(log: PublicLog, dealt: Ints, rules: Any) -> Course:
    """Play the public part of H hands through.

    Args:
        log: their moves.
        dealt: ``[H, S]`` cards held at the first lead.
        rules: of all of them.
    """
    count, width = log.actions.shape
    actions = log.actions.astype(np.int64)
    playing = (actions >= SET) | np.isin(actions, _PLAY_VERBS)
    standing = np.full((count, width), NOBODY, np.int16)
    owner = np.full((count, width), NOBODY, np.int8)
    circle = np.ones((count, width), np.int8)
    trick = np.zeros((count, width), np.int16)
    sizes = np.zeros((count, width, SEATS), np.int8)
    numbers = State(count).numbers
    numbers[:, _ALIVE] = (1 << SEATS) - 1
    now, begun = np.asarray(dealt).astype(np.int8), np.zeros(count, np.int16)
    for k in range(width):
        on = np.flatnonzero(playing[:, k])
        sizes[:, k] = now
        begun[on] += numbers[on, _STANDING] == NOBODY
        standing[:, k], owner[:, k] = numbers[:, _STANDING], numbers[:, _OWNER]
        circle[:, k], trick[:, k] = numbers[:, _CIRCLE], begun
        if not on.size:
            continue
        some, moves, seat = numbers[on], actions[on, k], log.seats[on, k].astype(np.int64)
        some[:, _ACTOR] = seat
        put = np.flatnonzero(moves >= SET)
        taken = SIZE_OF[moves[put]] + (moves[put] >= SET_IDENTITY) * bool(rules.supreme)
        now[on[put], seat[put]] -= taken.astype(np.int8)
        out = put[now[on[put], seat[put]] <= 0]
        some[out, _ALIVE] &= ~(1 << seat[out]).astype(np.int16)
        play.follow(some, moves, rules)
        numbers[on] = some
    return Course(playing, standing, owner, circle, trick, sizes)


def hands_of(views: HandViews) -> tuple[Ints, Ints]:
    """Emperors ``[H]`` and cards held at the first lead ``[H, S]`` of the hands of views; -1 and 0
    where a hand has no view."""
    state: Any = views.state
    emperor = np.full(len(views.log), NOBODY)
    dealt = np.zeros((len(views.log), SEATS), np.int64)
    emperor[views.hand] = state.emperor
    dealt[views.hand] = state.sizes + state.played.sum(axis=2, dtype=np.int64)
    return emperor, dealt
