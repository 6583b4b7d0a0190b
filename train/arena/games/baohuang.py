"""保皇 (Baohuang) in the arena: an emperor's camp and the rebels, which the calls make."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.state import SEATS, Said, Solo
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.train.arena.caller import CALLINGS, call_hands
from lupai.train.arena.games.base import (
    I64,
    PLACES_AXIS,
    SEATS_AXIS,
    ArenaGame,
    Bools,
    Camps,
    Restriction,
    Step,
    Table,
    Watch,
)
from lupai.train.arena.measures import Ratios, Side

__all__ = ["GAME", "ONLY"]

ROLES: Final = ("emperor", "guard", "rebel", "solo")
# how often each choice was taken where it was offered: (yes, no)
CHOICES: Final = {
    "grab": (Said.GRAB, Said.DECLINE_GRAB),
    "call": (Said.CALL, Said.CEDE),
    "open": (Said.OPEN, Said.SILENT_OPEN),
    "solo": (Said.SOLO, Said.DECLINE_SOLO),
    "abandon": (Said.ABANDON, Said.KEEP),
    "accept": (Said.ACCEPT, Said.REFUSE),
    "declare": (Said.DECLARE, Said.SILENT_DECLARE),
    "oppose": (Said.OPPOSE, Said.SILENT_OPPOSE),
    "niu": (Said.NIU, Said.SILENT_NIU),
    "ti": (Said.TI, Said.SILENT_TI),
}
CAMPS: Final = Camps(
    first="emperor_camp",
    second="rebel_camp",
    both="camp",
    plural="camps",
    names=("emperor", "rebel"),
    share=1,
    score="in camp formats the sum of the camp",
    calling="neutral",
)
TABLES: Final = (
    Table("By role", "roles", "scores", ROLES, "score of a seat, 95 %"),
    Table("By seat", "seats", "scores", tuple("01234"), SEATS_AXIS),
    Table("Won, drawn, lost by camp", "camps", "results"),
    Table("Finishing places", "places", "shares", (*"12345", "in"), PLACES_AXIS),
    Table("Behaviour", "behaviour", "shares", means=("reveal_cards",)),
)
NOTES: Final = (
    "`in`: still held cards when the hand ended. `reveal_cards`: cards that a guard still held "
    "when he became known."
)


def secret_guard(engine: Game, state: Any) -> Bools:
    """``[B]``: there is a guard, and the others do not know who it is."""
    found: Bools = (state.guard != NOBODY) & (state.public == 0)
    return found


def secretly_alone(engine: Game, state: Any) -> Bools:
    """``[B]``: the emperor is alone, and the others do not know it."""
    found: Bools = (state.solo == Solo.SECRET) & (state.public == 0)
    return found


def grabbed(engine: Game, state: Any) -> Bools:
    """``[B]``: the emperor has grabbed the crown."""
    found: Bools = state.solo == Solo.GRAB
    return found


ONLY: Final = {
    "secret_guard": Restriction(
        "the emperor has a guard whom the others do not know", "neutral", secret_guard
    ),
    "solo": Restriction(
        "the emperor is secretly alone; the caller makes it so wherever he can",
        "solo",
        secretly_alone,
    ),
    "grab": Restriction(
        "a seat, drawn by the deal, has grabbed the crown and is alone", "grab", grabbed
    ),
}


class BaohuangWatch(Watch):
    """Roles, what was said, and when guards became known.

    Columns: ``emperor``, ``guard`` ``[H]`` seats, -1 for nobody; ``solo`` ``[H]`` how the emperor
    was alone, 0 if he was not; ``said [H, 5]`` bits of :class:`~lupai.envs.baohuang.state.Said`;
    ``reveal [H]`` cards that the guard still held when everybody learned who it is, -1: that was
    not before the end.
    """

    def __init__(self, engine: Game, state: Any) -> None:
        super().__init__(engine, state)
        self._reveal = np.full(len(state), -1, np.int8)

    def before(self, actions: I64, rows: I64) -> Bools:
        """Who is guard is hidden."""
        hidden: Bools = np.asarray(self.state.public)[rows] == 0
        return hidden

    def after(self, rows: I64, seen: Bools) -> None:
        """And now it is not."""
        state = self.state
        known = seen & (state.public[rows] == 1) & (state.guard[rows] != NOBODY)
        if known.any():
            at = rows[known & ~state.over[rows]]
            self._reveal[at] = state.sizes[at, state.guard[at].astype(np.intp)]

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """See the class."""
        state = self.state
        return {
            "emperor": state.emperor.astype(np.int8),
            "guard": state.guard.astype(np.int8),
            "solo": state.solo.astype(np.int8),
            "said": state.said.copy(),
            "reveal": self._reveal,
        }


class Baohuang(ArenaGame):
    """See the module's text."""

    def first_camp(self, tables: Any) -> Bools:
        """Emperor and guard."""
        seats = np.arange(self.seats)
        emperor, guard = np.asarray(tables.emperor)[:, None], np.asarray(tables.guard)[:, None]
        found: Bools = (seats == emperor) | (seats == guard)
        return found

    def played(self, hands: Any) -> Bools:
        """Hands with an emperor."""
        found: Bools = hands.emperor >= 0
        return found

    def situation(self, hands: Any) -> I64:
        """How the emperor was alone, or with a guard."""
        found: I64 = hands.solo.astype(np.intp)
        return found

    def call(self, engine: Game, state: Any, calling: str, step: Step | None = None) -> None:
        """See :func:`lupai.train.arena.caller.call_hands`."""
        call_hands(engine, state, calling, step)  # type: ignore[arg-type]

    def count(self, ratios: Ratios, side: Side, *, bids: bool) -> None:
        """Scores by role and seat, results by camp, places, choices."""
        hands, seats = side.hands, side.seats
        every = np.arange(self.seats)
        emperor, guard = hands.emperor[:, None] == every, hands.guard[:, None] == every
        alone = (hands.emperor >= 0) & (hands.guard < 0)
        camp = emperor | guard
        known = (hands.emperor >= 0)[:, None]
        roles = {
            "emperor": emperor & ~alone[:, None],
            "guard": guard,
            "rebel": known & ~camp,
            "solo": emperor & alone[:, None],
        }
        for name in ROLES:
            mine = seats & roles[name]
            ratios.add(("roles", name), hands.scores * mine, mine)
        ratios.add_seats()
        ratios.add_results("camps", CAMPS.names, camp, known)
        ratios.add_places(known)
        if bids:
            for name, (yes, no) in CHOICES.items():
                asked = seats & ((hands.said & (1 << yes | 1 << no)) != 0)
                ratios.add(("behaviour", name), asked & ((hands.said & (1 << yes)) != 0), asked)
            called = seats & ((hands.said & (1 << Said.CALL)) != 0)
            secret = called & emperor & (hands.solo == Solo.SECRET)[:, None]
            ratios.add(("behaviour", "secret_solo"), secret, called)
        guards = seats & guard
        ratios.add(("behaviour", "reveal"), guards & (hands.reveal >= 0)[:, None], guards)
        shown = guards & (hands.reveal >= 0)[:, None]
        ratios.add(("behaviour", "reveal_cards"), hands.reveal[:, None] * shown, shown)


GAME: Final = Baohuang(
    name="baohuang",
    seats=SEATS,
    camps=CAMPS,
    tables=TABLES,
    notes=NOTES,
    watch=BaohuangWatch,
    callings=CALLINGS,
    only=ONLY,
    situations=("guard", "grab", "open", "secret"),
)
