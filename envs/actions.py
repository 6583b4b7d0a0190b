"""Action ids: one definition that counts, encodes and decodes every move of a game.

Ids are the same under every preset of a game; a preset masks what it lacks. They lie in named
blocks, the first of them the moves that are a word. A game's layout is a subclass that says what
the ids of its blocks mean, such as :class:`lupai.envs.baohuang.actions.BaohuangActions`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lupai.envs.errors import NotationError


@dataclass(frozen=True)
class ActionLayout:
    """Named blocks of action ids, each ``(name, number of ids)``.

    Attributes:
        verbs: the moves that are a word; ids 0, 1, … in this order.
        set_blocks: names of the blocks whose moves play cards, the last ones.
    """

    blocks: tuple[tuple[str, int], ...]

    verbs: ClassVar[tuple[str, ...]]
    set_blocks: ClassVar[tuple[str, ...]]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """First id of each block."""
        offsets, total = {}, 0
        for name, count in self.blocks:
            offsets[name] = total
            total += count
        return offsets

    @cached_property
    def size(self) -> int:
        """Number of ids, A."""
        return sum(count for _, count in self.blocks)

    @cached_property
    def verb_id(self) -> dict[str, int]:
        """Action id of each verb."""
        return {verb: action for action, verb in enumerate(self.verbs)}

    @cached_property
    def sets_from(self) -> int:
        """First id of a move that plays cards; all from there on do."""
        return min(self.offsets[name] for name in self.set_blocks)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Texts of all moves that play no cards, by id."""
        return tuple(self.text(action) for action in range(self.sets_from))

    @cached_property
    def hash(self) -> str:
        """16 hex digits over blocks, verbs and the parts of every set; changes when any id does."""
        words, parts = self._meaning()
        text = json.dumps([self.blocks, *words])
        return hashlib.sha256(text.encode() + parts.tobytes()).hexdigest()[:16]

    def _meaning(self) -> tuple[list[Any], npt.NDArray[Any]]:
        """All besides the blocks that says what an id is: words, and the parts of every set."""
        raise NotImplementedError

    def block_of(self, action: int) -> tuple[str, int]:
        """Name of the block and the place in it.

        Raises:
            NotationError: no such id.
        """
        if 0 <= action < self.size:
            for name, _count in reversed(self.blocks):
                if action >= self.offsets[name]:
                    return name, action - self.offsets[name]
        raise NotationError(f"action {action!r} is not in 0 … {self.size - 1}")

    def decode(self, action: int) -> Any:
        """Move of an id, in parts."""
        raise NotImplementedError

    def encode(self, move: Any) -> int:
        """Id of a move."""
        raise NotImplementedError

    def text(self, action: int) -> str:
        """Move of an id in the notation of the records, sets suit-free."""
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """Read a move text; the inverse of :meth:`text`.

        Raises:
            NotationError: unreadable; says what a move looks like.
        """
        raise NotImplementedError

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`features`."""
        raise NotImplementedError

    @cached_property
    def features(self) -> npt.NDArray[np.float32]:
        """``[A, F] float32``: what each id is, one-hots and counts (counts divided by 4)."""
        raise NotImplementedError

    @cached_property
    def ordinal(self) -> npt.NDArray[np.float32]:
        """``[A] float32``: the rank of what a move names as one number from 0 to 1."""
        raise NotImplementedError

    @cached_property
    def cards(self) -> npt.NDArray[np.float32]:
        """``[A, 15] float32``: cards of each rank that a move takes from the hand."""
        raise NotImplementedError
