"""Hands played by populations: agents drawn for each hand or seat, some moves made by chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, LaneAgent, ask
from lupai.agents.belief.base import BeliefError
from lupai.agents.registry import load
from lupai.agents.rollout import Policy
from lupai.agents.streams import agent_seed, decision_numbers, lane_draws
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.deals import check_seed
from lupai.envs.game import Game, make_game
from lupai.envs.log import Log
from lupai.envs.records import make_record
from lupai.envs.view import Views
from lupai.train.arena.caller import call_hands

__all__ = ["HANDS_OF_PART", "META", "Plan", "Population"]

HANDS_OF_PART: Final = 200  # kept together when finished; part of what a plan means
META: Final = "belief"  # our entry in a record's free ``meta``
Mix = Literal["hand", "seat"]
Calling = Literal["players", "neutral"]
_KEY: Final = 0x62656C696566  # its draws are no agent's and no deal's
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What is played. Equal plans play equal hands.

    Attributes:
        rules: rules string.
        players: names of agents; one that stands there twice is drawn twice as often.
        mix: ``hand``: one agent, drawn for each hand, in all seats; ``seat``: one for each seat.
        noise: chance that a decision is a legal move drawn at random instead.
        calling: ``neutral``: what comes before the first lead is played by the neutral caller,
            who never grabs, calls a card at random, and never declares.
        hands: how many are played.
        seed: of deals, draws and agents.
    """

    rules: str
    players: tuple[str, ...]
    mix: Mix = "hand"
    noise: float = 0.0
    calling: Calling = "players"
    hands: int = 1000
    seed: int = 0
    hands_of_part: int = field(default=HANDS_OF_PART)

    def __post_init__(self) -> None:
        if str(load_rules(self.rules)) != self.rules:
            raise BeliefError(f"rules {self.rules!r} are not written as a rules string")
        if not self.players or not all(self.players):
            raise BeliefError("players: name one agent or more")
        if self.mix not in get_args(Mix) or self.calling not in get_args(Calling):
            raise BeliefError(
                f"mix {self.mix!r}, calling {self.calling!r}: mix is hand or seat, calling players "
                f"or neutral"
            )
        if not 0 <= self.noise <= 1:
            raise BeliefError(f"noise {self.noise!r} is no chance in 0 … 1")
        if self.hands < 1 or self.hands_of_part < 1:
            raise BeliefError("hands: play one or more")
        check_seed(self.seed)

    @property
    def name(self) -> str:
        """For tables: ``tactical``, ``greedy+tactical~0.1``."""
        names = "+".join(dict.fromkeys(self.players))
        return f"{names}~{self.noise:g}" if self.noise else names

    @property
    def parts(self) -> int:
        """How many parts of hands there are."""
        return -(-self.hands // self.hands_of_part)

    def part(self, number: int) -> range:
        """Numbers of the hands of a part."""
        first = number * self.hands_of_part
        return range(first, min(first + self.hands_of_part, self.hands))

    def to_json(self) -> dict[str, Any]:
        """Content of ``plan.json``."""
        return asdict(self) | {"players": list(self.players)}


class Population:
    """Plays the hands of a plan, part by part; no part depends on which others were played.

    It can be sent to another process, which loads the agents anew.

    Args:
        plan: what is played.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.engine: Game = make_game("baohuang", plan.rules)
        self._loaded: list[Agent] | None = None
        words = np.random.SeedSequence(plan.seed, spawn_key=(_KEY,)).generate_state(2, np.uint64)
        self._draw_seats, self._draw_noise = (int(word) for word in words)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_loaded": None}

    def agents(self) -> list[Agent]:
        """The agents, one for each different name.

        Raises:
            LupaiError: one that is not there, or that plays other rules.
        """
        if self._loaded is None:
            names = dict.fromkeys(self.plan.players)
            self._loaded = [load(name, self.plan.rules) for name in names]
        return self._loaded

    def seated(self, hands: I64) -> I64:
        """``[N, S]`` who plays each seat of hands ``[N]``, by place in ``plan.players``."""
        seats = self.engine.seats
        lanes = hands[:, None] * seats
        lanes = lanes + np.arange(seats) * (self.plan.mix == "seat")
        draws = lane_draws(self._draw_seats, lanes.ravel(), np.zeros(lanes.size))
        drawn: I64 = (draws * len(self.plan.players)).astype(np.int64).reshape(lanes.shape)
        return drawn

    def play(self, part: int) -> Iterator[dict[str, Any]]:
        """Records of the hands of a part, in order."""
        plan, engine = self.plan, self.engine
        hands = np.array(self.plan.part(part), np.int64)
        names = list(dict.fromkeys(plan.players))
        for number, agent in enumerate(self.agents()):
            seed = agent_seed(plan.seed, number)
            # With lanes every hand has streams of its own; else each part has.
            agent.reset(seed if isinstance(agent, LaneAgent) else agent_seed(seed, part))
        seated = self.seated(hands)
        which = np.array([names.index(name) for name in plan.players])[seated]
        state = engine.reset(np.full(len(hands), plan.seed, np.uint64), hands)
        log = Log(engine, state)
        if plan.calling == "neutral":
            call_hands(engine, state, "neutral", lambda a, t, legal: log.step(a, t, legal))
        self._play(state, log, hands, which)
        for table, outcome in enumerate(engine.outcomes(state)):
            hand_seed, redeals = int(state.seeds[table, 0]), int(state.redeals[table])
            dealt, start = engine.dealt_hands(hand_seed, redeals)
            players = [plan.players[place] for place in seated[table]]
            record = make_record(
                engine, hand_seed, dealt, start, log.moves[table], outcome, redeals, players
            )
            record["meta"][META] = {"noise": plan.noise, "calling": plan.calling}
            yield record

    def _play(self, state: Any, log: Log, hands: I64, which: I64) -> None:
        engine, noise = self.engine, self.plan.noise
        while (rows := np.flatnonzero(~state.over)).size:
            legal = engine.legal(state, rows)
            actors = state.actor[rows].astype(np.intp)
            lanes = hands[rows] * engine.seats + actors
            actions = np.zeros(len(rows), np.int64)
            for number, agent in enumerate(self.agents()):
                mine = np.flatnonzero(which[rows, actors] == number)
                if not mine.size:
                    continue
                at, part = rows[mine], legal.take(mine)
                if isinstance(agent, Policy):
                    actions[mine] = agent.choose(engine, state, part, at, lanes[mine])
                else:
                    histories = [log.history[table] for table in at]
                    views = Views(engine, state, actors[mine], at, histories, part)
                    actions[mine] = ask(agent, views, lanes[mine])
            if noise > 0:
                numbers = 2 * decision_numbers(state, rows)
                errs = lane_draws(self._draw_noise, lanes, numbers) < noise
                other = legal.pick(lane_draws(self._draw_noise, lanes, numbers + 1))
                actions = np.where(errs, other, actions)
            log.step(actions, rows, legal)
