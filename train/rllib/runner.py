"""Our sampler: an EnvRunner that plays many tables of the vector engine at once.

RLlib's own MultiAgentEnvRunner spends most of its time in bookkeeping of single decisions. Here
decisions of all tables are made by one forward pass and stored as columns; the learner gets them
as :class:`~lupai.train.sampling.trajectories.Trajectories`. What a seat did last and has seen no
answer to yet is kept for the next call, as RLlib keeps hanging actions, so every decision is
learned once.
"""

from __future__ import annotations

import time
from typing import Any

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

from lupai.agents.advice import Adviser
from lupai.agents.network import in_words
from lupai.envs.game import rules_class
from lupai.train.games import DEFAULT
from lupai.train.league.lineups import Lineups
from lupai.train.privileged import CHECK_EVERY, GROUNDED
from lupai.train.rewards import Rewards
from lupai.train.rllib.callbacks import log_hand
from lupai.train.rllib.env import OBSERVATION
from lupai.train.rllib.mapping import POLICY
from lupai.train.sampling.advised import ADVICE, ADVISED, advice_columns
from lupai.train.sampling.judged import Judging, nothing_judged
from lupai.train.sampling.payroll import Payroll
from lupai.train.sampling.tables import WORDS, Finished, Tables
from lupai.train.sampling.teacher import TAUGHT, Teacher
from lupai.train.sampling.trajectories import Recorder, Trajectories


