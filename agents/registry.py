"""Agents by name, or by the folder of a training run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lupai.agents.base import Agent
from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.agents.tactical import TacticalAgent
from lupai.envs.errors import LupaiError

AGENTS: Final[dict[str, Callable[[], Agent]]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "tactical": TacticalAgent,
}


class UnknownAgentError(LupaiError):
    """No agent of that name, no run in that folder, or what it needs is not installed."""


def load(name: str | os.PathLike[str], rules: str | None = None) -> Agent:
    """An agent by name (``random``, ``greedy``, ``tactical``) or by its run or agent folder.

    Names come first: a folder that is called ``random`` is ``./random``.

    Args:
        name: of the agent, or its folder.
        rules: rules string it is wanted for. A trained agent of others is refused; those with
            names play all.

    Raises:
        UnknownAgentError: neither; says which names there are. Or torch is not installed.
        CheckpointError: the folder holds no agent, or one of another version or other rules.
    """
    text = os.fspath(name)
    if text in AGENTS:
        return AGENTS[text]()
    if not text or not Path(text).is_dir():
        raise UnknownAgentError(
            f"agent {text!r}: no such agent and no such folder; agents: {', '.join(AGENTS)}, or "
            f"the folder of a run, such as runs/quick"
        )
    # More threads make single decisions slower, and many times so on a machine that is not idle.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        from lupai.agents.checkpoint import load_agent
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lupai"):
            raise
        raise UnknownAgentError(
            f'agent {text!r}: a trained agent needs {error.name}; pip install "lupai[train]"'
        ) from None
    return load_agent(text, rules=rules)
