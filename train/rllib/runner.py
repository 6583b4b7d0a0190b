"""Our sampler: an EnvRunner that plays many tables of the vector engine at once.

RLlib's own MultiAgentEnvRunner spends most of its time in bookkeeping of single decisions. Here
decisions of all tables are made by one forward pass and stored in plain arrays; RLlib gets them as
one SingleAgentEpisode for each seat and hand. What a seat did last and has seen no answer to yet is
kept for the next call, exactly as RLlib keeps hanging actions, so every decision is learned once.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
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

from lupai.train.privileged import CHECK_EVERY, GROUNDED
from lupai.train.rllib.callbacks import log_hand
from lupai.train.rllib.env import LEGAL, OBSERVATION
from lupai.train.rllib.mapping import POLICY, module_of
from lupai.train.rllib.tables import Finished, Tables

# A decision: observation [D] int8, legal bits [W] uint8, action, log-probability, info.
Decision = tuple[Any, Any, int, float, Any]
Key = tuple[int, int, int]  # table, number of the hand, seat


class BatchEnvRunner(MultiAgentEnvRunner):
    """Samples ``num_envs_per_env_runner`` tables in lockstep."""

    def __init__(self, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self._tables: Tables | None = None
        self._hands: list[int] = []  # number of the running hand at each table
        self._decisions: dict[int, int] = {}  # decisions so far, by hand
        self._waiting: dict[Key, Decision] = {}
        self._next_hand = 0
        self._calls = 0

    def sample(
        self, *, num_timesteps: int | None = None, explore: bool | None = None, **kwargs: Any
    ) -> list[SingleAgentEpisode]:
        """Play until about ``num_timesteps`` decisions (the config's share if None) are made.

        Returns:
            Pieces of seats' games: cut ones end with the observation of the next decision, whose
            value stands in for what follows; ended ones carry the whole score as last reward.
        """
        if any(kwargs.values()):
            raise NotImplementedError(f"{sorted(kwargs)}: sample whole fragments with this runner")
        if num_timesteps is None:
            fragment = self.config.get_rollout_fragment_length(self.worker_index)
            num_timesteps = fragment * self.num_envs
        self.metrics.log_value(WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        with self.metrics.log_time(SAMPLE_TIMER):
            return self._play(math.ceil(num_timesteps / self.num_envs))

    def _start(self) -> Tables:
        options = self.config.env_config
        key = [*options.get("stream", [0]), self.worker_index or 0]
        tables = Tables(options["rules"], options["skip"], key, self.num_envs)
        self._hands = [self._open_hand() for _ in range(self.num_envs)]
        return tables

    def _open_hand(self) -> int:
        self._next_hand += 1
        self._decisions[self._next_hand] = 0
        return self._next_hand

    def _play(self, steps: int) -> list[SingleAgentEpisode]:
        learned = self._next_hand  # hands up to this one were seen by the learner in part
        if self._tables is None:
            self._tables = self._start()
        tables = self._tables
        games: dict[Key, list[Decision]] = {k: [v] for k, v in self._waiting.items()}
        ended: dict[int, Finished] = {}
        options = self.config.env_config
        secret, check = options.get("privileged", False), options.get("grounded", False)
        infos: list[Any] = [{}] * len(tables)
        for step in range(steps):
            seats = tables.seats
            observation, legal = tables.observe()
            obs = {OBSERVATION: torch.from_numpy(observation), LEGAL: torch.from_numpy(legal)}
            out = self.module.forward_exploration({POLICY: {Columns.OBS: obs}})[POLICY]
            actions = out[Columns.ACTIONS].numpy()
            log_probs = out[Columns.ACTION_LOGP].numpy()
            if secret:  # after the forward pass, which must not see it
                checked = check and step % CHECK_EVERY == 0
                infos = tables.infos([h > learned for h in self._hands] if checked else None)
            for table, hand in enumerate(self._hands):
                self._decisions[hand] += 1
                games.setdefault((table, hand, int(seats[table])), []).append(
                    (
                        observation[table],
                        legal[table],
                        int(actions[table]),
                        log_probs[table],
                        infos[table],
                    )
                )
            for hand_end in tables.step(actions):
                hand = self._hands[hand_end.table]
                self._log(hand_end, self._decisions.pop(hand))
                ended[hand] = hand_end
                self._hands[hand_end.table] = self._open_hand()
        self._count(steps * len(tables), len(ended))
        return self._episodes(games, ended)

    def _episodes(
        self, games: dict[Key, list[Decision]], ended: dict[int, Finished]
    ) -> list[SingleAgentEpisode]:
        self._waiting = {}
        self._calls += 1
        scale = float(self.config.env_config["reward_scale"])
        episodes = []
        for key, decisions in games.items():
            table, hand, seat = key
            rewards = [0.0] * len(decisions)
            if hand in ended:
                last = decisions[-1]  # nothing follows; RLlib wants an observation all the same
                rewards[-1] = float(ended[hand].scores[seat]) * scale
            else:
                last = self._waiting[key] = decisions.pop()
                last[-1].pop(GROUNDED, None)  # when it is learned from, the hand is known in part
                rewards.pop()
            if not decisions:
                continue
            seen = [{OBSERVATION: o, LEGAL: bits} for o, bits, *_ in [*decisions, last]]
            # RLlib puts rows together by these names, so each piece needs its own.
            name = f"{self.worker_index}-{hand}-{self._calls}"
            episodes.append(
                SingleAgentEpisode(
                    id_=f"{name}-{seat}",
                    agent_id=f"player_{seat}",
                    module_id=module_of(table, hand, seat),
                    multi_agent_episode_id=name,
                    observations=seen,
                    infos=[info for *_, info in [*decisions, last]],
                    actions=[a for _, _, a, *_ in decisions],
                    rewards=rewards,
                    terminated=hand in ended,
                    extra_model_outputs={Columns.ACTION_LOGP: [p for _, _, _, p, _ in decisions]},
                    len_lookback_buffer=0,
                )
            )
        return episodes

    def _log(self, end: Finished, decisions: int) -> None:
        log_hand(self.metrics, end.roles.tolist(), end.scores.tolist(), decisions)

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
