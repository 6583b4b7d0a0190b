"""Every way in which a record can be altered in one place.

A mutation is ``(kind, place)``; :func:`mutate` makes it, with its free choices drawn from the
mutation itself. Some mutations give a hand that is possible again (another copy of a card, a pass
for a yield that was never used); what is possible, the oracle decides.
"""

import copy
import random
from typing import Any

Record = dict[str, Any]
Mutation = tuple[str, int]

RANKS, SUITS = "3456789TJQKA2", "shcd"
KINDS = [r + s for r in RANKS for s in SUITS] + ["B", "R"]
VERBS = [
    "pass", "yield", "claim", "grab", "decline", "cede", "declare", "silent", "call 9c",
    "call 9c open", "call B secret", "solo", "ti", "niu", "keep", "abandon", "accept", "refuse",
    "oppose", "open", "play 3s", "play R", "play X", "play", "", "9c", "play 3s 4s",
]  # fmt: skip


def remove(moves: list[str], at: int, rng: random.Random) -> None:
    """A move is missing."""
    del moves[at]


def repeat(moves: list[str], at: int, rng: random.Random) -> None:
    """A move stands twice."""
    moves.insert(at, moves[at])


def swap(moves: list[str], at: int, rng: random.Random) -> None:
    """A move and the next one change places."""
    other = (at + 1) % len(moves)
    moves[at], moves[other] = moves[other], moves[at]


def other_seat(moves: list[str], at: int, rng: random.Random) -> None:
    """Another seat makes the move."""
    seat, _, rest = moves[at].partition(" ")
    moves[at] = f"{(int(seat) + rng.randrange(1, 5)) % 5} {rest}"


def no_seat(moves: list[str], at: int, rng: random.Random) -> None:
    """The seat is no seat, or not written as one."""
    seat, _, rest = moves[at].partition(" ")
    moves[at] = rng.choice([f"5 {rest}", f"-1 {rest}", rest, f"0{seat} {rest}", f" {seat} {rest}"])


def other_verb(moves: list[str], at: int, rng: random.Random) -> None:
    """Something else is said."""
    seat, _, rest = moves[at].partition(" ")
    moves[at] = f"{seat} {rng.choice([v for v in VERBS if v != rest])}"


def pass_yield(moves: list[str], at: int, rng: random.Random) -> None:
    """A pass becomes a yield or the other way round; a play becomes one of both."""
    seat, _, rest = moves[at].partition(" ")
    moves[at] = f"{seat} {'yield' if rest == 'pass' else 'pass'}"


def spaces(moves: list[str], at: int, rng: random.Random) -> None:
    """Another space, or a tab."""
    text = moves[at]
    moves[at] = rng.choice([text + " ", text.replace(" ", "  ", 1), text.replace(" ", "\t", 1)])


def _cards(moves: list[str], at: int) -> tuple[str, list[str]] | None:
    seat, _, rest = moves[at].partition(" ")
    words = rest.split(" ")
    if words[0] in ("play", "call"):
        return f"{seat} {words[0]}", words[1:]
    return None


def other_suit(moves: list[str], at: int, rng: random.Random) -> None:
    """One card of another suit."""
    if found := _cards(moves, at):
        head, cards = found
        i = rng.randrange(len(cards))
        if len(cards[i]) >= 2 and cards[i][1] in SUITS:
            suit = rng.choice([s for s in SUITS if s != cards[i][1]])
            cards[i] = cards[i][0] + suit + cards[i][2:]
            moves[at] = " ".join([head, *cards])


def other_card(moves: list[str], at: int, rng: random.Random) -> None:
    """One card is another."""
    if found := _cards(moves, at):
        head, cards = found
        i = rng.randrange(len(cards))
        cards[i] = rng.choice([k for k in KINDS if k != cards[i]])
        moves[at] = " ".join([head, *cards])


def other_rank(moves: list[str], at: int, rng: random.Random) -> None:
    """All natural cards of the next rank up or down."""
    if found := _cards(moves, at):
        head, cards = found
        step = rng.choice([-1, 1])
        for i, card in enumerate(cards):
            if card[0] in RANKS:
                cards[i] = RANKS[(RANKS.index(card[0]) + step) % 13] + card[1:]
        moves[at] = " ".join([head, *cards])


def fewer_cards(moves: list[str], at: int, rng: random.Random) -> None:
    """One card less."""
    if found := _cards(moves, at):
        head, cards = found
        del cards[rng.randrange(len(cards))]
        moves[at] = " ".join([head, *cards])


def more_cards(moves: list[str], at: int, rng: random.Random) -> None:
    """One card more."""
    if found := _cards(moves, at):
        head, cards = found
        cards.insert(rng.randrange(len(cards) + 1), rng.choice([*KINDS, cards[0]]))
        moves[at] = " ".join([head, *cards])


