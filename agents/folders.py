"""Where the card of a trained agent lies, and which game it plays; neither torch nor onnxruntime is
needed for that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from lupai.agents.card import AgentCard, CheckpointError, read_object
from lupai.agents.registry import agent_path
from lupai.agents.shipped import CARD_FILE

__all__ = ["CARD_FILE", "LATEST_FILE", "WEIGHTS_FILE", "find_agent", "game_of", "read_card"]

WEIGHTS_FILE: Final = "weights.pt"
LATEST_FILE: Final = "latest.json"


def find_agent(folder: str | os.PathLike[str]) -> Path:
    """Agent folder meant by ``folder``: itself, its ``agent/``, a run's newest checkpoint, or that
    of an agent that comes with lupai (``lupai/NAME``).

    Raises:
        CheckpointError: nothing there looks like an agent.
    """
    path = agent_path(folder) or Path(folder)
    if not path.is_dir():
        raise CheckpointError(f"agent {str(path)!r}: no such folder; give an agent or run folder")
    if (path / LATEST_FILE).is_file():
        name = _read_json(path / LATEST_FILE).get("checkpoint")
        if not isinstance(name, str) or not (path / name).is_dir():
            raise CheckpointError(
                f"agent {str(path)!r}: {LATEST_FILE} names the checkpoint {name!r}, which is not "
                f"there; it should be a folder below the run, such as 'checkpoints/000010'"
            )
        path = path / name
    for candidate in (path, path / "agent"):
        if (candidate / CARD_FILE).is_file():
            return candidate
    raise CheckpointError(
        f"agent {str(path)!r}: no {CARD_FILE} in it; an agent folder holds {CARD_FILE} and "
        f"{WEIGHTS_FILE}, a run folder {LATEST_FILE}"
    )


def read_card(folder: Path) -> AgentCard:
    """Read and check ``agent.json`` (not the weights).

    Raises:
        CheckpointError: unreadable, of another format, or with a value that makes no sense.
    """
    path = folder / CARD_FILE
    return AgentCard.from_json(_read_json(path), path)


def game_of(source: str | os.PathLike[str]) -> str | None:
    """The game that a trained agent plays, by its name or folder; None for any other agent, and for
    a folder without a card that can be read."""
    path = agent_path(source)
    if path is None or not path.is_dir():
        return None
    try:
        return read_card(find_agent(path)).game
    except CheckpointError:
        return None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeError as error:
        raise CheckpointError(f"{path}: not JSON ({error}); copy it again") from None
    return read_object(text, path)
