"""What sections of a training config have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["LearningRate", "LearningSection", "Section"]

LearningRate = Annotated[float, Field(gt=0, le=1, description="learning rate of Adam at the start")]


class Section(BaseModel):
    """Refuses unknown keys and numbers that are none; cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class LearningSection(Section):
    """Learning rate of an algorithm, which gives ``lr`` its default."""

    lr: LearningRate
    lr_end: float | None = Field(
        None, ge=0, le=1, description="rate that is reached, linearly, at lr_steps"
    )
    lr_steps: int = Field(
        1_000_000, ge=1, description="decisions until lr_end, after those of an imitation"
    )
