"""Posteriors of known populations by name: ``exact:…`` and ``particles:…``, with their options.

>>> read_options("particles:agent=tactical+noise=0.1+worlds=256")["worlds"]
256
"""

from __future__ import annotations

import difflib
import hashlib
import math
from typing import Any, Final

from lupai.agents.belief.base import BeliefError, Predictor
from lupai.agents.belief.behaviour import AfterNeutralCalls, Behaviour, Population, behaviour_of
from lupai.agents.belief.exact import LIMIT, ExactPosterior
from lupai.agents.belief.particles import WORLDS, ParticlePosterior
from lupai.agents.registry import load
from lupai.envs.errors import LupaiError

__all__ = ["KNOWN", "is_known", "known_predictor", "read_options"]

KNOWN: Final = ("exact", "particles")
_POPULATION: Final[dict[str, Any]] = {
    "agent": "tactical",
    "noise": 0.05,
    "calls": "players",
    "per": "seat",
    "suits": "blind",
}
_DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "exact": _POPULATION | {"limit": LIMIT},
    "particles": _POPULATION | {"worlds": WORLDS, "steps": 0, "seed": 0},
}
_WORDS: Final = {
    "calls": ("players", "neutral"),
    "per": ("seat", "hand"),
    "suits": ("blind", "order"),
}
_LIMITS: Final = {  # least, most
    "limit": (1, 10_000_000),
    "worlds": (1, 1_000_000),
    "steps": (0, 1000),
    "seed": (0, 2**63 - 1),
}


def is_known(name: str) -> bool:
    """Whether a name is of this kind: ``exact``, ``exact:agent=greedy``, not ``exact:Class``."""
    kind, colon, options = name.partition(":")
    return kind in KNOWN and (not colon or "=" in options or not options)


def known_predictor(name: str, rules: str | None = None) -> Predictor:
    """The predictor of a name such as ``exact:agent=tactical+noise=0.1``.

    Args:
        name: ``exact`` or ``particles``, and after a colon options with ``+`` between. ``agent``
            may stand several times: each seat (or hand) has drawn one of them.
        rules: rules string it is wanted for; trained agents of others are refused.

    Raises:
        BeliefError: an unknown option, a value that it cannot have, or an agent whose chances
            nobody knows.
        LupaiError: an agent that is not there or plays other rules.
    """
    options = read_options(name)
    behaviours: list[Behaviour] = []
    digests: list[str] = []
    for agent in options["agent"]:
        try:
            loaded = load(agent, rules)
            player = behaviour_of(loaded, options["noise"])
        except LupaiError as error:
            raise BeliefError(f"predictor {name!r}: {error}") from None
        behaviours.append(AfterNeutralCalls(player) if options["calls"] == "neutral" else player)
        digests.append(getattr(getattr(loaded, "card", None), "weights_sha256", ""))
    population = Population(tuple(behaviours), per=options["per"], suits=options["suits"])
    if name.startswith("exact"):
        found: ExactPosterior | ParticlePosterior
        found = ExactPosterior(population, options["limit"], name)
    else:
        found = ParticlePosterior(
            population, options["worlds"], options["steps"], options["seed"], name
        )
    if any(digests):  # trained agents: a name is not enough to say who plays
        all_of_them = hashlib.sha256(",".join(digests).encode()).hexdigest()
        found.weights_sha256 = digests[0] if len(digests) == 1 else all_of_them
    return found


def read_options(name: str) -> dict[str, Any]:
    """All options of a name, defaults among them; ``agent`` is a list.

    Raises:
        BeliefError: see :func:`known_predictor`.
    """
    kind, _, text = name.partition(":")
    values = dict(_DEFAULTS[kind])
    agents: list[str] = []
    seen: set[str] = set()
    for part in text.split("+") if text else ():
        option, equals, word = part.partition("=")
        if not equals:
            raise BeliefError(
                f"predictor {name!r}: {part!r} is no option=value; several stand with '+' between, "
                f"for example {kind}:agent=tactical+noise=0.1"
            )
        if option not in values:
            near = difflib.get_close_matches(option, values, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise BeliefError(
                f"predictor {name!r}: unknown option {option!r}{hint} "
                f"(options: {', '.join(values)})"
            )
        if option == "agent":
            agents.append(word)
            continue
        if option in seen:
            raise BeliefError(f"predictor {name!r}: option {option!r} stands twice")
        seen.add(option)
        values[option] = _value(name, option, word)
    values["agent"] = agents or [values["agent"]]
    return values


def _value(name: str, option: str, word: str) -> Any:
    if option in _WORDS:
        if word in _WORDS[option]:
            return word
        allowed = " or ".join(_WORDS[option])
    elif option == "noise":
        try:
            chance = float(word)
        except ValueError:
            chance = math.nan
        if 0 <= chance <= 1:
            return chance
        allowed = "from 0 to 1"
    else:
        least, most = _LIMITS[option]
        if word.isdecimal() and least <= int(word) <= most:
            return int(word)
        allowed = f"whole numbers from {least} to {most}"
    raise BeliefError(
        f"predictor {name!r}: option {option!r} cannot be {word!r}; allowed: {allowed}"
    )
