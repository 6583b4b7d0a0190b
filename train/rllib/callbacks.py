"""What is measured while playing: the mean return of a zero-sum table is always 0, roles tell."""

from __future__ import annotations

from typing import Any, Final

from ray.rllib.callbacks.callbacks import RLlibCallback

WINDOW: Final = 500  # hands over which the means below run


class LupaiCallbacks(RLlibCallback):  # type: ignore[misc]
    """Scores by role, kinds of hands, and a check that every hand sums to zero."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **kwargs: Any) -> None:
        """Log a finished hand.

        Raises:
            RuntimeError: rewards that reached the learner do not sum to zero.
        """
        infos = episode.get_infos(-1)
        scores = {agent: info["score"] for agent, info in infos.items()}
        # A seat that never had a decision has no episode, and so neither info nor reward.
        if len(infos) == 5 and sum(scores.values()) != 0:
            raise RuntimeError(f"scores {scores} do not sum to zero")
        roles = {info["role"] for info in infos.values()}
        for agent, info in infos.items():
            metrics_logger.log_value(("role_score", info["role"]), scores[agent], window=WINDOW)
        metrics_logger.log_value("solo_share", float("solo" in roles), window=WINDOW)
        metrics_logger.log_value("decisions_per_hand", len(episode), window=WINDOW)
