"""How players of a known population play: the chance of each move that was made.

A *behaviour* says how likely a seat is to make a move, from its view alone. A *population* is one
behaviour for everybody, or a mixture of which each seat, or each hand, has drawn one; nobody is
told which. :class:`NoisyAgent` makes a behaviour of an agent that draws nothing, and plays so.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lupai.agents.base import I32, Agent
from lupai.agents.caller import NeutralCaller
from lupai.agents.random_agent import RandomAgent
from lupai.agents.streams import decision_numbers, lane_draws, own_generator
from lupai.envs.errors import LupaiError
from lupai.envs.view import View, Views

F64 = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]


@runtime_checkable
class Behaviour(Protocol):
    """How likely a player is to make each of his moves.

    Attributes:
        name: shown in tables.
    """

    name: str

    def chances(self, views: Views, actions: Ints) -> F64:
        """``[N]`` chance that the seat asked at each view makes the legal move ``actions [N]``.

        It may depend on nothing but the view (views have no history here).
        """


class UniformPlay:
    """Every legal move equally likely, as ``random`` plays."""

    name = "random"

    def chances(self, views: Views, actions: Ints) -> F64:
        """See :class:`Behaviour`."""
        return 1 / views.legal.counts()


class NoisyAgent:
    """Plays as an agent does, but at each decision by chance ``epsilon`` any legal move instead.

    It is both an agent and its own behaviour: a move of the inner agent has the chance
    ``1 - epsilon + epsilon / n``, each of the other ``n - 1`` legal moves ``epsilon / n``.

    Args:
        agent: plays the same move whenever it sees the same, and decides for many tables at once
            (``act_batch``).
        epsilon: from 0 to 1.
        seed: of its draws.
        name: ``tactical~0.1`` for ``tactical`` with 0.1 when None.

    Raises:
        LupaiError: an agent without ``act_batch``, or no such chance.
    """

    def __init__(
        self, agent: Agent, epsilon: float, seed: int | None = 0, name: str | None = None
    ) -> None:
        if not callable(getattr(agent, "act_batch", None)):
            raise LupaiError(
                f"agent {getattr(agent, 'name', agent)!r} has no act_batch: its moves cannot be "
                "asked for in thousands of worlds; give one that has"
            )
        if not 0 <= epsilon <= 1:
            raise LupaiError(f"epsilon {epsilon!r} is no chance; allowed: from 0 to 1")
        self._agent: Any = agent
        self.epsilon = float(epsilon)
        self.name = f"{agent.name}~{epsilon:g}" if name is None else name
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Begin the stream of draws anew."""
        self._seed = secrets.randbits(64) if seed is None else seed
        self._generator = own_generator(self._seed)
        self._agent.reset(self._seed)

    def act(self, view: View) -> str:
        """A legal move; one draw."""
        ids = view.legal_ids
        draw = float(self._generator.random())
        if draw < self.epsilon:
            return view.move_of(int(ids[int(draw / self.epsilon * len(ids))]))
        move: str = self._agent.act(view)
        return move

    def act_batch(self, views: Views) -> I32:
        """Legal moves ``[N]``; one draw for each, in order."""
        return self._pick(views, self._generator.random(len(views)))

    def act_lanes(self, views: Views, lanes: Ints) -> I32:
        """Legal moves ``[N]``; the draw is the one of the lane and the number of the move."""
        return self._pick(views, lane_draws(self._seed, lanes, decision_numbers(views.state)))

    def _pick(self, views: Views, draws: F64) -> I32:
        chosen: I32 = np.asarray(self._agent.act_batch(views)).astype(np.int32)
        astray = np.flatnonzero(draws < self.epsilon)
        if astray.size:  # what is left of the draw picks the move
            legal: Any = views.legal
            chosen[astray] = legal.take(astray).pick(draws[astray] / self.epsilon)
        return chosen

    def chances(self, views: Views, actions: Ints) -> F64:
        """See :class:`Behaviour`."""
        best = np.asarray(self._agent.act_batch(views)) == actions
        chance: F64 = (1 - self.epsilon) * best + self.epsilon / views.legal.counts()
        return chance


