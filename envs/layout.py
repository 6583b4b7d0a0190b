"""A flat vector made of named sections; offsets, length, scale and hash follow from the list."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Section:
    """One block of the vector.

    Attributes:
        name: unique name.
        shape: shape of the block, stored in C order.
        meaning: what it says, for the docs.
        high: largest value an entry may take.
        low: smallest value.
        axes: what each axis of ``shape`` counts, for the docs.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    high: int = 1
    low: int = 0
    axes: str = ""

    @property
    def length(self) -> int:
        """Number of entries."""
        return prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """Sections in order; ``version`` rises when meanings change under the same shapes."""

    name: str
    version: int
    sections: tuple[Section, ...]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """First entry of each section."""
        offsets, total = {}, 0
        for section in self.sections:
            offsets[section.name] = total
            total += section.length
        return offsets

    @cached_property
    def by_name(self) -> dict[str, Section]:
        """Sections by name."""
        return {section.name: section for section in self.sections}

    @cached_property
    def size(self) -> int:
        """Length of the vector."""
        return sum(section.length for section in self.sections)

    @cached_property
    def hash(self) -> str:
        """16 hex digits over name, version and sections (meanings left out)."""
        parts = [[s.name, s.shape, s.low, s.high] for s in self.sections]
        text = json.dumps([self.name, self.version, parts])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def low(self) -> npt.NDArray[np.int8]:
        """``[size] int8`` smallest values."""
        return np.concatenate([np.full(s.length, s.low, np.int8) for s in self.sections])

    @cached_property
    def high(self) -> npt.NDArray[np.int8]:
        """``[size] int8`` largest values."""
        return np.concatenate([np.full(s.length, s.high, np.int8) for s in self.sections])

    @cached_property
    def scale(self) -> npt.NDArray[np.float32]:
        """``[size] float32``: factor that brings every entry to about -1 … 1."""
        largest = np.maximum(np.abs(self.low.astype(np.float32)), self.high)
        return (1 / np.maximum(largest, 1)).astype(np.float32)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Place of each section in the vector."""
        at = self.offsets
        return {s.name: slice(at[s.name], at[s.name] + s.length) for s in self.sections}

    def slice(self, name: str) -> slice:
        """Place of one section in the vector."""
        return self.slices[name]

    def section(self, vector: npt.NDArray[np.int8], name: str) -> npt.NDArray[np.int8]:
        """View ``[..., *shape]`` of a section in vectors ``[..., size]``."""
        part = vector[..., self.slice(name)]
        return part.reshape(*vector.shape[:-1], *self.by_name[name].shape)

    def split(self, vector: npt.NDArray[np.int8]) -> dict[str, npt.NDArray[np.int8]]:
        """All sections by name."""
        return {s.name: self.section(vector, s.name) for s in self.sections}
