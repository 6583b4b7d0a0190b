"""The Gouji oracle before the first lead: revolution (§6), tribute (§8), what is shown (§1)."""

import random
from collections import Counter

import pytest

from tests.oracle_gouji import Hand, Options, OracleError
from tests.oracle_gouji.deals import poor_seats, shuffled
from tests.oracle_gouji.sets import count_ranks, write_hand
from tests.oracle_gouji.tribute import Tribute, duties


def poor_deal(number: int, seed: int = 3) -> tuple[Hand, list[int]]:
    """A hand in which exactly `number` seats may revolt, and those seats."""
    rng = random.Random(seed)
    while True:
        hands, start = poor_seats(rng, number, strong_mates=False)
        poor = [s for s in range(6) if not any(card[0] in "RB2" for card in hands[s])]
        if len(poor) == number:
            return Hand(Options(), hands, start), poor


def answer_all(hand: Hand, revolters: list[int]) -> None:
    """Answer the question of the revolution for all six, from the first leader on."""
    for i in range(6):
        seat = (hand.first_leader + i) % 6
        assert hand.question() == (seat, "revolt")
        state = hand.state()
        assert (state["revolter"], state["phase"]) == (None, "revolution")
        hand.play("revolt" if seat in revolters else "silent")


def test_only_a_hand_without_high_cards_may_revolt() -> None:
    hand, poor = poor_deal(1)
    for _ in range(6):
        question = hand.question()
        assert question is not None
        may = question[0] == poor[0]
        assert hand.legal() == (["revolt", "silent"] if may else ["silent"])
        hand.play("silent")
    assert hand.question() == (hand.first_leader, "lead")
    assert hand.state()["revolter"] is None


@pytest.mark.parametrize("waives", [True, False])
def test_one_revolter(waives: bool) -> None:
    hand, (poor,) = poor_deal(1)
    answer_all(hand, [poor])
    opponent = (poor + 3) % 6
    assert hand.question() == (opponent, "waive")
    assert hand.legal() == ["silent", "waive"]
    assert sum(hand.state()["counts"][poor]) == 0
    hand.play("waive" if waives else "silent")
    state = hand.state()
    assert state["revolution_left"] == (0 if waives else 3)
    assert state["headless"] == ([opponent] if waives else [])
    assert state["finish"] == []
    assert (state["revolter"], state["phase"]) == (poor, "play")


def test_the_first_leader_revolts_and_the_next_seat_leads() -> None:
    for seed in range(200):
        hand, (poor,) = poor_deal(1, seed)
        if hand.first_leader == poor:
            answer_all(hand, [poor])
            hand.play("silent")
            assert hand.question() == ((poor + 1) % 6, "lead")
            return
    raise AssertionError("no such deal")


def test_two_revolters_void_the_hand_after_all_six_answers() -> None:
    hand, poor = poor_deal(2)
    answer_all(hand, poor)
    assert hand.phase == "void"
    assert hand.question() is None
    assert hand.legal() == []
    assert (hand.scores, hand.recorded, hand.finish) == (None, None, [])
    hand, poor = poor_deal(2)
    answer_all(hand, poor[:1])
    assert hand.phase == "waive"


def test_without_revolution_the_first_leader_leads() -> None:
    hands, start = shuffled(random.Random(2))
    hand = Hand(Options(revolution=False), hands, start)
    assert hand.question() == (hand.first_leader, "lead")


def test_hand_sizes_shown() -> None:
    hands = ["33333KKKKKA", "3333344444", "3", "3", "3", "3"]
    hand = Hand.from_position(hands, leader=0)
    assert hand.state()["sizes"] == [None, 10, 1, 1, 1, 1]
    always = Hand.from_position(hands, leader=0, options=Options(hand_sizes="always"))
    assert always.state()["sizes"] == [11, 10, 1, 1, 1, 1]


def test_who_gives_to_whom() -> None:
    assert duties([3, 0, 1, 2, 4, 5]) == [(5, 3, 2), (4, 0, 1)]
    assert duties([4, 0, 2, 1, 5, 3]) == [(1, 4, 1), (3, 0, 1), (5, 2, 1)]  # 串三户
    with pytest.raises(OracleError, match="each seat once"):
        duties([0, 1, 2, 3, 4])


def tribute(hands: list[str], previous: list[int]) -> tuple[Tribute, Counter[str]]:
    events: Counter[str] = Counter()
    return Tribute([count_ranks(text) for text in hands], previous, events), events


