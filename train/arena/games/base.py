"""The interface between the arena, which knows no game, and a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lupai.envs.game import Game
from lupai.train.arena.measures import Ratios, Side

__all__ = ["PLAYERS", "ArenaGame", "Camps", "Restriction", "Table", "Watch"]

SEATS_AXIS: Final = "score in each seat, 95 %"
PLACES_AXIS: Final = "% of hands in each finishing place"
PLAYERS: Final = "players"  # who plays what comes before the first lead, if no caller does

Bools = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]
Step = Callable[[I64, I64, Any], None]  # action ids, table numbers, their legal moves


@dataclass(frozen=True)
class Camps:
    """The two camps of a hand, and the formats in which a player plays a whole one.

    Attributes:
        first, second: the player plays all members of the first camp, of the second.
        both: both of these on the same deals, and the mean of the two.
        plural: of the word for a camp.
        names: of the two camps.
        share: what the sum of the members' scores is divided by to get the score of a camp.
        score: what that is, in words.
        calling: who plays what comes before the first lead there.
    """

    first: str
    second: str
    both: str
    plural: str
    names: tuple[str, str]
    share: int
    score: str
    calling: str = PLAYERS

    @property
    def halves(self) -> tuple[str, str]:
        """The two formats of one camp each."""
        return self.first, self.second


@dataclass(frozen=True)
class Restriction:
    """What all deals of a pack may have in common at the first lead.

    Attributes:
        text: in words.
        calling: the caller that makes them so, and plays in the match too; or the players.
        fits: ``[B]`` which of the tables of an engine are so; tables as the caller leaves them,
            or as dealt if the players call.
    """

    text: str
    calling: str
    fits: Callable[[Game, Any], Bools]


@dataclass(frozen=True)
class Table:
    """A table of the report: one group of the numbers of each match.

    Attributes:
        title: heading.
        group: key of the group in a match.
        kind: ``scores`` with intervals; ``results``: won, drawn, lost by camp; ``shares`` in
            percent.
        keys: of the group: columns for ``scores``, parts of the plot for ``shares``.
        axis: label of the plot's axis; "": no plot.
        means: keys of ``shares`` that are no shares but mean numbers.
        digits: of those, after the point.
    """

    title: str
    group: str
    kind: Literal["scores", "results", "shares"]
    keys: tuple[str, ...] = ()
    axis: str = ""
    means: tuple[str, ...] = ()
    digits: int = 1


class Watch:
    """What is kept of hands while they are played, and columns of the state at their end.

    Args:
        engine: the rules.
        state: H tables as dealt.
    """

    def __init__(self, engine: Game, state: Any) -> None:
        self.engine, self.state = engine, state

    def before(self, actions: I64, rows: I64) -> Any:
        """Look at tables ``rows [N]`` before they play actions ``[N]``; what is returned goes to
        :meth:`after`."""

    def after(self, rows: I64, seen: Any) -> None:
        """Look at them afterwards."""

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays ``[H, …]`` by name, when all hands are over."""
        return {}


@dataclass(frozen=True)
class ArenaGame:
    """A game as the arena sees it.

    Attributes:
        name: of the game, as its engine has it.
        seats: of a table.
        camps: see there.
        tables: of the report; a match has one group of numbers for each, in this order.
        notes: a sentence below the tables.
        watch: what is kept of hands; its columns are attributes of
            :class:`~lupai.train.arena.hands.Hands`.
        callings: callers that :meth:`call` knows.
        only: restrictions of packs, by name.
        situations: ratings that join the first camp, one for each value of :meth:`situation`.
    """

    name: str
    seats: int
    camps: Camps
    tables: tuple[Table, ...]
    notes: str
    watch: Callable[[Game, Any], Watch]
    callings: tuple[str, ...] = ()
    only: Mapping[str, Restriction] = field(default_factory=dict)
    situations: tuple[str, ...] = ()

    def first_camp(self, tables: Any) -> Bools:
        """``[H, S]``: which seats are the first camp; of :class:`Hands` or a state after the
        calls."""
        raise NotImplementedError

    def played(self, hands: Any) -> Bools:
        """``[H]``: which hands were played, and not void to the end."""
        raise NotImplementedError

    def situation(self, hands: Any) -> I64:
        """``[H]`` index of :attr:`situations`."""
        raise NotImplementedError

    def call(self, engine: Game, state: Any, calling: str, step: Step | None = None) -> None:
        """Let one of :attr:`callings` play all tables up to the first lead, in place."""
        raise NotImplementedError

    def count(self, ratios: Ratios, side: Side, *, bids: bool) -> None:
        """Add the ratios of all groups of :attr:`tables`.

        Args:
            ratios: to add to.
            side: whose.
            bids: whether the players themselves played what comes before the first lead.
        """
        raise NotImplementedError
