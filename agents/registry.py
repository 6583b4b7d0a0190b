"""Agents by name, by the folder of a training run, an ONNX file, or the class of a module."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from lupai.agents.base import Agent
from lupai.agents.by_game import Bayes, Greedy, Tactical
from lupai.agents.random_agent import RandomAgent
from lupai.agents.search import Options, SearchAgent
from lupai.agents.shipped import PREFIX, shipped_folder, shipped_names
from lupai.envs.errors import LupaiError

AGENTS: Final[dict[str, Callable[[], Agent]]] = {
    "random": RandomAgent,
    "greedy": Greedy,
    "tactical": Tactical,
    "bayes": Bayes,
    "search": SearchAgent,
}


ONNX_FILE: Final = "agent.onnx"


class UnknownAgentError(LupaiError):
    """No agent of that name, folder or class, or what it needs is not installed."""


def load(name: str | os.PathLike[str], rules: str | None = None) -> Agent:
    """An agent by name (such as ``random``), by its run or agent folder, or by its class.

    Names come first: a folder that is called ``random`` is ``./random``. Names that begin with
    ``lupai/`` are those of trained agents that come with lupai. A file is one that ``lupai export``
    wrote. ``module:Class`` imports the module, also from the current folder, which is put in front
    of Python's path, and calls the class (or any function) without arguments; what is an agent
    already is taken as it is. Options of ``search`` follow it:
    ``search:simulations=256+method=tree``.

    Args:
        name: of the agent, its folder or ONNX file, or ``module:Class``.
        rules: rules string it is wanted for. A trained agent of others is refused; agents by rules
            of thumb play all.

    Raises:
        UnknownAgentError: neither; says which names there are, or what is wrong with the module.
            Or torch (for a file onnxruntime) is not installed.
        SearchError: an unknown option of ``search``, or a value that it cannot have.
        CheckpointError: the folder or file holds no agent, or one of another version or other
            rules.
    """
    text = os.fspath(name)
    if text in AGENTS:
        return AGENTS[text]()
    if text.startswith("search:") and "=" in text:
        return SearchAgent(Options.parse(text.removeprefix("search:")))
    path = agent_path(name)
    if path is None:
        if ":" in text and not isinstance(name, os.PathLike):
            return _from_module(text)
        raise UnknownAgentError(
            f"agent {text!r}: no such agent and no such folder or file; agents: {_names()}, or the "
            f"folder of a run, such as runs/quick, an ONNX file, or a class, such as "
            f"my_module:MyAgent"
        )
    return load_trained(path, rules=rules)


def agent_path(name: str | os.PathLike[str]) -> Path | None:
    """The folder or ONNX file that a name stands for; None: it is another kind of name, or nothing
    is there.

    Raises:
        UnknownAgentError: it begins with ``lupai/``, and no such agent comes with lupai.
    """
    text = os.fspath(name)
    if text in AGENTS or not text:
        return None
    if text.startswith(PREFIX) and not isinstance(name, os.PathLike):
        folder = shipped_folder(text)
        if folder is None:
            there = ", ".join(shipped_names()) or "none"
            raise UnknownAgentError(
                f"agent {text!r}: no such agent comes with this version of lupai; there are: "
                f"{there} (a folder of your own is ./{text})"
            )
        return folder
    path = Path(text)
    return path if path.is_dir() or path.is_file() else None


def load_trained(path: Path, *, rules: str | None = None, sample: bool = False) -> Agent:
    """A trained agent from a folder or an ONNX file.

    Where torch is missing, a folder's own ``agent.onnx`` plays, if there is one.

    Args:
        path: from :func:`agent_path`.
        rules: rules string it is wanted for.
        sample: it draws its moves from its policy.

    Raises:
        UnknownAgentError: what it needs is not installed.
        CheckpointError: see :func:`load`.
    """
    file = path / ONNX_FILE
    if path.is_file():
        file = path
    elif not file.is_file() or ((path / "agent.json").is_file() and find_spec("torch")):
        # More threads make single decisions slower, many times so on a machine that is not idle.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        with _needing("torch", "train", path):
            from lupai.agents.checkpoint import load_agent
        return load_agent(path, rules=rules, sample=sample)
    with _needing("onnxruntime", "onnx", path):
        from lupai.agents.onnx_agent import load_onnx
    return load_onnx(file, rules=rules, sample=sample)


@contextmanager
def _needing(package: str, extra: str, path: Path) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise UnknownAgentError(
            f'agent {str(path)!r}: a trained agent needs {package}; pip install "lupai[{extra}]"'
        ) from None


def _names() -> str:
    return ", ".join((*AGENTS, *shipped_names()))


def import_object(
    text: str, what: str, such: str, fault: type[LupaiError] = UnknownAgentError
) -> Any:
    """What ``module:Class`` names, imported also from the current folder.

    Args:
        text: ``module:Class``.
        what: it is to be, for messages: ``agent``.
        such: an example of a class's name.
        fault: error to raise.

    Raises:
        LupaiError: of the type ``fault``: no such module or class, or its import failed.
    """
    module_name, _, attribute = text.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise fault(f"{what} {text!r}: a class is named as module:Class, such as my_module:{such}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()  # the file may be younger than the last look into its folder
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name + ".").startswith(error.name + "."):
            why = f"there is no module {error.name!r} in {here!r} or among the installed ones"
        else:
            why = f"module {module_name!r} needs {error.name!r}, which is not installed"
        raise fault(f"{what} {text!r}: {why}") from None
    except Exception as error:
        raise fault(
            f"{what} {text!r}: importing {module_name!r} failed: {type(error).__name__}: {error}"
        ) from error
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise fault(f"{what} {text!r}: module {module_name!r} has no {attribute!r}") from None
    return found


def _from_module(text: str) -> Agent:
    """The agent ``module:Class``."""
    found = import_object(text, "agent", "MyAgent")
    attribute = text.partition(":")[2]
    if isinstance(found, type) or (callable(found) and not isinstance(found, Agent)):
        try:
            found = found()
        except Exception as error:
            raise UnknownAgentError(
                f"agent {text!r}: {attribute}() failed: {type(error).__name__}: {error}"
            ) from error
    if not isinstance(found, Agent):
        missing = [name for name in ("name", "reset", "act") if not hasattr(found, name)]
        raise UnknownAgentError(
            f"agent {text!r}: {attribute} makes no agent: it lacks {', '.join(missing)}; an agent "
            f"has a name, reset(seed) and act(view)"
        )
    return found
