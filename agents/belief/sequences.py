"""What the networks read: moves as numbers, and the table at a decision.

Each seat is looked at as if it were the one in question (the *subject*; the emperor stands for
"nobody is guard"), with one network for all, so that nothing has to be learned five times. Letters
in shapes: ``H`` hands, ``T`` moves, ``N`` views, ``S`` = 5 subjects, by absolute seat.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE
from lupai.agents.belief.course import Course
from lupai.agents.belief.views import HandViews, PublicLog
from lupai.envs.baohuang.actions import CALL, SET, SET_IDENTITY, VERBS
from lupai.envs.baohuang.state import SEATS
from lupai.envs.baohuang.tables import PARTS_OF
from lupai.envs.cards import (
    KIND_B,
    KIND_R,
    NATURAL_RANKS,
    NUM_KINDS,
    RANK_OF_KIND,
    RANKS,
    count_ranks,
)
from lupai.envs.seats import NOBODY

__all__ = ["EVENT_FIELDS", "LAYOUT", "TABLE_FIELDS", "events", "priors", "tables"]

F32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]

EVENT_FIELDS: Final = (
    *VERBS, "call", "play",
    "rank", "naturals", "b", "r", "identity",
    "leads", "beat_rank", "beat_naturals", "beat_b", "beat_r", "circle_2", "trick",
    "own_cards", "emperors_cards", "subjects_cards",
    *(f"seat_is_subject_{i}" for i in range(SEATS)),
    *(f"seat_is_emperor_{i}" for i in range(SEATS)),
    *(f"owner_is_subject_{i}" for i in range(SEATS)),
    "owner_is_emperor", "subject_is_emperor", "called_rank",
)  # fmt: skip
TABLE_FIELDS: Final = (
    "rebel", "emperor", "spectator",
    *(f"viewer_is_subject_{i}" for i in range(SEATS)),
    "subject_is_emperor", "log_prior", "subjects_cards", "emperors_cards", "moves",
    "own_b", "own_r", "own_cards", "called_rank",
    *(f"own_{rank}" for rank in RANKS),
)  # fmt: skip
LAYOUT: Final = [list(EVENT_FIELDS), list(TABLE_FIELDS)]
_LEAST: Final = 1e-4  # a prior below reads as this
_CARDS, _TRICKS, _MOVES = 40.0, 20.0, 200.0
_SEATS: Final = np.arange(SEATS)


def events(log: PublicLog, course: Course, emperor: Ints) -> F32:
    """``[H, S, T, E] float32`` by EVENT_FIELDS; zeros behind the end of a hand.

    Args:
        log, course: of the hands.
        emperor: ``[H]``.
    """
    count, width = log.actions.shape
    out = np.zeros((count, SEATS, width, len(EVENT_FIELDS)), np.float32)
    actions = log.actions.astype(np.int64)
    at = {name: i for i, name in enumerate(EVENT_FIELDS)}
    put = actions >= SET
    hand, move = np.nonzero((actions >= 0) & (actions < CALL))
    out[hand, :, move, actions[hand, move]] = 1
    seat, owner = log.seats.astype(np.int64), course.owner.astype(np.int64)
    king = emperor[:, None].astype(np.int64)
    mine = PARTS_OF[np.where(put, actions, SET)] * put[..., None]
    lead = course.standing == NOBODY
    theirs = PARTS_OF[np.where(lead, SET, course.standing)] * ~lead[..., None]
    sizes = course.sizes / np.float32(_CARDS)
    same: dict[str, Any] = {
        "call": (actions >= CALL) & ~put,
        "play": put,
        "rank": mine[..., 0] / 13,
        "naturals": mine[..., 1] / 4,
        "b": mine[..., 2],
        "r": mine[..., 3],
        "identity": actions >= SET_IDENTITY,
        "leads": lead & course.playing,
        "beat_rank": theirs[..., 0] / 13,
        "beat_naturals": theirs[..., 1] / 4,
        "beat_b": theirs[..., 2],
        "beat_r": theirs[..., 3],
        "circle_2": course.circle == 2,
        "trick": course.trick / _TRICKS,
        "own_cards": np.take_along_axis(sizes, np.maximum(seat, 0)[..., None], 2)[..., 0],
        "emperors_cards": np.take_along_axis(sizes, np.maximum(king, 0)[..., None], 2)[..., 0],
        "owner_is_emperor": owner == king,
        "called_rank": _called(actions),
    }
    for name, value in same.items():
        out[..., at[name]] = value[:, None]
    out[..., at["subjects_cards"]] = sizes.transpose(0, 2, 1)
    for distance in range(SEATS):
        other = (_SEATS + distance) % SEATS  # seat so far behind each subject
        out[..., at[f"seat_is_subject_{distance}"]] = seat[:, None] == other[:, None]
        out[..., at[f"owner_is_subject_{distance}"]] = owner[:, None] == other[:, None]
        out[..., at[f"seat_is_emperor_{distance}"]] = (seat == (king + distance) % SEATS)[:, None]
    out[..., at["subject_is_emperor"]] = (king == _SEATS)[:, :, None]
    out *= (actions >= 0)[:, None, :, None]
    return out


def _called(actions: Ints) -> F32:
    """``[H, T]``: rank of the card that was called last, this move among them, 1/13 … 1 for 3 … 2,
    more for jokers; 0 before any call."""
    calls = (actions >= CALL) & (actions < SET)
    last = np.maximum.accumulate(np.where(calls, np.arange(actions.shape[1]), NOBODY), axis=1)
    kinds = np.take_along_axis(actions, np.maximum(last, 0), axis=1) - CALL
    return np.where(last >= 0, _height(kinds % NUM_KINDS), np.float32(0))


def _height(kinds: Ints) -> F32:
    return ((RANK_OF_KIND[kinds] + 1) / NATURAL_RANKS).astype(np.float32)


def priors(views: HandViews) -> F32:
    """``[N, S] float32`` grounded chances by subject: the emperor's is that of nobody."""
    grounded = views.grounded
    emperor = views.state.emperor.astype(np.intp)
    out = grounded[:, :ALONE].astype(np.float32)
    out[np.arange(len(out)), emperor] = grounded[:, ALONE]
    return out


