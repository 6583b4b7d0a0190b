"""What it is worth in Gouji to revolt, and to waive the three 够死级: both are played out.

    python tools/fit_gouji_early.py --deals 400

From deals in which exactly one seat could revolt, ``tactical`` plays on from both answers; likewise
the revolter's 对头 waives and does not. Prints the mean difference in points of his side, and its
regression on the 够级牌 of his hand that will probably win, which goes into ``EARLY`` of
``agents/gouji/tactical/weights.py``.
"""

from __future__ import annotations

import argparse

import numpy as np

from lupai.agents.gouji import TacticalAgent
from lupai.agents.gouji.tactical.counting import FULL, Count
from lupai.agents.gouji.tactical.planning import Plan
from lupai.agents.gouji.tactical.weights import WEIGHTS
from lupai.agents.rollout import rollout
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.revolution import may_revolt
from lupai.envs.gouji.state import Phase


def polled(engine, state, seat):
    """The same tables after the poll: ``seat [B]`` revolts, -1 for nobody."""
    state = state.copy()
    for _ in range(6):
        revolts = state.actor == seat
        engine.step(state, np.where(revolts, VERB_ID["revolt"], VERB_ID["silent"]))
    return state


def answered(engine, state, verb):
    """The same tables after the revolter's 对头 has answered."""
    state = state.copy()
    engine.step(state, np.full(len(state), VERB_ID[verb]))
    return state


def tell(name, gain, plan):
    """Mean, and regression on the plan of the hand."""
    parts = np.stack([np.ones(len(gain)), plan.strong], axis=1)
    found, *_ = np.linalg.lstsq(parts, gain, rcond=None)
    noise = (gain - parts @ found).std(ddof=2) ** 2 * np.linalg.inv(parts.T @ parts)
    base, slope = found
    wide = 1.96 * noise[1, 1] ** 0.5
    error = 1.96 * gain.std(ddof=1) / len(gain) ** 0.5
    print(f"{name}: {gain.mean():+.2f} ± {error:.2f} over {len(gain)} deals")
    print(f"  {base:+.2f}, and {slope:+.2f} ± {wide:.2f} for each of {plan.strong.mean():.2f}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    engine, agent = Engine(), TacticalAgent()
    rng = np.random.default_rng(args.seed)
    found = []
    while sum(map(len, found)) < args.deals:
        state = engine.reset(rng.integers(0, 2**63, 1000).astype(np.uint64))
        can = np.stack([may_revolt(state.ranks[:, seat]) for seat in range(6)], axis=1)
        found.append(state.take(np.flatnonzero(can.sum(axis=1) == 1)))
    state = found[0]
    for more in found[1:]:
        both = type(state)(len(state) + len(more))
        both.put(np.arange(len(state)), state)
        both.put(np.arange(len(state), len(both)), more)
        state = both
    state = state.take(np.arange(args.deals))
    row = np.arange(args.deals)
    seat = np.array([may_revolt(hands).argmax() for hands in state.ranks])

    def plan_of(state, seat):
        count = Count(engine.mask_hidden(state, seat), seat)
        return Plan(count, *WEIGHTS.wills.blend(count.sizes / FULL))

    revolt = polled(engine, state, seat)
    assert (revolt.phase == Phase.WAIVE).all()
    silent = rollout(agent, polled(engine, state, np.full(args.deals, -1)), engine)[row, seat]
    keeps = rollout(agent, answered(engine, revolt, "silent"), engine)[row, seat]
    waives = rollout(agent, answered(engine, revolt, "waive"), engine)[row, seat]
    tell("revolt", keeps - silent, plan_of(state, seat))
    tell("waive", keeps - waives, plan_of(state, (seat + 3) % 6))


if __name__ == "__main__":
    main()
