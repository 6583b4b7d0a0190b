"""What beliefs are worth: a player who is told who is guard, or told wrong, against himself.

WARNING, cheating on purpose: :class:`Oracle` tells agents what the table hides. It stands here, in
an experiment that owns the tables, and is no agent that anything else could load.

All seats play as ``tactical`` from the first lead of hands that the neutral caller called and in
which the guard is hidden. Then the same hands are played with one thing changed:

* *intervention*: the emperor, one rebel, or everybody gets another belief. ``truth`` is who is
  guard; ``wrong`` another seat with certainty; ``flat`` all others alike; ``grounded`` the chance
  over all consistent deals. The difference is in that player's score; for everybody in that of the
  emperor and his guard together.
* *price of hidden roles*: the guard is public from the first lead on, identity card and all.

``tactical`` draws nothing, so nothing but the change makes the scores differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.tactical import TacticalAgent, grounded, heuristic
from lupai.envs.baohuang.asking import make_public
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.game import Game
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views
from lupai.train.arena.caller import call_hands
from lupai.train.arena.packs import Pack
from lupai.train.arena.statistics import bootstrap

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Belief = Callable[[Rules, Any, npt.NDArray[np.intp]], F64]

SUBJECTS: Final = ("emperor", "rebel", "everybody")
BELIEFS: Final = ("truth", "grounded", "flat", "wrong")
ROLES: Final = ("emperor", "guard", "rebels", "camp")


@dataclass(frozen=True)
class Row:
    """A difference of scores per hand, with a 95 % bootstrap interval over deals.

    Attributes:
        who: whose score it is.
        what: what was changed.
        before, after: mean scores without and with the change.
        mean, low, high: of the difference.
        hands: how many.
    """

    who: str
    what: str
    before: float
    after: float
    mean: float
    low: float
    high: float
    hands: int


class Oracle:
    """WARNING, god's eye: beliefs that know who is guard at the real tables.

    The masked tables that a belief gets carry no seeds; the experiment writes the number of the
    real table there, which no agent reads.

    Args:
        real: the tables as they are.
    """

    def __init__(self, real: State) -> None:
        self._guard = np.where(real.guard == NOBODY, SEATS, real.guard).astype(np.intp)

    def truth(self, rules: Rules, state: Any, viewers: npt.NDArray[np.intp]) -> F64:
        """Who it is."""
        return np.eye(SEATS + 1)[self._guard[_table(state)]]

    def wrong(self, rules: Rules, state: Any, viewers: npt.NDArray[np.intp]) -> F64:
        """Another seat that could be it for the viewer: the next one going +1 from the true guard,
        or from the emperor where nobody is."""
        guard = self._guard[_table(state)]
        emperor = state.emperor.astype(np.intp)
        told = np.where(guard == SEATS, emperor, guard)
        barred = np.stack([guard, emperor, viewers])
        for _ in range(SEATS):
            told = np.where((told == barred).any(axis=0), (told + 1) % SEATS, told)
        return np.eye(SEATS + 1)[told]


def flat(rules: Rules, state: Any, viewers: npt.NDArray[np.intp]) -> F64:
    """All seats but emperor and viewer alike; nobody is secretly alone."""
    out = np.ones((len(viewers), SEATS + 1))
    out[:, SEATS] = 0
    row = np.arange(len(viewers))
    out[row, state.emperor] = 0
    out[row, viewers] = 0
    chances: F64 = out / out.sum(axis=1, keepdims=True)
    return chances


def _table(state: Any) -> I64:
    table: I64 = state.seeds[:, 0].astype(np.int64)
    return table


def hidden_hands(engine: Game, pack: Pack, deals: int) -> State:
    """The first deals of a pack at their first lead, those in which the role is not public."""
    state: State = engine.reset(pack.hand_seeds(np.arange(deals)))
    call_hands(engine, state, "neutral")
    return state.take(np.flatnonzero(~state.over & (state.public == 0)))


def subjects(start: State, who: str) -> npt.NDArray[np.bool_]:
    """``[B, S]`` the seats whose belief is changed; a rebel is the first after the emperor."""
    seats = np.arange(SEATS)
    emperor, guard = start.emperor[:, None], start.guard[:, None]
    if who == "everybody":
        return np.ones((len(start), SEATS), bool)
    if who == "emperor":
        crowned: npt.NDArray[np.bool_] = seats == emperor
        return crowned
    after = np.where(seats == guard, SEATS, (seats - emperor) % SEATS)
    after[after == 0] = SEATS
    first: npt.NDArray[np.bool_] = seats == after.argmin(axis=1)[:, None]
    return first


def play_on(
    engine: Game, start: State, belief: Belief, told: npt.NDArray[np.bool_], usual: Belief
) -> I64:
    """Scores ``[B, S]`` of hands played from ``start`` by ``tactical``; seats ``told [B, S]`` with
    one belief, the others with the usual one."""
    state = start.copy()
    agents = TacticalAgent(belief=usual), TacticalAgent(belief=belief)
    while (rows := np.flatnonzero(~state.over)).size:
        actor = state.actor[rows].astype(np.intp)
        actions = np.zeros(len(rows), np.int64)
        of = told[rows, actor].astype(np.intp)
        for number, agent in enumerate(agents):
            at = np.flatnonzero(of == number)
            if at.size:
                views = Views(engine, state, actor[at], rows[at])
                views.state.seeds[:, 0] = rows[at]  # for the oracle alone
                actions[at] = agent.act_batch(views)
        engine.step(state, actions, rows)
    scores: I64 = engine.scores(state)
    return scores


def interventions(
    engine: Game, start: State, seed: int = 0, usual: Belief = heuristic
) -> list[Row]:
    """Every belief given to every subject, against hands in which nobody is told anything.

    Args:
        start: B tables at the first lead, roles hidden.
        seed: of the bootstrap.
        usual: belief of all others, and of all before.
    """
    oracle = Oracle(start)
    beliefs: dict[str, Belief] = {
        "truth": oracle.truth, "grounded": grounded, "flat": flat, "wrong": oracle.wrong,
    }  # fmt: skip
    nobody = np.zeros((len(start), SEATS), bool)
    before = play_on(engine, start, usual, nobody, usual)
    out = []
    for who in SUBJECTS:
        told = subjects(start, who)
        counted = _seats_of(start, "camp") if who == "everybody" else told
        for what in BELIEFS:
            after = play_on(engine, start, beliefs[what], told, usual)
            out.append(_row(who, what, before, after, counted, seed))
    return out


def price(engine: Game, start: State, seed: int = 0, belief: Belief = heuristic) -> list[Row]:
    """Scores with the guard public from the first lead on, against those with the guard hidden.

    Args:
        start, seed: as for :func:`interventions`.
        belief: of all players.
    """
    nobody = np.zeros((len(start), SEATS), bool)
    before = play_on(engine, start, belief, nobody, belief)
    open_ = start.copy()
    make_public(open_, np.arange(len(open_)), supreme=bool(engine.rules.supreme))
    after = play_on(engine, open_, belief, nobody, belief)
    return [
        _row(who, "public", before, after, _seats_of(start, who), seed, share=who == "rebels")
        for who in ROLES
    ]


def _seats_of(start: State, who: str) -> npt.NDArray[np.bool_]:
    """``[B, S]``; the camp is emperor and guard."""
    seats = np.arange(SEATS)
    crowned, guard = seats == start.emperor[:, None], seats == start.guard[:, None]
    if who == "rebels":
        return ~(crowned | guard)
    return {"emperor": crowned, "guard": guard, "camp": crowned | guard}[who]


def _row(
    who: str, what: str, before: I64, after: I64, counted: npt.NDArray[np.bool_], seed: int,
    share: bool = False,
) -> Row:  # fmt: skip
    """A row; ``share``: per player and not per hand."""
    here = counted.any(axis=1)  # who is alone has no guard
    sums = [(scores * counted)[here].sum(axis=1).astype(np.float64) for scores in (before, after)]
    weight = counted[here].sum(axis=1) if share else np.ones(here.sum())
    top = np.stack([*sums, sums[1] - sums[0]], axis=1)
    bottom = np.repeat(weight.astype(np.float64)[:, None], 3, axis=1)
    value, low, high = bootstrap(top, bottom, seed)
    old, new, mean = value.tolist()
    return Row(who, what, old, new, mean, float(low[2]), float(high[2]), int(here.sum()))
