"""The engine of Gouji and the plain oracle at the same tables.

The oracle plays a hand by itself and writes down each question with the position (`Watched`);
then the engine makes the same moves, many tables at once, and everything is compared before each
of them (`follow`).
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from lupai.envs.cards import KIND_TEXTS, RANK_OF_KIND, count_ranks, four_packs
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.orders import unpack
from lupai.envs.gouji.state import COLUMN, Phase, State
from tests.oracle_gouji.deal import first_leader
from tests.oracle_gouji.hand import Hand
from tests.oracle_gouji.options import Options
from tests.oracle_gouji.random_play import DEALS, STRINGS, WEIGHTS, play_out
from tests.oracle_gouji.sets import RANKS

SEATS = range(6)
DECK = four_packs(marked_r=False).counts
KIND = {text: kind for kind, text in enumerate(KIND_TEXTS)}
WORDS = ("pass", "yield", "silent", "revolt", "waive", "take", "refuse")
ANYTHING = -99  # where the oracle says nothing

Rules = dict[str, Any]  # as in a record


def engine_of(options: Options) -> Engine:
    """An engine, made once for each set of options."""
    return _engine(json.dumps(rules_of(options)))


@lru_cache(maxsize=64)
def _engine(rules: str) -> Engine:
    return Engine(json.loads(rules))


def rules_of(options: Options) -> Rules:
    """The oracle's options as the engine reads them."""
    return {
        "preset": "shandong",
        "revolution": options.revolution,
        "hand_sizes": options.hand_sizes,
        "burn_fail": None if options.burn_fail == "never" else options.burn_fail,
        "tribute": options.tribute,
        "end": options.end,
    }


@cache
def text_of(move: str) -> str:
    """An oracle's move as the engine writes it."""
    return move if move in WORDS or move.startswith("offer") else f"play {move}"


@cache
def id_of(move: str) -> int:
    """Action id of an oracle's move."""
    return ACTIONS.encode(ACTIONS.parse(text_of(move)))


# ---- the oracle's side


@dataclass(frozen=True)
class Deal:
    """What a hand begins with."""

    options: Options
    hands: list[list[str]]
    start: int
    previous: list[int] | None = None

    @property
    def texts(self) -> list[str]:
        return [" ".join(cards) for cards in self.hands]


def engine_deal(options: Options, seed: int) -> Deal:
    """A hand as the engine deals it."""
    hands, start = engine_of(options).dealt_hands(seed)
    previous = random.Random(seed).sample(SEATS, 6) if options.tribute else None
    return Deal(options, [text.split(" ") for text in hands], start, previous)


def stacked_deal(options: Options, rng: random.Random) -> Deal:
    """A hand that is likely to lead to rare branches."""
    name = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    hands, start = DEALS[name](rng)
    draw = rng.random()
    if draw < 0.05:  # nobody holds two 3s of one suit
        hands, start = DEALS["spread_threes"](rng)
    elif draw < 0.1:  # the first leader may revolt
        while any(card[0] in "RB2" for card in hands[first_leader(hands, start)[0]]):
            hands, start = DEALS["poor"](rng)
    previous = rng.sample(SEATS, 6) if rng.random() < 0.7 else rng.choice(STRINGS)
    # a giver who has nothing left to compare with refuses everything
    bare = [i for i in SEATS if sum(card[0] in "RB2" for card in hands[i]) == 1]
    if bare and rng.random() < 0.7:
        giver = rng.choice(bare)
        places = rng.choice(((2, 3, 1, 4, 0, 5), (3, 2, 1, 4, 5, 0)))
        previous = [(giver + step) % 6 for step in places]
    return Deal(options, hands, start, previous if options.tribute else None)


@dataclass
class Step:
    """A question, and the position in which it was asked."""

    numbers: list[int]  # by the names of NUMBERS
    queue: list[int] | None  # who is asked next about the same
    ranks: np.ndarray  # [6, 15]; ANYTHING where cards were laid down unseen
    places: list[int]
    legal: list[str]
    move: str = ""


NUMBERS = (
    "phase", "actor", "first_leader", "standing", "owner", "kind", "burning", "bottom", "passed",
    "yielded", "duty", "burned", "headless", "melee", "alive", "left", "revolts", "revolter",
    "deaths", "goujis", "burns",
)  # fmt: skip
PHASES = {
    "offer": Phase.OFFER, "take": Phase.ANSWER_OFFER, "revolt": Phase.REVOLT, "waive": Phase.WAIVE,
    "lead": Phase.PLAY, "burn": Phase.PLAY, "answer": Phase.PLAY,
}  # fmt: skip


