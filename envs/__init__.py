"""Environments: cards, sets, rules engines, and their PettingZoo and gymnasium faces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lupai.agents.single_agent import SingleAgentEnv
    from lupai.agents.single_vector import SingleAgentVectorEnv

__all__ = ["single_agent_env", "single_agent_vector_env"]


def single_agent_env(
    seat_or_role: int | str = "random", opponents: Any = "greedy", rules: Any = "qingdao",
    **options: Any,
) -> SingleAgentEnv:  # fmt: skip
    """One seat against fixed agents, for gymnasium; see
    :class:`~lupai.agents.single_agent.SingleAgentEnv` for the arguments and ``options``.

    >>> import lupai.envs
    >>> env = lupai.envs.single_agent_env("guard", opponents="random")
    >>> observation, info = env.reset(seed=7)
    >>> info["role"], info["phase"]
    ('guard', 'play')
    """
    # In here: agents are built on this package, and it is imported without gymnasium by many.
    from lupai.agents.single_agent import SingleAgentEnv

    return SingleAgentEnv(seat_or_role, opponents, rules, **options)


def single_agent_vector_env(
    num_envs: int, seat_or_role: int | str = "random", opponents: Any = "greedy",
    rules: Any = "qingdao", **options: Any,
) -> SingleAgentVectorEnv:  # fmt: skip
    """Many of them at once; see :class:`~lupai.agents.single_vector.SingleAgentVectorEnv`."""
    from lupai.agents.single_vector import SingleAgentVectorEnv

    return SingleAgentVectorEnv(num_envs, seat_or_role, opponents, rules, **options)
