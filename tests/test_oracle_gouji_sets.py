"""The Gouji oracle's cards, sets, first leader and scores, worked out by hand from §1, §2, §7."""

import random
from itertools import permutations

import pytest

from tests.oracle_gouji import Options, OracleError
from tests.oracle_gouji.deal import check_deal, first_leader
from tests.oracle_gouji.deals import shuffled
from tests.oracle_gouji.scores import places, scores_of
from tests.oracle_gouji.sets import (
    PACK,
    all_sets,
    beats,
    can_go_on,
    count_ranks,
    is_gouji,
    move_order,
    number_of_groups,
    take_away,
    values_of,
)


@pytest.mark.parametrize(
    ("text", "gouji"),
    [
        ("2", True),
        ("A", False),
        ("AA", True),
        ("A2", True),  # counts as two A
        ("K", False),
        ("KK", True),
        ("QQ", False),
        ("Q22", True),
        ("QQQ", True),
        ("JJJ", False),
        ("JJ22", True),
        ("TTTT", False),
        ("TTT22", True),
        ("9999999999999999", False),
        ("9922222222", False),
        ("3B", True),
        ("3R", True),
        ("B", True),
        ("R", True),
    ],
)
def test_gouji_sets(text: str, gouji: bool) -> None:
    assert is_gouji(text) is gouji


@pytest.mark.parametrize(
    ("standing", "answers", "no_answers"),
    [
        ("999BB", "JJJRR JJRRR RRRRR 2RRRR J22RR JJBRR", "JJJBR 888RR JJJBB 99BRR JJ2BR"),
        ("99922", "JJJBB TTTTT T2222 BBBBB", "88BBB 3RRRR 99BBB 99999 9RRRR"),
        ("9B", "RR JR 2R BR", "BB JB 9R J2 J2R"),
        ("KK2B", "AAAR AA2R A22R 222R 22RR AARR", "KKKR AAAB QQQR"),
        ("2", "B R", "A 2 22"),
        ("A2", "22 BB 2B RR", "AA K2 AR K2B"),
        ("3R", "", "4R RR R BR"),
        ("R", "", "R B 22"),
    ],
)
def test_beating(standing: str, answers: str, no_answers: str) -> None:
    for answer in answers.split():
        assert beats(standing, answer), answer
    for answer in no_answers.split():
        assert not beats(standing, answer), answer


def test_a_set_that_beats_a_gouji_set_is_one() -> None:
    hand = count_ranks("3TTTTTJJJJJQQQKKAA2BR")
    sets = list(all_sets(hand))
    pairs = 0
    for low in sets:
        for high in sets:
            if is_gouji(low) and beats(low, high):
                assert is_gouji(high), (low, high)
                pairs += 1
    assert pairs > 100


@pytest.mark.parametrize("text", ["", "K3", "2K", "BK", "RB", "KX", "KKB2", "3 3"])
def test_no_set(text: str) -> None:
    with pytest.raises(OracleError):
        values_of(text)


def test_values() -> None:
    assert values_of("KK2B") == "BKKK"
    assert values_of("22BR") == "RB22"
    assert values_of("33") == "33"


def test_number_of_leads_is_the_closed_formula() -> None:
    """(sum of naturals below 2 + 1) x (2s + 1)(B + 1)(R + 1) - 1: the empty set is none."""
    rng = random.Random(5)
    for _ in range(200):
        cards = rng.sample(PACK * 4, rng.randrange(1, 37))
        hand = count_ranks(cards)
        sets = list(all_sets(hand))
        naturals = sum(number for rank, number in hand.items() if rank not in "2BR")
        other = 1
        for rank in "2BR":
            other *= hand.get(rank, 0) + 1
        assert len(sets) == (naturals + 1) * other - 1
        assert len(set(sets)) == len(sets)
        for text in sets:
            values_of(text)
            take_away(hand, text)
    # By size the same sets.
    by_size = [text for size in range(1, 37) for text in all_sets(hand, size)]
    assert sorted(by_size) == sorted(sets)


def test_order_of_sets() -> None:
    hand = count_ranks("33K2BR")
    ones_and_twos = [text for text in sorted(all_sets(hand), key=move_order) if len(text) < 3]
    assert " ".join(ones_and_twos) == "3 K 2 R B 33 3R 3B 32 KR KB K2 2R 2B BR"


def test_groups_and_going_on() -> None:
    assert number_of_groups(count_ranks("3345")) == 3
    assert number_of_groups(count_ranks("3345222")) == 3  # 2s attach
    assert number_of_groups(count_ranks("222B")) == 1
    assert number_of_groups(count_ranks("BBR")) == 0
    assert can_go_on(count_ranks("3345BR"))
    assert not can_go_on(count_ranks("3345B"))
    assert can_go_on(count_ranks("33"))
    assert can_go_on({})


def deal_of(threes: dict[int, list[str]]) -> list[list[str]]:
    """Hands in deal order whose first cards are these; the rest is not looked at."""
    return [[*threes.get(seat, []), *["4s"] * 36][:36] for seat in range(6)]


