"""Measure particle posteriors with full decks: `python tools/make_particles_full.py`.

Hands of a noisy `tactical` by each preset's own deck; one moment of each with a hidden guard, seen
by the emperor, a rebel or a spectator in turn. Scores `grounded`, weighted worlds and moved worlds
by the chance that they gave to what was true, and tells how far two seeds are apart. Leaves the
numbers in docs/belief/particles-full.json and fills docs/belief-particles.md. Half an hour or so on
one core. `--page` measures nothing: it fills from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from time import process_time
from typing import Any

import make_docs
import numpy as np

from lupai.agents.belief.behaviour import NoisyAgent, Population
from lupai.agents.belief.particles import ParticlePosterior
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Said
from lupai.envs.log import Log
from lupai.envs.view import Views
from lupai.train.arena.statistics import bootstrap

FILE = make_docs.ROOT / "docs" / "belief" / "particles-full.json"
PAGE = make_docs.ROOT / "docs" / "belief-particles.md"
PRESETS = ("qingdao", "shiwei", "weihai")
NOISE = 0.1
MOST_MOVES = 40  # the latest moment; later ones take longer
FLOOR = 1e-3  # least chance that is scored: finite samples may give none
SETTINGS = {"weights": (1024, 0), "moved": (256, 4)}  # worlds, steps


def moments(preset: str, count: int) -> list[tuple[Views, int]]:
    """Views at which the guard is not known, each of another hand, and who it is (5: nobody)."""
    engine, rng = Engine(preset), np.random.default_rng(0)
    agent, out, seed = NoisyAgent(TacticalAgent(), NOISE, seed=1), [], 1_000_000
    while len(out) < count:
        # Moment and seat are drawn before the hand: picked by what happened, they would tell.
        when, place = int(rng.integers(MOST_MOVES + 1)), int(rng.integers(1, 5))
        log = Log(engine, engine.reset([seed]))
        state, seed = log.state, seed + 1
        while not state.over[0] and state.moves[0] < when:
            log.step(agent.act_batch(Views(engine, state, state.actor)), np.array([0]))
        if state.over[0] or state.emperor[0] < 0 or state.public[0] == 1:
            continue
        skipped = state.said[0] >> Said.SKIPPED_FORCED_CALL & 1
        emperor, guard = int(state.emperor[0]), int(state.guard[0])
        viewer = (emperor, (emperor + place) % 5, -1)[len(out) % 3]
        if skipped.any() or viewer == guard or (viewer == emperor and guard < 0):
            continue
        out.append((Views(engine, state, [viewer], histories=log.history), guard % 6))
    return out


def measure(preset: str, count: int) -> dict[str, Any]:
    """Scores of the predictors at so many moments."""
    asked = moments(preset, count)
    population = Population((NoisyAgent(TacticalAgent(), NOISE),))
    truth = np.array([guard for _, guard in asked])
    row = np.arange(len(asked))
    told = np.stack([v.engine.guard_chances(v.state, v.seats)[0] for v, _ in asked])
    base = np.log(np.maximum(told[row, truth], FLOOR))
    out: dict[str, Any] = {
        "moments": len(asked),
        "moves": float(np.mean([len(v.histories[0]) for v, _ in asked])),
        "grounded": float(-base.mean()),
    }
    for name, (worlds, steps) in SETTINGS.items():
        start, answers, sample = process_time(), [], []
        for seed in (0, 1):
            posterior = ParticlePosterior(population, worlds, steps, seed)
            both = [posterior.predict_with_ess(views) for views, _ in asked]
            answers.append(np.stack([chances[0] for chances, _ in both]))
            sample += [float(ess[0]) for _, ess in both]
        seconds = (process_time() - start) / (2 * len(asked))
        gains = [np.log(np.maximum(a[row, truth], FLOOR)) - base for a in answers]
        gain, low, high = bootstrap(
            np.mean(gains, axis=0)[:, None], np.ones((len(asked), 1)), seed=0
        )
        out[name] = {
            "worlds": worlds,
            "steps": steps,
            "gain": float(gain[0]),
            "low": float(low[0]),
            "high": float(high[0]),
            "apart": float(np.mean(np.abs(answers[0] - answers[1]).sum(axis=1) / 2)),
            "effective": float(np.median(sample)),
            "seconds": seconds,
        }
        print(preset, name, out[name], flush=True)
    return out


def main(argv: list[str] | None = None) -> int:
    """Measure, fill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="from the file, without measuring")
    parser.add_argument("--hands", type=int, default=60, help="for each preset (default 60)")
    options = parser.parse_args(argv)
    if not options.page:
        data: dict[str, Any] = {
            "command": f"python tools/make_particles_full.py --hands {options.hands}",
            "noise": NOISE,
            "presets": {},
        }
        for preset in PRESETS:  # what was measured is kept if somebody stops the rest
            data["presets"][preset] = measure(preset, options.hands)
            FILE.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    PAGE.write_text(make_docs.fill(PAGE.read_text("utf-8"), consoles=False), "utf-8")
    print(f"wrote {FILE.relative_to(make_docs.ROOT)} and {PAGE.relative_to(make_docs.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
