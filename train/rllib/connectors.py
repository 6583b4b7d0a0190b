"""From the infos of RLlib's sampler to the learner's batch: what critic and role head need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from ray.rllib.connectors.connector_v2 import ConnectorV2

from lupai.train.games import DEFAULT, training_game
from lupai.train.privileged import GROUNDED, LABEL, PRIVILEGED, UNLABELLED
from lupai.train.rllib.batching import generator
from lupai.train.rllib.env import OBSERVATION
from lupai.train.rllib.role_check import log_role_check

__all__ = ["PrivilegedColumns", "privileged_columns"]


class PrivilegedColumns(ConnectorV2):
    """Adds the column PRIVILEGED ``[N, P] int8`` to a learner's batch, and logs the check of the
    role head where its decisions carry grounded chances and their hand is new to the learner.

    A piece of RLlib's own pipeline; our sampler's trajectories hold the column already. Labels are
    thinned as there.

    Args:
        stream: ints that key the draw of the labels.
        game: which game is learned.
    """

    def __init__(
        self,
        input_observation_space: Any = None,
        input_action_space: Any = None,
        *,
        stream: Sequence[int],
        game: str = DEFAULT,
    ) -> None:
        super().__init__(input_observation_space, input_action_space)
        self._generator = generator(stream)
        self._width = training_game(game).layout.size

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: list[Any],
        explore: bool | None = None,
        shared_data: dict[str, Any] | None = None,
        metrics: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Runs on episodes to which RLlib has added a row for bootstrapping."""
        checks: dict[str, list[tuple[Any, Any, int]]] = defaultdict(list)
        for episode in self.single_agent_episode_iterator(episodes, agents_that_stepped_only=False):
            count = len(episode)
            infos = episode.get_infos(slice(0, count))
            rows = np.zeros((count, self._width), np.int8)
            for i, info in enumerate(infos):
                # The last row stands after the last decision and may have nothing to see.
                if PRIVILEGED in info:
                    rows[i] = info[PRIVILEGED]
                elif i < count - 1:
                    raise RuntimeError(f"a decision of {episode.id_} lacks its privileged row")
                if GROUNDED in info and i < count - 1 and episode.t_started == 0:
                    seen = episode.get_observations(i)[OBSERVATION]
                    checks[episode.module_id].append((seen, info[GROUNDED], int(rows[i, LABEL])))
            labelled = np.flatnonzero(rows[: count - 1, LABEL] != UNLABELLED)
            if len(labelled):
                kept = self._generator.choice(labelled)
                rows[labelled[labelled != kept], LABEL] = UNLABELLED
            self.add_n_batch_items(
                batch,
                PRIVILEGED,
                items_to_add=list(rows),
                num_items=count,
                single_agent_episode=episode,
            )
        if metrics is not None:
            for module_id, rows_of_module in checks.items():
                seen, chances, labels = (np.stack(c) for c in zip(*rows_of_module, strict=True))
                module = rl_module[module_id].unwrapped()
                log_role_check(module, module_id, seen, chances, labels, metrics)
        return batch


def privileged_columns(
    observation_space: Any, action_space: Any, *, stream: Sequence[int], game: str = DEFAULT
) -> PrivilegedColumns:
    """For ``AlgorithmConfig.learners(learner_connector=…)``; a function, so that it pickles."""
    return PrivilegedColumns(observation_space, action_space, stream=stream, game=game)
