"""Rollouts: many tables played to the end by a policy, the inner loop of Monte-Carlo search.

>>> import numpy as np
>>> from lupai.agents.random_agent import RandomAgent
>>> from lupai.envs.baohuang.engine import Engine
>>> engine = Engine("qingdao")
>>> scores = rollout(RandomAgent(seed=1), engine.reset(np.arange(64)), engine)
>>> scores.shape, int(np.abs(scores.sum(axis=1)).max())
((64, 5), 0)

A *policy* answers for the acting seats of real tables. ``random`` and ``greedy`` are policies: they
read the engine's compact legal moves, and no view is made. Any other agent plays through
:class:`AgentPolicy`, which shows it views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, Agent, ask
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game
from lupai.envs.view import Views

__all__ = ["AgentPolicy", "Policy", "rollout"]

I64 = npt.NDArray[np.int64]


@runtime_checkable
class Policy(Protocol):
    """Chooses moves at many tables."""

    def choose(self, engine: Game, state: Any, legal: Any, rows: Any, lanes: Any) -> I32:
        """Action ids ``[N] int32`` for the seats that are asked.

        WARNING, god's eye: the state is whole. A policy that stands for a player reads no more of
        it than his seat may know.

        Args:
            engine: the rules.
            state: tables; not to be changed.
            legal: what ``engine.legal(state, rows)`` gives.
            rows: ``[N]`` the tables asked about, by their place in ``state``.
            lanes: ``[N]`` numbers of their random streams, which stay with a table from the start
                of a rollout to its end. A draw that depends on lane and ``state.moves`` alone makes
                the outcome at a table independent of the tables beside it.
        """


class AgentPolicy:
    """Agents as a policy: each sees a view of its own seat, without a history, and nothing else.

    Decisions with one legal answer are made without asking.

    Args:
        agents: one for all seats, or one for each seat.
    """

    def __init__(self, *agents: Agent) -> None:
        self.agents = agents
        distinct = list({id(agent): agent for agent in agents}.values())
        self._each = [(agent, np.array([other is agent for other in agents])) for agent in distinct]

    def choose(self, engine: Game, state: Any, legal: Any, rows: Any, lanes: Any) -> I32:
        """See :class:`Policy`.

        Raises:
            LupaiError: neither one agent nor one for each seat.
        """
        if len(self.agents) not in (1, engine.seats):
            raise LupaiError(
                f"{len(self.agents)} agents: one for all seats, or {engine.seats}, one for each"
            )
        free = np.flatnonzero(legal.counts() > 1)
        chosen = np.zeros(len(rows), np.int32)
        if len(free) < len(rows):
            forced = np.setdiff1d(np.arange(len(rows)), free, assume_unique=True)
            chosen[forced] = legal.take(forced).ids()[0]
        seats = state.actor[rows].astype(np.intp)
        for agent, sits in self._each:
            mine = free if len(sits) == 1 else free[sits[seats[free]]]
            if mine.size:
                views = Views(engine, state, seats[mine], rows[mine])
                views.legal = legal.take(mine)
                chosen[mine] = ask(agent, views, lanes[mine])
        return chosen


def rollout(
    policy: Policy | Agent | Sequence[Agent],
    state: Any,
    engine: Game,
    *,
    lanes: npt.ArrayLike | None = None,
    limit: int | None = None,
    inplace: bool = False,
) -> I64:
    """Play all tables to the end.

    With a policy whose draws keep to the lanes, as those of ``random``, ``greedy`` and trained
    agents do, the scores of a table depend on its state, its lane and the policy's seed only: the
    same call gives the same scores. An agent that draws from one generator goes on with it.

    Args:
        policy: who plays: a policy, an agent for all seats, or one agent for each seat.
        state: ``B`` tables at any point of their hands; left as it is.
        engine: the rules.
        lanes: ``[B]`` numbers of the tables' random streams; 0 … B - 1 when None. Rollouts of one
            table again and again need different ones, or a policy with another seed.
        limit: stop after so many decisions at each table; None: never.
        inplace: play in ``state`` itself, which then holds the tables as they ended.

    Returns:
        ``[B, S] int64`` final scores; zeros where ``limit`` came first.

    Raises:
        LupaiError: a wrong number of lanes or agents, or a negative limit.
        IllegalMoveError: the policy chose what is not legal.
    """
    chooser = policy if isinstance(policy, Policy) else _of_agents(policy)
    lane = np.arange(len(state)) if lanes is None else np.asarray(lanes)
    if lane.shape != (len(state),):
        raise LupaiError(f"lanes {lane.shape} for {len(state)} tables")
    if limit is not None and limit < 0:
        raise LupaiError(f"limit {limit}: a number of decisions from 0 up")
    # Finished tables stay among the running ones until these are less than half: what is left of
    # them, each step picks out anew; to move them at each step would cost more.
    table = np.arange(len(state))
    running = state if inplace else state.copy()
    scores = np.zeros((len(state), engine.seats), np.int64)
    rows = np.flatnonzero(~running.over)
    made = 0
    while rows.size and made != limit:
        if 2 * len(rows) < len(running):
            scores[table] = engine.scores(running)
            if inplace and running is not state:
                state.put(table, running)
            running, table, lane = running.take(rows), table[rows], lane[rows]
            rows = np.arange(len(rows))
        legal = engine.legal(running, rows)
        actions = chooser.choose(engine, running, legal, rows, lane[rows])
        engine.step(running, actions, rows, legal=legal)
        made += 1
        rows = rows[~running.over[rows]]
    scores[table] = engine.scores(running)
    if inplace and running is not state:
        state.put(table, running)
    return scores


def _of_agents(agents: Any) -> AgentPolicy:
    return AgentPolicy(*agents) if isinstance(agents, Sequence) else AgentPolicy(agents)
