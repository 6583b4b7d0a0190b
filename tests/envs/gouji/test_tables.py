"""Gouji's lookup tables, each rebuilt by brute force."""

import numpy as np

from lupai.envs.gouji import tables
from lupai.envs.gouji.sets import NUM_SETS, PARTS, SIZE

COMBO = [(b, r) for b in range(5) for r in range(5)]


def test_menus_are_the_combos_of_a_hand_within_bounds() -> None:
    assert len(tables.MENU_OF) == 25 * 6 * 2 * 10
    key = 0
    for have_b, have_r in COMBO:
        for need in range(6):
            for least in (0, 1):
                for most in range(-1, 9):
                    fits = [
                        b <= have_b and need <= r <= have_r and least <= b + r <= most
                        for b, r in COMBO
                    ]
                    answer = tables.MENU_OF[key]
                    key += 1
                    for menu in (answer, answer + tables.LEAD):
                        word = int(tables.WORD[menu])
                        assert [word >> c & 1 == 1 for c in range(25)] == fits
                    assert answer & tables.LEAD == 0
                    assert tables.NOTHING[answer] == 0
                    assert tables.NOTHING[answer + 1] == fits[0]
    assert tables.WORD[tables.NO_MENU] == 0
    assert tables.MENU_OF.max() + 2 == tables.MENUS == len(tables.WORD)


def combos(menu: int) -> list[int]:
    return [c for c in range(25) if int(tables.WORD[menu]) >> c & 1]


def test_offsets_are_the_sets_with_equal_naturals() -> None:
    menus = [*range(0, tables.MENUS, 5), *range(4), *range(tables.MENUS - 4, tables.MENUS)]
    for menu in menus:
        for x in (*range(-16, 12), *range(12, 41, 4)):
            ways = [(t, c) for t in range(17) for c in combos(menu)]
            if not menu & tables.LEAD:
                ways = [(t, c) for t, c in ways if t + sum(COMBO[c]) == x]
            first = tables.FIRST_OFFSET[menu * tables.SPAN + 16 + x]
            found = tables.OFFSETS[first : first + len(ways)]
            assert found.tolist() == [t * 25 + c for t, c in ways]
    assert tables.JOKERS_OF.tolist() == [b + r for b, r in COMBO]


def test_sums_count_the_sets_of_a_row() -> None:
    """The closed form of the module, for some menus, against sets counted one by one."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        menu = int(rng.integers(tables.MENUS))
        size = 0 if menu & tables.LEAD else int(rng.integers(1, 41))
        n, twos = (int(v) for v in rng.integers(0, 17, 2))
        jokers = [sum(COMBO[c]) for c in combos(menu)]
        sets = [m + t + j for m in range(1, n + 1) for t in range(twos + 1) for j in jokers]
        expected = len(sets) if menu & tables.LEAD else sets.count(size)
        high = menu * tables.WIDTH + tables.ORIGIN + size - 1
        low = high - twos - 1
        summed = tables.SUMMED
        assert summed[high] - summed[high - n] - summed[low] + summed[low - n] == expected
        if not menu & tables.LEAD:
            for x in (-34, -1, 0, size, 40):
                within = tables.WITHIN[menu * tables.WIDTH + tables.ORIGIN + x]
                assert within == sum(j <= x for j in jokers)


def test_what_a_standing_set_asks_for() -> None:
    row, n, t, b, r = PARTS.astype(int).T
    assert tables.STANDING_SIZE.tolist() == [*SIZE.tolist(), 0]
    assert tables.STANDING_ROW.tolist() == [*row.tolist(), -1]
    assert tables.STANDING_NEEDS.tolist() == [*np.where(r > 0, 5, b).tolist(), 0]
    for standing in range(-1, 14):
        assert tables.ABOVE[standing].tolist() == [int(k > standing) for k in range(13)]
    facts = tables.FACTS.astype(int)
    assert facts.shape == (NUM_SETS, 5)
    assert np.array_equal(facts[:, 0], np.where(row == 13, 12, row))
    assert np.array_equal(facts[:, 1], np.select([row < 12, row == 12], [n, t], 0))
    assert np.array_equal(facts[:, 2:], np.stack([t, b * 5 + r, n + t + b + r], axis=1))
