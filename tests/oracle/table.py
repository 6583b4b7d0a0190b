"""The state of one table: what the phases before play and the play share."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .options import check_marks, has_supreme, joker_marked, options_of
from .sets import KINDS, NATURAL, SUITS, OracleError, plain


class Table:
    """Cards, roles and whose turn it is.

    `hands` are Counters of plain card texts: R* counts as R (`crown` says who
    has it), and the identity card carries no star (`identity`, `identity_seat`).
    """

    def __init__(
        self, hands: list[list[str]], start: int, rules: str | dict[str, Any] | None = None
    ) -> None:
        self.options = options_of(rules)
        if len(hands) != 5 or start not in range(5):
            raise OracleError("a deal is five hands and a start seat 0..4")
        check_marks([c for cards in hands for c in cards if c.endswith("*")], self.options)
        self.start = start
        self.hands: list[Counter[str]] = [Counter(plain(c) for c in cards) for cards in hands]
        self.deck: Counter[str] = sum(self.hands, Counter())
        self.crown = next(seat for seat in range(5) if "R*" in hands[seat])  # until play starts
        self.first_holder = self.crown
        self.pile: Counter[str] = Counter()  # 贴牌: added cards, in the crown holder's hand
        self.phase = ""
        self.queue: list[int] = []  # seats of this phase or circle still to be asked
        self.votes = 0
        self.void = False
        self.emperor: int | None = None
        self.guard: int | None = None
        self.solo: str | None = None
        self.role_public = False
        self.called: str | None = None
        self.identity: str | None = None  # plain text of the identity card
        self.identity_seat: int | None = None  # who holds or held it
        self.identity_played = False
        if joker_marked(self.options):
            self.identity = "B"
            self.identity_seat = next(seat for seat in range(5) if "B*" in hands[seat])
        self.multiplier = 1
        self.finish: list[int] = []
        self.scores: list[int] | None = None
        # Play (§5)
        self.standing: str | None = None  # set to beat, without star
        self.owner: int | None = None  # who played it
        self.circle = 1
        self.yielded: list[int] = []
        self.claim_seat: int | None = None
        self.out_of_trick: set[int] = set()  # pass_scope = "trick"

    @property
    def seat(self) -> int | None:
        """Who is asked; None when the hand is over."""
        return self.queue[0] if self.queue else None

    def ask(self, phase: str, seats: Iterable[int]) -> None:
        """Begin a phase in which these seats are asked in turn."""
        self.phase, self.queue, self.votes = phase, [seat % 5 for seat in seats], 0

    def others(self) -> list[int]:
        """emperor+1 ... emperor+4"""
        assert self.emperor is not None
        return [(self.emperor + step) % 5 for step in range(1, 5)]

    def rebels(self) -> list[int]:
        """The rebels, from emperor+1 on."""
        return [seat for seat in self.others() if seat != self.guard]

    def over(self, scores: list[int]) -> None:
        """End the hand."""
        self.phase, self.queue, self.scores = "over", [], scores

    def holds_hidden(self, seat: int) -> bool:
        """Whether the seat holds the identity card and nobody else knows."""
        return self.identity_seat == seat and not self.role_public

    def holds_special(self, seat: int) -> bool:
        """Whether the seat holds an identity card that is no ordinary copy: hidden, or 特画."""
        if self.identity_seat != seat or self.identity_played:
            return False
        return has_supreme(self.options) or not self.role_public

    def cards_of(self, seat: int) -> list[str]:
        """The seat's cards as `lupai legal` takes them: only a hidden identity or 特画 starred."""
        cards = [kind for kind in KINDS for _ in range(self.hands[seat][kind])]
        if self.holds_special(seat):
            assert self.identity is not None
            cards[cards.index(self.identity)] += "*"
        return cards

    def move_crown(self, to: int) -> None:
        """R*, and the pile that lies with it, go to another hand."""
        moving = Counter({"R": 1}) + self.pile
        self.hands[self.crown] = self.hands[self.crown] - moving
        self.hands[to % 5] = self.hands[to % 5] + moving
        self.crown = to % 5

    def tribute(self, seat: int) -> str | None:
        """What a ceding player adds (§4.1.2): his highest natural card, rarest suit, s<h<c<d.

        From his own hand: the pile that lies with him counts for nothing here.
        """
        own = self.hands[seat] - self.pile
        for rank in reversed(NATURAL):
            suits = [suit for suit in SUITS if own[rank + suit]]
            if suits:
                fewest = min(own[rank + suit] for suit in suits)
                return next(rank + suit for suit in suits if own[rank + suit] == fewest)
        return None

    def with_cards_after(self, after: int) -> list[int]:
        """The other seats that still hold cards, in play order."""
        order = [(after + step) % 5 for step in range(1, 5)]
        return [seat for seat in order if self.hands[seat]]
