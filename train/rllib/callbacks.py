"""What is counted while playing: the mean return of a zero-sum table is always 0, roles tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback

from lupai.train.sampling.tables import ROLES

__all__ = ["LupaiCallbacks", "log_hand"]


def log_hand(
    metrics: Any,
    roles: Sequence[int],
    scores: Sequence[int],
    decisions: int,
    learner: Sequence[bool] = (True,) * 5,
) -> None:
    """Count a finished hand in RLlib's MetricsLogger, as sums of this iteration: ``hands_ended``,
    ``solo_hands``, ``decisions``, and by role ``role_seats`` and ``role_points``.

    Sums, because RLlib's mean over several samplers is that of their means.

    Args:
        metrics: the logger.
        roles: index into ROLES, by seat.
        scores: final scores, by seat.
        decisions: decisions of the learner in the hand.
        learner: whether it held the seat, by seat; scores of other seats are not counted.

    Raises:
        RuntimeError: the scores do not sum to zero.
    """
    if sum(scores) != 0:
        raise RuntimeError(f"scores {list(scores)} of a hand do not sum to zero")
    for role, score, mine in zip(roles, scores, learner, strict=True):
        if mine:
            metrics.log_value(("role_seats", ROLES[role]), 1, reduce="sum")
            metrics.log_value(("role_points", ROLES[role]), float(score), reduce="sum")
    metrics.log_value("hands_ended", 1, reduce="sum")
    metrics.log_value("solo_hands", int(ROLES.index("solo") in roles), reduce="sum")
    metrics.log_value("decisions", decisions, reduce="sum")


class LupaiCallbacks(RLlibCallback):
    """Counts hands that RLlib's own runner played (BatchEnvRunner counts its own), and lets runners
    in the place of lost ones be told what the others know."""

    def on_env_runners_recreated(self, *, algorithm: Any, **kwargs: Any) -> None:
        """They have the weights and nothing else, and play next."""
        algorithm.tell_runners()

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **kwargs: Any) -> None:
        """Count a finished hand; the last info of any seat tells all of it."""
        info = next(iter(episode.get_infos(-1).values()))
        log_hand(metrics_logger, info["roles"], info["scores"], len(episode))
