"""The engine and the oracle at the same tables, told the same moves and compared in every state.

A `Party` holds B tables of one engine state and one oracle hand for each.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from lupai.envs.actions import ACTIONS
from lupai.envs.baohuang import notation
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_NAMES, SOLO_NAMES, State
from lupai.envs.cards import KIND_TEXTS, RANK_OF_KIND
from tests.envs.decoder import Knowledge
from tests.oracle.qingdao import Hand
from tests.oracle.random_play import biased_deal, biased_move, small_deck

KIND = {text: kind for kind, text in enumerate(KIND_TEXTS)}
SEATS = range(5)
VIEWERS = np.arange(5)


@lru_cache(maxsize=64)
def engine_of(deck: tuple[str, ...] | None = None) -> Engine:
    """An engine of preset qingdao, with a deck of its own on request."""
    return Engine("qingdao" if deck is None else {"preset": "qingdao", "deck": list(deck)})


def counts_of(hand: Counter[str]) -> np.ndarray:
    """`[54]` counts of the oracle's hand."""
    out = np.zeros(len(KIND_TEXTS), np.int8)
    for kind, count in hand.items():
        out[KIND[kind]] = count
    return out


def tiny_deck(rng: random.Random) -> list[str]:
    """10 to 24 cards with many jokers: seats run out at once, B and R are called."""
    deck = ["R*"] + ["R"] * rng.choice([0, 1, 2, 3, 3, 3]) + ["B"] * rng.choice([0, 1, 4, 4])
    kinds = [kind for kind in KIND_TEXTS if kind not in "BR"]
    rng.shuffle(kinds)
    some = rng.choice(["6", "3K", "A2", "789", "3456789TJQKA2", "3456789TJQKA2"])
    kinds.sort(key=lambda kind: kind[0] not in some)  # few ranks: large sets
    size = rng.randrange(10, 25)
    for kind in kinds:
        deck += [kind] * rng.choice([1, 2, 3, 4, 4, 4])
        if len(deck) >= size:
            break
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


