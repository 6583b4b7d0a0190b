"""The deal and the first leader (§1)."""

from collections import Counter
from collections.abc import Sequence

from .sets import PACK, OracleError

SEATS = 6
HAND_SIZE = 36


def check_deal(hands: Sequence[Sequence[str]], start: int) -> None:
    """Six hands of 36 that are together four full packs."""
    if len(hands) != SEATS or any(len(cards) != HAND_SIZE for cards in hands):
        raise OracleError(f"a deal is six hands of 36 cards, not {[len(h) for h in hands]}")
    if start not in range(SEATS):
        raise OracleError(f"the start seat is 0 to 5, not {start!r}")
    dealt = Counter(card for cards in hands for card in cards)
    wrong = [card for card in {*PACK, *dealt} if dealt[card] != 4 or card not in PACK]
    if wrong:
        raise OracleError(f"not four packs: {sorted(wrong)} are not there four times")


def first_leader(hands: Sequence[Sequence[str]], start: int) -> tuple[int, int]:
    """(first leader, how often the place was taken): 上班 and 顶班.

    The number is 0 when nobody reaches two 3s of one suit, 1 when the first
    who does keeps the place, more when somebody else took it over.
    """
    threes: Counter[tuple[int, str]] = Counter()
    leader, most, taken = start, 1, 0
    for i in range(SEATS * HAND_SIZE):
        seat = (start + i) % SEATS
        card = hands[seat][i // SEATS]
        if card[0] != "3":
            continue
        threes[seat, card] += 1
        if threes[seat, card] > most:
            if taken == 0 or seat != leader:
                taken += 1
            leader, most = seat, threes[seat, card]
    return leader, taken
