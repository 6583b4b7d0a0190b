"""What ``lupai bench --peers`` measures, and how two loops are timed side by side.

A row more is one :class:`Case` more in :data:`CASES`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any, Final

from lupai.agents.registry import AGENTS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import Rules
from lupai.envs.errors import LupaiError
from lupai.train.bench import peers
from lupai.train.bench.loops import (
    Loop,
    Tables,
    aec_loop,
    bytes_per_table,
    rollout_loop,
    staggered,
    vector,
    vector_loop,
)
from lupai.train.bench.peers import Peer

GAME: Final = "baohuang"  # what our side of all rows plays
TABLES: Final = 2048  # of the batched rows: beyond it the gain is small, see docs/performance.md
WARM_UP: Final = 0.05  # seconds: caches are filled

MET, MISSED, ABSENT, FAILED, FREE = "met", "missed", "not installed", "failed", "-"


@dataclass
class Settings:
    """What the rows share."""

    rules: Rules
    tables: int = TABLES
    _vectors: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def engine(self) -> Engine:
        """The engine of the rules."""
        return Engine(self.rules)

    def vector(self, tables: int | None = None) -> Any:
        """The vector environment of so many tables; the same one for every row."""
        count = self.tables if tables is None else tables
        if count not in self._vectors:
            self._vectors[count] = vector(self.rules, count)
        return self._vectors[count]


@dataclass(frozen=True)
class Case:
    """A row: our loop, maybe a peer's, maybe a target.

    Attributes:
        name: what is measured on our side.
        unit: of both loops' numbers.
        ours: makes our loop.
        peer: the other side. With one the target is for the ratio ours / peer, without for our
            own number.
        target: None for a number that is only told.
        at_most: the target is a limit from above.
    """

    name: str
    unit: str
    ours: Callable[[Settings], Loop]
    peer: Peer | None = None
    target: float | None = None
    at_most: bool = False

    def verdict(self, value: float) -> str:
        """Of a ratio, or without a peer of our number."""
        if self.target is None:
            return FREE
        return MET if (value <= self.target if self.at_most else value >= self.target) else MISSED


def _engine(settings: Settings) -> Loop:
    return Tables(settings.engine, staggered(settings.engine, settings.tables)).loop(listed=False)


def _masked(settings: Settings) -> Loop:
    return vector_loop(settings.vector(), mask=True)


def _ragged(settings: Settings) -> Loop:
    return vector_loop(settings.vector(), mask=False)


def _masked_as_pgx(settings: Settings) -> Loop:
    return vector_loop(settings.vector(peers.PGX_BATCH), mask=True)


def _aec(settings: Settings) -> Loop:
    from lupai.envs.baohuang_v0 import env

    return aec_loop(env(settings.rules))


def _memory(settings: Settings) -> Loop:
    size = bytes_per_table(settings.engine.reset(range(64)))
    return lambda _limit: size


def _rollouts(preset: str, name: str) -> Callable[[Settings], Loop]:
    def make(settings: Settings) -> Loop:
        return rollout_loop(Engine(preset), settings.tables, AGENTS[name]())

    return make


_DECISIONS: Final = "decisions/s"
_OBSERVED: Final = "observation + dense mask"
CASES: Final[list[Case]] = [
    Case("no observation", _DECISIONS, _engine, peers.OPEN_SPIEL, 1.5),
    Case("no observation", _DECISIONS, _engine, peers.OPEN_SPIEL_UNDEALT),
    Case(_OBSERVED, _DECISIONS, _masked, peers.OPEN_SPIEL_TENSOR, 1.0),
    Case("observation + legal ids", _DECISIONS, _ragged, peers.OPEN_SPIEL_TENSOR, 1.5),
    Case(_OBSERVED, _DECISIONS, _masked, peers.RLCARD, 40),
    Case("AEC env() loop", "turns/s", _aec, peers.TICTACTOE, 1.0),
    Case("memory of a table", "bytes", _memory, target=4096, at_most=True),
    *(
        Case(
            f"rollouts of {name}, {preset}", "hands/s", _rollouts(preset, name),
            target=800 if (preset, name) == ("qingdao", "random") else None,
        )
        for name in ("random", "greedy")
        for preset in ("qingdao", "shiwei", "weihai")
    ),
    # last: what jax leaves in memory and in threads disturbs no other row
    Case(
        f"{_OBSERVED}, B={peers.PGX_BATCH}", _DECISIONS, _masked_as_pgx, peers.PGX, 3,
    ),
]  # fmt: skip


def measure(case: Case, settings: Settings, repeats: int, seconds: float) -> dict[str, Any]:
    """Time a case: ours, the peer, ours, the peer, …

    Returns:
        the row as JSON has it: ``ours`` and ``peer`` are the numbers of the repeats, ``ratio``
        those of neighbouring repeats over each other (so that a load that comes and goes falls on
        both sides), ``verdict`` that of the median.
    """
    row: dict[str, Any] = {
        "case": case.name, "unit": case.unit, "peer_name": case.peer and case.peer.name,
        "peer_version": case.peer and peers.installed(case.peer.package),
        "target": case.target, "at_most": case.at_most,
        "ours": [], "peer": [], "ratio": [], "verdict": FREE, "note": None,
    }  # fmt: skip
    other = _make(case.peer, row) if case.peer is not None else None
    ours = case.ours(settings)
    loops = [ours] if other is None else [ours, other]
    gc.collect()
    gc.freeze()  # what imports left behind is not searched again and again while a loop runs
    try:
        for loop in loops:
            loop(min(seconds, WARM_UP))
        for _ in range(repeats):
            row["ours"].append(ours(seconds))
            if other is not None:
                row["peer"].append(other(seconds))
                row["ratio"].append(row["ours"][-1] / row["peer"][-1])
    finally:
        gc.unfreeze()
    if case.peer is None:
        row["verdict"] = case.verdict(median(row["ours"]))
    elif other is not None:
        row["verdict"] = case.verdict(median(row["ratio"]))
    return row


def _make(peer: Peer, row: dict[str, Any]) -> Loop | None:
    if not peer.present():
        row["verdict"], row["note"] = ABSENT, peer.install
        return None
    try:
        return peer.make()
    except ImportError as error:
        row["verdict"] = ABSENT
        row["note"] = f"{peer.install} ({error.name or error} is missing)"
    except Exception as error:  # what a peer does wrong costs its own row only
        row["verdict"] = FAILED
        row["note"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return None


def run(settings: Settings, repeats: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Rows of all cases, one by one, on one core.

    Raises:
        LupaiError: no peer at all is installed.
    """
    if not any(case.peer.present() for case in CASES if case.peer is not None):
        raise LupaiError(f"none of the peers is installed: {peers.EXTRA}")
    with one_core():
        for case in CASES:
            yield measure(case, settings, repeats, seconds)


_THREADS: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",  # else it greets on standard output
}


@contextmanager
def one_core() -> Iterator[None]:
    """This process on one core, where the system lets it choose, and libraries on one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    os.environ.update(_THREADS)
    if cores:
        os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, cores)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
