"""The engine and the oracle at the same tables, told the same moves and compared in every state.

A `Party` holds B tables of one engine state and one oracle hand for each.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from lupai.envs.baohuang import notation
from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_NAMES, SOLO_NAMES, State
from lupai.envs.cards import KIND_TEXTS, RANK_OF_KIND
from lupai.envs.game import LegalMoves
from tests.envs.decoder import Knowledge
from tests.oracle.hand import Hand
from tests.oracle.options import joker_marked, options_of
from tests.oracle.random_play import (
    biased_deal,
    biased_move,
    branches,
    outcome,
    record_move,
    small_deck,
)

KIND = {text: kind for kind, text in enumerate(KIND_TEXTS)}
SEATS = range(5)
VIEWERS = np.arange(5)
PRESETS = ("qingdao", "shiwei", "weihai")
Rules = dict[str, Any]  # as in a record
VOTES = ("solo_ti", "oppose", "niu", "ti")


def engine_of(rules: Rules) -> Engine:
    """An engine, made once for each set of rules."""
    return _engine(json.dumps(rules))


@lru_cache(maxsize=64)
def _engine(rules: str) -> Engine:
    return Engine(json.loads(rules))


def with_deck(rules: Rules, deck: list[str] | None) -> Rules:
    """The rules with a deck of their own on request."""
    return rules if deck is None else {**rules, "deck": deck}


def counts_of(hand: Counter[str]) -> np.ndarray:
    """`[54]` counts of the oracle's hand."""
    out = np.zeros(len(KIND_TEXTS), np.int8)
    for kind, count in hand.items():
        out[KIND[kind]] = count
    return out


def tiny_deck(rng: random.Random, rules: Rules | None = None) -> list[str]:
    """10 to 24 cards with many jokers: seats run out at once, B and R are called."""
    options = options_of(rules)
    deck = ["R*"] + ["R"] * rng.choice([0, 1, 2, 3, 3, 3]) + ["B"] * rng.choice([0, 1, 4, 4])
    kinds = [kind for kind in KIND_TEXTS if kind not in "BR"]
    rng.shuffle(kinds)
    some = rng.choice(["6", "3K", "A2", "789", "3456789TJQKA2", "3456789TJQKA2"])
    kinds.sort(key=lambda kind: kind[0] not in some)  # few ranks: large sets
    size = rng.randrange(10, 25)
    for kind in kinds:
        deck += [kind] * rng.choice([1, 2, 3, 4, 4, 4])
        if len(deck) >= max(size, 15 if options["tribute_on_cede"] else 10):
            break
    if joker_marked(options):
        if "B" in deck:
            deck.remove("B")
        deck.append("B*")
    return deck


def short_deal(rng: random.Random, deck: list[str]) -> tuple[list[list[str]], int]:
    """A deal in which one seat gets all copies of some kind that its hand can take."""
    hands, start = biased_deal(rng, deck)
    if rng.random() < 0.5:
        kind = rng.choice("BR")
        seat = rng.randrange(5)
        for other in SEATS:
            for place, card in enumerate(hands[other]):
                mine = [i for i, own in enumerate(hands[seat]) if own[0] != kind]
                if other != seat and card[0] == kind and mine and rng.random() < 0.8:
                    give = rng.choice(mine)
                    hands[other][place], hands[seat][give] = hands[seat][give], card
    return hands, start


class Remembering(Hand):
    """An oracle that works out the legal moves of a state once."""

    _known: list[str] | None = None

    def legal(self) -> list[str]:
        if self._known is None:
            self._known = super().legal()
        return self._known

    def apply(self, move: str, cards: list[str] | None = None) -> None:
        super().apply(move, cards)
        self._known = None


