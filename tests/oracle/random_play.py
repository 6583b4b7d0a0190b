"""Random rules, deals and moves that make every phase and verb of rules/baohuang.md common."""

import random
from collections import Counter
from typing import Any

from .hand import Hand
from .options import ALLOWED, OPTIONS, PRESETS, UNSAID, deck_of, joker_marked, options_of
from .sets import KINDS, SUITS, full_deck, plain

# How often the first of two words is said where both are legal.
ODDS = {
    "grab": 0.06,  # asked up to five times, so a rare yes: about a quarter of the hands
    "solo": 0.06,
    "accept": 0.25,  # all four refuse in about a third
    "declare": 0.4,
    "open": 0.5,
    "abandon": 0.35,
    "oppose": 0.6,
    "niu": 0.6,
    "ti": 0.6,
}


def biased_move(legal: list[str], rng: random.Random) -> str:
    """A random legal move; grabs, cedes, solos, votes, yields, claims, stars come often."""
    for word, odds in ODDS.items():
        if word in legal and len(legal) == 2:
            other = next(move for move in legal if move != word)
            return word if rng.random() < odds else other
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
    starred = [move for move in plays if "*" in move or "X" in move]
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


def biased_deal(
    rng: random.Random,
    deck: list[str] | None = None,
    rules: str | dict[str, Any] | None = None,
) -> tuple[list[list[str]], int]:
    """A random deal in which threes and fours of a kind, and both marks, sit together more often.

    The deck is that of the rules unless it is given.
    """
    if deck is None:
        cards = full_deck() if rules is None else deck_of(rules)
    else:
        cards = list(deck)
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
    if "B*" in cards and rng.random() < 0.35:
        _both_marks(hands, rng)
    return hands, start


def _both_marks(hands: list[list[str]], rng: random.Random) -> None:
    """Let the holder of R* have B* too, where his hand has room."""
    emperor = next(hand for hand in hands if "R*" in hand)
    guard = next(hand for hand in hands if "B*" in hand)
    gives = [i for i, card in enumerate(emperor) if not card.endswith("*")]
    if emperor is not guard and gives:
        give = rng.choice(gives)
        guard[guard.index("B*")], emperor[give] = emperor[give], "B*"


def small_deck(
    rng: random.Random, rules: str | dict[str, Any] | None = None, extra: int = 12
) -> list[str]:
    """R*, B* if these rules have it, and 14 to 40 more cards.

    Some kinds four times (callable), some fewer, maybe none four. Sixes and twos are there
    where they are special. `extra`: how many cards there may be beyond 15.
    """
    options = options_of(rules)
    kinds = [kind for kind in KINDS if kind != "R"]
    rng.shuffle(kinds)
    fours = rng.randrange(6)
    deck = ["R*"] + ["R"] * rng.randrange(4)
    deck += [kind for kind in kinds[:fours] for _ in range(4)]
    size = max(15, len(deck)) + rng.randrange(extra)
    for kind in kinds[fours:]:
        deck += [kind] * rng.randrange(1, 4)
        if len(deck) >= size:
            break
    for rank, special in (("6", options["hold_sixes"]), ("2", options["three_twos_beat_big"])):
        for suit in SUITS if special else "":
            room = 4 - deck.count(rank + suit)
            deck += [rank + suit] * rng.randrange(min(room, 2 if rank == "6" else 3) + 1)
    if options["three_twos_beat_big"]:
        deck += ["R"] * (3 - deck.count("R"))
    if joker_marked(options):
        if deck.count("B") == 4:
            deck.remove("B")
        deck.append("B*")
    return deck


def random_rules(rng: random.Random, named_deck: float = 0.2) -> dict[str, Any]:
    """A sensible combination of options over all of §7, as a record has it.

    Only what differs from the preset, and what the preset's column leaves open; options
    without effect under the others are left alone. The deck is a named one with probability
    `named_deck`, otherwise a small list.
    """
    preset = rng.choice(list(PRESETS))
    rules: dict[str, Any] = {"preset": preset}
    column = PRESETS[preset]

    def put(name: str, value: Any) -> None:
        if name not in column or column[name] != value:
            rules[name] = value

    roles_by = column["roles_by"]
    if rng.random() < 0.25:
        roles_by = "marks" if roles_by == "called_card" else "called_card"
    put("roles_by", roles_by)
    without: list[str] = []  # options that have no effect
    if roles_by == "marks":
        put("guard_card", "ordinary")
        without = ["guard_by", "guard_card", "grab", "forced_call", "tribute_on_cede"]
    else:
        without = ["open_solo", "oppose", "doubling", "votes_needed", "abandon_penalty"]
        guard_by = "marked_small_joker" if rng.random() < 0.3 else "called_card"
        put("guard_by", guard_by)
        if guard_by == "marked_small_joker":
            without += ["guard_card", "forced_call", "tribute_on_cede"]
    for name in OPTIONS:
        if name in ("deck", "roles_by", "guard_by") or name in without:
            continue
        values = ALLOWED.get(name, (False, True))
        if name == "abandon_penalty":
            values = (4, 8, 12, 20)
        keep = rng.random() < 0.55
        put(name, column.get(name, UNSAID.get(name)) if keep else rng.choice(values))
    if rng.random() < named_deck:
        if roles_by == "called_card" or preset != "weihai":
            put("deck", "full216")
        if roles_by == "marks" and rng.random() < 0.7:
            put("deck", "weihai165")
            if preset == "weihai":
                rules.pop("deck", None)
    else:
        rules["deck"] = small_deck(rng, {**rules, "deck": "full216"})
    options_of(rules)
    return rules