class Watched(Hand):
    """An oracle that writes down every question with its position."""

    def __init__(self, deal: Deal) -> None:
        self.steps: list[Step] = []
        self.goujis = self.burns = 0
        super().__init__(deal.options, deal.hands, deal.start, deal.previous)

    def play(self, move: str) -> None:
        step = position(self)
        step.move = move
        self.steps.append(step)
        if move not in WORDS and self.queue:
            reason = self.queue[0][1]
            self.burns += reason == "burn"
            self.goujis += reason in ("gouji", "deadly") and self.counts_as_gouji
        super().play(move)


def position(hand: Watched) -> Step:
    """What the oracle says of a hand, as the engine writes it."""
    question = hand.question()
    melee = hand.phase == "melee"
    playing = melee or hand.phase == "play"
    reasons = [reason for _, reason in hand.queue]
    opposite = None if hand.revolter is None else (hand.revolter + 3) % 6
    told = opposite is not None and hand.holds(opposite) and not melee
    asked_kind = "" if question is None else question[1]
    owner = hand.owner
    bottom = playing and owner in hand.finish[:2] and not melee
    numbers = {
        "phase": Phase.OVER if question is None else PHASES[asked_kind],
        "actor": -1 if question is None else question[0],
        "first_leader": hand.first_leader,
        "left": len(hand.finish),
        "alive": bits(seat for seat in SEATS if hand.holds(seat)),
        "headless": bits(seat for seat in hand.headless if hand.holds(seat)),
        "revolts": bits(seat for seat, vote in hand.votes if vote == "revolt"),
        "revolter": -1 if hand.revolter is None else hand.revolter,
        "deaths": hand.revolution_left if told else ANYTHING if opposite is not None else 0,
        "goujis": hand.goujis,
        "burns": hand.burns,
        "melee": int(melee),
        "passed": bits(hand.out),
        "duty": -1 if hand.duty is None else hand.duty[0],
        "burned": -1 if hand.duty is None else hand.duty[1],
    }
    if playing:
        kind = 0 if melee else 2 if hand.burners_only else int(hand.counts_as_gouji)
        numbers |= {
            "standing": -1 if hand.standing is None else id_of(hand.standing) - SET,
            "owner": -1 if owner is None else owner,
            "kind": kind,
            "burning": int(asked_kind == "burn"),
            "yielded": int("again" in reasons),
            "bottom": hand.finish.index(owner) + 1 if bottom else 0,
        }
    if question is None:  # what was true of the last trick does not matter any more
        numbers = {name: numbers[name] for name in ("phase", "actor", "revolter", "first_leader")}
    stage = "burn" if reasons and reasons[0] == "burn" else None
    queue: list[int] | None
    if question is None:
        queue = None
    elif hand.tribute is not None and hand.phase == "tribute":
        receivers = list(dict.fromkeys(receiver for receiver, _ in hand.tribute.returns))
        queue = receivers[1:]
    else:
        queue = [seat for seat, why in hand.queue[1:] if stage is None or why == stage]
    ranks = np.array([[cards.get(rank, 0) for rank in RANKS] for cards in hand.hands], np.int8)
    laid_down = [*hand.failed, *([] if hand.revolter is None else [hand.revolter])]
    ranks[laid_down] = ANYTHING
    return Step(
        [numbers.get(name, ANYTHING) for name in NUMBERS],
        queue,
        ranks,
        places_of(hand),
        [] if question is None else hand.legal(),
    )


def bits(seats: Iterable[int]) -> int:
    return sum(1 << seat for seat in seats)


def places_of(hand: Hand) -> list[int]:
    """Places 1 to 6 so far, a revolter as 四科."""
    places, free = [0] * 6, [1, 2, 3, 4, 5, 6]
    if hand.revolter is not None:
        places[hand.revolter] = 4
        free.remove(4)
    for seat in hand.failed:
        places[seat] = free.pop()
    for seat in hand.finish:
        if seat not in hand.failed:
            places[seat] = free.pop(0)
    return places


def played_hand(deal: Deal, rng: random.Random, seen: Counter[str]) -> Watched:
    """A hand that biased players play to its end; `seen` counts its events."""
    hand = Watched(deal)
    play_out(hand, rng, seen)
    hand.steps.append(position(hand))
    return hand


def watched(deal: Deal, moves: Iterable[tuple[int, str]]) -> Watched:
    """A hand of these moves to its end."""
    hand = Watched(deal)
    for _seat, move in moves:
        hand.play(move)
    hand.steps.append(position(hand))
    return hand


