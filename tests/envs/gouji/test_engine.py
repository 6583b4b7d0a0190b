"""The engine of Gouji at its edges: deals, voids, orders of the previous hand, ends, scores."""

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from lupai.envs.cards import CODE_TEXTS, four_packs
from lupai.envs.deals import MAX_VOIDS
from lupai.envs.errors import IllegalMoveError, NotationError, RulesError, SeedError
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.scoring import even_sum
from lupai.envs.gouji.state import Phase, State
from lupai.envs.seats import NOBODY
from tests.envs.gouji.redeal import first_threes
from tests.envs.gouji.side_by_side import engine_of, stacked_deal
from tests.oracle_gouji.options import Options
from tests.oracle_gouji.scores import places as places_of
from tests.oracle_gouji.scores import side_sum

DECK = four_packs(marked_r=False).counts
SILENT, REVOLT = VERB_ID["silent"], VERB_ID["revolt"]


def random_play(engine: Engine, state: State, seed: int, check: bool = False) -> list[list[int]]:
    """Uniform legal moves to the end; the moves of each step."""
    rng, moves = np.random.default_rng(seed), []
    while not state.over.all():
        tables = np.flatnonzero(~state.over)
        legal = engine.legal(state, tables)
        chosen = legal.pick(rng.random(len(tables)))
        if check:
            assert not engine.scores(state)[tables].any()
            cards = state.hands.sum(axis=1) + state.played.sum(axis=1)
            assert (cards == DECK).all()
            assert (state.hands >= 0).all()
            assert (state.sizes == state.hands.sum(axis=2)).all()
        moves.append(chosen.tolist())
        engine.step(state, chosen, tables, legal=legal)
    return moves


# ---- deals


def test_a_deal_is_four_packs_36_each() -> None:
    state = Engine().reset(range(50))
    assert (state.hands.sum(axis=2) == 36).all()
    assert (state.hands.sum(axis=1) == DECK).all()
    assert DECK.sum() == 216
    assert (DECK == 4).all()
    assert len({state.hands[i].tobytes() for i in range(50)}) == 50
    assert set(state.start.tolist()) == set(range(6))


def test_the_first_leader_of_2000_deals_is_that_of_the_loop() -> None:
    """Card by card in plain Python; `shown` are the 3s that made him so."""
    engine = Engine({"revolution": False})
    seeds = np.arange(2000, dtype=np.uint64)
    codes, starts = engine.dealt_codes(seeds, np.zeros(2000, np.int64))
    state = engine.reset_deals(codes, starts)
    taken = Counter[int]()
    for table, (order, start) in enumerate(zip(codes.tolist(), starts.tolist(), strict=True)):
        texts = [CODE_TEXTS[code] for code in order]
        hands = [texts[(seat - start) % 6 :: 6] for seat in range(6)]
        leader, suit, number = first_threes(hands, start)
        assert state.first_leader[table] == state.actor[table] == leader
        assert state.threes[table] == number
        assert state.threes_suit[table] == ("shcd".index(suit) if suit else NOBODY)
        shown = np.zeros((6, 54), np.int8)
        if suit:
            shown[leader, "shcd".index(suit)] = number
        assert np.array_equal(state.shown[table], shown)
        taken[number] += 1
    assert set(taken) >= {2, 3}, taken


@pytest.mark.parametrize(
    ("orders", "leader"),
    [
        # who has the first pair of 3s of one suit keeps it against an equal one
        (["3s 3s", "3h 3h", "4s 4s", "4s 4s", "5s 5s", "5s 5s"], (0, "s", 2)),
        # a larger number takes over
        (["3s 3s 6s", "3h 3h 3h", "4s 4s 4h", "4s 4s 4h", "5s 5s 5h", "5s 5s 5h"], (1, "h", 3)),
        # nobody: the start seat
        (["3s 3h", "3c 3d", "3s 3h", "3c 3d", "5s 5s", "5s 5s"], (4, "", 0)),
    ],
)
def test_first_leaders_by_hand(orders: list[str], leader: tuple[int, str, int]) -> None:
    """The first cards of a deal; the 3s that are left come singly, one of each suit to a seat."""
    start = leader[0] if not leader[1] else 0
    hands = [text.split(" ") for text in orders]
    rest = Counter({f"{rank}{suit}": 4 for rank in "3456789TJQKA2" for suit in "shcd"})
    rest.update({"B": 4, "R": 4})
    rest.subtract(card for cards in hands for card in cards)
    threes = [card for card in rest.elements() if card[0] == "3"]
    for card in threes:
        seat = next(s for s in range(5, -1, -1) if card not in hands[s])
        hands[seat].append(card)
    others = [card for card in rest.elements() if card[0] != "3"]
    for cards in hands:
        while len(cards) < 36:
            cards.append(others.pop())
    engine = Engine({"revolution": False})
    state = engine.reset_hands([" ".join(cards) for cards in hands], start)
    assert first_threes(hands, start) == leader
    assert (state.first_leader[0], state.threes[0]) == (leader[0], leader[2])


