"""Networks that read a hand move by move and say who is guard: a GRU, and a small transformer.

For each subject the network gives a number, the log likelihood ratio of what was seen if the
subject is guard; the posterior is the grounded chance times its exponential, so that a class which
the rules exclude stays excluded, and a network that has learned nothing says what is grounded.
Letters in shapes: ``H`` hands, ``S`` = 5 subjects, ``T`` moves, ``E`` numbers of a move, ``N``
views, ``U`` units.
"""

from __future__ import annotations

import math
import os
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from lupai.agents.belief.base import ALONE, CLASSES, BeliefError, observers_of
from lupai.agents.belief.course import course_of, hands_of
from lupai.agents.belief.files import (
    BeliefCard,
    by_observer,
    check_inputs,
    layout_hash,
    read_folder,
)
from lupai.agents.belief.naive_bayes import check_rules
from lupai.agents.belief.sequences import (
    EVENT_FIELDS,
    LAYOUT,
    TABLE_FIELDS,
    events,
    priors,
    tables,
)
from lupai.agents.belief.views import HandViews, hand_views
from lupai.envs.baohuang.state import SEATS
from lupai.envs.view import Views

__all__ = ["KINDS", "BeliefNet", "Kind", "NetworkPredictor"]

Kind = Literal["gru", "transformer"]
KINDS: Final = ("gru", "transformer")
HEADS: Final = 4
HANDS_AT_ONCE: Final = 16  # keeps memory small; what is said of a hand does not depend on it
F64 = npt.NDArray[np.float64]