class BatchEnvRunner(MultiAgentEnvRunner):
    """Samples ``num_envs_per_env_runner`` tables at once.

    Attributes:
        rewards: what decisions are paid by; its coefficient is set anew between iterations.
        lineups: opponents at the tables; None: there are none.
        stream: what keys the deals, together with the runner's number; read when it begins.
        teacher: plays for the learner; None: the policy plays.
        judging: says what moves are worth; None: nothing does.
    """

    def __init__(self, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        options = self.config.env_config
        self._game = options.get("game", DEFAULT)
        rules = rules_class(self._game).load(options["rules"])
        self.rewards = Rewards(rules, game=self._game, **options["reward"])
        self.stream = [int(k) for k in options.get("stream", [0])]
        self.lineups = self._make_lineups()
        self._tables: Tables | None = None
        self._payroll: Payroll
        self._seen: dict[str, Any] = {}  # what stands before the acting seats
        self._record = Recorder()
        self._hands = np.zeros(0, np.int64)  # [B] number of the running hand
        self._decisions = np.zeros(0, np.int64)  # [B] decisions in it so far
        self._next_hand = 0
        self._first = 0  # hand that begins next when the learner learns
        self._looks = 0
        self.teacher: Teacher | None = None
        self.judging: Judging | None = None
        advised = self.config.env_config.get("advised", 0)
        self._adviser = Adviser(advised, self._game) if advised else None

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
            data = self._play(num_timesteps)
        return [data] if len(data) else []

    def _make_lineups(self) -> Lineups | None:
        options = self.config.env_config
        if (seating := options.get("seating")) is None:
            return None
        return Lineups(
            self.num_envs, self.worker_index or 0, seating, self.stream[0], self.rewards.seats
        )

    def _start(self) -> Tables:
        options = self.config.env_config
        key = [*self.stream, self.worker_index or 0]
        tables = Tables(
            options["rules"], options["skip"], key, self.num_envs, self.lineups, self._game
        )
        self._payroll = Payroll(self.rewards, self.num_envs)
        self._hands = np.arange(self.num_envs)
        self._decisions = np.zeros(self.num_envs, np.int64)
        self._next_hand = self.num_envs
        self._seen = self._look(tables)
        return tables

    def _play(self, decisions: int) -> Trajectories:
        self._first = self._next_hand
        if self._tables is None:
            self._tables = self._start()
        tables, record = self._tables, self._record
        begin, self._inference, illegal = time.perf_counter(), 0.0, 0
        record.begin(decisions + 2 * len(tables))
        made = 0
        while made < decisions:
            actions, log_probs = self._choose(tables, self._seen)
            # By the moves that the policy saw; the engine refuses by its own rules.
            illegal += int(np.count_nonzero(~in_words(self._seen[WORDS], actions)))
            self._add(tables, actions, log_probs)
            self._decisions[tables.rows] += 1
            made += len(tables.rows)
            for end in tables.step(actions):
                self._close(end)
            self._seen = self._look(tables)
        nothing = np.zeros(len(tables.rows))
        self._add(tables, nothing, nothing, made=False)
        ended = self._payroll.ended
        self._count(made, len(ended))
        for name, value in (
            ("inference_seconds", self._inference),
            ("sampling_seconds", time.perf_counter() - begin),
            ("illegal_actions", illegal),
        ):
            self.metrics.log_value(name, value, reduce="sum")
        data = record.finish(ended, len(tables.rows))
        self._payroll.settle(data)
        if GROUNDED in data.columns:  # of what waited before, the hand is known in part
            old = data.rows_of(data.hands < self._first)
            data.columns[GROUNDED][: len(data)][old] = np.nan
        return data

    def _look(self, tables: Tables) -> dict[str, Any]:
        """Columns ``[N, ...]`` of what stands before the asked seats; all reach the learner."""
        seats = tables.seats
        observation, legal = tables.observe()
        columns = {"seat": seats, OBSERVATION: observation, WORDS: legal}
        if self._adviser is not None:
            columns |= advice_columns(self._adviser, tables)
        return (
            columns
            | self._privileged(tables)
            | self._payroll.columns(tables.waiting, seats, tables.rows)
        )

    def _privileged(self, tables: Tables) -> dict[str, Any]:
        """Columns of what the learner may see and the policy may not, where they are wanted."""
        options = self.config.env_config
        if not options.get("privileged"):
            return {}
        check = None
        if options.get("grounded"):
            # A sample of hands of which nothing is learned yet; the others would flatter the head.
            check = self._hands[tables.rows] >= self._first
            check &= self._looks % CHECK_EVERY == 0
            self._looks += 1
        return tables.privileged(check)

    def _choose(self, tables: Tables, columns: dict[str, Any]) -> tuple[Any, Any]:
        """``(actions [N], log-probabilities [N])``."""
        asked = time.perf_counter()
        if self.teacher is not None:
            actions = self.teacher.moves(tables)
            self._inference += time.perf_counter() - asked
            return actions, np.zeros(len(actions), np.float32)
        seen = [name for name in (OBSERVATION, WORDS, ADVISED, ADVICE) if name in columns]
        obs = {name: torch.from_numpy(columns[name]) for name in seen}
        out = self.module.forward_exploration({POLICY: {Columns.OBS: obs}})[POLICY]
        actions, log_probs = out[Columns.ACTIONS].numpy(), out[Columns.ACTION_LOGP].numpy()
        self._inference += time.perf_counter() - asked
        return actions, log_probs

    @property
    def _advice(self) -> dict[str, Any]:
        """Its columns at the asked seats; none where the policy takes none."""
        return {name: self._seen[name] for name in (ADVISED, ADVICE) if name in self._seen}

    def _add(self, tables: Tables, actions: Any, log_probs: Any, made: bool = True) -> None:
        columns = {Columns.ACTIONS: actions, Columns.ACTION_LOGP: log_probs}
        if self.config.env_config.get("imitation"):
            columns[TAUGHT] = np.full(len(tables.rows), self.teacher is not None)
        if candidates := self.config.env_config.get("candidates"):
            columns |= (
                self.judging.columns(tables, actions, advice=self._advice)
                if self.judging is not None and made
                else nothing_judged(len(tables.rows), candidates)
            )
        self._record.add(hand=self._hands[tables.rows], **self._seen, **columns)

    def _close(self, end: Finished) -> None:
        """Log a finished hand and give the table its next number."""
        table = end.table
        self._payroll.close(table, int(self._hands[table]), end.scores)
        roles, scores, learner = end.roles.tolist(), end.scores.tolist(), end.learner.tolist()
        log_hand(self.metrics, roles, scores, int(self._decisions[table]), learner, game=self._game)
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
