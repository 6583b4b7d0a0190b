"""Before the first lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.greedy import _cheapest
from lupai.envs.baohuang.rules import Rules


def choose(
    rules: Rules, state: Any, me: npt.NDArray[np.intp], ids, offsets
) -> npt.NDArray[np.int32]:
    return _cheapest(state, me, ids, offsets, rules.supreme)
