"""Gouji's table: sides, headless players, burners, revolution, tribute."""

from __future__ import annotations

from typing import Any, Final

from lupai.envs.cards import KIND_TEXTS, shorten
from lupai.envs.game import Game
from lupai.envs.gouji.notation import standing_text
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.render import ANNOUNCED
from lupai.envs.gouji.scoring import SWEEP
from lupai.envs.gouji.state import Kind, Phase
from lupai.envs.seats import NOBODY
from lupai.envs.view import View
from lupai.train.cli.tables import GameTable
from lupai.train.cli.words import Words, flow, pad, seat_name

_KINDS: Final = {Kind.GOUJI: "gouji", Kind.DEATH: "death"}


class Gouji:
    """See :class:`~lupai.train.cli.tables.GameTable`."""

    sizes_public = False

    def header(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """Rules, revolution, disorder, and the hand before."""
        parts = [f"{words('title')} ({shorten(str(engine.rules))})"]
        if state.revolter[0] != NOBODY:
            parts.append(words("revolution", words("seat", state.revolter[0])))
        if state.melee[0]:
            parts.append(words("melee"))
        if state.previous[0, 0] != NOBODY:
            parts.append(words("previous", " ".join(map(str, state.previous[0].tolist()))))
        return flow(parts, indent="", gap="  ")

    def roles(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """The sides."""
        return [words("odd" if seat % 2 else "even") for seat in range(SEATS)]

    def sizes(self, engine: Game, state: Any, words: Words, me: int | None) -> list[str]:
        """The own hand, and what is announced (报牌)."""
        told = me is None or engine.rules.hand_sizes == "always" or state.phase[0] == Phase.OVER
        return [
            words("cards", size)
            if told or seat == me or size <= ANNOUNCED
            else words("many", ANNOUNCED)
            for seat, size in enumerate(state.sizes[0].tolist())
        ]

    def marks(self, state: Any, seat: int, words: Words) -> list[str]:
        """First leader, pass, headless, burner, 够死级, tribute, place."""
        marks = []
        if state.first_leader[0] == seat and not state.played[0].any():
            marks.append(words("leads_first"))
        marks += [
            words(name) for name in ("passed", "headless") if getattr(state, name)[0] >> seat & 1
        ]
        if state.duty[0] == seat:
            marks.append(words("duty"))
        revolter = int(state.revolter[0])
        if state.deaths[0] and revolter != NOBODY and seat == (revolter + SEATS // 2) % SEATS:
            marks.append(words("deaths", state.deaths[0]))
        if state.owes[0, seat]:
            marks.append(words("owes", state.owes[0, seat]))
        if place := int(state.places[0, seat]):
            marks.append(words("revolted" if seat == revolter else "place", place))
        return marks

    def question(self, view: View, words: Words) -> str:
        """Tribute, revolution, a lead, a set to beat or to burn."""
        state = view.state
        if view.phase == "offer":
            return words("ask_offer", words("seat", state.giver[0, view.seat]))
        if view.phase == "answer_offer":
            return words("ask_answer_offer", words.card(KIND_TEXTS[state.offered[0]]))
        if view.phase != "play":
            return words(f"ask_{view.phase}")
        if state.standing[0] == NOBODY:
            bound = state.duty[0] == view.seat and view.engine.rules.burn_fail is None
            return words("lead_duty" if bound else "lead")
        return words("ask_burn" if state.burning[0] else "to_beat", *_standing(state, words))

    def beat(self, state: Any, words: Words) -> list[str]:
        """The set, whether burners are asked, the card that is offered."""
        out = []
        if state.standing[0] != NOBODY:
            out.append(words("to_beat", *_standing(state, words)))
        if state.burning[0]:
            out.append(words("burn_asked"))
        if state.offered[0] != NOBODY:
            out.append(words("offered", words.card(KIND_TEXTS[state.offered[0]])))
        return out

    def result(self, state: Any, info: dict[str, Any], me: int | None, words: Words) -> list[str]:
        """Places, scores, and what the sides record."""
        out = ["", words("result")]
        if state.void[0]:
            return [*out, words("void")]
        for seat, score in enumerate(info["scores"]):
            number = int(state.places[0, seat])
            place = words.place(number) if number else words("still_in")  # an early end
            side = words("odd" if seat % 2 else "even")
            revolted = words("laid_down") if seat == info["revolter"] else ""
            name = pad(seat_name(words, seat, me), 14)
            line = f"  {name}{pad(side, 10)}{pad(place, 10)}{score:+d}"
            out.append(f"{pad(line, 40)}  {revolted}".rstrip())
        points = max(info["recorded"])
        if not points:
            return [*out, words("draw")]
        side = words(("even", "odd")[info["recorded"].index(points)])
        sweep = words("sweep") if points == SWEEP else ""
        return [*out, words("recorded", side, points) + sweep]


def _standing(state: Any, words: Words) -> tuple[str, str, str]:
    """The set to beat, whose it is, and how it may be answered."""
    kind = _KINDS.get(Kind(int(state.kind[0])))
    beat = words.cards(standing_text(state, 0))
    return beat, words("seat", state.owner[0]), words(kind) if kind else ""


TABLE: Final[GameTable] = Gouji()
