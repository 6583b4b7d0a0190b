"""Many tables that wait for decisions of the learner: what a sampler plays on.

Everything that needs no decision of the learner is played here, for all tables at once, and a
finished hand is followed by the next deal of the stream. Without opponents all tables wait all the
time. With opponents they need not keep step, which would leave the last of them to be played one by
one: at least half of them wait, and the others are one move further at each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.network import pack_words
from lupai.envs.game import LegalMoves, make_game
from lupai.envs.view import Views
from lupai.train.games import DEFAULT, training_game
from lupai.train.league.lineups import Lineups

SKIPS: Final = ("none", "forced", "idle")
WORDS: Final = "legal_words"  # [N, K] int32, see lupai.agents.network.pack_words

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Finished:
    """A hand that ended.

    Attributes:
        table: where. scores: ``[S] int``. roles: ``[S]`` index into the game's roles of each seat.
        learner: ``[S] bool`` seats of the learner.
    """

    table: int
    scores: npt.NDArray[np.int64]
    roles: npt.NDArray[np.int8]
    learner: npt.NDArray[np.bool_]


class Tables:
    """B tables of one engine.

    Args:
        rules: rules string.
        skip: what is played unasked, see EnvConfig.
        key: ints that key the stream of deals; other keys give other deals.
        tables: B.
        lineups: opponents in some of the seats, who are answered for here; None: there are none.
        game: which game it is.

    Attributes:
        engine, game: of the tables.
        state: the B tables. legal: their legal moves, up to date where they wait.
        rows: ``[N]`` the tables that wait, ascending.
        waiting: the N tables that wait; ``state`` itself where all do.
    """

    def __init__(
        self,
        rules: str,
        skip: str,
        key: Sequence[int],
        tables: int,
        lineups: Lineups | None = None,
        game: str = DEFAULT,
    ) -> None:
        if skip not in SKIPS:
            raise ValueError(f"skip is {skip!r}; allowed: {', '.join(SKIPS)}")
        self.engine: Any = make_game(game, rules)
        self.game = training_game(game)
        self.skip = skip
        seeds = np.random.SeedSequence([int(k) for k in key])
        self._deals = np.random.Generator(np.random.PCG64(seeds))
        self.lineups = lineups
        self.state = self._deal(np.arange(tables))
        self.legal: LegalMoves = self.engine.no_moves(tables)
        self.rows: Ints = np.zeros(0, np.int64)
        self._waits = np.zeros(tables, np.bool_)
        ended = self._advance()
        del ended  # hands without a single decision, in odd small decks

    def __len__(self) -> int:
        return len(self.state)

    @property
    def seats(self) -> npt.NDArray[np.int64]:
        """``[N] int64`` seat that is asked at each table that waits."""
        return np.asarray(self.state.actor)[self.rows].astype(np.int64)

    def observe(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]:
        """``(observation [N, D] int8, legal moves as words [N, K] int32)`` of the asked seats."""
        return self.observation(), pack_words(*self.asked.ids())

    def observation(self) -> npt.NDArray[np.int8]:
        """``[N, D] int8`` of the asked seats."""
        return self.engine.observe(self.state, self.seats, self._asked[0])

    @property
    def asked(self) -> LegalMoves:
        """Legal moves of the N decisions that are waited for."""
        return self._asked[1]

    def views(self, some: Ints | None = None) -> Views:
        """What the asked seats see, for agents; ``some [n]`` of the N decisions, None: all."""
        seats, rows, legal = self.seats.astype(np.intp), self.rows, self.asked
        if some is not None:
            seats, rows, legal = seats[some], rows[some], legal.take(some)
        return Views(self.engine, self.state, seats, rows, legal=legal)

    def privileged(self, check: npt.ArrayLike | None = None) -> dict[str, npt.NDArray[Any]]:
        """WARNING, god's eye: columns ``[N, ...]`` of what only a learner may see of the asked
        seats' decisions; see :class:`lupai.train.games.TrainingGame`."""
        return self.game.learner_columns(self.engine, self.waiting, self.seats, check)

    def step(self, actions: Ints) -> list[Finished]:
        """Play a decision ``[N]`` at every table that waits and go on; hands that ended."""
        rows, legal = self._asked
        self.engine.step(self.state, actions, rows, legal=legal)
        self._waits[self.rows] = False
        return self._advance()

    def running(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """What :meth:`go_on` needs: arrays ``[B, ...]`` and JSON values. Line-ups are no part."""
        return self.state.arrays() | {"waits": self._waits}, {
            "deals": self._deals.bit_generator.state
        }

    def go_on(self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Play on where :meth:`running` was called, on as many tables under the same rules.

        Raises:
            ValueError: arrays of other shapes.
        """
        for name, there in {**self.state.arrays(), "waits": self._waits}.items():
            if there.shape != arrays[name].shape or there.dtype != arrays[name].dtype:
                raise ValueError(f"{name} is {arrays[name].shape}, here {there.shape}")
            there[...] = arrays[name]
        self._deals.bit_generator.state = values["deals"]
        rows = np.flatnonzero(self._waits)
        self.legal.put(rows, self.engine.legal(self.state, rows))
        self._wait()

    def _deal(self, rows: Ints) -> Any:
        """The next hands of the stream, seated for the tables ``rows``."""
        state = self.engine.reset(self._deals.integers(0, 1 << 63, len(rows), dtype=np.uint64))
        if self.lineups is not None:
            self.lineups.seat(self.engine, state, rows)
        return state

    def _advance(self) -> list[Finished]:
        finished: list[Finished] = []
        rows: Ints = np.flatnonzero(~self._waits)
        while len(rows):
            over = rows[np.asarray(self.state.over)[rows]]
            if len(over):
                finished += self._settle(over)
                self.state.put(over, self._deal(over))
            legal = self.engine.legal(self.state, rows)
            counts = legal.counts()
            if (counts == 0).any():
                seat = int(self.state.actor[rows[counts == 0][0]])
                raise RuntimeError(f"engine fault: seat {seat} has no legal move")
            forced, idle = self._unasked(legal, counts)
            moves = np.full(len(rows), self.engine.actions.verb_id["pass"])
            asked = ~(forced | idle)
            if self.lineups is not None:
                theirs = self.lineups.answer(self.engine, self.state, rows, legal, counts, moves)
                forced &= ~theirs
                asked &= ~theirs
            self.legal.put(rows[asked], legal.take(np.flatnonzero(asked)))
            self._waits[rows[asked]] = True
            unasked = np.flatnonzero(~asked)
            only = np.flatnonzero(forced)
            if len(only):
                moves[only] = legal.take(only).ids()[0]
            if len(unasked):
                part = legal.take(unasked)
                self.engine.step(self.state, moves[unasked], rows[unasked], legal=part)
            rows = rows[unasked]
            if self.lineups is not None and 2 * np.count_nonzero(self._waits) >= len(self):
                break
        self._wait()
        return finished

    def _wait(self) -> None:
        self.rows = np.flatnonzero(self._waits)
        # Tables that wait, None for all, which is faster; and the legal moves there.
        self._asked: tuple[Ints | None, LegalMoves] = (None, self.legal)
        self.waiting = self.state
        if len(self.rows) < len(self):
            self._asked = (self.rows, self.legal.take(self.rows))
            self.waiting = self.state.take(self.rows)

    def _unasked(
        self, legal: LegalMoves, counts: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        none = np.zeros(len(counts), dtype=np.bool_)
        if self.skip == "none":
            return none, none
        forced = counts == 1
        if self.skip == "forced":
            return forced, none
        return forced, legal.idle(counts)

    def _settle(self, rows: Ints) -> list[Finished]:
        part = self.state.take(rows)
        scores, roles = self.engine.scores(part), self.game.seat_roles(part)
        if scores.sum(axis=1).any():
            raise RuntimeError("engine fault: scores of a hand do not sum to zero")
        if self.lineups is None:
            learner = np.ones(scores.shape, np.bool_)
        else:
            self.lineups.settle(rows, scores)
            learner = self.lineups.learner[rows]
        return [Finished(int(row), scores[i], roles[i], learner[i]) for i, row in enumerate(rows)]
