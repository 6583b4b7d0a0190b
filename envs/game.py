"""What every game of the suite offers to adapters, records, views and agents.

The adapters hold no rules and know no game: they are written against :class:`Game`. A new game is
an engine with these methods, named in :func:`make_game`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lupai.envs.actions import ActionLayout
from lupai.envs.errors import RulesError
from lupai.envs.layout import Layout

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
GAMES = ("baohuang",)


class LegalMoves(Protocol):
    """Legal moves of one player at each of N tables."""

    def ids(self) -> tuple[npt.NDArray[np.int32], I64]:
        """``(flat [total], offsets [N + 1])``, ragged, never capped, ascending in each row."""

    def counts(self) -> I64:
        """``[N]``."""

    def idle(self) -> npt.NDArray[np.bool_]:
        """``[N]``: passing is legal and nothing else that matters."""

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
    """A rules engine; see :class:`lupai.envs.baohuang.engine.Engine` for the meanings."""

    @property
    def game(self) -> str: ...
    @property
    def seats(self) -> int: ...
    @property
    def phases(self) -> tuple[str, ...]: ...
    @property
    def actions(self) -> ActionLayout: ...
    @property
    def observation_layout(self) -> Layout: ...
    @property
    def state_layout(self) -> Layout: ...

    rules: Any

    def reset(self, seeds: Any, episodes: Any = 0) -> Any: ...
    def reset_hands(self, hands: list[str], start: int) -> Any: ...
    def reset_deals(self, codes: I8, starts: Any) -> Any: ...
    def dealt_codes(self, hand_seeds: Any, redeals: Any) -> tuple[I8, I8]: ...
    def dealt_hands(self, hand_seed: int, redeal: int = 0) -> tuple[list[str], int]: ...
    def parse_deal(self, hands: list[str], start: int) -> I8: ...
    def can_be_void(self, hand_seed: int, redeal: int) -> bool: ...
    def legal(self, state: Any, tables: Any = None) -> Any: ...
    def step(
        self, state: Any, actions: Any, tables: Any = None, cards: I8 | None = None,
        legal: Any = None,
    ) -> None: ...  # fmt: skip
    def scores(self, state: Any) -> I64: ...
    def outcome(self, state: Any, table: int) -> dict[str, Any]: ...
    def outcomes(self, state: Any) -> list[dict[str, Any]]: ...
    def final_info(self, state: Any, table: int) -> dict[str, Any]: ...
    def final_infos(self, state: Any) -> list[dict[str, Any]]: ...
    def observe(self, state: Any, seats: Any, tables: Any = None, out: I8 | None = None) -> I8: ...
    def state_vector(self, state: Any, tables: Any = None) -> I8: ...
    def mask_hidden(self, state: Any, seats: Any, tables: Any = None) -> Any: ...
    def fill_hidden(self, masked: Any, seats: Any, hands: I8, marked_b: Any = None) -> Any: ...
    def copy_tables(self, state: Any, n: int, tables: Any = None) -> Any: ...
    def determinize(
        self, state: Any, seats: Any, n: int, rng: np.random.Generator, tables: Any = None
    ) -> Any: ...
    def legal_texts(self, state: Any, table: int, legal: Any = None) -> list[str]: ...
    def move_text(self, state: Any, table: int, action: int) -> str: ...
    def action_of(self, state: Any, table: int, text: str) -> int: ...
    def hand_texts(self, state: Any, table: int, seat: int) -> list[str]: ...
    def record_move(self, state: Any, table: int, action: int) -> tuple[str, str, I8]: ...
    def read_move(self, state: Any, table: int, text: str) -> tuple[int, I8]: ...
    def holds(self, state: Any, actions: Any, tables: Any, cards: I8) -> Any: ...
    def explain_illegal(self, state: Any, table: int, action: int) -> str: ...
    def render(self, view: Any) -> str: ...
    def render_gods_eye(self, state: Any) -> str: ...


def make_game(name: str, rules: Any) -> Game:
    """Engine of a game by name.

    Raises:
        RulesError: unknown game, or options that the game refuses.
    """
    if name == "baohuang":
        from lupai.envs.baohuang.engine import Engine

        return Engine(rules)
    raise RulesError(f"unknown game {name!r}; games: {', '.join(GAMES)}")
