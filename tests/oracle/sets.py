"""Cards and sets: notation, what beats what, every set of a hand.

Written from rules/baohuang.md §2 (ranks), §3 (sets, beating), §4.1-4.2
(identity card, 特画) and §5 (憋6), and from formats.md (notation, order of
moves). Everything is brute force on purpose: sets are enumerated one by one
and compared card by card.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

NATURAL = "3456789TJQKA2"
RANKS = NATURAL + "BRX"  # low to high (§2)
SUITS = "shcd"
KINDS = [rank + suit for rank in NATURAL for suit in SUITS] + ["B", "R"]


class OracleError(ValueError):
    """The text, move or record is not possible under the rules."""


def full_deck(marked: bool = False) -> list[str]:
    """Four full packs (§2): one R is marked 皇, with `marked` one B 保. 216 cards."""
    small = ["B", "B", "B", "B*" if marked else "B"]
    return [kind for kind in KINDS for _ in range(4) if kind not in "BR"] + [
        *small,
        *("R", "R", "R", "R*"),
    ]


def weihai_deck() -> list[str]:
    """Four packs without 3, 4, 5 and without one 6s, 6h and 6d (§2): 165 cards."""
    deck = [card for card in full_deck(marked=True) if card[0] not in "345"]
    for card in ("6s", "6h", "6d"):
        deck.remove(card)
    return deck


def plain(card: str) -> str:
    """The card without its star; raises when it is no card at all."""
    kind = card[:-1] if card.endswith("*") else card
    if kind not in KINDS:
        raise OracleError(f"not a card: {card!r}")
    return kind


def parse_cards(text: str) -> list[str]:
    """Cards separated by one space; stars are kept."""
    cards = text.split(" ") if text else []
    for card in cards:
        plain(card)
    return cards


def write_set(n: int, rank: str, b: int, r: int, x: int = 0, star: str = "") -> str:
    """`n` naturals of `rank`, then B's, R's and X; `star` is the rank that carries it."""
    parts = []
    for letter, count in ((rank, n), ("B", b), ("R", r), ("X", x)):
        if count:
            parts.append(letter + ("*" if star == letter else "") + letter * (count - 1))
    return "".join(parts)


def ranks_of(text: str) -> list[str]:
    """Ranks of a set in notation, high to low; raises when it is no set."""
    letters = [letter for letter in text if letter != "*"]
    if not letters or any(letter not in RANKS for letter in letters):
        raise OracleError(f"not a set: {text!r}")
    naturals = [letter for letter in letters if letter in NATURAL]
    if len(set(naturals)) > 1:
        raise OracleError(f"not a set: {text!r} mixes ranks")
    if "".join(letters) != "".join(sorted(letters, key=RANKS.index)):
        raise OracleError(f"not a set: {text!r} (write naturals, then B, R, X)")
    if letters.count("X") > 1 or ("X" in letters and "*" in text):
        raise OracleError(f"not a set: {text!r} (one X, and no star with it)")
    if text.count("*") > 1 or any(
        mark == "*" and (place == 0 or text[place - 1] in text[: place - 1])
        for place, mark in enumerate(text)
    ):
        raise OracleError(f"not a set: {text!r} (one star, on the first letter of its rank)")
    return sorted(letters, key=RANKS.index, reverse=True)


def set_of(cards: Iterable[str], supreme: bool = False) -> str:
    """Notation of the set that these actual cards make, e.g. 9c* 9d B -> 9*9B.

    With `supreme` a star is 特画, whatever card it is: 9c* 8d B -> 8BX.
    """
    cards = list(cards)
    stars = [card for card in cards if card.endswith("*")]
    if len(stars) > 1:
        raise OracleError(f"more than one star: {' '.join(cards)!r}")
    ordinary = [card for card in cards if not (supreme and card in stars)]
    count = Counter(plain(card)[0] for card in ordinary)
    naturals = [rank for rank in NATURAL if count[rank]]
    if not cards or len(naturals) > 1:
        raise OracleError(f"not a set: {' '.join(cards)!r}")
    rank = naturals[0] if naturals else ""
    n = count[rank] if rank else 0
    if supreme:
        return write_set(n, rank, count["B"], count["R"], len(stars))
    return write_set(n, rank, count["B"], count["R"], 0, plain(stars[0])[0] if stars else "")


@lru_cache(maxsize=1 << 16)
def beats(standing: str, answer: str, three_twos: bool = False) -> bool:
    """Whether `answer` beats `standing`: §3, "sort both sets from high to low".

    `three_twos`: the option three_twos_beat_big.
    """
    low, high = ranks_of(standing), ranks_of(answer)
    if three_twos and low == ["R"] and high == ["2", "2", "2"]:
        return True
    return len(low) == len(high) and all(
        RANKS.index(above) > RANKS.index(below) for below, above in zip(low, high, strict=True)
    )


def all_sets(hand: Iterable[str], supreme: bool = False, hold_sixes: bool = False) -> list[str]:
    """Every set a hand can play, in the order of formats.md.

    A star is the identity card: the hidden one, or with `supreme` 特画.
    """
    hand = list(hand)
    stars = [card for card in hand if card.endswith("*")]
    if len(stars) > 1:
        raise OracleError("a hand holds at most one identity card")
    have = Counter(plain(card)[0] for card in hand)
    hidden, jokers = "", 0  # rank of a hidden identity card; number of X
    if stars and supreme:
        have[plain(stars[0])[0]] -= 1  # never played at its natural rank
        jokers = 1
    elif stars:
        hidden = plain(stars[0])[0]
    found: list[tuple[tuple[int, int, int, int, int, bool], str]] = []
    for rank in [*NATURAL, ""]:
        place = NATURAL.index(rank) if rank else len(NATURAL)
        for n in range(1, have[rank] + 1) if rank else [0]:
            for b in range(have["B"] + 1):
                for r in range(have["R"] + 1):
                    for x in range(jokers + 1):
                        size = n + b + r + x
                        if size == 0 or (hold_sixes and rank == "6" and size < len(hand)):
                            continue
                        used = {rank: n, "B": b, "R": r}.get(hidden, 0)
                        key = (size, place, b, r, x)
                        # Without the identity card one copy of its rank has to stay back.
                        if not hidden or used < have[hidden]:
                            found.append(((*key, False), write_set(n, rank, b, r, x)))
                        if used:
                            found.append(((*key, True), write_set(n, rank, b, r, x, hidden)))
    return [text for _, text in sorted(found)]
