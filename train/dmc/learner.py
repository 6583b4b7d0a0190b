"""The learning step: the network's output for the move that was played comes to be its score.

With a baseline it comes to be the score less what the value network expected of the position. Where
that network sees all hands, it takes away most of what the deal alone decides; the order of a
seat's moves stays as it is, since what it cannot see does not depend on which move it chooses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from lupai.agents.network import ValueNetwork, advised_moves, table_of
from lupai.agents.policies import build_policy, policy_names
from lupai.agents.role_head import RoleHead
from lupai.envs.game import make_game
from lupai.train.config import TrainConfig
from lupai.train.dmc.decisions import SCORE, Columns
from lupai.train.dmc.sampler import ACTION, OBSERVATION
from lupai.train.export import network_config
from lupai.train.games import training_game
from lupai.train.learning.distil import distil_loss, judged_moves
from lupai.train.learning.heads import (
    FEW_LABELS,
    PerfectValueNetwork,
    role_loss,
    value_network,
    win_loss,
)
from lupai.train.learning.role_stats import RoleStats
from lupai.train.privileged import LABEL, PRIVILEGED
from lupai.train.run_folder import TrainingError
from lupai.train.sampling.advised import ADVICE, ADVISED
from lupai.train.sampling.judged import CANDIDATES, STAKES, WORTH

__all__ = ["Learner"]

_ROWS_AT_ONCE: Final = 4096  # where nothing is learned


class Learner:
    """Networks and their optimiser.

    Args:
        config: the run; its seed draws the first weights.

    Attributes:
        policy: scores moves. baseline: the value network; None: there is none.
        role_head: guesses who is guard from the policy's state vector; None: there is none.
        networks: all of them, by name.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        sizes = network_config(config)
        engine = make_game(config.game, config.rules_string)
        table = table_of(engine)
        self._table = table
        self.baseline: ValueNetwork | PerfectValueNetwork | None = None
        self.role_head: RoleHead | None = None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.policy = build_policy(table, sizes)
            if config.dmc.baseline != "none":
                layout = training_game(config.game).layout
                perfect = config.dmc.baseline == "perfect"
                self.baseline = value_network(table, sizes, layout if perfect else None)
            if config.network.role_head > 0:
                self.role_head = RoleHead(sizes.hidden[-1], len(policy_names(sizes)))
        found = {"policy": self.policy, "baseline": self.baseline, "role_head": self.role_head}
        self.networks: dict[str, nn.Module] = {k: v for k, v in found.items() if v is not None}
        parameters = [p for network in self.networks.values() for p in network.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=config.dmc.lr)

    def expected(self, columns: Columns) -> Tensor | None:
        """What the baseline expects, ``[N] float32`` in reward; None: there is no baseline."""
        if self.baseline is None:
            return None
        parts = []
        with torch.no_grad():
            for start in range(0, len(columns[SCORE]), _ROWS_AT_ONCE):
                rows = slice(start, start + _ROWS_AT_ONCE)
                parts.append(self._baseline({k: _tensor(v[rows]) for k, v in columns.items()}))
        return torch.cat(parts)

    def learn(self, columns: Columns, lr: float, rng: np.random.Generator) -> dict[str, float]:
        """Pass over the decisions of whole hands.

        Args:
            columns: ``[N, ...]`` of :meth:`lupai.train.dmc.sampler.Sampler.sample`.
            lr: learning rate. rng: shuffles them.

        Returns:
            Metrics: means over all minibatches.

        Raises:
            TrainingError: the loss is no number.
        """
        section = self.config.dmc
        for group in self.optimiser.param_groups:
            group["lr"] = lr
        rewards = _tensor(columns[SCORE]) * self.config.reward.scale
        # Before anything is learned from them: what remembers their scores explains them too well.
        expected = self.expected(columns)
        means, stats = _Means(), RoleStats(self._table)
        if expected is not None:
            every = torch.ones(len(rewards), dtype=torch.bool)
            stats.add(_tensor(columns[OBSERVATION]), every, rewards, expected)
            means.add(1, {"loss/value_explained": _explained(rewards, expected)})
        count = len(rewards)
        steps = max(1, round(count / section.minibatch_size))
        for epoch in range(section.epochs):
            for rows in np.array_split(rng.permutation(count), steps):
                batch = {name: _tensor(column[rows]) for name, column in columns.items()}
                index = torch.from_numpy(rows)
                target = rewards[index]
                loss, values, row = self._losses(
                    batch, target, None if expected is None else expected[index], stats
                )
                if epoch == 0 and expected is None:
                    every = torch.ones(len(rows), dtype=torch.bool)
                    stats.add(batch[OBSERVATION], every, target, values)
                self.optimiser.zero_grad(set_to_none=True)
                loss.backward()
                norm = math.sqrt(
                    sum(
                        float(nn.utils.clip_grad_norm_(network.parameters(), section.grad_clip))
                        ** 2
                        for network in self.networks.values()
                    )
                )
                if not math.isfinite(float(loss.detach()) + norm):
                    raise TrainingError(
                        f"the loss is {float(loss.detach())}: training has diverged; go on from an "
                        f"earlier checkpoint with a smaller dmc.lr"
                    )
                self.optimiser.step()
                means.add(len(rows), row | {"loss/gradient_norm": norm})
        found = stats.results()
        explained = found.pop("role_value_explained")
        row = means.results() | {f"value_explained/{role}": v for role, v in explained.items()}
        if "role_log_loss" in found:
            row["role/log_loss"] = found["role_log_loss"]
        return row

    def _baseline(self, batch: Mapping[str, Tensor]) -> Tensor:
        assert self.baseline is not None
        if isinstance(self.baseline, PerfectValueNetwork):
            out: Tensor = self.baseline(batch[OBSERVATION], batch[PRIVILEGED])
        else:
            out = self.baseline(batch[OBSERVATION])
        return out

    def _losses(
        self,
        batch: Mapping[str, Tensor],
        target: Tensor,
        expected: Tensor | None,
        stats: RoleStats,
    ) -> tuple[Tensor, Tensor, dict[str, float]]:
        """``(loss, values [N], metrics)`` of a minibatch with rewards ``target [N]``; guesses of
        who is guard are counted in ``stats``."""
        observation = batch[OBSERVATION]
        embedding = self.policy.embed(observation)
        heads, played, judged = self._outputs(batch, embedding)
        values = heads[:, 0]
        goal = target if expected is None else target - expected
        how = functional.huber_loss if self.config.dmc.loss == "huber" else functional.mse_loss
        # Whom the run imitates may play what is no candidate of an advice.
        loss = how(values[played], goal[played]) if played.any() else values.sum() * 0
        row = {"dmc/loss": float(loss.detach())}
        if judged is not None and judged[1]:
            own = self.config.distillation
            apart = judged[0] / judged[1]
            row["loss/distillation"] = float(apart.detach())
            loss = own.scores * loss + own.weight * apart
        if self.config.dmc.heads == "both" and played.any():
            guess = win_loss(heads[played, 1:], target[played])
            row["dmc/win_log_loss"] = float(guess.detach())
            loss = loss + self.config.dmc.win_loss * guess
        if expected is not None:
            value_loss = (self._baseline(batch) - target).square().mean()
            row["loss/value"] = float(value_loss.detach())
            loss = loss + value_loss
        if self.role_head is not None:
            logits = self.role_head(embedding, self.policy.which(observation))
            total, count = role_loss(logits, batch[PRIVILEGED][:, LABEL])
            loss = loss + self.config.network.role_head * total / count.clamp_min(FEW_LABELS)
            stats.add_guesses(total.detach(), count)
        return loss, values.detach(), row

    def _outputs(
        self, batch: Mapping[str, Tensor], embedding: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor, int] | None]:
        """What the heads ``[N, C]`` say of the moves that were played, ``[N] bool`` whether each
        has that, and of judged moves the sum of the losses of values in stakes and the number of
        decisions; None: no distillation."""
        observation, actions = batch[OBSERVATION], batch[ACTION].to(torch.int64)
        count = len(actions)
        worths: Tensor | None = None
        if ADVISED in batch:
            rows, ids, features = advised_moves(batch[ADVISED], batch[ADVICE])
            outputs = self.policy.heads(embedding, observation, rows, ids, features)
            hit = ids == actions[rows]
            heads = torch.zeros(count, outputs.shape[1]).index_add(0, rows[hit], outputs[hit])
            played = torch.zeros(count, dtype=torch.bool).index_fill(0, rows[hit], True)
            if CANDIDATES in batch:  # the same moves, where they are judged
                there = batch[CANDIDATES][batch[ADVISED] >= 0] >= 0
                rows, outputs = rows[there], outputs[there]
                worths = batch[WORTH][batch[CANDIDATES] >= 0]
        else:
            heads = self.policy.heads(embedding, observation, torch.arange(count), actions)
            played = torch.ones(count, dtype=torch.bool)
            if CANDIDATES in batch:
                rows, places, ids = judged_moves(batch[CANDIDATES])
                outputs = self.policy.heads(embedding, observation, rows, ids)
                worths = batch[WORTH][rows, places]
        if worths is None:
            return heads, played, None
        values = outputs[:, 0] / (self.config.reward.scale * batch[STAKES][rows])
        total, judged = distil_loss(values, worths, rows, count)
        return heads, played, (total, int(judged))


class _Means:
    """Means by name, each weighted by the rows that it came from."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, float]] = {}

    def add(self, rows: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            total, weight = self._sums.get(name, (0.0, 0.0))
            self._sums[name] = total + rows * value, weight + rows

    def results(self) -> dict[str, float]:
        return {name: total / weight for name, (total, weight) in self._sums.items()}


def _explained(targets: Tensor, values: Tensor) -> float:
    """Share of the targets' variance, NaN where they do not vary."""
    variance = float(targets.var(correction=0))
    return 1 - float((targets - values).var(correction=0)) / variance if variance else math.nan


def _tensor(column: npt.NDArray[Any]) -> Tensor:
    # What came from another process may lie in memory that must not be written to.
    return torch.from_numpy(np.require(column, requirements="W"))
