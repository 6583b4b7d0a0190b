"""Scores (rules/baohuang.md §6), and when a hand ends (§5 "End")."""

from itertools import permutations

from .sets import OracleError

PLACE_VALUE = (2, 1, 0, -1, -2)  # §6, places 1..5
SECRET_VALUE = (16, 4, 0, -4, -16)
MARKS_SECRET_VALUE = (12, 0, -12, -12, -12)
MARKS_OPEN_VALUE = (24, -24, -24, -24, -24)


def score(
    emperor: int,
    guard: int | None,
    solo: str | None,
    multiplier: int,
    finish: list[int],
    roles_by: str = "called_card",
) -> list[int]:
    """Scores by seat for a complete finishing order.

    `multiplier` is m of §6, with marks also the ×2 and ×4 of a solo; the
    doubling of called_card's 明独 is in its own table.
    """
    if sorted(finish) != [0, 1, 2, 3, 4]:
        raise OracleError(f"not a finishing order of five seats: {finish}")
    place = finish.index(emperor)
    if guard is not None:
        total = (PLACE_VALUE[place] + PLACE_VALUE[finish.index(guard)]) * multiplier
        crown, helper = 2 * total, total
        if roles_by == "marks" and multiplier >= 4:  # 扭 and 踢: shared equally
            crown = helper = 3 * total // 2
        return [
            crown if seat == emperor else helper if seat == guard else -total for seat in range(5)
        ]
    if roles_by == "marks":
        table = MARKS_SECRET_VALUE if solo == "secret" else MARKS_OPEN_VALUE
        mine = table[place] * multiplier
    elif solo == "grab":
        mine = 40 if place == 0 else -40
    elif solo == "open":
        mine = 2 * SECRET_VALUE[place]
    else:
        mine = SECRET_VALUE[place]
    return [mine if seat == emperor else -mine // 4 for seat in range(5)]


def possible_scores(
    emperor: int,
    guard: int | None,
    solo: str | None,
    multiplier: int,
    finish: list[int],
    roles_by: str = "called_card",
) -> set[tuple[int, ...]]:
    """The scores of every order in which the remaining players could still finish."""
    left = [seat for seat in range(5) if seat not in finish]
    return {
        tuple(score(emperor, guard, solo, multiplier, [*finish, *rest], roles_by))
        for rest in permutations(left)
    }


def camp_is_out(emperor: int, guard: int | None, finish: list[int]) -> bool:
    """Whether every member of one camp is out, one-member camps included."""
    crown_camp = [emperor] if guard is None else [emperor, guard]
    rebels = [seat for seat in range(5) if seat not in crown_camp]
    return any(all(seat in finish for seat in camp) for camp in (crown_camp, rebels))