def record_move(hand: Hand, move: str) -> str:
    """A move of the hand as a record has it, with the cards the oracle picks."""
    if move.startswith("play "):
        return f"{hand.seat} play {' '.join(hand.pick(move[5:]))}"
    return f"{hand.seat} {move}"


def branches(hand: Hand, move: str) -> list[str]:
    """Names of what this move, about to be made, is an example of."""
    verb, *rest = move.split(" ")
    found = [f"{hand.phase}: {verb}"]
    seat = hand.seat
    assert seat is not None
    if hand.phase in ("call", "forced_call") and verb == "call":
        found.append(f"{hand.phase}: call {rest[1] if len(rest) > 1 else 'guard'}")
        if rest[0] in "BR":
            found.append("call of a joker")
        if hand.pile[rest[0]]:
            found.append("call with a card of the pile")
    if verb == "grab" and seat == hand.crown:
        found.append("grab by the holder")
    if hand.phase == "declare" and hand.solo is None and hand.role_public:
        found.append(f"declare after abandon: {verb}")
    if hand.phase == "oppose" and hand.solo is None and hand.role_public:
        found.append(f"oppose after abandon: {verb}")
    if hand.phase == "ti":
        by = "soloist" if hand.guard is None else "rebels" if seat in hand.rebels() else "camp"
        found.append(f"ti by {by}: {verb}")
    if hand.phase == "niu":
        found.append(f"niu by {'rebels' if seat in hand.rebels() else 'camp'}: {verb}")
    if hand.phase != "play":
        return found
    if hand.circle == 2:
        found.append(f"circle 2: {verb}")
    if hand.out_of_trick:
        found.append("asked while some are out of the trick")
    if verb != "play":
        if hand.owner is not None and not hand.hands[hand.owner]:
            found.append(f"{verb} by a last set")
        return found
    text = rest[0]
    letters = text.replace("*", "")
    if "*" in text:
        found.append("star on a joker" if "B*" in text or "R*" in text else "star on a natural")
    if "X" in text:
        found.append("X alone" if text == "X" else "X hangs")
        if hand.options["guard_card"] == "supreme" and hand.role_public:
            found.append("X when public")
        if hand.standing is not None and "R" in hand.standing:
            found.append("X beats R")
    if hand.standing == "R" and letters == "222":
        found.append("222 beats R")
    if hand.options["hold_sixes"] and letters[0] == "6":
        found.append("held sixes leave")
    return found


def outcome(hand: Hand) -> list[str]:
    """Names of how a hand ended."""
    if hand.void:
        return ["end: void"]
    if not hand.finish:
        return ["end: crown refused by all"]
    kind = hand.solo or "guard"
    found = [f"end: {kind} x{hand.multiplier}"]
    if len(hand.finish) < 5:
        found.append(f"end: early by {hand.options['end']}")
    return found


def random_record(
    rng: random.Random,
    rules: str | dict[str, Any] = "qingdao",
    seen: Counter[str] | None = None,
) -> tuple[Hand, dict[str, Any]]:
    """A hand played to its end by biased players, and its record; `seen` counts `branches`."""
    rules = {"preset": rules} if isinstance(rules, str) else rules
    hands, start = biased_deal(rng, rules=rules)
    hand = Hand(hands, start, rules)
    moves: list[str] = []
    while hand.seat is not None:
        legal = hand.legal()
        assert legal
        assert len(set(legal)) == len(legal)
        move = biased_move(legal, rng)
        if seen is not None:
            seen.update(branches(hand, move))
        moves.append(record_move(hand, move))
        hand.apply(move)
    if seen is not None:
        seen.update(outcome(hand))
    record = {
        "format": "lupai/1",
        "game": "baohuang",
        "rules": rules,
        "seed": None,
        "start": start,
        "hands": [" ".join(cards) for cards in hands],
        "moves": moves,
        "roles": {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo},
        "finish": hand.finish,
        "scores": hand.scores,
        "redeals": 0,
        "players": ["random"] * 5,
        "meta": {},
    }
    return hand, record
