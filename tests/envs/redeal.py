"""Re-deal what a seat cannot know, consistently with all that was public.

Written for the leak tests from the rules page, sharing nothing with envs/baohuang/hidden.py: the
public facts come from the record of the hand, not from the engine's state.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

COPIES = 4


def plain(card: str) -> str:
    """Card without its star."""
    return card.rstrip("*")


@dataclass
class PublicFacts:
    """What everybody knows after some moves of a hand (public texts, seat first)."""

    hands: list[list[str]]  # as dealt: only sizes and the holder of R* are read from it
    moves: list[str]
    asked: int = 0  # who is asked now
    played: list[Counter[str]] = field(default_factory=list)
    crown: int = 0
    emperor: int | None = None
    called: str | None = None
    guard: int | None = None  # who has declared
    alone: bool = False  # 明独: he showed that he holds all four
    role_public: bool = False
    skipped: list[int] = field(default_factory=list)
    forced: bool = False

    def __post_init__(self) -> None:
        self.played = [Counter() for _ in self.hands]
        seats = len(self.hands)
        self.crown = first = next(s for s, h in enumerate(self.hands) if "R*" in h)
        cedes = 0
        for move in self.moves:
            seat, verb, *rest = move.split(" ")
            who = int(seat)
            if verb == "grab":
                self.crown = self.emperor = who
                self.role_public = True
            elif verb == "cede":
                cedes += 1
                self.crown = (who - 1) % seats
            elif verb == "call":
                self.forced = cedes == seats
                self.crown = self.emperor = who
                self.called = rest[0]
                self.role_public = self.alone = "open" in rest
            elif verb == "declare":
                self.role_public = True
                self.guard = who
            elif verb == "play":
                self.played[who].update(plain(c) for c in rest)
                self.role_public |= any(c.endswith("*") for c in rest)
        if cedes == seats:  # the question went from the first holder down to the (coming) caller
            caller = self.emperor if self.emperor is not None else self.asked
            self.crown = caller
            self.skipped = [(first - i) % seats for i in range((first - caller) % seats)]


def held_now(facts: PublicFacts, dealt: list[list[str]]) -> list[Counter[str]]:
    """Hands after the moves, from the dealt ones; R* has moved with the crown."""
    hands = [Counter(plain(c) for c in h) for h in dealt]
    first = next(s for s, h in enumerate(dealt) if "R*" in h)
    hands[first]["R"] -= 1
    hands[facts.crown]["R"] += 1
    for seat, cards in enumerate(facts.played):
        hands[seat].subtract(cards)
    return [+h for h in hands]


def redeal(
    facts: PublicFacts, hands: list[Counter[str]], viewer: int, rng: random.Random
) -> list[Counter[str]] | None:
    """Other hands for the others than ``viewer``, or None if this draw contradicts the record.

    Args:
        hands: true hands now; the result agrees with them in what ``viewer`` knows.
    """
    seats = range(len(hands))
    known = [Counter[str]() for _ in seats]
    if facts.emperor is not None and facts.emperor != viewer and facts.called is not None:
        # he showed three copies (four, openly alone); those he has not played are still his
        shown = COPIES - 1 + facts.alone - facts.played[facts.emperor][facts.called]
        known[facts.emperor][facts.called] += max(shown, 0)
    if facts.guard not in (None, viewer) and facts.called is not None:
        assert facts.guard is not None
        known[facts.guard][facts.called] += 1 - facts.played[facts.guard][facts.called]
    no_big_played = facts.played[facts.crown]["R"] == 0
    if facts.crown != viewer and no_big_played:
        known[facts.crown]["R"] = max(known[facts.crown]["R"], 1)
    pool: list[str] = []
    for seat in seats:
        if seat != viewer:
            pool += (hands[seat] - known[seat]).elements()
    rng.shuffle(pool)
    new = [Counter(h) for h in hands]
    for seat in seats:
        if seat != viewer:
            need = hands[seat].total() - known[seat].total()
            new[seat] = known[seat] + Counter(pool[:need])
            pool = pool[need:]
    return new if _possible(facts, hands, new, viewer) else None


def _possible(
    facts: PublicFacts, old: list[Counter[str]], new: list[Counter[str]], viewer: int
) -> bool:
    deck = sum(old, Counter[str]()) + sum(facts.played, Counter[str]())
    callable_ = [c for c, n in deck.items() if n == COPIES]

    def before(seat: int) -> Counter[str]:
        return new[seat] + facts.played[seat]

    for seat in facts.skipped:
        hand = before(seat)
        hand["R"] += 1  # R* was with him when he was passed over
        if any(hand[c] == COPIES - 1 for c in callable_):
            return False
    if facts.emperor is None and sum(m.endswith(" cede") for m in facts.moves) == len(new):
        caller = before(facts.asked)  # he is asked, so he holds a kind three times
        if not any(caller[c] == COPIES - 1 for c in callable_):
            return False
    if facts.called is None or facts.emperor is None:
        return True
    mine = before(facts.emperor)
    if facts.forced and not any(mine[c] == COPIES - 1 for c in callable_):
        return False
    if facts.role_public:
        # the guard has shown the card, or nobody holds one: only the emperor's three are at stake
        return (
            mine[facts.called] == (old[facts.emperor] + facts.played[facts.emperor])[facts.called]
        )
    if viewer == facts.emperor:
        return True
    return mine[facts.called] in (COPIES - 1, COPIES)


def who_is_guard(facts: PublicFacts, hands: list[Counter[str]]) -> tuple[int | None, bool]:
    """Guard, and whether the emperor is secretly alone, where the role is not public."""
    assert facts.called is not None
    for seat, hand in enumerate(hands):
        if seat != facts.emperor and hand[facts.called]:
            return seat, False
    return None, True


def as_dealt(facts: PublicFacts, hands: list[Counter[str]]) -> list[str]:
    """Dealt hands that lead to ``hands`` after the moves: R* back with its first holder."""
    out = [h + p for h, p in zip(hands, facts.played, strict=True)]
    first = next(s for s, h in enumerate(facts.hands) if "R*" in h)
    out[facts.crown]["R"] -= 1
    return [
        " ".join([*(+h).elements()] + (["R*"] if seat == first else []))
        for seat, h in enumerate(out)
    ]
