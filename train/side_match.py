"""Side against side in Gouji: every deal twice, with the agents changing sides.

    python -m lupai.train.side_match tactical greedy --deals 400

The deal is the unit of the interval.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent
from lupai.agents.registry import load
from lupai.agents.rollout import rollout
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.orders import SEATS
from lupai.train.arena.statistics import bootstrap

__all__ = ["SideMatch", "side_match"]


@dataclass(frozen=True)
class SideMatch:
    """What an agent's side scored a hand.

    Attributes:
        mean: points of each of its members a hand, the opponents' negative ones counted.
        low, high: 95 % interval, bootstrapped over deals.
        by_deal: ``[deals] float64`` mean of both hands of each deal.
    """

    mean: float
    low: float
    high: float
    by_deal: npt.NDArray[np.float64]


def side_match(
    agent: Agent, opponent: Agent, rules: Any = "shandong", deals: int = 200, seed: int = 1
) -> SideMatch:
    """Even seats ``agent``, odd seats ``opponent``, and once more the other way round.

    Args:
        agent, opponent: as for :func:`lupai.agents.rollout.rollout`; reset with ``seed`` before
            each half.
        rules: of Gouji, as for its engine.
        deals: number of deals, 2 or more.
        seed: of deals, agents and the interval.

    Raises:
        ValueError: fewer than two deals.
    """
    if deals < 2:
        raise ValueError(f"deals {deals!r}: an interval needs 2 or more")
    engine = Engine(rules)
    seeds = np.random.default_rng(seed).integers(0, 2**63, deals).astype(np.uint64)
    halves = []
    for sign, pair in ((1, (agent, opponent)), (-1, (opponent, agent))):
        for player in pair:
            player.reset(seed)
        seats = [pair[seat % 2] for seat in range(SEATS)]
        halves.append(sign * rollout(seats, engine.reset(seeds), engine)[:, 0])
    by_deal = np.mean(halves, axis=0)
    value, low, high = bootstrap(by_deal[:, None], np.ones((deals, 1)), seed)
    return SideMatch(float(value[0]), float(low[0]), float(high[0]), by_deal)


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Side against side in Gouji, on duplicate deals.")
    parser.add_argument("agent")
    parser.add_argument("opponent")
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--rules", default="shandong")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    found = side_match(
        load(args.agent), load(args.opponent), args.rules, deals=args.deals, seed=args.seed
    )
    print(
        f"{args.agent} against {args.opponent}, {args.deals} deals: {found.mean:+.2f} "
        f"[{found.low:+.2f}, {found.high:+.2f}] points a hand"
    )


if __name__ == "__main__":
    main()
