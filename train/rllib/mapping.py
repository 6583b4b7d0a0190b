"""Which module plays which seat of which hand: the one place that says so, for both samplers.

There is one learned module, for every seat; under ``selfplay.policies: role`` it holds a policy
for each role, see :mod:`lupai.agents.policies`.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["POLICY", "module_of", "policy_mapping"]

POLICY: Final = "shared"  # the learned module


def module_of(table: int, hand: int, seat: int) -> str:
    """Module id of ``seat`` (0 … 4) in hand number ``hand`` at table number ``table``.

    It may depend on nothing else: RLlib asks again where a hand was cut between two batches, and
    the answer must not change within a hand.
    """
    del table, hand, seat
    return POLICY


def policy_mapping(agent_id: str, episode: Any, **kwargs: Any) -> str:
    """The same for RLlib's own sampler, which knows an episode only by its id."""
    del episode, kwargs
    return module_of(0, 0, int(agent_id.removeprefix("player_")))