class Party:
    """B tables of one engine with an oracle at each.

    Attributes:
        state: the engine's tables.
        hands: the oracle's.
        seen: how often each phase, verb and rare thing happened.
    """

    def __init__(self, engine: Engine, deals: Iterable[tuple[list[list[str]], int]]) -> None:
        deals = list(deals)
        self.engine = engine
        self.deck = engine.rules.cards.counts
        self.state = State(len(deals))
        self.hands = []
        self.seen: Counter[str] = Counter()
        for table, (cards, start) in enumerate(deals):
            self.hands.append(Hand(cards, start))
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
            self._count(hand, move)
            actions.append(notation.action_of(self.state, table, move))
            picked = hand.pick(move[5:]) if move.startswith("play ") else None
            for card in picked or []:
                cards[i, KIND[card.rstrip("*")]] += 1
            hand.apply(move, picked)
            if hand.void:
                self.seen["void"] += 1
        self.engine.step(self.state, actions, tables, cards=cards if given else None)

    def _count(self, hand: Hand, move: str) -> None:
        seen, words = self.seen, move.split(" ")
        seen[f"phase {hand.phase}"] += 1
        seen[words[0]] += 1
        if words[0] == "call":
            seen[f"call {words[2] if len(words) > 2 else 'with a guard'}"] += 1
            if words[1] in ("B", "R"):
                seen[f"call of {words[1]}"] += 1
                seen[f"solo of {words[1]}"] += len(words) > 2
                seen["forced call of a joker"] += hand.phase == "forced_call"
        if words[0] == "grab":
            seen["grab by the holder"] += hand.seat == hand.crown
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
        hand, state, engine = self.hands[table], self.state, self.engine
        assert PHASE_NAMES[state.phase[table]] == hand.phase
        assert state.actor[table] == _seat(hand.seat)
        for seat in SEATS:
            counts = counts_of(hand.hands[seat])
            assert np.array_equal(state.hands[table, seat], counts), seat
            by_rank = np.bincount(RANK_OF_KIND, weights=counts, minlength=15)
            assert np.array_equal(state.ranks[table, seat], by_rank), seat
            assert state.sizes[table, seat] == counts.sum()
        together = state.hands[table].sum(axis=0) + state.played[table].sum(axis=0)
        assert np.array_equal(together, self.deck)
        assert state.emperor[table] == _seat(hand.emperor)
        assert state.guard[table] == _seat(hand.guard)
        assert SOLO_NAMES[state.solo[table]] == hand.solo
        assert state.public[table] == hand.role_public
        hidden = hand.identity_seat if not hand.role_public else None
        assert state.identity_seat[table] == _seat(hidden)
        assert state.identity_kind[table] == (-1 if hand.called is None else KIND[hand.called])
        assert state.crown[table] == hand.crown
        places = [hand.finish.index(s) + 1 if s in hand.finish else 0 for s in SEATS]
        assert state.places[table].tolist() == places
        if hand.seat is None:
            assert engine.scores(state)[table].tolist() == hand.scores
            assert state.void[table] == hand.void
            return []
        assert engine.scores(state)[table].tolist() == [0] * 5
        if hand.phase == "play":
            standing = int(state.standing[table])
            text = "play " + hand.standing if hand.standing else None
            assert (ACTIONS.text(standing) if standing >= 0 else None) == text
            assert state.owner[table] == _seat(hand.owner)
            assert state.circle[table] == hand.circle
        expected = hand.legal()
        legal = engine.legal(state, [table])
        texts = engine.legal_texts(state, table, legal)
        if hand.phase != "play":  # the contract orders the moves of the play phase only
            texts, expected = sorted(texts), sorted(expected)
        assert texts == expected
        assert legal.counts()[0] == len(expected)
        return expected

    def random_moves(self, tables: list[int], rng: random.Random) -> list[str]:
        """A biased move for each table, after comparing it."""
        return [biased_move(self.check(table), rng) for table in tables]

    def deal(self, table: int, cards: list[list[str]], start: int) -> None:
        """A new hand at one table."""
        self.state.put([table], self.engine.reset_hands([" ".join(hand) for hand in cards], start))
        self.hands[table] = Hand(cards, start)


def _seat(seat: int | None) -> int:
    return -1 if seat is None else seat


def play_out(party: Party, rng: random.Random, given: bool = False) -> Party:
    """Play all tables to their ends, all open ones in each step, comparing every state."""
    while tables := party.open:
        party.step(tables, party.random_moves(tables, rng), given)
    for table in range(len(party.hands)):
        party.check(table)
    return party


def hands(count: int, full: int) -> list[tuple[int, list[str] | None]]:
    """Seeds and decks: some full ones, many small."""
    out: list[tuple[int, list[str] | None]] = [(seed, None) for seed in range(full)]
    for seed in range(count):
        rng = random.Random(100 + seed)
        out.append((seed, small_deck(rng) if seed % 2 else tiny_deck(rng)))
    return out


def walk(seed: int, deck: list[str] | None) -> Iterator[tuple[Party, Knowledge, random.Random]]:
    """States of a random hand: `(party, knowledge, rng)` before each move and at the end."""
    rng = random.Random(seed)
    engine = engine_of(None if deck is None else tuple(deck))
    party = Party(engine, [biased_deal(rng) if deck is None else short_deal(rng, deck)])
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


def small(*hands: str, start: int = 0) -> tuple[Engine, State]:
    """A table with these hands and the deck that they make."""
    engine = Engine({"preset": "qingdao", "deck": " ".join(hands)})
    return engine, engine.reset_hands(list(hands), start)


def play(engine: Engine, state: State, *moves: str) -> None:
    """Moves as records have them; the seats must be those that are asked."""
    for text in moves:
        seat, move = text.split(" ", 1)
        assert int(seat) == state.actor[0], text
        action, cards = notation.read_move(state, 0, move)
        engine.step(state, [action], cards=cards[None])
