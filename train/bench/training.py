"""What ``lupai bench --train`` measures: our sampler beside RLlib's own, and Deep Monte Carlo
beside our PPO, all in one process.

Both play the same rules with the same plain-feature policy and learn with the same learner. The
repeats alternate, so that a load that comes and goes falls on both, and time is that of the
process on its processor: both samplers run in this process on one thread, and a second of a busy
machine says little.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, Final

import numpy as np

from lupai.envs.game import Game
from lupai.train.bench.cases import FREE, MET, MISSED, one_core
from lupai.train.bench.loops import Loop, staggered
from lupai.train.config import TrainConfig, load_config

# Of each game the recipe whose network is taken, and that of Deep Monte Carlo.
RECIPES: Final = {
    "baohuang": ("qingdao_quick", "qingdao_dmc"),
    "gouji": ("gouji_quick", "gouji_dmc"),
}
# Nobody else plays or judges on any side: RLlib's own runner knows no such thing.
ALONE: Final = ("imitation.steps=0", "distillation.steps=0")
GOAL: Final = 10.0  # times the stock runner's samples per second
TABLES: Final = 256  # of our sampler: a forward pass and the engine cost less by the decision
STOCK_TABLES: Final = 64  # its cost is by the decision, however many tables it has
BATCH: Final = 4096  # decisions of an iteration: the stock runner needs seconds for them
_UNIT: Final = "decisions/CPU-s"


def configs(engine: Game, tables: int | None) -> tuple[TrainConfig, TrainConfig]:
    """Ours and the stock runner's; ``tables`` of ours, None: TABLES."""
    recipe, _ = RECIPES[engine.game]
    common = [f"rules={engine.rules}", f"ppo.batch_size={BATCH}", *ALONE]
    ours = [*common, f"workers.envs_per_runner={tables or TABLES}"]
    stock = [*common, "workers.sampler=rllib", f"workers.envs_per_runner={STOCK_TABLES}"]
    return load_config(recipe, ours), load_config(recipe, stock)


def dmc_config(engine: Game, tables: int | None) -> TrainConfig:
    """Deep Monte Carlo with the same network, tables and batch, by its own recipe, but without
    imitation and distillation."""
    recipe, dmc_recipe = RECIPES[engine.game]
    ours = load_config(recipe)
    values = [
        f"{name}.{key}={value}"
        for name in ("network", "reward")
        for key, value in getattr(ours, name).model_dump(mode="json").items()
    ]
    return load_config(
        dmc_recipe,
        [
            *values,
            f"rules={engine.rules}",
            f"dmc.batch_size={BATCH}",
            f"workers.envs_per_runner={tables or TABLES}",
            "workers.runners=0",
            *ALONE,
        ],
    )


