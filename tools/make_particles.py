"""Measure how particle posteriors come near the exact ones: `python tools/make_particles.py`.

Plays mini-games of each preset with a hidden guard by the population itself, asks at one moment of
each hand, and compares :class:`ParticlePosterior` with :class:`ExactPosterior` for rising numbers
of worlds. Leaves numbers and picture in docs/belief/ and fills docs/belief-particles.md. Some
minutes on one core. `--page` measures nothing: it draws and fills from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import make_docs
import numpy as np

from lupai.agents.belief.behaviour import NoisyAgent, Population
from lupai.agents.belief.exact import ExactPosterior
from lupai.agents.belief.particles import ParticlePosterior
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.log import Log
from lupai.envs.view import Views

FILE = make_docs.ROOT / "docs" / "belief" / "particles.json"
PAGE = make_docs.ROOT / "docs" / "belief-particles.md"
FOURS = "3s 3s 3s 3s 9h 9h 9h 9h Kc Kc Kc Kc 5d 5d 5d 5d"
# nobody grabs, plays alone or declares, so that the guard stays hidden for a while
_QUIET = "grab=false;declare=false"
GAMES = {
    "qingdao": f"qingdao;deck=R* {FOURS} 2d B;{_QUIET}",
    "shiwei": f"shiwei;deck=R* {FOURS} 2d B;{_QUIET}",
    "weihai": "weihai;deck=R* R B* B B 3s 3s 3s 3s 8h 8h 8h 8h Jd Jd"
    ";open_solo=false;declare=false;oppose=false",
}
NOISE = 0.1
LIMIT = 60_000  # deals of a view; a view with more is left out, and counted
MOVED = 4  # steps after each resampling, of the second curve


def population(agent: NoisyAgent) -> Population:
    """All play alike, and the engine takes the lowest suits first."""
    return Population((agent,), suits="order")


def moments(preset: str, hands: int) -> list[Views]:
    """One view of each of so many hands at which the viewer does not know who is guard."""
    engine = Engine(GAMES[preset])
    rng, out, seed = np.random.default_rng(0), [], 0
    agent = NoisyAgent(TacticalAgent(), NOISE, seed=1)
    while len(out) < hands:
        # Moment and seat are drawn before the hand: picked by what happened, they would tell.
        when, place = int(rng.integers(40)), int(rng.integers(1, 5))
        log = Log(engine, engine.reset([seed]))
        state, seed = log.state, seed + 1
        while not state.over[0] and state.moves[0] < when:
            log.step(agent.act_batch(Views(engine, state, state.actor)), np.array([0]))
        if state.over[0] or state.emperor[0] < 0 or state.public[0] == 1:
            continue
        viewer = (int(state.emperor[0]), int((state.emperor[0] + place) % 5), -1)[len(out) % 3]
        if engine.guard_chances(state, viewer).max() < 1:
            out.append(Views(engine, state, [viewer], histories=log.history))
    return out


def measure(preset: str, hands: int, sizes: list[int], seeds: int) -> dict[str, Any]:
    """Errors at so many moments, each with so many seeds."""
    players = population(NoisyAgent(TacticalAgent(), NOISE))
    exact = ExactPosterior(players, LIMIT)
    asked, left_out, away = [], 0, []
    start = process_time()
    for views in moments(preset, hands):
        try:
            chances = exact.predict(views)[0]
        except LupaiError as error:
            if "to lay the unseen cards" not in str(error):
                raise
            left_out += 1
            continue
        grounded = views.engine.guard_chances(views.state, views.seats)[0]
        asked.append((views, chances))
        away.append(np.abs(chances - grounded).sum() / 2)
    out: dict[str, Any] = {
        "rules": str(Engine(GAMES[preset]).rules),
        "moments": len(asked),
        "left_out": left_out,
        "moves": float(np.mean([len(views.histories[0]) for views, _ in asked])),
        "grounded": float(np.sqrt(np.mean(np.square(away)))),
        "exact_seconds": (process_time() - start) / hands,
    }
    for name, steps in (("weights", 0), ("moved", MOVED)):
        rows = []
        for worlds in sizes[: len(sizes) - bool(steps)]:  # the largest takes minutes to move
            errors, sample, start = [], [], process_time()
            for seed in range(seeds):
                posterior = ParticlePosterior(players, worlds, steps, seed)
                for views, chances in asked:
                    got, ess = posterior.predict_with_ess(views)
                    errors.append(np.abs(got[0] - chances).sum() / 2)
                    sample.append(ess[0] / worlds)
            rows.append(
                {
                    "worlds": worlds,
                    "error": float(np.sqrt(np.mean(np.square(errors)))),
                    "share": float(np.median(sample)),
                    "lowest_tenth": float(np.quantile(sample, 0.1)),
                    "seconds": (process_time() - start) / len(errors),
                }
            )
            print(preset, name, rows[-1], flush=True)
        logs = np.log([[row["worlds"], row["error"]] for row in rows])
        out[name] = {"rows": rows, "slope": float(np.polyfit(*logs.T, 1)[0])}
    return out


def draw(data: dict[str, Any], target: Path) -> None:
    """Error against number of worlds, log-log, with the slope of -1/2 for comparison."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from lupai.train.arena.plots import COLOURS, SETTINGS, svg

    with rc_context(SETTINGS):
        figure = Figure(figsize=(10, 3.2), layout="constrained")
        axes = figure.subplots(1, len(data["presets"]), sharey=True)
        for axis, (preset, part) in zip(axes, data["presets"].items(), strict=True):
            for colour, name, label in (
                (COLOURS[0], "weights", "weights only"),
                (COLOURS[1], "moved", f"{data['steps']} steps"),
            ):
                rows = part[name]["rows"]
                worlds = [row["worlds"] for row in rows]
                axis.plot(worlds, [r["error"] for r in rows], "o-", color=colour, label=label)
            sizes = [row["worlds"] for row in part["weights"]["rows"]]
            first = part["weights"]["rows"][0]["error"]
            line = [first * (size / sizes[0]) ** -0.5 for size in sizes]
            axis.plot(sizes, line, ":", color="#555555", label="slope −1/2")
            axis.axhline(part["grounded"], color="#bbbbbb", linewidth=1)
            axis.text(
                sizes[-1], part["grounded"], "grounded", ha="right", va="bottom", color="#777"
            )
            axis.set(xscale="log", yscale="log", title=preset, xlabel="worlds")
            axis.grid(color="#eeeeee")
        axes[0].set_ylabel("total variation to exact, RMS")
        axes[0].legend()
        target.write_text(svg(figure), "utf-8")


def main(argv: list[str] | None = None) -> int:
    """Measure, draw, fill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="from the file, without measuring")
    parser.add_argument("--hands", type=int, default=30, help="for each preset (default 30)")
    parser.add_argument("--seeds", type=int, default=4, help="for each moment (default 4)")
    parser.add_argument("--most", type=int, default=4096, help="worlds (default 4096)")
    options = parser.parse_args(argv)
    if not options.page:
        sizes = [size for size in (16, 64, 256, 1024, 4096, 16384) if size <= options.most]
        data = {
            "population": f"tactical, noise {NOISE}",
            "command": f"python tools/make_particles.py --hands {options.hands} --seeds "
            f"{options.seeds} --most {options.most}",
            "seeds": options.seeds,
            "steps": MOVED,
            "presets": {p: measure(p, options.hands, sizes, options.seeds) for p in GAMES},
        }
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    draw(json.loads(FILE.read_text("utf-8")), FILE.with_suffix(".svg"))
    PAGE.write_text(make_docs.fill(PAGE.read_text("utf-8"), consoles=False), "utf-8")
    print(f"wrote {FILE.relative_to(make_docs.ROOT)} and {PAGE.relative_to(make_docs.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
