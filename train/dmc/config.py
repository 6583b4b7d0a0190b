"""What a training config says about Deep Monte Carlo; needs no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from lupai.train.sections import LearningRate, LearningSection

__all__ = ["DMCSection"]


class DMCSection(LearningSection):
    """Deep Monte Carlo: the value of a move is the score that its hand ended with."""

    lr: LearningRate = 1e-3
    baseline: Literal["none", "observation", "perfect"] = Field(
        "perfect",
        description="what is subtracted from the score: nothing; the value network's estimate from "
        "the seat's observation, or from all hands and true roles",
    )
    loss: Literal["squared", "huber"] = Field(
        "squared", description="of the values of moves; huber: linear beyond 1 (in reward)"
    )
    heads: Literal["score", "both"] = Field(
        "score",
        description="what is learned of a move: its score; both: also whether the seat wins, "
        "loses or draws, with a head of its own",
    )
    win_loss: float = Field(
        0.1, gt=0, le=10, description="of both: weight of the log loss of that head, in nats"
    )
    win_weight: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="of both: a move is played for its value + this x (P(win) - P(loss)), in "
        "reward; 0: for its value alone",
    )
    epsilon: float = Field(
        0.05, ge=0, le=1, description="share of decisions played at random, at the start"
    )
    epsilon_end: float = Field(
        0.01, ge=0, le=1, description="the same from epsilon_steps on; linear in between"
    )
    epsilon_steps: int = Field(1_000_000, ge=1, description="decisions of the run until then")
    temperature: float = Field(
        0.1,
        gt=0,
        le=100,
        description="of moves that are drawn (league snapshots) or imitated: one that is worth so "
        "much less (in reward) is 1 / e times as likely",
    )
    share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="of the decisions of a hand that are learned, drawn at random; those of one "
        "hand are much alike",
    )
    batch_size: int = Field(
        16_000, ge=16, description="decisions that are learned per iteration, at least"
    )
    minibatch_size: int = Field(500, ge=1, description="decisions per gradient step")
    epochs: int = Field(1, ge=1, le=100, description="passes over a batch")
    grad_clip: float = Field(5.0, gt=0, description="largest norm of a network's gradient")

    @model_validator(mode="after")
    def _fits(self) -> DMCSection:
        if self.minibatch_size > self.batch_size:
            raise ValueError(
                f"minibatch_size ({self.minibatch_size}) must not exceed batch_size "
                f"({self.batch_size})"
            )
        if self.epsilon_end > self.epsilon:
            raise ValueError(
                f"epsilon_end ({self.epsilon_end}) must not exceed epsilon ({self.epsilon})"
            )
        if self.win_weight and self.heads != "both":
            raise ValueError(
                f"win_weight ({self.win_weight}) needs heads both, not {self.heads}: there is no "
                f"head that says who wins"
            )
        return self
