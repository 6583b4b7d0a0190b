"""A recorded hand step by step: the table as dealt and after each move, open or from one seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lupai.envs.errors import RecordError
from lupai.envs.game import Game
from lupai.envs.records import check_end, engine_of, replay
from lupai.envs.view import View


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        number: 0 as dealt, else the number of the move that led here.
        move: that move as recorded (``"3 play 9c 9d B"``), None as dealt.
        public: the same as others saw it: a secret call is a call.
        state: WARNING, god's eye: the whole table of one after the move.
    """

    number: int
    move: str | None
    public: str | None
    state: Any


class Replay:
    """A record of :func:`~lupai.envs.records.load_record`, played through.

    A record that is no possible hand is played as far as it is one.

    Attributes:
        engine: its rules.
        players: names as they stand in the record, by nobody checked.
        steps: as dealt, and after each move.
        outcome: roles (where there are some), finish and scores as the moves give them; None unless
            the hand ended.
        fault: why the record is not possible, None if it is. WARNING: it may name hidden cards.

    Raises:
        RecordError: rules or deal that cannot be, so that there is nothing to see.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.engine: Game = engine_of(record)
        self.players: list[str] = list(record["players"])
        self.steps: list[Step] = []
        self.fault: str | None = None
        self.outcome: dict[str, Any] | None = None
        states = replay(record, self.engine)
        self._add(next(states), None)
        try:
            for move, state in zip(record["moves"], states, strict=False):
                self._add(state, move)
            for _ in states:  # so that the last move is asked for what follows it
                pass
            self._end(record)
        except RecordError as error:
            self.fault = str(error)

    def _add(self, state: Any, move: str | None) -> None:
        public = None
        if move is not None:
            seat, _, text = move.partition(" ")
            public = f"{seat} {self.engine.public_text(text)}"
        self.steps.append(Step(len(self.steps), move, public, state.take([0])))

    def _end(self, record: dict[str, Any]) -> None:
        last = self.steps[-1].state
        if not last.over[0]:
            raise RecordError(f"the record ends here, and seat {last.actor[0]} is asked")
        self.outcome = self.engine.outcome(last, 0)
        check_end(record, self.engine, bool(last.void[0]), self.outcome)

    def __len__(self) -> int:
        return len(self.steps)

    def view(self, number: int, seat: int) -> View:
        """What a seat knew at a step."""
        history = [step.public for step in self.steps[1 : number + 1] if step.public is not None]
        return View.of(self.engine, self.steps[number].state, seat, history)
