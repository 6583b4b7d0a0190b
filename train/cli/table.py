"""The table as a person at it sees it, from his view alone."""

from __future__ import annotations

from typing import Any, Final

from lupai.envs.game import Game
from lupai.envs.view import View
from lupai.train.cli.tables import table_of
from lupai.train.cli.words import WIDTH, Words, flow, pad, seat_name, width

SHOWN: Final = 20  # moves of a list before it is cut


def show_table(view: View, words: Words) -> list[str]:
    """The table, the own hand last; lines of at most 80 columns."""
    return [
        *_seats(view.engine, view.state, words, view.seat),
        *show_hand(view.hand, words("hand", len(view.hand)), words),
    ]


def show_open(engine: Game, state: Any, words: Words) -> list[str]:
    """WARNING, god's eye: the table with all hands and true roles."""
    out = _seats(engine, state, words, None)
    for seat in range(engine.seats):
        hand = engine.hand_texts(state, 0, seat)
        out += show_hand(hand, f"{words('seat', seat)}:", words)
    return out


def _seats(engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
    """What stands above the hands."""
    table = table_of(engine)
    out = table.header(engine, state, words, me)
    roles = table.roles(engine, state, words, me)
    sizes = table.sizes(engine, state, words, me)
    for seat, (role, size) in enumerate(zip(roles, sizes, strict=True)):
        arrow = ">" if state.actor[0] == seat else " "
        name = seat_name(words, seat, me)
        line = f"{arrow} {pad(name, 14)}{pad(role, 10)}{pad(size, 10)}"
        rest = ", ".join(marks := table.marks(state, seat, words))
        if width(line + rest) > WIDTH:
            indent = " " * width(line)
            first, *more = flow([mark + "," for mark in marks], indent=indent, gap=" ")
            out += [line + first.lstrip(), *more]
            out[-1] = out[-1].removesuffix(",")
        else:
            out.append((line + rest).rstrip())
    return out


def show_hand(hand: list[str], title: str, words: Words) -> list[str]:
    """A hand, its cards by rank."""
    groups: dict[str, list[str]] = {}
    for card in hand:
        groups.setdefault(card[0], []).append(words.card(card))
    return [title, *flow((" ".join(cards) for cards in groups.values()), gap="   ")]


def show_question(view: View, words: Words) -> str:
    """What is asked of him."""
    return table_of(view.engine).question(view, words)


def shortlist(legal: list[str]) -> list[str]:
    """The moves that are worth a number at first sight; the whole list if it is short.

    Of a long list: no jokers, no star and nothing attached, of each rank the largest set.
    """
    if len(legal) <= SHOWN:
        return legal
    verbs = [move for move in legal if not move.startswith("play ")]
    plain = [move for move in legal if move.startswith("play ") and _plain(move)]
    largest = {move.removeprefix("play ")[0]: move for move in plain}  # sizes come ascending
    best = sorted(largest.values(), key=legal.index) if len(plain) + len(verbs) > SHOWN else plain
    return (verbs + best)[:SHOWN] or legal[:SHOWN]


def _plain(move: str) -> bool:
    """Natural cards of one rank and nothing else."""
    cards = set(move.removeprefix("play "))
    return len(cards) == 1 and not cards & set("BRX*")


def show_moves(moves: list[str], words: Words) -> list[str]:
    """Moves with their numbers."""
    texts = [f"{i}) {words.move(move)}" for i, move in enumerate(moves, 1)]
    return flow(texts, gap="   ")