class Party:
    """B tables of one engine with an oracle at each.

    Attributes:
        rules: of all tables, as in a record.
        state: the engine's tables.
        hands: the oracle's.
        seen: how often each phase, verb and rare thing happened.
    """

    def __init__(self, rules: Rules, deals: Iterable[tuple[list[list[str]], int]]) -> None:
        deals = list(deals)
        self.rules = rules
        self.engine = engine_of(rules)
        self.deck = self.engine.rules.cards.counts
        self.state = State(len(deals))
        self.hands: list[Hand] = []
        self.seen: Counter[str] = Counter()
        for table, (cards, start) in enumerate(deals):
            self.hands.append(Remembering(cards, start, rules))
            self.deal(table, cards, start)

    @property
    def open(self) -> list[int]:
        """Tables where the oracle's hand goes on."""
        return [i for i, hand in enumerate(self.hands) if hand.seat is not None]

    def step(self, tables: list[int], moves: list[str], given: bool = False) -> None:
        """Make one move at each table; `given`: with the very cards, as records do."""
        actions, cards = [], np.zeros((len(tables), len(KIND_TEXTS)), np.int8)
        for i, (table, move) in enumerate(zip(tables, moves, strict=True)):
            hand = self.hands[table]
            actions.append(self.engine.action_of(self.state, table, move))
            picked = hand.pick(move[5:]) if move.startswith("play ") else None
            for card in picked or []:
                cards[i, KIND[card.rstrip("*")]] += 1
            if given:
                self._compare_texts(table, actions[i], record_move(hand, move)[2:], cards[i])
            self.tell(table, move, picked)
        self.engine.step(self.state, actions, tables, cards=cards if given else None)

    def tell(self, table: int, move: str, picked: list[str] | None) -> None:
        """Make a move in the oracle's hand only."""
        hand = self.hands[table]
        self._count(hand, move)
        hand.apply(move, picked)
        if hand.void:
            self.seen["void"] += 1
        if hand.seat is None:
            self.seen.update(outcome(hand))

    def _compare_texts(self, table: int, action: int, text: str, cards: np.ndarray) -> None:
        """A move as a record has it: read, and written with the same cards."""
        engine = self.engine
        read, taken = engine.read_move(self.state, table, text)
        assert read == action
        assert np.array_equal(taken, cards)
        mine, public, took = engine.record_move(self.state, table, action)
        assert sorted(mine.split(" ")) == sorted(text.split(" "))
        assert public == mine.removesuffix(" secret")
        assert np.array_equal(took, cards)

    def _count(self, hand: Hand, move: str) -> None:
        seen, words = self.seen, move.split(" ")
        seen.update(branches(hand, move))
        seen[f"phase {hand.phase}"] += 1
        seen[words[0]] += 1
        if words[0] == "call":
            seen[f"call {words[2] if len(words) > 2 else 'with a guard'}"] += 1
            if words[1] in ("B", "R"):
                seen[f"call of {words[1]}"] += 1
                seen[f"solo of {words[1]}"] += len(words) > 2
                seen["forced call of a joker"] += hand.phase == "forced_call"
        seen["star"] += "*" in move
        seen["star on a joker"] += "B*" in move or "R*" in move
        seen["circle 2"] += hand.circle == 2
        seen["beaten in circle 2"] += hand.circle == 2 and words[0] == "play"
        last = hand.owner is not None and not hand.hands[hand.owner]
        seen["asked by a last set"] += last
        seen["circle 2 by a last set"] += last and hand.circle == 2
        closes = words[0] not in ("play", "yield") and hand.phase == "play" and len(hand.queue) == 1
        seen["接风"] += last and closes and not hand.yielded
        seen["last set while some yielded"] += (
            words[0] == "play"
            and bool(hand.yielded)
            and len(move[5:].replace("*", "")) == sum(hand.hands[hand.seat].values())
        )

    def check(self, table: int) -> list[str]:
        """Compare everything at one table; returns the legal moves."""
        return self.check_all([table])[0]

    def check_all(self, tables: list[int]) -> list[list[str]]:
        """Compare everything at each of the tables; returns the legal moves of each."""
        for table in tables:
            self._compare(table)
        return self.check_legal(tables, self.engine.legal(self.state, tables))

    def check_legal(self, tables: list[int], legal: LegalMoves) -> list[list[str]]:
        """Compare the legal moves at each of the tables; returns them."""
        flat, offsets = legal.ids()
        counts = legal.counts()
        out = []
        for i, table in enumerate(tables):
            hand = self.hands[table]
            expected = hand.legal()
            texts = notation.texts(
                self.state,
                table,
                flat[offsets[i] : offsets[i + 1]],
                supreme=self.engine.rules.supreme,
            )
            out.append(expected)
            if hand.phase != "play":  # the contract orders the moves of the play phase only
                texts, expected = sorted(texts), sorted(expected)
            assert texts == expected
            assert counts[i] == len(expected)
        return out

    def _compare(self, table: int) -> None:
        hand, state, engine = self.hands[table], self.state, self.engine
        numbers = state.take([table])

        def of(name: str) -> int:
            return int(getattr(numbers, name)[0])

        assert PHASE_NAMES[of("phase")] == hand.phase
        assert of("actor") == _seat(hand.seat)
        for seat in SEATS:
            counts = counts_of(hand.hands[seat])
            assert np.array_equal(state.hands[table, seat], counts), seat
            by_rank = np.bincount(RANK_OF_KIND, weights=counts, minlength=15)
            assert np.array_equal(state.ranks[table, seat], by_rank), seat
            assert state.sizes[table, seat] == counts.sum()
        together = state.hands[table].sum(axis=0) + state.played[table].sum(axis=0)
        assert np.array_equal(together, self.deck)
        assert np.array_equal(state.pile[table], counts_of(hand.pile))

        assert of("emperor") == _seat(hand.emperor)
        assert of("guard") == _seat(hand.guard)
        refused = abandoned(hand)
        if hand.phase == "offer":  # while the crown is offered nobody has a role to speak of
            assert (SOLO_NAMES[of("solo")], hand.solo) == ("secret", None)
        else:
            assert SOLO_NAMES[of("solo")] == hand.solo
        assert of("abandoned") == refused
        assert of("public") == hand.role_public or refused
        assert of("identity_seat") == (-1 if refused else _seat(special_seat(hand)))
        identity = hand.identity if hand.emperor is not None else None
        assert of("identity_kind") == (-1 if identity is None else KIND[identity])
        assert of("crown") == hand.crown
        assert of("first_holder") == hand.first_holder
        assert of("multiplier") == hand.multiplier
        assert of("votes") == (hand.votes if hand.phase in VOTES else 0)
        places = [hand.finish.index(s) + 1 if s in hand.finish else 0 for s in SEATS]
        assert state.places[table].tolist() == places
        if hand.seat is None:
            assert engine.scores(numbers)[0].tolist() == hand.scores
            assert of("void") == hand.void
            assert engine.outcome(state, table) == {
                "roles": {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo},
                "finish": hand.finish,
                "scores": hand.scores,
            }
            return
        assert engine.scores(numbers)[0].tolist() == [0] * 5
        if hand.phase != "forced_call" and (hand.phase != "play" or hand.standing):
            asked = {seat for seat in SEATS if of("to_ask") >> seat & 1}
            assert asked == set(hand.queue)
        if hand.phase == "play":
            standing = of("standing")
            text = "play " + hand.standing if hand.standing else None
            assert (ACTIONS.text(standing, supreme=True) if standing >= 0 else None) == text
            assert of("owner") == _seat(hand.owner)
            assert of("circle") == hand.circle
            left = {seat for seat in SEATS if of("left_trick") >> seat & 1}
            assert left == hand.out_of_trick

    def random_moves(self, tables: list[int], rng: random.Random) -> list[str]:
        """A biased move for each table, after comparing it."""
        return [biased_move(legal, rng) for legal in self.check_all(tables)]

    def deal(self, table: int, cards: list[list[str]], start: int) -> None:
        """A new hand at one table."""
        self.state.put([table], self.engine.reset_hands([" ".join(hand) for hand in cards], start))
        self.hands[table] = Remembering(cards, start, self.rules)


