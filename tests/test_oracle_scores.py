"""The oracle's scores: rules/baohuang.md §6, S4's table and S0's rhymes."""

import itertools

import pytest

from tests.oracle.qingdao import score
from tests.oracle.scores import camp_is_out, possible_scores


@pytest.mark.parametrize(
    ("places", "multiplier", "emperor", "guard", "rebel"),
    # places of emperor and guard; T = v(e) + v(g): 2Tm, Tm, -Tm
    [
        ((1, 2), 1, 6, 3, -3),
        ((2, 1), 1, 6, 3, -3),
        ((1, 3), 1, 4, 2, -2),
        ((1, 4), 1, 2, 1, -1),
        ((5, 1), 1, 0, 0, 0),
        ((2, 3), 1, 2, 1, -1),
        ((2, 4), 1, 0, 0, 0),
        ((2, 5), 1, -2, -1, 1),
        ((3, 4), 1, -2, -1, 1),
        ((3, 5), 1, -4, -2, 2),
        ((5, 4), 1, -6, -3, 3),
        ((1, 2), 2, 12, 6, -6),
        ((4, 5), 2, -12, -6, 6),
        ((1, 5), 2, 0, 0, 0),
    ],
)
def test_scores_with_guard(
    places: tuple[int, int], multiplier: int, emperor: int, guard: int, rebel: int
) -> None:
    finish = [2, 3, 4]  # rebels; emperor is seat 0, guard seat 1
    for place, seat in sorted(zip(places, (0, 1), strict=True)):
        finish.insert(place - 1, seat)
    expected = [emperor, guard, rebel, rebel, rebel]
    assert score(0, 1, None, multiplier, finish) == expected


@pytest.mark.parametrize(
    ("solo", "by_place"),
    [
        ("secret", (16, 4, 0, -4, -16)),
        ("open", (32, 8, 0, -8, -32)),
        ("grab", (40, -40, -40, -40, -40)),
    ],
)
def test_scores_solo(solo: str, by_place: tuple[int, ...]) -> None:
    for place, value in enumerate(by_place):
        finish = [0, 1, 2, 4]
        finish.insert(place, 3)
        other = -value // 4
        assert score(3, None, solo, 1, finish) == [other, other, other, value, other]


def test_scores_sum_to_zero_and_follow_the_rhymes() -> None:
    for finish in itertools.permutations(range(5)):
        for m in (1, 2):
            scores = score(0, 1, None, m, list(finish))
            assert sum(scores) == 0
            camp = {finish.index(0) + 1, finish.index(1) + 1}
            if 1 in camp:
                assert (scores[0] > 0) == (5 not in camp)
                assert scores[0] >= 0
            elif 2 in camp:
                sign = {3: 1, 4: 0, 5: -1}[max(camp)]
                assert (scores[0] > 0) - (scores[0] < 0) == sign
            else:
                assert scores[0] < 0
        for solo in ("grab", "open", "secret"):
            assert sum(score(0, None, solo, 1, list(finish))) == 0


# ---- marks (威海)

# S4's ten pairs: places of emperor and guard (either way round), points of emperor, guard, rebel.
# S4 prints the ninth row as 三客/四客; it is 三客/五客 (§6).
S4 = [
    ((1, 2), (6, 3, -3)),
    ((1, 3), (4, 2, -2)),
    ((1, 4), (2, 1, -1)),
    ((1, 5), (0, 0, 0)),
    ((2, 3), (2, 1, -1)),
    ((2, 4), (0, 0, 0)),
    ((2, 5), (-2, -1, 1)),
    ((3, 4), (-2, -1, 1)),
    ((3, 5), (-4, -2, 2)),
    ((4, 5), (-6, -3, 3)),
]
# 扭: twice 明 or 反, 踢: twice that, "输赢的分数要由皇和保平均分担"
SHARED = {4: 4, 8: 8}


@pytest.mark.parametrize(("places", "points"), S4)
@pytest.mark.parametrize("multiplier", [1, 2, 4, 8])
@pytest.mark.parametrize("turned", [False, True])
def test_ten_pairs(
    places: tuple[int, int], points: tuple[int, int, int], multiplier: int, turned: bool
) -> None:
    emperor, guard, rebel = (value * multiplier for value in points)
    if multiplier in SHARED:
        emperor = guard = (emperor + guard) // 2
    seats = (3, 0) if turned else (0, 3)  # who of emperor 0 and guard 3 is first
    finish = [1, 2, 4]
    for place, seat in zip(places, seats, strict=True):
        finish.insert(place - 1, seat)
    expected = [emperor, rebel, rebel, guard, rebel]
    assert score(0, 3, None, multiplier, finish, "marks") == expected
    if multiplier <= 2:  # the same numbers as in Qingdao
        assert score(0, 3, None, multiplier, finish) == expected


@pytest.mark.parametrize(
    ("solo", "multiplier", "by_place"),
    [
        ("secret", 1, (12, 0, -12, -12, -12)),  # 暗度
        ("secret", 2, (24, 0, -24, -24, -24)),  # 暗度被反
        ("secret", 4, (48, 0, -48, -48, -48)),  # 暗度被反又被踢
        ("open", 1, (24, -24, -24, -24, -24)),  # 明度
        ("open", 2, (48, -48, -48, -48, -48)),  # 明度被踢
    ],
)
def test_marks_solo(solo: str, multiplier: int, by_place: tuple[int, ...]) -> None:
    for place, value in enumerate(by_place):
        finish = [0, 1, 2, 4]
        finish.insert(place, 3)
        other = -value // 4
        expected = [other, other, other, value, other]
        assert score(3, None, solo, multiplier, finish, "marks") == expected


# ---- ends


def test_possible_scores() -> None:
    assert len(possible_scores(0, None, "open", 1, [], "marks")) == 2
    assert possible_scores(0, None, "open", 1, [1], "marks") == {(-24, 6, 6, 6, 6)}
    assert len(possible_scores(0, None, "secret", 1, [1], "marks")) == 2
    assert possible_scores(0, None, "secret", 2, [1, 2], "marks") == {(-24, 6, 6, 6, 6)}
    # Emperor and guard are the last two: their order does not matter, before 扭 nor after.
    assert possible_scores(0, 1, None, 1, [2, 3, 4]) == {(-6, -3, 3, 3, 3)}
    assert possible_scores(0, 1, None, 4, [2, 3, 4], "marks") == {(-18, -18, 12, 12, 12)}
    assert len(possible_scores(0, 1, None, 1, [0, 2, 3])) == 2


def test_when_a_camp_is_out_the_scores_are_decided() -> None:
    for guard, solo in ((1, None), (None, "grab"), (None, "open"), (None, "secret")):
        for order in itertools.permutations(range(5)):
            for count in range(6):
                finish = list(order[:count])
                if camp_is_out(0, guard, finish):
                    for roles_by in ("called_card", "marks"):
                        if roles_by == "called_card" or solo != "grab":
                            assert len(possible_scores(0, guard, solo, 1, finish, roles_by)) == 1
