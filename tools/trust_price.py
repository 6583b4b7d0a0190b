"""Give a trained network with advice more trust in the price of ``tactical``.

    python tools/trust_price.py runs/qingdao_dmc runs/qingdao_dmc/trusting --trust 1.5

Raises the weight of "how far the price is below the best" on its way straight to the output. What
moves are worth is judged with an error, and the price knows things that the judge does not. It is
what ``distillation.trust`` would have taught; here other values can be tried without training anew
(on the pack ``dev``: the pack ``test`` is for the one that is chosen).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from lupai.agents.advice import BEHIND
from lupai.agents.checkpoint import find_agent, load_agent, load_role_head, save_agent
from lupai.agents.network import MoveScorer
from lupai.envs.errors import LupaiError
from lupai.envs.game import make_game


def main(argv: list[str] | None = None) -> int:
    """Command line; 2 and one line where it cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("agent", help="run or agent folder")
    parser.add_argument("out", type=Path, help="agent folder to be written")
    parser.add_argument("--trust", type=float, required=True, help="points for a unit of price")
    options = parser.parse_args(argv)
    try:
        trusting(options.agent, options.out, options.trust)
    except (LupaiError, OSError) as error:
        print(f"trust_price: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


def trusting(agent: str, out: Path, trust: float) -> None:
    """Write the agent.

    Args:
        trust: points; the network's outputs are taken to be points.

    Raises:
        LupaiError: no agent, or its network has no advice.
    """
    loaded = load_agent(find_agent(agent))
    card, policy = loaded.card, loaded.policy
    members = [m for m in policy.modules() if isinstance(m, MoveScorer)]
    if card.network.advice == "none":
        raise LupaiError(f"{agent}: its network takes no advice (network.advice is none)")
    with torch.no_grad():
        for member in members:
            member.direct.weight[0, BEHIND] += trust
    save_agent(
        out,
        policy,
        card.network,
        make_game(card.game, card.rules),
        idle=card.idle,
        temperature=card.temperature,
        role_head=load_role_head(agent),
        provenance={**card.provenance, "trust": card.provenance.get("trust", 0) + trust},
    )


if __name__ == "__main__":
    sys.exit(main())
