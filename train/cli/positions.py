"""Positions of ``lupai legal``: a player in a trick, read from JSON values and checked."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from lupai.envs.baohuang.actions import ACTIONS, Move
from lupai.envs.baohuang.play import trick_verbs
from lupai.envs.baohuang.roles import COPIES
from lupai.envs.baohuang.rules import DEFAULT_PRESET, Rules, load_rules
from lupai.envs.baohuang.sets import parse_set
from lupai.envs.cards import (
    KIND_B,
    KIND_TEXTS,
    NUM_KINDS,
    NUM_RANKS,
    RANK_OF_KIND,
    parse_cards,
    shorten,
)  # fmt: skip
from lupai.envs.errors import LupaiError, NotationError
from lupai.envs.seats import NOBODY

_FILE_ENDINGS: Final = (".yaml", ".yml")


class PositionError(LupaiError, ValueError):
    """A position that makes no sense."""


@dataclass(frozen=True)
class Position:
    """A player to move: what ``legal_moves`` needs of him.

    Attributes:
        rules: of the table.
        ranks: ``[15]`` cards held by rank.
        identity: rank of the identity card, where he holds it and it makes a difference, else -1.
        standing: action id of the set to beat, -1 for a lead.
        verbs: word of the verbs that are legal.
    """

    rules: Rules
    ranks: tuple[int, ...]
    identity: int
    standing: int
    verbs: int


def read_position(data: dict[str, Any], rules: str = DEFAULT_PRESET) -> Position:
    """Read the fields of a position; ``hand`` is needed, the others have their usual values.

    Raises:
        LupaiError: a field of a wrong type or that cannot be read, or fields that contradict
            each other or the rules.
    """
    source, hand = data.get("rules", rules), data.get("hand")
    standing, circle = data.get("standing"), data.get("circle", 1)
    claimable, public = data.get("claimable", False), data.get("public", False)
    if "hand" not in data:
        raise PositionError("field 'hand' is missing")
    if not isinstance(hand, str):
        raise PositionError(f"field 'hand': cards as text, not {shorten(repr(hand))}")
    if standing is not None and not isinstance(standing, str):
        raise PositionError(f"field 'standing': a set or null, not {shorten(repr(standing))}")
    if isinstance(circle, bool) or circle not in (1, 2):
        raise PositionError(f"field 'circle': 1 or 2, not {shorten(repr(circle))}")
    for name, value in (("claimable", claimable), ("public", public)):
        if not isinstance(value, bool):
            raise PositionError(f"field {name!r}: true or false, not {shorten(repr(value))}")
    if isinstance(source, str) and source.endswith(_FILE_ENDINGS):
        raise PositionError(f"rules {shorten(source)!r}: a line names no file; write the options")
    house = _house(source, False) if isinstance(source, str) else _house(json.dumps(source), True)
    _check_sense(house.rules, standing, circle, claimable)
    ranks, identity = _read_hand(house, hand, public)
    action = _read_standing(house.rules, standing)
    verbs = house.verbs[min(action, 0), circle, int(claimable)]
    return Position(house.rules, ranks, identity, action, verbs)


class _House:
    """Rules, and what every position under them asks."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.copies: list[int] = rules.cards.counts.tolist()
        answers = itertools.product((NOBODY, 0), (1, 2), (0, 1))
        self.verbs = {a: int(trick_verbs(rules, *(np.array([v]) for v in a))[0]) for a in answers}


@lru_cache(maxsize=64)
def _house(source: str, is_json: bool) -> _House:
    return _House(load_rules(json.loads(source) if is_json else source))


def _check_sense(rules: Rules, standing: str | None, circle: int, claimable: bool) -> None:
    if standing is None and claimable:
        raise PositionError("claimable without standing: only the next player after a set claims")
    if standing is None and circle == 2:
        raise PositionError("circle 2 without standing: a leader is not asked twice")
    if claimable and circle == 2:
        raise PositionError("claimable in circle 2: the lead is claimed in circle 1")
    if circle == 2 and not rules.yield_:
        raise PositionError(f"circle 2: rules {shorten(str(rules))!r} have no yield")
    if claimable and not rules.claim:
        raise PositionError(f"claimable: rules {shorten(str(rules))!r} have no claim")


def _read_hand(house: _House, text: str, public: bool) -> tuple[tuple[int, ...], int]:
    cards = parse_cards(text)
    if not cards:
        raise PositionError("an empty hand: a player without cards is not asked")
    counts, ranks, identity = [0] * NUM_KINDS, [0] * NUM_RANKS, NOBODY
    for kind, starred in cards:
        counts[kind] += 1
        ranks[RANK_OF_KIND[kind]] += 1
        if counts[kind] > house.copies[kind]:
            raise PositionError(
                f"hand {shorten(text)!r}: more than {house.copies[kind]} cards {KIND_TEXTS[kind]}"
            )
        if starred:
            if identity != NOBODY:
                raise NotationError(f"hand {shorten(text)!r}: two stars; one card is the identity")
            _check_star(house, text, kind, public)
            identity = int(RANK_OF_KIND[kind])
    return tuple(ranks), identity


def _check_star(house: _House, text: str, kind: int, public: bool) -> None:
    if public and not house.rules.supreme:
        raise PositionError(
            f"hand {shorten(text)!r}: a star, but the identity is public: then it is an ordinary "
            f"card"
        )
    if house.rules.needs_marked_b and kind != KIND_B:
        raise PositionError(
            f"hand {shorten(text)!r}: a star on {KIND_TEXTS[kind]}, but under rules "
            f"{shorten(str(house.rules))!r} the identity card is B*"
        )
    if not house.rules.needs_marked_b and house.copies[kind] != COPIES:
        raise PositionError(
            f"hand {shorten(text)!r}: a star on {KIND_TEXTS[kind]}, of which the deck has no four "
            f"copies: it cannot be called"
        )


def _read_standing(rules: Rules, text: str | None) -> int:
    if text is None:
        return NOBODY
    cards = parse_set(text)
    if cards.starred:
        raise PositionError(f"standing {text!r}: the set to beat is written without a star")
    if cards.x and not rules.supreme:
        raise PositionError(f"standing {text!r}: rules {shorten(str(rules))!r} have no X")
    return ACTIONS.encode(Move("play", cards=cards))
