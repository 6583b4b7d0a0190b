"""The table as a person at it sees it, from his view alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.hidden import known_roles
from lupai.envs.baohuang.state import SOLO_NAMES, Solo
from lupai.envs.cards import KIND_TEXTS, cards_of_counts, shorten
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.envs.view import View
from lupai.train.cli.words import Words, flow, pad

SHOWN: Final = 20  # moves of a list before it is cut
_ROLES: Final = ("emperor", "guard", "rebel")


def seat_name(words: Words, seat: int, me: int | None) -> str:
    """A seat by its number, oneself marked."""
    name = words("seat", seat)
    return f"{name} ({words('you')})" if seat == me else name


def show_table(view: View, words: Words) -> list[str]:
    """The table, the own hand last; lines of at most 80 columns."""
    known, _ = known_roles(view.state, np.zeros(1, np.intp), np.array([view.seat]))
    return [
        *table_header(view.engine, view.state, words, view.seat),
        *_seats(view.state, known[0], words, view.seat),
        *show_hand(view.hand, words("hand", len(view.hand)), words),
    ]


def show_open(engine: Game, state: Any, words: Words) -> list[str]:
    """WARNING, god's eye: the table with all hands and true roles."""
    seats = np.arange(engine.seats)
    roles = np.zeros((engine.seats, 3), bool)
    if state.emperor[0] != NOBODY:
        roles[:, 0] = seats == state.emperor[0]
        roles[:, 1] = seats == state.guard[0]
        roles[:, 2] = ~roles[:, 0] & ~roles[:, 1]
    out = [*table_header(engine, state, words, None), *_seats(state, roles, words, None)]
    for seat in range(engine.seats):
        hand = engine.hand_texts(state, 0, seat)
        out += show_hand(hand, f"{words('seat', seat)}:", words)
    return out


def table_header(engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
    """Rules, called card, multiplier, solo and pile, as a seat or (None) everybody knows them."""
    parts = [f"{words('title')} ({shorten(str(engine.rules))})"]
    if state.identity_kind[0] != NOBODY and not engine.rules.needs_marked_b:
        parts.append(words("called", words.card(KIND_TEXTS[state.identity_kind[0]])))
    if state.multiplier[0] > 1:
        parts.append(words("multiplier", state.multiplier[0]))
    out = flow(parts, indent="", gap="  ")
    if state.solo[0] != Solo.NONE:
        out.append(words(f"alone_{_alone(state, me)}"))
    if state.pile[0].any() and state.emperor[0] == NOBODY:
        cards = [words.card(card) for card in cards_of_counts(state.pile[0])]
        out.append(words("pile", " ".join(cards)))
    return out


def _alone(state: Any, me: int | None) -> str:
    if state.solo[0] != Solo.SECRET:
        return str(SOLO_NAMES[state.solo[0]])
    if state.public[0]:
        return "known"
    return "secret" if me is not None else "hidden"


def seat_marks(state: Any, seat: int, words: Words) -> list[str]:
    """What is to be said of a seat: crown, pass, yield, claim, place."""
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
    return marks


def role_names(state: Any, roles: npt.NDArray[np.bool_], words: Words) -> list[str]:
    """Roles ``[S, 3]`` (emperor, guard, rebel) by name."""
    nobody = words("unknown" if state.emperor[0] != NOBODY else "no_role")
    return [words(_ROLES[int(row.argmax())]) if row.any() else nobody for row in roles]


def _seats(state: Any, roles: npt.NDArray[np.bool_], words: Words, me: int | None) -> list[str]:
    out = []
    for seat, role in enumerate(role_names(state, roles, words)):
        arrow = ">" if state.actor[0] == seat else " "
        name = seat_name(words, seat, me)
        marks = ", ".join(seat_marks(state, seat, words))
        out.append(
            f"{arrow} {pad(name, 14)}{pad(role, 10)}"
            f"{pad(words('cards', state.sizes[0, seat]), 10)}{marks}".rstrip()
        )
    return out


def show_hand(hand: list[str], title: str, words: Words) -> list[str]:
    """A hand, its cards by rank."""
    groups: dict[str, list[str]] = {}
    for card in hand:
        groups.setdefault(card[0], []).append(words.card(card))
    return [title, *flow((" ".join(cards) for cards in groups.values()), gap="   ")]


def show_question(view: View, words: Words) -> str:
    """What is asked of him."""
    state = view.state
    if view.phase != "play":
        question = words(f"ask_{view.phase}")
        votes = int(state.votes[0])
        return f"{question} ({words('votes', votes)})" if votes else question
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
