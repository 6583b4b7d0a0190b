"""Positions of ``lupai legal --game gouji``, and the legal moves in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lupai.envs.cards import KIND_TEXTS, NUM_KINDS, NUM_RANKS, RANK_OF_KIND, parse_cards, shorten
from lupai.envs.gouji.legal import BURNING, DUTY, FREE, sets_of, verb_mask
from lupai.envs.gouji.notation import ordered_texts
from lupai.envs.gouji.rules import DEFAULT_PRESET, Rules, load_rules
from lupai.envs.gouji.sets import DEAD, GoujiSet
from lupai.envs.seats import NOBODY
from lupai.train.cli.positions import PositionError

__all__ = ["FLAGS", "GoujiPosition", "legal_moves", "read_position"]

FLAGS: Final = {
    "burning": "he is asked whether he burns the set (烧牌)",
    "duty": "he has burned, and has to go on so",
    "headless": "he is headless (无头)",
    "may_yield": "he may let the two behind him go first (让牌)",
    "melee": "四人乱缠: no burning, no yield",
}
COPIES: Final = 4


@dataclass(frozen=True)
class GoujiPosition:
    """A player to move.

    Attributes:
        ranks: ``[15]`` cards held by rank.
        standing: place of the set to beat, -1 for a lead.
        mode: of :func:`lupai.envs.gouji.legal.sets_of`.
        verbs: word of the verbs that are legal.
    """

    ranks: tuple[int, ...]
    standing: int
    mode: int
    verbs: int


def read_position(data: dict[str, Any], rules: str = DEFAULT_PRESET) -> GoujiPosition:
    """Read the fields of a position; ``hand`` is needed, the flags are false without mention.

    Raises:
        LupaiError: a field of a wrong type or that cannot be read, or fields that contradict
            each other or the rules.
    """
    if "hand" not in data:
        raise PositionError("field 'hand' is missing")
    hand, standing = data["hand"], data.get("standing")
    source = data.get("rules", rules)
    if not isinstance(hand, str):
        raise PositionError(f"field 'hand': cards as text, not {shorten(repr(hand))}")
    if standing is not None and not isinstance(standing, str):
        raise PositionError(f"field 'standing': a set or null, not {shorten(repr(standing))}")
    if isinstance(source, str) and source.endswith((".yaml", ".yml")):
        raise PositionError(f"rules {shorten(source)!r}: a line names no file; write the options")
    flags = {name: data.get(name, False) for name in FLAGS}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise PositionError(f"field {name!r}: true or false, not {shorten(repr(value))}")
    table = _rules(source if isinstance(source, str) else json.dumps(source))
    _check_sense(standing, flags)
    place = NOBODY if standing is None else GoujiSet.parse(standing).place
    if place != NOBODY and DEAD[place]:
        raise PositionError(
            f"standing {standing!r}: a dead set (死牌), about which nobody is asked"
        )
    mode, verbs = FREE, verb_mask()
    if flags["burning"]:
        mode, verbs = BURNING, verb_mask("silent")
    elif place != NOBODY:
        verbs = verb_mask("pass", "yield") if flags["may_yield"] else verb_mask("pass")
    if flags["duty"] and table.burn_fail is None:
        mode = DUTY
    return GoujiPosition(_read_hand(hand), place, mode, int(verbs))


@lru_cache(maxsize=64)
def _rules(source: str) -> Rules:
    return load_rules(json.loads(source) if source.startswith("{") else source)


def _check_sense(standing: str | None, flags: dict[str, bool]) -> None:
    given = [name for name, value in flags.items() if value]
    for name in given:
        if standing is None and name in ("burning", "may_yield"):
            raise PositionError(f"{name} without standing: a leader is not asked about a set")
        if standing is not None and name == "duty":
            raise PositionError("duty with standing: it ends when another beats one of his sets")
        if name != "melee" and flags["melee"] and name != "headless":
            raise PositionError(f"{name} in the melee: there is no burning and no yield in it")
        if name in ("burning", "may_yield") and flags["headless"]:
            raise PositionError(f"{name}: a headless player answers in turn, or not at all")
    if flags["burning"] and flags["may_yield"]:
        raise PositionError("burning and may_yield: about one set he is asked one of both")


def _read_hand(text: str) -> tuple[int, ...]:
    cards = parse_cards(text)
    if not cards:
        raise PositionError("an empty hand: a player without cards is not asked")
    counts, ranks = [0] * NUM_KINDS, [0] * NUM_RANKS
    for kind, starred in cards:
        if starred:
            raise PositionError(f"hand {shorten(text)!r}: a star; Gouji has no marked card")
        counts[kind] += 1
        ranks[RANK_OF_KIND[kind]] += 1
        if counts[kind] > COPIES:
            raise PositionError(
                f"hand {shorten(text)!r}: more than {COPIES} cards {KIND_TEXTS[kind]}"
            )
    return tuple(ranks)


def legal_moves(positions: list[GoujiPosition]) -> list[list[str]]:
    """Legal moves of each position as text, in the order of the contract."""
    if not positions:
        return []
    legal = sets_of(
        np.array([p.ranks for p in positions], np.int8),
        np.array([p.standing for p in positions], np.int32),
        np.array([p.mode for p in positions], np.int8),
    )
    legal.verbs[:] = [p.verbs for p in positions]
    flat, offsets = legal.ids()
    return [ordered_texts(flat[start:stop]) for start, stop in pairwise(offsets.tolist())]
