"""Tables at which one seat learns and agents play the others: what both single-agent faces share.

A table is always at a decision of its learner, or over. Everything between is played here, at all
tables together: the opponents' moves, redeals, and the rest of a hand after the learner went out.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, BatchAgent, LaneAgent, ask, check_plays
from lupai.agents.caller import NeutralCaller
from lupai.agents.registry import load
from lupai.agents.streams import agent_seed, decision_numbers, seat_order, table_lanes
from lupai.envs.deals import hand_seeds
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game
from lupai.envs.log import Log
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

Ints = npt.NDArray[np.intp]
Opponent = str | os.PathLike[str] | Agent
ROLES: Final = ("emperor", "guard", "rebel")
_ROLE_NAMES: Final = np.array([*ROLES, None], dtype=object)
MAX_HANDS: Final = 1000  # without any for the learner: the rules do not have such a role
MAX_VOID_HANDS: Final = 3  # of them without any emperor in a hundred deals, which is slow to find


class LearnerTables:
    """B tables with one learner each.

    Args:
        engine: the rules.
        count: number of tables B.
        seat_or_role: a seat; ``"random"``; or, in Baohuang, ``"emperor"``, ``"guard"``,
            ``"rebel"``.
        opponents: one for all other seats, or one for each in play order from the learner's next.
        skip_forced: play the learner's decisions with a single legal move for him.

    Attributes:
        state: the B tables, god's eye.
        seats: ``[B]`` learners' seats.
        legal: legal moves of the B learners; None before the first deal.
        bases: ``[B]`` seeds of the tables.
        episodes: ``[B]`` number of the hand under each seed.
        hands: ``[B]`` seeds of the running hands.

    Raises:
        LupaiError: no such seat or role, not opponents for all seats, or one that does not play
            this game.
    """

    state: Any
    legal: Any

    def __init__(
        self,
        engine: Game,
        count: int,
        seat_or_role: int | str,
        opponents: Opponent | Sequence[Opponent],
        *,
        skip_forced: bool,
    ) -> None:
        self.engine = engine
        self.place = _check_place(seat_or_role, engine)
        self.skip_forced = skip_forced
        self._agents, self._who = _seat_agents(opponents, engine)
        self._log_wanted = not all(isinstance(a, BatchAgent) for a in self._agents)
        self.log: Log | None = None  # kept where an opponent reads histories; writing takes time
        self._played: list[int] = []  # at a table of one, for `text`
        self._written = 0
        self._caller = NeutralCaller()
        self._play = engine.phases.index("play")
        self._rows = np.arange(count)
        self.seats = np.zeros(count, np.intp)
        self.bases = np.zeros(count, np.uint64)
        self.episodes = np.zeros(count, np.int64)
        self.hands = self.bases.copy()
        self.legal = self.state = None

    # --- dealing -------------------------------------------------------------------------------

    def reset(
        self, bases: npt.NDArray[np.uint64], episodes: npt.NDArray[np.int64],
        injected: Any = None, seat: int | None = None,
    ) -> None:  # fmt: skip
        """Deal at all tables.

        Args:
            bases: ``[B]`` seeds.
            episodes: ``[B]`` numbers of the hands under them.
            injected: B tables dealt by :meth:`Game.reset_hands` instead.
            seat: the learners' seat in this hand.

        Raises:
            LupaiError: no decision for the learner, neither in the given hand nor, without one, in
                any of the next :data:`MAX_HANDS`.
        """
        self.bases, self.episodes = bases.copy(), episodes.copy()
        for i, agent in enumerate(self._agents):  # without lanes: draws in the order of play
            agent.reset(0 if isinstance(agent, LaneAgent) else agent_seed(int(bases[0]), i))
        self.hands = hand_seeds(self.bases, self.episodes)
        given = injected is not None
        self.state = injected if given else self.engine.reset(self.bases, self.episodes)
        self.log = Log(self.engine, self.state) if self._log_wanted else None
        if given and self._open(self._rows, seat).size:
            raise LupaiError(
                f"reset: in the given deal there is no decision for the learner ({self.place!r})"
            )
        if not given:
            self.deal(self._rows, seat, dealt=True)

    def deal(self, rows: Ints, seat: int | None = None, dealt: bool = False) -> None:
        """Deal at some tables the next hand that has a decision for the learner; ``dealt``: the
        first is there already."""
        voids = 0
        for _ in range(MAX_HANDS):
            if not dealt:
                self.episodes[rows] += 1
                self.hands[rows] = hand_seeds(self.bases[rows], self.episodes[rows])
                fresh = self.engine.reset(self.bases[rows], self.episodes[rows])
                self.state.put(rows, fresh)
                if self.log is not None:
                    for row in rows.tolist():
                        self.log.moves[row], self.log.history[row] = [], []
            dealt = False
            rows = self._open(rows, seat)
            if not rows.size:
                return
            voids += bool(self.state.void[rows].any())
            if voids == MAX_VOID_HANDS:
                break
        raise LupaiError(
            f"hand after hand had no decision for the learner ({self.place!r}) under "
            f"rules {str(self.engine.rules)!r}"
        )

    def _open(self, rows: Ints, seat: int | None) -> Ints:
        """Seat the learners and play up to their first decisions; the rows that have none."""
        if len(self.hands) == 1:
            self._begin_alone()
        if self.place in ROLES:
            self._call(rows)
            played = self.state.phase[rows] == self._play
            outcomes = self.engine.outcomes(self.state.take(rows))
            found = [
                _seat_of(self.place, outcome["roles"], order) if ok else None
                for outcome, order, ok in zip(outcomes, self._orders(rows), played, strict=True)
            ]
        elif seat is not None:
            found = [seat] * len(rows)
        elif isinstance(self.place, int):
            found = [self.place] * len(rows)
        else:
            found = [order[0] for order in self._orders(rows)]
        bad = np.array([place is None for place in found])
        good = rows[~bad]
        self.seats[good] = [place for place in found if place is not None]
        self._advance(good)
        unfit: Ints = rows[bad | self.state.over[rows]]
        return unfit

    def _orders(self, rows: Ints) -> list[list[int]]:
        return [seat_order(int(seed), self.engine.seats) for seed in self.hands[rows]]

    def _begin_alone(self) -> None:
        """At a table of one each hand starts its agents anew, so that it can be played again."""
        for i, agent in enumerate(self._agents):
            if not isinstance(agent, LaneAgent):
                agent.reset(agent_seed(int(self.hands[0]), i))
        self._played, self._written = [], 0
        self._text = self.log or Log(self.engine, self.state.take([0]))

    def text(self) -> Log:
        """The moves at a table of one as text; written now, as far as they are not yet."""
        if self.log is None:
            for action in self._played[self._written :]:
                self._text.step(np.array([action]), self._rows)
            self._written = len(self._played)
        return self._text

    # --- playing -------------------------------------------------------------------------------

    def step(self, actions: npt.NDArray[np.int64], rows: Ints) -> None:
        """Play the learners' moves at tables ``rows`` and go on to their next decisions.

        Raises:
            IllegalMoveError: a move is not legal; no table has changed.
        """
        legal = self.legal if len(rows) == len(self._rows) else self.legal.take(rows)
        self._step(actions, rows, legal)
        self._advance(rows)

    def settle(self) -> None:
        """Work out the legal moves where that was not done on the way."""
        if self.legal is None:
            self.legal = self.engine.legal(self.state)

    def _step(self, actions: npt.NDArray[np.integer], rows: Ints, legal: Any) -> None:
        if self.log is None:
            self.engine.step(self.state, actions, rows, legal=legal)
            if len(self._rows) == 1:
                self._played.append(int(actions[0]))
        else:
            self.log.step(actions, rows, legal=legal)

    def _call(self, rows: Ints) -> None:
        """Play to the first lead by the neutral caller."""
        state = self.state
        while True:
            rows = rows[(state.phase[rows] != self._play) & ~state.over[rows]]
            if not rows.size:
                return
            legal = self.engine.legal(state, rows)
            ids, offsets = legal.ids()
            seats, moves = state.actor[rows], decision_numbers(state, rows)
            actions = self._caller.pick(
                ids, offsets, seats, self.hands[rows], moves, self.engine.seats
            )
            self._step(actions, rows, legal)

    def _advance(self, rows: Ints) -> None:
        """Play at tables ``rows`` until each is at a decision of its learner, or over."""
        state, self.legal = self.state, None
        while rows.size:
            actors = state.actor[rows].astype(np.intp)
            if (actors == NOBODY).any():
                rows = rows[actors != NOBODY]
                continue
            legal = self.engine.legal(state, rows)
            ids, offsets = legal.ids()
            count = np.diff(offsets)
            waits = actors == self.seats[rows]
            if self.skip_forced:
                waits &= count > 1
            if waits.any():
                if waits.all():
                    if len(rows) == len(self._rows):
                        self.legal = legal
                    return
                go = np.flatnonzero(~waits)
                rows, actors, count = rows[go], actors[go], count[go]
                firsts, legal = offsets[:-1][go], legal.take(go)
            else:
                firsts = offsets[:-1]
            actions = ids[firsts]
            free = np.flatnonzero(count > 1)
            if free.size:  # who has no choice is not asked
                self._ask(actions, free, rows, actors, legal)
            self._step(actions, rows, legal)

    def _ask(
        self, actions: npt.NDArray[np.int32], free: Ints, rows: Ints, actors: Ints, legal: Any
    ) -> None:
        """Fill in the opponents' moves at the places ``free`` of ``rows``."""
        seats = self.engine.seats
        who = self._who[(actors[free] - self.seats[rows[free]] - 1) % seats]
        for number, agent in enumerate(self._agents):
            part = free if len(self._agents) == 1 else free[who == number]
            if not part.size:
                continue
            tables, actor = rows[part], actors[part]
            histories = None
            if self.log is not None and not isinstance(agent, BatchAgent):
                histories = [self.log.history[row] for row in tables]
            views = Views(
                self.engine, self.state, actor, tables, histories,
                legal if len(part) == len(rows) else legal.take(part),
            )  # fmt: skip
            actions[part] = ask(agent, views, table_lanes(self.hands[tables], actor))


