"""Re-deal what a seat cannot know of a hand of Gouji, consistently with all that was public.

Written for the leak tests, sharing nothing with envs/gouji/hidden.py. A deal is possible for a seat
if that seat has the same cards in it, the same 3s made the same first leader, the same cards were
given as tribute, and all moves that were made could have been made in it with the same public
effects. The oracle says whether they could, by playing them: so what is public and what it proves
(a burn, a refused rank, a revolution) is read off the rules page and nowhere else.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.envs.gouji.side_by_side import SEATS, WORDS, Deal
from tests.oracle_gouji.hand import Hand
from tests.oracle_gouji.sets import OracleError, can_go_on, take_away
from tests.oracle_gouji.tribute import duties


def first_threes(hands: Sequence[Sequence[str]], start: int) -> tuple[int, str, int]:
    """First leader, and the suit and number of the 3s that made him so ("" and 0: none), by the
    deal card by card."""
    held: Counter[tuple[int, str]] = Counter()
    leader, suit, most = start, "", 1
    for place in range(sum(map(len, hands))):
        seat = (start + place) % 6
        rank, *rest = hands[seat][place // 6]
        if rank == "3":
            held[seat, rest[0]] += 1
            if held[seat, rest[0]] > most:
                leader, suit, most = seat, rest[0], held[seat, rest[0]]
    return leader, suit, most if suit else 0


def gifts(deal: Deal) -> list[tuple[int, int, str]]:
    """(giver, receiver, card) of the tribute: R, B, 2s, of equal 2s by suit s, h, c, d."""
    found = []
    for giver, receiver, number in duties(deal.previous) if deal.previous else []:
        if (giver - receiver) % 2:
            high = [card for card in deal.hands[giver] if card[0] in "RB2"]
            high.sort(key=lambda card: ("RB2".index(card[0]), "shcd".index(card[1:] or "s")))
            found += [(giver, receiver, card) for card in high[:number]]
    return found


class _Anything(list[str]):
    def __contains__(self, _: object) -> bool:
        return True


class Told(Hand):
    """An oracle that is told what was played, which others could see to be in order.

    It still refuses cards that are not held, and a burn that a hand does not allow.
    """

    def legal(self) -> list[str]:
        return _Anything() if self.phase in ("play", "melee") else super().legal()

    def play(self, move: str) -> None:
        if self.phase in ("play", "melee") and move not in WORDS:
            seat, reason = self.queue[0]
            left = take_away(self.hands[seat], move)
            burns = reason == "burn" and not can_go_on(left)
            if burns or not self._keeps_duty(seat, move):
                raise OracleError(f"{move} is no burning set of this hand")
        super().play(move)


Moves = list[tuple[int, str, list[str]]]  # (seat, move, cards)
Transfer = tuple[int, int | None, str]  # giver, receiver or None for the table, card


def transfers(hand: Hand, moves: Moves, seat: int, move: str, cards: list[str]) -> list[Transfer]:
    """Cards that change hands by the next move; an offered one only when it is taken."""
    if move == "take":
        assert hand.tribute is not None
        return [(hand.tribute.returns[0][0], seat, moves[-1][2][0])]
    return [] if move.startswith("offer") else [(seat, None, card) for card in cards]


def hand_over(cards: list[Counter[str]], transfer: Transfer) -> None:
    """A card leaves one seat's cards and comes to another's, or to the table."""
    giver, receiver, card = transfer
    cards[giver][card] -= 1
    if receiver is not None:
        cards[receiver][card] += 1


def public_facts(hand: Hand) -> tuple[Any, ...]:
    """What everybody sees of a table, beside the moves."""
    tribute = hand.tribute
    return (
        hand.phase,
        tuple(hand.queue),
        tuple(sum(cards.values()) for cards in hand.hands),
        hand.first_leader,
        hand.standing,
        hand.owner,
        hand.counts_as_gouji,
        hand.burners_only,
        tuple(sorted(hand.out)),
        tuple(sorted(hand.headless)),
        hand.duty,
        tuple(hand.finish),
        tuple(hand.failed),
        hand.revolter,
        hand.revolution_left,
        None if tribute is None else (tribute.offered, tuple(tribute.returns)),
    )


@dataclass
class World:
    """A deal and the moves made in it."""

    deal: Deal
    moves: Moves
    hand: Hand


class Story:
    """A hand that is followed move by move, with its public facts after each."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.hand = Hand(deal.options, deal.hands, deal.start, deal.previous)
        self.moves: Moves = []
        self.facts = [public_facts(self.hand)]
        self.now = [Counter(cards) for cards in deal.hands]  # of those who lay down, too
        self.since = [Counter[str]() for _ in SEATS]  # came since the deal, less what left
        self.gifts, self.threes = gifts(deal), first_threes(deal.hands, deal.start)
        self._hand_over(self.gifts)

    def _hand_over(self, going: Sequence[Transfer]) -> None:
        for transfer in going:
            hand_over(self.now, transfer)
            hand_over(self.since, transfer)

    def tell(self, move: str, rng: random.Random) -> None:
        """A move of the asked seat, with drawn suits."""
        question = self.hand.question()
        assert question is not None
        seat = question[0]
        ranks = move[-1] if move.startswith("offer") else "" if move in WORDS else move
        cards: list[str] = []
        for rank in ranks:
            free = list((self.now[seat] - Counter(cards)).elements())
            cards.append(rng.choice([card for card in free if card[0] == rank]))
        self._hand_over(transfers(self.hand, self.moves, seat, move, cards))
        self.hand.play(move)
        self.moves.append((seat, move, cards))
        self.facts.append(public_facts(self.hand))

    @property
    def world(self) -> World:
        """What is true."""
        return World(self.deal, self.moves, self.hand)

    def redeal(self, viewer: int, rng: random.Random) -> World | None:
        """Another world that `viewer` (-1: a spectator) cannot tell from the true one, or None for
        a bad draw."""
        others = [seat for seat in SEATS if seat != viewer and self.now[seat].total()]
        lists = {seat: sorted(self.now[seat].elements()) for seat in others}
        if rng.random() < 0.4:  # everything anew
            pool = [card for seat in others for card in lists[seat]]
            rng.shuffle(pool)
            for seat in others:
                lists[seat] = [pool.pop() for _ in lists[seat]]
        else:
            for _ in range(rng.randint(1, 12)):
                a, b = (rng.choice(others) for _ in "ab")
                i, j = rng.randrange(len(lists[a])), rng.randrange(len(lists[b]))
                lists[a][i], lists[b][j] = lists[b][j], lists[a][i]
        dealt = []
        for seat in SEATS:
            cards = Counter(lists.get(seat, list(self.now[seat].elements())))
            cards.subtract(self.since[seat])
            if min(cards.values()) < 0:
                return None
            dealt.append(self._in_order(seat, list(cards.elements()), rng))
        deal = Deal(self.deal.options, dealt, self.deal.start, self.deal.previous)
        return self.possible(deal, viewer, rng)

    def _in_order(self, seat: int, cards: list[str], rng: random.Random) -> list[str]:
        """Cards in some deal order; where the 3s are the same, often with them in their places."""
        rng.shuffle(cards)
        old = self.deal.hands[seat]
        threes = [card for card in old if card[0] == "3"]
        if Counter(threes) == Counter(card for card in cards if card[0] == "3"):
            rest = [card for card in cards if card[0] != "3"]
            return [card if card[0] == "3" else rest.pop() for card in old]
        return cards

    def possible(self, deal: Deal, viewer: int, rng: random.Random) -> World | None:
        """The world of a deal, if `viewer` cannot tell it from the true one."""
        if viewer >= 0 and Counter(deal.hands[viewer]) != Counter(self.deal.hands[viewer]):
            return None
        if first_threes(deal.hands, deal.start) != self.threes or gifts(deal) != self.gifts:
            return None
        hand = Told(deal.options, deal.hands, deal.start, deal.previous)
        moves: Moves = []
        held = [Counter(cards) for cards in deal.hands]
        going: list[Transfer] = [*self.gifts]
        running = self.hand.phase == "revolution"
        try:
            for (seat, move, cards), facts in zip(self.moves, self.facts[1:], strict=True):
                for transfer in going:
                    hand_over(held, transfer)
                if Counter(cards) - held[seat]:  # all saw the very card of an offer, taken or not
                    return None
                if running and hand.phase == "revolution" and seat != viewer:
                    move = rng.choice(hand.legal())  # his answer is still hidden
                going = transfers(hand, moves, seat, move, cards)
                hand.play(move)
                moves.append((seat, move, cards))
                if public_facts(hand) != facts:
                    return None
        except OracleError:
            return None
        return World(deal, moves, hand)
