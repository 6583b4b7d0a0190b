"""Trained agents as folders: two files that can be moved, sent and loaded without Ray.

An agent folder holds

* ``agent.json``: format version, rules string, hashes of both layouts, network sizes, SHA-256 of
  the weights, and where the agent came from;
* ``weights.pt``: the policy's ``state_dict``, read with ``weights_only=True``, so that opening a
  stranger's agent runs none of his code.

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.network import (
    MoveScorer,
    NetworkConfig,
    move_table,
    offsets_to_rows,
    segment_argmax,
    segment_log_softmax,
    segment_sample,
)
from lupai.envs.actions import ACTIONS, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.view import View, Views

__all__ = ["AgentCard", "CheckpointAgent", "CheckpointError", "find_agent", "load_agent", "save_agent"]

FORMAT: Final = "lupai-agent/1"
CARD_FILE: Final = "agent.json"
WEIGHTS_FILE: Final = "weights.pt"
LATEST_FILE: Final = "latest.json"
IDLE_VERBS: Final = ("pass", "yield", "claim")
_ROWS_AT_ONCE: Final = 1024  # bounds the memory of one forward pass: a lead may have 860 moves

Idle = Literal["choose", "pass"]


class CheckpointError(LupaiError):
    """An agent folder that cannot be used: what is wrong, where, and what would be right."""


@dataclass(frozen=True)
class AgentCard:
    """What ``agent.json`` says.

    Attributes:
        rules: rules string under which the agent was trained.
        action_layout: hash of the action ids.
        observation_layout: hash of the observation.
        network: sizes of the networks.
        weights_sha256: hex digest of ``weights.pt``.
        idle: ``"pass"``: where only pass, yield or claim are legal the agent passes unasked, as
            it did in training; ``"choose"``: it decides there too.
        provenance: free JSON values: seeds, steps, versions.
    """

    rules: str
    action_layout: str
    observation_layout: str
    network: NetworkConfig
    weights_sha256: str
    idle: Idle = "choose"
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Content of ``agent.json``."""
        return {
            "format": FORMAT,
            "rules": self.rules,
            "action_layout": self.action_layout,
            "observation_layout": self.observation_layout,
            "network": self.network.to_json(),
            "weights_sha256": self.weights_sha256,
            "idle": self.idle,
            "provenance": dict(self.provenance),
        }


def save_agent(
    folder: str | os.PathLike[str],
    policy: MoveScorer,
    network: NetworkConfig,
    engine: Engine,
    *,
    idle: Idle = "choose",
    provenance: Mapping[str, Any] | None = None,
) -> Path:
    """Write an agent folder; it appears whole or not at all, an old one of that name is replaced.

    Args:
        folder: where; the folder above it is made if needed.
        policy: network whose weights are saved (from any device; they are stored for the CPU).
        network: the sizes it was built with.
        engine: gives the rules string and the layout hashes.
        idle: see :class:`AgentCard`.
        provenance: JSON values about the training.
    """
    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save({k: v.detach().cpu().clone() for k, v in policy.state_dict().items()}, buffer)
    card = AgentCard(
        rules=str(engine.rules),
        action_layout=ACTIONS.hash,
        observation_layout=engine.observation_layout.hash,
        network=network,
        weights_sha256=hashlib.sha256(buffer.getvalue()).hexdigest(),
        idle=idle,
        provenance=provenance or {},
    )
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        (new / WEIGHTS_FILE).write_bytes(buffer.getvalue())
        text = json.dumps(card.to_json(), indent=2, ensure_ascii=False) + "\n"
        (new / CARD_FILE).write_text(text, encoding="utf-8")
        new.chmod(0o755)  # mkdtemp made it private
        replace_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return target


