"""Play: leads, circles, 接风, going out, the end (rules/baohuang.md §5)."""

from collections import Counter

from .options import has_supreme
from .scores import camp_is_out, possible_scores
from .sets import NATURAL, SUITS, OracleError, plain, set_of
from .table import Table


class Play(Table):
    """The play phase."""

    def start_play(self) -> None:
        """The emperor leads. Only tiny decks leave a seat without cards here."""
        assert self.emperor is not None
        for step in range(5):
            seat = (self.emperor + step) % 5
            if not self.hands[seat]:
                self.finish.append(seat)
        self.phase, self.owner = "play", self.emperor
        self._new_lead()
        self._end_if_decided()

    def pick(self, text: str) -> list[str]:
        """Actual cards for a set: suit order s h c d, the identity card only for a star or X."""
        assert self.seat is not None
        spare = self.hands[self.seat].copy()
        if self.holds_special(self.seat):
            assert self.identity is not None
            spare[self.identity] -= 1
        picked: list[str] = []
        for letter in text.replace("*", ""):
            if letter == "X":
                picked.append(f"{self.identity}*")
                continue
            kinds = [letter + suit for suit in SUITS] if letter in NATURAL else [letter]
            if "*" in text and self.identity in kinds and f"{self.identity}*" not in picked:
                picked.append(f"{self.identity}*")
                continue
            card = next(kind for kind in kinds if spare[kind])
            spare[card] -= 1
            picked.append(card)
        return picked

    def apply_play(self, seat: int, text: str, cards: list[str] | None) -> None:
        """Lay down a legal set."""
        if cards is None:
            cards = self.pick(text)
        elif set_of(cards, has_supreme(self.options)) != text:
            raise OracleError(f"cards {' '.join(cards)!r} are not the set {text!r}")
        hand, special = self.hands[seat], self.holds_special(seat)
        starred = [card for card in cards if card.endswith("*")]
        for card in starred:
            if not special or plain(card) != self.identity:
                raise OracleError(f"{card!r} is not an identity card that seat {seat} holds")
        for kind, count in Counter(plain(card) for card in cards).items():
            # Such an identity card can only be played with its star.
            kept = int(special and kind == self.identity and not starred)
            if hand[kind] - kept < count:
                raise OracleError(f"seat {seat} does not have {count} x {kind} to play")
        self.hands[seat] = hand - Counter(plain(card) for card in cards)
        if starred:
            self.role_public = self.identity_played = True
        self._new_set(seat, text.replace("*", ""))

    def _new_set(self, seat: int, text: str) -> None:
        self.standing, self.owner, self.circle = text, seat, 1
        self.yielded = []
        holders = self.with_cards_after(seat)
        self.queue = [other for other in holders if other not in self.out_of_trick]
        self.claim_seat = None
        if not self.hands[seat]:
            self.finish.append(seat)  # that set was his 底牌
            if holders and holders[0] not in self.out_of_trick:
                self.claim_seat = holders[0]
            self._end_if_decided()
        if self.phase == "play" and not self.queue:  # everybody is out of this trick
            self._new_lead()

    def apply_pass(self, seat: int, verb: str) -> None:
        """pass, yield or claim."""
        self.queue.pop(0)
        if verb == "yield":
            self.yielded.append(seat)
        elif self.options["pass_scope"] == "trick":
            self.out_of_trick.add(seat)
        if not self.queue and self.circle == 1 and self.yielded:
            self.circle, self.queue, self.yielded = 2, self.yielded, []
        if not self.queue:
            self._new_lead()

    def _new_lead(self) -> None:
        """扣牌: the owner of the last set leads, or 接风."""
        assert self.owner is not None
        leader = self.owner if self.hands[self.owner] else self.with_cards_after(self.owner)[0]
        self.standing, self.owner, self.circle, self.claim_seat = None, None, 1, None
        self.out_of_trick = set()
        self.queue = [leader]

    def _end_if_decided(self) -> None:
        assert self.emperor is not None
        left = [seat for seat in range(5) if self.hands[seat]]
        possible = possible_scores(
            self.emperor,
            self.guard,
            self.solo,
            self.multiplier,
            self.finish,
            self.options["roles_by"],
        )
        ended = {
            "last_player": len(left) == 1,
            "camp_out": camp_is_out(self.emperor, self.guard, self.finish),
            "decided": len(possible) == 1,
        }
        if not ended[self.options["end"]]:
            return
        if len(left) == 1:
            self.finish.append(left[0])
        assert len(possible) == 1, "§5: scores are equal, whatever ends the hand"
        self.over(list(possible.pop()))