class AfterNeutralCalls:
    """A behaviour from the first lead on; what comes before is played by the neutral caller.

    Args:
        behaviour: who plays then.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour, self._caller = behaviour, NeutralCaller()
        self.name = behaviour.name

    def chances(self, views: Views, actions: Ints) -> F64:
        """See :class:`Behaviour`."""
        early = views.state.phase < views.engine.phases.index("play")
        out = np.zeros(len(views))
        legal: Any = views.legal
        for rows, ask in (
            (np.flatnonzero(early), self._caller.chances),
            (np.flatnonzero(~early), self._behaviour.chances),
        ):
            if rows.size:
                some = Views(
                    views.engine, views.state, views.seats[rows], rows, legal=legal.take(rows)
                )
                out[rows] = ask(some, actions[rows])
        return out


def behaviour_of(agent: Agent, epsilon: float = 0.05) -> Behaviour:
    """The behaviour of an agent: its own if it has one, that of a policy that is drawn from, else
    its moves with noise.

    Args:
        agent: any that decides for many tables at once.
        epsilon: noise of agents that draw nothing; without any, one move that they would not make
            rules a world out.

    Raises:
        LupaiError: an agent that draws its moves by chances that it does not tell, or that decides
            one by one.
    """
    if isinstance(agent, Behaviour):
        return agent
    if isinstance(agent, RandomAgent):
        return UniformPlay()
    if getattr(agent, "sample", False) and hasattr(agent, "policy"):
        from lupai.agents.belief.softmax import Softmax  # torch only where it is needed

        return Softmax(agent)
    if agent.name.startswith("search"):
        raise LupaiError(
            f"agent {agent.name!r} draws worlds to decide and does not tell by what chances it "
            "plays; give one with a method chances(views, actions)"
        )
    return NoisyAgent(agent, epsilon)


@dataclass(frozen=True)
class Population:
    """Who may sit at the table.

    Attributes:
        behaviours: one, or the members of a mixture.
        weights: share of each; equal ones when empty.
        per: each ``seat`` has drawn its member for itself, or all seats of a ``hand`` the same one.
        suits: which copies are played of cards that are alike but for the suit. ``blind``: any with
            equal chance, so that suits tell nothing beyond what a drawn card tells; this is the
            convention of :mod:`lupai.envs.baohuang.worlds`. ``order``: the lowest suits first, as
            the engine takes them where nobody says which; a player who lays down a club then holds
            no spade of that rank.

    Raises:
        LupaiError: no member, or weights that are no shares of them.
    """

    behaviours: tuple[Behaviour, ...]
    weights: tuple[float, ...] = ()
    per: Literal["seat", "hand"] = "seat"
    suits: Literal["blind", "order"] = "blind"
    name: str = ""
    log_shares: F64 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.behaviours:
            raise LupaiError("population: nobody in it; give at least one behaviour")
        weights = self.weights or (1.0,) * len(self.behaviours)
        if len(weights) != len(self.behaviours) or not all(
            math.isfinite(weight) and weight > 0 for weight in weights
        ):
            raise LupaiError(
                f"population: weights {list(weights)} for {len(self.behaviours)} behaviours; give "
                "one positive number for each"
            )
        for option, allowed in (("per", ("seat", "hand")), ("suits", ("blind", "order"))):
            if getattr(self, option) not in allowed:
                value, names = getattr(self, option), " or ".join(allowed)
                raise LupaiError(f"population: {option} {value!r}; allowed: {names}")
        shares = np.asarray(weights, np.float64)
        object.__setattr__(self, "log_shares", np.log(shares / shares.sum()))
        if not self.name:
            object.__setattr__(self, "name", "+".join(b.name for b in self.behaviours))