class _Block(nn.Module):
    """One block of causal self-attention, layers normalised before."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(units), nn.LayerNorm(units)
        self.ask, self.answer = nn.Linear(units, 3 * units), nn.Linear(units, units)
        self.mix = nn.Sequential(
            nn.Linear(units, 2 * units), nn.GELU(), nn.Linear(2 * units, units)
        )

    def forward(self, x: Tensor) -> Tensor:
        n, length, units = x.shape
        asked = self.ask(self.before(x)).view(n, length, 3, HEADS, units // HEADS)
        query, key, value = asked.permute(2, 0, 3, 1, 4).unbind(0)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.answer(seen.transpose(1, 2).reshape(n, length, units))
        out: Tensor = x + self.mix(self.after(x))
        return out


class BeliefNet(nn.Module):
    """The network.

    Args:
        kind: what reads the moves.
        units: U, a multiple of 8.
        layers: of the encoder.
    """

    def __init__(self, kind: Kind, units: int = 64, layers: int = 1) -> None:
        super().__init__()
        self.kind, self.units, self.layers = kind, units, layers
        self.embed = nn.Sequential(nn.Linear(len(EVENT_FIELDS), units), nn.ReLU())
        if kind == "gru":
            self.gru = nn.GRU(units, units, num_layers=layers, batch_first=True)
        else:
            self.begin = nn.Parameter(torch.zeros(units))
            self.blocks = nn.ModuleList(_Block(units) for _ in range(layers))
            self.norm = nn.LayerNorm(units)
        self.head = nn.Sequential(
            nn.Linear(units + len(TABLE_FIELDS), units), nn.ReLU(), nn.Linear(units, 1)
        )
        last = self.head[2]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)  # at first nothing is said
        nn.init.zeros_(last.bias)

    def read(self, moves: Tensor) -> Tensor:
        """``[H, S, T + 1, U]``: what is remembered after 0 … T moves ``[H, S, T, E]``."""
        hands, subjects, length, _ = moves.shape
        x = self.embed(moves.reshape(hands * subjects, length, -1))
        if self.kind == "gru":
            found = self.gru(x)[0] if length else x
            found = functional.pad(found, (0, 0, 1, 0))
        else:
            found = torch.cat([self.begin.expand(len(x), 1, -1), x], dim=1)
            found = found + _places(length + 1, self.units).to(found)
            for block in self.blocks:
                found = block(found)
            found = self.norm(found)
        memory: Tensor = found.view(hands, subjects, length + 1, self.units)
        return memory

    def say(self, memory: Tensor, table: Tensor) -> Tensor:
        """Log likelihood ratios ``[N, S]`` from memories ``[N, S, U]`` and tables ``[N, S, F]``."""
        ratios: Tensor = self.head(torch.cat([memory, table], dim=2))[..., 0]
        return ratios


def _places(length: int, units: int) -> Tensor:
    """``[length, units]`` sines and cosines, so that hands of any length have places."""
    rate = torch.exp(torch.arange(0, units, 2) * (-math.log(1000.0) / units))
    angle = torch.arange(length)[:, None] * rate
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class NetworkPredictor:
    """The predictor.

    Args:
        net: the network.
        rules: rules string that it was trained under.
        temperatures: logarithms of chances are divided by them: ``[3]`` by OBSERVERS, or one for
            all.
        name: shown in tables.
        nobody: factors of the chance of "nobody" before the temperature, ``[3]`` or one for all: a
            network learns hands, and hands of a lone emperor have fewer decisions than others.
        weights_sha256: of the file they were read from; "": of none.
    """

    def __init__(
        self,
        net: BeliefNet,
        rules: str,
        temperatures: npt.ArrayLike = 1.0,
        name: str | None = None,
        nobody: npt.ArrayLike = 1.0,
        weights_sha256: str = "",
    ) -> None:
        self.net, self.rules, self.weights_sha256 = net.eval(), rules, weights_sha256
        self.temperatures = by_observer(temperatures, "temperature", positive=True)
        self.nobody = by_observer(nobody, "nobody", positive=True)
        self.name = net.kind if name is None else name

    def logits(self, views: HandViews) -> npt.NDArray[np.float32]:
        """``[N, S] float32`` logarithms of chances by subject, as the network says them: before
        factor and temperature and without a common constant; -inf for who is excluded."""
        with np.errstate(divide="ignore"):
            out: npt.NDArray[np.float32] = np.log(priors(views))
        emperor, dealt = hands_of(views)
        log, rules = views.log, views.engine.rules
        there = np.unique(views.hand)
        with torch.no_grad():
            for first in range(0, len(there), HANDS_AT_ONCE):
                hands = there[first : first + HANDS_AT_ONCE]
                rows = np.flatnonzero(np.isin(views.hand, hands))
                part = type(log)(log.seats[hands], log.actions[hands])
                part = part.cut((part.seats >= 0).sum(axis=1))
                course = course_of(part, dealt[hands], rules)
                memory = self.net.read(torch.from_numpy(events(part, course, emperor[hands])))
                some = views.take(rows)
                at = torch.from_numpy(np.searchsorted(hands, views.hand[rows]))
                seen = memory[at, :, torch.from_numpy(some.counts.astype(np.int64))]
                out[rows] += self.net.say(seen, torch.from_numpy(tables(some))).numpy()
        return out

    def predict(self, views: Views) -> F64:
        """``[N, 6] float64``.

        Raises:
            BeliefError: views of other rules, or without a history.
        """
        check_rules(self, views)
        seen = hand_views(views)
        who = observers_of(seen)
        logits = self.logits(seen).astype(np.float64)
        logits[np.arange(len(logits)), seen.state.emperor] += np.log(self.nobody[who])
        return by_class(seen, soften(logits, self.temperatures[who]))

    def card(self, provenance: dict[str, Any]) -> tuple[BeliefCard, dict[str, npt.NDArray[Any]]]:
        """What is saved of it."""
        net = self.net
        settings = {
            "units": net.units,
            "layers": net.layers,
            "temperature": self.temperatures.tolist(),
            "nobody": self.nobody.tolist(),
        }
        arrays = {name: value.detach().numpy() for name, value in net.state_dict().items()}
        card = BeliefCard(
            net.kind, self.name, self.rules, layout_hash(LAYOUT), settings, provenance
        )
        return card, arrays

    @classmethod
    def load(cls, folder: str | os.PathLike[str], rules: str | None = None) -> NetworkPredictor:
        """From a folder.

        Raises:
            BeliefError: see :func:`~lupai.agents.belief.files.read_folder`.
        """
        card, arrays = read_folder(folder, rules)
        check_inputs(card, LAYOUT, folder)
        units, layers = (card.settings.get(key) for key in ("units", "layers"))
        temperature: Any = card.settings.get("temperature")
        nobody: Any = card.settings.get("nobody", 1.0)  # older ones have none
        if not (isinstance(units, int) and 8 <= units <= 1024 and units % 8 == 0) or not (
            isinstance(layers, int) and 1 <= layers <= 16
        ):
            raise BeliefError(
                f"{folder}: units {units!r}, layers {layers!r} are no settings of a network; copy "
                f"the folder again"
            )
        net = BeliefNet(card.kind, units, layers)  # type: ignore[arg-type]
        try:
            net.load_state_dict({name: torch.from_numpy(a.copy()) for name, a in arrays.items()})
        except (RuntimeError, TypeError) as error:
            reason = " ".join(str(error).split())[:160]
            raise BeliefError(f"{folder}: no weights of this network ({reason})") from None
        try:
            return cls(net, card.rules, temperature, card.name, nobody, card.weights_sha256)
        except BeliefError as error:
            raise BeliefError(f"{folder}: no settings of a network: {error}") from None


def soften(logits: npt.NDArray[np.floating[Any]], temperature: float | F64) -> F64:
    """Chances ``[N, S] float64`` of logits at a temperature, or each at its own ``[N]``."""
    scaled = logits.astype(np.float64) / np.reshape(temperature, (-1, 1))
    scaled -= scaled.max(axis=1, keepdims=True)
    weights = np.exp(scaled)
    chances: F64 = weights / weights.sum(axis=1, keepdims=True)
    return chances


def by_class(views: HandViews, chances: F64) -> F64:
    """``[N, 6]`` from chances by subject ``[N, S]``."""
    out = np.zeros((len(chances), CLASSES))
    row, emperor = np.arange(len(chances)), views.state.emperor.astype(np.intp)
    out[:, :SEATS] = chances
    out[row, ALONE] = chances[row, emperor]
    out[row, emperor] = 0
    return out
