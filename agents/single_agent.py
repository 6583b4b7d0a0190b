"""One seat against fixed agents, as a gymnasium environment.

It stands here and not in ``lupai.envs`` because it seats agents, and agents are built on the
environments: imports go one way. :func:`lupai.envs.single_agent_env` is the door, and
``gymnasium.make("lupai/Baohuang-v0")`` (or ``"lupai/Gouji-v0"``) another.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from lupai.agents.tables import ROLES, LearnerTables, Opponent, own_roles
from lupai.envs.aec import RENDER_MODES, Observation, seat_space
from lupai.envs.deals import check_seed, fresh_seeds
from lupai.envs.errors import IllegalMoveError, LupaiError
from lupai.envs.game import Game, make_game
from lupai.envs.records import make_record
from lupai.envs.seats import NOBODY
from lupai.envs.view import View

Info = dict[str, Any]
_RESET_OPTIONS: Final = ("hands", "start", "seat")
RENDER_FPS: Final = 2


class SingleAgentEnv(gymnasium.Env[Observation, np.int64]):
    """One hand per episode, seen from one seat; agents play the other seats inside ``step``.

    Args:
        seat_or_role: who learns. A seat 0 … 4; ``"random"``: a seat drawn for each hand; or
            ``"emperor"``, ``"guard"``, ``"rebel"``: who has that role when play begins. With a
            role everything before the first lead is played by the
            :class:`~lupai.agents.caller.NeutralCaller`, and hands without such a role are left
            out. Roles are Baohuang's.
        opponents: an agent or the name or folder of one (:func:`lupai.agents.load`) for all other
            seats, or four of them in play order from the learner's next seat.
        rules: as everywhere: preset, rules string, YAML file, dict or ``Rules``.
        skip_forced: play decisions with a single legal move without asking.
        illegal_reward: None: an illegal action raises ``IllegalMoveError`` and changes nothing.
            A number: it ends the hand, and this is the reward.
        render_mode: ``"ansi"`` returns the table from the learner's view, ``"human"`` prints it
            after every reset and step.
        game: which game: ``"baohuang"``, or ``"gouji"`` with rules of it.

    Raises:
        LupaiError: a value that is not allowed; says which are.
        UnknownAgentError: no such opponent.
        RulesError: options that do not exist or make no sense.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        seat_or_role: int | str = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        rules: Any = "qingdao",
        *,
        skip_forced: bool = False,
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        game: str = "baohuang",
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise LupaiError(
                f"render_mode {render_mode!r}: allowed: {', '.join(RENDER_MODES)}, None"
            )
        self.engine: Game = make_game(game, rules)
        self.render_mode = render_mode
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self._tables = LearnerTables(
            self.engine, 1, seat_or_role, opponents, skip_forced=skip_forced
        )
        self.observation_space = seat_space(self.engine)
        self.action_space: Any = spaces.Discrete(self.engine.actions.size)
        self._rules = str(self.engine.rules)
        self._seeded = False
        self._asked = False  # a decision of the learner is open
        self._legal_ids = np.zeros(0, np.int32)
        self._injected: tuple[list[str], int] | None = None

    # --- gymnasium's protocol --------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Deal a hand and play it up to the learner's first decision.

        Args:
            seed: 0 … 2**64 - 1; without one the next hand of the running seed is dealt (of a
                random one, if there is none yet).
            options: ``{"hands": [five texts], "start": seat}`` deals these very hands;
                ``{"seat": seat}`` is where the learner sits in this hand (not with a role).

        Raises:
            SeedError, NotationError, RulesError: see :meth:`Engine.reset` and ``reset_hands``.
            LupaiError: unknown options, or a hand without a decision for the learner.
        """
        seat, injected = self._check_options(options or {})
        if seed is not None:
            base, episode = check_seed(seed), 0
        elif not self._seeded:
            base, episode = int(fresh_seeds(1)[0]), 0
        else:
            base, episode = int(self._tables.bases[0]), int(self._tables.episodes[0]) + 1
        state = None if injected is None else self.engine.reset_hands(*injected)
        super().reset(seed=None if seed is None else base)
        self._injected, self._seeded, self._asked = injected, True, False
        self._tables.reset(np.array([base], np.uint64), np.array([episode]), state, seat)
        answer = self._answer(asked=True)
        if self.render_mode == "human":
            self.render()
        return answer

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Play the learner's move, and the others' up to his next decision or the end.

        Returns:
            observation; reward: 0, at the end of the hand the learner's score; terminated;
            truncated (never); info.

        Raises:
            IllegalMoveError: not legal, unless there is an ``illegal_reward``; nothing has changed.
            LupaiError: the hand is over, or none has been dealt.
        """
        if not self._asked:
            raise LupaiError("step: no hand is being played; call reset first")
        tables = self._tables
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not (self._legal_ids == number).any():
            if self.illegal_reward is None:
                raise IllegalMoveError(self._explain(action, number))
            observation, info = self._answer(asked=False)
            return observation, self.illegal_reward, True, False, info | {"illegal": number}
        tables.step(np.array([number]), np.zeros(1, np.intp))
        over = bool(tables.state.over[0])
        observation, info = self._answer(asked=not over)
        reward = 0.0
        if over:
            reward = float(self.engine.scores(tables.state)[0, tables.seats[0]])
            info |= final_info(self.engine, tables.state, 0)
        if self.render_mode == "human":
            self.render()
        return observation, reward, over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """``[A] bool``: legal actions, as sb3-contrib's ``MaskablePPO`` asks for them."""
        mask = np.zeros(self.engine.actions.size, bool)
        mask[self._legal_ids] = True
        return mask

    def render(self) -> str | None:  # type: ignore[override]
        """The table as text from the learner's view: returned, printed, or neither."""
        if self.render_mode == "human":
            print(self.view())
        return str(self.view()) if self.render_mode == "ansi" else None

    # --- text ------------------------------------------------------------------------------------

    def view(self) -> View:
        """What the learner may know: his hand, legal moves as text, and the public history."""
        tables = self._tables
        if tables.state is None:
            raise LupaiError("view: no hand is being played; call reset first")
        seat = int(tables.seats[0])
        return View.of(self.engine, tables.state, seat, tables.text().history[0])

    def record(self, players: list[str] | None = None) -> dict[str, Any]:
        """WARNING, god's eye: the hand so far as a record (docs/formats.md)."""
        tables = self._tables
        if tables.state is None:
            raise LupaiError("record: no hand is being played; call reset first")
        redeals = int(tables.state.redeals[0])
        seed = int(tables.hands[0]) if self._injected is None else None
        hands, start = self._injected or self.engine.dealt_hands(int(tables.hands[0]), redeals)
        outcome = self.engine.outcome(tables.state, 0)
        return make_record(
            self.engine, seed, hands, start, tables.text().moves[0], outcome, redeals, players
        )

    # --- inside ----------------------------------------------------------------------------------

    def _check_options(
        self, options: dict[str, Any]
    ) -> tuple[int | None, tuple[list[str], int] | None]:
        unknown = sorted(set(options) - set(_RESET_OPTIONS))
        if unknown:
            raise LupaiError(
                f"reset: unknown option {unknown[0]!r}; known: {', '.join(_RESET_OPTIONS)}"
            )
        if ("hands" in options) != ("start" in options):
            raise LupaiError("reset: an injected deal needs both options, hands and start")
        seat = options.get("seat")
        if seat is not None:
            if self._tables.place in ROLES:
                raise LupaiError(
                    f"reset: option seat: the learner sits where the {self._tables.place} is"
                )
            good = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
            if not good or not 0 <= seat < self.engine.seats:
                raise LupaiError(
                    f"reset: option seat {seat!r}: seats are 0 … {self.engine.seats - 1}"
                )
        injected = (options["hands"], options["start"]) if "hands" in options else None
        return (None if seat is None else int(seat)), injected

    def _explain(self, action: Any, number: int) -> str:
        if not 0 <= number < self.engine.actions.size:
            return f"action {action!r} is no integer in 0 … {self.engine.actions.size - 1}"
        return self.engine.explain_illegal(self._tables.state, 0, number)

    def _answer(self, asked: bool) -> tuple[Observation, Info]:
        """Observation and info of the learner, who is at a decision or not."""
        tables, state = self._tables, self._tables.state
        tables.settle()
        seat = int(tables.seats[0])
        self._asked = asked
        self._legal_ids = tables.legal.ids()[0] if asked else np.zeros(0, np.int32)
        row = self.engine.observe(state, seat)[0]
        mask = np.zeros(self.engine.actions.size, np.int8)
        mask[self._legal_ids] = 1
        info = {
            "rules": self._rules,
            "phase": self.engine.phases[state.phase[0]],
            "redeals": int(state.redeals[0]),
            "seat": seat,
            "role": own_roles(self.engine, row[None])[0],
            "legal_ids": self._legal_ids.tolist(),
        }
        return {"observation": row, "action_mask": mask}, info


def final_info(engine: Game, state: Any, table: int) -> Info:
    """The game's final info with -1 for nobody: gymnasium's vector environments stack these
    numbers, and lists as objects, but fail where one table says None and the next a seat."""
    final = engine.final_info(state, table)
    info: Info = {key: NOBODY if value is None else value for key, value in final.items()}
    if "roles" in info:
        roles = {name: NOBODY if who is None else who for name, who in info["roles"].items()}
        info["roles"] = roles | {"solo": info["roles"]["solo"]}
    return info


def check_illegal_reward(value: float | None) -> float | None:
    """The reward of an illegal action as a float.

    Raises:
        LupaiError: neither a finite number nor None.
    """
    if value is None:
        return None
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value):
        raise LupaiError(f"illegal_reward {value!r}: allowed: a finite number, None")
    return float(value)
