"""What a result needs so that somebody else can get it again: versions, commit, agents."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import lupai
from lupai.agents.base import Agent

__all__ = ["commit", "describe", "machine", "module_sha256", "processor", "versions"]


def versions() -> dict[str, Any]:
    """Versions of what plays."""
    found = {"lupai": lupai.__version__, "commit": commit()}
    found |= {"python": platform.python_version(), "numpy": np.__version__}
    torch = sys.modules.get("torch")
    return found | ({"torch": str(torch.__version__)} if torch is not None else {})


def processor() -> str:
    """Name of the processor, as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def machine() -> str:
    """What an agent was trained on, in words; GPUs where torch is loaded and sees some."""
    words = f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        words += f", {torch.cuda.device_count()} x {torch.cuda.get_device_name(0)}"
    return words


def commit() -> str | None:
    """Commit of the checkout that lupai runs from, ``-dirty`` if files were changed since; None
    where there is none."""
    here = Path(__file__).resolve()
    try:
        # The folder of an installed package may lie in somebody else's repository.
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        head = _git(here.parent, "rev-parse", "HEAD")
        changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("-dirty" if changed else "")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, timeout=20, check=True
    )
    return done.stdout.strip()


def describe(agent: Agent, source: Any) -> dict[str, Any]:
    """Name, where it comes from, and what identifies it: its checkpoint's card, or the digest of
    the file that its class stands in."""
    info: dict[str, Any] = {"name": str(getattr(agent, "name", type(agent).__name__))}
    if isinstance(source, str | os.PathLike):
        info["source"] = os.fspath(source)
        if ":" in info["source"]:
            digest = module_sha256(agent)
            if digest is not None:
                info["module_sha256"] = digest
    card = getattr(agent, "card", None)
    if card is not None and hasattr(card, "to_json"):
        info["checkpoint"] = card.to_json()
    return info


def module_sha256(thing: object) -> str | None:
    """Hex digest of the file that the class of something stands in; None if it stands in none."""
    file = getattr(sys.modules.get(type(thing).__module__), "__file__", None)
    if not file or not Path(file).is_file():
        return None
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
