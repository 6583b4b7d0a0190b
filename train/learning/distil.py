"""The loss of a distillation: differences between the outputs for judged moves."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["distil_loss", "judged_moves"]


def judged_moves(candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``(rows [T], places [T], ids [T]) int64`` of the candidates ``[N, K]`` that are there."""
    rows, places = (candidates >= 0).nonzero(as_tuple=True)
    return rows, places, candidates[rows, places].to(torch.int64)


def distil_loss(values: Tensor, worth: Tensor, rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Squared errors of what moves are worth, each against the mean of its decision: only
    differences are learned, since only they are known well.

    Args:
        values: ``[T]`` of the network. worth: ``[T]`` as judged, in the same unit.
        rows: ``[T] int64`` whose they are, ascending. count: N.

    Returns:
        Sum over the decisions of the mean over their moves; and the number of the decisions that
        have any.
    """
    error = values - worth
    moves = torch.bincount(rows, minlength=count)
    share = 1 / moves.clamp_min(1).to(error.dtype)
    mean = torch.zeros(count, dtype=error.dtype, device=error.device)
    mean = mean.index_add(0, rows, error) * share
    squares = (error - mean[rows]).square() * share[rows]
    return squares.sum(), (moves > 0).sum()
