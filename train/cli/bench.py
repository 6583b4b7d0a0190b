"""``lupai bench``: steps per second of the environment and of the engine on this machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

import lupai
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import Rules
from lupai.train.cli.common import add_rules, positive, read_rules, seconds, writing

EXAMPLES: Final = """examples:
  lupai bench
  lupai bench --rules weihai
  lupai bench --repeats 9 --seconds 2 --json bench.json

Every number is the median over the repeats; all play random legal moves. A step is one decision,
from its legal moves to the state after it.
"""
TABLES: Final = (1, 64, 1024)
EXTRAS: Final = ("", "observation", "mask")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure steps per second",
        description="Measure steps per second of the environment and the engine.",
        epilog=EXAMPLES,
    )
    add_rules(parser)
    parser.add_argument("--repeats", type=positive, default=5, help="(%(default)s)")
    parser.add_argument("--seconds", type=seconds, default=0.5, help="of a repeat (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    rules = read_rules(arguments.rules, arguments.option)
    cases: list[tuple[str, Callable[[float], float]]] = [
        ("AEC env() loop", lambda limit: _aec(rules, limit))
    ]
    for tables in TABLES:
        for extra in EXTRAS:
            name = f"engine B={tables}" + (f" + {extra}" if extra else "")
            cases.append((name, _engine_case(rules, tables, extra)))
    about = machine()
    print("\n".join(f"{key}: {value}" for key, value in (about | {"rules": rules}).items()))
    print(f"\n{'steps/s, random legal play':<32}{'median':>12}{'lowest':>12}{'highest':>12}")
    results = []
    for name, case in cases:
        case(0.05)  # tables are made and caches filled
        rates = [case(arguments.seconds) for _ in range(arguments.repeats)]
        low, middle, high = min(rates), statistics.median(rates), max(rates)
        print(f"{name:<32}{middle:>12,.0f}{low:>12,.0f}{high:>12,.0f}", flush=True)
        results.append({"case": name, "steps_per_second": [round(r, 1) for r in rates]})
    if arguments.json is not None:
        data = {
            "machine": about,
            "rules": str(rules),
            "repeats": arguments.repeats,
            "seconds": arguments.seconds,
            "results": results,
        }
        with writing(arguments.json) as out:
            out.write((json.dumps(data, indent=2) + "\n").encode())
    return 0


def machine() -> dict[str, Any]:
    """Processor and versions that the numbers belong to."""
    return {
        "lupai": lupai.__version__,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pettingzoo": version("pettingzoo"),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _aec(rules: Rules, limit: float) -> float:
    """Steps per second of the wrapped environment, mask and observation included."""
    from lupai.envs import baohuang_v0

    env = baohuang_v0.env(rules)
    rng = np.random.default_rng(0)
    steps, seed, start = 0, 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < limit:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _reward, end, cut, _info = env.last()
            if end or cut:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])  # type: ignore[index]
            env.step(int(legal[int(rng.random() * len(legal))]))
            steps += 1
            if steps % 64 == 0 and time.perf_counter() - start > limit:
                break
    return steps / spent


def _engine_case(rules: Rules, tables: int, extra: str) -> Callable[[float], float]:
    engine = Engine(rules)
    every = np.arange(tables)

    def measure(limit: float) -> float:
        rng = np.random.default_rng(0)
        episodes = np.zeros(tables, np.int64)
        state = engine.reset(every, episodes)
        steps, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < limit or not steps:
            legal = engine.legal(state)
            if extra == "observation":
                engine.observe(state, state.actor)
            elif extra == "mask":
                legal.dense()
            ids, offsets = legal.ids()
            places = offsets[:-1] + (rng.random(tables) * np.diff(offsets)).astype(np.int64)
            engine.step(state, ids[places], legal=legal)
            steps += tables
            over = np.flatnonzero(state.over)
            if over.size:
                episodes[over] += 1
                state.put(over, engine.reset(over, episodes[over]))
        return steps / spent

    return measure
