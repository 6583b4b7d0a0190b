"""The Gouji oracle's tricks (§3), worked out by hand.

Cards of a scenario that do not matter are 3s. In `asked`, the reasons of
tests/oracle_gouji/hand.py stand beside the seats.
"""

import pytest

from tests.oracle_gouji import Hand, Options, OracleError
from tests.oracle_gouji.by_hand import asked, play

LAST_PLACE = Options(burn_fail="last_place")


def test_an_ordinary_set_is_asked_in_order() -> None:
    hand = Hand.from_position(["35", "4K", "6K", "7K", "8K", "9K"], leader=0)
    assert hand.legal() == ["3", "5"]
    play(hand, "0 3")
    assert asked(hand) == "1 ordinary, 2 ordinary, 3 opponent, 4 ordinary, 5 ordinary"
    assert hand.legal() == ["pass", "4", "K"]
    play(hand, "1 pass, 2 6")
    # 1 is out of the trick; 5 is 对头 of 2.
    assert asked(hand) == "3 ordinary, 4 ordinary, 5 opponent, 0 ordinary"
    play(hand, "3 pass, 4 pass")
    assert hand.legal() == ["pass", "yield", "9", "K"]
    play(hand, "5 9")
    assert asked(hand) == "0 ordinary, 2 opponent"
    assert hand.state()["out"] == [1, 3, 4]


def test_yield_without_anybody_behind() -> None:
    hand = Hand.from_position(["3", "3", "6K", "3", "3", "9K"], standing="5", owner=2, out=[0, 1])
    play(hand, "3 pass, 4 pass")
    assert hand.legal() == ["pass", "9", "K"]
    play(hand, "5 pass")
    assert (hand.question(), hand.legal()) == ((2, "lead"), ["6", "K"])


def test_yield_asks_the_two_behind_first() -> None:
    hand = Hand.from_position(["5", "33", "33", "69", "37", "38"], standing="4", owner=0)
    play(hand, "1 pass, 2 pass, 3 yield, 4 pass, 5 pass")
    assert asked(hand) == "3 again"
    assert hand.legal() == ["pass", "6", "9"]  # no second yield
    play(hand, "3 6")
    # Everybody else has passed, so only 0 can answer, who is 对头 of 3.
    assert asked(hand) == "0 opponent"
    assert hand.legal() == ["pass"]


def test_a_yielder_is_not_out_when_somebody_behind_plays() -> None:
    hand = Hand.from_position(["35", "33", "33", "69", "37", "38"], standing="4", owner=0)
    play(hand, "1 pass, 2 pass, 3 yield, 4 7")
    # 4's 对头 is 1, who passed: last.
    assert asked(hand) == "5 ordinary, 0 ordinary, 3 ordinary, 1 last"
    play(hand, "5 pass, 0 pass")
    assert hand.legal() == ["pass", "9"]


def test_yield_is_open_without_a_beating_set() -> None:
    hand = Hand.from_position(["35", "33", "33", "34", "37", "33"], standing="6", owner=0)
    play(hand, "1 pass, 2 pass")
    assert hand.legal() == ["pass", "yield"]


def test_yield_needs_only_one_behind() -> None:
    hands = ["35", "33", "33", "39", "", "38"]
    hand = Hand.from_position(hands, standing="7", owner=0, finish=[4], headless=[1])
    play(hand, "1 pass, 2 pass")
    assert "yield" in hand.legal()


def test_opponent_out_of_the_trick_is_asked_last_and_stays_out() -> None:
    hand = Hand.from_position(["35", "38", "33", "33", "69A", "33"], standing="4", owner=0)
    play(hand, "1 pass, 2 pass, 3 pass, 4 6")
    assert asked(hand) == "5 ordinary, 0 ordinary, 1 last"
    play(hand, "5 pass, 0 pass")
    assert hand.legal() == ["pass", "8"]
    play(hand, "1 8")
    assert hand.state()["out"] == [0, 1, 2, 3, 5]
    assert asked(hand) == "4 opponent"
    play(hand, "4 9")
    assert asked(hand) == "1 last"
    play(hand, "1 pass")
    assert hand.question() == (4, "lead")
    assert hand.state()["out"] == []


