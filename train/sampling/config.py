"""What a training config says about learning from others before, or beside, self-play."""

from __future__ import annotations

from pydantic import Field

from lupai.train.sections import Section

__all__ = ["DistillationSection", "ImitationSection"]


class ImitationSection(Section):
    """Learning from an agent that is there already, before the run goes on by self-play."""

    agent: str = Field("tactical", min_length=1, description="whose moves; a name or a folder")
    steps: int = Field(0, ge=0, description="decisions of the run that it plays; 0: none")
    lr: float = Field(
        2e-3,
        gt=0,
        le=1,
        description="learning rate at the start, falls linearly to ppo.lr (dmc.lr) at "
        "imitation.steps",
    )


class DistillationSection(Section):
    """Learning what moves are worth from a value network that sees all hands."""

    steps: int = Field(0, ge=0, description="decisions of the run that are learned so; 0: none")
    weight: float = Field(
        1.0, gt=0, le=100, description="of the squared error of the differences, in stakes"
    )
    scores: float = Field(
        0.05,
        ge=0,
        le=1,
        description="of dmc: weight that the loss by the scores of hands keeps meanwhile",
    )
    candidates: int = Field(
        8,
        ge=4,
        le=64,
        description="moves of a decision that are judged, at most; with an advice its candidates",
    )
    limit: float = Field(
        4.0,
        gt=0,
        le=100,
        description="stakes by which a move can be judged better or worse than the one played",
    )
    trust: float = Field(
        0.0,
        ge=0,
        le=100,
        description="of networks with advice: points that a move is worth in advance for each unit "
        "of the price by `tactical`, as in `search`",
    )
    temperature: float = Field(
        0.03,
        gt=0,
        le=100,
        description="of ppo: a move that is worth so much less (in reward) becomes 1 / e times as "
        "likely; dmc has its own",
    )
