"""What an agent is: the protocol that environments, evaluation and the command line ask for.

An agent gets a :class:`~lupai.envs.view.View`, which holds what its seat may know and nothing else,
and answers with one of ``view.legal``. Two optional methods make it fast: ``act_batch`` decides at
many tables in one call, and ``act_lanes`` does so with an independent random stream for each table,
so that what is played at one table does not depend on which others are played beside it.
"""

from __future__ import annotations

from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from lupai.envs.errors import IllegalMoveError, LupaiError
from lupai.envs.view import View, Views

I32 = npt.NDArray[np.int32]


@runtime_checkable
class Agent(Protocol):
    """A player.

    Attributes:
        name: shown in tables and records.
    """

    name: str

    def reset(self, seed: int | None = None) -> None:
        """Start over: forget earlier hands and draw from this seed (``None``: fresh entropy)."""

    def act(self, view: View) -> str:
        """One of ``view.legal``, such as ``"play 99B"``; the view's seat is the one asked."""


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that decides at many tables at once."""

    def act_batch(self, views: Views) -> I32:
        """Action ids ``[N] int32``; the same as ``act`` on each view, in order."""


@runtime_checkable
class LaneAgent(Agent, Protocol):
    """An agent whose draws at one table do not depend on the others."""

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """Action ids ``[N] int32``; view i draws from the agent's stream ``lanes[i]``."""


def check_plays(agent: Agent, game: str, fault: type[LupaiError] = LupaiError) -> None:
    """Refuse an agent that says by its ``games`` that it does not play a game.

    Raises:
        LupaiError: of the type ``fault``; names the games that it plays.
    """
    games = getattr(agent, "games", (game,))
    if game not in games:
        raise fault(f"agent {agent.name!r} plays {', '.join(games)}, not {game}")


def best_of_rows(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Places ``[N]`` of the greatest of each ragged row of ``values [C]``, the first of equals."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    places = np.flatnonzero(values == np.maximum.reduceat(values, offsets[:-1])[rows])
    first: npt.NDArray[np.intp] = places[np.unique(rows[places], return_index=True)[1]]
    return first


def ask(agent: Agent, views: Views, lanes: npt.NDArray[np.integer] | None = None) -> I32:
    """Action ids ``[N] int32`` of an agent for N views, by the best method that it has.

    Args:
        agent: any agent.
        views: each at a decision of its seat.
        lanes: ``[N]`` numbers of the tables' streams, for agents that know them.

    Raises:
        IllegalMoveError, NotationError: ``act`` named a move that is not legal.
    """
    # not isinstance, which looks at a protocol's members one by one and takes as long as a move
    if lanes is not None and callable(getattr(agent, "act_lanes", None)):
        return cast(LaneAgent, agent).act_lanes(views, lanes)
    if callable(getattr(agent, "act_batch", None)):
        return np.asarray(cast(BatchAgent, agent).act_batch(views)).astype(np.int32)
    chosen = np.zeros(len(views), np.int32)
    for i, view in enumerate(views):
        move = agent.act(view)
        if move not in view.legal:
            raise IllegalMoveError(
                f"agent {agent.name!r} in seat {view.seat} played {move!r}; legal: "
                f"{', '.join(view.legal[:8])}"
            )
        chosen[i] = view.action_of(move)
    return chosen