def test_a_pass_at_his_opponents_set_counts_for_the_others() -> None:
    """§3: whoever passes is out, except against sets of his 对头; passed is passed."""
    hand = Hand.from_position(["35", "36", "33", "39", "33", "33"], standing="4", owner=0)
    play(hand, "1 pass, 2 pass, 3 pass, 4 pass, 5 pass")
    assert hand.question() == (0, "lead")
    hand = Hand.from_position(["35", "36", "33", "39", "37", "33"], standing="4", owner=0)
    play(hand, "1 pass, 2 pass, 3 pass, 4 7, 5 pass, 0 pass, 1 pass")
    assert hand.question() == (4, "lead")  # 3 was not asked again, though he has a 9


def test_steps_of_a_gouji_set() -> None:
    hand = Hand.from_position(["AA3", "33", "33", "22", "33", "33"], leader=0)
    play(hand, "0 AA")
    assert asked(hand) == "2 burn, 4 burn, 1 burn, 5 burn, 3 gouji"
    assert hand.question() == (2, "burn")
    assert hand.legal() == ["silent"]
    play(hand, "2 silent, 4 silent, 1 silent, 5 silent")
    assert hand.question() == (3, "answer")
    assert hand.legal() == ["pass", "22"]
    assert hand.state()["out"] == []  # silent is no pass
    play(hand, "3 pass")
    assert hand.question() == (0, "lead")


def test_players_out_of_the_trick_do_not_burn_but_the_opponent_may_answer() -> None:
    hands = ["AA3", "33", "22", "22", "33", "33"]
    hand = Hand.from_position(hands, standing="KK", owner=0, out=[2, 3, 5])
    assert asked(hand) == "4 burn, 1 burn, 3 gouji"
    play(hand, "4 silent, 1 silent, 3 22")
    assert hand.finish == [3]
    # His 底牌 is 够级: of 5, 1, 4, 2 those who are not out of the trick may burn it.
    assert asked(hand) == "1 burn, 4 burn, 0 deadly"


def test_a_dead_set_is_not_asked() -> None:
    hand = Hand.from_position(["35R", "33", "33", "33", "33", "33"], leader=0)
    play(hand, "0 3R")
    assert hand.question() == (0, "lead")
    assert hand.legal() == ["5"]


@pytest.mark.parametrize(
    ("cards", "legal"),
    [
        ("225", ["silent", "22"]),  # one rank left
        ("2256", ["silent"]),  # two ranks and no joker
        ("2256B", ["silent", "22"]),  # with 2B no joker would be left
        ("2256BB", ["silent", "2B", "22"]),  # BB leaves none for 5 and 6 (2s attach)
        ("22B", ["silent", "2B", "22"]),
        ("BB2", ["silent", "2B", "BB"]),
        ("22256", ["silent"]),
        ("A256BR", ["silent"]),  # A, 5, 6 left and one joker
        ("A26BR", ["silent", "2R", "2B"]),  # A and 6 left and one joker
    ],
)
def test_when_burning_is_legal(cards: str, legal: list[str]) -> None:
    """AA is to be burned; afterwards jokers left >= natural ranks left - 1."""
    hand = Hand.from_position(["3", "33", cards, "33", "33", "33"], standing="AA", owner=0)
    assert hand.question() == (2, "burn")
    assert hand.legal() == legal


def test_a_burning_set_need_not_hold_a_joker_and_the_burner_has_a_duty() -> None:
    hand = Hand.from_position(["3", "33", "2256BJJ", "33", "33", "33"], standing="AA", owner=0)
    assert hand.legal() == ["silent"]  # 5, 6, J left, one joker
    hand = Hand.from_position(["3", "33", "2266BJJ", "33", "33", "33"], standing="AA", owner=0)
    assert hand.legal() == ["silent", "22"]
    play(hand, "2 22")
    assert hand.state()["duty"] == [2, 0]
    assert asked(hand) == "4 burn, 0 burn, 3 burn, 1 burn, 5 gouji"
    play(hand, "4 silent, 0 silent, 3 silent, 1 silent, 5 pass")
    # B alone leaves 66 and JJ without a joker, 6B leaves two ranks too.
    assert hand.legal() == ["66B", "JJB"]
    play(hand, "2 66B, 4 silent, 0 silent, 3 silent, 1 silent, 5 pass")
    assert hand.legal() == ["JJ"]  # the last set needs none, and only the last
    play(hand, "2 JJ")
    assert (hand.finish, hand.state()["duty"]) == ([2], None)


