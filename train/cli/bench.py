"""``lupai bench``: steps per second on this machine, beside peers, and how cost grows."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import median
from typing import Any, Final

from lupai.envs.game import Game, make_game, rules_class
from lupai.envs.rules import GameRules
from lupai.train.cli.common import (
    UsageError,
    add_game,
    positive,
    progress_bar,
    read_game,
    seconds,
)

EXAMPLES: Final = """examples:
  lupai bench
  lupai bench --rules weihai
  lupai bench --game gouji
  lupai bench --repeats 9 --seconds 2 --json bench.json
  lupai bench --peers --json peers.json
  lupai bench --growth -o performance
  lupai bench --train --tables 1024
  lupai bench --train --game gouji
  lupai bench --agent runs/quick

Every number is the median over the repeats; all play random legal moves. A step is one decision,
from its legal moves to the state after it; in the AEC loop it is a turn. A view is what one seat
knows of a Baohuang table whose guard is hidden: worlds drawn for it, the chances of who is guard.
Rollouts are whole hands on many tables; the memory of a table is that of the engine's arrays.

--peers times our loops of Baohuang and those of other suites in turn, on one core; what is not
installed is named (pip install "lupai[bench]"; Pgx where jax is there). --growth tells how the cost
of a decision grows with the tables, with the cards in hand and by rules, and draws it (matplotlib).
--agent tells how long an agent takes to decide: one decision at a time, and many tables at once; a
trained one by torch and by onnxruntime, whatever is installed, on one core.
--train times our sampler for training and RLlib's own, with the same network and learner, and
Deep Monte Carlo beside our PPO.
"""
TABLES: Final = (1, 64, 1024)
ROLLOUTS: Final = 256  # tables at once
MAX_TABLES: Final = 1 << 17


def tables(text: str) -> int:
    """A number of tables, for argparse."""
    value = positive(text)
    if value > MAX_TABLES:
        raise argparse.ArgumentTypeError(f"at most {MAX_TABLES:,} tables")
    return value


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure steps per second",
        description="Measure steps per second of the environment and the engine.",
        epilog=EXAMPLES,
    )
    add_game(parser)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--peers", action="store_true", help="beside other suites, with targets")
    modes.add_argument("--growth", action="store_true", help="by tables, cards in hand, rules")
    modes.add_argument("--train", action="store_true", help="our sampler beside RLlib's own")
    modes.add_argument("--agent", metavar="AGENT", help="how long an agent takes to decide")
    parser.add_argument("--repeats", type=positive, default=5, help="(%(default)s)")
    parser.add_argument("--seconds", type=seconds, default=0.5, help="of a repeat (%(default)s)")
    parser.add_argument(
        "--tables",
        type=tables,
        metavar="B",
        help="tables of the batched rows of --peers (2048); most tables of --growth (65536); of "
        "our sampler in --train (256); of --agent (1024)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="of --growth: write growth.json, growth.md and growth.svg there",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="of --peers, --train and --agent: status 1 if a target is missed",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    for option, given, modes in (
        ("--strict", arguments.strict, ("peers", "train", "agent")),
        ("--output", arguments.output is not None, ("growth",)),
        ("--tables", arguments.tables is not None, ("peers", "growth", "train", "agent")),
    ):
        if given and not any(getattr(arguments, mode) for mode in modes):
            raise UsageError(f"{option} goes with {' or '.join(f'--{m}' for m in modes)} only")
    engine = read_game(arguments.game, arguments.rules, arguments.option)
    if arguments.peers:
        return _peers(arguments, engine)
    if arguments.growth:
        return _growth(arguments, engine)
    if arguments.train:
        return _train(arguments, engine)
    if arguments.agent is not None:
        return _agent(arguments, engine)
    return _steps(arguments, engine)


def _head(arguments: argparse.Namespace, rules: GameRules, **more: Any) -> dict[str, Any]:
    """What the numbers belong to: printed, and the beginning of the JSON."""
    from lupai.train.bench.report import machine, machine_text

    about = machine()
    out = {
        "machine": about,
        "rules": str(rules),
        "repeats": arguments.repeats,
        "seconds": arguments.seconds,
    } | more
    print(machine_text(about | {"rules": rules} | more) + "\n", flush=True)
    return out


def _finish(arguments: argparse.Namespace, data: dict[str, Any]) -> None:
    from lupai.train.bench.report import write_json

    if arguments.json is not None:
        write_json(arguments.json, data)


def _steps(arguments: argparse.Namespace, engine: Game) -> int:
    from lupai.agents.registry import AGENTS
    from lupai.envs.aec import CardGameEnv, wrap
    from lupai.train.bench.loops import (
        Extra,
        Loop,
        Tables,
        aec_loop,
        bytes_per_table,
        rollout_loop,
        staggered,
    )  # fmt: skip
    from lupai.train.bench.report import digits

    extras: tuple[Extra, ...] = ("", "observation", "mask")
    env = wrap(CardGameEnv(engine, f"{engine.game}_v0"))
    cases: list[tuple[str, Loop]] = [("AEC env() loop", aec_loop(env))]
    for count in TABLES:
        play = Tables(engine, staggered(engine, count))
        for extra in extras:
            name = f"engine B={count}" + (f" + {extra}" if extra else "")
            cases.append((name, play.loop(extra)))
    rollouts = [
        (f"rollouts of {name}", rollout_loop(engine, ROLLOUTS, AGENTS[name]()))
        for name in ("random", "greedy")
    ]
    guesses = _guesses(engine)
    data = _head(arguments, engine.rules)
    data["bytes_per_table"] = round(bytes_per_table(engine.reset(range(64))))
    for key, unit, title, rows in (
        ("results", "steps_per_second", "steps/s, random legal play", cases),
        ("rollouts", "hands_per_second", f"hands/s, {ROLLOUTS} tables", rollouts),
        ("guesses", "views_per_second", "views/s, one at a time", guesses),
    ):
        if not rows:
            continue
        print(f"{title:<32}{'median':>12}{'lowest':>12}{'highest':>12}")
        data[key] = []
        for name, loop in rows:
            loop(0.05)  # caches are filled
            rates = [loop(arguments.seconds) for _ in range(arguments.repeats)]
            low, middle, high = min(rates), median(rates), max(rates)
            print(f"{name:<32}{middle:>12,.0f}{low:>12,.0f}{high:>12,.0f}", flush=True)
            data[key].append({"case": name, unit: digits(rates)})
    print(f"memory of a table: {data['bytes_per_table']} bytes")
    _finish(arguments, data)
    return 0


def _guesses(engine: Any) -> list[tuple[str, Any]]:
    """Loops that guess who is guard, where one is hidden."""
    from lupai.train.bench.guessing import WORLDS, chances_loop, views, worlds_loop

    out: list[tuple[str, Any]] = []
    if engine.game != "baohuang":
        return out
    for ceded in (False, True)[: 1 + bool(engine.rules.forced_call)]:
        seen = views(engine, ceded)
        if len(seen[1]):  # a table of few cards may have none
            where = ", forced call" if ceded else ""
            out.append((f"{WORLDS} worlds{where}", worlds_loop(engine, *seen)))
            out.append((f"guard chances{where}", chances_loop(engine, *seen)))
    return out


def _peers(arguments: argparse.Namespace, engine: Game) -> int:
    from lupai.train.bench import cases

    if engine.game != cases.GAME:
        raise UsageError(f"--peers measures {cases.GAME} only, not {engine.game}")
    rules: Any = engine.rules
    settings = cases.Settings(rules, arguments.tables or cases.TABLES)
    rows_to_come = cases.run(settings, arguments.repeats, arguments.seconds)
    data = _head(arguments, rules, tables=settings.tables)
    return _rows(arguments, data, rows_to_come)


def _train(arguments: argparse.Namespace, engine: Game) -> int:
    from importlib.metadata import version
    from importlib.util import find_spec

    from lupai.train.bench import training

    if find_spec("ray") is None:
        raise UsageError("--train needs the extra 'train': pip install \"lupai[train]\"")
    ours, stock = training.configs(engine, arguments.tables)
    data = _head(
        arguments,
        engine.rules,
        ray=version("ray"),
        torch=version("torch"),
        config=training.RECIPES[engine.game][0],
        tables=ours.workers.envs_per_runner,
        stock_tables=stock.workers.envs_per_runner,
        batch=ours.ppo.batch_size,
    )
    rows = training.run(engine, arguments.tables, arguments.repeats, arguments.seconds)
    return _rows(arguments, data, rows)


def _agent(arguments: argparse.Namespace, engine: Game) -> int:
    from lupai.agents.registry import load
    from lupai.train.bench import agents, cases
    from lupai.train.bench.report import digits, number, spread

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is there
    card = getattr(load(arguments.agent), "card", None)
    default = rules_class(engine.game).default
    if card is not None and str(engine.rules) == default:  # a trained one knows one table only
        engine = make_game(engine.game, card.rules)
    load(arguments.agent, str(engine.rules))  # refuses others
    count = arguments.tables or agents.TABLES
    data = _head(arguments, engine.rules, agent=arguments.agent, tables=count)
    rows = agents.run(arguments.agent, engine, count, arguments.repeats, arguments.seconds)
    print(f"{'agent':<36}{'unit':>13}{'median (low-high)':>24}{'99 of 100':>11}{'target':>8}")
    data["rows"], missed = [], 0
    for row in rows:
        target = f"<= {row['target']:g}" if "target" in row else ""
        slow = number(row["slowest"]) if "slowest" in row else ""
        print(
            f"{row['case']:<36}{row['unit']:>13}{spread(row['values']):>24}{slow:>11}{target:>8}"
            f"  {row.get('verdict', '')}".rstrip(),
            flush=True,
        )
        missed += row.get("verdict") == cases.MISSED
        data["rows"].append(row | {"values": digits(row["values"])})
    _finish(arguments, data)
    return 1 if arguments.strict and missed else 0


def _rows(arguments: argparse.Namespace, data: dict[str, Any], rows_to_come: Any) -> int:
    """Print rows as they come and write them."""
    from lupai.train.bench import cases, report

    print(report.peers_line(report.HEAD))
    rows = []
    for row in rows_to_come:
        print(report.peers_text(row), flush=True)
        rows.append(row | {key: report.digits(row[key]) for key in ("ours", "peer", "ratio")})
    _finish(arguments, data | {"rows": rows})
    missed = sum(row["verdict"] in (cases.MISSED, cases.FAILED) for row in rows)
    met = sum(row["verdict"] == cases.MET for row in rows)
    print(f"\n{met} targets met, {missed} missed")
    return 1 if arguments.strict and missed else 0


def _growth(arguments: argparse.Namespace, engine: Game) -> int:
    from lupai.train.bench import cases, growth

    folder = None if arguments.output is None else Path(arguments.output)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    data = _head(arguments, engine.rules, most_tables=arguments.tables or growth.MOST)
    work = growth.Growth(engine, data["most_tables"])
    turns = work.turns(arguments.repeats)
    with cases.one_core(), progress_bar(None, total=turns, desc="growth") as bar:
        data |= work.run(arguments.repeats, arguments.seconds, bar.update)
    print(growth.text(data))
    _finish(arguments, data)
    if folder is not None:
        for line in growth.write(folder, data):
            print(line)
    return 0
