"""Fit what each answer before the first lead is worth to ``tactical``, from hands it plays.

    python tools/fit_tactical_bids.py weihai --rounds 3 --hands 6000 --out bids.json

In each round ``tactical`` plays against itself and now and then gives another answer than its best;
of every answer the features of the hand and the score of the hand in the end are kept, and for each
(question, role, answer) the score is fitted on the features. Rare and dear answers (grab, solo)
are mostly tried with hands that look strong.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from lupai.agents.tactical import TacticalAgent, bidding
from lupai.agents.tactical.bids import BIDS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_NAMES, PHASE_PLAY
from lupai.envs.view import Views

DEAR = [bidding.ANSWERS.index(a) for a in ("grab", "solo", "call open", "call secret", "open")]
RIDGE = np.array([0.1, 20, 20, 20, 20, 20, 20])  # in decisions


def explore(ids, offsets, best, hand, rng, share):
    """Now and then another answer; of the kinds of answers each equally likely."""
    chosen = best.copy()
    rows = np.repeat(np.arange(len(best)), np.diff(offsets))
    kind = bidding.answers(ids)
    # a hand's strength, roughly: jokers less weak sets
    strength = 1.5 * hand[:, 1] + hand[:, 2] - hand[:, 3]
    bold = rng.random(len(best)) < np.where(strength > -2.5, 0.6, 0.04)
    noise = rng.random(len(ids))
    dear = np.isin(kind, DEAR)
    noise[dear & ~bold[rows]] = -1
    # every kind has one lot, the best of its ids
    lots = rng.random((len(best), len(bidding.ANSWERS)))
    noise = np.where(noise < 0, -1, noise * 1e-3 + lots[rows, kind])
    top = np.maximum.reduceat(noise, offsets[:-1])
    place = np.flatnonzero(noise == top[rows])
    place = place[np.unique(rows[place], return_index=True)[1]]
    tries = rng.random(len(best)) < share
    chosen[tries] = ids[place[tries]]
    return chosen


def play(engine, agent, bids, hands, rng, share):
    """Decisions of whole hands: (phase, role, answer, features with rank, score)."""
    state = engine.reset(rng.integers(0, 2**63, hands).astype(np.uint64))
    table, log = bidding.table_of(bids), []
    while (rows := np.flatnonzero(~state.over)).size:
        actor = state.actor[rows].astype(np.intp)
        actions = np.zeros(len(rows), np.int64)
        playing = state.phase[rows] == PHASE_PLAY
        at = np.flatnonzero(playing)
        if at.size:
            actions[at] = agent.act_batch(Views(engine, state, actor[at], rows[at]))
        at = np.flatnonzero(~playing)
        if at.size:
            views = Views(engine, state, actor[at], rows[at])
            ids, offsets = views.legal.ids()
            best = bidding.choose(engine.rules, table, views.state, views.seats, ids, offsets)
            hand = bidding.features(engine.rules, views.state, views.seats)
            chosen = explore(ids, offsets, best, hand, rng, share)
            actions[at] = chosen
            asked = np.diff(offsets) > 1
            hand[:, -1] = bidding.rank_of(chosen)
            log.append((
                rows[at][asked], actor[at][asked], views.state.phase[asked],
                bidding.roles(views.state, views.seats)[asked], bidding.answers(chosen)[asked],
                hand[asked], state.redeals[rows[at]][asked],
            ))  # fmt: skip
        engine.step(state, actions, rows)
    scores = engine.scores(state)
    row, seat, phase, role, answer, hand, redeal = (
        np.concatenate(c) for c in zip(*log, strict=True)
    )
    final = redeal == state.redeals[row]  # decisions of void deals count for nothing
    return [c[final] for c in (phase, role, answer, hand, scores[row, seat])]


def fit(data):
    """Coefficients of each (question, role, answer), and how often it was given."""
    phase, role, answer, hand, score = data
    bids, counts = {}, {}
    for p, r, a in sorted(set(zip(phase.tolist(), role.tolist(), answer.tolist(), strict=True))):
        at = (phase == p) & (role == r) & (answer == a)
        x, y = hand[at], score[at].astype(float)
        key = (PHASE_NAMES[p], bidding.ROLES[r], bidding.ANSWERS[a])
        counts[key] = len(y)
        if len(y) < 40:
            continue
        middle = x.mean(axis=0)
        middle[0] = 0
        z = x - middle
        beta = np.linalg.solve(z.T @ z + np.diag(RIDGE), z.T @ y)
        beta[0] -= beta @ middle
        bids[key] = tuple(round(float(v), 2) for v in beta)
    return bids, counts


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules")
    parser.add_argument("--hands", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    engine, rng = Engine(args.rules), np.random.default_rng(args.seed)
    bids, kept = BIDS[engine.rules.preset], []
    for number in range(args.rounds):
        agent = TacticalAgent(bids=bids)
        parts = [
            play(engine, agent, bids, 1000, rng, 0.5 if number == 0 and not bids else 0.2)
            for _ in range(args.hands // 1000)
        ]
        kept = [*kept[-1:], [np.concatenate(c) for c in zip(*parts, strict=True)]]
        bids, counts = fit([np.concatenate(c) for c in zip(*kept, strict=True)])
        print(f"round {number}, {time.process_time():.0f} s")
        for key, row in bids.items():
            print("  ", key, counts[key], row)
        text = {
            " ".join(key[:2]) + " " + key[2].replace(" ", "_"): row for key, row in bids.items()
        }
        args.out.write_text(json.dumps(text, indent=1))


if __name__ == "__main__":
    main()
