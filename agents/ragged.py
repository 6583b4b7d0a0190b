"""Choosing among ragged legal moves by a network's outputs, whatever computes them.

The part of a trained agent that is the same with torch and with onnxruntime: one view, many views,
or many tables with streams of their own; the highest output, or a draw from their softmax.

Letters in shapes: ``N`` decisions, ``D`` observation length, ``T`` legal moves of all of them
together; decision ``i`` owns the moves ``offsets[i]:offsets[i + 1]``.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.advice import Adviser
from lupai.agents.base import I32, best_of_rows
from lupai.agents.card import AgentCard
from lupai.agents.streams import decision_numbers, lane_draws, own_generator
from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.game import Game
from lupai.envs.view import View, Views

__all__ = ["ScoringAgent", "best_places", "drawn_places"]

F16 = npt.NDArray[np.float16]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
_ROWS_AT_ONCE: Final = 1024  # bounds the memory of one forward pass: a lead may have 860 moves
SAME: Final = 4e-6  # outputs this near, by the row's largest magnitude, differ by rounding


def best_places(outputs: F32, offsets: I64) -> npt.NDArray[np.intp]:
    """Places ``[N]`` of the highest of each decision's ``outputs [T] float32``, the first of
    equals.

    Moves that a network cannot tell apart, such as calls of one rank in two suits, have equal
    outputs but for rounding, which depends on how many rows were computed together and by which
    library: what differs by no more counts as equal.
    """
    starts = offsets[:-1]
    top = np.maximum.reduceat(outputs, starts)
    bottom = np.minimum.reduceat(outputs, starts)
    slack = np.float32(SAME) * np.maximum(np.abs(top), np.abs(bottom))
    return best_of_rows(outputs >= np.repeat(top - slack, np.diff(offsets)), offsets)


def drawn_places(outputs: F32, offsets: I64, draws: F64) -> npt.NDArray[np.intp]:
    """Places ``[N]`` drawn from the softmax of each decision's ``outputs [T]``.

    Args:
        outputs: logits. offsets: ``[N + 1]``.
        draws: ``[N] float64`` in [0, 1); the place is the inverse of the decision's cumulative
            distribution there.
    """
    counts = np.diff(offsets)
    first, last = offsets[:-1], offsets[1:] - 1
    weights = np.exp(
        outputs.astype(np.float64) - np.repeat(np.maximum.reduceat(outputs, first), counts)
    )
    total = weights.cumsum()  # over all decisions together: one pass for everything
    below = total[first] - weights[first]
    place = np.searchsorted(total, below + draws * (total[last] - below), side="right")
    inside: npt.NDArray[np.intp] = np.clip(place, first, last)  # rounding may point just beyond
    return inside


class ScoringAgent(ABC):
    """A trained network that plays.

    Args:
        card: what is known about it.
        name: shown in tables and records.
        sample: draw from the policy; else take the most probable move, the lowest id of equals.
        seed: of the draws; it matters with ``sample`` only.
    """

    def __init__(
        self, card: AgentCard, *, name: str, sample: bool = False, seed: int | None = 0
    ) -> None:
        self.card = card
        self.name = name
        self.sample = sample
        self._checked: Any = None  # rules that were seen to be his
        network = card.network
        self._adviser = Adviser(network.candidates, card.game) if network.advice != "none" else None
        self.reset(seed)

    @abstractmethod
    def outputs(
        self, observation: npt.NDArray[np.int8], rows: I64, ids: I64, advice: F16 | None
    ) -> F32:
        """The network's outputs ``[T] float32``.

        Args:
            observation: ``[N, D] int8``.
            rows: ``[T] int64``, ascending: whose move it is.
            ids: ``[T] int64`` legal action ids; with advice its candidates.
            advice: ``[T, F] float16`` their features; None where the network takes none.
        """

    def reset(self, seed: int | None = None) -> None:
        """Begin the stream of draws anew (``None``: fresh entropy)."""
        self._seed = secrets.randbits(64) if seed is None else seed
        self._generator = own_generator(self._seed)

    def act(self, view: View) -> str:
        """One move in the notation of the records."""
        self._check_rules(view.engine)
        views = Views(view.engine, view.state, view.seat)
        chosen = self._choose(views, self._draw(1))
        return view.move_of(int(chosen[0]))

    def act_batch(self, views: Views) -> I32:
        """Action ids ``[N] int32`` for N decisions at once."""
        self._check_rules(views.engine)
        return self._choose(views, self._draw(len(views)))

    def act_lanes(self, views: Views, lanes: npt.NDArray[np.integer]) -> I32:
        """The same; the draw is the one of the lane and the number of the move."""
        self._check_rules(views.engine)
        draws = None
        if self.sample:
            draws = lane_draws(self._seed, lanes, decision_numbers(views.state))
        return self._choose(views, draws)

    def _check_rules(self, engine: Game) -> None:
        if engine.rules is self._checked:
            return
        if str(engine.rules) != self.card.rules:
            raise RulesError(
                f"agent {self.name!r} was trained under rules {self.card.rules!r} and is asked "
                f"under {str(engine.rules)!r}: it plays only the rules it was trained under"
            )
        self._checked = engine.rules

    def _draw(self, count: int) -> F64 | None:
        return self._generator.random(count) if self.sample else None

    def _choose(self, views: Views, draws: F64 | None) -> I32:
        legal = views.legal
        flat, offsets = legal.ids()
        count = len(offsets) - 1
        if count and int(np.diff(offsets).min()) < 1:
            raise ValueError("a decision without any legal move was asked of an agent")
        if len(flat) == count:  # one move each: nothing to choose
            chosen = flat.astype(np.int32)
        else:
            chosen = self._scored(views, flat, offsets, draws)
        if self.card.idle == "pass":
            free = np.diff(offsets) > 1  # the one move may have another name, such as silent
            chosen[legal.idle() & free] = views.engine.actions.verb_id["pass"]
        return chosen

    def _scored(
        self, views: Views, flat: npt.NDArray[Any], offsets: npt.NDArray[Any], draws: F64 | None
    ) -> I32:
        observation, count = views.observation, len(offsets) - 1
        advice: F16 | None = None
        if self._adviser is not None:
            rules: Any = views.engine.rules
            found = self._adviser.advise(rules, views.state, views.seats, flat, offsets)
            there = found.ids >= 0
            flat, advice = found.ids[there], found.features[there]
            offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        ids, offsets = flat.astype(np.int64), offsets.astype(np.int64)
        chosen = np.zeros(count, dtype=np.int32)
        for start in range(0, count, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, count)
            part = slice(int(offsets[start]), int(offsets[stop]))
            chosen[start:stop] = self._best(
                observation[start:stop],
                ids[part],
                offsets[start : stop + 1] - offsets[start],
                None if advice is None else advice[part],
                None if draws is None else draws[start:stop],
            )
        return chosen

    def _best(
        self,
        observation: npt.NDArray[np.int8],
        ids: I64,
        offsets: I64,
        advice: F16 | None,
        draws: F64 | None,
    ) -> I32:
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        outputs = self.outputs(observation, rows, ids, advice)
        if not np.isfinite(outputs).all():
            raise LupaiError(
                f"agent {self.name!r}: its network gave infinite or undefined numbers; take an "
                f"earlier checkpoint"
            )
        if draws is None:
            place = best_places(outputs, offsets)
        else:
            place = drawn_places(outputs / np.float32(self.card.temperature), offsets, draws)
        return ids[place].astype(np.int32)
