"""够级 (Gouji) in the arena: the even seats against the odd ones.

Sides are known from the deal on, so the players decide everything, a revolution too.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lupai.envs.game import Game
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.revolution import may_revolt
from lupai.envs.gouji.scoring import SWEEP
from lupai.envs.gouji.state import Phase
from lupai.envs.seats import NOBODY
from lupai.train.arena.games.base import (
    I64,
    PLACES_AXIS,
    PLAYERS,
    SEATS_AXIS,
    ArenaGame,
    Bools,
    Camps,
    Restriction,
    Table,
    Watch,
)
from lupai.train.arena.measures import Ratios, Side

__all__ = ["GAME"]

EVEN: Final = np.arange(SEATS) % 2 == 0
OPPOSITE: Final = (np.arange(SEATS) + SEATS // 2) % SEATS
CAMPS: Final = Camps(
    first="even_side",
    second="odd_side",
    both="side",
    plural="sides",
    names=("even", "odd"),
    share=SEATS // 2,
    score="in side formats those of each member of the side",
)
EXCHANGES: Final = ("goujis_won", "goujis_lost", "burns", "burned")
TABLES: Final = (
    Table("By seat", "seats", "scores", tuple("012345"), SEATS_AXIS),
    Table("Won, drawn, lost by side", "sides", "results"),
    Table("Finishing places", "places", "shares", (*"123456", "in"), PLACES_AXIS),
    Table("串三户", "sweeps", "shares"),
    Table("Strong sets, per hand", "exchanges", "shares", means=EXCHANGES, digits=2),
    Table("Behaviour", "behaviour", "shares"),
)
NOTES: Final = (
    "`in`: still held cards when the hand ended; a revolter has place 4. 串三户: hands in which "
    "one side took places 1, 2 and 3. `goujis_won`: 够级 sets of a 对头 that were answered, "
    "`goujis_lost`: own ones that he answered; `burns`: sets of others that were burned, `burned`: "
    "own ones; in side formats of the whole side. `revolt`, `waive`: how often, where it could be."
)


def one_may_revolt(engine: Game, state: Any) -> Bools:
    """``[B]``: one seat and no other may revolt."""
    may = may_revolt(state.ranks.reshape(-1, state.ranks.shape[-1])).reshape(-1, SEATS)
    found: Bools = (may.sum(axis=1) == 1) & bool(engine.rules.revolution)
    return found


class _Seen(NamedTuple):
    """Tables before a move, each ``[N]``."""

    actors: I64
    owners: npt.NDArray[Any]
    goujis: npt.NDArray[Any]
    burns: npt.NDArray[Any]


class GoujiWatch(Watch):
    """Revolutions, and who answered and burned whose strong sets.

    Columns: ``revolter [H]``, -1 for nobody; ``waived [H]`` whether his 对头 waived, -1: not asked;
    ``void [H]``; ``could_revolt [H, 6]``; ``goujis [H, 6]`` sets that a seat answered as 对头 while
    they were 够级牌; ``burns [H, 6]`` sets that it burned; ``burned [H, 6]`` sets of it that were.
    """

    def __init__(self, engine: Game, state: Any) -> None:
        super().__init__(engine, state)
        shape = (len(state), SEATS)
        self._could_revolt = np.zeros(shape, np.bool_)
        self._waived = np.full(len(state), NOBODY, np.int8)
        self._goujis, self._burns, self._burned = (np.zeros(shape, np.int8) for _ in range(3))

    def before(self, actions: I64, rows: I64) -> _Seen:
        """Who is asked what."""
        state = self.state
        actors, phase = state.actor[rows].astype(np.intp), state.phase[rows]
        asked = np.flatnonzero(phase == Phase.REVOLT)
        if asked.size:  # after a void deal all are asked again
            at, seats = rows[asked], actors[asked]
            self._could_revolt[at, seats] = may_revolt(state.ranks[at, seats])
        asked = np.flatnonzero(phase == Phase.WAIVE)
        self._waived[rows[asked]] = np.asarray(actions)[asked] == VERB_ID["waive"]
        return _Seen(actors, state.owner[rows], state.goujis[rows], state.burns[rows])

    def after(self, rows: I64, seen: _Seen) -> None:
        """The state counts for the table; who it was is whom it asked."""
        state = self.state
        self._goujis[rows, seen.actors] += state.goujis[rows] > seen.goujis
        burns = np.flatnonzero(state.burns[rows] > seen.burns)
        if burns.size:
            self._burns[rows[burns], seen.actors[burns]] += 1
            self._burned[rows[burns], seen.owners[burns].astype(np.intp)] += 1

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """See the class."""
        return {
            "revolter": self.state.revolter.astype(np.int8),
            "waived": self._waived,
            "void": self.state.void.astype(np.int8),
            "could_revolt": self._could_revolt,
            "goujis": self._goujis,
            "burns": self._burns,
            "burned": self._burned,
        }


class Gouji(ArenaGame):
    """See the module's text."""

    def first_camp(self, tables: Any) -> Bools:
        """The even seats."""
        return np.broadcast_to(EVEN, (len(tables), SEATS))

    def played(self, hands: Any) -> Bools:
        """Hands that were not void a hundred times."""
        found: Bools = hands.void == 0
        return found

    def count(self, ratios: Ratios, side: Side, *, bids: bool) -> None:
        """Scores by seat, results by side, places, 串三户, strong sets, revolutions."""
        hands, seats = side.hands, side.seats
        known = self.played(hands)[:, None]
        ratios.add_seats()
        ratios.add_results("sides", CAMPS.names, self.first_camp(hands) & known, known)
        ratios.add_places(known)
        cases = side.counts * known[:, 0]
        for name, score in (("made", SWEEP), ("suffered", -SWEEP)):
            swept = (seats & (hands.scores == score)).sum(axis=1) / side.share
            ratios.add(("sweeps", name), swept, cases)
        lost = hands.goujis[:, OPPOSITE]
        for name, sets in zip(
            EXCHANGES, (hands.goujis, lost, hands.burns, hands.burned), strict=True
        ):
            ratios.add(("exchanges", name), np.where(seats, sets, 0) * known, cases)
        revolts = hands.revolter[:, None] == np.arange(SEATS)
        could = seats & hands.could_revolt & known
        ratios.add(("behaviour", "revolt"), could & revolts, could)
        asked = seats & revolts[:, OPPOSITE] & known
        ratios.add(("behaviour", "waive"), asked & (hands.waived == 1)[:, None], asked)


GAME: Final = Gouji(
    name="gouji",
    seats=SEATS,
    camps=CAMPS,
    tables=TABLES,
    notes=NOTES,
    watch=GoujiWatch,
    only={"revolution": Restriction("one seat, and no other, may revolt", PLAYERS, one_may_revolt)},
)
