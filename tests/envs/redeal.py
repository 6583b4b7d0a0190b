"""Re-deal what a seat cannot know, consistently with all that was public.

Written for the leak tests, sharing nothing with envs/baohuang/hidden.py. A deal is possible for a
seat if that seat has the same cards in it and if all moves that were made could have been made in
it, with the same public effects. The oracle says whether they could, by playing them: so what is
public and what it proves (a skipped forced call, an added card, an opposed role, that a hand goes
on) is read off the rules page and nowhere else.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.oracle.hand import Hand
from tests.oracle.sets import OracleError, plain

SEATS = range(5)
POLLS = ("solo_ti", "oppose", "niu", "ti")


class _Anything(list[str]):
    def __contains__(self, _: object) -> bool:
        return True


class Told(Hand):
    """An oracle that is told what was played, which others could see to be legal.

    It still refuses cards that are not held, and an identity card played without its star.
    """

    def legal(self) -> list[str]:
        return _Anything() if self.phase == "play" else super().legal()


def public_facts(hand: Hand) -> tuple[Any, ...]:
    """What everybody sees of a table, beside the moves."""
    return (
        hand.phase,
        tuple(hand.queue),
        tuple(cards.total() for cards in hand.hands),
        hand.crown,
        +hand.pile,
        hand.emperor,
        (hand.guard, hand.solo) if hand.role_public else None,
        hand.called,
        hand.standing,
        hand.owner,
        hand.circle,
        tuple(hand.finish),
        hand.multiplier,
        hand.votes if hand.phase in POLLS else 0,
        hand.role_public,
        hand.void,
    )


@dataclass
class World:
    """A deal, the moves made in it as a record has them, and the table after them."""

    dealt: list[list[str]]
    moves: list[str]
    hand: Hand

    @property
    def marked(self) -> int | None:
        """Who was dealt B*."""
        return next((seat for seat in SEATS if "B*" in self.dealt[seat]), None)


class Story:
    """A hand that is followed move by move, with its public facts after each."""

    def __init__(self, rules: dict[str, Any], dealt: list[list[str]], start: int) -> None:
        self.rules, self.dealt, self.start = rules, dealt, start
        self.hand = Hand(dealt, start, rules)
        self.moves: list[str] = []
        self.facts = [public_facts(self.hand)]
        self.played: list[Counter[str]] = [Counter() for _ in SEATS]

    def tell(self, move: str) -> None:
        """A move as a record has it."""
        self.hand.apply_record_move(move)
        self.moves.append(move)
        self.facts.append(public_facts(self.hand))
        seat, verb, *cards = move.split(" ")
        if verb == "play":
            self.played[int(seat)].update(plain(card) for card in cards)

    @property
    def world(self) -> World:
        """What is true."""
        return World(self.dealt, self.moves, self.hand)

    def redeal(self, viewer: int, rng: random.Random) -> World | None:
        """Another world that ``viewer`` cannot tell from the true one, or None for a bad draw."""
        hands = [+cards for cards in self.hand.hands]
        free = [cards - known for cards, known in zip(hands, self.known(), strict=True)]
        free[viewer].clear()
        others = [seat for seat in SEATS if seat != viewer]
        lists = {seat: sorted(free[seat].elements()) for seat in others}
        if rng.random() < 0.5:  # everything anew; seldom possible after proofs by silence
            pool = [card for seat in others for card in lists[seat]]
            rng.shuffle(pool)
            for seat in others:
                lists[seat] = [pool.pop() for _ in lists[seat]]
        else:
            for _ in range(rng.randrange(4)):
                a, b = rng.sample(others, 2)
                if lists[a] and lists[b]:
                    i, j = rng.randrange(len(lists[a])), rng.randrange(len(lists[b]))
                    lists[a][i], lists[b][j] = lists[b][j], lists[a][i]
        marked = self.world.marked
        secret = self.hand.called or ("B" if marked is not None else None)
        if secret and rng.random() < 0.7 and not self.hand.role_public:
            target = rng.choice(others)
            _give(lists, secret, target, rng)
            if marked is not None and marked != viewer:
                marked = target
        new = [Counter(cards) for cards in hands]
        for seat in others:
            new[seat] = hands[seat] - free[seat] + Counter(lists[seat])
        dealt = []
        for seat in SEATS:
            cards = Counter(plain(card) for card in self.dealt[seat])
            cards.update(new[seat])
            cards.subtract(hands[seat])
            if min(cards.values()) < 0:
                return None
            dealt.append(sorted(cards.elements()))
        first = self.hand.first_holder
        for seat, star in ((first, "R"), (marked, "B")):
            if seat is None:
                continue
            if star not in dealt[seat]:
                return None
            dealt[seat][dealt[seat].index(star)] += "*"
        return self.possible(dealt, viewer)

    def shown(self, seat: int) -> Counter[str]:
        """Cards of a seat that everybody has seen before play: R*, the pile, three copies."""
        hand = self.hand
        shown = Counter[str]()
        if seat == hand.crown:
            shown = Counter(hand.pile) | Counter("R")
            if hand.called is not None:
                shown |= Counter({hand.called: 3})
        return shown

    def known(self) -> list[Counter[str]]:
        """Cards that everybody knows to be in a hand now, so that draws are not all refused."""
        hand, played = self.hand, self.played
        known = [Counter[str]() for _ in SEATS]

        def at_least(seat: int, card: str, copies: int) -> None:
            known[seat][card] = max(known[seat][card], min(copies, hand.hands[seat][card]))

        for card, copies in hand.pile.items():
            at_least(hand.crown, card, copies - played[hand.crown][card])
        at_least(hand.crown, "R", 1 - played[hand.crown]["R"])
        if hand.called is not None and hand.emperor is not None:
            at_least(hand.emperor, hand.called, 3 - played[hand.emperor][hand.called])
        if hand.role_public and hand.identity is not None and hand.identity_seat is not None:
            if hand.called is not None:  # all four copies are accounted for
                for seat in SEATS:
                    at_least(seat, hand.called, 4)
            else:
                at_least(hand.identity_seat, "B", 1 - played[hand.identity_seat]["B"])
        return known

    def possible(self, dealt: list[list[str]], viewer: int) -> World | None:
        """The world of a deal, if ``viewer`` (-1: a spectator) cannot tell it from the true one."""
        if viewer >= 0 and sorted(dealt[viewer]) != sorted(self.dealt[viewer]):
            return None
        hand = Told(dealt, self.start, self.rules)
        moves: list[str] = []
        try:
            for move, facts in zip(self.moves, self.facts[1:], strict=True):
                seat, verb, *rest = move.split(" ")
                if verb == "call" and "open" not in rest and int(seat) != viewer:
                    alone = hand.hands[int(seat)][rest[0]] == 4
                    move = f"{seat} call {rest[0]}{' secret' * alone}"
                hand.apply_record_move(move)
                moves.append(move)
                if public_facts(hand) != facts:
                    return None
        except OracleError:
            return None
        if viewer >= 0 and hand.hands[viewer] != self.hand.hands[viewer]:
            return None
        return World(dealt, moves, hand)


def _give(lists: dict[int, list[str]], card: str, target: int, rng: random.Random) -> None:
    """Let ``target`` have one of the free copies of a card."""
    donors = [seat for seat, cards in lists.items() if seat != target and card in cards]
    if card in lists[target] or not donors or not lists[target]:
        return
    donor = rng.choice(donors)
    i, j = rng.randrange(len(lists[target])), lists[donor].index(card)
    lists[target][i], lists[donor][j] = lists[donor][j], lists[target][i]
