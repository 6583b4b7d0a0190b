"""A trained agent in one ONNX file, played with onnxruntime and numpy alone.

``lupai export`` writes the file: the network with all its constants, and the agent's card
(:class:`~lupai.agents.card.AgentCard`) as JSON in the metadata. The graph is ragged as the network
is: ``observation [N, D] int8``, ``rows [T] int64``, ``ids [T] int64``, and where the network takes
it (:mod:`lupai.agents.advice`) ``advice [T, F] float16``, to ``outputs [T] float32``.
The last bytes of the file are a metadata entry with the SHA-256 of all bytes before it: a protobuf
message may be made of pieces, so any reader of ONNX takes it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime

from lupai.agents.card import AgentCard, CheckpointError, engine_for, read_object
from lupai.agents.ragged import F16, F32, I64, ScoringAgent

__all__ = ["ADVICE", "CARD_KEY", "INPUTS", "OUTPUT", "OnnxAgent", "load_onnx", "seal"]

CARD_KEY: Final = "lupai_agent"  # metadata entry with the card
OUTPUT: Final = "outputs"
INPUTS: Final = {"observation": "tensor(int8)", "rows": "tensor(int64)", "ids": "tensor(int64)"}
ADVICE: Final = "advice"  # one more input, float16, of networks that take advice
_DIGEST_KEY: Final = b"lupai_sha256"
_HEX: Final = 64
# ModelProto.metadata_props (field 14) of 80 bytes: key and value (fields 1 and 2), each with length
_MARK: Final = bytes((0x72, 80, 0x0A, len(_DIGEST_KEY))) + _DIGEST_KEY + bytes((0x12, _HEX))


def seal(model: bytes) -> bytes:
    """A serialised model with the entry that tells its digest."""
    return model + _MARK + hashlib.sha256(model).hexdigest().encode()


def _check_seal(content: bytes, path: Path) -> None:
    model, mark, digest = content[: -len(_MARK) - _HEX], content[:-_HEX], content[-_HEX:]
    if not mark.endswith(_MARK):
        raise CheckpointError(
            f"{path}: {len(content)} bytes that do not end as a file of `lupai export` does; it "
            f"was cut off, or is no agent of lupai: copy it again, or export an agent"
        )
    found = hashlib.sha256(model).hexdigest()
    if found.encode() != digest:
        raise CheckpointError(
            f"{path}: its SHA-256 is {found[:12]}…, but it says {digest[:12].decode('latin-1')!r}…;"
            f" the file is damaged: copy it again"
        )


class OnnxAgent(ScoringAgent):
    """A trained policy that plays; see :class:`~lupai.agents.ragged.ScoringAgent`.

    Args:
        model: the file's bytes.
        card, name, sample, seed: as there.

    Raises:
        CheckpointError: onnxruntime cannot read the model, or it is not of this form.
    """

    def __init__(
        self, model: bytes, card: AgentCard | None = None, *, name: str = "trained",
        sample: bool = False, seed: int | None = 0,
    ) -> None:  # fmt: skip
        self._model = model
        self._session = _session(model)
        if card is None:
            card = _card(self._session)
        super().__init__(card, name=card.name(name), sample=sample, seed=seed)

    def outputs(
        self, observation: npt.NDArray[np.int8], rows: I64, ids: I64, advice: F16 | None
    ) -> F32:
        """See :meth:`lupai.agents.ragged.ScoringAgent.outputs`."""
        given: dict[str, npt.NDArray[Any]] = {"observation": observation, "rows": rows, "ids": ids}
        if advice is not None:
            given[ADVICE] = advice
        found: F32 = self._session.run([OUTPUT], given)[0]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: a session cannot travel, the model can."""
        return {k: v for k, v in self.__dict__.items() if k != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the session anew."""
        self.__dict__.update(state)
        self._session = _session(self._model)


def load_onnx(
    file: str | os.PathLike[str], *, rules: str | None = None, sample: bool = False
) -> OnnxAgent:
    """Agent from an ONNX file.

    Args:
        file: as ``lupai export`` writes it.
        rules: rules string it is wanted for; ``None`` takes those it was trained under.
        sample: draw moves from a softmax over the outputs instead of taking the highest.

    Raises:
        CheckpointError: missing or damaged file, one that is no agent, or one of another version
            or other rules.
    """
    path = Path(file)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}); copy it again") from None
    _check_seal(content, path)
    try:
        agent = OnnxAgent(content, name=path.stem, sample=sample)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    engine = engine_for(agent.card, rules, path)
    advised = len(agent._session.get_inputs()) > len(INPUTS)
    if advised != (agent.card.network.advice != "none"):
        raise CheckpointError(
            f"{path}: its card says advice {agent.card.network.advice!r}, but its graph takes "
            f"{'some' if advised else 'none'}; export the agent again"
        )
    width = agent._session.get_inputs()[0].shape[1]
    if width != engine.observation_layout.size:
        raise CheckpointError(
            f"{path}: the graph takes observations of {width} numbers, its game has "
            f"{engine.observation_layout.size}; export the agent again"
        )
    return agent


def _session(model: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    # As with torch: more threads make single decisions slower, many times so on busy cores.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what is wrong is raised
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class for each status, all of them private
        reason = " ".join(str(error).split())[:160]
        raise CheckpointError(
            f"onnxruntime {onnxruntime.__version__} cannot read it ({reason}); export it again, or "
            f"install a newer onnxruntime"
        ) from None
    has = {node.name: node.type for node in session.get_inputs()}
    known = has in (INPUTS, INPUTS | {ADVICE: "tensor(float16)"})
    if not known or [node.name for node in session.get_outputs()] != [OUTPUT]:
        raise CheckpointError(
            f"its inputs are {has}; a file of `lupai export` has {INPUTS} and the output {OUTPUT!r}"
        )
    return session


def _card(session: Any) -> AgentCard:
    text = session.get_modelmeta().custom_metadata_map.get(CARD_KEY)
    if text is None:
        raise CheckpointError(f"no {CARD_KEY!r} in its metadata; export an agent: lupai export")
    return AgentCard.from_json(read_object(text, CARD_KEY), CARD_KEY)
