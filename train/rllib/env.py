"""The game as RLlib wants it: a hand-written MultiAgentEnv over one table of the engine.

What RLlib does silently wrong is avoided here, see the tests in tests/train/test_traps.py:

* only the seat that acts gets an observation (else fake decisions of the others are learned);
* a seat that is out stays until the hand ends, then all terminate together (else early
  finishers lose what they are paid at the end);
* what a seat is paid before its first decision comes with that decision (else it is dropped);
* the observation has one fixed size: the legal moves travel as bits, exact and never cut off;
* an acting seat always has a legal move, which is asserted (an empty row would play nonsense).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from lupai.agents.network import pack_legal, packed_width
from lupai.envs.game import make_game, rules_class
from lupai.train.games import DEFAULT, training_game
from lupai.train.privileged import CHECK_EVERY, GROUNDED
from lupai.train.rewards import Rewards
from lupai.train.sampling.tables import SKIPS

OBSERVATION: Final = "observation"
LEGAL: Final = "legal"

Obs = dict[str, npt.NDArray[Any]]


class LupaiEnv(MultiAgentEnv):
    """One table; agents ``player_0``, ``player_1``, … in seat order, always all of them.

    Config keys (``config`` is RLlib's EnvContext or a dict):
        game: which game, ``baohuang``. rules: rules string. skip: see EnvConfig.
        reward: arguments of :class:`~lupai.train.rewards.Rewards` beside the rules.
        stream: list of ints that keys this run's deals, such as ``[seed, iterations before]``.
        privileged: put what only a learner may see into the infos, see lupai.train.privileged.
        grounded: and at some decisions what the record alone says of who is guard.

    Attributes:
        rewards: what decisions are paid by; its coefficient is set anew between iterations.
        stream: what keys the deals, together with the worker's number; read where they are seeded.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        config = config or {}
        game = config.get("game", DEFAULT)
        self.game = training_game(game)
        self.engine: Any = make_game(game, config.get("rules", rules_class(game).default))
        actions = self.engine.actions
        self.skip = str(config.get("skip", "idle"))
        if self.skip not in SKIPS:
            raise ValueError(f"skip is {self.skip!r}; allowed: {', '.join(SKIPS)}")
        self.rewards = Rewards(self.engine.rules, game=game, **config.get("reward", {}))
        self._privileged = bool(config.get("privileged", False))
        self._grounded = bool(config.get("grounded", False))
        self._looks = 0
        self._asked = np.zeros(self.engine.seats, bool)  # seats that decided in this hand
        self._credit = np.zeros(self.engine.seats, np.int64)  # at their last decisions
        self._phi = np.zeros(self.engine.seats)
        self.stream = [int(k) for k in config.get("stream", [0])]
        self._worker = int(getattr(config, "worker_index", 0) or 0)
        self._deals = np.random.Generator(np.random.PCG64(np.random.SeedSequence()))
        # Fixed lists: RLlib needs both, and agents must never shrink during a game.
        self.possible_agents = [f"player_{seat}" for seat in range(self.engine.seats)]
        self.agents = list(self.possible_agents)
        size = self.engine.observation_layout.size
        space = spaces.Dict(
            {
                OBSERVATION: spaces.Box(-128, 127, (size,), np.int8),
                LEGAL: spaces.Box(0, 255, (packed_width(actions.size),), np.uint8),
            }
        )
        action: Any = spaces.Discrete(actions.size)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, action)
        self._state: Any = None
        self._legal: Any = None
        self._ids: npt.NDArray[np.integer] = np.zeros(0, np.int32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Obs], dict[str, Any]]:
        """Deal the next hand of this env's own stream.

        ``seed`` starts the stream anew. It is mixed with the run's key and the worker's number:
        RLlib's own seeds (seed + worker + env) would make neighbours play the same deals.
        """
        if seed is not None:
            key = [*self.stream, self._worker, int(seed) % (1 << 63)]
            words = np.random.SeedSequence(key)
            self._deals = np.random.Generator(np.random.PCG64(words))
        while True:
            deal = self._deals.integers(0, 1 << 63, size=1, dtype=np.uint64)
            self._state = self.engine.reset(deal)
            self._asked[:] = False
            self._credit[:] = 0
            self._phi[:] = 0
            if not self._advance():  # a hand may end unasked only in odd small decks
                self._paid()
                return {self._actor: self._observe(self._seat)}, self._infos()

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Obs], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the acting seat's move, then everything that needs no decision.

        Raises:
            ValueError: a move for another seat than the acting one.
            IllegalMoveError: from the engine.
        """
        actor = self._actor
        if set(action_dict) != {actor}:
            raise ValueError(f"moves of {sorted(action_dict)}; only {actor} acts")
        move = np.array([int(action_dict[actor])])
        self.engine.step(self._state, move, legal=self._legal)
        if self._advance():
            return self._end()
        actor = self._actor
        return (
            {actor: self._observe(self._seat)},
            {actor: self._paid()},
            {"__all__": False},
            {"__all__": False},
            self._infos(),
        )

    def _infos(self) -> dict[str, Any]:
        """Of the acting seat: all hands and roles, which the policy never gets."""
        if not self._privileged:
            return {}
        self._looks += 1
        check = [True] if self._grounded and self._looks % CHECK_EVERY == 0 else None
        columns = self.game.learner_columns(self.engine, self._state, np.array([self._seat]), check)
        info = {name: column[0] for name, column in columns.items()}
        if GROUNDED in info and np.isnan(info[GROUNDED]).any():
            del info[GROUNDED]
        return {self._actor: info}

    @property
    def _seat(self) -> int:
        return int(self._state.actor[0])

    @property
    def _actor(self) -> str:
        return self.possible_agents[self._seat]

    def _advance(self) -> bool:
        """Play on until somebody has to decide; True when the hand is over."""
        while not self._state.over[0]:
            self._legal = self.engine.legal(self._state)
            ids, _ = self._legal.ids()
            if len(ids) == 0:
                raise RuntimeError(f"engine fault: seat {self._seat} has no legal move")
            if self.skip != "none" and len(ids) == 1:
                move = ids[:1]
            elif self.skip == "idle" and self._legal.idle()[0]:
                move = np.array([self.engine.actions.verb_id["pass"]])
            else:
                self._ids = ids
                return False
            self.engine.step(self._state, move, legal=self._legal)
        return True

    def _observe(self, seat: int) -> Obs:
        """What ``seat`` knows now; legal moves only for the acting seat."""
        acts = not self._state.over[0] and seat == self._seat
        ids = self._ids if acts else self._ids[:0]
        seats = np.array([seat])
        return {
            OBSERVATION: np.array(self.engine.observe(self._state, seats)[0]),
            LEGAL: pack_legal(ids, np.array([0, len(ids)]), self.engine.actions.size)[0],
        }

    def _paid(self) -> float:
        """Reward of the acting seat's decision before this one, 0 if this is its first."""
        seat = self._seat
        credit, phi = self.rewards.at(self._state, np.array([seat]))
        reward = 0.0
        if self._asked[seat]:
            reward = float(self.rewards.pay(self._credit[seat], credit[0], self._phi[seat], phi[0]))
            self._credit[seat] = credit[0]
        self._asked[seat] = True
        self._phi[seat] = phi[0]
        return reward

    def _end(
        self,
    ) -> tuple[dict[str, Obs], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        scores = self.engine.scores(self._state)[0].astype(int)
        if scores.sum() != 0:
            raise RuntimeError(f"engine fault: scores {scores.tolist()} do not sum to zero")
        roles = self.game.seat_roles(self._state)[0].tolist()
        info = {"scores": scores.tolist(), "roles": roles, "game": self.game.name}
        names = self.possible_agents
        rewards = self.rewards.pay(self._credit, scores, self._phi, np.zeros(len(names)))
        return (
            {name: self._observe(seat) for seat, name in enumerate(names)},
            dict(zip(names, rewards.tolist(), strict=True)),
            {**dict.fromkeys(names, True), "__all__": True},
            {"__all__": False},
            dict.fromkeys(names, info),
        )
