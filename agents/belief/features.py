"""What a move says of its player, in words: the features of the naive Bayes predictor.

A feature is a *context* (what was to be answered) and a *response* (what was answered), both
public. Every move of a hand has one:

* before play: the player's how many-th answer it is; which word;
* a lead: whether the emperor comes next, whether he has five cards or fewer; which size of set,
  with jokers or without;
* an answer to a set: whose it is (the emperor's, of a player who has beaten the emperor before, of
  another), how high (up to 10, up to A, 2, with jokers), of what size, in which circle; passed,
  yielded, claimed, or beaten with which size of set, with jokers or without.

Letters in shapes: ``H`` hands, ``T`` moves, ``K`` = contexts, ``R`` = responses.

:func:`move_kinds` gathers the features into some dozen kinds of moves, for tables.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.course import Course
from lupai.agents.belief.views import PublicLog
from lupai.envs.baohuang.actions import CALL, SET, SET_IDENTITY, VERB_ID, VERBS
from lupai.envs.baohuang.state import SEATS
from lupai.envs.baohuang.tables import PARTS_OF
from lupai.envs.seats import NOBODY

__all__ = [
    "CONTEXTS",
    "LAYOUT",
    "MOVE_KINDS",
    "RESPONSES",
    "context_names",
    "features",
    "move_kinds",
    "response_names",
]

Ints = npt.NDArray[np.integer[Any]]

ANSWERS: Final = 6  # before play
FEW: Final = 5  # cards
_OWNERS: Final = ("the emperor's set", "a set of who beat him before", "another's set")
_HEIGHTS: Final = ("up to 10", "J to A", "2", "with jokers")
_SIZES: Final = ("1 card", "2 cards", "3 cards or more")
_TEN, _ACE, _TWO = 7, 11, 12  # natural ranks
_FOLLOWS: Final = (len(_OWNERS), len(_HEIGHTS), len(_SIZES), 2)
_LEAD: Final = ANSWERS
_FOLLOW: Final = _LEAD + 4
CONTEXTS: Final = _FOLLOW + int(np.prod(_FOLLOWS))
_CALLS: Final = len(VERBS)
_SETS: Final = len(VERBS) + 1
_REVEALS: Final = _SETS + 2 * len(_SIZES)
RESPONSES: Final = _REVEALS + 1
MOVE_KINDS: Final = (
    "before play", "leads", "leads with jokers",
    *(f"{what.format(owner)}" for owner in _OWNERS
      for what in ("beats {}", "beats {} with jokers", "passes over {}")),
    "claims the lead",
)  # fmt: skip


def context_names() -> list[str]:
    """``[K]`` texts."""
    out = [f"before play, answer {i + 1}" for i in range(ANSWERS)]
    out += [
        f"lead, the emperor {'comes next' if near else 'comes later'}, he has "
        f"{'few' if few else 'many'} cards"
        for near in (0, 1)
        for few in (0, 1)
    ]
    out += [
        f"{owner}, {height}, {size}, circle {circle}"
        for owner in _OWNERS
        for height in _HEIGHTS
        for size in _SIZES
        for circle in (1, 2)
    ]
    return out


def response_names() -> list[str]:
    """``[R]`` texts."""
    sets = [f"{size}{jokers}" for jokers in ("", " with jokers") for size in _SIZES]
    return [*VERBS, "call", *sets, "the identity card"]


LAYOUT: Final = [context_names(), response_names()]


def features(log: PublicLog, course: Course, emperor: Ints) -> Ints:
    """``[H, T]`` context * R + response of each move; -1 behind the end.

    Args:
        log, course: of the hands.
        emperor: ``[H]``.
    """
    actions = log.actions.astype(np.int64)
    there = actions >= 0
    context = np.where(course.playing, _contexts(log, course, emperor), _answers(log, course))
    found: Ints = np.where(there, context * RESPONSES + _responses(actions), NOBODY)
    return found


def move_kinds(which: Ints) -> Ints:
    """Places in MOVE_KINDS, of the shape of the features that are given; -1 stays -1. A yield is a
    pass, and the identity card a set without jokers."""
    context, response = np.divmod(which, RESPONSES)
    jokers = (response >= _SETS + len(_SIZES)) & (response < _REVEALS)
    passes = np.isin(response, (VERB_ID["pass"], VERB_ID["yield"]))
    owner = (context - _FOLLOW) // int(np.prod(_FOLLOWS[1:]))
    kind = 3 + 3 * owner + np.where(passes, 2, jokers)
    kind = np.where(response == VERB_ID["claim"], len(MOVE_KINDS) - 1, kind)
    kind = np.where(context < _FOLLOW, 1 + jokers, kind)
    kind = np.where(context < _LEAD, 0, kind)
    found: Ints = np.where(which < 0, NOBODY, kind)
    return found


def _answers(log: PublicLog, course: Course) -> Ints:
    """How many answers the player had given before each move."""
    own = (log.seats[:, :, None] == np.arange(SEATS)) & ~course.playing[:, :, None]
    before = own.cumsum(axis=1) - own
    seats = np.maximum(log.seats, 0).astype(np.intp)[:, :, None]
    number: Ints = np.take_along_axis(before, seats, axis=2)[:, :, 0]
    return np.minimum(number, ANSWERS - 1)


def _contexts(log: PublicLog, course: Course, emperor: Ints) -> Ints:
    king = emperor[:, None]
    seat, owner = log.seats.astype(np.int64), course.owner.astype(np.int64)
    lead = course.standing == NOBODY
    kings = np.take_along_axis(course.sizes, np.maximum(king, 0)[:, :, None], axis=2)[:, :, 0]
    leads = _LEAD + 2 * ((seat + 1) % SEATS == king) + (kings <= FEW)

    beats = (log.actions >= SET) & ~lead & (owner == king) & (seat != king)
    foe = ((seat[:, :, None] == np.arange(SEATS)) & beats[:, :, None]).cumsum(axis=1) > 0
    owners_foe = np.take_along_axis(foe, np.maximum(owner, 0)[:, :, None], axis=2)[:, :, 0]
    whose = np.where(owner == king, 0, np.where(owners_foe, 1, 2))
    parts = PARTS_OF[np.maximum(course.standing, SET)].astype(np.int64)
    jokers = parts[..., 2] + parts[..., 3] + (course.standing >= SET_IDENTITY)
    rank = parts[..., 0]
    height = np.select([jokers > 0, rank <= _TEN, rank <= _ACE], [3, 0, 1], 2)
    size = np.clip(parts[..., 1] + jokers, 1, len(_SIZES)) - 1
    circle = np.minimum(course.circle.astype(np.int64), 2) - 1
    follow = _FOLLOW + np.ravel_multi_index((whose, height, size, circle), _FOLLOWS)
    out: Ints = np.where(lead, leads, follow)
    return out


def _responses(actions: Ints) -> Ints:
    parts = PARTS_OF[np.maximum(actions, SET)].astype(np.int64)
    jokers = parts[..., 2] + parts[..., 3]
    size = np.clip(parts[..., 1] + jokers, 1, len(_SIZES)) - 1
    sets = _SETS + size + len(_SIZES) * (jokers > 0)
    sets = np.where(actions >= SET_IDENTITY, _REVEALS, sets)
    words = np.where(actions < CALL, np.maximum(actions, 0), _CALLS)
    out: Ints = np.where(actions >= SET, sets, words)
    return out


assert VERB_ID["pass"] == 0