def run(engine: Game, tables: int | None, repeats: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Rows as ``lupai bench --peers`` has them, one by one.

    Args:
        engine: game and rules of both.
        tables: of our sampler; None: TABLES.
        repeats: of each row.
        seconds: of the processor, of a repeat at least; it ends with a whole batch.
    """
    from lupai.train.session import ray_session

    ours, stock = configs(engine, tables)
    for name in ("ray", "ray.rllib"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with ray_session(ours):
        from lupai.train.rllib.setup import algorithm_config

        built = [algorithm_config(config).build_algo() for config in (ours, stock)]
        try:
            with one_core():
                for case, make, target in (
                    ("sampling", _sampling, GOAL),
                    ("batch and advantages", _batching, None),
                    ("whole iteration", _iteration, None),
                ):
                    loops = [make(algorithm) for algorithm in built]
                    yield _row(case, loops, target, repeats, seconds)
                yield from _dmc_rows(built[0], dmc_config(engine, tables), repeats, seconds)
        finally:
            for algorithm in built:
                algorithm.stop()


def _dmc_rows(
    ours: Any, config: TrainConfig, repeats: int, seconds: float
) -> Iterator[dict[str, Any]]:
    from lupai.train.dmc.trainer import DMCTrainer
    from lupai.train.run_folder import Progress

    trainer = DMCTrainer(config, Progress())
    _spread(trainer)
    for case, make, of_ppo in (
        ("DMC: sampling", _dmc_sampling, _sampling),
        ("DMC: learning", _dmc_learning, _learning),
        ("DMC: whole iteration", _dmc_iteration, _iteration),
    ):
        loops = [make(trainer), of_ppo(ours)]
        yield _row(case, loops, None, repeats, seconds, "our PPO")


def _spread(trainer: Any) -> None:
    """Put its tables at all points of their hands.

    Whole hands are learned. Of tables that began together all hands end together: a short repeat
    then learns what long ones before it have played, or plays and learns nothing.
    """
    sampler = trainer.samplers.sampler
    tables, count = sampler.tables, len(sampler.tables)
    _, values = tables.running()
    state = staggered(tables.engine, count)
    tables.go_on({**state.arrays(), "waits": np.ones(count, np.bool_)}, values)
    while sampler._hands.min() < count:  # until all have begun a hand here
        trainer._play(0)
        trainer._played()


def _row(
    case: str,
    loops: list[Loop],
    target: float | None,
    repeats: int,
    seconds: float,
    peer: str = "RLlib's own runner",
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "case": case, "unit": _UNIT, "peer_name": peer, "peer_version": None,
        "target": target, "at_most": False, "ours": [], "peer": [], "ratio": [],
        "verdict": FREE, "note": None,
    }  # fmt: skip
    for loop in loops:
        loop(0.0)  # one batch: caches are filled, tables are in the middle of their hands
    for _ in range(repeats):
        for loop, rates in zip(loops, (row["ours"], row["peer"]), strict=True):
            rates.append(loop(seconds))
        row["ratio"].append(row["ours"][-1] / row["peer"][-1])
    if target is not None:
        row["verdict"] = MET if median(row["ratio"]) >= target else MISSED
    return row


def _timed(work: Callable[[], int]) -> Loop:
    """Decisions per second of ``work``, which returns how many it did."""

    def measure(limit: float) -> float:
        done, start = 0, time.process_time()
        while True:
            done += work()
            if (spent := time.process_time() - start) >= limit:
                return done / spent

    return measure


def _sampling(algorithm: Any) -> Loop:
    runner = algorithm.env_runner_group.local_env_runner

    def work() -> int:
        runner.sample()
        return _sampled(runner.get_metrics())

    return _timed(work)


def _batching(algorithm: Any) -> Loop:
    """From what the runner returns to tensors with advantages; the sampling is not timed."""
    runner = algorithm.env_runner_group.local_env_runner
    learner = algorithm.learner_group._learner

    def measure(limit: float) -> float:
        done, spent = 0, 0.0
        while True:
            episodes = runner.sample()
            done += _sampled(runner.get_metrics())
            start = time.process_time()
            learner._learner_connector(
                rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
            )
            spent += time.process_time() - start
            if spent >= min(limit, 0.2):
                return done / spent

    return measure


def _iteration(algorithm: Any) -> Loop:
    def work() -> int:
        return int(algorithm.train()["env_runners"]["num_env_steps_sampled"])

    return _timed(work)


def _learning(algorithm: Any) -> Loop:
    """All passes over a batch, its making included; the sampling is not timed."""
    runner = algorithm.env_runner_group.local_env_runner
    config = algorithm.config

    def measure(limit: float) -> float:
        done, spent = 0, 0.0
        while True:
            episodes = runner.sample()
            made = _sampled(runner.get_metrics())
            start = time.process_time()
            algorithm.learner_group.update(
                episodes=episodes,
                timesteps={"num_env_steps_sampled_lifetime": done},
                num_epochs=config.num_epochs,
                minibatch_size=config.minibatch_size,
                shuffle_batch_per_epoch=config.shuffle_batch_per_epoch,
            )
            spent += time.process_time() - start
            done += made
            if spent >= limit:
                return done / spent

    return measure


def _dmc_sampling(trainer: Any) -> Loop:
    def work() -> int:
        trainer._play(0)
        return int(trainer._played()[1].made)

    return _timed(work)


def _dmc_learning(trainer: Any) -> Loop:
    def measure(limit: float) -> float:
        done, spent = 0, 0.0
        while True:
            trainer._play(0)
            columns, _ = trainer._played()
            start = time.process_time()
            trainer.learner.learn(columns, trainer.learner.config.dmc.lr, trainer._rng)
            spent += time.process_time() - start
            done += len(columns["seat"])
            if spent >= limit:
                return done / spent

    return measure


def _dmc_iteration(trainer: Any) -> Loop:
    return _timed(lambda: int(trainer.train()["steps"]))


def _sampled(metrics: dict[str, Any]) -> int:
    value = metrics["num_env_steps_sampled"]
    return int(value.peek() if hasattr(value, "peek") else value)
