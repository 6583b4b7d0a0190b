"""The state of many tables as a few arrays: base class of every game's state.

A game's state is a subclass that names its fields, in the order in which they are stored::

    class State(PackedTables):
        PLAY, OVER = 1, 2
        phase = Column[np.int16](0)  # a small number: a column of ``numbers``, with its first value
        actor = Column[np.int16](NOBODY)
        ...
        numbers: npt.NDArray[np.int16] = numbers(np.int16)
        hands: npt.NDArray[np.int8] = array(SEATS, NUM_KINDS)  # an array [B, SEATS, NUM_KINDS]
        recent: npt.NDArray[np.int16] = array(RECENT, 2, dtype=np.int16, fill=NOBODY)
        seeds: npt.NDArray[np.uint64] = array(2, dtype=np.uint64)

Small numbers share one array ``numbers [B, F]``, so that copying, taking and pickling tables
touches few arrays. ``state.phase`` is the ``[B]`` view of its column, and may be assigned to.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

RECENT: Final = 16  # moves that a state remembers; the whole history is the adapter's log

Word = TypeVar("Word", bound=np.integer[Any], covariant=True)


@lru_cache(maxsize=64)
def every(tables: int) -> npt.NDArray[np.intp]:
    """Numbers of all tables; always the same read-only array, by which :func:`rows` knows it."""
    t = np.arange(tables)
    t.setflags(write=False)
    return t


def rows(array: npt.NDArray[Any], t: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
    """Rows ``t`` of an array: the array itself where ``t`` is :func:`every`, else a copy."""
    return array if t is every(len(array)) else array[t]


class Column(Generic[Word]):
    """A named column of ``numbers``; columns lie in the order in which the class names them.

    Args:
        default: its value in a new state.
    """

    def __init__(self, default: int) -> None:
        self.default = default
        self.index = -1

    @overload
    def __get__(self, state: None, owner: type[PackedTables]) -> Self: ...
    @overload
    def __get__(
        self, state: PackedTables, owner: type[PackedTables]
    ) -> np.ndarray[tuple[Any, ...], np.dtype[Word]]: ...
    def __get__(self, state: PackedTables | None, owner: type[PackedTables]) -> Any:
        if state is None:
            return self
        return state.numbers[:, self.index]

    def __set__(self, state: PackedTables, value: Any) -> None:
        state.numbers[:, self.index] = value


class _Array:
    """What an array of a state is: its shape behind ``B``, dtype and first value."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike, fill: int) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.fill = fill

    def make(self, tables: int) -> npt.NDArray[Any]:
        shape = (tables, *self.shape)
        return np.full(shape, self.fill, self.dtype) if self.fill else np.zeros(shape, self.dtype)


class _Numbers(_Array):
    """The array of the columns."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        super().__init__((), dtype, 0)
        self.defaults: npt.NDArray[Any] = np.zeros(0, self.dtype)

    def make(self, tables: int) -> npt.NDArray[Any]:
        return np.tile(self.defaults, (tables, 1))


def array(*shape: int, dtype: npt.DTypeLike = np.int8, fill: int = 0) -> Any:
    """Declares an array ``[B, *shape]`` of a state, full of ``fill`` at the start."""
    return _Array(shape, dtype, fill)


def numbers(dtype: npt.DTypeLike) -> Any:
    """Declares the array of all columns; every state has one, as ``numbers``."""
    return _Numbers(dtype)


class PackedTables:
    """B tables; see the module on how a game declares its fields.

    Attributes:
        PLAY: number of the phase of play; phases before it have lower numbers.
        OVER: number of the phase in which a hand is over, the last.
        COLUMNS: (name, value in a new state) of each column, made from the declarations.
        COLUMN: number of each column by name.
        numbers: ``[B, F]``, its columns are named attributes of shape ``[B]``. Those below are
            the ones that engines and adapters use in every game.
        phase: whose answer to what is awaited.
        actor: seat to act, -1 when over.
        start: seat that got the first card.
        redeals: void deals before this one.
        injected: 1 where the deal was given; a void then ends the hand.
        void: 1 where the hand ended without being played.
        to_ask: seats still to be asked, as bits; see :mod:`lupai.envs.asking`.
        moves: decisions since the deal.
        hands: ``[B, S, 54] int8`` cards held by kind.
        ranks: ``[B, S, 15] int8`` the same by rank.
        sizes: ``[B, S] int8`` cards held.
        said: ``[B, S]`` public answers before play, as bits.
        places: ``[B, S] int8`` finishing place 1 … S, 0 while in.
        recent: ``[B, RECENT, 2]`` ring of (seat, public action id), slot = move number.
        seeds: ``[B, 2] uint64`` hand seed and episode seed.
    """

    PLAY: ClassVar[int]
    OVER: ClassVar[int]
    COLUMNS: ClassVar[tuple[tuple[str, int], ...]]
    COLUMN: ClassVar[dict[str, int]]
    _arrays: ClassVar[dict[str, _Array]]

    phase: Column[Any]
    actor: Column[Any]
    start: Column[Any]
    redeals: Column[Any]
    injected: Column[Any]
    void: Column[Any]
    to_ask: Column[Any]
    moves: Column[Any]

    numbers: npt.NDArray[Any]
    hands: npt.NDArray[np.int8]
    ranks: npt.NDArray[np.int8]
    sizes: npt.NDArray[np.int8]
    said: npt.NDArray[Any]
    places: npt.NDArray[np.int8]
    recent: npt.NDArray[Any]
    seeds: npt.NDArray[np.uint64]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        columns = {n: c for n, c in vars(cls).items() if isinstance(c, Column)}
        for index, column in enumerate(columns.values()):
            column.index = index
        cls.COLUMNS = tuple((name, column.default) for name, column in columns.items())
        cls.COLUMN = {name: column.index for name, column in columns.items()}
        cls._arrays = {n: a for n, a in vars(cls).items() if isinstance(a, _Array)}
        for name, declared in cls._arrays.items():
            if isinstance(declared, _Numbers):
                values = [value for _, value in cls.COLUMNS]
                declared.defaults = np.array(values, dtype=declared.dtype)
            delattr(cls, name)

    def __init__(self, tables: int) -> None:
        for name, declared in self._arrays.items():
            setattr(self, name, declared.make(tables))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """``[B] bool``: the hand has ended."""
        over: npt.NDArray[np.bool_] = self.phase == self.OVER
        return over

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it is made of, by name: the arrays themselves, no copies."""
        return {name: getattr(self, name) for name in self._arrays}

    def take(self, rows: npt.ArrayLike) -> Self:
        """New state with copies of some tables, in the given order."""
        index = np.asarray(rows, dtype=np.intp)
        new = type(self).__new__(type(self))
        for name in self._arrays:
            setattr(new, name, getattr(self, name)[index])
        return new

    def put(self, rows: npt.ArrayLike, other: Self) -> None:
        """Overwrite some tables with those of another state."""
        index = np.asarray(rows, dtype=np.intp)
        for name in self._arrays:
            getattr(self, name)[index] = getattr(other, name)

    def copy(self) -> Self:
        """Independent copy."""
        return self.take(np.arange(len(self)))

    def equals(self, other: Self) -> bool:
        """Whether all arrays are equal."""
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self._arrays)
