"""The table as a person at it sees it, from his view alone."""

from __future__ import annotations

from typing import Final

import numpy as np

from lupai.envs.baohuang.hidden import known_roles
from lupai.envs.baohuang.state import SOLO_NAMES, Solo
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.seats import NOBODY
from lupai.envs.view import View
from lupai.train.cli.words import Words, flow, pad

SHOWN: Final = 20  # moves of a list before it is cut
_ROLES: Final = ("emperor", "guard", "rebel")


def seat_name(words: Words, seat: int, me: int) -> str:
    """A seat by its number, oneself marked."""
    name = words("seat", seat)
    return f"{name} ({words('you')})" if seat == me else name


def show_table(view: View, words: Words) -> list[str]:
    """The table, the own hand last; lines of at most 80 columns."""
    return [*_header(view, words), *_seats(view, words), *_hand(view, words)]


def _header(view: View, words: Words) -> list[str]:
    state = view.state
    parts = [f"{words('title')} ({view.rules})"]
    if state.identity_kind[0] != NOBODY:
        parts.append(words("called", words.card(KIND_TEXTS[state.identity_kind[0]])))
    if state.multiplier[0] > 1:
        parts.append(words("multiplier", state.multiplier[0]))
    out = flow(parts, indent="", gap="  ")
    if state.solo[0] != Solo.NONE:
        out.append(words(f"alone_{SOLO_NAMES[state.solo[0]]}"))
    return out


def _seats(view: View, words: Words) -> list[str]:
    state, me = view.state, view.seat
    known, _ = known_roles(state, np.zeros(1, np.intp), np.array([me]))
    nobody = "unknown" if state.emperor[0] != NOBODY else "no_role"
    out = []
    for seat, row in enumerate(known[0]):
        role = _ROLES[int(row.argmax())] if row.any() else nobody
        marks = []
        if state.crown[0] == seat and state.emperor[0] == NOBODY:
            marks.append(words("crown"))
        marks += [
            words(name)
            for name in ("passed", "yielded", "claimed")
            if getattr(state, name)[0] >> seat & 1
        ]
        if place := int(state.places[0, seat]):
            marks.append(words("place", place))
        arrow = ">" if state.actor[0] == seat else " "
        out.append(
            f"{arrow} {pad(seat_name(words, seat, me), 14)}{pad(words(role), 10)}"
            f"{pad(words('cards', state.sizes[0, seat]), 10)}{', '.join(marks)}".rstrip()
        )
    return out


def _hand(view: View, words: Words) -> list[str]:
    groups: dict[str, list[str]] = {}
    for card in view.hand:
        groups.setdefault(card[0], []).append(words.card(card))
    return [
        words("hand", len(view.hand)),
        *flow((" ".join(cards) for cards in groups.values()), gap="   "),
    ]


def show_question(view: View, words: Words) -> str:
    """What is asked of him."""
    state = view.state
    if view.phase != "play":
        return words(f"ask_{view.phase}")
    if state.standing[0] == NOBODY:
        return words("lead")
    beat = view.move_of(int(state.standing[0])).removeprefix("play ")
    owner = words("seat", state.owner[0])
    return words("to_beat", words.cards(beat), owner, state.circle[0])


def shortlist(legal: list[str]) -> list[str]:
    """The moves that are worth a number at first sight; the whole list if it is short.

    Of a long list: no jokers and no star, of each rank the largest set.
    """
    if len(legal) <= SHOWN:
        return legal
    verbs = [move for move in legal if not move.startswith("play ")]
    plain = [move for move in legal if move.startswith("play ") and not set("BRX*") & set(move)]
    largest = {move.removeprefix("play ")[0]: move for move in plain}  # sizes come ascending
    best = sorted(largest.values(), key=legal.index) if len(plain) + len(verbs) > SHOWN else plain
    return (verbs + best)[:SHOWN] or legal[:SHOWN]


def show_moves(moves: list[str], words: Words) -> list[str]:
    """Moves with their numbers."""
    texts = [f"{i}) {words.move(move)}" for i, move in enumerate(moves, 1)]
    return flow(texts, gap="   ")
