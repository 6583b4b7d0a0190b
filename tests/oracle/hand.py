"""Oracle for one hand of 保皇, from the first question to the scores, under any rules of §7.

Written from rules/baohuang.md alone; records and notation from formats.md. One
table, no speed, no import of the engine.

Readings where the page leaves room (the first two do not matter for a named deck):
- a kind may be called when the deck has *exactly* four copies of it;
- a seat without cards is still asked in the phases before play; seats without
  cards when play starts take their finishing places then, from the emperor on;
- `yield` is open in circle 1 even when nothing beats (as the cases have it);
- 贴牌: "fewest copies" counts his own hand, without the pile that lies with him; he who has no
  natural card adds none;
- an option that has no meaning under other options is ignored, except for the combinations
  that §7 calls errors and `guard_by = marked_small_joker` with `roles_by = marks`.
"""

import re
from typing import Any

from .called import CalledRoles
from .legal import legal_play
from .marks import MarkRoles
from .options import has_supreme
from .play import Play
from .sets import OracleError, parse_cards, set_of

CALLED_PHASES = ("grab", "call", "forced_call", "open")
MARKS_PHASES = ("solo", "solo_ti", "abandon", "offer", "oppose", "niu", "ti")
# and: declare, play, over
PHASES = (*CALLED_PHASES, *MARKS_PHASES, "declare", "play", "over")


class Hand(Play, CalledRoles, MarkRoles):
    """One hand in progress; `rules` as in a record (default: preset qingdao)."""

    def __init__(
        self, hands: list[list[str]], start: int, rules: str | dict[str, Any] | None = None
    ) -> None:
        super().__init__(hands, start, rules)
        self.by_marks = self.options["roles_by"] == "marks"
        if self.by_marks:
            self.begin_marks()
        else:
            self.begin_called()

    def legal(self) -> list[str]:
        """Legal moves of `seat`; in play exactly in the order of formats.md."""
        seat = self.seat
        if seat is None:
            return []
        if self.phase in CALLED_PHASES:
            return self.legal_called(seat)
        if self.phase in MARKS_PHASES:
            return self.legal_marks(seat)
        if self.phase == "declare":  # the emperor is not asked
            return ["declare", "silent"] if self.identity_seat == seat else ["silent"]
        claimable = self.circle == 1 and self.claim_seat == seat and self.options["claim"]
        rules = {name: value for name, value in self.options.items() if name != "deck"}
        return legal_play(
            self.cards_of(seat),
            self.standing,
            self.circle,
            claimable,
            self.role_public,
            {**rules, "deck": "full216"},  # which deck makes no difference here
        )

    def apply(self, move: str, cards: list[str] | None = None) -> None:
        """Make a move in set notation; `cards` names the actual cards of a play."""
        seat = self.seat
        if seat is None:
            raise OracleError(f"{move!r}: the hand is over")
        legal = self.legal()
        if move not in legal:
            shown = ", ".join(legal[:12]) + (", …" if len(legal) > 12 else "")
            raise OracleError(
                f"{move!r} is not legal for seat {seat} in phase {self.phase}; legal: {shown}"
            )
        verb, *rest = move.split(" ")
        if cards is not None and verb != "play":
            raise OracleError(f"{move!r} takes no cards")
        if self.phase in CALLED_PHASES:
            self.apply_called(seat, verb, rest)
        elif self.phase in MARKS_PHASES:
            self.apply_marks(seat, verb)
        elif self.phase == "declare":
            self._apply_declare(verb)
        elif verb == "play":
            self.apply_play(seat, rest[0], cards)
        else:
            self.apply_pass(seat, verb)

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
                self.apply(f"play {set_of(cards, has_supreme(self.options))}", cards)
            except OracleError as error:
                raise OracleError(f"{text!r}: {error}") from None
        else:
            self.apply(f"{verb} {rest}" if rest else verb)

    def _apply_declare(self, verb: str) -> None:
        if verb == "declare":
            self.role_public, self.multiplier = True, 2
            if self.by_marks:
                self.declared_marks()
            else:
                self.start_play()
            return
        self.queue.pop(0)
        if not self.queue:
            if self.by_marks:
                self.nobody_declared_marks()
            else:
                self.start_play()
