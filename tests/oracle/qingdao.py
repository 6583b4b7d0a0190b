"""Oracle for one hand of 青岛保皇 (preset `qingdao`), from the first question to the scores.

Written from rules/baohuang.md alone: §2 (seats, deal, injected deals), §4.1
(grab, call, forced call, void, declaration, identity card), §5 (play) and §6
(scores); records and notation from formats.md. One table, no speed, no import
of the engine.

Readings where the page leaves room (none matters for a full deck):
- a kind may be called when the deck has *exactly* four copies of it;
- a seat without cards is still asked in the phases before play; seats without
  cards when play starts take their finishing places then, from the emperor on;
- `yield` is open in circle 1 even when nothing beats (as the cases have it).
"""

import re
from collections import Counter
from typing import Any

from .sets import (
    KINDS,
    NATURAL,
    SUITS,
    OracleError,
    all_sets,
    beats,
    full_deck,
    legal_play,
    parse_cards,
    plain,
    set_of,
)

__all__ = [
    "Hand",
    "OracleError",
    "all_sets",
    "beats",
    "deal_sizes",
    "full_deck",
    "legal_play",
    "play_record",
    "score",
]

PLACE_VALUE = (2, 1, 0, -1, -2)  # §6, places 1..5
SECRET_VALUE = (16, 4, 0, -4, -16)
RECORD_FIELDS = {
    "format", "game", "rules", "seed", "start", "hands", "moves", "roles",
    "finish", "scores", "redeals", "players", "meta",
}  # fmt: skip