def test_first_leader() -> None:
    assert first_leader(deal_of({}), 4) == (4, 0)
    # Seat 2 has two 3s of different suits, seat 5 two of one.
    assert first_leader(deal_of({2: ["3s", "3h"], 5: ["3c", "9c", "3c"]}), 0) == (5, 1)
    # Both have their pair with the second card: who is dealt first, from the start seat on.
    pairs = {1: ["3s", "3s"], 4: ["3h", "3h"]}
    assert first_leader(deal_of(pairs), 0) == (1, 1)
    assert first_leader(deal_of(pairs), 2) == (4, 1)
    assert first_leader(deal_of(pairs), 1) == (1, 1)
    # 顶班: three 3s take over from two, not two from two; four take over again.
    two = {1: ["3s", "3s"], 4: ["5h", "3h", "3h"]}
    assert first_leader(deal_of(two), 0) == (1, 1)
    three = {**two, 4: ["5h", "3h", "3h", "3h"]}
    assert first_leader(deal_of(three), 0) == (4, 2)
    own = {1: ["3s", "3s", "6s", "3s"], 4: ["5h", "3h", "3h", "6s", "3h"]}
    assert first_leader(deal_of(own), 0) == (1, 1)  # seat 1 had three before
    other_suit = {1: ["3s", "3s", "3c", "3c", "3c"], 4: [*["5h"] * 5, "3h", "3h", "3h"]}
    assert first_leader(deal_of(other_suit), 0) == (1, 1)


def test_a_deal_is_checked() -> None:
    hands, start = shuffled(random.Random(1))
    check_deal(hands, start)
    with pytest.raises(OracleError, match="start seat"):
        check_deal(hands, 6)
    with pytest.raises(OracleError, match="36 cards"):
        check_deal(hands[:5], start)
    spoilt = [list(cards) for cards in hands]
    spoilt[0][spoilt[0].index(next(card for card in hands[0] if card != "B"))] = "B"
    with pytest.raises(OracleError, match="four packs"):
        check_deal(spoilt, start)


def test_options_are_checked() -> None:
    with pytest.raises(OracleError, match="burn_fail"):
        Options(burn_fail="sometimes")


def test_scores_of_all_orders() -> None:
    """All 720: zero-sum, one side records at most; 72 are 串三户 (2 x 3! x 3!)."""
    strings = 0
    for order in permutations(range(6)):
        scores, recorded = scores_of(places(order))
        assert sum(scores) == 0
        assert scores[0] == scores[2] == scores[4] == -scores[1] == -scores[3] == -scores[5]
        assert min(recorded) == 0
        assert max(recorded) == abs(scores[0])
        assert recorded[0] - recorded[1] == scores[0]
        strings += max(recorded) == 12
    assert strings == 72


@pytest.mark.parametrize(
    ("order", "recorded"),
    [
        ([0, 2, 4, 1, 3, 5], [12, 0]),
        ([0, 2, 1, 4, 3, 5], [6, 0]),  # 4 + 2 + 0
        ([0, 2, 1, 3, 4, 5], [4, 0]),  # 4 + 2 - 2
        ([0, 2, 1, 3, 5, 4], [2, 0]),  # 4 + 2 - 4
        ([0, 1, 2, 3, 5, 4], [0, 0]),  # 4 + 0 - 4
        ([1, 0, 2, 3, 5, 4], [0, 2]),  # 2 + 0 - 4
        ([1, 3, 0, 2, 4, 5], [0, 2]),  # 0 + 0 - 2
        ([5, 3, 1, 2, 4, 0], [0, 12]),
    ],
)
def test_scores(order: list[int], recorded: list[int]) -> None:
    assert scores_of(places(order))[1] == recorded


def test_an_early_end_leaves_no_score_open() -> None:
    """Side 0 2 4 is out in some order with others between: the rest may follow in any order."""
    for others in permutations((1, 3, 5)):
        for early in (0, 1, 2):
            order = [0, 2, *others[:early], 4, *others[early:]]
            assert scores_of(places(order[: 3 + early])) == scores_of(places(order))


def test_places_with_a_revolter() -> None:
    assert places([1, 3, 5, 2, 4], revolter=0) == {1: 1, 3: 2, 5: 3, 0: 4, 2: 5, 4: 6}
    assert scores_of(places([1, 3, 5, 2, 4], revolter=0))[1] == [0, 12]  # no hindrance
    assert places([2, 1, 3, 5, 4], revolter=0) == {2: 1, 1: 2, 3: 3, 0: 4, 5: 5, 4: 6}
    # Both his mates first and second: he is third, who left third is fourth.
    assert places([4, 2, 1, 3, 5], revolter=0) == {4: 1, 2: 2, 0: 3, 1: 4, 3: 5, 5: 6}
    assert scores_of(places([4, 2], revolter=0))[1] == [12, 0]


def test_places_of_failed_burners() -> None:
    assert places([0, 2, 4, 1, 5, 3], failed=[3]) == {0: 1, 2: 2, 4: 3, 1: 4, 5: 5, 3: 6}
    assert places([0, 2, 4], failed=[3, 1]) == {0: 1, 2: 2, 4: 3, 5: 4, 1: 5, 3: 6}
