"""Stacked deals that make rare branches of the rules likely.

Every deal is four full packs, 36 cards a seat, in deal order. `rng` is always
the caller's own.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence

from .sets import BELOW_TWO, PACK

Deal = tuple[list[list[str]], int]

DECK = PACK * 4
HIGH = "RB2"


def _dealt(piles: Sequence[Sequence[str]], rng: random.Random) -> Deal:
    """Piles of any sizes, by seat, filled up or cut to 36 each; order of the deal drawn."""
    hands = [list(pile) for pile in piles]
    spare: list[str] = []
    for hand in hands:
        rng.shuffle(hand)
        spare += hand[36:]
        del hand[36:]
    left = Counter(DECK) - Counter(card for hand in hands for card in hand)
    rest = list(left.elements())
    rng.shuffle(rest)
    for hand in hands:
        while len(hand) < 36:
            hand.append(rest.pop())
        rng.shuffle(hand)
    return hands, rng.randrange(6)


def _take(deck: list[str], ranks: str, number: int, rng: random.Random) -> list[str]:
    """Move up to `number` cards of these ranks out of the deck."""
    fit = [i for i, card in enumerate(deck) if card[0] in ranks]
    chosen = sorted(rng.sample(fit, min(number, len(fit))), reverse=True)
    return [deck.pop(i) for i in chosen]


def shuffled(rng: random.Random) -> Deal:
    """A plain deal."""
    return _dealt([[]] * 6, rng)


def grouped(rng: random.Random) -> Deal:
    """Big groups: a seat holds few ranks, and goes out in few sets."""
    naturals = [card for card in DECK if card[0] in BELOW_TWO]
    order = list(BELOW_TWO)
    rng.shuffle(order)
    naturals.sort(key=lambda card: order.index(card[0]))
    high = [card for card in DECK if card[0] in HIGH]
    rng.shuffle(high)
    piles: list[list[str]] = [[] for _ in range(6)]
    seats = list(range(6))
    rng.shuffle(seats)
    weights = [rng.choice((0, 1, 1, 3)) for _ in seats]
    if not any(weights):
        weights[0] = 1
    for card in high:
        open_seats = [seat for seat in seats if len(piles[seat]) < 36 and weights[seat]]
        chances = [weights[seat] for seat in open_seats]
        piles[rng.choices(open_seats, chances)[0]].append(card)
    for seat in seats:
        while len(piles[seat]) < 36:
            piles[seat].append(naturals.pop())
    # Some cards change places, so that ranks meet their betters.
    for _ in range(rng.choice((0, 6, 20, 40))):
        a, b = rng.sample(range(6), 2)
        i, j = rng.randrange(36), rng.randrange(36)
        if piles[a][i][0] not in HIGH and piles[b][j][0] not in HIGH:
            piles[a][i], piles[b][j] = piles[b][j], piles[a][i]
    return _dealt(piles, rng)


def two_ranks(rng: random.Random) -> Deal:
    """Two whole ranks a seat and four high cards, then some cards change places.

    So burning is often allowed, and last sets are met by sets of equal size.
    """
    order = rng.sample(BELOW_TWO, 12)
    piles = [[card for card in DECK if card[0] in order[2 * i : 2 * i + 2]] for i in range(6)]
    high = [card for card in DECK if card[0] in HIGH]
    rng.shuffle(high)
    for pile in piles:
        pile += high[:4]
        del high[:4]
    for _ in range(rng.choice((0, 1, 2, 4, 8, 16))):
        a, b = rng.sample(range(6), 2)
        i, j = rng.randrange(36), rng.randrange(36)
        piles[a][i], piles[b][j] = piles[b][j], piles[a][i]
    return _dealt(piles, rng)


def one_high(rng: random.Random) -> Deal:
    """As `two_ranks`, but two seats have one high card each and nobody a card of their ranks."""
    order = rng.sample(BELOW_TWO, 12)
    piles = [[card for card in DECK if card[0] in order[2 * i : 2 * i + 2]] for i in range(6)]
    high = [card for card in DECK if card[0] in HIGH]
    rng.shuffle(high)
    for pile, number in zip(piles, (1, 1, 7, 7, 4, 4), strict=True):
        pile += high[:number]
        del high[:number]
    # The two are short of three cards, which those with seven give.
    for short, rich in ((0, 2), (1, 3)):
        naturals = [card for card in piles[rich] if card[0] not in HIGH][:3]
        for card in naturals:
            piles[rich].remove(card)
            piles[short].append(card)
    rng.shuffle(piles)
    return _dealt(piles, rng)


def runaway(rng: random.Random) -> Deal:
    """One seat has all A and K and four 3s of a suit, the others few ranks and some jokers.

    He leads and is soon out with a 3, which ordinary cards answer: 够死级, burned, answered.
    """
    suit = rng.choice("shcd")
    first = [card for card in DECK if card[0] in "AK" or card == "3" + suit]
    order = rng.sample(BELOW_TWO[1:10], 9)
    rest = [card for rank in order for card in DECK if card[0] == rank]
    rest += [card for card in DECK if card[0] == "3" and card[1] != suit]
    high = [card for card in DECK if card[0] in HIGH]
    rng.shuffle(high)
    piles = [first]
    for number in (4, 5, 5, 5, 5):
        pile = [high.pop() for _ in range(number)]
        piles.append(pile + [rest.pop() for _ in range(36 - number)])
    turn = rng.randrange(6)
    return _dealt(piles[turn:] + piles[:turn], rng)


def burners(rng: random.Random) -> Deal:
    """Two or three seats hold the jokers, and few ranks beside them."""
    deck = list(DECK)
    rng.shuffle(deck)
    piles: list[list[str]] = [[] for _ in range(6)]
    seats = rng.sample(range(6), rng.choice((2, 3)))
    for i, card in enumerate(_take(deck, "BR", 8, rng)):
        piles[seats[i % len(seats)]].append(card)
    for seat in seats:
        own = "".join(rng.sample(BELOW_TWO[3:], 3))
        piles[seat] += _take(deck, own, 24, rng) + _take(deck, "2", rng.choice((0, 3)), rng)
    return _dealt(piles, rng)


def strong_side(rng: random.Random) -> Deal:
    """One side holds nearly everything high: 串三户 is near."""
    deck = list(DECK)
    rng.shuffle(deck)
    piles: list[list[str]] = [[] for _ in range(6)]
    side = rng.randrange(2)
    high = _take(deck, "RB2AK", rng.choice((40, 56)), rng)
    for i, card in enumerate(high):
        piles[(side + 2 * i) % 6].append(card)
    low = _take(deck, "3456", 64, rng)
    for i, card in enumerate(low):
        piles[(side + 1 + 2 * i) % 6].append(card)
    return _dealt(piles, rng)


def poor_seats(rng: random.Random, number: int = 1, strong_mates: bool = True) -> Deal:
    """`number` seats without R, B and 2, who may revolt; their mates are strong if wished."""
    deck = list(DECK)
    rng.shuffle(deck)
    piles: list[list[str]] = [[] for _ in range(6)]
    poor = rng.sample(range(6), number)
    rich = [(poor[0] + step) % 6 for step in ((2, 4) if strong_mates else (1, 3, 5))]
    rich = [seat for seat in rich if seat not in poor]
    others = [seat for seat in range(6) if seat not in poor]
    for i, card in enumerate(_take(deck, "RB2", 24, rng)):
        piles[rng.choice(rich) if rich and i % 4 else rng.choice(others)].append(card)
    if rich:
        for i, card in enumerate(_take(deck, "AKQ", 36, rng)):
            piles[rich[i % len(rich)]].append(card)
    return _dealt(piles, rng)


def poor_grouped(rng: random.Random) -> Deal:
    """As `two_ranks` or `grouped`, and one seat has no R, B and 2: most go to its 对头."""
    hands, start = rng.choice((two_ranks, grouped))(rng)
    poor = rng.randrange(6)
    receivers = [(poor + step) % 6 for step in (3, 3, 1, 2, 4, 5)]
    for i, card in enumerate(hands[poor]):
        if card[0] not in HIGH:
            continue
        rng.shuffle(receivers)
        for seat in receivers:
            fit = [j for j, other in enumerate(hands[seat]) if other[0] not in HIGH]
            if fit:
                j = rng.choice(fit)
                hands[poor][i], hands[seat][j] = hands[seat][j], card
                break
    return hands, start


def spread_threes(rng: random.Random) -> Deal:
    """No seat has two 3s of one suit: the start seat leads."""
    piles: list[list[str]] = [[] for _ in range(6)]
    for suit in "shcd":
        for seat in rng.sample(range(6), 4):
            piles[seat].append("3" + suit)
    return _dealt(piles, rng)


DEALS: dict[str, Callable[[random.Random], Deal]] = {
    "shuffled": shuffled,
    "grouped": grouped,
    "two_ranks": two_ranks,
    "one_high": one_high,
    "runaway": runaway,
    "burners": burners,
    "strong_side": strong_side,
    "poor": poor_seats,
    "two_poor": lambda rng: poor_seats(rng, 2, False),
    "poor_grouped": poor_grouped,
    "spread_threes": spread_threes,
}
# How often each is drawn: those that lead to rare branches more often.
WEIGHTS = {
    "shuffled": 2,
    "grouped": 2,
    "two_ranks": 8,
    "one_high": 4,
    "runaway": 4,
    "burners": 2,
    "strong_side": 1,
    "poor": 2,
    "two_poor": 2,
    "poor_grouped": 6,
    "spread_threes": 2,
}
