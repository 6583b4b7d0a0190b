"""The table as text, from one seat's view or, loudly, with all cards."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from lupai.envs.gouji import notation
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.state import PHASE_NAMES, Kind, Phase, State
from lupai.envs.lines import WIDTH, wrap_cards
from lupai.envs.seats import NOBODY

if TYPE_CHECKING:
    from lupai.envs.view import View

RECENT_SHOWN = 8
ANNOUNCED = 10  # cards; 报牌
_KINDS = {Kind.ORDINARY: "", Kind.GOUJI: " (gouji)", Kind.DEATH: " (death)"}


def _header(state: State, rules: str, note: str = "") -> list[str]:
    text = f"Gouji ({rules})  phase: {PHASE_NAMES[state.phase[0]]}"
    if state.melee[0]:
        text += "  melee"
    if state.redeals[0]:
        text += f"  redeals: {state.redeals[0]}"
    return textwrap.wrap(text + note, WIDTH, subsequent_indent="  ")


def _seat_line(state: State, seat: int, me: int | None, sizes: bool) -> str:
    bit = 1 << seat
    marks = [name for name in ("passed", "headless") if getattr(state, name)[0] & bit]
    if state.first_leader[0] == seat and not state.played[0].any():
        marks.append("leads first")
    place = int(state.places[0, seat])
    if place:
        revolter = state.revolter[0] == seat
        marks.append(f"revolted, place {place}" if revolter else f"out, place {place}")
    if state.duty[0] == seat:
        marks.append("burns on")
    if state.owner[0] == seat and state.standing[0] != NOBODY:
        kind = _KINDS[Kind(int(state.kind[0]))]
        marks.append(f"holds the trick with {notation.standing_text(state, 0)}{kind}")
    arrow = ">" if state.actor[0] == seat else " "
    name = f"seat {seat}" + (" (you)" if seat == me else "")
    side = "even" if seat % 2 == 0 else "odd"
    held = int(state.sizes[0, seat])
    count = f"{held:>3} cards" if sizes or seat == me or held <= ANNOUNCED else "  > 10   "
    return (f"{arrow} {name:<13}{side:<6}{count}  " + ", ".join(marks)).rstrip()


def render_view(view: View) -> str:
    """The table as its seat may see it, at most 80 columns wide, ASCII only."""
    state = view.state
    sizes = view.engine.rules.hand_sizes == "always" or state.phase[0] == Phase.OVER
    lines = _header(state, view.rules)
    lines += [_seat_line(state, seat, view.seat, sizes) for seat in range(SEATS)]
    if view.history:
        lines.append("Last moves: " + view.history[-1])
        lines += [" " * 12 + move for move in view.history[-2 : -RECENT_SHOWN - 1 : -1]]
    lines.append("Your hand:" if view.hand else "Your hand: none")
    if view.hand:
        lines += wrap_cards(view.hand, "  ")
    return "\n".join(lines)


def render_gods_eye(state: State, rules: str) -> str:
    """WARNING: all hands."""
    lines = _header(state, rules, "  [GOD'S EYE: all hands]")
    for seat in range(SEATS):
        lines.append(_seat_line(state, seat, None, sizes=True))
        lines += wrap_cards(notation.hand_texts(state, 0, seat), "      ")
    return "\n".join(lines)