def test_an_injected_deal_is_the_dealt_one() -> None:
    engine = Engine()
    state = engine.reset([11])
    hands, start = engine.dealt_hands(int(state.seeds[0, 0]))
    again = engine.reset_hands(hands, start)
    assert again.injected[0] == 1
    again.injected, again.seeds = 0, state.seeds
    assert again.equals(state)
    codes, starts = engine.dealt_codes(state.seeds[:, 0], np.zeros(1, np.int64))
    many = engine.reset_deals(np.repeat(codes, 3, axis=0), np.repeat(starts, 3))
    assert np.array_equal(many.hands[2], state.hands[0])
    assert many.take([0]).equals(many.take([2]))


@pytest.mark.parametrize(
    ("change", "start", "error", "message"),
    [
        ({0: "3s"}, 0, RulesError, "the hands hold"),
        ({0: "zz"}, 0, NotationError, "zz"),
        ({}, 6, RulesError, "start 6 is no seat; seats are 0 … 5"),
        ({}, True, RulesError, "start True is no seat"),
        ({0: 5}, 0, RulesError, "hand of seat 0: cards as text, not 5"),
        ({5: None}, 0, RulesError, "hand of seat 5: cards as text"),
    ],
)
def test_what_is_no_deal(
    change: dict[int, Any], start: int, error: type[Exception], message: str
) -> None:
    engine = Engine()
    hands: list[Any] = engine.dealt_hands(1)[0]
    for seat, text in change.items():
        hands[seat] = text
    with pytest.raises(error, match=message):
        engine.reset_hands(hands, start)


def test_hands_of_unequal_sizes_are_no_deal() -> None:
    engine = Engine()
    hands, start = engine.dealt_hands(1)
    card, _, hands[2] = hands[2].partition(" ")
    hands[4] += f" {card}"
    with pytest.raises(
        RulesError, match=r"hand of seat 2 has 35 cards; dealt from seat . it has 36"
    ):
        engine.reset_hands(hands, start)
    with pytest.raises(RulesError, match="a deal has 6 hands"):
        engine.reset_hands(hands[:5], start)


# ---- determinism


def test_the_same_seed_gives_the_same_bytes() -> None:
    engine = Engine()
    one, other = engine.reset(range(8)), Engine().reset(range(8))
    np.random.seed(0)  # noqa: NPY002 - global generators must not matter
    assert random_play(engine, one, 5) == random_play(engine, other, 5)
    assert one.equals(other)
    assert engine.observe(one, 2).tobytes() == engine.observe(other, 2).tobytes()


def test_a_table_of_many_is_the_table_alone() -> None:
    """In any phase, with tribute: the arithmetic of one table and of many is the same."""
    engine = Engine({"tribute": True, "burn_fail": "last_place"})
    orders = [random.Random(seed).sample(range(6), 6) for seed in range(6)]
    many = engine.reset(range(6), previous_finish=orders)
    alone = [engine.reset([s], previous_finish=orders[s]) for s in range(6)]
    rng = np.random.default_rng(2)
    for number in itertools.count():
        for table, one in enumerate(alone):
            assert many.take([table]).equals(one), (number, table)
        tables = np.flatnonzero(~many.over)
        if not tables.size:
            break
        legal = engine.legal(many, tables)
        chosen = legal.pick(rng.random(len(tables)))
        engine.step(many, chosen, tables, legal=legal)
        for table, action in zip(tables.tolist(), chosen.tolist(), strict=True):
            engine.step(alone[table], [action])


