"""Cards and sets (§2): notation, what beats what, what is 够级, every set of a hand.

A hand is a dict from rank to the number of cards of it, zeros left out.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

BELOW_TWO = "3456789TJQKA"
JOKERS = "BR"
RANKS = BELOW_TWO + "2" + JOKERS  # low to high
SUITS = "shcd"
PACK = [rank + suit for rank in BELOW_TWO + "2" for suit in SUITS] + ["B", "R"]

# The smallest 够级 set of each rank without a joker; ranks below T have none.
GOUJI_SIZE = {"2": 1, "A": 2, "K": 2, "Q": 3, "J": 4, "T": 5}

Cards = dict[str, int]


class OracleError(ValueError):
    """The text, move, deal or position is not possible under the rules."""


def count_ranks(letters: Iterable[str]) -> Cards:
    """Ranks ("KK2B") or card texts (["Kc", "B"]) as counts by rank."""
    found: Cards = {}
    for letter in letters:
        rank = letter[:1]
        if rank not in RANKS or len(letter) > 2:
            raise OracleError(f"not a card: {letter!r}")
        found[rank] = found.get(rank, 0) + 1
    return found


def take_away(hand: Cards, text: str) -> Cards:
    """The hand after these ranks have left it."""
    left = dict(hand)
    for rank in text:
        if left.get(rank, 0) == 0:
            raise OracleError(f"{text!r} is not in the hand {write_hand(hand)!r}")
        left[rank] -= 1
    return {rank: number for rank, number in left.items() if number}


def write_hand(hand: Cards) -> str:
    """All ranks of a hand, low to high: "3355B"."""
    return "".join(rank * hand.get(rank, 0) for rank in RANKS)


@lru_cache(maxsize=1 << 16)
def values_of(text: str) -> str:
    """The ranks a set counts as, high to low: "KK2B" -> "BKKK" (贴钱).

    Raises when the text is no set, or is not written naturals, 2s, B, R.
    """
    naturals = {letter for letter in text if letter in BELOW_TWO}
    in_order = "".join(sorted(text, key=RANKS.find))
    if not text or in_order != text or len(naturals) > 1 or any(c not in RANKS for c in text):
        raise OracleError(f"not a set: {text!r}")
    if naturals:
        text = text.replace("2", naturals.pop())
    return text[::-1]


@lru_cache(maxsize=1 << 16)
def beats(standing: str, answer: str) -> bool:
    """Whether `answer` beats `standing`: equal size, each card strictly higher."""
    low, high = values_of(standing), values_of(answer)
    return len(low) == len(high) and all(
        RANKS.index(above) > RANKS.index(below) for below, above in zip(low, high, strict=True)
    )


def has_joker(text: str) -> bool:
    return "B" in text or "R" in text


def is_dead(text: str) -> bool:
    """A set with R: nothing beats it."""
    return "R" in text


@lru_cache(maxsize=1 << 16)
def is_gouji(text: str) -> bool:
    """Whether the cards themselves make a 够级牌."""
    if has_joker(text):
        return True
    values = values_of(text)
    return len(values) >= GOUJI_SIZE.get(values[0], len(values) + 1)


def all_sets(hand: Cards, size: int | None = None) -> Iterator[str]:
    """Every set of a hand, or every one of `size` cards; rank by rank.

    Two ways to make up one strength (KK2 and KKK) are two sets: other cards leave the hand.
    """
    twos, small, big = (hand.get(rank, 0) for rank in "2BR")
    for rank in [*BELOW_TWO, ""]:
        most = hand.get(rank, 0)
        if rank and not most:
            continue
        for n in range(1, most + 1) if rank else (0,):
            for t in range(twos + 1):
                for b in range(small + 1):
                    for r in range(big + 1):
                        total = n + t + b + r
                        if total and (size is None or total == size):
                            yield rank * n + "2" * t + "B" * b + "R" * r


def move_order(text: str) -> tuple[int, int, int, int, int]:
    """Sorts sets by size, then natural rank (2s, then jokers alone last), 2s, B, R."""
    return (
        len(text),
        RANKS.index(text[0]) if text[0] not in JOKERS else len(RANKS),
        text.count("2"),
        text.count("B"),
        text.count("R"),
    )


def number_of_groups(hand: Cards) -> int:
    """Sets a hand needs at least when jokers are no matter: its natural ranks below 2.

    2s attach to any of them; 2s without any are one group, jokers alone none.
    """
    ranks = sum(rank in hand for rank in BELOW_TWO)
    return ranks or (1 if "2" in hand else 0)


def number_of_jokers(hand: Cards) -> int:
    return hand.get("B", 0) + hand.get("R", 0)


def can_go_on(hand: Cards) -> bool:
    """§3 烧牌: whether every set but the last can still hold a joker."""
    return number_of_jokers(hand) >= number_of_groups(hand) - 1
