"""Baohuang's table: roles, called card, crown, solo, pile, votes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.hidden import known_roles
from lupai.envs.baohuang.notation import standing_text
from lupai.envs.baohuang.state import SOLO_NAMES, Solo
from lupai.envs.cards import KIND_TEXTS, cards_of_counts, shorten
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.envs.view import View
from lupai.train.cli.tables import GameTable
from lupai.train.cli.words import Words, flow, pad, seat_name

_ROLES: Final = ("emperor", "guard", "rebel")


class Baohuang:
    """See :class:`~lupai.train.cli.tables.GameTable`."""

    sizes_public = True

    def header(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Rules, called card, multiplier, solo and pile."""
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

    def roles(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Roles that the viewer knows; the true ones with all cards open."""
        roles = _true_roles(state)
        if me is not None:
            roles = known_roles(state, np.zeros(1, np.intp), np.array([me]))[0][0]
        nobody = words("unknown" if state.emperor[0] != NOBODY else "no_role")
        return [words(_ROLES[int(row.argmax())]) if row.any() else nobody for row in roles]

    def sizes(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Everybody counts."""
        return [words("cards", size) for size in state.sizes[0]]

    def marks(self, state: Any, seat: int, words: Words) -> list[str]:
        """Crown, pass, yield, claim, place."""
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

    def question(self, view: View, words: Words) -> str:
        """A bid, a lead or a set to beat."""
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

    def beat(self, state: Any, words: Words) -> list[str]:
        """The set with its circle; votes."""
        out = []
        if state.standing[0] != NOBODY:
            beat = words.cards(standing_text(state, 0))
            out.append(words("beat", beat, words("seat", state.owner[0]), state.circle[0]))
        if state.votes[0]:
            out.append(words("votes", state.votes[0]))
        return out

    def result(self, state: Any, info: dict[str, Any], me: int | None, words: Words) -> list[str]:
        """Roles, places and scores, all public by then."""
        roles, scores = info["roles"], info["scores"]
        out = ["", words("result")]
        if roles["emperor"] is None:
            return [*out, words("void")]
        if not info["finish"]:
            out.append(words("refused"))
        for seat, score in enumerate(scores):
            role = "rebel"
            for name in ("emperor", "guard"):
                if roles[name] == seat:
                    role = name
            if seat in info["finish"]:
                place = words.place(info["finish"].index(seat) + 1)
            else:  # an early end, or nobody took the crown
                place = words("still_in") if info["finish"] else ""
            name = pad(seat_name(words, seat, me), 14)
            out.append(f"  {name}{pad(words(role), 10)}{pad(place, 10)}{score:+d}")
        return out


def _true_roles(state: Any) -> npt.NDArray[np.bool_]:
    """``[S, 3]`` emperor, guard, rebel."""
    seats = np.arange(state.sizes.shape[1])
    roles = np.zeros((len(seats), 3), bool)
    if state.emperor[0] != NOBODY:
        roles[:, 0] = seats == state.emperor[0]
        roles[:, 1] = seats == state.guard[0]
        roles[:, 2] = ~roles[:, 0] & ~roles[:, 1]
    return roles


def _alone(state: Any, me: int | None) -> str:
    if state.solo[0] != Solo.SECRET:
        return str(SOLO_NAMES[state.solo[0]])
    if state.public[0]:
        return "known"
    return "secret" if me is not None else "hidden"


TABLE: Final[GameTable] = Baohuang()
