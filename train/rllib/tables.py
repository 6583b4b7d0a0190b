"""Many tables that always wait for a decision: what a sampler plays on.

Everything that needs no decision is played here, for all tables at once, and a finished hand is
followed by the next deal of the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.network import pack_legal
from lupai.envs.actions import ACTIONS, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.legal import Legal, verb_mask
from lupai.train.privileged import learner_infos

SKIPS: Final = ("none", "forced", "idle")
ROLES: Final = ("none", "emperor", "guard", "rebel", "solo")
_IDLE: Final = verb_mask("pass", "yield", "claim")
_PASS: Final = verb_mask("pass")

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Finished:
    """A hand that ended.

    Attributes:
        table: where. scores: ``[5] int``. roles: ``[5]`` index into ROLES of each seat.
    """

    table: int
    scores: npt.NDArray[np.int64]
    roles: npt.NDArray[np.int8]


class Tables:
    """B tables of one engine.

    Args:
        rules: rules string.
        skip: what is played unasked, see EnvConfig.
        key: ints that key the stream of deals; other keys give other deals.
        tables: B.
    """

    def __init__(self, rules: str, skip: str, key: Sequence[int], tables: int) -> None:
        if skip not in SKIPS:
            raise ValueError(f"skip is {skip!r}; allowed: {', '.join(SKIPS)}")
        self.engine = Engine(rules)
        self.skip = skip
        seeds = np.random.SeedSequence([int(k) for k in key])
        self._deals = np.random.Generator(np.random.PCG64(seeds))
        self.state = self.engine.reset(self._draw(tables))
        self.legal = Legal.empty(tables)
        ended = self._advance(np.arange(tables))
        del ended  # hands without a single decision, in odd small decks

    def __len__(self) -> int:
        return len(self.state)

    @property
    def seats(self) -> npt.NDArray[np.int64]:
        """``[B] int64`` seat to act at each table."""
        return np.asarray(self.state.actor).astype(np.int64)

    def observe(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]:
        """``(observation [B, D] int8, packed legal moves [B, W] uint8)`` of the acting seats."""
        ids, offsets = self.legal.ids()
        return self.engine.observe(self.state, self.seats), pack_legal(ids, offsets, ACTIONS.size)

    def infos(self, check: npt.ArrayLike | None = None) -> list[dict[str, Any]]:
        """WARNING, god's eye: what only a learner may see of each decision, ``B`` dicts; see
        :func:`lupai.train.privileged.learner_infos`."""
        return learner_infos(self.engine, self.state, self.seats, check)

    def step(self, actions: Ints) -> list[Finished]:
        """Play one decision ``[B]`` at every table and go on to the next; hands that ended."""
        self.engine.step(self.state, actions, legal=self.legal)
        return self._advance(np.arange(len(self)))

    def _draw(self, count: int) -> npt.NDArray[np.uint64]:
        return self._deals.integers(0, 1 << 63, size=count, dtype=np.uint64)

    def _advance(self, rows: Ints) -> list[Finished]:
        finished: list[Finished] = []
        while len(rows):
            over = rows[np.asarray(self.state.over)[rows]]
            if len(over):
                finished += self._settle(over)
                self.state.put(over, self.engine.reset(self._draw(len(over))))
            legal = self.engine.legal(self.state, rows)
            counts = legal.counts()
            if (counts == 0).any():
                seat = int(self.state.actor[rows[counts == 0][0]])
                raise RuntimeError(f"engine fault: seat {seat} has no legal move")
            forced, idle = self._unasked(legal, counts)
            asked = ~(forced | idle)
            self.legal.put(rows[asked], legal.take(np.flatnonzero(asked)))
            unasked = np.flatnonzero(~asked)
            moves = np.full(len(rows), VERB_ID["pass"])
            only = np.flatnonzero(forced)
            if len(only):
                moves[only] = legal.take(only).ids()[0]
            if len(unasked):
                part = legal.take(unasked)
                self.engine.step(self.state, moves[unasked], rows[unasked], legal=part)
            rows = rows[unasked]
        return finished

    def _unasked(
        self, legal: Legal, counts: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        none = np.zeros(len(counts), dtype=np.bool_)
        if self.skip == "none":
            return none, none
        forced = counts == 1
        if self.skip == "forced":
            return forced, none
        words = np.bitwise_count(legal.verbs & _IDLE)
        return forced, (counts == words) & (legal.verbs & _PASS != 0)

    def _settle(self, rows: Ints) -> list[Finished]:
        part = self.state.take(rows)
        scores, roles = self.engine.scores(part), seat_roles(part)
        if scores.sum(axis=1).any():
            raise RuntimeError("engine fault: scores of a hand do not sum to zero")
        return [Finished(int(row), scores[i], roles[i]) for i, row in enumerate(rows)]


def seat_roles(state: Any) -> npt.NDArray[np.int8]:
    """``[B, 5] int8`` index into ROLES of every seat; the referee's knowledge, not a seat's."""
    seats = np.arange(5)
    roles = np.full((len(state), 5), ROLES.index("rebel"), dtype=np.int8)
    emperor, guard = np.asarray(state.emperor)[:, None], np.asarray(state.guard)[:, None]
    alone = np.asarray(state.solo)[:, None] != 0
    roles[seats == guard] = ROLES.index("guard")
    roles[(seats == emperor) & ~alone] = ROLES.index("emperor")
    roles[(seats == emperor) & alone] = ROLES.index("solo")
    roles[np.broadcast_to(emperor < 0, roles.shape)] = ROLES.index("none")
    return roles
