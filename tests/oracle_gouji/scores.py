"""Places and scores (§4, §6, §7)."""

from collections.abc import Sequence

POINTS = {1: 4, 2: 2, 3: 0, 4: 0, 5: -2, 6: -4}
STRING_OF_THREE = 12  # 串三户


def places(
    finish: Sequence[int], revolter: int | None = None, failed: Sequence[int] = ()
) -> dict[int, int]:
    """Seat -> place 1..6. `finish`: seats in order of going out, the revolter not among them.

    `failed`: burners placed last, the first of them lowest. Seats named nowhere (an early end)
    share out the places left in seat order: they are of one side, so no score depends on it.
    """
    free = [1, 2, 3, 4, 5, 6] if revolter is None else [1, 2, 3, 5, 6]
    found: dict[int, int] = {}
    for seat in failed:
        found[seat] = free.pop()
    named = {*finish, *failed, revolter}
    for seat in [*(s for s in finish if s not in failed), *(s for s in range(6) if s not in named)]:
        found[seat] = free.pop(0)
    if revolter is not None:
        found[revolter] = 4
        if {found[(revolter + 2) % 6], found[(revolter + 4) % 6]} == {1, 2}:
            third = next(seat for seat, place in found.items() if place == 3)
            found[revolter], found[third] = 3, 4
    return found


def side_sum(place: dict[int, int]) -> int:
    """S of the even side, minus that of the odd side."""
    for side, sign in ((0, 1), (1, -1)):
        if {place[seat] for seat in range(side, 6, 2)} == {1, 2, 3}:
            return sign * STRING_OF_THREE
    return sum(POINTS[place[seat]] for seat in (0, 2, 4))


def scores_of(place: dict[int, int]) -> tuple[list[int], list[int]]:
    """(scores by seat, [even side's, odd side's recorded points])."""
    even = side_sum(place)
    return [even if seat % 2 == 0 else -even for seat in range(6)], [max(even, 0), max(-even, 0)]
