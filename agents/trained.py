"""A trained policy as an agent: one view, many views, or many tables with streams of their own."""

from __future__ import annotations

import secrets
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.advice import Adviser
from lupai.agents.base import I32
from lupai.agents.network import (
    offsets_to_rows,
    segment_argmax,
    segment_log_softmax,
    segment_sample,
)
from lupai.agents.policies import Policy
from lupai.agents.streams import lane_draws, own_generator
from lupai.envs.actions import VERB_ID
from lupai.envs.errors import RulesError
from lupai.envs.game import Game
from lupai.envs.view import View, Views

__all__ = ["CheckpointAgent"]

I64 = npt.NDArray[np.int64]
_ROWS_AT_ONCE: Final = 1024  # bounds the memory of one forward pass: a lead may have 860 moves


class CheckpointAgent:
    """A trained policy that plays.

    Args:
        policy: the network.
        card: what is known about it: a :class:`~lupai.agents.checkpoint.AgentCard`.
        name: shown in tables and records.
        sample: draw from the policy; else take the most probable move, the lowest id of equals.
        seed: of the draws; it matters with ``sample`` only.
    """

    def __init__(
        self,
        policy: Policy,
        card: Any,
        *,
        name: str = "trained",
        sample: bool = False,
        seed: int | None = 0,
    ) -> None:
        self.policy = policy.eval()
        self.card = card
        self.name = name
        self.sample = sample
        self._checked: Any = None  # rules that were seen to be his
        network = card.network
        self._adviser = Adviser(network.candidates) if network.advice != "none" else None
        self.reset(seed)

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
            moves = views.state.moves.astype(np.int64)
            draws = lane_draws(
                self._seed, lanes, (views.state.redeals.astype(np.int64) << 20) + moves
            )
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

    def _draw(self, count: int) -> npt.NDArray[np.float64] | None:
        return self._generator.random(count) if self.sample else None

    def _choose(self, views: Views, draws: npt.NDArray[np.float64] | None) -> I32:
        legal, observation = views.legal, views.observation
        flat, offsets = legal.ids()
        count = len(offsets) - 1
        if count and int(np.diff(offsets).min()) < 1:
            raise ValueError("a decision without any legal move was asked of an agent")
        advice: Any = None
        if self._adviser is not None:
            rules, seats = views.engine.rules, views.seats
            found = self._adviser.advise(rules, views.state, seats, flat, offsets)
            there = found.ids >= 0
            flat, advice = found.ids[there], found.features[there]
            offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        ids = flat.astype(np.int64)
        chosen = np.zeros(count, dtype=np.int32)
        for start in range(0, count, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, count)
            part = slice(int(offsets[start]), int(offsets[stop]))
            chosen[start:stop] = self._forward(
                observation[start:stop],
                ids[part],
                offsets[start : stop + 1] - offsets[start],
                None if advice is None else advice[part],
                None if draws is None else draws[start:stop],
            )
        if self.card.idle == "pass":
            chosen[legal.idle()] = VERB_ID["pass"]
        return chosen

    @torch.inference_mode()
    def _forward(
        self,
        observation: npt.NDArray[np.int8],
        ids: I64,
        offsets: I64,
        advice: npt.NDArray[np.float16] | None,
        draws: npt.NDArray[np.float64] | None,
    ) -> I32:
        device = next(self.policy.parameters()).device
        flat = torch.tensor(ids, device=device)
        rows = offsets_to_rows(torch.tensor(offsets, device=device))
        count = len(offsets) - 1
        features = None if advice is None else torch.tensor(advice, device=device)
        logits = self.policy(torch.tensor(observation, device=device), rows, flat, features)
        if draws is None:
            place = segment_argmax(logits, rows, count)
        else:
            log_probs = segment_log_softmax(logits / self.card.temperature, rows, count)
            place = segment_sample(log_probs, rows, count, torch.tensor(draws, device=device))
        result: I32 = flat[place].to(torch.int32).cpu().numpy()
        return result
