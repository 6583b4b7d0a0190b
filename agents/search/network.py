"""Value networks: what a table in play is worth to each seat, all hands seen.

What the networks of a game see, and how scores follow from what they say, is the game's
:class:`Sight`; the rest is here. They read whole tables, so where players decide only imagined
worlds are shown to them, never the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.search.files import F32, Layers, read_network
from lupai.envs.game import rules_class

__all__ = ["Sight", "Value", "load_value", "sight_of"]

F64 = npt.NDArray[np.float64]

_MODULES: Final = {"baohuang": "lupai.agents.search.value", "gouji": "lupai.agents.gouji.value"}
_BLOCK: Final = 1024  # rows that go through the network at once: they stay in the cache
# All numbers that are multiplied are multiples of these, and sums stay below 2**24 of the product:
# so every sum is exact in float32, whatever the order in which a machine adds up.
_WEIGHT_STEP: Final = np.float32(2**-10)
_INPUT_STEP: Final = np.float32(2**-6)


@dataclass(frozen=True)
class Sight:
    """What a game's networks see of a table, and what follows from what they say.

    Attributes:
        game: its name.
        package: in which its files lie, ``value_PRESET.npz``.
        seats: S.
        layout: names and widths of the inputs.
        inputs: F, their number.
        deciding: options that have to be as in the preset of a network.
        features: ``[N, F] float32`` of tables in play and rules; seats are counted from the asked
            one.
        scores: ``[N, S]`` of tables, chances of places ``[N, S, S]`` (absolute seat; place 1 … S),
            chances of outcomes ``[N, E]`` and rules.
        outcomes: E, of the whole hand as the asked seat's side sees it; for the other side they
            are in the opposite order. 0: places say all.
        outcome_of: ``[N]`` outcome of tables that are over, as the side of seat 0 sees it.
    """

    game: str
    package: str
    seats: int
    layout: Any
    inputs: int
    deciding: tuple[str, ...]
    features: Callable[[Any, Any], F32]
    scores: Callable[[Any, F64, F64, Any], F64]
    outcomes: int = 0
    outcome_of: Callable[[Any], npt.NDArray[np.intp]] | None = None

    @property
    def outputs(self) -> int:
        """Logits of a place for each seat, then those of the outcomes."""
        return self.seats**2 + self.outcomes


class Value:
    """A network: layers ``(weights [I, O], bias [O])``, ReLU between them, and at the end for each
    seat a softmax over places, and one over outcomes where the game has some.

    Weights, and what enters each layer, are rounded so far that results are the same bits for a
    table alone or among others, and on every machine.
    """

    def __init__(self, layers: Layers, sight: Sight) -> None:
        small = _WEIGHT_STEP * _INPUT_STEP
        self.layers = [(_round(w, _WEIGHT_STEP), _round(b, small)) for w, b in layers]
        self.sight = sight

    def places(self, inputs: F32) -> F32:
        """``[N, S, S]`` chance of each place, seats counted from the one that is asked.

        Row i depends on ``inputs[i]`` alone, to the last bit.
        """
        return self.chances(inputs)[0]

    def chances(self, inputs: F32) -> tuple[F32, F32]:
        """:meth:`places`, and ``[N, E]`` of outcomes, for the side of the asked seat."""
        n, seats = len(inputs), self.sight.seats
        logits = np.empty((n, self.sight.outputs), np.float32)
        for start in range(0, n, _BLOCK):
            logits[start : start + _BLOCK] = self._logits(inputs[start : start + _BLOCK])
        places = logits[:, : seats**2].reshape(n, seats, seats)
        return _softmax(places), _softmax(logits[:, seats**2 :])

    def _logits(self, x: F32) -> F32:
        for weights, bias in self.layers[:-1]:
            x = _round(x, _INPUT_STEP) @ weights
            x += bias
            np.maximum(x, 0, out=x)
        weights, bias = self.layers[-1]
        out: F32 = _round(x, _INPUT_STEP) @ weights + bias
        return out

    def scores(self, state: Any, rules: Any) -> F64:
        """``[N, S]`` expected scores of tables in play, all hands seen."""
        places, outcomes = self.chances(self.sight.features(state, rules))
        relative, outcome = places.astype(np.float64), outcomes.astype(np.float64)
        every = np.arange(self.sight.seats)
        seats = (every - state.actor[:, None].astype(np.intp)) % self.sight.seats
        row = np.arange(len(state))[:, None]
        return self.sight.scores(state, relative[row, seats], outcome, rules)


def _softmax(logits: F32) -> F32:
    if logits.shape[-1]:
        logits = logits - logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    return logits


def _round(x: F32, step: np.float32) -> F32:
    out: F32 = np.rint(x * (1 / step))
    out *= step
    return out


def sight_of(game: str) -> Sight:
    """What the networks of a game see."""
    sight: Sight = import_module(_MODULES[game]).SIGHT
    return sight


def load_value(game: str, rules: Any) -> Value | None:
    """The network for some rules of a game; None where there is none: for other decks, and where
    other options that decide what tables are worth are not as in the preset.

    Raises:
        SearchError: the file of the preset does not fit.
    """
    own = rules_class(game).presets[rules.preset]
    if any(getattr(rules, name) != own[name] for name in sight_of(game).deciding):
        return None
    return _load_preset(game, rules.preset)


@cache
def _load_preset(game: str, preset: str) -> Value | None:
    sight = sight_of(game)
    layers = read_network(sight.package, "value", preset, sight.layout, sight.inputs, sight.outputs)
    return None if layers is None else Value(layers, sight)
