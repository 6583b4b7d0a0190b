"""Biased random players that make rare branches of the rules common.

`rng` is always the caller's own.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .deals import DEALS, HIGH, WEIGHTS
from .hand import Hand
from .options import Options
from .sets import RANKS, has_joker

Move = tuple[int, str]  # seat and move
Lead = tuple[int, Hand, set[str]]  # moves before it, the hand, names of the events before it


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
        refuse=rng.choice((0.4, 1.0, 1.0)),
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
        if style.big == 1.0 and rng.random() < 0.9:
            most = max(len(text) for text in sets)
            sets = [text for text in sets if len(text) == most]
    elif kind == "lead" and rng.random() < style.small:
        sets = [text for text in sets if len(text) <= 4] or sets
    near = sets[: 1 + len(sets) // 3] if rng.random() < max(style.big, style.small) else sets
    return rng.choice(near)


def curious_trick(
    hand: Hand, styles: list[Style], seen: Counter[str], rng: random.Random, tries: int
) -> list[str]:
    """Moves of one trick: of some random ones the trick with the rarest branch in `seen`."""
    best: list[str] = []
    least = None
    for _ in range(tries):
        trial, moves, keen = hand.copy(), list[str](), rng.random() < 0.5
        while (question := trial.question()) is not None:
            seat, kind = question
            if moves and kind == "lead":
                break
            size = sum(trial.hands[seat].values())
            moves.append(choose(trial.legal(), kind, size, rng.choice(styles), rng, keen))
            trial.play(moves[-1])
        count = min(seen[name] for name in trial.events)
        if least is None or count < least:
            best, least = moves, count
    return best


def play_out(
    hand: Hand,
    rng: random.Random,
    seen: Counter[str] | None = None,
    leads: list[Lead] | None = None,
    tries: int = 0,
) -> list[Move]:
    """Play to the end; returns the moves with their seats.

    `seen`, if given, counts the events of many hands; the players then look for
    what is rare in it as soon as somebody is close to going out. `leads`, if
    given, gets an entry for every trick. `tries`: how many ways they think of to
    play the first trick.
    """
    styles = [random_style(rng) for _ in range(6)]
    if rng.random() < 0.5:  # quick: hands run out in few sets
        styles = [replace(style, big=1.0, jokers=0.05) for style in styles]
    if rng.random() < 0.3:  # sly: pass first, beat later
        styles = [replace(style, decline=0.7) for style in styles]
    bold = rng.random() < 0.7  # last sets and burns meet whatever can beat them
    slow = rng.random() < 0.5  # everybody waits with a last card until one has gone out
    curious = seen is not None and rng.random() < 0.8
    moves: list[Move] = []
    planned: list[str] = []
    while (question := hand.question()) is not None:
        seat, kind = question
        if leads is not None and kind == "lead":
            leads.append((len(moves), hand.copy(), set(hand.events)))
        if seen is not None and kind == "lead" and hand.phase == "play":
            near = [other for other in hand.holders() if sum(hand.hands[other].values()) <= 4]
            if curious and len(near) >= (3 if slow else 1):
                tries = max(tries, 40 if slow else 6)
            if tries:
                planned = curious_trick(hand, styles, seen + hand.events, rng, tries)
        tries = 0
        if planned:
            move = planned.pop(0)
        else:
            owner_left = hand.owner is not None and not hand.holds(hand.owner)
            keen = bold and (owner_left or hand.burners_only or hand.standing_reason == "burn")
            waits = slow and len(hand.finish) < 2 and not owner_left and rng.random() < 0.9
            size = sum(hand.hands[seat].values())
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
        burn_fail=rng.choice(("never", "last_place")),
        tribute=rng.random() < 0.5,
        end=rng.choice(("side_out", "last_player")),
    )


def random_hand(rng: random.Random, options: Options | None = None) -> Hand:
    """A hand at its first question: drawn options (unless given), deal and previous finish."""
    options = random_options(rng) if options is None else options
    name = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    hands, start = DEALS[name](rng)
    previous = rng.sample(range(6), 6) if rng.random() < 0.7 else rng.choice(STRINGS)
    # A giver who has nothing left to compare with refuses everything; one card is half of two.
    high = [sum(card[0] in HIGH for card in cards) for cards in hands]
    bare = [i for i in range(6) if high[i] == 1] or [i for i in range(6) if high[i] == 0]
    if bare and rng.random() < 0.8:
        giver = rng.choice(bare)
        places = rng.choice(((2, 3, 1, 4, 0, 5), (3, 2, 1, 4, 5, 0)))
        previous = [(giver + step) % 6 for step in places]
    return Hand(options, hands, start, previous if options.tribute else None)


# Finishing orders that are 串三户.
STRINGS = [[0, 2, 4, 1, 3, 5], [5, 1, 3, 0, 4, 2]]


def random_runs(
    rng: random.Random, seen: Counter[str], enough: int = 100, options: Options | None = None
) -> Iterator[tuple[Hand, list[Move]]]:
    """Hands at their first question, each with moves to its end; without end.

    A hand in which something happened that `seen` has fewer than `enough` times
    is played on some times more from the trick in which it happened. `seen`
    counts every event once, those of the common beginning with the first of
    such hands only.
    """
    while True:
        first = random_hand(rng, options)
        leads: list[Lead] = []
        hand = first.copy()
        hand.events.update(first.events)
        moves = play_out(hand, rng, seen, leads)
        yield first.copy(), moves
        rare = min(hand.events, key=lambda name: (seen[name], name))
        before = [lead for lead in leads if rare not in lead[2]]
        if seen[rare] >= enough or not before:
            continue
        number, at_lead, _ = before[-1]
        for _ in range(10):
            again = at_lead.copy()
            yield first.copy(), moves[:number] + play_out(again, rng, seen, tries=12)