def test_seeds_out_of_range() -> None:
    for seed in (-1, 2**64):
        with pytest.raises(SeedError):
            Engine().reset([seed])


# ---- voids


def void_deal(seed: int = 0) -> tuple[list[str], int]:
    """A deal in which two seats may revolt."""
    for number in itertools.count(seed):
        rng = random.Random(number)
        deal = stacked_deal(Options(), rng)
        poor = [c for c in deal.hands if not any(card[0] in "2BR" for card in c)]
        if len(poor) >= 2:
            return deal.texts, deal.start
    raise AssertionError


def vote(engine: Engine, state: State) -> None:
    """All who may, revolt."""
    for _ in range(6):
        legal = engine.legal_texts(state, 0)
        engine.step(state, [REVOLT if "revolt" in legal else SILENT])


def test_an_injected_void_deal_ends_with_scores_0() -> None:
    engine = Engine()
    state = engine.reset_hands(*void_deal())
    vote(engine, state)
    assert state.over[0]
    assert state.void[0] == 1
    assert state.actor[0] == NOBODY
    assert engine.scores(state).tolist() == [[0] * 6]
    assert engine.outcome(state, 0) == {
        "finish": [], "scores": [0] * 6, "recorded": [0, 0], "revolter": None,
    }  # fmt: skip
    assert (state.redeals[0], engine.legal(state).counts()[0]) == (0, 0)
    with pytest.raises(IllegalMoveError, match="table 0: the hand is over"):
        engine.step(state, [SILENT])


def test_two_revolters_have_the_hand_dealt_anew() -> None:
    """Seed 700 is the first in whose deal two seats hold no R, B and 2."""
    engine = Engine()
    state = engine.reset([700])
    hand_seed = int(state.seeds[0, 0])
    assert engine.can_be_void(hand_seed, 0)
    vote(engine, state)
    assert not state.over[0]
    assert (state.redeals[0], state.moves[0], state.phase[0]) == (1, 0, Phase.REVOLT)
    assert (state.recent[0] == NOBODY).all()
    hands, start = engine.dealt_hands(hand_seed, 1)
    fresh = engine.reset_hands(hands, start)
    assert np.array_equal(state.hands, fresh.hands)
    assert (state.start[0], state.first_leader[0]) == (start, fresh.first_leader[0])
    assert not engine.can_be_void(hand_seed, 1)
    assert not Engine({"revolution": False}).can_be_void(hand_seed, 0)


def test_tribute_can_make_a_deal_void() -> None:
    """Who gives his last 2s and jokers away may revolt: such a deal once counted as impossible."""
    engine = Engine({"tribute": True})
    found = 0
    for seed in range(400):
        state = engine.reset([seed])
        special = state.ranks[0, :, 12:].sum(axis=1).tolist()
        if special.count(0) != 1:
            continue
        bare, few = special.index(0), [s for s in range(6) if 0 < special[s] <= 2]
        for giver in few:
            heads = [s for s in range(6) if (s - giver) % 2 and s != bare]
            # 大落 gives to a seat that is not bare; 二落 and 二科 are mates
            first = heads[0]
            second, fifth = [s for s in range(6) if (s - bare) % 2 == 0 and s != giver][:2]
            if first in (second, fifth):
                continue
            others = [s for s in range(6) if s not in (first, second, fifth, giver)]
            order = [first, second, *others, fifth, giver]
            state = engine.reset([seed], previous_finish=order)
            hand_seed = int(state.seeds[0, 0])
            assert not engine.can_be_void(hand_seed, 0)
            assert engine.can_be_void(hand_seed, 0, order)
            while state.phase[0] != Phase.REVOLT:
                engine.step(state, [int(engine.legal(state).ids()[0][0])])
            vote(engine, state)
            assert state.redeals[0] == 1
            found += 1
    assert found >= 3, found