def star(moves: list[str], at: int, rng: random.Random) -> None:
    """A star comes or goes."""
    if found := _cards(moves, at):
        head, cards = found
        i = rng.randrange(len(cards))
        starred = [j for j, card in enumerate(cards) if card.endswith("*")]
        if starred and rng.random() < 0.5:
            i = starred[0]
        cards[i] = cards[i].removesuffix("*") + "*" * (not cards[i].endswith("*"))
        moves[at] = " ".join([head, *cards])


MOVE_KINDS = {
    f.__name__: f
    for f in (
        remove, repeat, swap, other_seat, no_seat, other_verb, pass_yield, spaces, other_suit,
        other_card, other_rank, fewer_cards, more_cards, star,
    )
}  # fmt: skip
CARD_KINDS = {"other_suit", "other_card", "other_rank", "fewer_cards", "more_cards", "star"}


def _hand_change(record: Record, at: int, rng: random.Random) -> None:
    hands = [text.split(" ") for text in record["hands"]]
    seat, other = at % 5, (at + rng.randrange(1, 5)) % 5
    i, j = rng.randrange(len(hands[seat])), rng.randrange(len(hands[other]))
    match at // 5 % 6:
        case 0:
            hands[seat][i], hands[other][j] = hands[other][j], hands[seat][i]
        case 1:
            hands[other].append(hands[seat].pop(i))
        case 2:
            del hands[seat][i]
        case 3:
            hands[seat].append(hands[seat][i])
        case 4:
            hands[seat][i] = rng.choice([k for k in KINDS if k != hands[seat][i]])
        case 5:
            rng.shuffle(hands[seat])
    record["hands"] = [" ".join(hand) for hand in hands]


def _mark(record: Record, at: int, rng: random.Random) -> None:
    """The mark of R* moves to another card."""
    hands = [text.split(" ") for text in record["hands"]]
    for hand in hands:
        if "R*" in hand:
            hand[hand.index("R*")] = "R"
    seat = at % 5
    cards = [i for i, card in enumerate(hands[seat]) if at < 5 or card == "R"]
    if cards:
        hands[seat][rng.choice(cards)] += "*"
    record["hands"] = [" ".join(hand) for hand in hands]


def _finish(record: Record, at: int, rng: random.Random) -> None:
    finish = record["finish"]  # shorter after an early end, empty where nobody took the crown
    size = len(finish)
    if size < 2:
        finish.append(at % 5)
        return
    one, other = at % size, (at + rng.randrange(1, size)) % size
    match at // 5 % 3:
        case 0:
            finish[one], finish[other] = finish[other], finish[one]
        case 1:
            del finish[one]
        case 2:
            finish[one] = finish[other]


def _scores(record: Record, at: int, rng: random.Random) -> None:
    scores = record["scores"]
    match at // 5 % 4:
        case 0:
            scores[at % 5] += rng.choice([-1, 1, 2, -6])
        case 1:
            scores[:] = [2 * s for s in scores]
        case 2:
            scores[:] = [-s for s in scores]
        case 3:
            other = (at + rng.randrange(1, 5)) % 5
            scores[at % 5], scores[other] = scores[other], scores[at % 5]


def _roles(record: Record, at: int, rng: random.Random) -> None:
    field = ("emperor", "guard", "solo")[at % 3]
    values = [None, "grab", "open", "secret"] if field == "solo" else [None, 0, 1, 2, 3, 4]
    record["roles"][field] = rng.choice([v for v in values if v != record["roles"][field]])


def _single(record: Record, at: int, rng: random.Random) -> None:
    match at:
        case 0 | 1 | 2 | 3:
            record["start"] = (record["start"] + at + 1) % 5
        case 4:
            record["redeals"] = 3  # possible: nobody says by which seed
        case 5:
            record["players"] = record["players"][:4]
        case 6:
            record["players"][0] = "somebody else"  # possible
        case 7:
            record["meta"]["note"] = "seen"  # possible
        case 8:
            record["game"] = "gouji"
        case 9:
            record["moves"] = []


_FIELDS = {
    "hands": (_hand_change, 60),
    "mark": (_mark, 10),
    "finish": (_finish, 15),
    "scores": (_scores, 20),
    "roles": (_roles, 9),
    "single": (_single, 10),
}


def all_mutations(record: Record) -> list[Mutation]:
    """Every mutation of a record: each kind at each move that has it, and the other fields."""
    moves = [
        (kind, at)
        for kind in MOVE_KINDS
        for at, move in enumerate(record["moves"])
        if kind not in CARD_KINDS or _cards([move], 0)
    ]
    return moves + [(kind, at) for kind, (_, count) in _FIELDS.items() for at in range(count)]


def mutate(record: Record, mutation: Mutation) -> Record:
    """The altered record; it may be equal, where there was nothing to alter."""
    kind, at = mutation
    rng = random.Random(f"{kind} {at} {len(record['moves'])}")
    new = copy.deepcopy(record)
    if kind in MOVE_KINDS:
        MOVE_KINDS[kind](new["moves"], at, rng)
    else:
        _FIELDS[kind][0](new, at, rng)
    return new
