"""Many single-agent environments in one: what ``gymnasium.make_vec`` gives, and far faster.

The rules engine and the agents decide at all tables together, so that a table of 64 costs a small
part of what it costs alone. Table ``i`` plays what ``SingleAgentEnv`` plays after
``reset(seed=seeds[i])`` and then ``reset()`` again and again, the opponents' draws included where
these have streams for each table (``random``, ``greedy``, trained agents).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from lupai.agents.single_agent import Info, check_illegal_reward, final_info
from lupai.agents.tables import LearnerTables, Opponent, own_roles
from lupai.envs.aec import Observation, seat_space
from lupai.envs.deals import check_seed, fresh_seeds, seed_array
from lupai.envs.errors import IllegalMoveError, LupaiError
from lupai.envs.game import Game, make_game
from lupai.envs.vector import check_num_envs


class SingleAgentVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """B tables with one learner each; the next hand is dealt in the step in which one ends.

    Args:
        num_envs: number of tables B.
        seat_or_role, opponents, rules, skip_forced, illegal_reward, game: see
            :class:`~lupai.agents.single_agent.SingleAgentEnv`.
        render_mode: None.

    Raises:
        LupaiError, UnknownAgentError, RulesError: a value that is not allowed.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int,
        seat_or_role: int | str = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        rules: Any = "qingdao",
        *,
        skip_forced: bool = False,
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        game: str = "baohuang",
    ) -> None:
        check_num_envs(num_envs)
        if render_mode is not None:
            raise LupaiError(f"render_mode {render_mode!r}: many tables are not rendered")
        self.engine: Game = make_game(game, rules)
        self.num_envs = num_envs
        self.render_mode = None
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self._tables = LearnerTables(
            self.engine, num_envs, seat_or_role, opponents, skip_forced=skip_forced
        )
        self.single_observation_space = seat_space(self.engine)
        self.single_action_space: Any = spaces.Discrete(self.engine.actions.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rules = str(self.engine.rules)
        self._phases = np.array(self.engine.phases, dtype=object)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, Info]:
        """Deal at every table: of new seeds, or the next hand of the running ones.

        Args:
            seed: one, from which table i gets ``seed + i``, or B of them.
            options: none.

        Raises:
            SeedError: a seed outside of 0 … 2**64 - 1.
            LupaiError: another number of seeds than of tables, or any option.
        """
        if options:
            raise LupaiError(f"reset: there are no options, not {sorted(options)[0]!r}")
        tables, count = self._tables, self.num_envs
        if seed is None and tables.state is not None:
            bases, episodes = tables.bases, tables.episodes + 1
        else:
            bases, episodes = self._seeds(seed), np.zeros(count, np.int64)
        tables.reset(bases, episodes)
        tables.settle()
        return self._observe(), self._info()

    def _seeds(self, seed: Any) -> npt.NDArray[np.uint64]:
        fresh = fresh_seeds(self.num_envs)
        if seed is None:
            return fresh
        if isinstance(seed, Sequence | np.ndarray):
            if len(seed) != self.num_envs:
                raise LupaiError(f"{len(seed)} seeds for {self.num_envs} tables")
            return seed_array([fresh[i] if s is None else s for i, s in enumerate(seed)])
        first = check_seed(seed)
        return seed_array([check_seed(first + i) for i in range(self.num_envs)])

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Observation, npt.NDArray[np.float64], Any, Any, Info]:
        """Play the learners' moves ``[B]`` and the others' up to the next decisions.

        Returns:
            observation; rewards ``[B] float64``, the score where a hand ended; terminated
            ``[B] bool``; truncated (never); info, with ``final_obs`` and ``final_info`` where a
            hand ended.

        Raises:
            IllegalMoveError: an action is not legal, unless there is an ``illegal_reward``; no
                table has changed.
        """
        tables, count = self._tables, self.num_envs
        chosen = np.asarray(actions)
        if chosen.shape != (count,) or chosen.dtype.kind not in "iu":
            raise ValueError(f"actions {chosen.shape} {chosen.dtype}, expected ({count},) integers")
        if tables.legal is None:
            raise LupaiError("step before reset")
        chosen = chosen.astype(np.int64)
        legal = tables.legal.contains(chosen)
        bad = np.flatnonzero(~legal)
        if bad.size and self.illegal_reward is None:
            row = int(bad[0])
            why = self.engine.explain_illegal(tables.state, row, int(chosen[row]))
            raise IllegalMoveError(f"table {row}: {why}")
        rows = np.flatnonzero(legal)
        tables.step(chosen[rows], rows)

        rewards = np.zeros(count)
        over = tables.state.over
        ended = np.flatnonzero(over)
        scores = self.engine.scores(tables.state.take(ended))
        rewards[ended] = scores[np.arange(len(ended)), tables.seats[ended]]
        terminated = over.copy()
        if bad.size:
            rewards[bad] = self.illegal_reward
            terminated[bad] = True
        done = np.flatnonzero(terminated)
        final = self._final(done, bad, chosen) if done.size else {}
        if done.size:
            tables.deal(done)
        tables.settle()
        return self._observe(), rewards, terminated, np.zeros(count, bool), self._info() | final

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """``[B, A] bool``."""
        mask: npt.NDArray[np.bool_] = self._tables.legal.dense().astype(bool)
        return mask

    def legal_ids(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Ragged: ``(flat, offsets [B + 1])``; table i has ``flat[offsets[i]:offsets[i + 1]]``."""
        ids, offsets = self._tables.legal.ids()
        return ids, offsets

    # --- inside ----------------------------------------------------------------------------------

    def _observe(self) -> Observation:
        tables = self._tables
        seen = self.engine.observe(tables.state, tables.seats)
        self._roles = own_roles(self.engine, seen)
        return {"observation": seen, "action_mask": tables.legal.dense()}

    def _info(self) -> Info:
        tables, state = self._tables, self._tables.state
        info: Info = {
            "rules": np.full(self.num_envs, self._rules, dtype=object),
            "phase": self._phases[state.phase],
            "redeals": state.redeals.astype(np.int64),
            "seat": tables.seats.astype(np.int64),
            "role": self._roles,
        }
        return info | {f"_{key}": np.ones(self.num_envs, bool) for key in info}

    def _final(
        self, rows: npt.NDArray[np.intp], bad: npt.NDArray[np.intp], chosen: npt.NDArray[np.int64]
    ) -> Info:
        """``final_obs`` and ``final_info`` of hands that ended, in gymnasium's form."""
        tables, out, illegal = self._tables, Info(), set(bad.tolist())
        state = tables.state
        seen = self.engine.observe(state, tables.seats[rows], rows)
        roles = own_roles(self.engine, seen)
        for place, row in enumerate(rows.tolist()):
            mask = np.zeros(self.engine.actions.size, np.int8)
            info = {
                "rules": self._rules,
                "phase": self.engine.phases[state.phase[row]],
                "redeals": int(state.redeals[row]),
                "seat": int(tables.seats[row]),
                "role": roles[place],
            }
            if row in illegal:
                info["illegal"] = int(chosen[row])
            else:
                info |= final_info(self.engine, state, row)
            observation = {"observation": seen[place], "action_mask": mask}
            out = self._add_info(out, {"final_obs": observation, "final_info": info}, row)
        return out
