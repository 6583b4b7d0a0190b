"""The PettingZoo AEC adapter: a table of one on a rules engine. It holds no rules.

A player who has gone out stays in ``agents`` and is not selected again; all five end together at
the end of the hand, when each gets its whole score, whoever acted last. (A seat that ended early
would lose its reward in RLlib's wrapper without any error.)
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from lupai.envs.deals import check_seed, fresh_seeds
from lupai.envs.errors import IllegalMoveError, LupaiError
from lupai.envs.game import Game, LegalMoves, Tables
from lupai.envs.log import TableLog
from lupai.envs.records import make_record
from lupai.envs.seats import NOBODY
from lupai.envs.view import View
from lupai.envs.wrappers import AssertOutOfBounds, OrderEnforcing, TerminateIllegal

Observation = dict[str, npt.NDArray[np.int8]]
_RESET_OPTIONS = ("hands", "start")
REWARDS = ("score",)
RENDER_MODES = ("ansi", "human")


def seat_space(engine: Game) -> spaces.Dict:
    """What one seat observes: ``observation`` and ``action_mask``, both int8."""
    layout = engine.observation_layout
    return spaces.Dict(
        {
            "observation": spaces.Box(layout.low, layout.high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (engine.actions.size,), np.int8),
        }
    )


class CardGameEnv(AECEnv[str, Observation, int | None]):
    """AEC environment of one hand per episode.

    Args:
        engine: the rules.
        name: name and version, ``baohuang_v0``.
        reward: ``score``: the final scores, paid to every seat in the hand's last step.
        render_mode: ``"ansi"`` returns the table from the acting seat's view, ``"human"`` prints
            it after every step, None.
    """

    def __init__(
        self, engine: Game, name: str, reward: str = "score", render_mode: str | None = None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if reward not in REWARDS:
            raise LupaiError(f"reward {reward!r}: allowed: {', '.join(REWARDS)}")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise LupaiError(
                f"render_mode {render_mode!r}: allowed: {', '.join(RENDER_MODES)}, None"
            )
        self.engine = engine
        self.render_mode = render_mode
        self.metadata = {
            "name": name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(engine.seats)]
        self.agents = []
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: seat_space(engine) for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(engine.actions.size) for agent in self.possible_agents
        }
        god = engine.state_layout
        self.state_space = spaces.Box(god.low, god.high, dtype=np.int8)
        self._rules = str(engine.rules)
        self._base_seed: int | None = None
        self._episode = 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Space of one agent's observations; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Space of one agent's actions; always the same object."""
        return self.action_spaces[agent]

    # --- the AEC protocol ------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a hand.

        Args:
            seed: 0 … 2**64 - 1; without one the next hand of the running seed is dealt (of a
                random one, if there is none yet).
            options: ``{"hands": [a text for each seat], "start": seat}`` deals these very hands; a
                game may have more.

        Raises:
            SeedError, NotationError, RulesError: see :meth:`Engine.reset` and ``reset_hands``.
        """
        options = options or {}
        known = (*_RESET_OPTIONS, *self.engine.reset_options)
        unknown = sorted(set(options) - set(known))
        if unknown:  # PettingZoo's convention is to go on; its api_test passes such an option
            warnings.warn(
                f"reset: unknown option {unknown[0]!r}; known: {', '.join(known)}", stacklevel=2
            )
        if ("hands" in options) != ("start" in options):
            raise LupaiError("reset: an injected deal needs both options, hands and start")
        if seed is not None:
            base, episode = check_seed(seed), 0
        elif self._base_seed is None:
            base, episode = int(fresh_seeds(1)[0]), 0
        else:
            base, episode = self._base_seed, self._episode + 1
        injected: tuple[list[str], int] | None = None
        own = {name: options[name] for name in self.engine.reset_options if name in options}
        engine: Any = self.engine  # its own options are no part of the protocol
        if "hands" in options:
            state = engine.reset_hands(options["hands"], options["start"], **own)
            injected = (list(options["hands"]), options["start"])
        else:
            state = engine.reset([base], episode, **own)
        self._base_seed, self._episode = base, episode
        self._injected, self._options = injected, own
        self._state: Tables = state
        self._log = TableLog(self.engine)

        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._ask()

    def step(self, action: int | None) -> None:
        """Play the acting agent's move.

        Raises:
            IllegalMoveError: the move is not legal; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._action_number(action)
        if not 0 <= number < self.engine.actions.size:
            raise IllegalMoveError(self.engine.explain_illegal(self._state, 0, number))
        self._log.step(self._state, number, self._legal)  # refuses what is not legal
        self._cumulative_rewards[agent] = 0
        self._ask()
        if self._actor == NOBODY:
            self.rewards = self._by_agent(self.engine.scores(self._state)[0])
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        if self.render_mode == "human":
            print(self.render())

    def _action_number(self, action: Any) -> int:
        try:
            return operator.index(action)
        except TypeError:
            raise IllegalMoveError(
                f"{self.agent_selection}: action {action!r} is no integer in "
                f"0 … {self.engine.actions.size - 1}"
            ) from None

    def _by_agent(self, values: npt.NDArray[np.int64]) -> dict[str, float]:
        return {agent: int(v) for agent, v in zip(self.possible_agents, values, strict=True)}

    def _ask(self) -> None:
        """Select who is asked, work out his legal moves, and renew the infos."""
        state = self._state
        info: dict[str, Any] = {
            "rules": self._rules,
            "phase": self.engine.phases[state.phase[0]],
            "redeals": int(state.redeals[0]),
        }
        self._actor = int(state.actor[0])
        self._legal: LegalMoves | None = None
        if self._actor == NOBODY:
            info.update(self.engine.final_info(state, 0))
            self.agent_selection = self.possible_agents[0]
        else:
            self._legal = self.engine.legal(state)
            self.agent_selection = self.possible_agents[self._actor]
        self.infos = {agent: info.copy() for agent in self.agents}

    def observe(self, agent: str) -> Observation:
        """Observation and mask of any agent; fresh arrays. The mask is all zero unless asked."""
        seat = self._seat[agent]
        if self._legal is not None and seat == self._actor:
            mask = self._legal.dense()[0]
        else:
            mask = np.zeros(self.engine.actions.size, np.int8)
        return {"observation": self.engine.observe(self._state, seat)[0], "action_mask": mask}

    def state(self) -> npt.NDArray[np.int8]:
        """WARNING, god's eye: all hands and roles as one vector, for centralised critics."""
        row: npt.NDArray[np.int8] = self.engine.state_vector(self._state)[0]
        return row

    # --- text ------------------------------------------------------------------------------------

    def view(self, agent: str | None = None) -> View:
        """What an agent (by default the acting one, else player_0) may know."""
        seat = self._seat[agent if agent is not None else self.agent_selection]
        return View.of(self.engine, self._state, seat, self._log.history)

    def legal_moves(self) -> list[str]:
        """Legal moves of the acting agent as text; empty when the hand is over."""
        if self._legal is None:
            return []
        return self.engine.legal_texts(self._state, 0, self._legal)

    def move_of(self, action: int) -> str:
        """Text of an action id, for the acting agent."""
        return self.engine.move_text(self._state, 0, int(action))

    def action_of(self, move: str) -> int:
        """Action id of a move text, for the acting agent."""
        return self.engine.action_of(self._state, 0, move)

    def record(self, players: list[str] | None = None) -> dict[str, Any]:
        """WARNING, god's eye: the hand so far as a record (docs/formats.md)."""
        state = self._state
        if self._injected is not None:
            seed, (hands, start) = None, self._injected
        else:
            seed = int(state.seeds[0, 0])
            hands, start = self.engine.dealt_hands(seed, int(state.redeals[0]))
        return make_record(
            self.engine, seed, hands, start, self._log.moves, self.engine.outcome(state, 0),
            int(state.redeals[0]), players, self._options,
        )  # fmt: skip

    def render(self) -> str | None:
        """The table as text from the acting agent's view; None without a render mode."""
        if self.render_mode is None:
            return None
        return str(self.view())

    def render_gods_eye(self) -> str:
        """WARNING: the table with all hands and roles."""
        return self.engine.render_gods_eye(self._state)

    def close(self) -> None:
        """Nothing to close."""


def wrap(env: CardGameEnv, illegal_reward: float = -1) -> AECEnv[str, Observation, int | None]:
    """The wrappers of PettingZoo's classic games: illegal moves end the hand, order is enforced."""
    wrapped: Any = TerminateIllegal(env, illegal_reward=illegal_reward)
    wrapped = AssertOutOfBounds(wrapped)
    result: AECEnv[str, Observation, int | None] = OrderEnforcing(wrapped)
    return result
