"""What is counted while playing: the mean return of a zero-sum table is always 0, roles tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback

from lupai.train.games import DEFAULT, training_game

__all__ = ["LupaiCallbacks", "log_hand"]


def log_hand(
    metrics: Any,
    roles: Sequence[int],
    scores: Sequence[int],
    decisions: int,
    learner: Sequence[bool] | None = None,
    game: str = DEFAULT,
) -> None:
    """Count a finished hand in RLlib's MetricsLogger, as sums of this iteration: ``hands_ended``,
    ``decisions``, ``solo_hands`` where the game has them, and by role ``role_seats`` and
    ``role_points``.

    Sums, because RLlib's mean over several samplers is that of their means.

    Args:
        metrics: the logger.
        roles: index into the roles of the game, by seat.
        scores: final scores, by seat.
        decisions: decisions of the learner in the hand.
        learner: whether it held the seat, by seat; scores of other seats are not
            counted; None: all of them.
        game: which it was.

    Raises:
        RuntimeError: the scores do not sum to zero.
    """
    if sum(scores) != 0:
        raise RuntimeError(f"scores {list(scores)} of a hand do not sum to zero")
    known = training_game(game)
    mine = [True] * len(roles) if learner is None else learner
    for role, score, counts in zip(roles, scores, mine, strict=True):
        if counts:
            metrics.log_value(("role_seats", known.roles[role]), 1, reduce="sum")
            metrics.log_value(("role_points", known.roles[role]), float(score), reduce="sum")
    metrics.log_value("hands_ended", 1, reduce="sum")
    if known.rare:
        there = int(known.roles.index(known.rare) in roles)
        metrics.log_value(f"{known.rare}_hands", there, reduce="sum")
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
        log_hand(metrics_logger, info["roles"], info["scores"], len(episode), game=info["game"])
