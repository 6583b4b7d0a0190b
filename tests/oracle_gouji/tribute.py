"""进贡 and 还贡 before the hand (§8)."""

from collections import Counter
from collections.abc import Sequence

from .sets import RANKS, Cards, OracleError, take_away

TRIBUTE = "RB2"  # high to low


def duties(previous_finish: Sequence[int]) -> list[tuple[int, int, int]]:
    """(giver, receiver, number of cards), in the order of the receivers' places."""
    if sorted(previous_finish) != [0, 1, 2, 3, 4, 5]:
        raise OracleError(f"previous_finish names each seat once, not {list(previous_finish)}")
    first = previous_finish[:3]
    if len({seat % 2 for seat in first}) == 1:  # 串三户
        return [((seat + 3) % 6, seat, 1) for seat in first]
    return [
        (previous_finish[5], previous_finish[0], 2),
        (previous_finish[4], previous_finish[1], 1),
    ]


class Tribute:
    """The cards are given at once; then `question`, `legal` and `answer` make the returns."""

    def __init__(
        self, hands: list[Cards], previous_finish: Sequence[int], events: Counter[str]
    ) -> None:
        self.hands, self.events = hands, events
        self.returns: list[tuple[int, int]] = []  # (receiver, giver), one entry a card
        self.refused: set[str] = set()  # ranks refused for the present return
        self.offered: str | None = None
        self.must_take = False  # every rank was refused
        wanted = duties(previous_finish)
        if len(wanted) == 3:
            events["tribute: after a string of three"] += 1
        for giver, receiver, number in wanted:
            if giver % 2 == receiver % 2:
                events["tribute: none inside a side"] += 1
                continue
            cards = "".join(rank * hands[giver].get(rank, 0) for rank in TRIBUTE)[:number]
            name = "in full" if len(cards) == number else "in part" if cards else "none for lack"
            events[f"tribute: {name}"] += 1
            hands[giver] = take_away(hands[giver], cards)
            for rank in cards:
                self._give(receiver, rank)
            self.returns += [(receiver, giver)] * len(cards)

    def copy(self, hands: list[Cards], events: Counter[str]) -> "Tribute":
        other = object.__new__(Tribute)
        other.__dict__.update(self.__dict__)
        other.hands, other.events = hands, events
        other.returns, other.refused = list(self.returns), set(self.refused)
        return other

    def _give(self, seat: int, rank: str) -> None:
        self.hands[seat] = {**self.hands[seat], rank: self.hands[seat].get(rank, 0) + 1}

    def question(self) -> tuple[int, str] | None:
        if not self.returns:
            return None
        receiver, giver = self.returns[0]
        return (receiver, "offer") if self.offered is None else (giver, "take")

    def legal(self) -> list[str]:
        receiver, giver = self.returns[0]
        if self.offered is None:
            held = [rank for rank in RANKS if rank in self.hands[receiver]]
            fresh = [rank for rank in held if rank not in self.refused]
            return [f"offer {rank}" for rank in fresh or held]
        if self.must_take or self.offered in self.hands[giver]:
            return ["take"]
        return ["take", "refuse"]

    def answer(self, move: str) -> None:
        """Make a legal move."""
        receiver, giver = self.returns[0]
        if self.offered is None:
            self.offered = move[-1]
            self.must_take = self.offered in self.refused
            return
        if move == "refuse":
            self.events["tribute: refused"] += 1
            self.refused.add(self.offered)
            self.offered = None
            return
        if self.must_take:
            self.events["tribute: taken after all ranks were refused"] += 1
        elif self.offered in self.hands[giver]:
            self.events["tribute: taken because the giver holds the rank"] += 1
        else:
            self.events["tribute: taken by choice"] += 1
        self.hands[receiver] = take_away(self.hands[receiver], self.offered)
        self._give(giver, self.offered)
        self.returns.pop(0)
        self.refused, self.offered, self.must_take = set(), None, False