def rare_runs(
    options: Options, rng: random.Random, seen: Counter[str], enough: int
) -> Iterator[tuple[Deal, Watched]]:
    """Stacked hands to their ends, without end: after one in which something happened that `seen`
    has fewer than `enough` times, ten that go on otherwise from the trick in which it did.

    `seen` counts the events of such a hand's beginning once.
    """
    while True:
        deal, leads = stacked_deal(options, rng), list[Any]()
        hand = Watched(deal)
        moves = play_out(hand, rng, seen, leads)
        hand.steps.append(position(hand))
        yield deal, hand
        rare = min(hand.events, key=lambda name: (seen[name], name))
        before = [lead for lead in leads if rare not in lead[2]]
        if seen[rare] >= enough or not before:
            continue
        number, at_lead, _ = before[-1]
        for _ in range(10):
            rest = play_out(at_lead.copy(), rng, seen, tries=12)
            yield deal, watched(deal, [*moves[:number], *rest])


# ---- the engine's side


class Party:
    """B tables of the engine that follow what the oracle played."""

    def __init__(self, deals: Sequence[Deal], hands: Sequence[Watched]) -> None:
        self.deals, self.hands = deals, hands
        self.engine = engine_of(deals[0].options)
        self.state = State(len(deals))
        for table, deal in enumerate(deals):
            one = self.engine.reset_hands(deal.texts, deal.start, deal.previous)
            self.state.put([table], one)
        self.at = [0] * len(deals)
        self.played = np.zeros((len(deals), 6, 15), np.int64)

    @property
    def open(self) -> list[int]:
        """Tables where the oracle's hand goes on."""
        return [i for i, hand in enumerate(self.hands) if self.at[i] < len(hand.steps) - 1]

    def steps(self, tables: Sequence[int]) -> list[Step]:
        return [self.hands[table].steps[self.at[table]] for table in tables]

    def check(self, tables: Sequence[int]) -> None:
        """Compare everything at some tables with what the oracle wrote down."""
        steps, state = self.steps(tables), self.state
        self._compare_numbers(tables, steps)
        ranks = np.stack([step.ranks for step in steps])
        seen = ranks != ANYTHING
        assert (state.ranks[tables] == ranks)[seen].all(), self._where(tables, state.ranks, ranks)
        assert (count_ranks(state.hands[tables]) == state.ranks[tables]).all()
        assert (state.hands[tables].sum(axis=2) == state.sizes[tables]).all()
        cards = state.hands[tables].sum(axis=1) + state.played[tables].sum(axis=1)
        assert (cards == DECK).all()
        assert state.places[tables].tolist() == [step.places for step in steps]
        self._compare_legal(tables, steps)
        ended = [table for table, step in zip(tables, steps, strict=True) if not step.legal]
        going = [table for table in tables if table not in ended]
        assert not self.engine.scores(state)[going].any()
        for table in ended:
            self._compare_end(table)

    def _compare_numbers(self, tables: Sequence[int], steps: list[Step]) -> None:
        columns = [COLUMN[name] for name in NUMBERS]
        mine = self.state.numbers[tables][:, columns]
        alive = self.state.alive[tables]
        mine[:, NUMBERS.index("headless")] &= alive
        expected = np.array([step.numbers for step in steps])
        wrong = np.argwhere((mine != expected) & (expected != ANYTHING))
        assert not wrong.size, "\n".join(
            f"{NUMBERS[c]}: engine {mine[i, c]}, oracle {expected[i, c]}; {self.story(tables[i])}"
            for i, c in wrong
        )
        for table, step in zip(tables, steps, strict=True):
            if step.queue is not None:
                assert unpack(int(self.state.queue[table])) == step.queue, self.story(table)

    def _compare_legal(self, tables: Sequence[int], steps: list[Step]) -> None:
        legal = self.engine.legal(self.state, tables)
        flat, offsets = legal.ids()
        counts, idle = legal.counts(), legal.idle()
        for i, (table, step) in enumerate(zip(tables, steps, strict=True)):
            ids = flat[offsets[i] : offsets[i + 1]].tolist()
            wanted = sorted(map(id_of, step.legal))
            assert ids == wanted, (
                f"engine {[ACTIONS.text(a) for a in {*ids} - {*wanted}]}, "
                f"oracle {[ACTIONS.text(a) for a in {*wanted} - {*ids}]}; {self.story(table)}"
            )
            assert counts[i] == len(ids)
            words = {*step.legal} & {"pass", "yield", "silent"}
            only_words = len(words) == len(ids) and bool(words & {"pass", "silent"})
            assert idle[i] == only_words
            if len(ids) <= 40 and self.state.phase[table] == Phase.PLAY:
                one = legal.take([i])
                texts = self.engine.legal_texts(self.state, table, one)
                assert texts == [text_of(move) for move in step.legal]

    def _compare_end(self, table: int) -> None:
        hand, state, engine = self.hands[table], self.state, self.engine
        outcome = engine.outcome(state, table)
        assert state.over[table]
        assert state.void[table] == (hand.phase == "void")
        if hand.phase == "void":
            assert outcome["scores"] == [0] * 6
            return
        assert np.array_equal(count_ranks(state.played[table]), self.played[table])
        finish = [seat for seat in hand.finish if seat not in hand.failed]
        assert outcome == {
            "finish": [*finish, *reversed(hand.failed)],
            "scores": hand.scores,
            "recorded": hand.recorded,
            "revolter": hand.revolter,
        }, self.story(table)

    def move(self, tables: Sequence[int], rng: random.Random | None = None) -> None:
        """Make the oracle's next move at some tables; with `rng`: with any suits that make it."""
        steps = self.steps(tables)
        actions = [id_of(step.move) for step in steps]
        for table, step in zip(tables, steps, strict=True):
            if step.move not in WORDS and not step.move.startswith("offer"):
                seat = self.state.actor[table]
                for rank in step.move:
                    self.played[table, seat, RANKS.index(rank)] += 1
        cards = None
        if rng is not None:
            pairs = zip(tables, actions, strict=True)
            cards = np.stack([self._some_suits(table, action, rng) for table, action in pairs])
        self.engine.step(self.state, actions, tables, cards=cards)
        for table in tables:
            self.at[table] += 1

    def _some_suits(self, table: int, action: int, rng: random.Random) -> np.ndarray:
        """Cards of the actor that make a move, drawn; as a record has them they read back."""
        engine, state = self.engine, self.state
        own, public, took = engine.record_move(state, table, action)
        read, cards = engine.read_move(state, table, own)
        assert (read, public) == (action, "silent" if own == "revolt" else own)
        assert np.array_equal(cards, took)
        if action < OFFER:
            return took
        hand = state.hands[table, state.actor[table]]
        drawn = np.zeros_like(took)
        for rank, count in enumerate(count_ranks(took)):
            held = np.repeat(np.arange(54), hand * (rank == RANK_OF_KIND)).tolist()
            for kind in rng.sample(held, int(count)):
                drawn[kind] += 1
        text = own.split(" ")[0] + "".join(f" {KIND_TEXTS[k]}" * n for k, n in enumerate(drawn))
        read, cards = engine.read_move(state, table, text)
        assert read == action
        assert np.array_equal(cards, drawn)
        assert engine.holds(state, np.array([action]), [table], drawn[None]).all()
        return drawn

    def story(self, table: int) -> str:
        """Rules, last moves and position of a table, for a failure's message."""
        hand, at = self.hands[table], self.at[table]
        moves = [(step.numbers[1], step.move) for step in hand.steps[max(0, at - 10) : at]]
        step = hand.steps[at]
        known = dict(zip(NUMBERS, step.numbers, strict=True))
        held = ["".join(r * int(n) for r, n in zip(RANKS, row, strict=True)) for row in step.ranks]
        return f"{hand.options}, move {at} after {moves}: {known}, hands {held}, next {step.move}"

    def _where(self, tables: Sequence[int], mine: np.ndarray, expected: np.ndarray) -> str:
        wrong = (mine[tables] != expected) & (expected != ANYTHING)
        table = tables[int(np.flatnonzero(wrong.any(axis=(1, 2)))[0])]
        return self.story(table)


def follow(
    deals: Sequence[Deal], hands: Sequence[Watched], rng: random.Random, mixed: bool = False
) -> Party:
    """Play the hands again in the engine, comparing every state; `mixed`: some tables at a time."""
    party = Party(deals, hands)
    while tables := party.open:
        if mixed:
            tables = sorted(rng.sample(tables, rng.randint(1, len(tables))))
            untouched = [i for i in range(len(deals)) if i not in tables]
            before = party.state.take(untouched)
        party.check(tables)
        party.move(tables, rng if rng.random() < 0.2 else None)
        if mixed:
            assert party.state.take(untouched).equals(before)
    party.check(range(len(deals)))
    return party


def compare(deals: Sequence[Deal], seed: int, seen: Counter[str], mixed: bool = False) -> Party:
    """Let the oracle play these deals and the engine follow."""
    rng = random.Random(seed)
    hands = [played_hand(deal, rng, seen) for deal in deals]
    return follow(deals, hands, rng, mixed)