def test_the_highest_cards_are_given() -> None:
    # 5 is last and gives 0 two, 4 fifth and gives 3 one.
    gift, _ = tribute(["34", "3", "3", "66", "R23", "2BB7"], [0, 3, 1, 2, 4, 5])
    assert [write_hand(h) for h in gift.hands] == ["34BB", "3", "3", "66R", "32", "72"]
    assert gift.question() == (0, "offer")
    assert gift.legal() == ["offer 3", "offer 4", "offer B"]


def test_what_is_lacking_is_not_given_nor_returned() -> None:
    gift, events = tribute(["34", "3", "3", "66", "A3", "27"], [0, 3, 1, 2, 4, 5])
    assert [write_hand(h) for h in gift.hands] == ["342", "3", "3", "66", "3A", "7"]
    assert events == Counter({"tribute: in part": 1, "tribute: none for lack": 1})
    gift.answer("offer 3")
    assert gift.legal() == ["take", "refuse"]
    gift.answer("take")
    assert gift.question() is None
    assert write_hand(gift.hands[5]) == "37"


def test_no_tribute_inside_a_side() -> None:
    gift, _ = tribute(["34", "3", "R", "66", "R", "R"], [0, 3, 1, 5, 2, 4])
    # 4 is last, a mate of the first; 2 is fifth and gives to 3.
    assert [write_hand(h) for h in gift.hands] == ["34", "3", "", "66R", "R", "R"]


def test_offers_and_refusals() -> None:
    gift, _ = tribute(["3466", "3", "3", "9", "A3", "RB46"], [0, 3, 1, 2, 4, 5])
    # 0 holds 3 4 6 6 B R and returns two; 5 holds 4 and 6.
    gift.answer("offer 4")
    assert (gift.question(), gift.legal()) == ((5, "take"), ["take"])  # he holds a 4
    gift.answer("take")
    gift.answer("offer 3")
    assert gift.legal() == ["take", "refuse"]
    gift.answer("refuse")
    assert gift.legal() == ["offer 6", "offer B", "offer R"]  # no 3 again
    gift.answer("offer R")
    gift.answer("refuse")
    gift.answer("offer B")
    gift.answer("take")
    assert gift.question() is None
    assert write_hand(gift.hands[0]) == "366R"
    assert write_hand(gift.hands[5]) == "446B"


def test_when_every_rank_was_refused_the_next_offer_is_taken() -> None:
    gift, events = tribute(["33", "3", "3", "9", "A3", "RB"], [0, 3, 1, 2, 4, 5])
    for rank in "3BR":
        gift.answer(f"offer {rank}")
        assert gift.legal() == ["take", "refuse"]
        gift.answer("refuse")
    assert gift.legal() == ["offer 3", "offer B", "offer R"]
    gift.answer("offer B")
    assert gift.legal() == ["take"]
    gift.answer("take")
    # The second return starts with nothing refused; he holds a B now.
    assert gift.legal() == ["offer 3", "offer R"]
    gift.answer("offer 3")
    assert gift.legal() == ["take", "refuse"]
    assert events["tribute: refused"] == 3


def test_after_a_string_of_three_each_loser_gives_his_opponent_one() -> None:
    gift, _ = tribute(["3", "R", "3", "B2", "3", "22"], [2, 0, 4, 1, 3, 5])
    # 5 gives 2, 3 gives 0, 1 gives 4; the returns in the order of the places.
    assert [write_hand(h) for h in gift.hands] == ["3B", "", "32", "2", "3R", "2"]
    assert gift.returns == [(2, 5), (0, 3), (4, 1)]


def test_tribute_comes_before_the_revolution_and_needs_an_order() -> None:
    hands, start = shuffled(random.Random(4))
    options = Options(tribute=True)
    assert Hand(options, hands, start).phase == "revolution"
    hand = Hand(options, hands, start, [0, 1, 2, 3, 4, 5])
    assert hand.phase == "tribute"
    assert hand.question() == (0, "offer")
    while hand.phase == "tribute":
        hand.play(hand.legal()[0])
    assert hand.phase == "revolution"
    assert [sum(counts) for counts in hand.state()["counts"]] == [36] * 6
    off = Hand(Options(), hands, start, [0, 1, 2, 3, 4, 5])
    assert off.phase == "revolution"


def test_a_position_must_fit() -> None:
    with pytest.raises(OracleError, match=r"seats \[1\] hold no cards, finish is \[\]"):
        Hand.from_position(["3", "", "3", "3", "3", "3"], leader=0)
    with pytest.raises(OracleError, match="needs a leader"):
        Hand.from_position(["3"] * 6)
    with pytest.raises(OracleError, match="not a card"):
        Hand.from_position(["3X", "3", "3", "3", "3", "3"], leader=0)