def test_the_hundredth_void_ends_the_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """With tribute: the order of the previous hand outlives each void."""
    engine = Engine({"tribute": True})
    hands, start = void_deal()
    codes = engine.parse_deal(hands, start)[None]

    def dealt(self: Engine, seeds: Any, redeals: Any) -> Any:
        return np.repeat(codes, len(seeds), axis=0), np.repeat(np.int8(start), len(seeds))

    monkeypatch.setattr(Engine, "dealt_codes", dealt)
    # 头科 and 大落 are mates, 二科 and 二落 too: no gifts
    state = engine.reset([5], previous_finish=[0, 1, 5, 4, 3, 2])
    order = state.previous[0].tolist()
    for number in range(MAX_VOIDS):
        assert not state.over[0]
        assert state.redeals[0] == number
        assert state.previous[0].tolist() == order
        vote(engine, state)
    assert state.over[0]
    assert (state.void[0], state.redeals[0]) == (1, MAX_VOIDS - 1)
    assert not engine.scores(state).any()


# ---- the previous hand


@pytest.mark.parametrize(
    "order",
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 4], [1, 2, 3, 4, 5, 6], [0.0, 1, 2, 3, 4, 5], "012345", 3,
     [[0, 1, 2, 3, 4, 5]] * 3, [-1] * 6, []],
)  # fmt: skip
def test_no_order_of_a_previous_hand(order: Any) -> None:
    engine = Engine({"tribute": True})
    with pytest.raises(
        RulesError, match=r"previous_finish .*: give all six seats 0 … 5, each once"
    ):
        engine.reset([0, 1], previous_finish=order)


def test_a_previous_hand_needs_tribute() -> None:
    with pytest.raises(RulesError, match="there is no tribute under these rules"):
        Engine().reset([0], previous_finish=list(range(6)))
    hands, start = Engine().dealt_hands(0)
    with pytest.raises(RulesError, match="there is no tribute under these rules"):
        Engine().reset_hands(hands, start, list(range(6)))


def test_without_a_previous_hand_nobody_gives() -> None:
    engine = Engine({"tribute": True})
    state = engine.reset(range(20))
    assert (state.phase == Phase.REVOLT).all()
    assert np.array_equal(state.hands, Engine().reset(range(20)).hands)


def test_each_table_has_its_own_previous_hand() -> None:
    """大落 gives two, 二落 one, none inside a side; after 串三户 each loser his 对头 one."""
    engine = Engine({"tribute": True})
    orders = [[0, 1, 2, 3, 4, 5], [0, 2, 4, 1, 3, 5], [0, 1, 5, 4, 3, 2]]
    state = engine.reset([3, 3, 3], previous_finish=orders)
    assert state.owes.tolist() == [[2, 1, 0, 0, 0, 0], [1, 0, 1, 0, 1, 0], [0] * 6]
    assert state.giver[0].tolist() == [5, 4, -1, -1, -1, -1]
    assert state.giver[1].tolist() == [3, -1, 5, -1, 1, -1]
    assert state.sizes.tolist()[0] == [38, 37, 36, 36, 35, 34]
    assert state.phase.tolist() == [Phase.OFFER, Phase.OFFER, Phase.REVOLT]


# ---- the end


@pytest.mark.parametrize(
    "options",
    [Options(), Options(burn_fail="last_place", end="last_player"), Options(tribute=True)],
)
def test_random_hands_keep_all_cards_and_end(options: Options) -> None:
    engine = engine_of(options)
    previous = [[0, 1, 2, 4, 3, 5]] * 16 if options.tribute else None
    state = engine.reset(range(16), previous_finish=previous)
    random_play(engine, state, 1, check=True)
    scores = engine.scores(state)
    assert (scores.sum(axis=1) == 0).all()
    assert (scores[:, 0::2] == scores[:, :1]).all()
    assert (scores[:, 1::2] == -scores[:, :1]).all()
    for table, outcome in enumerate(engine.outcomes(state)):
        assert outcome == engine.outcome(state, table)
        even = outcome["scores"][0]
        assert outcome["recorded"] == [max(even, 0), max(-even, 0)]
        if options.end == "last_player":
            out = 6 - (outcome["revolter"] is not None)
            assert sorted(outcome["finish"]) == sorted(set(outcome["finish"]))
            assert len(outcome["finish"]) == out


