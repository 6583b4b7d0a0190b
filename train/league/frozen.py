"""Agents that a run takes from elsewhere: checked, copied into its folder, packed for its samplers.

An agent that is a folder is copied at the run's start, for its own run may go on, and other nodes
of a cluster do not have it. From then on the copy plays.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import lupai.agents
from lupai.agents.base import Agent, BatchAgent
from lupai.agents.registry import AGENTS
from lupai.train.config import TrainConfig
from lupai.train.league.population import LeagueError

__all__ = ["freeze", "label", "load_frozen", "load_opponent", "load_teacher", "pack"]

IMITATED: Final = "imitation"  # folder of a run


def load_opponent(name: str | os.PathLike[str], rules: str) -> Agent:
    """An agent that can play at batch speed.

    Raises:
        LupaiError: there is no such agent, or it decides view by view.
    """
    agent = lupai.agents.load(name, rules)
    if not isinstance(agent, BatchAgent):
        raise LeagueError(
            f"opponent {os.fspath(name)!r}: it has no act_batch and decides view by view, too slow "
            f"for training; agents that can: {', '.join(AGENTS)}, and trained ones"
        )
    return agent


def label(name: str) -> str:
    """A name without what folders and metrics cannot have in theirs."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")


def freeze(name: str, folder: Path, place: str) -> str:
    """Where a run finds an agent from now on.

    Args:
        name: of the agent, or its folder.
        folder: run folder.
        place: below it, for a copy. One that is there already is taken as it is.

    Returns:
        ``place``, or ``name`` where it is no folder.
    """
    if (folder / place).is_dir():
        return place
    if name in AGENTS or not Path(name).is_dir():
        return name
    # A run's newest checkpoint moves on; what is frozen does not.
    _copy(Path(name), folder / place)
    return place


def load_frozen(source: str, folder: Path, place: str, rules: str, sample: bool = False) -> Agent:
    """What :func:`freeze` named.

    Args:
        source: of it. folder: run folder. place: the folder below it that holds its copies.
        rules: rules string. sample: a copy draws its moves from its policy.

    Raises:
        LupaiError: it is missing, damaged, or of other rules.
    """
    if not source.startswith(f"{place}/"):
        return load_opponent(source, rules)
    from lupai.agents.checkpoint import load_agent

    if not (folder / source).is_dir():
        raise LeagueError(
            f"run {str(folder)!r}: needs {source}, which is missing; copy it again, or go on from "
            f"another checkpoint"
        )
    return load_agent(folder / source, rules=rules, sample=sample)


def load_teacher(config: TrainConfig, folder: Path, steps: int) -> Agent | None:
    """The agent that a run imitates after ``steps`` decisions; None: nobody, or not any more.

    Raises:
        LupaiError: it cannot be had.
    """
    name = config.imitation.agent
    if steps >= config.imitation.steps:
        return None
    source = freeze(name, folder, f"{IMITATED}/{label(name)}")
    return load_frozen(source, folder, IMITATED, config.rules_string)


def pack(agent: Agent) -> bytes:
    """An agent for other processes, on whatever node; ``pickle.loads`` makes it again."""
    import ray

    packed: Any = ray.cloudpickle.dumps(agent)
    return bytes(packed)


def _copy(source: Path, target: Path) -> None:
    """Copy an agent folder, or the newest agent of a run; it appears whole or not at all."""
    from lupai.agents.checkpoint import find_agent

    place = find_agent(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{target.name}-*"):  # of a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        shutil.copytree(place, new, dirs_exist_ok=True)
        new.chmod(0o755)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
