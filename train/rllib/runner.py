"""Our sampler: an EnvRunner that plays many tables of the vector engine at once.

RLlib's own MultiAgentEnvRunner spends most of its time in bookkeeping of single decisions. Here
decisions of all tables are made by one forward pass and stored as columns; the learner gets them
as :class:`~lupai.train.rllib.trajectories.Trajectories`. What a seat did last and has seen no
answer to yet is kept for the next call, as RLlib keeps hanging actions, so every decision is
learned once.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES,
    NUM_EPISODES_LIFETIME,
    NUM_MODULE_STEPS_SAMPLED,
    NUM_MODULE_STEPS_SAMPLED_LIFETIME,
    SAMPLE_TIMER,
    WEIGHTS_SEQ_NO,
)

from lupai.envs.baohuang.rules import load_rules
from lupai.train.rewards import Rewards
from lupai.train.rllib.callbacks import log_hand
from lupai.train.rllib.env import LEGAL, OBSERVATION
from lupai.train.rllib.payroll import Payroll
from lupai.train.rllib.tables import Finished, Tables
from lupai.train.rllib.trajectories import Recorder, Trajectories

POLICY: Final = "shared"


class BatchEnvRunner(MultiAgentEnvRunner):
    """Samples ``num_envs_per_env_runner`` tables in lockstep.

    Attributes:
        rewards: what decisions are paid by; its coefficient is set anew between iterations.
    """

    def __init__(self, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        options = self.config.env_config
        self.rewards = Rewards(load_rules(options["rules"]), **options["reward"])
        self._tables: Tables | None = None
        self._payroll: Payroll
        self._seen: dict[str, Any] = {}  # what stands before the acting seats
        self._record = Recorder()
        self._hands = np.zeros(0, np.int64)  # [B] number of the running hand
        self._decisions = np.zeros(0, np.int64)  # [B] decisions in it so far
        self._next_hand = 0

    def sample(
        self, *, num_timesteps: int | None = None, explore: bool | None = None, **kwargs: Any
    ) -> list[Trajectories]:
        """Play until about ``num_timesteps`` decisions (the config's share if None) are made.

        Returns:
            One set of trajectories, or none if no decision is complete yet. Cut trajectories name
            the decision that follows, whose value stands in for the rest of the hand.
        """
        if any(kwargs.values()):
            raise NotImplementedError(f"{sorted(kwargs)}: sample whole fragments with this runner")
        if num_timesteps is None:
            fragment = self.config.get_rollout_fragment_length(self.worker_index)
            num_timesteps = fragment * self.num_envs
        self.metrics.log_value(WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        with self.metrics.log_time(SAMPLE_TIMER):
            data = self._play(math.ceil(num_timesteps / self.num_envs))
        return [data] if len(data) else []

    def _start(self) -> Tables:
        options = self.config.env_config
        key = [*options.get("stream", [0]), self.worker_index or 0]
        tables = Tables(options["rules"], options["skip"], key, self.num_envs)
        self._payroll = Payroll(self.rewards, self.num_envs)
        self._hands = np.arange(self.num_envs)
        self._decisions = np.zeros(self.num_envs, np.int64)
        self._next_hand = self.num_envs
        self._seen = self._look(tables)
        return tables

    def _play(self, rounds: int) -> Trajectories:
        if self._tables is None:
            self._tables = self._start()
        tables, record = self._tables, self._record
        record.begin((rounds + 1) * len(tables))
        for _ in range(rounds):
            actions, log_probs = self._choose(self._seen)
            self._add(actions, log_probs)
            self._decisions += 1
            for end in tables.step(actions):
                self._close(end)
            self._seen = self._look(tables)
        nothing = np.zeros(len(tables))
        self._add(nothing, nothing)
        ended = self._payroll.ended
        self._count(rounds * len(tables), len(ended))
        data = record.finish(ended, len(tables))
        self._payroll.settle(data)
        return data

    def _look(self, tables: Tables) -> dict[str, Any]:
        """Columns ``[B, ...]`` of what stands before the acting seats; all reach the learner."""
        seats = tables.seats
        observation, legal = tables.observe()
        columns = {"seat": seats, OBSERVATION: observation, LEGAL: legal}
        return columns | self._payroll.columns(tables.state, seats)

    def _choose(self, columns: dict[str, Any]) -> tuple[Any, Any]:
        """``(actions [B], log-probabilities [B])``."""
        obs = {name: torch.from_numpy(columns[name]) for name in (OBSERVATION, LEGAL)}
        out = self.module.forward_exploration({POLICY: {Columns.OBS: obs}})[POLICY]
        return out[Columns.ACTIONS].numpy(), out[Columns.ACTION_LOGP].numpy()

    def _add(self, actions: Any, log_probs: Any) -> None:
        made = {Columns.ACTIONS: actions, Columns.ACTION_LOGP: log_probs}
        self._record.add(hand=self._hands, **self._seen, **made)

    def _close(self, end: Finished) -> None:
        """Log a finished hand and give the table its next number."""
        table = end.table
        self._payroll.close(table, int(self._hands[table]), end.scores)
        log_hand(self.metrics, end.roles.tolist(), end.scores.tolist(), int(self._decisions[table]))
        self._hands[table] = self._next_hand
        self._next_hand += 1
        self._decisions[table] = 0

    def _count(self, steps: int, hands: int) -> None:
        # Also when it is 0: RLlib sums what some runners did not log to NaN.
        self.metrics.log_value(NUM_EPISODES, hands, reduce="sum")
        self.metrics.log_value(NUM_EPISODES_LIFETIME, hands, reduce="lifetime_sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        self.metrics.log_value(
            NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum", with_throughput=True
        )
        self.metrics.log_value((NUM_MODULE_STEPS_SAMPLED, POLICY), steps, reduce="sum")
        self.metrics.log_value(
            (NUM_MODULE_STEPS_SAMPLED_LIFETIME, POLICY), steps, reduce="lifetime_sum"
        )
