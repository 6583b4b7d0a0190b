"""The Ray around a training loop: its own, or a cluster's."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lupai.train.config import TrainConfig
from lupai.train.locks import lock_state, take_lock
from lupai.train.run_folder import TrainingError

__all__ = ["ray_session"]

PREFIX: Final = "lupai-"
OWNER: Final = "owner.lock"
# In the environment of all processes of a Ray of ours: its folder. They rewrite their command line.
MARK: Final = "LUPAI_RAY_FOLDER"


@contextmanager
def ray_session(config: TrainConfig, address: str | None = None) -> Iterator[None]:
    """A Ray of its own that leaves no process and no file behind, or a cluster's.

    Args:
        config: the run; its workers must find room.
        address: of a running cluster: ``auto`` or ``HOST:PORT``; None: a Ray of its own, or the one
            that this process is connected to already.

    Raises:
        TrainingError: there is no cluster, or it has not enough CPUs or GPUs.
    """
    # Both before torch and Ray are imported; see lupai.train.rllib for the reason.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    import torch

    # Where torch was imported before us the variable came too late; this works at any time.
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if ray.is_initialized() and address is None:
        demand_room(config)
        yield
        return
    with _connected(address) if address is not None else _own(config):
        demand_room(config)
        yield


@contextmanager
def _own(config: TrainConfig) -> Iterator[None]:
    import ray

    clean_orphans()
    # Short, because Ray puts sockets below it, whose paths may have 107 letters.
    scratch = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = take_lock(scratch / OWNER)
    needed = sum(count * cpus for _, count, cpus, _ in demands(config))
    os.environ[MARK] = str(scratch)
    try:
        ray.init(
            num_cpus=config.workers.cpus or max(os.cpu_count() or 1, int(needed) + 1),
            include_dashboard=False,
            object_store_memory=config.workers.object_store_mb * 1_000_000,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=str(scratch),
        )
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)
        os.environ.pop(MARK, None)
        if lock is not None:
            os.close(lock[0])


@contextmanager
def _connected(address: str) -> Iterator[None]:
    import ray

    if address != "auto":
        _demand_listener(address)
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            # One thread everywhere, or small batches take ten times as long on a busy node.
            runtime_env={"env_vars": {"OMP_NUM_THREADS": os.environ["OMP_NUM_THREADS"]}},
        )
    except Exception as error:
        with suppress(Exception):
            ray.shutdown()
        text = " ".join(str(error).split())[:240]
        raise TrainingError(
            f"--address {address}: no Ray cluster to be used there ({type(error).__name__}: "
            f"{text}); start one with `ray start --head`, and give RAY_AUTH_MODE the same value "
            f"on every node and here"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _demand_listener(address: str) -> None:
    """Refuse an address where nobody listens: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise TrainingError(
            f"--address {address}: should be auto, or HOST:PORT of the cluster's head (port 6379, "
            f"if `ray start --head` was given no other)"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise TrainingError(
            f"--address {address}: no Ray cluster to be used there ({error.strerror or error}); "
            f"start one with `ray start --head`"
        ) from None


def demands(config: TrainConfig) -> list[tuple[str, int, float, float]]:
    """``(what, how many, CPUs of each, GPUs of each)`` of the processes that Ray shall place."""
    workers, learners = config.workers, config.learners
    return [
        ("learners", learners.num, learners.cpus, learners.gpus),
        ("runners", workers.runners, workers.cpus_per_runner, 0.0),
    ]


def demand_room(config: TrainConfig) -> None:
    """Wait until all workers find room, and refuse what never will: Ray would wait without a word.

    Raises:
        TrainingError: too few CPUs or GPUs; names what is there and what is needed.
    """
    import ray

    wanted = [d for d in demands(config) if d[1]]
    if not wanted:
        return
    end = time.monotonic() + 60 * config.workers.wait_minutes
    while True:
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        rooms = [[node.get("CPU", 0.0), node.get("GPU", 0.0)] for node in nodes]
        free = ray.available_resources()
        short = place(wanted, rooms) or _taken(wanted, free)
        if short is None:
            return
        if time.monotonic() >= end:
            need = ", ".join(
                f"{count} {what} with {cpus:g} CPUs" + (f" and {gpus:g} GPUs" if gpus else "")
                for what, count, cpus, gpus in wanted
            )
            there = ", ".join(f"{cpu:g} CPUs" + (f" {g:g} GPUs" if g else "") for cpu, g in rooms)
            raise TrainingError(
                f"no room for the workers: {short}; needed: {need}; Ray's nodes: {there}; lower "
                f"workers.runners or workers.cpus_per_runner, or add nodes"
            )
        time.sleep(1)


def place(wanted: list[tuple[str, int, float, float]], rooms: list[list[float]]) -> str | None:
    """Put workers on nodes ``[CPUs, GPUs]`` one by one; what finds no place, or None."""
    rooms = sorted(([*room] for room in rooms), reverse=True)
    for what, count, cpus, gpus in wanted:
        for number in range(count):
            for room in rooms:
                if room[0] >= cpus and room[1] >= gpus:
                    room[0] -= cpus
                    room[1] -= gpus
                    break
            else:
                return f"only {number} of {count} {what} fit on the nodes"
    return None


def _taken(wanted: list[tuple[str, int, float, float]], free: dict[str, float]) -> str | None:
    for number, name in ((2, "CPU"), (3, "GPU")):
        need = sum(demand[1] * float(demand[number]) for demand in wanted)
        if need > free.get(name, 0.0) + 1e-6:
            return f"{free.get(name, 0.0):g} {name}s are not in use by others"
    return None


def clean_orphans() -> None:
    """Remove what trainers that were killed have left: their Ray's folder, and its processes, some
    of which need a minute to notice."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if lock_state(folder / OWNER) == "left":
            for _ in range(20):  # one that is just being started is found at the next look
                found = _processes_of(folder)
                for number in found:
                    with suppress(OSError):
                        os.kill(number, signal.SIGKILL)
                if not found:
                    break
                time.sleep(0.1)
            shutil.rmtree(folder, ignore_errors=True)


def _processes_of(folder: Path) -> list[int]:
    """Processes of the Ray with this folder; none where there is no /proc."""
    found, mark = [], f"{MARK}={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or of another user
            continue
        if mark in variables and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found
