"""What each rule of ``tactical`` is worth: play without it against play with all of them.

    python tools/ablate_tactical.py qingdao --hands 2000

Camp formats, the same deals for every line. A rule is taken out by setting the weights of its terms
to 0; the others are not weighed anew, so a rule that others could stand in for looks dearer than it
is. ``bids`` is measured in format ``seat``: one player who bids as ``greedy`` does among four that
bid as ``tactical``.
"""

from __future__ import annotations

import argparse

from lupai.agents.tactical import TacticalAgent, Weights
from lupai.agents.tactical.counting import OTHERS
from lupai.agents.tactical.weights import TERMS, WEIGHTS
from lupai.envs.baohuang.rules import load_rules
from lupai.train.evaluate import evaluate

RULES = {
    "sure run-outs": ("runs_out",),
    "sets in need of help": ("weak", "lead_weak"),
    "sets that find an answer": ("dump", "lead_dump"),
    "winning the lead": tuple(t for t in TERMS if t.startswith(("hold", "lead_hold"))),
    "nearness of the own end": ("set_late", "set_few", "hold_late", "hold_few", "left_late"),
    "thrift with jokers": tuple(
        t for t in TERMS if t.startswith(("small", "big", "x", "lead_small", "lead_big"))
    ),
    "who leads after a pass": tuple(t for t in TERMS if t.startswith("left_")),
    "friends": tuple(t for t in TERMS if "friend" in t or t.startswith("over")),
    "nearness of others' ends": ("hold_foe", "hold_friend", "joker_foe", "over_near",
                                 "left_friend_near", "left_foe_near"),
    "yielding": ("yield",),
    "hiding the identity card": ("reveal",),
}  # fmt: skip


def uniform(rules, state, viewers):
    """A belief without evidence: any other seat, and nobody, alike."""
    import numpy as np

    chance = np.full((len(viewers), OTHERS + 2), 1.0)
    row = np.arange(len(viewers))
    chance[row, viewers] = chance[row, state.emperor] = 0
    return chance / chance.sum(axis=1, keepdims=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument("--only", help="a part of the name of a rule")
    args = parser.parse_args()
    whole = WEIGHTS[load_rules(args.rules).preset]
    full = TacticalAgent(name="all")
    variants = {
        name: TacticalAgent(
            weights=Weights(
                *(
                    {t: 0.0 if t in terms else v for t, v in some.items()}
                    for some in (whole.terms, whole.alone)
                )
            ),
            name=name,
        )
        for name, terms in RULES.items()
    }
    variants["belief by hand sizes"] = TacticalAgent(belief=uniform, name="uniform belief")
    for name, agent in variants.items():
        if args.only and args.only not in name:
            continue
        result = evaluate(
            agent, [full], formats=("emperor_camp", "rebel_camp"), hands=args.hands,
            rules=args.rules,
        )  # fmt: skip
        camp = result["matches"][-1]
        print(f"{name:<26}{-camp['mean']:+.2f} ± {camp['high'] - camp['mean']:.2f}", flush=True)
    if not args.only or args.only in "bids":
        result = evaluate(
            TacticalAgent(bids={}, name="bids of greedy"), [full], formats=("seat",),
            hands=5 * args.hands, rules=args.rules,
        )  # fmt: skip
        seat = result["matches"][-1]
        print(f"{'bids':<26}{-seat['mean']:+.2f} ± {seat['high'] - seat['mean']:.2f}")


if __name__ == "__main__":
    main()
