"""Options of ``search``, in code and in an agent's name: ``search:milliseconds=50+method=tree``."""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from typing import Any, Final

from lupai.agents.search.errors import SearchError
from lupai.agents.tactical.beliefs import Belief, heuristic

__all__ = ["BELIEFS", "Options", "SearchError"]

CHOICES: Final = {
    "method": ("flat", "tree"),
    "horizon": ("move", "trick", "hand"),
    "policy": ("greedy", "tactical", "random"),
}
#: Beliefs by name. None weighs all worlds alike.
BELIEFS: Final[dict[str, Belief | None]] = {
    "grounded": None,
    "tactical": heuristic,
}
_LIMITS: Final = {  # least, most
    "simulations": (1, 1_000_000),
    "milliseconds": (1, 3_600_000),
    "candidates": (2, 64),
    "worlds": (2, 4096),
    "depth": (1, 64),
    "exploration": (0, 100),
    "sure": (0, 100),
    "trust": (0, 100),
}


@dataclass(frozen=True)
class Options:
    """How ``search`` decides.

    Attributes:
        method: ``flat``: every candidate in the same worlds; ``tree``: a search tree over what the
            player sees, the others choosing by their own scores.
        simulations: tables that are judged for one decision. With it alone moves are repeatable.
        milliseconds: time for one decision instead; what it makes of it depends on the machine.
        candidates: moves that are looked at, the best by the prices of ``tactical``.
        worlds: tables that are drawn, and so simulations that are run, at once.
        horizon: what is played after a candidate before the table is judged: nothing more
            (``move``), the trick (``trick``), or the whole hand (``hand``, judged by its scores).
        policy: who plays on in ``trick`` and ``hand``.
        sure: standard errors by which a move has to lead over the one of ``tactical``.
        trust: points that a move in play has in advance for each unit of ``tactical``'s price.
        bids: search before the first lead too; else ``tactical`` bids.
        depth: of the tree, in decisions.
        exploration: weight of the prior in the tree, in points.
        belief: ``grounded``: all worlds weigh the same; ``tactical``, or a function as in
            :mod:`lupai.agents.tactical.beliefs`: they are weighed so that it is right about who
            is guard.

    Raises:
        SearchError: a value that is not allowed; names the option and what is.
    """

    method: str = "flat"
    simulations: int = 1024
    milliseconds: float | None = None
    candidates: int = 8
    worlds: int = 32
    horizon: str = "move"
    policy: str = "greedy"
    sure: float = 1.0
    trust: float = 0.5
    bids: bool = True
    depth: int = 8
    exploration: float = 1.0
    belief: str | Belief = "grounded"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise _wrong(name, getattr(self, name), ", ".join(choices))
        for name, (least, most) in _LIMITS.items():
            value = getattr(self, name)
            if value is None and name == "milliseconds":
                continue
            whole = name not in ("milliseconds", "exploration", "sure", "trust")
            kinds = int if whole else (int, float)
            good = isinstance(value, kinds) and not isinstance(value, bool)
            if not good or not least <= value <= most:
                what = "whole numbers" if whole else "numbers"
                raise _wrong(name, value, f"{what} from {least} to {most}")
        if not isinstance(self.bids, bool):
            raise _wrong("bids", self.bids, "true, false")
        if not callable(self.belief) and self.belief not in BELIEFS:
            raise _wrong("belief", self.belief, ", ".join(BELIEFS))

    @property
    def role_belief(self) -> Belief | None:
        """The belief as a function; None: all worlds weigh the same."""
        return self.belief if callable(self.belief) else BELIEFS[self.belief]

    @classmethod
    def parse(cls, text: str) -> Options:
        """Read ``option=value+option=value``; the inverse of ``str``.

        >>> Options.parse("simulations=256+bids=false").simulations
        256

        Raises:
            SearchError: unreadable, an unknown option or a wrong value.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for part in text.split("+"):
            name, equals, word = part.partition("=")
            if not equals:
                raise SearchError(
                    f"search: {part!r} is no option=value; several stand with '+' between, for "
                    f"example search:simulations=256+horizon=trick"
                )
            if name not in fields:
                near = difflib.get_close_matches(name, fields, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise SearchError(
                    f"search: unknown option {name!r}{hint} (options: {', '.join(fields)})"
                )
            if name in values:
                raise SearchError(f"search: option {name!r} stands twice")
            values[name] = _read(word, fields[name].default)
        return cls(**values)

    def __str__(self) -> str:
        """Options that differ from their defaults, ``""`` when none does."""
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                parts.append(f"{field.name}={getattr(value, '__name__', text)}")
        return "+".join(parts)


def _read(word: str, default: Any) -> Any:
    """Value of an option's text; a word that is neither number nor truth stays one."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(word, word)
    if not isinstance(default, str):
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                continue
    return word


def _wrong(name: str, value: object, allowed: str) -> SearchError:
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return SearchError(f"search: option {name!r} cannot be {shown}; allowed: {allowed}")
