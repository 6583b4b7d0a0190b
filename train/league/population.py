"""Who is in the league, how the learner fares against each, and who has to go.

Anchors and the first snapshot never go. When there are too many snapshots, one goes that matters
least, and age is no reason: of the two whose neighbours in time are nearest to each other (first
and newest excepted) it is the one against whom the learner scores more. So the snapshots stay
spread over the whole run, and where they are dense the hard ones stay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lupai.envs.errors import LupaiError

__all__ = ["LeagueError", "Member", "Population"]

FORMAT: Final = "lupai-league/1"


class LeagueError(LupaiError):
    """A league that cannot be played or read; says what, where and what to do."""


@dataclass
class Member:
    """An opponent.

    Attributes:
        name: for metrics.
        source: an agent's name, or its folder below the run folder.
        iteration: after which it was taken from the learner; 0: an anchor.
        hands: hands against it that its score runs over, at most the window.
        points: the learner's scores in them, summed.
    """

    name: str
    source: str
    iteration: int = 0
    hands: float = 0.0
    points: float = 0.0

    def record(self, hands: int, points: float, window: int) -> None:
        """Take in new hands; what is older than the window fades."""
        self.hands += hands
        self.points += points
        if self.hands > window:
            self.points *= window / self.hands
            self.hands = float(window)

    def score(self, prior: int) -> float:
        """The learner's mean score a hand, drawn to 0 as by ``prior`` hands with score 0: a fresh
        snapshot is the learner itself, against whom it scores 0."""
        return self.points / (self.hands + prior)


class Population:
    """Anchors and snapshots.

    Args:
        anchors: never dropped.
        snapshots: by iteration, oldest first.
    """

    def __init__(self, anchors: Sequence[Member], snapshots: Sequence[Member] = ()) -> None:
        self.anchors = list(anchors)
        self.snapshots = list(snapshots)

    @property
    def members(self) -> list[Member]:
        """All of them, anchors first."""
        return [*self.anchors, *self.snapshots]

    def add(self, member: Member, most: int, prior: int) -> list[Member]:
        """Take a snapshot in.

        Args:
            member: newer than all others.
            most: number of snapshots that may stay, from 2 up.
            prior: see :meth:`Member.score`.

        Returns:
            Those that had to go.
        """
        self.snapshots.append(member)
        gone = []
        while len(self.snapshots) > most:
            place = self._least(prior)
            gone.append(self.snapshots.pop(place))
        return gone

    def _least(self, prior: int) -> int:
        times = [member.iteration for member in self.snapshots]
        inner = range(1, len(times) - 1)
        dense = sorted(inner, key=lambda i: (times[i + 1] - times[i - 1], i))[:2]
        return max(dense, key=lambda i: (self.snapshots[i].score(prior), -i))

    def to_json(self) -> list[dict[str, Any]]:
        """Members as JSON values; floats come back bit for bit."""
        return [vars(member) | {"anchor": member in self.anchors} for member in self.members]


class _StoredMember(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    name: str
    source: str
    iteration: int = Field(ge=0)
    hands: float = Field(ge=0)
    points: float
    anchor: bool


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    format: str
    members: list[_StoredMember]
    rng: dict[str, Any]


def dump_league(population: Population, rng: dict[str, Any]) -> str:
    """The league as the text of a file."""
    data = {"format": FORMAT, "members": population.to_json(), "rng": rng}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def parse_league(text: str, where: str) -> tuple[Population, dict[str, Any]]:
    """What :func:`dump_league` wrote: population and the generator's state.

    Raises:
        LeagueError: it is damaged, or of another version.
    """
    remedy = "copy it again, or go on from another checkpoint"
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise LeagueError(f"{where}: no JSON; {remedy}") from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise LeagueError(f"{where}: its format is {found!r}, not {FORMAT!r}; {remedy}")
    try:
        stored = _Stored.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise LeagueError(f"{where}: {place}: {first['msg']}; {remedy}") from None
    each = [Member(**m.model_dump(exclude={"anchor"})) for m in stored.members]
    anchors = [m for m, s in zip(each, stored.members, strict=True) if s.anchor]
    snapshots = [m for m, s in zip(each, stored.members, strict=True) if not s.anchor]
    times = [m.iteration for m in snapshots]
    if times != sorted(set(times)) or len({m.name for m in each}) < len(each):
        raise LeagueError(f"{where}: members: not one for each name and iteration; {remedy}")
    return Population(anchors, snapshots), stored.rng
