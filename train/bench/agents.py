"""What ``lupai bench --agent`` measures: how long a trained agent takes to decide.

One decision at a time, as at a table: from a view to a move, its legal moves included; and many
tables at once. By torch, by onnxruntime, or both. All on one core.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from lupai.agents.base import Agent, ask
from lupai.agents.registry import ONNX_FILE, agent_path, load, load_trained
from lupai.envs.game import Game
from lupai.envs.view import Views
from lupai.train.bench.cases import MET, MISSED, one_core
from lupai.train.bench.loops import staggered

GOAL: Final = 5.0  # milliseconds for one decision
TABLES: Final = 1024  # of the batched row
SINGLE: Final = 256  # positions that are decided one by one in a repeat
_WARM: Final = 8


def players(name: str) -> Iterator[tuple[str, Agent]]:
    """An agent by every library that can play it here: what plays, and the agent.

    A folder is played by torch, and by onnxruntime from its own ``agent.onnx`` or, where what
    writes one is installed, from one that is written for this.

    Raises:
        LupaiError: there is no such agent.
    """
    path = agent_path(name)
    if path is None:
        yield "numpy", load(name)
        return
    if path.is_file():
        yield "onnxruntime", load_trained(path)
        return
    agent = load_trained(path)
    with_torch = hasattr(agent, "policy")
    yield "torch" if with_torch else "onnxruntime", agent
    if not with_torch or find_spec("onnxruntime") is None:
        return
    if (path / ONNX_FILE).is_file():
        yield "onnxruntime", load_trained(path / ONNX_FILE)
    elif find_spec("onnxscript") is not None and find_spec("onnx") is not None:
        from lupai.train.onnx_export import export_agent

        with tempfile.TemporaryDirectory(prefix="lupai-bench-") as folder:
            export_agent(agent, Path(folder) / ONNX_FILE)  # type: ignore[arg-type]
            other = load_trained(Path(folder) / ONNX_FILE)
        yield "onnxruntime", other


def run(
    name: str, engine: Game, tables: int, repeats: int, seconds: float
) -> Iterator[dict[str, Any]]:
    """Rows one by one.

    Args:
        name: of the agent.
        engine: of the rules that it plays.
        tables: decided at once in the second row.
        repeats: of each row. seconds: of a repeat of the second row.

    Returns:
        rows with ``case``, ``unit``, ``values`` (one for each repeat), and of single decisions
        ``slowest`` (99 of 100 are faster), ``target`` and ``verdict``.
    """
    agents = list(players(name))  # exporting is not measured
    with one_core():
        for library, agent in agents:
            yield _single(library, agent, engine, repeats)
            yield _batch(library, agent, engine, tables, repeats, seconds)


def _single(library: str, agent: Agent, engine: Game, repeats: int) -> dict[str, Any]:
    state = staggered(engine, SINGLE)
    views = list(Views(engine, state, state.actor))
    for view in views[:_WARM]:
        agent.act(view)
    medians, spent = [], np.zeros((repeats, len(views)))
    for repeat in range(repeats):
        # a view keeps what was asked of it: every repeat begins with fresh ones
        for i, view in enumerate(Views(engine, state, state.actor)):
            start = time.perf_counter()
            agent.act(view)
            spent[repeat, i] = 1000 * (time.perf_counter() - start)
        medians.append(float(median(spent[repeat])))
    return {
        "case": f"one decision, {library}", "unit": "ms", "values": medians,
        "slowest": float(np.quantile(spent, 0.99)), "target": GOAL,
        "verdict": MET if median(medians) <= GOAL else MISSED,
    }  # fmt: skip


def _batch(
    library: str, agent: Agent, engine: Game, tables: int, repeats: int, seconds: float
) -> dict[str, Any]:
    state = staggered(engine, tables)
    lanes = np.arange(tables)
    rates = []
    for repeat in range(repeats + 1):
        done, start = 0, time.perf_counter()
        while True:
            done += len(ask(agent, Views(engine, state, state.actor), lanes))
            if (spent := time.perf_counter() - start) >= (seconds if repeat else 0):
                break
        if repeat:  # the first warms up
            rates.append(done / spent)
    return {"case": f"{tables:,} tables at once, {library}", "unit": "decisions/s", "values": rates}
