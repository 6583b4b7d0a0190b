"""Warns when a policy collapses: greedy rates that leave their bands, entropy that is gone.

A sampled rate hides a collapse, since exploration still takes the other choice now and then; so
the rates come from matches in which the policy plays its most probable moves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from lupai.envs.game import rules_class
from lupai.train.games import DEFAULT, training_game
from lupai.train.games.base import Bands

__all__ = ["Watchdog", "bands_of", "rates_of", "wilson"]

START: Final = 5  # iterations whose highest entropy is the run's first


def _rates(rules: str, game: str) -> Bands:
    return training_game(game).rates.get(rules_class(game).load(rules).preset, {})


def bands_of(rules: str, game: str = DEFAULT) -> dict[str, tuple[float, float]]:
    """Bands of the rules' preset: half as low as the lowest rate of the rule agents, and half of
    what is left above their highest."""
    known = _rates(rules, game)
    return {name: (low / 2, (1 + high) / 2) for name, (low, high) in known.items()}


def rates_of(rules: str, game: str = DEFAULT) -> tuple[str, ...]:
    """Names of the rates that are measured under the rules' preset, in order."""
    known = [*_rates(rules, game)]
    if "call" in known:
        known += ["cede", "open"]
    return tuple(sorted(known))


def wilson(share: float, cases: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.959964
    middle = (share + z * z / (2 * cases)) / (1 + z * z / cases)
    half = z / (1 + z * z / cases)
    half *= math.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases))
    return max(0.0, middle - half), min(1.0, middle + half)


class Watchdog:
    """Tells each event once: again only after all was well between.

    Args:
        bands: lowest and highest rate, by name.
        entropy_min: entropy in nats below which it has collapsed.
        entropy_share: the same as a share of the highest of the run's first iterations.
    """

    def __init__(
        self,
        bands: Mapping[str, tuple[float, float]],
        entropy_min: float = 0.0,
        entropy_share: float = 0.0,
    ) -> None:
        self.bands = dict(bands)
        self.entropy_min, self.entropy_share = entropy_min, entropy_share
        self._alarmed: set[str] = set()
        self._first: list[float] = []

    def entropy(self, value: float) -> list[str]:
        """Warnings about the policy's entropy, given once for each iteration."""
        if len(self._first) < START:
            self._first.append(value)
        first = max(self._first)
        limit = max(self.entropy_min, self.entropy_share * first)
        return self._tell(
            "entropy",
            value < limit,
            f"entropy has collapsed to {value:.4f} nats (it began with {first:.3f}; limit "
            f"{limit:.4f}): a larger ppo.entropy or a smaller ppo.lr keeps it up",
        )

    def rates(self, rates: Mapping[str, tuple[float, int]]) -> list[str]:
        """Warnings about greedy rates: name to ``(rate, cases)``. One that may be inside by chance
        (95 %) is inside."""
        out: list[str] = []
        for name, (low, high) in sorted(self.bands.items()):
            share, cases = rates.get(name, (0.0, 0))
            if not cases:
                continue
            least, most = wilson(share, cases)
            out += self._tell(
                f"rate {name}",
                most < low or least > high,
                f"the greedy policy's {name} rate is {share:.2f} in {cases} cases, outside of its "
                f"band {low:.2f} … {high:.2f} (watch.bands)",
            )
        return out

    def _tell(self, event: str, bad: bool, text: str) -> list[str]:
        if not bad:
            self._alarmed.discard(event)
            return []
        if event in self._alarmed:
            return []
        self._alarmed.add(event)
        return [text]

    def state(self) -> dict[str, Any]:
        """JSON values for :meth:`restore`."""
        return {"alarmed": sorted(self._alarmed), "first": self._first}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state`."""
        self._alarmed = {str(event) for event in state["alarmed"]}
        self._first = [float(value) for value in state["first"]]