def score(
    emperor: int, guard: int | None, solo: str | None, multiplier: int, finish: list[int]
) -> list[int]:
    """Scores by seat for a complete finishing order (§6, rows of `called_card`)."""
    if sorted(finish) != [0, 1, 2, 3, 4]:
        raise OracleError(f"not a finishing order of five seats: {finish}")
    place = finish.index(emperor)
    if guard is not None:
        total = (PLACE_VALUE[place] + PLACE_VALUE[finish.index(guard)]) * multiplier
        return [
            2 * total if seat == emperor else total if seat == guard else -total
            for seat in range(5)
        ]
    if solo == "grab":
        mine = 40 if place == 0 else -40
    elif solo == "open":
        mine = 2 * SECRET_VALUE[place]
    else:
        mine = SECRET_VALUE[place]
    return [mine if seat == emperor else -mine // 4 for seat in range(5)]


def deal_sizes(total: int, start: int) -> list[int]:
    """Hand sizes when `total` cards are dealt one at a time from `start` (§2)."""
    sizes = [0] * 5
    for card in range(total):
        sizes[(start + card) % 5] += 1
    return sizes


class Hand:
    """One hand in progress.

    `hands` are Counters of plain card texts: R* counts as R (`crown` says who
    has it), and the identity card carries no star (`identity`, `identity_seat`).
    """

    def __init__(self, hands: list[list[str]], start: int) -> None:
        if len(hands) != 5 or start not in range(5):
            raise OracleError("a deal is five hands and a start seat 0..4")
        holders = [seat for seat in range(5) for card in hands[seat] if card == "R*"]
        stars = [card for cards in hands for card in cards if card.endswith("*")]
        if len(holders) != 1 or len(stars) != 1:
            raise OracleError(f"a deal has one R* and no other star, not {stars}")
        self.start = start
        self.hands: list[Counter[str]] = [Counter(plain(c) for c in cards) for cards in hands]
        self.deck: Counter[str] = sum(self.hands, Counter())
        self.crown = holders[0]  # who has R* until play starts
        self.first_holder = holders[0]
        self.phase = "grab"
        self.seat: int | None = self.crown
        self.asked = 0  # questions answered in this phase
        self.void = False
        self.emperor: int | None = None
        self.guard: int | None = None
        self.solo: str | None = None
        self.role_public = False
        self.called: str | None = None
        self.identity: str | None = None  # plain text of the identity card
        self.identity_seat: int | None = None
        self.multiplier = 1  # 2 after 明保; the doubling of 明独 is in its own scores
        self.finish: list[int] = []
        self.scores: list[int] | None = None
        # Play (§5)
        self.standing: str | None = None  # set to beat, without star
        self.owner: int | None = None  # who played it
        self.circle = 1
        self.queue: list[int] = []  # seats of this circle still to be asked, seat first
        self.yielded: list[int] = []
        self.claim_seat: int | None = None

    # ---- what is legal

    def holds_hidden(self, seat: int) -> bool:
        """Whether the seat holds the identity card and nobody else knows."""
        return self.identity_seat == seat and not self.role_public

    def cards_of(self, seat: int) -> list[str]:
        """The seat's cards as `lupai legal` takes them: only a hidden identity card starred."""
        cards = [kind for kind in KINDS for _ in range(self.hands[seat][kind])]
        if self.holds_hidden(seat):
            assert self.identity is not None
            cards[cards.index(self.identity)] += "*"
        return cards

    def copies(self, seat: int) -> dict[str, int]:
        """Callable kinds of which the seat holds three or four copies (§2, §4.1.2)."""
        have = self.hands[seat]
        return {k: have[k] for k in KINDS if have[k] in (3, 4) and self.deck[k] == 4}

    def _calls(self, seat: int) -> list[str]:
        moves: list[str] = []
        for kind, copies in self.copies(seat).items():
            if copies == 4:  # four copies always mean solo
                moves += [f"call {kind} open", f"call {kind} secret"]
            else:
                moves.append(f"call {kind}")
        return moves

    def legal(self) -> list[str]:
        """Legal moves of `seat`; in play exactly in the order of formats.md."""
        seat = self.seat
        if seat is None:
            return []
        if self.phase == "grab":
            return ["grab", "decline"]
        if self.phase == "call":
            return [*self._calls(seat), "cede"]
        if self.phase == "forced_call":
            return self._calls(seat)
        if self.phase == "declare":
            return ["declare", "silent"] if self.holds_hidden(seat) else ["silent"]
        claimable = self.circle == 1 and self.claim_seat == seat
        return legal_play(
            self.cards_of(seat), self.standing, self.circle, claimable, self.role_public
        )

    # ---- moves

    def apply(self, move: str, cards: list[str] | None = None) -> None:
        """Make a move in set notation; `cards` names the actual cards of a play."""
        if self.seat is None:
            raise OracleError(f"{move!r}: the hand is over")
        legal = self.legal()
        if move not in legal:
            shown = ", ".join(legal[:12]) + (", …" if len(legal) > 12 else "")
            raise OracleError(
                f"{move!r} is not legal for seat {self.seat} in phase {self.phase}; legal: {shown}"
            )
        verb, *rest = move.split(" ")
        if cards is not None and verb != "play":
            raise OracleError(f"{move!r} takes no cards")
        if self.phase == "grab":
            self._apply_grab(verb)
        elif self.phase in ("call", "forced_call"):
            self._apply_call(verb, rest)
        elif self.phase == "declare":
            self._apply_declare(verb)
        elif verb == "play":
            self._apply_play(rest[0], cards)
        else:
            self._apply_pass(verb)

    def apply_record_move(self, text: str) -> None:
        """Make a move of a record: "3 play 9c 9c 9d B", "2 call 9c secret", "1 pass"."""
        match = re.fullmatch(r"([0-4]) ([a-z]+)((?: [^ ]+)*)", text)
        if match is None:
            raise OracleError(f"not a record move: {text!r}")
        seat, verb, rest = int(match[1]), match[2], match[3][1:]
        if self.seat is None:
            raise OracleError(f"{text!r}: the hand is over")
        if seat != self.seat:
            raise OracleError(f"{text!r}: seat {self.seat} is asked, not {seat}")
        if verb == "play":
            try:
                cards = parse_cards(rest)
                self.apply(f"play {set_of(cards)}", cards)
            except OracleError as error:
                raise OracleError(f"{text!r}: {error}") from None
        else:
            self.apply(f"{verb} {rest}" if rest else verb)

    def _move_crown(self, to: int) -> None:
        self.hands[self.crown]["R"] -= 1
        self.hands[self.crown] = +self.hands[self.crown]  # drop zero counts: hands compare equal
        self.hands[to]["R"] += 1
        self.crown = to

    def _apply_grab(self, verb: str) -> None:
        assert self.seat is not None
        if verb == "grab":
            self._move_crown(self.seat)
            self.emperor, self.solo, self.role_public = self.seat, "grab", True
            self._start_play()
            return
        self.asked += 1
        self.seat = (self.seat - 1) % 5
        if self.asked == 5:
            self.phase, self.asked = "call", 0  # the question is back at the holder of R*

    def _apply_call(self, verb: str, rest: list[str]) -> None:
        assert self.seat is not None
        if verb == "cede":
            self._move_crown((self.seat - 1) % 5)
            self.seat = self.crown
            self.asked += 1
            if self.asked == 5:
                self._force_call()
            return
        kind = rest[0]
        self.emperor, self.called, self.identity = self.seat, kind, kind
        if len(rest) == 2:
            self.solo = rest[1]
            self.identity_seat = self.seat  # his one copy beyond the three shown
        else:
            others = [s for s in range(5) if s != self.seat and self.hands[s][kind]]
            self.guard = self.identity_seat = others[0]
        if self.solo == "open":
            self.role_public = True
            self._start_play()
        else:
            self.phase, self.asked, self.seat = "declare", 0, (self.emperor + 1) % 5

    def _force_call(self) -> None:
        """§4.1.3-4: R* goes round with the question; fours alone do not qualify."""
        for step in range(5):
            self._move_crown((self.first_holder - step) % 5)
            if 3 in self.copies(self.crown).values():
                self.phase, self.seat = "forced_call", self.crown
                return
        self._move_crown(self.first_holder)
        self.void, self.phase, self.seat, self.scores = True, "over", None, [0] * 5

    def _apply_declare(self, verb: str) -> None:
        assert self.seat is not None
        if verb == "declare":
            self.role_public, self.multiplier = True, 2
            self._start_play()
            return
        self.asked += 1
        self.seat = (self.seat + 1) % 5
        if self.asked == 4:
            self._start_play()

    # ---- play (§5)

    def _next_with_cards(self, after: int) -> list[int]:
        order = [(after + step) % 5 for step in range(1, 5)]
        return [seat for seat in order if self.hands[seat]]

    def _start_play(self) -> None:
        assert self.emperor is not None
        self.phase, self.seat, self.queue = "play", self.emperor, [self.emperor]
        for step in range(1, 5):  # only tiny decks leave a seat without cards here
            seat = (self.emperor + step) % 5
            if not self.hands[seat]:
                self.finish.append(seat)
        self._end_if_one_left()

    def pick(self, text: str) -> list[str]:
        """Actual cards for a set: suit order s h c d, the hidden identity card only if starred."""
        assert self.seat is not None
        spare = self.hands[self.seat].copy()
        if self.holds_hidden(self.seat):
            assert self.identity is not None
            spare[self.identity] -= 1
        picked: list[str] = []
        for letter in text.replace("*", ""):
            kinds = [letter + suit for suit in SUITS] if letter in NATURAL else [letter]
            if "*" in text and self.identity in kinds and f"{self.identity}*" not in picked:
                picked.append(f"{self.identity}*")
                continue
            card = next(kind for kind in kinds if spare[kind])
            spare[card] -= 1
            picked.append(card)
        return picked

    def _apply_play(self, text: str, cards: list[str] | None) -> None:
        seat = self.seat
        assert seat is not None
        if cards is None:
            cards = self.pick(text)
        elif set_of(cards) != text:
            raise OracleError(f"cards {' '.join(cards)!r} are not the set {text!r}")
        hand = self.hands[seat]
        for card in cards:
            if card.endswith("*") and not (
                self.holds_hidden(seat) and plain(card) == self.identity
            ):
                raise OracleError(f"{card!r} is not the hidden identity card of seat {seat}")
        starred = any(card.endswith("*") for card in cards)
        for kind, count in Counter(plain(card) for card in cards).items():
            # A hidden identity card can only be played with its star.
            kept = int(self.holds_hidden(seat) and kind == self.identity and not starred)
            if hand[kind] - kept < count:
                raise OracleError(f"seat {seat} does not have {count} x {kind} to play")
        self.hands[seat] = hand - Counter(plain(card) for card in cards)
        if starred:
            self.role_public = True
        self.standing, self.owner, self.circle = text.replace("*", ""), seat, 1
        self.yielded = []
        self.queue = self._next_with_cards(seat)
        self.claim_seat = None
        if not self.hands[seat]:
            self.finish.append(seat)
            self.claim_seat = self.queue[0]  # that set was his 底牌
        self.seat = self.queue[0]
        self._end_if_one_left()

    def _apply_pass(self, verb: str) -> None:
        seat = self.queue.pop(0)
        if verb == "yield":
            self.yielded.append(seat)
        if not self.queue and self.circle == 1 and self.yielded:
            self.circle, self.queue, self.yielded = 2, self.yielded, []
        if not self.queue:  # 扣牌: lead, or 接风
            assert self.owner is not None
            leader = self.owner if self.hands[self.owner] else self._next_with_cards(self.owner)[0]
            self.standing, self.owner, self.circle, self.claim_seat = None, None, 1, None
            self.queue = [leader]
        self.seat = self.queue[0]

    def _end_if_one_left(self) -> None:
        left = [seat for seat in range(5) if self.hands[seat]]
        if len(left) == 1:
            assert self.emperor is not None
            self.finish.append(left[0])
            self.phase, self.seat, self.queue = "over", None, []
            self.scores = score(self.emperor, self.guard, self.solo, self.multiplier, self.finish)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_shape(record: dict[str, Any]) -> None:
    """Fields and types of a record (formats.md)."""
    if set(record) != RECORD_FIELDS:
        missing, unknown = RECORD_FIELDS - set(record), set(record) - RECORD_FIELDS
        raise OracleError(f"record fields: missing {sorted(missing)}, unknown {sorted(unknown)}")
    if record["format"] != "lupai/1" or record["game"] != "baohuang":
        raise OracleError(f"format {record['format']!r}, game {record['game']!r}")
    rules = record["rules"]
    if not isinstance(rules, dict) or rules.get("preset") != "qingdao":
        raise OracleError(f"rules {rules!r}: the oracle knows preset qingdao only")
    if set(rules) - {"preset", "deck"}:
        raise OracleError(f"rules {rules!r}: the oracle knows no option but deck")
    if record["seed"] is not None and not _is_int(record["seed"]):
        raise OracleError(f"seed {record['seed']!r}")
    if not _is_int(record["start"]) or record["start"] not in range(5):
        raise OracleError(f"start {record['start']!r}")
    if not _is_int(record["redeals"]) or record["redeals"] < 0:
        raise OracleError(f"redeals {record['redeals']!r}")
    for field, size in (("hands", 5), ("players", 5), ("moves", None)):
        value = record[field]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise OracleError(f"{field} is not a list of texts")
        if size is not None and len(value) != size:
            raise OracleError(f"{field} has {len(value)} entries")
    if not isinstance(record["meta"], dict):
        raise OracleError("meta is not an object")


def _check_deal(record: dict[str, Any], hands: list[list[str]]) -> None:
    deck = record["rules"].get("deck", "full216")
    if deck == "full216":
        cards = full_deck()
    elif isinstance(deck, list) and all(isinstance(card, str) for card in deck):
        cards = deck
    else:
        raise OracleError(f"deck {deck!r}: full216 or a list of cards")
    for card in cards:
        plain(card)
    if [card for card in cards if card.endswith("*")] != ["R*"]:
        raise OracleError("the deck must hold one R* and no other marked card")
    dealt = Counter(card for hand in hands for card in hand)
    if dealt != Counter(cards):
        extra, missing = dealt - Counter(cards), Counter(cards) - dealt
        raise OracleError(f"hands are not the deck: extra {dict(extra)}, missing {dict(missing)}")
    sizes = [len(hand) for hand in hands]
    if sizes != deal_sizes(len(cards), record["start"]):
        raise OracleError(f"hand sizes {sizes} do not fit start seat {record['start']}")


def play_record(record: dict[str, Any]) -> Hand:
    """Replay a record; raises OracleError when it is not a possible hand."""
    _check_shape(record)
    hands = [parse_cards(text) for text in record["hands"]]
    _check_deal(record, hands)
    hand = Hand(hands, record["start"])
    for number, move in enumerate(record["moves"]):
        try:
            hand.apply_record_move(move)
        except OracleError as error:
            raise OracleError(f"move {number}: {error}") from None
    if hand.phase != "over":
        raise OracleError(f"the record stops in phase {hand.phase}, seat {hand.seat} is asked")
    roles = {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo}
    for field, value in (("roles", roles), ("finish", hand.finish), ("scores", hand.scores)):
        if record[field] != value:
            raise OracleError(f"{field} {record[field]!r}, but the moves give {value!r}")
    return hand
