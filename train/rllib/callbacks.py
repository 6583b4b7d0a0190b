"""What is measured while playing: the mean return of a zero-sum table is always 0, roles tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ray.rllib.callbacks.callbacks import RLlibCallback

from lupai.train.sampling.tables import ROLES

WINDOW: Final = 500  # hands of one iteration, at most, over which the means below run


def log_hand(
    metrics: Any,
    roles: Sequence[int],
    scores: Sequence[int],
    decisions: int,
    learner: Sequence[bool] = (True,) * 5,
) -> None:
    """Log a finished hand to RLlib's MetricsLogger.

    Args:
        metrics: the logger.
        roles: index into ROLES, by seat.
        scores: final scores, by seat.
        decisions: decisions of the learner in the hand.
        learner: whether it held the seat, by seat; scores of other seats are not logged.

    Raises:
        RuntimeError: the scores do not sum to zero.
    """
    if sum(scores) != 0:
        raise RuntimeError(f"scores {list(scores)} of a hand do not sum to zero")
    for role, score, mine in zip(roles, scores, learner, strict=True):
        if mine:
            metrics.log_value(("role_score", ROLES[role]), float(score), window=WINDOW)
    metrics.log_value("solo_share", float(ROLES.index("solo") in roles), window=WINDOW)
    metrics.log_value("decisions_per_hand", float(decisions), window=WINDOW)


class LupaiCallbacks(RLlibCallback):
    """Logs hands that RLlib's own runner played; BatchEnvRunner logs its own."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **kwargs: Any) -> None:
        """Log a finished hand; the last info of any seat tells all of it."""
        info = next(iter(episode.get_infos(-1).values()))
        log_hand(metrics_logger, info["roles"], info["scores"], len(episode))
