"""Random deals and moves that make the rare branches of §4.1 and §5 common."""

import random

from .sets import KINDS, full_deck, plain


def biased_move(legal: list[str], rng: random.Random) -> str:
    """A random legal move; grabs, cedes, solos, declares, yields, claims, stars come often."""
    if "grab" in legal:
        # Asked up to five times, so a rare yes: about a quarter of the hands.
        return "grab" if rng.random() < 0.06 else "decline"
    if "declare" in legal:
        return "declare" if rng.random() < 0.4 else "silent"
    calls = [move for move in legal if move.startswith("call ")]
    if calls:
        solos = [move for move in calls if move.count(" ") == 2]
        # Ceding has to be likely: a forced call needs five in a row.
        if "cede" in legal and rng.random() < (0.6 if solos else 0.75):
            return "cede"
        return rng.choice(solos if solos and rng.random() < 0.7 else calls)
    if "claim" in legal and rng.random() < 0.5:
        return "claim"
    if "yield" in legal and rng.random() < 0.3:
        return "yield"
    plays = [move for move in legal if move.startswith("play ")]
    starred = [move for move in plays if "*" in move]
    if starred and rng.random() < 0.25:
        return rng.choice(starred)
    if plays and ("pass" not in legal or rng.random() < 0.6):
        # Big leads now and then, so that hands end and jokers hang together.
        return rng.choice(plays)
    return rng.choice([move for move in legal if not move.startswith("play ")] or legal)


def deal(deck: list[str], start: int) -> list[list[str]]:
    """Deal a deck as it lies, one at a time from `start` (§2)."""
    hands: list[list[str]] = [[] for _ in range(5)]
    for place, card in enumerate(deck):
        hands[(start + place) % 5].append(card)
    return hands


def biased_deal(rng: random.Random, deck: list[str] | None = None) -> tuple[list[list[str]], int]:
    """A random deal in which threes and fours of a kind sit together more often."""
    cards = full_deck() if deck is None else list(deck)
    rng.shuffle(cards)
    start = rng.randrange(5)
    hands = deal(cards, start)
    count = [plain(card) for card in cards]
    kinds = [kind for kind in KINDS if count.count(kind) == 4]
    for _ in range(rng.randrange(5) if kinds else 0):
        seat, kind, want = rng.randrange(5), rng.choice(kinds), rng.choice([3, 4, 4])
        for other in range(5):
            if other == seat:
                continue
            for place, card in enumerate(hands[other]):
                mine = [i for i, own in enumerate(hands[seat]) if plain(own) != kind]
                held = len(hands[seat]) - len(mine)
                if plain(card) == kind and mine and held < want:
                    give = rng.choice(mine)
                    hands[other][place], hands[seat][give] = hands[seat][give], card
    return hands, start


def small_deck(rng: random.Random) -> list[str]:
    """R* and 14 to 40 more cards: some kinds four times (callable), some fewer; maybe none four."""
    kinds = [kind for kind in KINDS if kind != "R"]
    rng.shuffle(kinds)
    fours = rng.randrange(6)
    deck = ["R*"] + ["R"] * rng.randrange(4)
    deck += [kind for kind in kinds[:fours] for _ in range(4)]
    size = max(15, len(deck)) + rng.randrange(12)
    for kind in kinds[fours:]:
        deck += [kind] * rng.randrange(1, 4)
        if len(deck) >= size:
            break
    return deck
