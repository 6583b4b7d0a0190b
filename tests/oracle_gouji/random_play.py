"""Deals and players that make rare branches of the rules common.

Every deal is four full packs, 36 cards a seat, in deal order. `rng` is always
the caller's own.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .hand import Hand
from .options import Options
from .sets import BELOW_TWO, PACK, RANKS, has_joker

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
    "one_high": 3,
    "burners": 2,
    "strong_side": 1,
    "poor": 2,
    "two_poor": 1,
    "poor_grouped": 6,
    "spread_threes": 1,
}


@dataclass(frozen=True)
class Style:
    """Habits of one player, each a probability."""

    revolt: float
    waive: float
    burn: float
    decline: float  # although he can beat
    yielding: float
    big: float  # plays the largest group there is rather than any set
    small: float  # else: leads at most four cards
    jokers: float  # hangs jokers where he need not
    refuse: float


def random_style(rng: random.Random) -> Style:
    return Style(
        revolt=rng.choice((0.5, 0.9)),
        waive=rng.choice((0.2, 0.5)),
        burn=rng.choice((0.3, 0.9, 1.0)),
        decline=rng.choice((0.0, 0.2, 0.6)),
        yielding=rng.choice((0.1, 0.6)),
        big=rng.choice((0.0, 0.3, 0.8, 1.0)),
        small=rng.choice((0.0, 0.5, 0.9)),
        jokers=rng.choice((0.05, 0.3)),
        refuse=rng.choice((0.4, 1.0)),
    )


def choose(
    legal: list[str],
    kind: str,
    size: int,
    style: Style,
    rng: random.Random,
    keen: bool = False,
    waits: bool = False,
) -> str:
    """A move of a biased player who holds `size` cards; `kind` as in `Hand.question`.

    `keen`: he beats whatever he can. `waits`: he keeps a last card back while he can.
    """
    if len(legal) == 1:
        return legal[0]
    if kind == "offer":
        return rng.choice(legal)
    if kind == "take":
        return "refuse" if rng.random() < style.refuse else "take"
    if kind == "revolt":
        return "revolt" if rng.random() < style.revolt else "silent"
    if kind == "waive":
        return "waive" if rng.random() < style.waive else "silent"
    sets = [move for move in legal if move[0] in RANKS]
    if "yield" in legal and rng.random() < style.yielding:
        return "yield"
    leaving = [text for text in sets if len(text) == size]
    if waits and leaving:
        sets = [text for text in sets if len(text) < size]
        if not sets:
            return legal[0]
        leaving = []
    if not sets:
        return legal[0]
    if kind != "lead":
        stay = 0.05 if keen else 1 - style.burn if kind == "burn" else style.decline
        if rng.random() < stay:
            return legal[0]
    if kind != "burn" and not keen and rng.random() >= style.jokers:
        sets = [text for text in sets if not has_joker(text)] or sets
    if leaving and rng.random() < 0.8:
        return rng.choice(leaving)
    if kind == "lead" and waits:
        kept = [text for text in sets if len(text) == size - 1]
        if kept:
            return rng.choice(kept)
    if kind == "lead" and rng.random() < style.big:
        # Natural cards of a rank all at once.
        sizes: Counter[str] = Counter()
        for text in sets:
            sizes[text[0]] = max(sizes[text[0]], text.count(text[0]))
        sets = [text for text in sets if text.count(text[0]) == sizes[text[0]]]
        if style.big == 1.0 and rng.random() < 0.5:
            most = max(len(text) for text in sets)
            sets = [text for text in sets if len(text) == most]
    elif kind == "lead" and rng.random() < style.small:
        sets = [text for text in sets if len(text) <= 4] or sets
    near = sets[: 1 + len(sets) // 3] if rng.random() < max(style.big, style.small) else sets
    return rng.choice(near)


def curious_move(hand: Hand, seen: Counter[str], rng: random.Random) -> str | None:
    """Of some legal moves the one that is an example of the rarest branch in `seen`."""
    legal = hand.legal()
    if len(legal) == 1:
        return legal[0]
    seat = hand.question()[0]  # type: ignore[index]
    size = sum(hand.hands[seat].values())
    words = [move for move in legal if move[0] not in RANKS]
    sets = [move for move in legal if move[0] in RANKS]
    tried = words + [text for text in sets if len(text) == size][:1]
    tried += rng.sample(sets, min(6, len(sets)))
    best, least = None, 0
    for move in tried:
        after = hand.copy()
        after.play(move)
        count = min((seen[name] for name in after.events), default=None)
        if count is not None and (best is None or count < least):
            best, least = move, count
    return best


def play_out(
    hand: Hand, rng: random.Random, seen: Counter[str] | None = None
) -> list[tuple[int, str]]:
    """Play to the end; returns the moves with their seats.

    `seen`, if given, counts the events of many hands; every second player or so
    then looks for what is rare in it.
    """
    styles = [random_style(rng) for _ in range(6)]
    if rng.random() < 0.4:  # quick: hands run out in few sets
        styles = [replace(style, big=1.0, jokers=0.05) for style in styles]
    if rng.random() < 0.3:  # sly: pass first, beat later
        styles = [replace(style, decline=0.7) for style in styles]
    curious = [seen is not None and rng.random() < 0.5 for _ in range(6)]
    bold = rng.random() < 0.7  # last sets and burns meet whatever can beat them
    slow = rng.random() < 0.5  # everybody waits with a last card until one has gone out
    moves = []
    while (question := hand.question()) is not None:
        seat, kind = question
        owner_left = hand.owner is not None and not hand.holds(hand.owner)
        keen = bold and (owner_left or hand.burners_only or hand.standing_reason == "burn")
        waits = slow and len(hand.finish) < 2 and not owner_left and rng.random() < 0.9
        size = sum(hand.hands[seat].values())
        move = None
        if seen is not None and curious[seat] and not waits and rng.random() < 0.5:
            move = curious_move(hand, seen + hand.events, rng)
        if move is None:
            move = choose(hand.legal(), kind, size, styles[seat], rng, keen, waits)
        moves.append((seat, move))
        hand.play(move)
    if seen is not None:
        seen.update(hand.events)
    return moves


def random_options(rng: random.Random) -> Options:
    return Options(
        revolution=rng.random() < 0.8,
        hand_sizes=rng.choice(("ten", "always")),
        burn_fail=rng.choice(("never", "never", "last_place")),
        tribute=rng.random() < 0.4,
        end=rng.choice(("side_out", "last_player")),
    )


def random_hand(rng: random.Random, options: Options | None = None) -> Hand:
    """A hand at its first question: drawn options (unless given), deal and previous finish."""
    options = random_options(rng) if options is None else options
    name = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    hands, start = DEALS[name](rng)
    previous = rng.sample(range(6), 6) if rng.random() < 0.7 else rng.choice(STRINGS)
    # A giver who has nothing left to compare with refuses everything.
    bare = [i for i, cards in enumerate(hands) if sum(card[0] in HIGH for card in cards) == 1]
    if bare and rng.random() < 0.7:
        giver = rng.choice(bare)
        previous = [(giver + step) % 6 for step in (2, 3, 1, 4, 0, 5)]
    return Hand(options, hands, start, previous if options.tribute else None)


# Finishing orders that are 串三户.
STRINGS = [[0, 2, 4, 1, 3, 5], [5, 1, 3, 0, 4, 2]]