def _seat(seat: int | None) -> int:
    return -1 if seat is None else seat


def abandoned(hand: Hand) -> bool:
    """Whether the hand ended because all refused the crown."""
    return hand.phase == "over" and not hand.void and not hand.finish


def special_seat(hand: Hand) -> int | None:
    """Who holds an identity card that is no ordinary card, once there are roles."""
    if hand.emperor is None:
        return None
    return next((seat for seat in SEATS if hand.holds_special(seat)), None)


def play_out(party: Party, rng: random.Random, given: bool = False) -> Party:
    """Play all tables to their ends, all open ones in each step, comparing every state."""
    while tables := party.open:
        party.step(tables, party.random_moves(tables, rng), given)
    party.check_all(list(range(len(party.hands))))
    return party


def hands(count: int, full: int, preset: str = "qingdao") -> list[tuple[int, Rules]]:
    """Seeds and rules: some hands of the preset's own deck, many of small ones."""
    rules: Rules = {"preset": preset}
    out: list[tuple[int, Rules]] = [(seed, rules) for seed in range(full)]
    for seed in range(count):
        rng = random.Random(100 + seed)
        deck = small_deck(rng, rules) if seed % 2 else tiny_deck(rng, rules)
        out.append((seed, with_deck(rules, deck)))
    return out


def deal_of(rng: random.Random, rules: Rules) -> tuple[list[list[str]], int]:
    """A biased deal; jokers lie together in half of those of small decks."""
    deck = rules.get("deck")
    return short_deal(rng, deck) if isinstance(deck, list) else biased_deal(rng, rules=rules)


def walk(seed: int, rules: Rules) -> Iterator[tuple[Party, Knowledge, random.Random]]:
    """States of a random hand: `(party, knowledge, rng)` before each move and at the end."""
    rng = random.Random(seed)
    party = Party(rules, [deal_of(rng, rules)])
    hand = party.hands[0]
    known = Knowledge(hand)
    while hand.seat is not None:
        yield party, known, rng
        seat, phase, move = hand.seat, hand.phase, biased_move(hand.legal(), rng)
        picked = hand.pick(move[5:]) if move.startswith("play ") else []
        party.step([0], [move])
        known.hear(seat, phase, move, picked)
    yield party, known, rng


def views(engine: Engine, state: State) -> np.ndarray:
    """`[5, D]` observations of all seats at table 0."""
    return engine.observe(state, VIEWERS, np.zeros(5, np.intp))


# ---- one engine table, moved by hand


def small(*hands: str, start: int = 0, rules: str | Rules = "qingdao") -> tuple[Engine, State]:
    """A table with these hands and the deck that they make."""
    rules = {"preset": rules} if isinstance(rules, str) else rules
    engine = Engine({**rules, "deck": " ".join(hands)})
    return engine, engine.reset_hands(list(hands), start)


def play(engine: Engine, state: State, *moves: str) -> None:
    """Moves as records have them; the seats must be those that are asked."""
    for text in moves:
        seat, move = text.split(" ", 1)
        assert int(seat) == state.actor[0], text
        action, cards = engine.read_move(state, 0, move)
        engine.step(state, [action], cards=cards[None])