def test_the_opponent_of_the_burner_ends_the_duty() -> None:
    hand = Hand.from_position(["3", "33", "2266BJJ", "33", "33", "BB4"], standing="AA", owner=0)
    play(hand, "2 22, 4 silent, 0 silent, 3 silent, 1 silent, 5 BB")
    assert hand.state()["duty"] is None
    # 5's set is 够级 again: his mates first, then the seats beside him, then his 对头.
    assert asked(hand) == "1 burn, 3 burn, 0 burn, 4 burn, 2 gouji"
    assert hand.legal() == ["silent"]


def test_a_later_set_of_a_burner_is_burned() -> None:
    hands = ["3", "33", "2266BJJ", "33", "77JRR", "33"]
    hand = Hand.from_position(hands, standing="AA", owner=0)
    play(hand, "2 22, 4 silent, 0 silent, 3 silent, 1 silent, 5 pass, 2 66B")
    # 77R leaves J and R; 7RR leaves 7, J and none; JRR leaves 77.
    assert hand.legal() == ["silent", "77R", "JRR"]
    play(hand, "4 77R")
    # Dead: nobody is asked, and 4 has a duty of his own now.
    assert hand.question() == (4, "lead")
    assert hand.state()["duty"] == [4, 2]
    assert hand.legal() == ["R", "JR"]


def test_the_burned_player_burns_back() -> None:
    hands = ["BB5", "33", "226", "33", "RR7", "33"]
    hand = Hand.from_position(hands, standing="AA", owner=0)
    play(hand, "2 22")
    assert hand.legal() == ["silent", "RR"]
    play(hand, "4 silent, 0 BB")
    assert hand.state()["duty"] == [0, 2]
    # 0 is asked no more; 2 may burn again (he has no beating set).
    assert asked(hand) == "2 burn, 4 burn, 1 burn, 5 burn, 3 gouji"
    play(hand, "2 silent, 4 RR")
    assert hand.question() == (4, "lead")
    assert (hand.legal(), hand.state()["duty"]) == (["7"], [4, 0])


def test_a_burner_leaves_with_the_burning_set() -> None:
    hand = Hand.from_position(["3", "33", "22", "33", "33", "34"], standing="AA", owner=0)
    play(hand, "2 22")
    assert (hand.finish, hand.state()["duty"]) == ([2], None)
    assert asked(hand) == "4 burn, 0 burn, 3 burn, 1 burn, 5 deadly"


def test_no_set_of_the_hand_is_offered_that_does_not_beat() -> None:
    hand = Hand.from_position(["3", "45K2B", "33", "33", "33", "33"], standing="4", owner=0)
    assert hand.legal() == ["pass", "5", "K", "2", "B"]
    with pytest.raises(OracleError, match="asked: \\(1, 'answer'\\); legal: pass, 5"):
        hand.play("4")


def test_failing_burner_without_a_joker_in_his_set() -> None:
    hands = ["34", "33", "2266BJJ", "33", "33", "33"]
    hand = Hand.from_position(hands, standing="AA", owner=0, options=LAST_PLACE)
    assert hand.legal() == ["silent", "22"]  # the condition of burning stays
    play(hand, "2 22, 4 silent, 0 silent, 3 silent, 1 silent, 5 pass")
    assert "6" in hand.legal()  # free choice
    play(hand, "2 6")
    state = hand.state()
    assert state["failed"] == [2]
    assert sum(state["counts"][2]) == 0
    assert (hand.question(), state["duty"]) == ((0, "lead"), None)  # the burned player


def test_failing_burner_out_of_jokers() -> None:
    hands = ["34", "33", "2266BJJ", "33", "33", "33"]
    hand = Hand.from_position(hands, standing="AA", owner=0, options=LAST_PLACE)
    play(hand, "2 22, 4 silent, 0 silent, 3 silent, 1 silent, 5 pass")
    fine = hand.copy()
    play(hand, "2 6B")  # 6 and JJ are left
    assert hand.state()["failed"] == [2]
    play(fine, "2 66B")  # only JJ: his last set may do without
    assert fine.state()["failed"] == []
    play(fine, "4 silent, 0 silent, 3 silent, 1 silent, 5 pass, 2 J")
    assert fine.state()["failed"] == [2]  # but this was not his last
    assert fine.question() == (0, "lead")


