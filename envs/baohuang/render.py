"""The table as text, from one seat's view or, loudly, with all cards."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from lupai.envs.baohuang import notation
from lupai.envs.baohuang.hidden import known_roles
from lupai.envs.baohuang.state import PHASE_NAMES, SEATS, SOLO_NAMES, Solo, State
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.lines import WIDTH, wrap_cards
from lupai.envs.seats import NOBODY

if TYPE_CHECKING:
    from lupai.envs.view import View

RECENT_SHOWN = 8
_ROLES = ("emperor", "guard", "rebel")


def _header(state: State, rules: str, note: str = "") -> list[str]:
    phase = PHASE_NAMES[state.phase[0]]
    text = f"Baohuang ({rules})  phase: {phase}"
    if state.redeals[0]:
        text += f"  redeals: {state.redeals[0]}"
    kind = int(state.identity_kind[0])
    if kind != NOBODY and state.shown[0, kind]:  # not where marks make the roles
        text += f"  called: {KIND_TEXTS[kind]}"
    if state.multiplier[0] > 1:
        text += f"  score x{state.multiplier[0]}"
    return textwrap.wrap(text + note, WIDTH, subsequent_indent="  ")  # rules may name a deck


def _seat_line(state: State, seat: int, roles: list[str], me: int | None) -> str:
    marks = []
    bit = 1 << seat
    if state.crown[0] == seat and state.emperor[0] == NOBODY:
        marks.append("holds R*")
    marks += [n for n in ("passed", "yielded", "claimed") if getattr(state, n)[0] & bit]
    place = int(state.places[0, seat])
    if place:
        marks.append(f"out, place {place}")
    if state.owner[0] == seat and state.standing[0] != NOBODY:
        beat = notation.standing_text(state, 0)
        marks.append(f"holds the trick with {beat}")
    arrow = ">" if state.actor[0] == seat else " "
    name = f"seat {seat}" + (" (you)" if seat == me else "")
    line = f"{arrow} {name:<13}{roles[seat]:<9}{state.sizes[0, seat]:>3} cards  "
    return (line + ", ".join(marks)).rstrip()


def _roles(state: State, viewer: int) -> list[str]:
    known, _ = known_roles(state, np.zeros(1, np.intp), np.array([viewer]))
    return [
        _ROLES[int(row.argmax())] if row.any() else ("?" if state.emperor[0] != NOBODY else "-")
        for row in known[0]
    ]


def render_view(view: View) -> str:
    """The table as its seat may see it, at most 80 columns wide, ASCII only."""
    state = view.state
    lines = _header(state, view.rules)
    solo = Solo(int(state.solo[0]))
    if solo:
        lines.append(f"The emperor plays alone ({SOLO_NAMES[solo]}).")
    roles = _roles(state, view.seat)
    lines += [_seat_line(state, seat, roles, view.seat) for seat in range(SEATS)]
    if view.history:
        lines.append("Last moves: " + view.history[-1])
        lines += [" " * 12 + move for move in view.history[-2 : -RECENT_SHOWN - 1 : -1]]
    lines.append("Your hand:" if view.hand else "Your hand: none")
    if view.hand:
        lines += wrap_cards(view.hand, "  ")
    return "\n".join(lines)


def render_gods_eye(state: State, rules: str) -> str:
    """WARNING: all hands and true roles."""
    lines = _header(state, rules, "  [GOD'S EYE: all hands]")
    roles = ["-"] * SEATS
    if state.emperor[0] != NOBODY:
        roles = ["rebel"] * SEATS
        roles[state.emperor[0]] = "emperor"
        if state.guard[0] != NOBODY:
            roles[state.guard[0]] = "guard"
    for seat in range(SEATS):
        lines.append(_seat_line(state, seat, roles, None))
        lines += wrap_cards(notation.hand_texts(state, 0, seat), "      ")
    return "\n".join(lines)
