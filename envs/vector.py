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
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from lupai.envs.deals import check_seed, seed_array
from lupai.envs.errors import LupaiError
from lupai.envs.game import Game, LegalMoves, Tables
from lupai.envs.seats import NOBODY

I64 = npt.NDArray[np.int64]
Observation = dict[str, npt.NDArray[Any]]
Info = dict[str, Any]

MAX_TABLES: Final = 1 << 20


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
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int):
            raise LupaiError(f"num_envs {num_envs!r} is no integer")
        if not 1 <= num_envs <= MAX_TABLES:
            raise LupaiError(f"num_envs {num_envs} is not in 1 … {MAX_TABLES}")
        self.engine = engine
        self.num_envs = num_envs
        self.skip_forced = skip_forced
        self.autoreset = autoreset
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
        self._rows = np.arange(num_envs)
        self._seeds = self._seed_all(seed)
        self._episodes = np.zeros(num_envs, np.int64)
        self._state: Any = None
        self._legal: Any = None

    def _seed_all(self, seed: int | Sequence[int] | None) -> npt.NDArray[np.uint64]:
        if seed is None:
            words = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
            return words >> np.uint64(11)
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
        live = np.flatnonzero(~self._state.over)
        if len(live) == self.num_envs:
            self.engine.step(self._state, chosen, legal=self._legal)
        elif live.size:
            self.engine.step(self._state, chosen[live], live, legal=self._legal.take(live))
        ended = self._move_on(live)
        rewards = np.zeros((self.num_envs, self.engine.seats))
        terminated = np.zeros(self.num_envs, bool)
        info = self._info()
        if ended:
            final: list[Info | None] = [None] * self.num_envs
            for rows, state in ended:
                rewards[rows] = self.engine.scores(state)
                terminated[rows] = True
                for place, row in enumerate(rows.tolist()):
                    final[row] = self._public(state, place)
            info |= {"final_info": final, "_final_info": terminated.copy()}
        return self._observe(), rewards, terminated, np.zeros(self.num_envs, bool), info

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

    # --- inside ----------------------------------------------------------------------------------

    @property
    def state(self) -> Tables:
        """WARNING, god's eye: the tables themselves."""
        tables: Tables = self._state
        return tables

    def _move_on(self, live: Any = None) -> list[tuple[Any, Any]]:
        """Deal where a hand has ended, play what is forced, until every table has a decision.

        Returns:
            ``(rows, their state at the end)`` of the hands of ``live`` tables that ended.
        """
        over = self._state.over
        ended: list[tuple[Any, Any]] = []
        counted = np.ones(self.num_envs, bool)  # tables whose hand has been paid out, or rests
        counted[self._rows if live is None else live] = live is None
        while True:
            rows = np.flatnonzero(over & ~counted)
            if rows.size:
                ended.append((rows, self._state.take(rows)))
                counted[rows] = True
            if self.autoreset and over.any():
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

    def _observe(self) -> Observation:
        seats = self._state.actor.astype(np.int64)
        asked = np.flatnonzero(seats != NOBODY)
        if len(asked) == self.num_envs:
            seen = self.engine.observe(self._state, seats)
        else:
            seen = np.zeros((self.num_envs, self.engine.observation_layout.size), np.int8)
            if asked.size:
                seen[asked] = self.engine.observe(self._state, seats[asked], asked)
        return {"observation": seen, "acting_seat": seats}

    def _info(self) -> Info:
        state = self._state
        return {
            "rules": str(self.engine.rules),
            "phase": state.phase.astype(np.int64),
            "redeals": state.redeals.astype(np.int64),
            "episode": self._episodes.copy(),
        }

    def _public(self, state: Any, table: int) -> Info:
        """What the AEC environment's last info says."""
        return {
            "rules": str(self.engine.rules),
            "phase": self.engine.phases[state.phase[table]],
            "redeals": int(state.redeals[table]),
        } | self.engine.final_info(state, table)