def test_failing_burner_when_the_burned_player_is_out() -> None:
    hand = Hand.from_position(
        ["", "33", "66BJJ", "33", "33", "33"],
        leader=2,
        finish=[0],
        headless=[3],
        duty=(2, 0),
        options=LAST_PLACE,
    )
    play(hand, "2 6")
    assert hand.question() == (3, "lead")  # the next player in after the burner


def test_a_failed_burner_has_the_last_place() -> None:
    hand = Hand.from_position(
        ["34", "33", "66BJJ", "33", "3", "3"], leader=2, duty=(2, 0), options=LAST_PLACE
    )
    play(hand, "2 6, 0 4, 1 pass, 3 yield, 4 pass, 5 pass, 3 pass, 0 3")
    play(hand, "1 pass, 3 pass, 4 pass, 5 pass, 1 33, 3 pass, 4 pass, 5 pass")
    # 0 and 1 have left: 四人乱缠 with 3, 4, 5; 接风 after seat 1.
    assert (hand.finish, hand.phase, hand.question()) == ([0, 1], "melee", (3, "lead"))
    play(hand, "3 33, 4 pass, 5 pass, 4 3")
    assert hand.phase == "over"
    assert hand.finish == [0, 1, 3, 4, 5, 2]
    assert hand.scores == [0, 0, 0, 0, 0, 0]  # 4 + 0 - 4 against 2 + 0 - 2


def test_whose_opponent_failed_has_nobody_to_answer_his_gouji_sets() -> None:
    hand = Hand.from_position(
        ["34", "33", "66BJJ", "33", "3", "AA3"], leader=2, duty=(2, 0), options=LAST_PLACE
    )
    play(hand, "2 6, 0 4, 1 pass, 3 pass, 4 pass, 5 A, 0 pass")
    assert hand.question() == (5, "lead")
    hand = Hand.from_position(["34", "33", "66BJJ", "33", "3", "AA3"], leader=5, options=LAST_PLACE)
    hand.failed, hand.hands[2] = [2], {}
    play(hand, "5 AA")
    assert asked(hand) == "1 burn, 3 burn, 0 burn, 4 burn"
    assert hand.state()["headless"] == []


def test_a_headless_player_is_bound_by_his_passes() -> None:
    hand = Hand.from_position(
        ["39", "34", "35", "", "36", "37AA"], standing="4", owner=1, finish=[3], headless=[0]
    )
    play(hand, "2 pass, 4 pass, 5 pass, 0 pass")
    assert hand.question() == (1, "lead")
    hand = Hand.from_position(
        ["39RR", "34", "35", "", "36", "37AA"], standing="AA", owner=5, finish=[3], headless=[0]
    )
    assert asked(hand) == "1 burn, 4 burn, 0 headless, 2 gouji"
    hand = Hand.from_position(
        ["39RR", "34", "35", "", "36", "37AA"],
        standing="AA",
        owner=5,
        finish=[3],
        headless=[0],
        out=[0, 2],
    )
    assert asked(hand) == "1 burn, 4 burn, 2 gouji"


def test_a_headless_players_sets_are_put_to_everybody() -> None:
    hand = Hand.from_position(
        ["KK3", "AA", "35", "", "36", "37"], leader=0, finish=[3], headless=[0]
    )
    play(hand, "0 KK")
    assert asked(hand) == "1 open, 2 open, 4 open, 5 open"
    play(hand, "1 AA")
    # 二科; his 对头 is 4. Headless players do not burn, they answer in order.
    assert asked(hand) == "5 burn, 2 burn, 4 deadly, 0 headless"
    assert hand.state()["duty"] is None  # that was no burn


def test_an_ordinary_set_of_a_headless_player_knows_no_yield() -> None:
    hand = Hand.from_position(
        ["53", "34", "36", "", "37", "38"], standing="4", owner=0, out=[4], finish=[3], headless=[0]
    )
    assert asked(hand) == "1 open, 2 open, 5 open"
    assert hand.legal() == ["pass"]
    play(hand, "1 pass")
    assert hand.legal() == ["pass", "6"]
