"""What every game of the suite offers to adapters, records, views and agents.

The adapters hold no rules and know no game: they are written against :class:`Game`. A new game is
an engine with these methods, named in :data:`GAMES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ActionLayout
from lupai.envs.errors import RulesError
from lupai.envs.layout import Layout
from lupai.envs.rules import GameRules

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
GAMES: Final = {  # a game more is a line more
    "baohuang": "lupai.envs.baohuang.engine:Engine",
    "gouji": "lupai.envs.gouji.engine:Engine",
}


class LegalMoves(Protocol):
    """Legal moves of one player at each of N tables."""

    def ids(self) -> tuple[npt.NDArray[np.int32], I64]:
        """``(flat [total], offsets [N + 1])``, ragged, never capped, ascending in each row."""

    def counts(self) -> I64:
        """``[N]``."""

    def idle(self, counts: I64 | None = None) -> npt.NDArray[np.bool_]:
        """``[N]``: passing is legal and nothing else that matters; ``counts`` is what
        :meth:`counts` gives, where the caller has it."""

    def dense(self) -> I8:
        """``[N, A]`` mask."""

    def pick(self, draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """``[N]``: of n ids of a row the one at ``int(draw * n)``, for draws ``[N]`` in [0, 1)."""

    def contains(self, actions: Any) -> npt.NDArray[np.bool_]:
        """``[N]``: is the one id given per table legal."""

    def take(self, rows: Any) -> Any:
        """Those of some of the tables."""

    def put(self, rows: Any, other: Any) -> None:
        """Overwrite those of some of the tables."""


class Tables(Protocol):
    """B tables of a game: what adapters read of a state."""

    @property
    def actor(self) -> npt.NDArray[np.int16]:
        """``[B]`` seat that is asked, -1 when over."""

    @property
    def phase(self) -> npt.NDArray[np.int16]:
        """``[B]`` number of the phase, see :attr:`Game.phases`."""

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """``[B]``."""

    @property
    def void(self) -> npt.NDArray[np.int16]:
        """``[B]`` 1 where the hand ended without being played."""

    @property
    def redeals(self) -> npt.NDArray[np.int16]:
        """``[B]`` void deals before this one."""

    @property
    def seeds(self) -> npt.NDArray[np.uint64]:
        """``[B, 2]`` hand seed, episode seed."""

    def take(self, rows: npt.ArrayLike) -> Any:
        """Copies of some tables."""

    def put(self, rows: npt.ArrayLike, other: Any) -> None:
        """Overwrite some tables."""

    def __len__(self) -> int: ...


class Game(Protocol):
    """A rules engine.

    What a game has in common with the others it inherits from
    :class:`~lupai.envs.engine.PackedEngine`, where methods are described; for an example see
    :class:`lupai.envs.baohuang.engine.Engine`.
    """

    rules: Any  # prints as the rules string; ``differing()`` is the dict of records

    # What the game is.
    @property
    def game(self) -> str:
        """Name, as in records and :data:`GAMES`."""

    @property
    def seats(self) -> int:
        """Number of seats S."""

    @property
    def phases(self) -> tuple[str, ...]:
        """Name of each phase by number."""

    @property
    def actions(self) -> ActionLayout:
        """Action ids, the same under all rules of the game."""

    @property
    def observation_layout(self) -> Layout:
        """Sections of :meth:`observe`."""

    @property
    def state_layout(self) -> Layout:
        """Sections of :meth:`state_vector`."""

    @property
    def public_ids(self) -> npt.NDArray[np.integer]:
        """``[A]`` what others see of each action."""

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """Top-level fields that this game's records have beside everybody's, with their types."""

    @property
    def reset_options(self) -> tuple[str, ...]:
        """Keywords that :meth:`reset` and :meth:`reset_hands` take beside those of every game."""

    # Dealing.
    def reset(self, seeds: Any, episodes: Any = 0) -> Any: ...
    def reset_hands(self, hands: list[str], start: int) -> Any: ...
    def differing_seat(self, deal: Any, other: Any, start: int) -> int | None: ...
    def reset_deals(self, codes: npt.NDArray[Any], starts: Any) -> Any: ...
    def dealt_codes(self, hand_seeds: Any, redeals: Any) -> tuple[npt.NDArray[Any], I8]: ...
    def dealt_hands(self, hand_seed: int, redeal: int = 0) -> tuple[list[str], int]: ...
    def parse_deal(self, hands: list[str], start: int) -> npt.NDArray[Any]: ...
    def can_be_void(self, hand_seed: int, redeal: int) -> bool: ...

    # Decisions.
    def legal(self, state: Any, tables: Any = None) -> Any: ...
    def no_moves(self, n: int) -> Any: ...
    def step(
        self, state: Any, actions: Any, tables: Any = None, cards: I8 | None = None,
        legal: Any = None,
    ) -> None: ...  # fmt: skip
    def copy_tables(self, state: Any, n: int, tables: Any = None) -> Any: ...

    # The end.
    def scores(self, state: Any) -> I64: ...
    def outcome(self, state: Any, table: int) -> dict[str, Any]: ...
    def outcomes(self, state: Any) -> list[dict[str, Any]]: ...
    def final_info(self, state: Any, table: int) -> dict[str, Any]: ...
    def final_infos(self, state: Any) -> list[dict[str, Any]]: ...

    # What is seen.
    def observe(self, state: Any, seats: Any, tables: Any = None, out: I8 | None = None) -> I8: ...
    def state_vector(self, state: Any, tables: Any = None) -> I8: ...
    def mask_hidden(self, state: Any, seats: Any, tables: Any = None) -> Any: ...
    def fill_hidden(self, masked: Any, seats: Any, hands: I8, marked_b: Any = None) -> Any: ...
    def determinize(
        self, state: Any, seats: Any, n: int, rng: np.random.Generator, tables: Any = None
    ) -> Any: ...

    # Text.
    def legal_texts(self, state: Any, table: int, legal: Any = None) -> list[str]: ...
    def move_text(self, state: Any, table: int, action: int) -> str: ...
    def action_of(self, state: Any, table: int, text: str) -> int: ...
    def hand_texts(self, state: Any, table: int, seat: int) -> list[str]: ...
    def explain_illegal(self, state: Any, table: int, action: int) -> str: ...
    def render(self, view: Any) -> str: ...
    def render_gods_eye(self, state: Any) -> str: ...

    # Records: moves with their very cards.
    def record_move(self, state: Any, table: int, action: int) -> tuple[str, str, I8]: ...
    def read_move(self, state: Any, table: int, text: str) -> tuple[int, I8]: ...
    def holds(self, state: Any, actions: Any, tables: Any, cards: I8) -> Any: ...
    def public_text(self, text: str) -> str: ...
    def stars(self, state: Any, tables: Any, actions: Any) -> Any: ...
    def named_kinds(self, state: Any, tables: Any, actions: Any) -> Any: ...
    def sets_of(self, cards: Any, stars: Any) -> I64: ...


def engine_class(name: str) -> Any:
    """Class of a game's engine; its module is read when it is asked for.

    Raises:
        RulesError: unknown game.
    """
    if name not in GAMES:
        raise RulesError(f"unknown game {name!r}; games: {', '.join(GAMES)}")
    module, _, engine = GAMES[name].partition(":")
    return getattr(import_module(module), engine)


def rules_class(name: str) -> type[GameRules]:
    """Class of a game's options.

    Raises:
        RulesError: unknown game.
    """
    found: type[GameRules] = engine_class(name).rules_class
    return found


def make_game(name: str, rules: Any) -> Game:
    """Engine of a game by name.

    Raises:
        RulesError: unknown game, options that the game refuses, or a preset of another game.
    """
    engine = engine_class(name)
    try:
        game: Game = engine(rules)
    except RulesError:
        preset = rules.partition(";")[0] if isinstance(rules, str) else None
        if (other := game_of_preset(preset)) in (None, name):
            raise
        raise RulesError(f"rules: {preset} is a preset of {other}, not of {name}") from None
    return game


def game_of_preset(preset: Any) -> str | None:
    """The game that has a preset of this name; None: no game has."""
    return next((name for name in GAMES if preset in rules_class(name).presets), None)
