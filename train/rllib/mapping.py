"""The learned module: one for every seat of every hand, for both samplers.

Under ``selfplay.policies: role`` it holds a policy for each role, see :mod:`lupai.agents.policies`.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["POLICY", "policy_mapping"]

POLICY: Final = "shared"


def policy_mapping(agent_id: str, episode: Any, **kwargs: Any) -> str:
    """Module of an agent, as RLlib asks for it."""
    del agent_id, episode, kwargs
    return POLICY
