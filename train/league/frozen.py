"""Agents that a run takes from elsewhere: checked, copied into its folder, packed for its samplers.

An agent that is a folder or a file is copied at the run's start, for its own run may go on, and
other nodes of a cluster do not have it. From then on the copy plays.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

import cloudpickle

import lupai.agents
from lupai.agents.base import Agent, BatchAgent
from lupai.agents.registry import AGENTS, ONNX_FILE, agent_path, load_trained
from lupai.train.config import TrainConfig
from lupai.train.files import writing_folder
from lupai.train.league.population import LeagueError

__all__ = [
    "IMITATED", "Copies", "imitates", "label", "load_opponent", "load_teacher", "pack",
]  # fmt: skip

IMITATED: Final = "imitation"  # folder of a run
PLACES: Final = ("league/", f"{IMITATED}/")  # folders of a run with agents of others
OWN: Final = ("exploit/",)  # and with agents of its own


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


class Copies:
    """The agents that a run has in its folder, or will have: nothing is written before
    :meth:`write`, and until then they are read where they are.

    Args:
        folder: run folder.
        new: whether the run begins; then nothing in the folder counts.
    """

    def __init__(self, folder: Path, new: bool) -> None:
        self._folder, self._new = folder, new
        self._uncopied: dict[str, Path] = {}  # by place

    def source(self, name: str, place: str) -> str:
        """Where the run finds an agent from now on.

        Args:
            name: of the agent, or its folder.
            place: below the run folder, for a copy. One that is there already is taken as it is.

        Returns:
            ``place``, or ``name`` where it is no folder.
        """
        if self._new or not (self._folder / place).is_dir():
            path = agent_path(name)
            if path is None:
                return name
            from lupai.agents.checkpoint import find_agent

            # A run's newest checkpoint moves on: what is checked now is what will be copied.
            self._uncopied[place] = path if path.is_file() else find_agent(path)
        return place

    def load(self, source: str, rules: str, sample: bool = False) -> Agent:
        """What :meth:`source` named, or another agent folder of the run.

        Args:
            source: a name, or a place below one of :data:`PLACES`.
            rules: rules string. sample: a folder's agent draws its moves from its policy.

        Raises:
            LupaiError: it is missing, damaged, or of other rules.
        """
        if not source.startswith(PLACES):
            return load_opponent(source, rules)
        path = self._uncopied.get(source, self._folder / source)
        if not path.exists():
            raise LeagueError(
                f"run {str(self._folder)!r}: needs {source}, which is missing; copy it again, or "
                f"go on from another checkpoint"
            )
        return load_trained(path, rules=rules, sample=sample)

    def write(self) -> None:
        """Copy what the run does not have yet; each appears whole or not at all. What a process
        that was killed has left of such copies goes.

        Raises:
            LeagueError: an agent has gone meanwhile.
        """
        for place in (*PLACES, *OWN):
            for left in (self._folder / place).glob(".*"):
                shutil.rmtree(left, ignore_errors=True)
        for place, source in self._uncopied.items():
            try:
                with writing_folder(self._folder / place) as new:
                    if source.is_file():
                        new.mkdir()
                        shutil.copyfile(source, new / ONNX_FILE)
                    else:
                        shutil.copytree(source, new)
                    new.chmod(0o755)  # that of somebody else may be closed
            except FileNotFoundError:
                if source.exists():
                    raise
                raise LeagueError(
                    f"{str(source)!r}: was removed while this run started, perhaps by its own run, "
                    f"which keeps its newest checkpoints only; start again"
                ) from None
        self._uncopied = {}


def imitates(config: TrainConfig, steps: int) -> bool:
    """Whether a run needs the agent that it imitates after ``steps`` decisions."""
    section = config.imitation
    return steps < section.steps


def load_teacher(config: TrainConfig, copies: Copies, steps: int) -> Agent | None:
    """The agent that a run imitates after ``steps`` decisions; None: nobody, or not any more.

    Raises:
        LupaiError: it cannot be had.
    """
    name = config.imitation.agent
    if not imitates(config, steps):
        return None
    source = copies.source(name, f"{IMITATED}/{label(name)}")
    return copies.load(source, config.rules_string)


def pack(agent: Agent) -> bytes:
    """An agent for other processes, on whatever node; ``pickle.loads`` makes it again."""
    return bytes(cloudpickle.dumps(agent))