def own_roles(engine: Game, seen: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
    """``[N]`` the role of each learner from what he sees ``[N, D]``: one of :data:`ROLES`; None
    where he does not know it yet, and in games without roles."""
    if not _has_roles(engine):
        return np.full(len(seen), None, dtype=object)
    own = engine.observation_layout.section(seen, "seat_roles")[:, 0]
    names: npt.NDArray[Any] = _ROLE_NAMES[np.where(own.any(axis=1), own.argmax(axis=1), len(ROLES))]
    return names


def _has_roles(engine: Game) -> bool:
    return "seat_roles" in engine.observation_layout.offsets


def _check_place(place: Any, engine: Game) -> int | str:
    seats, roles = engine.seats, ROLES if _has_roles(engine) else ()
    if isinstance(place, str) and (place == "random" or place in roles):
        return place
    try:
        number = -1 if isinstance(place, bool | np.bool_) else operator.index(place)
    except TypeError:
        number = -1
    if not 0 <= number < seats:
        raise LupaiError(
            f"seat_or_role {place!r}: allowed: a seat 0 … {seats - 1}, "
            + ", ".join(map(repr, ("random", *roles)))
        )
    return number


def _seat_agents(opponents: Any, engine: Game) -> tuple[list[Agent], Ints]:
    """Different agents, and which of them plays in each other seat from the learner's next on."""
    others, rules = engine.seats - 1, str(engine.rules)
    if isinstance(opponents, str | os.PathLike | Agent) or not isinstance(opponents, Sequence):
        opponents = [opponents] * others
    if len(opponents) != others:
        raise LupaiError(
            f"opponents: {len(opponents)} given; one for all other seats, or {others} in play "
            "order from the learner's next seat"
        )
    agents: list[Agent] = []
    by_name: dict[Any, int] = {}  # a name is loaded once; an agent in many seats is one player
    who = []
    for opponent in opponents:
        named = isinstance(opponent, str | os.PathLike)
        key = os.fspath(opponent) if named else id(opponent)
        if key not in by_name:
            agent = load(opponent, rules) if named else opponent
            if isinstance(agent, type) or not isinstance(agent, Agent):
                raise LupaiError(
                    f"opponents: {agent!r} is no agent; give a name, a folder, or an object with "
                    "name, reset and act"
                )
            check_plays(agent, engine.game)
            by_name[key] = len(agents)
            agents.append(agent)
        who.append(by_name[key])
    return agents, np.array(who, np.intp)


def _seat_of(role: Any, roles: dict[str, Any], order: list[int]) -> int | None:
    """Seat with a role, the first in ``order`` of several; None if there is none.

    An order that is drawn without regard to the cards keeps the choice among several from telling
    anything about the others.
    """
    emperor, guard = roles["emperor"], roles["guard"]
    if emperor is None:
        return None
    if role == "rebel":
        return next(seat for seat in order if seat not in (emperor, guard))
    found: int | None = emperor if role == "emperor" else guard
    return found
