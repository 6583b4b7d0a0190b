"""A trained agent as one ONNX file; ``lupai export``. Needs the extra ``export``."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import torch

import lupai
from lupai.agents.advice import ADVISING
from lupai.agents.card import CheckpointError
from lupai.agents.checkpoint import CheckpointAgent
from lupai.agents.onnx_agent import ADVICE, CARD_KEY, OUTPUT, OnnxAgent, seal
from lupai.envs.game import make_game
from lupai.envs.view import Views
from lupai.train.bench.loops import staggered
from lupai.train.files import write_whole

__all__ = ["export_agent", "onnx_bytes"]

CHECKED: Final = 512  # decisions that both must answer alike before a file is written
_OPSET: Final = 20  # the exporter's own default: nothing is converted, nothing newer needed


def export_agent(agent: CheckpointAgent, file: Path) -> int:
    """Write an agent's ONNX file, after it has played :data:`CHECKED` decisions as the agent does.

    Args:
        agent: with its policy on the CPU.
        file: appears whole or not at all; an old one is replaced.

    Returns:
        Bytes written.

    Raises:
        CheckpointError: what was exported plays otherwise; nothing is written.
    """
    content = onnx_bytes(agent)
    engine = make_game(agent.card.game, agent.card.rules)
    state = staggered(engine, CHECKED)
    views = Views(engine, state, state.actor)
    different = int((OnnxAgent(content).act_batch(views) != agent.act_batch(views)).sum())
    if different:
        raise CheckpointError(
            f"{file}: not written: the exported network decides {different} of {len(views)} times "
            f"otherwise than torch's; try another version of torch or onnxscript, and report it"
        )
    write_whole(file, content)
    return len(content)


def onnx_bytes(agent: CheckpointAgent) -> bytes:
    """The file's content; the same agent gives the same bytes with the same versions."""
    policy = agent.policy
    width = make_game(agent.card.game, agent.card.rules).observation_layout.size
    # Sizes other than 0 and 1, which the exporter would take for constants.
    example = {
        "observation": torch.zeros(3, width, dtype=torch.int8),
        "rows": torch.tensor([0, 0, 1, 2, 2]),
        "ids": torch.tensor([1, 2, 3, 4, 5]),
    }
    if agent.card.network.advice != "none":
        example[ADVICE] = torch.zeros(5, ADVISING[agent.card.game].features, dtype=torch.float16)
    dynamic = {0: torch.export.Dim.DYNAMIC}
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            policy,
            tuple(example.values()),
            dynamo=True,
            opset_version=_OPSET,
            input_names=list(example),
            output_names=[OUTPUT],
            dynamic_shapes=(dynamic,) * len(example),
            verbose=False,
        )
        assert program is not None
        model = program.model_proto
    _strip(model)
    model.producer_name, model.producer_version = "lupai", lupai.__version__
    card = model.metadata_props.add()
    about = replace(agent.card, role_head_sha256="")  # the file holds none
    card.key, card.value = CARD_KEY, json.dumps(about.to_json(), ensure_ascii=False)
    return seal(model.SerializeToString(deterministic=True))


def _strip(model: Any) -> None:
    """Take out what tells of the machine and is no part of the graph: stack traces, sources."""
    del model.metadata_props[:], model.graph.metadata_props[:]
    model.doc_string = model.graph.doc_string = ""
    graph = model.graph
    for part in (*graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        del part.metadata_props[:]
        part.doc_string = ""


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter talks of its steps, and of what it may do one day."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
