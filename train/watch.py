"""Short duplicate matches of a learning policy against anchors, for curves and for the best.

The policy plays its most probable moves. Deals and draws are the same every time, so that two
points of a curve differ by the policy alone; they are neither those of the packs ``dev`` and
``test`` nor those of the training.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import lupai.agents
from lupai.agents.base import Agent
from lupai.train.arena.games import arena_game
from lupai.train.arena.packs import make_pack
from lupai.train.arena.run import run_arena
from lupai.train.config import TrainConfig
from lupai.train.run_folder import TrainingError
from lupai.train.watchdog import Watchdog, bands_of

__all__ = ["Watch"]

SEED: Final = 0x77617463  # of the deals
_COUNTS: Final = ("reveal_cards",)  # behaviour that is a mean of cards, not a share of cases


class Watch:
    """Measures a policy now and then; a part of the checkpoints.

    Args:
        config: the run; its section ``watch`` says how often and against whom.

    Attributes:
        best: what ``best/`` stands for: ``score`` per hand in one seat against four of the last
            anchor, ``against`` and ``deals``; empty: none so far.
        improved: whether the last measurement became the best.

    Raises:
        LupaiError: an anchor that does not exist or plays other rules.
    """

    def __init__(self, config: TrainConfig) -> None:
        section = config.watch
        self._section, self._rules = section, config.rules_string
        game = config.game
        self._pack = make_pack(self._rules, section.deals, SEED, name="watch", game=game)
        self._formats = ("seat", arena_game(game).camps.both)
        names = section.anchors if section.every else ()
        self._anchors: list[Agent] = [lupai.agents.load(name, self._rules) for name in names]
        self._dog = Watchdog(
            bands_of(self._rules, game) | section.bands, section.entropy_min, section.entropy_share
        )
        self._rates: dict[str, tuple[float, int]] = {}
        self.best: dict[str, Any] = {}
        self.improved = False

    def due(self, iteration: int, last: bool) -> bool:
        """Whether to measure after this iteration; ``last``: the run ends with it."""
        every = self._section.every
        return bool(every) and iteration > 0 and (last or iteration % every == 0)

    def measure(self, agent: Agent) -> dict[str, float]:
        """Play the matches.

        Returns:
            Metrics: ``eval/ANCHOR/seat`` and ``camp`` (``side``) with ``_low`` and ``_high``, score
            per hand in points of the rules; ``eval/ANCHOR/ROLE`` in one seat; ``rates/…``, shares
            of greedy choices; ``time/watching`` in seconds.

        Raises:
            ArenaError: the policy named a move that is not legal.
        """
        begin = time.monotonic()
        result = run_arena(
            [agent], self._anchors, formats=self._formats, pack=self._pack, seed=SEED,
            strict=True,
        ).result  # fmt: skip
        matches: list[dict[str, Any]] = result["matches"]
        row = _scores(matches, self._formats, self._section.anchors, result["opponents"])
        self._rates = _rates([m for m in matches if m["format"] == "seat"])
        row |= {f"rates/{name}": share for name, (share, _) in self._rates.items()}
        anchor = self._section.anchors[-1]
        found = {"score": row[f"eval/{anchor}/seat"], "against": anchor, "deals": self._pack.count}
        comparable = all(self.best.get(key) == found[key] for key in ("against", "deals"))
        self.improved = not comparable or found["score"] > self.best["score"]
        self.best = found if self.improved else self.best
        return row | {"time/watching": time.monotonic() - begin}

    def warnings(self, row: Mapping[str, float]) -> list[str]:
        """What is alarming in an iteration's metrics.

        Raises:
            TrainingError: an illegal action was played; that is a fault, never to go on from.
        """
        if row.get("play/illegal_actions", 0):
            raise TrainingError(
                f"iteration {row['iteration']:.0f}: {row['play/illegal_actions']:.0f} illegal "
                f"actions reached the engine: a fault in the masks, please report it"
            )
        out: list[str] = []
        if "loss/entropy" in row:
            out += self._dog.entropy(row["loss/entropy"])
        if any(name.startswith("rates/") for name in row):
            out += self._dog.rates(self._rates)
        return out

    def save(self, folder: Path) -> dict[str, Any]:
        """State for ``trainer.json``."""
        return {"watchdog": self._dog.state()}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Go on from a checkpoint."""
        self._dog.restore(state["watchdog"])


def _scores(
    matches: Sequence[dict[str, Any]],
    formats: Sequence[str],
    anchors: Sequence[str],
    labels: Sequence[str],
) -> dict[str, float]:
    names = dict(zip(labels, anchors, strict=True))
    row: dict[str, float] = {}
    for match in matches:
        if match["format"] not in formats:
            continue
        place = f"eval/{names[match['opponent']]}"
        for key, suffix in (("mean", ""), ("low", "_low"), ("high", "_high")):
            if match[key] is not None:
                row[f"{place}/{match['format']}{suffix}"] = match[key]
        for role, found in match.get("roles", {}).items():
            row[f"{place}/{role}"] = found["value"]
    return row


def _rates(matches: Sequence[dict[str, Any]]) -> dict[str, tuple[float, int]]:
    """``(share, cases)`` of each choice over all matches in one seat."""
    top: dict[str, float] = {}
    cases: dict[str, int] = {}

    def add(name: str, share: float, number: int) -> None:
        top[name] = top.get(name, 0.0) + share * number
        cases[name] = cases.get(name, 0) + number

    for match in matches:
        for name, found in match["behaviour"].items():
            if name not in _COUNTS:
                add(name, found["value"], found["n"])
            if name == "call":
                add("cede", 1 - found["value"], found["n"])
        roles = {role: found["n"] for role, found in match.get("roles", {}).items()}
        alone = roles.get("solo", 0)
        if emperor := roles.get("emperor", 0) + alone:
            add("alone", alone / emperor, emperor)
    return {name: (top[name] / cases[name], cases[name]) for name in top}