def little_scorer(order: list[int], revolter: int | None) -> int:
    """What the even side is worth; `order`: the others by place."""
    value = {1: 4, 2: 2, 3: 0, 4: 0, 5: -2, 6: -4}
    free = [1, 2, 3, 5, 6] if revolter is not None else [1, 2, 3, 4, 5, 6]
    place = dict(zip(order, free, strict=True))
    sides = [{0, 2, 4}, {1, 3, 5}]
    for side, sign in zip(sides, (1, -1), strict=True):
        first_two = set(order[:2]) <= side
        if first_two and (order[2] in side or revolter in side):
            return sign * 12
    return sum(value[place.get(seat, 4)] for seat in sides[0])


@pytest.mark.parametrize("revolter", [None, 0, 1, 2, 3, 4, 5])
def test_all_finishing_orders(revolter: int | None) -> None:
    """720 orders of six, 120 of five with a revolter, and each where a side that is out ends it."""
    engine = Engine()
    seats = [seat for seat in range(6) if seat != revolter]
    free = [1, 2, 3, 4, 5, 6] if revolter is None else [1, 2, 3, 5, 6]
    orders = [list(order) for order in itertools.permutations(seats)]
    state = State(2 * len(orders))
    state.phase = Phase.OVER
    state.revolter = NOBODY if revolter is None else revolter
    if revolter is not None:
        state.places[:, revolter] = 4
    for i, order in enumerate(orders):
        ends = side_out(order, revolter)
        for number, (seat, place) in enumerate(zip(order, free, strict=True)):
            state.places[2 * i, seat] = place
            state.places[2 * i + 1, seat] = place if number < ends else 0
    expected = np.repeat([little_scorer(order, revolter) for order in orders], 2)
    scores = engine.scores(state)
    assert np.array_equal(scores[:, 0], expected)
    assert (scores.sum(axis=1) == 0).all()
    assert (scores == np.where(np.arange(6) % 2 == 0, 1, -1) * expected[:, None]).all()
    recorded = np.array([outcome["recorded"] for outcome in engine.outcomes(state)])
    assert (recorded >= 0).all()
    assert np.array_equal(recorded[:, 0] - recorded[:, 1], expected)
    assert not recorded.min(axis=1).any()
    # 头科, 二科 and 四科 are worth 6, and a string where 四科 is a revolter
    assert set(np.abs(expected).tolist()) == {0, 2, 4, 12} | ({6} if revolter is None else set())


def side_out(order: list[int], revolter: int | None) -> int:
    """How many have gone out when all members of one side are."""
    sides = ({0, 2, 4} - {revolter}, {1, 3, 5} - {revolter})
    return min(max(order.index(seat) for seat in side) + 1 for side in sides)


def test_three_left_while_their_opponents_failed_to_burn_are_a_string() -> None:
    """places 4 to 6 of one side leave the other the first three, who once scored only 6."""
    places = np.array([[4, 0, 5, 0, 6, 0], [6, 0, 5, 0, 4, 0], [0, 6, 0, 4, 0, 5]])
    assert even_sum(places, np.array([0, NOBODY, NOBODY])).tolist() == [-12, -12, 12]


@pytest.mark.parametrize("revolter", [None, 0, 1, 2, 3, 4, 5])
def test_an_early_end_scores_as_every_way_to_play_on(revolter: int | None) -> None:
    """Whatever burners failed; where all opponents of a revolter did his mates once had but 6."""
    seats = [seat for seat in range(6) if seat != revolter]
    early, expected = [], []
    for order in itertools.permutations(seats):
        for many in range(len(seats)):
            failed, went_out = order[:many], order[many:]
            expected.append(side_sum(places_of(went_out, revolter, failed)))
            free = [1, 2, 3, 4, 5, 6] if revolter is None else [1, 2, 3, 5, 6]
            found = [0 if seat != revolter else 4 for seat in range(6)]
            for seat in failed:
                found[seat] = free.pop()
            for seat in went_out:
                if any(all(found[s] for s in side) for side in ((0, 2, 4), (1, 3, 5))):
                    break
                found[seat] = free.pop(0)
            early.append(found)
    laid = np.full(len(early), NOBODY if revolter is None else revolter)
    assert even_sum(np.array(early), laid).tolist() == expected
