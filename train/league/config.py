"""What a training config says about opponents; needs neither torch nor Ray."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from lupai.train.sections import Section

__all__ = ["ExploitSection", "SelfPlaySection"]


class SelfPlaySection(Section):
    """What plays, and against whom; see docs/training.md for the formulas."""

    policies: Literal["shared", "role"] = Field(
        "shared",
        description="shared: one policy; role: one each for emperor, guard, rebel, and for the "
        "answers before there are roles",
    )

    mode: Literal["self", "league", "exploit"] = Field(
        "self",
        description="self: all seats are the learner's; league: some hands against frozen "
        "opponents; exploit: all hands against `target`",
    )
    anchors: tuple[str, ...] = Field(
        ("random", "greedy", "tactical"),
        max_length=64,
        description="league: opponents that are never dropped; names or folders of agents",
    )
    every: int = Field(25, ge=1, description="league: iterations between snapshots of the learner")
    snapshots: int = Field(
        8, ge=2, le=256, description="league: snapshots kept, the first and the newest among them"
    )
    self_share: float = Field(
        0.5, ge=0, le=1, description="league: share of hands with the learner in all seats"
    )
    seats: tuple[float, ...] = Field(
        (1.0, 1.0, 1.0, 1.0),
        description="league: weights of hands with 1, 2, … seats of the learner, all but one",
    )
    temperature: float = Field(
        2.0, gt=0, description="league: points by which an opponent is e times as likely as another"
    )
    uniform: float = Field(
        0.2, ge=0, le=1, description="league: part of the draw in which all opponents are equal"
    )
    window: int = Field(
        1000, ge=1, description="league: hands over which the score against an opponent runs"
    )
    prior: int = Field(
        50, ge=1, description="league: hands with score 0 that every opponent starts with"
    )
    sample: bool = Field(
        True, description="league: snapshots draw their moves, as in training; else the best one"
    )

    @field_validator("anchors")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if value.count(name) > 1:
                raise ValueError(f"each anchor once; {name!r} stands twice")
        return value

    @field_validator("seats")
    @classmethod
    def _some(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not value or min(value) < 0 or not sum(value) > 0:
            raise ValueError("weights from 0 up, not all 0")
        return value


class ExploitSection(Section):
    """How a best response to `target` is trained and measured."""

    role: Literal["seat", "emperor_camp", "rebel_camp"] = Field(
        "seat",
        description="whose place is taken: one seat, or all seats of a camp after neutral calls",
    )
    every: int = Field(20, ge=1, description="iterations between gates")
    deals: int = Field(200, ge=2, le=10_000, description="deals of a gate, from the dev pack")
    confirm_deals: int = Field(
        1000, ge=2, le=1_000_000, description="fresh deals on which the best gate is played again"
    )
