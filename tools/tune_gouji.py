"""Weigh the terms of ``tactical`` in Gouji by playing: a natural policy gradient over its weights.

    python tools/tune_gouji.py --hands 20000 --out weights.json

``tactical`` plays the best-priced move. For this tool it plays each move with a chance that grows
with its price (softmax), several times from the same deal; weights of the terms that a hand went
better with than the other hands of its deal are raised. On a share of the deals one side is
``greedy``. Writes the weights (``--start`` goes on from them) and prints in the end how the
best-priced play does against ``greedy`` and against the weights of the package.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from lupai.agents.gouji.greedy import GreedyAgent
from lupai.agents.gouji.tactical import TacticalAgent, Weights
from lupai.agents.gouji.tactical.agent import NO_LOOK
from lupai.agents.gouji.tactical.weights import FIXED, STAGES, TERMS, WEIGHTS
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import Phase
from lupai.envs.view import Views
from lupai.train.arena.run import run_arena

COPIES = 4  # hands of each deal
FIRST = len(FIXED)
NAMES = TERMS[FIRST:]
K = len(NAMES)
FIXED_WEIGHTS = np.array(list(FIXED.values()))


def drawn(agent, engine, views, theta, rng):
    """Chosen ids ``[N]``, and each decision's score ``[N, 2K]``: terms of the chosen move less
    their mean; 0 where nothing is left to weights."""
    ids, offsets = views.legal.ids()
    sizes = np.diff(offsets)
    terms = np.zeros((len(ids), len(TERMS)), np.float32)
    prices = agent.prices(engine.rules, views.state, views.seats, ids, offsets, terms)
    keep = prices > NO_LOOK
    rows = np.repeat(np.arange(len(sizes)), sizes)[keep]
    ids, terms, prices = ids[keep], terms[keep], prices[keep]
    first = np.searchsorted(rows, np.arange(len(sizes)))
    sure = np.maximum.reduceat(prices, first) > 500
    early = views.state.phase != Phase.PLAY
    melee = views.state.melee == 1
    phi = terms[:, FIRST:]
    logits = (phi * np.where(melee[rows, None], theta[K:], theta[:K])).sum(axis=1)
    # to yield is never worse than to pass
    yields = np.maximum.reduceat(terms[:, 2], first) > 0
    logits[yields[rows] & (ids == 0)] = -1e9
    fixed = sure | early
    logits = np.where(fixed[rows], prices * 1000, logits)
    logits -= np.maximum.reduceat(logits, first)[rows]
    weight = np.exp(logits)
    share = weight / np.add.reduceat(weight, first)[rows]
    noise = rng.gumbel(size=len(ids)) + np.log(np.maximum(share, 1e-30))
    place = np.flatnonzero(noise == np.maximum.reduceat(noise, first)[rows])
    mean = np.add.reduceat(phi * share[:, None].astype(np.float32), first, axis=0)
    score = phi[place] - mean
    score[fixed] = 0
    score = np.concatenate([score * ~melee[:, None], score * melee[:, None]], axis=1)
    return ids[place], score


def play(engine, agent, seeds, theta, rng):
    """Play each deal several times; gradient ``[2K]``, Fisher ``[2K, 2K]``, decisions."""
    deals = np.repeat(np.arange(len(seeds)), COPIES)
    state = engine.reset(seeds[deals])
    greedy = GreedyAgent()
    mode = rng.choice(3, size=len(seeds), p=(0.7, 0.15, 0.15))[deals]
    sums = np.zeros((len(deals), 2, 2 * K), np.float32)
    fisher, count = np.zeros((2 * K, 2 * K)), 0
    while (rows := np.flatnonzero(~state.over)).size:
        legal = engine.legal(state, rows)
        free = legal.counts() > 1
        actions = np.zeros(len(rows), np.int64)
        actions[~free] = legal.take(np.flatnonzero(~free)).ids()[0]
        side = state.actor[rows] % 2
        theirs = ((mode[rows] == 1) & (side == 1)) | ((mode[rows] == 2) & (side == 0))
        for who in (0, 1):
            at = np.flatnonzero(free & (theirs == who))
            if not at.size:
                continue
            actor = state.actor[rows[at]].astype(np.intp)
            views = Views(engine, state, actor, rows[at], legal=legal.take(at))
            if who:
                actions[at] = greedy.act_batch(views)
                continue
            actions[at], score = drawn(agent, engine, views, theta, rng)
            np.add.at(sums, (rows[at], side[at]), score)
            fisher += score.T @ score
            count += len(at)
        engine.step(state, actions, rows, legal=legal)
    even = engine.scores(state)[:, 0]
    value = np.stack([even, -even], axis=1).clip(-8, 8)
    by_deal = value.reshape(-1, COPIES, 2)
    value = (by_deal - by_deal.mean(axis=1, keepdims=True)) * COPIES / (COPIES - 1)
    return np.einsum("hs,hsk->k", value.reshape(-1, 2), sums), fisher, count


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--step", type=float, default=0.15, help="first step, in Fisher's norm")
    parser.add_argument("--last", type=float, default=0.03, help="last step")
    parser.add_argument("--sharpness", type=float, default=20, help="weight of a weak set at first")
    parser.add_argument("--start", type=Path, help="JSON of weights to begin with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--check", type=int, default=100, help="deals of the matches in the end; 0: none"
    )
    args = parser.parse_args()
    engine, agent = Engine(), TacticalAgent()
    begun = [WEIGHTS.race, WEIGHTS.melee]
    if args.start:
        given = json.loads(args.start.read_text())
        begun = [given[stage] for stage in STAGES]
    theta = np.array([stage.get(name, 0.0) for stage in begun for name in NAMES])
    theta *= args.sharpness
    rng = np.random.default_rng(args.seed)
    mean, metric, steps = np.zeros(2 * K), np.zeros((2 * K, 2 * K)), 0
    total = args.hands // args.batch
    clock = time.process_time()
    now = {}
    for step in range(total):
        seeds = rng.integers(0, 2**63, args.batch // COPIES).astype(np.uint64)
        slope, fisher, count = play(engine, agent, seeds, theta, rng)
        mean = 0.8 * mean + slope / count
        metric = 0.8 * metric + fisher / count
        steps = 0.8 * steps + 1
        damped = metric / steps + 1e-4 * np.eye(2 * K)
        way = np.linalg.solve(damped, mean / steps)
        size = np.sqrt(way @ damped @ way)
        theta = theta + way / size * (args.step * (args.last / args.step) ** (step / total))
        now = {}
        for number, stage in enumerate(STAGES):
            part = theta[number * K : (number + 1) * K]
            unit = abs(part[NAMES.index("weak")])
            values = zip(NAMES, part, strict=True)
            now[stage] = {name: round(float(v / unit), 3) for name, v in values}
        args.out.write_text(json.dumps(now))
        weak = [theta[n * K + NAMES.index("weak")] for n in (0, 1)]
        print(step, f"{time.process_time() - clock:.0f} s, slope {size:.4f}", weak, flush=True)
    tuned = TacticalAgent(Weights(FIXED | now["race"], FIXED | now["melee"]), name="tuned")
    for opponent in (GreedyAgent(), agent) if args.check else ():
        played = run_arena([tuned], [opponent], game="gouji", formats=["side"], deals=args.check)
        found = next(m for m in played.result["matches"] if m["format"] == "side")
        print(f"{opponent.name}: {found['mean']:+.2f} [{found['low']:+.2f}, {found['high']:+.2f}]")


if __name__ == "__main__":
    main()
