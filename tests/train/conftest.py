"""One Ray for all tests here, and one small algorithm built on it: starts cost seconds each."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

TINY: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "network": {"hidden": [16], "move_hidden": 8, "value_hidden": [8]},
    "ppo": {"batch_size": 512, "minibatch_size": 256, "epochs": 1, "lr": 1e-3},
    "workers": {"runners": 0, "envs_per_runner": 8},
    "stop": {"steps": 1024},
    "watch": {"every": 0},
}


def tiny(**sections: Any) -> Any:
    """A small training config; sections are merged into TINY's."""
    from lupai.train.config import parse_config

    data = {k: dict(v) if isinstance(v, dict) else v for k, v in TINY.items()}
    for key, value in sections.items():
        data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value
    return parse_config(data)


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """A running Ray with a short path for its sockets."""
    ray = pytest.importorskip("ray")
    scratch = tempfile.mkdtemp(prefix="lupai-")
    ray.init(
        num_cpus=4,
        include_dashboard=False,
        object_store_memory=100_000_000,
        log_to_driver=False,
        _temp_dir=scratch,
    )
    yield
    ray.shutdown()
    shutil.rmtree(scratch, ignore_errors=True)


@pytest.fixture(scope="session")
def algorithm(ray_session: None) -> Iterator[Any]:
    """A tiny PPO after one iteration with our own sampler."""
    from lupai.train.rllib.setup import algorithm_config

    built = algorithm_config(tiny()).build_algo()
    built.train()
    yield built
    built.stop()


@pytest.fixture(scope="session")
def stock(ray_session: None) -> Iterator[Any]:
    """The same with RLlib's own runner over LupaiEnv, before any iteration."""
    from lupai.train.rllib.setup import algorithm_config

    built = algorithm_config(tiny(workers={"sampler": "rllib"})).build_algo()
    yield built
    built.stop()