def replace_folder(new: Path, target: Path) -> None:
    """Rename ``new`` to ``target``; an old ``target`` is moved aside first and then removed."""
    if not target.exists():
        new.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.rename(old / target.name)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def find_agent(folder: str | os.PathLike[str]) -> Path:
    """Agent folder meant by ``folder``: itself, its ``agent/``, or a run's newest checkpoint.

    Raises:
        CheckpointError: nothing there looks like an agent.
    """
    path = Path(folder)
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
    data = _read_json(path)
    if data.get("format") != FORMAT:
        raise CheckpointError(
            f"{path}: format {data.get('format')!r} is not known; this version reads {FORMAT!r}"
        )
    texts = {}
    for key in ("rules", "action_layout", "observation_layout", "weights_sha256"):
        if not isinstance(data.get(key), str):
            raise CheckpointError(f"{path}: {key!r} is {data.get(key)!r}; it should be a text")
        texts[key] = data[key]
    if data.get("idle") not in ("choose", "pass"):
        raise CheckpointError(f"{path}: 'idle' is {data.get('idle')!r}; it is 'choose' or 'pass'")
    try:
        network = NetworkConfig.from_json(data["network"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path}: 'network' is unusable ({type(error).__name__}: {error}); it should look "
            f"like {json.dumps(NetworkConfig().to_json())}"
        ) from None
    provenance = data.get("provenance")
    return AgentCard(
        network=network,
        idle=data["idle"],
        provenance=provenance if isinstance(provenance, dict) else {},
        **texts,
    )


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
        sample: draw moves from the policy instead of taking the most probable one.
        device: torch device to play on.

    Raises:
        CheckpointError: missing or corrupt file, another format, rules, action or observation
            layout; nothing is loaded in part.
    """
    place = find_agent(folder)
    card = read_card(place)
    try:
        engine = Engine(card.rules if rules is None else rules)
    except LupaiError as error:
        raise CheckpointError(f"{place / CARD_FILE}: rules {card.rules!r}: {error}") from None
    wanted = (
        ("rules", card.rules, str(engine.rules), "ask for the rules it was trained under"),
        ("action_layout", card.action_layout, ACTIONS.hash, _OTHER_VERSION),
        (
            "observation_layout",
            card.observation_layout,
            engine.observation_layout.hash,
            _OTHER_VERSION,
        ),
    )
    for key, has, needs, remedy in wanted:
        if has != needs:
            raise CheckpointError(
                f"{place / CARD_FILE}: {key} is {has!r}, needed is {needs!r}; {remedy}"
            )
    policy = MoveScorer(move_table(engine.observation_layout), card.network)
    _load_weights(policy, place / WEIGHTS_FILE, card.weights_sha256)
    name = str(card.provenance.get("name", place.name))
    return CheckpointAgent(policy.to(device), card, name=name, sample=sample)


_OTHER_VERSION: Final = "it was trained with another version of lupai: train it again"


def _load_weights(policy: MoveScorer, path: Path, sha256: str) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}); copy it again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise CheckpointError(
            f"{path}: {len(content)} bytes with SHA-256 {found[:12]}…, but {CARD_FILE} says "
            f"{sha256[:12]}…; the file is damaged or from another agent: copy the folder again"
        )
    try:
        weights = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        policy.load_state_dict(weights)
    except (pickle.UnpicklingError, RuntimeError, TypeError, AttributeError, EOFError) as error:
        reason = " ".join(str(error).split())[:160]
        raise CheckpointError(
            f"{path}: no weights of this network ({reason}); expected the state_dict of the sizes "
            f"in {CARD_FILE}"
        ) from None
    bad = [name for name, value in policy.state_dict().items() if not bool(value.isfinite().all())]
    if bad:
        raise CheckpointError(
            f"{path}: {bad[0]} holds infinite or undefined numbers; take an earlier checkpoint"
        )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise CheckpointError(f"{path}: not JSON ({error}); copy the folder again") from None
    if not isinstance(data, dict):
        raise CheckpointError(f"{path}: holds a {type(data).__name__}; it should be an object")
    return data


class CheckpointAgent:
    """A trained policy that plays.

    Args:
        policy: the network.
        card: what is known about it.
        name: shown in tables and records.
        sample: draw from the policy; else take the most probable move, the lowest id of equals.
    """

    def __init__(
        self, policy: MoveScorer, card: AgentCard, *, name: str = "trained", sample: bool = False
    ) -> None:
        self.policy = policy.eval()
        self.card = card
        self.name = name
        self.sample = sample
        self._generator = torch.Generator().manual_seed(0)

    def reset(self, seed: int | None = None) -> None:
        """Start the stream of its own draws anew (it matters with ``sample`` only)."""
        if seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(int(seed) % (1 << 63))

    def act(self, view: View) -> str:
        """One move in the notation of the records."""
        ids = view.legal_ids.astype(np.int64)
        offsets = np.array([0, len(ids)], dtype=np.int64)
        chosen = self._choose(view.observation[None], ids, offsets)
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> npt.NDArray[np.int32]:
        """Action ids ``[N] int32`` for N decisions at once."""
        ids, offsets = views.legal.ids()
        return self._choose(views.observation, ids.astype(np.int64), offsets)

    def _choose(
        self,
        observation: npt.NDArray[np.int8],
        ids: npt.NDArray[np.int64],
        offsets: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        count = len(offsets) - 1
        if count and int(np.diff(offsets).min()) < 1:
            raise ValueError("a decision without any legal move was asked of an agent")
        chosen = np.zeros(count, dtype=np.int32)
        for start in range(0, count, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, count)
            part = slice(int(offsets[start]), int(offsets[stop]))
            chosen[start:stop] = self._forward(
                observation[start:stop], ids[part], offsets[start : stop + 1] - offsets[start]
            )
        if self.card.idle == "pass":
            chosen[idle_rows(ids, offsets)] = VERB_ID["pass"]
        return chosen

    @torch.inference_mode()
    def _forward(
        self,
        observation: npt.NDArray[np.int8],
        ids: npt.NDArray[np.int64],
        offsets: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        device = self.policy.head.weight.device
        flat = torch.tensor(ids, device=device)
        rows = offsets_to_rows(torch.tensor(offsets, device=device))
        count = len(offsets) - 1
        logits = self.policy(torch.tensor(observation, device=device), rows, flat)
        if self.sample:
            # The generator lives on the CPU, so that a seed means the same on every device.
            log_probs = segment_log_softmax(logits, rows, count).cpu()
            place = segment_sample(log_probs, rows.cpu(), count, self._generator).to(device)
        else:
            place = segment_argmax(logits, rows, count)
        result: npt.NDArray[np.int32] = flat[place].to(torch.int32).cpu().numpy()
        return result


def idle_rows(
    ids: npt.NDArray[np.integer], offsets: npt.NDArray[np.integer]
) -> npt.NDArray[np.bool_]:
    """``[N] bool``: rows where pass is legal and nothing but pass, yield and claim is."""
    count = len(offsets) - 1
    rows = np.repeat(np.arange(count), np.diff(offsets))
    serious = np.bincount(rows[~_IS_IDLE[ids]], minlength=count)
    passes = np.bincount(rows[ids == VERB_ID["pass"]], minlength=count)
    return (serious == 0) & (passes > 0)


_IS_IDLE: Final = np.isin(np.arange(ACTIONS.size), [VERB_ID[v] for v in IDLE_VERBS])