def tables(views: HandViews) -> F32:
    """``[N, S, F] float32`` by TABLE_FIELDS."""
    state: Any = views.state
    n = len(views)
    out = np.zeros((n, SEATS, len(TABLE_FIELDS)), np.float32)
    at = {name: i for i, name in enumerate(TABLE_FIELDS)}
    emperor = state.emperor.astype(np.int64)
    viewer = np.asarray(views.seats, np.int64)
    own = np.where((viewer >= 0)[:, None], state.hands[np.arange(n), viewer], 0)
    king = emperor == viewer
    same: dict[str, Any] = {
        "rebel": (viewer >= 0) & ~king,
        "emperor": king,
        "spectator": viewer < 0,
        "emperors_cards": state.sizes[np.arange(n), emperor] / _CARDS,
        "moves": views.counts / _MOVES,
        "own_b": own[:, KIND_B],
        "own_r": own[:, KIND_R],
        "own_cards": own.sum(axis=1) / _CARDS,
        "called_rank": np.where(
            state.identity_kind >= 0, _height(np.maximum(state.identity_kind, 0)), 0
        ),
    }
    held = count_ranks(own)
    same |= {f"own_{rank}": held[:, r] / 4 for r, rank in enumerate(RANKS)}
    for name, value in same.items():
        out[..., at[name]] = value[:, None]
    for distance in range(SEATS):
        behind = (_SEATS + distance) % SEATS
        out[..., at[f"viewer_is_subject_{distance}"]] = viewer[:, None] == behind
    out[..., at["subject_is_emperor"]] = emperor[:, None] == _SEATS
    out[..., at["log_prior"]] = np.log(np.maximum(priors(views), _LEAST))
    out[..., at["subjects_cards"]] = state.sizes / _CARDS
    return out
