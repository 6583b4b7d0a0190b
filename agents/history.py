"""Encoders of the latest moves: what was played in which order, as one small vector.

Letters in shapes: ``N`` rows (decisions), ``M`` remembered moves, ``E`` numbers of a move, ``U``
units. A move that was not made yet is a row of zeros; nothing is masked, so nothing can be NaN.
"""

from __future__ import annotations

from math import gcd

import torch
from torch import Tensor, nn
from torch.nn import functional

from lupai.agents.card import HISTORIES, History

__all__ = ["HISTORIES", "AttentionHistory", "GRUHistory", "History", "history_encoder"]


class GRUHistory(nn.Module):
    """A GRU from the oldest move to the newest; its last state.

    Args:
        moves: M. fields: E. units: U.
    """

    def __init__(self, moves: int, fields: int, units: int) -> None:
        super().__init__()
        del moves
        self.gru = nn.GRU(fields, units, batch_first=True)

    def forward(self, recent: Tensor) -> Tensor:
        """``[N, U] float32`` of moves ``recent [N, M, E] float32``, newest first."""
        if torch.compiler.is_exporting():
            # Step by step: the exporter makes a loop of the whole, on which onnxruntime ends the
            # process where there is no row, as in the policy of a role that nobody has.
            state = recent.new_zeros(recent.shape[0], self.gru.hidden_size)
            for move in reversed(recent.unbind(1)):
                state = torch.gru_cell(move, state, *self.gru.all_weights[0])
            return state
        _, last = self.gru(recent.flip(1))
        newest: Tensor = last[0]
        return newest


class AttentionHistory(nn.Module):
    """One block of self-attention over the moves with learned places, then their mean.

    Args:
        moves: M. fields: E. units: U; up to four heads, as many as divide U.
    """

    def __init__(self, moves: int, fields: int, units: int) -> None:
        super().__init__()
        self.heads = gcd(4, units)
        self.embed = nn.Linear(fields, units)
        self.place = nn.Parameter(torch.zeros(moves, units))
        nn.init.normal_(self.place, std=0.1)
        self.before = nn.LayerNorm(units)
        self.ask = nn.Linear(units, 3 * units)
        self.answer = nn.Linear(units, units)
        self.after = nn.LayerNorm(units)
        self.mix = nn.Sequential(nn.Linear(units, units), nn.ReLU(), nn.Linear(units, units))

    def forward(self, recent: Tensor) -> Tensor:
        """``[N, U] float32`` of moves ``recent [N, M, E] float32``, newest first."""
        x = self.embed(recent) + self.place
        n, moves, units = x.shape
        asked = self.ask(self.before(x)).view(n, moves, 3, self.heads, units // self.heads)
        query, key, value = asked.permute(2, 0, 3, 1, 4).unbind(0)
        seen = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.answer(seen.transpose(1, 2).reshape(n, moves, units))
        x = x + self.mix(self.after(x))
        mean: Tensor = x.mean(1)
        return mean


def history_encoder(kind: History, moves: int, fields: int, units: int) -> nn.Module:
    """Encoder of a kind that is not ``none``; see the classes for the arguments.

    Raises:
        ValueError: no such kind.
    """
    if kind == "gru":
        return GRUHistory(moves, fields, units)
    if kind == "attention":
        return AttentionHistory(moves, fields, units)
    raise ValueError(f"history is {kind!r}; encoders: gru, attention")
