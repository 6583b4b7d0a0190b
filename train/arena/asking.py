"""Asking an agent of whom nothing is known: many views at once, faults caught, time kept.

A decision is a fault if the agent names a move that is not legal, raises an error, or takes longer
than the limit. Then a legal move is played for it: the one with the lowest id (``lowest``), or any,
drawn by the lane (``random``). With ``strict`` the first fault ends the match instead.

A batch that fails is asked again view by view, so that one bad decision spoils no other. The time
of a batch is shared evenly. On the main thread of a Unix process an agent is interrupted when its
time is up; elsewhere its answer is thrown away when it comes.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from lupai.agents.base import Agent, BatchAgent, LaneAgent, ask
from lupai.agents.streams import lane_draws
from lupai.envs.cards import shorten
from lupai.envs.errors import IllegalMoveError, LupaiError, NotationError
from lupai.envs.view import Views
from lupai.train.arena.hands import EXAMPLES, FAULTS
from lupai.train.arena.plans import ArenaError

__all__ = ["FALLBACKS", "AgentFaultError", "Asker", "Fallback"]

Fallback = Literal["lowest", "random"]
FALLBACKS: Final = get_args(Fallback)
_ILLEGAL, _ERROR, _SLOW = range(len(FAULTS))
FALLBACK_SEED: Final = 0x66616C6C

I64 = npt.NDArray[np.int64]
ViewsOf = Callable[[I64], Views]


class AgentFaultError(ArenaError, ValueError):
    """A decision that an agent could not make, in a match that is strict."""


class _OutOfTime(BaseException):  # no Exception: an agent that catches those is stopped too
    pass


class Asker:
    """One agent at the tables of a match.

    Args:
        agent: any agent.
        label: its name in messages.
        limit: seconds for a decision; None: any.
        strict: whether the first fault ends the match.
        fallback: who decides after a fault.

    Attributes:
        decisions, seconds: how many were asked, and how long it took.
        faults: ``[3]`` how many were faults, by kind.
        examples: the first faults as text.
    """

    def __init__(
        self, agent: Agent, label: str, *, limit: float | None = None, strict: bool = False,
        fallback: Fallback = "lowest",
    ) -> None:  # fmt: skip
        self.agent, self.label = agent, label
        self._limit, self._strict, self._fallback = limit, strict, fallback
        self.reads_history = not isinstance(agent, BatchAgent)
        self.has_lanes = isinstance(agent, LaneAgent)
        self.start()

    def start(self, seed: int | None = None) -> None:
        """Begin a part of a match: the agent's streams and all counts anew."""
        if seed is not None:
            self.agent.reset(seed)
        self.decisions, self.seconds = 0, 0.0
        self.faults = np.zeros(len(FAULTS), np.int64)
        self.examples: list[str] = []

    def choose(self, views: Views, lanes: I64, views_of: ViewsOf, where: Any) -> I64:
        """Legal action ids ``[N]``.

        Args:
            views: decisions.
            lanes: ``[N]`` their streams.
            views_of: makes views of some of them anew, by their numbers.
            where: text for a number, which says where in the match it is.

        Raises:
            AgentFaultError: a fault in a strict match.
        """
        before, count = time.perf_counter(), len(views)
        try:
            if self.reads_history:
                return self._one_by_one(np.arange(count), lanes, views_of, where)
            chosen = self._batch(views, lanes)
            if chosen is None:
                return self._one_by_one(np.arange(count), lanes, views_of, where)
        finally:
            self.seconds += time.perf_counter() - before
            self.decisions += count
        if self._limit is not None and time.perf_counter() - before > self._limit * count:
            took = (time.perf_counter() - before) / count
            why = f"took {took:.3g} s of {self._limit:g} s"
            return self._fall(views, lanes, np.arange(count), _SLOW, why, where)
        legal = views.legal.contains(chosen)
        if not legal.all():
            wrong = np.flatnonzero(~legal)
            first = views[int(wrong[0])]
            why = (
                f"played action {int(chosen[wrong[0]])}, which is not legal; legal: "
                f"{', '.join(first.legal[:8])}"
            )
            some = Views(views.engine, views.state, views.seats[wrong], wrong)
            chosen[wrong] = self._fall(some, lanes[wrong], wrong, _ILLEGAL, why, where)
        return chosen

    def _batch(self, views: Views, lanes: I64) -> I64 | None:
        """All answers at once; None if that failed."""
        limit = None if self._limit is None else self._limit * len(views)
        try:
            with _alarm(limit):
                chosen = np.asarray(ask(self.agent, views, lanes))
        except _OutOfTime:
            return None if len(views) > 1 else np.full(1, -1, np.int64)
        except Exception as error:
            _reraise(error)
            return None
        if chosen.shape != (len(views),) or chosen.dtype.kind not in "iu":
            return None
        return chosen.astype(np.int64)

    def _one_by_one(self, rows: I64, lanes: I64, views_of: ViewsOf, where: Any) -> I64:
        chosen = np.zeros(len(rows), np.int64)
        for i in rows.tolist():
            views, before = views_of(rows[i : i + 1]), time.perf_counter()
            kind, why = _ERROR, ""
            try:
                with _alarm(self._limit):
                    answer = np.asarray(ask(self.agent, views, lanes[i : i + 1]))
                if answer.shape != (1,) or answer.dtype.kind not in "iu":
                    why = f"gave an array {answer.shape} {answer.dtype} for 1 view"
                elif not views.legal.contains(answer)[0]:
                    kind, why = _ILLEGAL, f"played action {int(answer[0])}, which is not legal"
                else:
                    chosen[i] = answer[0]
            except _OutOfTime:
                kind, why = _SLOW, f"was stopped after {self._limit:g} s"
            except Exception as error:
                _reraise(error)
                illegal = isinstance(error, IllegalMoveError | NotationError)
                kind = _ILLEGAL if illegal else _ERROR
                why = str(error) if illegal else f"{type(error).__name__}: {error}"
            took = time.perf_counter() - before
            if not why and self._limit is not None and took > self._limit:
                kind, why = _SLOW, f"took {took:.3g} s of {self._limit:g} s"
            if why:
                one = rows[i : i + 1]
                chosen[i] = self._fall(views, lanes[i : i + 1], one, kind, why, where)[0]
        return chosen

    def _fall(self, views: Views, lanes: I64, numbers: I64, kind: int, why: str, where: Any) -> I64:
        """Count faults and decide in the agent's place."""
        text = f"agent {self.label!r}, {where(int(numbers[0]))}: {shorten(why, 400)}"
        if self._strict:
            raise AgentFaultError(text)
        self.faults[kind] += len(views)
        if len(self.examples) < EXAMPLES:
            self.examples.append(text)
        ids, offsets = views.legal.ids()
        place = np.zeros(len(views), np.int64)
        if self._fallback == "random":
            draws = lane_draws(FALLBACK_SEED, lanes, views.state.moves.astype(np.int64))
            place = (draws * np.diff(offsets)).astype(np.int64)
        return ids[offsets[:-1] + place].astype(np.int64)


def _reraise(error: Exception) -> None:
    """Errors that are no fault of a decision: wrong rules, missing files, no memory."""
    illegal = isinstance(error, IllegalMoveError | NotationError)
    if (isinstance(error, LupaiError) and not illegal) or isinstance(error, MemoryError):
        raise error


@contextmanager
def _alarm(limit: float | None) -> Iterator[None]:
    """Stop what runs inside after some seconds, where the system can."""
    can = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if limit is None or not can:
        yield
        return

    over = False

    def stop(number: int, frame: Any) -> None:
        if not over:
            raise _OutOfTime

    before = time.monotonic()
    handler = signal.signal(signal.SIGALRM, stop)
    # again and again: an agent may swallow the first
    left, interval = signal.setitimer(signal.ITIMER_REAL, limit, max(limit, 0.05))
    try:
        try:
            yield
        finally:
            over = True  # an alarm in the last moment may still come: then what follows is next
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:  # somebody else's alarm goes on
            spent = time.monotonic() - before
            signal.setitimer(signal.ITIMER_REAL, max(left - spent, 1e-3), interval)
