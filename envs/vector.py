"""Many tables in one environment, as near to gymnasium's ``VectorEnv`` as a turn-based game allows.

At every step each table gives the observation of the seat that is asked there, and takes its
action. What differs from gymnasium:

* rewards are ``[B, S]``, one for each seat, paid when a hand ends;
* legal moves are no part of the observation: :meth:`VectorEnv.legal_ids` gives them ragged, without
  ever making the dense mask, :meth:`VectorEnv.action_mask` dense;
* with ``autoreset`` a hand that ends is followed by the next one within the same step
  (gymnasium's ``AutoresetMode.SAME_STEP``): reward and ``terminated`` are of the hand that ended,
  the observation is the first of the new one, ``info["final_info"]`` has the rest.

Table ``i`` plays the hands that the AEC environment plays after ``reset(seed=seeds[i])`` and then
``reset()`` again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from lupai.envs.deals import check_seed, fresh_seeds, seed_array
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game, LegalMoves, Tables
from lupai.envs.seats import NOBODY

I64 = npt.NDArray[np.int64]
Observation = dict[str, npt.NDArray[Any]]
Info = dict[str, Any]

MAX_TABLES: Final = 1 << 20
_BITS: Final = np.array([128 >> i for i in range(8)], np.uint8)  # of a byte, as in packbits


class _Memory(NamedTuple):
    """What a step gives out, for :class:`VectorEnv`."""

    observation: npt.NDArray[np.int8]
    seats: I64
    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]


def check_num_envs(num_envs: int) -> None:
    """Refuse what is no number of tables."""
    if isinstance(num_envs, bool) or not isinstance(num_envs, int):
        raise LupaiError(f"num_envs {num_envs!r} is no integer")
    if not 1 <= num_envs <= MAX_TABLES:
        raise LupaiError(f"num_envs {num_envs} is not in 1 … {MAX_TABLES}")


class VectorEnv:
    """B tables of one game.

    Args:
        engine: the rules.
        num_envs: number of tables B.
        seed: one seed, from which table i gets ``seed + i``, or B of them; random if None.
        skip_forced: decisions with a single legal answer are played by the environment itself. No
            observation tells who was skipped: the bytes are the same as without.
        autoreset: deal the next hand where one has ended. Without it a finished table rests:
            its acting seat is -1, its observation zero, its action ignored.
        copy: give out new memory at every step. Without it the arrays of an observation, rewards,
            terminated and truncated are those of the call before, overwritten; ``info`` and legal
            moves are new all the same.

    Attributes:
        single_observation_space, single_action_space: of one table.
        observation_space, action_space: of all, batched as in gymnasium.
    """

    def __init__(
        self,
        engine: Game,
        num_envs: int,
        seed: int | Sequence[int] | None = None,
        *,
        skip_forced: bool = False,
        autoreset: bool = True,
        copy: bool = True,
    ) -> None:
        check_num_envs(num_envs)
        self.engine = engine
        self.num_envs = num_envs
        self.skip_forced = skip_forced
        self.autoreset = autoreset
        self.copy = copy
        layout = engine.observation_layout
        self.single_observation_space = spaces.Dict(
            {
                "observation": spaces.Box(layout.low, layout.high, dtype=np.int8),
                "acting_seat": spaces.Discrete(engine.seats + 1, start=NOBODY),
            }
        )
        self.single_action_space: Any = spaces.Discrete(engine.actions.size)
        low, high = (np.tile(bound, (num_envs, 1)) for bound in (layout.low, layout.high))
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(low, high, dtype=np.int8),
                "acting_seat": spaces.Box(NOBODY, engine.seats - 1, (num_envs,), np.int64),
            }
        )
        self.action_space = spaces.MultiDiscrete(np.full(num_envs, engine.actions.size))
        self._rules = str(engine.rules)
        self._memory = self._new_memory()
        self._seeds = self._seed_all(seed)
        self._episodes = np.zeros(num_envs, np.int64)
        self._state: Any = None
        self._legal: Any = None

    def _seed_all(self, seed: int | Sequence[int] | None) -> npt.NDArray[np.uint64]:
        if seed is None:
            return fresh_seeds(self.num_envs)
        if isinstance(seed, Sequence | np.ndarray):
            if len(seed) != self.num_envs:
                raise LupaiError(f"{len(seed)} seeds for {self.num_envs} tables")
            return seed_array(seed)
        first = check_seed(seed)
        return seed_array([check_seed(first + i) for i in range(self.num_envs)])

    # --- gymnasium's protocol --------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Deal a hand at every table: of new seeds, or the next of the running ones.

        Raises:
            SeedError: a seed outside of 0 … 2**64 - 1.
            LupaiError: another number of seeds than of tables, or any option.
        """
        if options:
            raise LupaiError(f"reset: there are no options, not {sorted(options)[0]!r}")
        if seed is not None:
            self._seeds = self._seed_all(seed)
            self._episodes[:] = 0
        elif self._state is not None:
            self._episodes += 1
        self._state = self.engine.reset(self._seeds, self._episodes)
        self._move_on()
        if self.copy:
            self._memory = self._new_memory()
        return self._observe(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], Any, Info]:
        """One decision at every table.

        Args:
            actions: ``[B]`` action ids.

        Returns:
            observation, rewards ``[B, S] float64``, terminated ``[B] bool``, truncated ``[B]``
            (never), info.

        Raises:
            IllegalMoveError: an action is not legal; no table has changed.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions {chosen.shape}, expected ({self.num_envs},)")
        if self._state is None:
            raise LupaiError("step before reset")
        resting = self._state.over
        if resting.any():
            live = np.flatnonzero(~resting)
            if live.size:
                self.engine.step(self._state, chosen[live], live, legal=self._legal.take(live))
        else:
            self.engine.step(self._state, chosen, legal=self._legal)
        ended = self._move_on(resting)
        if self.copy:
            self._memory = self._new_memory()
        memory, info = self._memory, self._info()
        memory.rewards.fill(0)
        memory.terminated.fill(False)
        if ended:
            final: list[Info | None] = [None] * self.num_envs
            for rows, state in ended:
                memory.rewards[rows] = self.engine.scores(state)
                memory.terminated[rows] = True
                for row, one in zip(rows.tolist(), self._last_infos(state), strict=True):
                    final[row] = one
            info |= {"final_info": final, "_final_info": memory.terminated.copy()}
        return self._observe(), memory.rewards, memory.terminated, memory.truncated, info

    def close(self) -> None:
        """Nothing to close."""

    # --- legal moves -----------------------------------------------------------------------------

    @property
    def legal(self) -> LegalMoves:
        """Legal moves of the acting seats; none where a table rests."""
        moves: LegalMoves = self._legal
        return moves

    def legal_ids(self) -> tuple[npt.NDArray[np.int32], I64]:
        """Ragged: ``(flat, offsets [B + 1])``; table i has ``flat[offsets[i]:offsets[i + 1]]``."""
        return self.legal.ids()

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Dense mask ``[B, A] int8``."""
        return self.legal.dense()

    def packed_mask(self) -> npt.NDArray[np.uint8]:
        """``np.packbits(self.action_mask(), axis=1)``, ``[B, A / 8 rounded up]``, without ever
        making the dense mask."""
        ids, offsets = self.legal_ids()
        width = (self.engine.actions.size + 7) // 8
        packed = np.zeros(self.num_envs * width, np.uint8)
        row = np.repeat(np.arange(0, len(packed), width), np.diff(offsets))
        np.bitwise_or.at(packed, row + (ids >> 3), _BITS.take(ids & 7))
        return packed.reshape(self.num_envs, width)

    # --- inside ----------------------------------------------------------------------------------

    @property
    def state(self) -> Tables:
        """WARNING, god's eye: the tables themselves."""
        tables: Tables = self._state
        return tables

    def _move_on(self, resting: npt.NDArray[np.bool_] | None = None) -> list[tuple[Any, Any]]:
        """Deal where a hand has ended, play what is forced, until every table has a decision.

        Args:
            resting: ``[B]`` tables that were over before this step; None: no hand is paid out.

        Returns:
            ``(rows, their state at the end)`` of the hands that ended in this step.
        """
        over = self._state.over
        ended: list[tuple[Any, Any]] = []
        paid = np.ones(self.num_envs, bool) if resting is None else resting
        while True:
            if over.any():
                rows = np.flatnonzero(over & ~paid)
                if rows.size:
                    ended.append((rows, self._state.take(rows)))
                    paid[rows] = True
                if self.autoreset:
                    # after a hand was paid, one that ends without asking anybody is dealt anew too
                    again = np.flatnonzero(over)
                    self._episodes[again] += 1
                    fresh = self.engine.reset(self._seeds[again], self._episodes[again])
                    self._state.put(again, fresh)
            self._legal = self.engine.legal(self._state)
            if not self.skip_forced:
                return ended
            forced = np.flatnonzero(self._legal.counts() == 1)
            if not forced.size:
                return ended
            part = self._legal.take(forced)
            self.engine.step(self._state, part.ids()[0], forced, legal=part)
            over = self._state.over

    def _new_memory(self) -> _Memory:
        tables, seats = self.num_envs, self.engine.seats
        return _Memory(
            np.empty((tables, self.engine.observation_layout.size), np.int8),
            np.empty(tables, np.int64),
            np.zeros((tables, seats)),
            np.zeros(tables, bool),
            np.zeros(tables, bool),
        )

    def _observe(self) -> Observation:
        seen, seats = self._memory.observation, self._memory.seats
        seats[:] = self._state.actor
        if seats.min() != NOBODY:
            self.engine.observe(self._state, seats, out=seen)
        else:
            asked = np.flatnonzero(seats != NOBODY)
            seen.fill(0)
            if asked.size:
                seen[asked] = self.engine.observe(self._state, seats[asked], asked)
        return {"observation": seen, "acting_seat": seats}

    def _info(self) -> Info:
        state = self._state
        return {
            "rules": self._rules,
            "phase": state.phase.astype(np.int64),
            "redeals": state.redeals.astype(np.int64),
            "episode": self._episodes.copy(),
        }

    def _last_infos(self, state: Any) -> list[Info]:
        """What the AEC environment's last info says of each table."""
        phases, redeals = state.phase.tolist(), state.redeals.tolist()
        return [
            {"rules": self._rules, "phase": self.engine.phases[phase], "redeals": redeal} | final
            for phase, redeal, final in zip(
                phases, redeals, self.engine.final_infos(state), strict=True
            )
        ]
