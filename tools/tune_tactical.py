"""Weigh the terms of ``tactical`` by playing: a natural policy gradient over its few weights.

    python tools/tune_tactical.py weihai --hands 200000 --out weights.json

``tactical`` plays the best-priced move. For this tool it plays each move with a chance that grows
with its price (softmax), many times from the same deal; weights of the terms that a hand went
better with than the other hands of its deal are raised. Roles are dealt by the neutral caller of
the evaluation. On a share of the deals one camp is ``greedy``. Prints the weights and, now and
then, how the best-priced play does against ``greedy`` and against the weights it began with.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from lupai.agents.caller import NeutralCaller
from lupai.agents.greedy import GreedyAgent
from lupai.agents.tactical import TacticalAgent, Weights, heuristic
from lupai.agents.tactical.play import Trick
from lupai.agents.tactical.weights import FIXED, TERMS, WEIGHTS
from lupai.envs.baohuang.actions import SET
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_OVER, PHASE_PLAY
from lupai.envs.view import Views
from lupai.train.evaluate import evaluate

COPIES = 4  # hands of each deal
NAMES = [name for name in TERMS if name not in FIXED]


def drawn(trick, ids, offsets, theta, rng):
    """Chosen ids ``[N]``, and each decision's score ``[N, K]``: terms of the chosen move less
    their mean; 0 where the rules leave no choice."""
    sizes = np.diff(offsets)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = trick.terms(ids, rows)
    first = sum(FIXED[name] * columns[name] for name in FIXED)
    phi = np.stack([columns[name] for name in NAMES], axis=1).astype(np.float32)
    logits = phi @ theta
    top = np.maximum.reduceat(first, offsets[:-1])
    verb = ids < SET
    dear = np.where(verb, first, -1.0)
    keep = ~verb | (first == np.maximum.reduceat(dear, offsets[:-1])[rows])
    logits = np.where((top[rows] >= 1), first * 10, np.where(keep, logits, -1e9))
    logits -= np.maximum.reduceat(logits, offsets[:-1])[rows]
    weight = np.exp(logits)
    share = weight / np.add.reduceat(weight, offsets[:-1])[rows]
    noise = rng.gumbel(size=len(ids)) + np.log(np.maximum(share, 1e-30))
    best = np.maximum.reduceat(noise, offsets[:-1])
    place = np.flatnonzero(noise == best[rows])
    mean = np.add.reduceat(phi * share[:, None].astype(np.float32), offsets[:-1], axis=0)
    score = phi[place] - mean
    score[top >= 1] = 0
    return ids[place], score


def play(engine, seeds, theta, wills, rng, caller_seed, alone):
    """Play each deal several times; gradient ``[K]``, Fisher ``[K, K]``, decisions.

    With ``alone`` tactical bids, hands with a guard are left, and so is a hand in which one is out.
    """
    bidder = TacticalAgent()
    left = np.zeros(len(seeds) * COPIES, bool)
    deals = np.repeat(np.arange(len(seeds)), COPIES)
    state = engine.reset(seeds[deals])
    caller, greedy = NeutralCaller(caller_seed), GreedyAgent()
    mode = rng.choice(3, size=len(seeds), p=(0.6, 0.2, 0.2))[deals]
    sums = np.zeros((len(deals), 5, len(NAMES)), np.float32)
    fisher, count = np.zeros((len(NAMES), len(NAMES))), 0
    while True:
        if alone:
            left |= (state.phase == PHASE_PLAY) & ((state.solo == 0) | (state.out_count > 0))
        if not (rows := np.flatnonzero(~state.over & ~left)).size:
            break
        actor = state.actor[rows].astype(np.intp)
        camp = (actor == state.emperor[rows]) | (actor == state.guard[rows])
        early = state.phase[rows] != PHASE_PLAY
        them = ((mode[rows] == 1) & ~camp) | ((mode[rows] == 2) & camp)
        actions = np.zeros(len(rows), np.int64)
        for who, here in enumerate((early, ~early & them, ~early & ~them)):
            at = np.flatnonzero(here)
            if not at.size:
                continue
            views = Views(engine, state, actor[at], rows[at])
            if who == 0 and alone:
                actions[at] = bidder.act_batch(views)
            elif who == 0:
                actions[at] = caller.choose(views, deals[rows[at]], state.moves[rows[at]])
            elif who == 1:
                actions[at] = greedy.act_batch(views)
            else:
                trick = Trick(engine.rules, views.state, views.seats, wills, heuristic)
                actions[at], score = drawn(trick, *views.legal.ids(), theta, rng)
                sums[rows[at], actor[at]] += score
                fisher += score.T @ score
                count += len(at)
        engine.step(state, actions, rows)
    if alone:  # whoever is out first decides
        state.phase[state.out_count > 0] = PHASE_OVER
    scores = engine.scores(state)
    every = np.arange(len(deals))
    seats = np.arange(5)
    camp = (seats == state.emperor[:, None]) | (seats == state.guard[:, None])
    rebel = scores[every, (~camp).argmax(axis=1)] / state.multiplier
    value = np.clip(np.where(camp, -rebel[:, None], rebel[:, None]), -4, 4)
    by_deal = value.reshape(-1, COPIES, 5)
    value = ((by_deal - by_deal.mean(axis=1, keepdims=True)) * COPIES / (COPIES - 1)).reshape(-1, 5)
    return np.einsum("hs,hsk->k", value, sums), fisher, count


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules")
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--step", type=float, default=0.15, help="first step, in Fisher's norm")
    parser.add_argument("--last", type=float, default=0.03, help="last step")
    parser.add_argument("--alone", action="store_true", help="the weights of an emperor alone")
    parser.add_argument("--sharpness", type=float, default=20, help="weight of a weak set at first")
    parser.add_argument("--start", type=Path, help="JSON of weights to begin with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", type=int, default=20, help="evaluate every so many batches")
    args = parser.parse_args()
    engine = Engine(args.rules)
    begun = WEIGHTS[engine.rules.preset]
    terms = (
        json.loads(args.start.read_text())
        if args.start
        else (begun.alone if args.alone else begun.terms)
    )
    theta = np.array([terms.get(name, 0.0) for name in NAMES])
    theta *= args.sharpness / abs(theta[NAMES.index("weak")])
    rng = np.random.default_rng(args.seed)
    mean, metric, steps = np.zeros(len(NAMES)), np.zeros((len(NAMES),) * 2), 0
    total = args.hands // args.batch
    clock = time.process_time()
    for step in range(total):
        seeds = rng.integers(0, 2**63, args.batch // COPIES).astype(np.uint64)
        slope, fisher, count = play(engine, seeds, theta, begun.wills, rng, step, args.alone)
        mean = 0.8 * mean + slope / count
        metric = 0.8 * metric + fisher / count
        steps = 0.8 * steps + 1
        damped = metric / steps + 1e-4 * np.eye(len(NAMES))
        way = np.linalg.solve(damped, mean / steps)
        size = np.sqrt(way @ damped @ way)
        theta = theta + way / size * (args.step * (args.last / args.step) ** (step / total))
        unit = abs(theta[NAMES.index("weak")])
        now = {name: round(float(v / unit), 3) for name, v in zip(NAMES, theta, strict=True)}
        args.out.write_text(json.dumps(now))
        print(
            step,
            f"{time.process_time() - clock:.0f} s, slope {size:.4f}, weak {unit:.1f}",
            flush=True,
        )
        if (step + 1) % args.check == 0 or step + 1 == total:
            terms, solo = (begun.terms, FIXED | now) if args.alone else (FIXED | now, begun.alone)
            agent = TacticalAgent(weights=Weights(terms, solo, begun.wills))
            others = ["greedy", TacticalAgent(weights=begun, name="before")]
            formats = ("seat",) if args.alone else ("emperor_camp", "rebel_camp")
            result = evaluate(agent, others, formats=formats, hands=600, rules=args.rules)
            for m in result["matches"]:
                print(f"  {m['format']:<13}{m['opponent']:<10}{m['mean']:+.2f} ±"
                      f"{m['high'] - m['mean']:.2f}")  # fmt: skip
            print("  ", now, flush=True)


if __name__ == "__main__":
    main()
