"""Every world that a seat can imagine, found by trying all of them.

All ways to lay the cards that a viewer does not see into the places that he does not see are tried
out: the whole record is told to the oracle from the deal that each implies, and those are left in
which every move was possible and had the same public effects (:mod:`tests.envs.redeal`). Shares no
code with envs/baohuang/worlds.py and evidence.py.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import factorial, perm

from tests.envs.redeal import SEATS, Story
from tests.envs.side_by_side import Party, Rules, deal_of
from tests.oracle.options import joker_marked, options_of
from tests.oracle.random_play import biased_move, record_move


@dataclass
class Guess:
    """One way in which the cards can lie.

    `weight` is the number of ways in which the unseen physical cards can lie so; 0: impossible.
    """

    hands: list[Counter[str]]
    marked: int  # who was dealt B*, -1 without
    weight: int
    guard: int = -1  # -1: nobody, or not known yet


def layings(pool: Counter[str], room: dict[int, int]) -> Iterator[dict[int, Counter[str]]]:
    """All ways to lay cards into places, cards of a kind being alike."""
    if not pool:
        yield {seat: Counter() for seat in room}
        return
    kind, copies = next(iter(pool.items()))
    rest = Counter({k: c for k, c in pool.items() if k != kind})
    for counts in _splits(copies, [room[seat] for seat in room]):
        here = dict(zip(room, counts, strict=True))
        for laid in layings(rest, {seat: room[seat] - here[seat] for seat in room}):
            for seat in room:
                if here[seat]:
                    laid[seat][kind] += here[seat]
            yield laid


def _splits(copies: int, room: list[int]) -> Iterator[list[int]]:
    if len(room) == 1:
        if copies <= room[0]:
            yield [copies]
        return
    for first in range(min(copies, room[0]) + 1):
        for rest in _splits(copies - first, room[1:]):
            yield [first, *rest]


def ways(
    story: Story, dealt: list[list[str]], hands: list[Counter[str]], marked: int | None
) -> int:
    """In how many ways distinct cards can be dealt so, times those in which distinct cards can have
    been played so; up to a factor.

    By convention a played card is one known physical card, as if it had been drawn blindly from the
    hand, while of shown and added cards only the kind is known, which the rules force. Were only
    the kind of played cards known too, the factors `perm` below would be left out.

    Args:
        marked: holder of B*, which is not played as an ordinary B; None: it may have been.
    """
    total = 1
    cards = [Counter(card for card in cards if "*" not in card) for cards in dealt]
    for kind, copies in sum(cards, Counter[str]()).items():
        total *= factorial(copies)
        for hand in cards:
            total //= factorial(hand[kind])
    for seat in SEATS:
        shown = story.shown(seat)
        for kind, played in story.played[seat].items():
            mark = kind == "B" and seat == marked
            first = shown[kind] + (mark and story.hand.role_public)  # played before the others
            unseen = hands[seat][kind] + played - max(shown[kind], mark)
            total *= perm(unseen, max(0, played - first))
    return total


def dealt_hands(story: Story, hands: list[Counter[str]], marked: int) -> list[list[str]] | None:
    """The deal that follows from hands now, if there is one."""
    dealt = []
    for seat in SEATS:
        cards = Counter(card.rstrip("*") for card in story.dealt[seat])
        cards.update(hands[seat])
        cards.subtract(story.hand.hands[seat])
        if min(cards.values()) < 0:
            return None
        dealt.append(sorted(cards.elements()))
    for seat, star in ((story.hand.first_holder, "R"), (marked, "B")):
        if seat >= 0:
            if star not in dealt[seat]:
                return None
            dealt[seat][dealt[seat].index(star)] += "*"
    return dealt


def every_guess(story: Story, viewer: int, limit: int) -> list[Guess] | None:
    """All ways to lay the cards, those that contradict the record with weight 0; None for too many.

    Args:
        viewer: whose knowledge counts, -1 for a spectator.
    """
    hand = story.hand
    others = [seat for seat in SEATS if seat != viewer]
    pool = sum((hand.hands[seat] for seat in others), Counter[str]())
    room = {seat: hand.hands[seat].total() for seat in others}
    marks = joker_marked(hand.options)
    marked = story.world.marked if marks else -1
    assert marked is not None
    lost = marks and hand.identity is None  # B* means nothing any more
    settled = not marks or viewer == marked or (hand.role_public and not lost)
    holders = [marked] if settled else others
    tries = list(islice(layings(pool, room), limit + 1))
    if len(tries) * len(holders) > limit:
        return None
    out: list[Guess] = []
    for laid in tries:
        hands = [laid[seat] if seat != viewer else hand.hands[seat] for seat in SEATS]
        for marked in holders:
            dealt = dealt_hands(story, hands, marked)
            world = None if dealt is None else story.possible(dealt, viewer)
            if dealt is None or world is None:
                out.append(Guess(hands, marked, 0))
                continue
            free = None if lost else marked
            guard = -1 if world.hand.guard is None else world.hand.guard
            out.append(Guess(hands, marked, ways(story, dealt, hands, free), guard))
    return out


# ---- positions in which there are few enough worlds to try them all


@dataclass
class Family:
    """Hands that lead to one kind of evidence.

    Attributes:
        rules: without a deck.
        words: odds of words against what else is legal; else as in random play.
        size: number of cards.
        jokers: many of them, so that they are called.
        phase, later: stop after 0 … `later` moves made in that phase or in play.
        outs: go on until so many are out, without playing the identity card.
    """

    rules: Rules
    words: dict[str, float] = field(default_factory=dict)
    size: tuple[int, int] = (10, 13)
    jokers: bool = False
    phase: str = "play"
    later: int = 4
    outs: int = 0


def few_kinds(rng: random.Random, family: Family) -> list[str]:
    """A small deck in which many kinds have four copies."""
    marked = joker_marked(options_of({**family.rules, "deck": "full216"}))
    size = rng.randint(*family.size)
    jokers = family.jokers and rng.random() < 0.7
    deck = ["R*"] + ["R"] * (rng.choice([2, 3, 3]) if jokers else rng.randrange(2))
    if marked:
        deck += ["B*"] + ["B"] * rng.randrange(4)
    elif jokers and rng.random() < 0.5:
        deck += ["B"] * 4
    ranks = rng.sample("3456789TJQKA2", 3)
    kinds = [rank + suit for rank in ranks for suit in "shcd"]
    rng.shuffle(kinds)
    for kind in kinds:
        if len(deck) < size:
            deck += [kind] * min(rng.choice([1, 2, 4, 4, 4]), size - len(deck))
    return deck + ["3s"] * (size - len(deck))


def position(
    family: Family, rng: random.Random, viewer: int, limit: int
) -> tuple[Party, Story, list[Guess]] | None:
    """A random position and all its guesses; None when it has too many to the end."""
    rules: Rules = {**family.rules, "deck": few_kinds(rng, family)}
    dealt, start = deal_of(rng, rules)
    party, story = Party(rules, [(dealt, start)]), Story(rules, dealt, start)
    hand = party.hands[0]
    left = rng.randint(0, family.later)
    while True:
        if hand.phase in (family.phase, "play", "over"):
            left -= 1
        if (left < 0 and len(hand.finish) >= family.outs) or hand.seat is None:
            guesses = every_guess(story, viewer, limit)
            if guesses is not None or hand.seat is None:
                return None if guesses is None else (party, story, guesses)
        legal = hand.legal()
        move = biased_move(legal, rng)
        for word, odds in family.words.items():
            if word in legal and len(legal) > 1:
                others = [other for other in legal if other != word]
                move = word if rng.random() < odds else rng.choice(others)
                break
        if family.outs and {"*", "X"} & set(move):
            move = rng.choice([m for m in legal if not {"*", "X"} & set(m)] or [move])
        text = record_move(hand, move)
        party.step([0], [move])
        story.tell(text)
