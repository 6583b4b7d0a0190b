"""Trained agents as folders: two files that can be moved, sent and loaded without Ray.

An agent folder holds

* ``agent.json``: format version, rules string, hashes of both layouts, what the network is made of
  (sizes, how it reads history, one policy or one for each role), SHA-256 of the weights, and where
  the agent came from;
* ``weights.pt``: the ``state_dict`` of the policy, or of all of them, read with
  ``weights_only=True``, so that opening a stranger's agent runs none of his code;
* of a run with a role head also ``role_head.pt``, what it guesses of who is guard, read the same
  way and not needed to play.

A run folder of ``lupai train`` is accepted wherever an agent folder is: its ``latest.json`` names
the newest checkpoint, by a path relative to the run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from lupai.agents.card import (
    AgentCard,
    CheckpointError,
    Idle,
    NetworkConfig,
    advice_of,
    engine_for,
)
from lupai.agents.folders import CARD_FILE, WEIGHTS_FILE, find_agent, read_card
from lupai.agents.network import table_of
from lupai.agents.policies import Policy, build_policy, policy_names
from lupai.agents.role_head import RoleHead
from lupai.agents.trained import CheckpointAgent
from lupai.agents.verified import read_verified
from lupai.envs.game import Game

__all__ = [
    "AgentCard",
    "CheckpointAgent",
    "CheckpointError",
    "find_agent",
    "load_agent",
    "load_role_head",
    "save_agent",
]

ROLE_HEAD_FILE: Final = "role_head.pt"


def save_agent(
    folder: str | os.PathLike[str],
    policy: Policy,
    network: NetworkConfig,
    engine: Game,
    *,
    idle: Idle = "choose",
    temperature: float = 1.0,
    role_head: RoleHead | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Path:
    """Write an agent folder; it appears whole or not at all, an old one of that name is replaced.

    Args:
        folder: where; the folder above it is made if needed.
        policy: network whose weights are saved (from any device; they are stored for the CPU).
        network: what it was built with.
        engine: gives the rules string and the layout hashes.
        idle, temperature: see :class:`AgentCard`.
        role_head: that learned with the policy.
        provenance: JSON values about the training.
    """
    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    weights = _content(policy)
    head = b"" if role_head is None else _content(role_head)
    card = AgentCard(
        game=engine.game,
        rules=str(engine.rules),
        action_layout=engine.actions.hash,
        observation_layout=engine.observation_layout.hash,
        network=network,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        idle=idle,
        temperature=temperature,
        advice=advice_of(network, engine),
        role_head_sha256=hashlib.sha256(head).hexdigest() if head else "",
        provenance=provenance or {},
    )
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        (new / WEIGHTS_FILE).write_bytes(weights)
        if head:
            (new / ROLE_HEAD_FILE).write_bytes(head)
        text = json.dumps(card.to_json(), indent=2, ensure_ascii=False) + "\n"
        (new / CARD_FILE).write_text(text, encoding="utf-8")
        new.chmod(0o755)  # mkdtemp made it private
        replace_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return target


def _content(network: torch.nn.Module) -> bytes:
    buffer = io.BytesIO()
    torch.save({k: v.detach().cpu().clone() for k, v in network.state_dict().items()}, buffer)
    return buffer.getvalue()


def replace_folder(new: Path, target: Path) -> None:
    """Rename ``new`` to ``target``; an old ``target`` is moved aside first and then removed."""
    if not target.exists():
        new.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.rename(old / target.name)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def load_agent(
    folder: str | os.PathLike[str],
    *,
    rules: str | None = None,
    sample: bool = False,
    device: str = "cpu",
) -> CheckpointAgent:
    """Agent from an agent or run folder.

    Args:
        folder: see :func:`find_agent`.
        rules: rules string it is wanted for; ``None`` takes those it was trained under.
        sample: draw moves from a softmax over the outputs (see ``AgentCard.temperature``)
            instead of taking the highest.
        device: torch device to play on.

    Raises:
        CheckpointError: missing or corrupt file, another format, rules, action or observation
            layout; nothing is loaded in part.
    """
    place = find_agent(folder)
    card = read_card(place)
    engine = engine_for(card, rules, place / CARD_FILE)
    try:
        policy = build_policy(table_of(engine), card.network)
    except ValueError as error:
        raise CheckpointError(
            f"{place / CARD_FILE}: 'network' does not fit the game: {error}"
        ) from None
    _load_weights(policy, place / WEIGHTS_FILE, card.weights_sha256)
    return CheckpointAgent(policy.to(device), card, name=card.name(place.name), sample=sample)


def load_role_head(folder: str | os.PathLike[str]) -> RoleHead | None:
    """The role head of an agent or run folder; None: it comes without.

    Raises:
        CheckpointError: no such agent, or its file is missing, altered or of other sizes.
    """
    place = find_agent(folder)
    card = read_card(place)
    if not card.role_head_sha256:
        return None
    head = RoleHead(card.network.hidden[-1], len(policy_names(card.network)))
    _load_weights(head, place / ROLE_HEAD_FILE, card.role_head_sha256)
    return head


def _load_weights(network: torch.nn.Module, path: Path, sha256: str) -> None:
    content = read_verified(path, sha256, told_by=CARD_FILE, owner="agent", error=CheckpointError)
    try:
        weights = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        network.load_state_dict(weights)
    except (pickle.UnpicklingError, RuntimeError, TypeError, AttributeError, EOFError) as error:
        reason = " ".join(str(error).split())[:160]
        raise CheckpointError(
            f"{path}: no weights of this network ({reason}); expected the state_dict of the sizes "
            f"in {CARD_FILE}"
        ) from None
    bad = [name for name, value in network.state_dict().items() if not bool(value.isfinite().all())]
    if bad:
        raise CheckpointError(
            f"{path}: {bad[0]} holds infinite or undefined numbers; take an earlier checkpoint"
        )
