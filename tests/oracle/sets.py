"""Cards, sets and the legal moves of one play-phase position (preset `qingdao`).

Written from rules/baohuang.md §2 (ranks), §3 (sets, beating), §4.1 (identity
card) and §5 (circles), and from formats.md (notation, order of moves).
Everything is brute force on purpose: sets are enumerated one by one and
compared card by card.
"""

from collections import Counter
from collections.abc import Iterable

NATURAL = "3456789TJQKA2"
RANKS = NATURAL + "BR"  # low to high (§2)
SUITS = "shcd"
KINDS = [rank + suit for rank in NATURAL for suit in SUITS] + ["B", "R"]


class OracleError(ValueError):
    """The text, move or record is not possible under the rules."""


def full_deck() -> list[str]:
    """Four full packs, one of the four R marked 皇 (§2): 216 cards."""
    return [kind for kind in KINDS for _ in range(4) if kind != "R"] + ["R", "R", "R", "R*"]


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


def write_set(n: int, rank: str, b: int, r: int, star: str = "") -> str:
    """`n` naturals of `rank`, then B's, then R's; `star` is the rank that carries it."""
    parts = []
    for letter, count in ((rank, n), ("B", b), ("R", r)):
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
        raise OracleError(f"not a set: {text!r} (write naturals, then B, then R)")
    if text.count("*") > 1 or any(
        mark == "*" and (place == 0 or text[place - 1] in text[: place - 1])
        for place, mark in enumerate(text)
    ):
        raise OracleError(f"not a set: {text!r} (one star, on the first letter of its rank)")
    return sorted(letters, key=RANKS.index, reverse=True)


def set_of(cards: Iterable[str]) -> str:
    """Notation of the set that these actual cards make, e.g. 9c* 9d B -> 9*9B."""
    cards = list(cards)
    count = Counter(plain(card)[0] for card in cards)
    naturals = [rank for rank in NATURAL if count[rank]]
    if not cards or len(naturals) > 1:
        raise OracleError(f"not a set: {' '.join(cards)!r}")
    stars = [plain(card)[0] for card in cards if card.endswith("*")]
    if len(stars) > 1:
        raise OracleError(f"more than one star: {' '.join(cards)!r}")
    rank = naturals[0] if naturals else ""
    return write_set(
        count[rank] if rank else 0, rank, count["B"], count["R"], stars[0] if stars else ""
    )


def beats(standing: str, answer: str) -> bool:
    """Whether `answer` beats `standing`: §3, "sort both sets from high to low"."""
    low, high = ranks_of(standing), ranks_of(answer)
    return len(low) == len(high) and all(
        RANKS.index(above) > RANKS.index(below) for below, above in zip(low, high, strict=True)
    )


def all_sets(hand: Iterable[str]) -> list[str]:
    """Every set a hand can play, in the order of formats.md; a star is the hidden identity card."""
    hand = list(hand)
    have = Counter(plain(card)[0] for card in hand)
    stars = [plain(card)[0] for card in hand if card.endswith("*")]
    if len(stars) > 1:
        raise OracleError("a hand holds at most one identity card")
    hidden = stars[0] if stars else ""
    found: list[tuple[tuple[int, int, int, int, bool], str]] = []
    for rank in [*NATURAL, ""]:
        for n in range(1, have[rank] + 1) if rank else [0]:
            for b in range(have["B"] + 1):
                for r in range(have["R"] + 1):
                    if n + b + r == 0:
                        continue
                    used = {rank: n, "B": b, "R": r}.get(hidden, 0)
                    place = NATURAL.index(rank) if rank else len(NATURAL)
                    # Without the identity card one copy of its rank has to stay back.
                    if not hidden or used < have[hidden]:
                        found.append(((n + b + r, place, b, r, False), write_set(n, rank, b, r)))
                    if used:
                        found.append(
                            ((n + b + r, place, b, r, True), write_set(n, rank, b, r, hidden))
                        )
    return [text for _, text in sorted(found)]


def legal_play(
    hand: list[str],
    standing: str | None = None,
    circle: int = 1,
    claimable: bool = False,
    public: bool = False,
) -> list[str]:
    """Legal moves of one play-phase position, as `lupai legal` lists them (formats.md).

    A star in `hand` is the identity card while hidden, never 皇's mark.
    """
    if not hand:
        raise OracleError("a player without cards is not asked")
    if circle not in (1, 2):
        raise OracleError(f"circle is 1 or 2, not {circle!r}")
    if public and any(card.endswith("*") for card in hand):
        raise OracleError("a star, but the identity is public")
    if standing is None and (claimable or circle == 2):
        raise OracleError("circle 2 and claimable need a standing set")
    if claimable and circle == 2:
        raise OracleError("nobody claims in circle 2")
    sets = all_sets(hand)
    if standing is None:
        return [f"play {text}" for text in sets]  # the leader must play (§5)
    moves = ["pass"]
    if circle == 1:
        moves.append("yield")
    if claimable:
        moves.append("claim")
    return moves + [f"play {text}" for text in sets if beats(standing, text)]
