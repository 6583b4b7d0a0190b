"""Scores over all 120 finishing orders: against the oracle, the table of rules §6, S0's rhymes."""

import itertools

import numpy as np
import pytest

from lupai.envs.baohuang.scoring import final_scores
from lupai.envs.baohuang.state import Phase, Solo, State
from tests.oracle.qingdao import score

ORDERS = list(itertools.permutations(range(5)))
PAIRS = list(itertools.permutations(range(5), 2))


def ended(emperor: int, guard: int | None, solo: Solo, multiplier: int) -> State:
    """All 120 finishing orders as tables that are over."""
    state = State(len(ORDERS))
    state.phase = Phase.OVER
    state.emperor = emperor
    state.guard = -1 if guard is None else guard
    state.solo = solo
    state.multiplier = multiplier
    for table, order in enumerate(ORDERS):
        state.places[table, list(order)] = range(1, 6)
    return state


@pytest.mark.parametrize("multiplier", [1, 2])
@pytest.mark.parametrize(("emperor", "guard"), PAIRS)
def test_with_guard(emperor: int, guard: int, multiplier: int) -> None:
    scores = final_scores(ended(emperor, guard, Solo.NONE, multiplier))
    assert np.issubdtype(scores.dtype, np.integer)
    assert (scores.sum(axis=1) == 0).all()
    for order, row in zip(ORDERS, scores.tolist(), strict=True):
        assert row == score(emperor, guard, None, multiplier, list(order))
        camp = {order.index(emperor) + 1, order.index(guard) + 1}
        mine, his = row[emperor], row[guard]
        rebels = [row[seat] for seat in range(5) if seat not in (emperor, guard)]
        assert mine == 2 * his
        assert rebels == [-his] * 3
        assert mine == {  # 6/4/2/0/-2/-4/-6 by the pair of places, from S4's table of ten
            (1, 2): 6, (1, 3): 4, (1, 4): 2, (1, 5): 0, (2, 3): 2,
            (2, 4): 0, (2, 5): -2, (3, 4): -2, (3, 5): -4, (4, 5): -6,
        }[tuple(sorted(camp))] * multiplier  # type: ignore[index] # fmt: skip
        # S0's rhymes (附一)
        if 1 in camp:
            assert mine == 0 if 5 in camp else mine > 0
        elif camp == {2, 3}:
            assert mine > 0
        elif camp == {2, 4}:
            assert mine == 0
        else:  # 二科 with 大落, or neither 头科 nor 二科
            assert mine < 0


@pytest.mark.parametrize("emperor", range(5))
@pytest.mark.parametrize(
    ("solo", "by_place"),
    [
        (Solo.SECRET, (16, 4, 0, -4, -16)),
        (Solo.OPEN, (32, 8, 0, -8, -32)),
        (Solo.GRAB, (40, -40, -40, -40, -40)),
    ],
)
def test_alone(emperor: int, solo: Solo, by_place: tuple[int, ...]) -> None:
    scores = final_scores(ended(emperor, None, solo, 1))
    assert (scores.sum(axis=1) == 0).all()
    names = {Solo.SECRET: "secret", Solo.OPEN: "open", Solo.GRAB: "grab"}
    for order, row in zip(ORDERS, scores.tolist(), strict=True):
        mine = by_place[order.index(emperor)]
        assert row == [mine if seat == emperor else -mine // 4 for seat in range(5)]
        assert row == score(emperor, None, names[solo], 1, list(order))
        if solo is not Solo.GRAB:  # S0's rhymes (附二): 1st, 2nd win, 3rd draws, 4th, 5th lose
            assert np.sign(mine) == (1, 1, 0, -1, -1)[order.index(emperor)]


def test_many_kinds_of_hands_in_one_call() -> None:
    """Tables with a guard, alone, void and unfinished side by side: each as by itself."""
    parts = [
        ended(0, 3, Solo.NONE, 2),
        ended(1, None, Solo.GRAB, 1),
        ended(2, None, Solo.SECRET, 1),
        ended(-1, None, Solo.NONE, 1),  # type: ignore[arg-type]
        ended(4, 2, Solo.NONE, 1),
    ]
    parts[4].phase = Phase.PLAY
    mixed = State(5)
    for table, part in enumerate(parts):
        mixed.put([table], part.take([table * 20]))
    expected = [final_scores(part)[table * 20].tolist() for table, part in enumerate(parts)]
    assert final_scores(mixed).tolist() == expected
    assert expected[3] == expected[4] == [0] * 5
