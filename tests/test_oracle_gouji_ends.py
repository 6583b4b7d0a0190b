"""The Gouji oracle's last sets, headless players, 四人乱缠 and ends (§4, §5, §6), by hand."""

import pytest

from tests.oracle_gouji import Hand, Options
from tests.oracle_gouji.by_hand import asked, play

LAST_PLAYER = Options(end="last_player")


def test_ordinary_last_set_of_the_first() -> None:
    hand = Hand.from_position(["4", "35", "36", "379", "38", "39"], leader=0)
    play(hand, "0 4")
    assert hand.finish == [0]
    assert asked(hand) == "1 ordinary, 2 ordinary, 3 deadly, 4 ordinary, 5 ordinary"
    assert hand.state()["headless"] == []  # not before it is beaten or the trick ends
    play(hand, "1 pass, 2 pass")
    assert hand.legal() == ["pass", "7", "9"]  # no yield at a 底牌
    play(hand, "3 7")
    # 够死级, an ordinary single: burners only, and those who passed are out.
    assert asked(hand) == "5 burn, 4 burn"
    assert hand.state()["headless"] == [3]
    assert hand.legal() == ["silent", "9"]
    play(hand, "5 silent, 4 silent")
    assert hand.question() == (3, "lead")


def test_a_burned_gousiji() -> None:
    """A set that burns a 够死级 counts as 够级, and so does what answers it."""
    hand = Hand.from_position(["4", "35", "3T", "379", "36", "39"], leader=0)
    play(hand, "0 4, 1 pass")
    other = hand.copy()
    play(hand, "2 pass, 3 7, 5 9")
    assert hand.state()["duty"] == [5, 3]
    # 5's mates are 1 (out) and 3 (headless); 4 and 0 (gone) sit beside him. 2 is his 对头: a
    # full 够级 set, so he may answer though he passed; and the headless 3 in his place.
    assert asked(hand) == "4 burn, 2 gouji, 3 headless"
    play(hand, "4 silent, 2 T")
    state = hand.state()
    assert (state["duty"], state["counts_as_gouji"]) == (None, True)
    assert hand.events["burn: of a set 够级 by context"] == hand.events["set: 够级 by context"] == 1
    assert asked(hand) == "4 burn, 3 headless, 5 gouji"
    # Had 2 not passed before the 够死级, he could have burned it.
    play(other, "2 T")
    assert asked(other) == "3 ordinary, 4 ordinary, 5 opponent"  # D's chance is gone
    assert other.state()["headless"] == [3]


def test_last_set_although_the_opponent_is_out_of_the_trick() -> None:
    hand = Hand.from_position(
        ["5", "34", "36", "379", "38", "39"], standing="4", owner=4, out=[3, 5]
    )
    play(hand, "0 5")
    # In his place, though out; the others who are out stay out.
    assert asked(hand) == "1 ordinary, 2 ordinary, 3 deadly, 4 ordinary"
    play(hand, "1 pass, 2 6")
    # Somebody else has beaten it: his chance is gone, and he is headless and out.
    assert asked(hand) == "4 ordinary, 5 last"
    assert hand.state()["headless"] == [3]


def test_nobody_beats_a_last_set() -> None:
    hand = Hand.from_position(["9", "34", "36", "37", "38", "33"], leader=0)
    play(hand, "0 9, 1 pass, 2 pass, 3 pass, 4 pass, 5 pass")
    assert hand.question() == (1, "lead")  # 接风
    assert hand.state()["headless"] == [3]
    # The next player who still holds cards.
    hand = Hand.from_position(["9", "", "36", "37", "38", "33"], leader=0, finish=[1], headless=[4])
    play(hand, "0 9, 2 pass, 3 pass, 4 pass, 5 pass")
    assert (hand.question(), hand.phase) == ((2, "lead"), "melee")


def test_a_dead_last_set() -> None:
    hand = Hand.from_position(["9R", "34", "36", "37", "38", "33"], leader=0)
    play(hand, "0 9R")
    assert (hand.finish, hand.question()) == ([0], (1, "lead"))
    assert hand.state()["headless"] == [3]


def test_a_dead_gousiji() -> None:
    hand = Hand.from_position(["9", "34", "36", "3R", "38", "33"], leader=0)
    play(hand, "0 9, 1 pass, 2 pass, 3 R")
    assert hand.question() == (3, "lead")
    assert hand.state()["headless"] == [3]


def test_gouji_last_set_of_the_second() -> None:
    """Seat 1 has left, so 4 is headless; now 0 leaves second."""
    hand = Hand.from_position(
        ["AA", "", "22456", "22BB3", "BBRR", "33"], leader=0, finish=[1], headless=[4]
    )
    play(hand, "0 AA")
    assert asked(hand) == "2 burn, 5 burn, 3 deadly, 4 headless"
    assert hand.legal() == ["silent"]  # 4, 5, 6 left without a joker
    play(hand, "2 silent, 5 silent, 3 22")
    # 够死级: step 1 only, so the headless 4 is not asked.
    assert asked(hand) == "5 burn, 2 burn"
    assert hand.state()["headless"] == [4]  # 二科's 对头 is not headless
    play(hand, "5 silent, 2 silent")
    assert (hand.question(), hand.phase) == ((3, "lead"), "melee")


def test_headless_player_beats_the_last_set_of_the_second() -> None:
    hand = Hand.from_position(
        ["AA", "", "22456", "RR3", "BB3", "33"], leader=0, finish=[1], headless=[4]
    )
    play(hand, "0 AA, 2 silent, 5 silent, 3 pass, 4 BB")
    assert hand.state()["duty"] is None
    # 4's set is a headless one; 3 has passed, and 0, who is not 4's 对头, is gone.
    assert asked(hand) == "5 open, 2 open"


def test_gousiji_as_last_set_is_second_place() -> None:
    hand = Hand.from_position(["4", "39", "36", "7", "38", "39"], leader=0)
    play(hand, "0 4, 1 pass, 2 pass, 3 7")
    assert hand.finish == [0, 3]
    assert asked(hand) == "5 burn, 4 burn"
    play(hand, "5 silent, 4 silent")
    # He is out: the next player leads, and that is 四人乱缠.
    assert (hand.question(), hand.phase) == ((4, "lead"), "melee")


@pytest.mark.parametrize(
    ("last", "expected"), [("9", "4 ordinary, 5 last"), ("2", "4 burn, 5 gouji")]
)
def test_the_third_leaves_in_the_trick_of_the_second(last: str, expected: str) -> None:
    """His 底牌 is handled by §3, for what its cards are; nobody has a 够死级."""
    hand = Hand.from_position(
        ["", "8", last, "34", "36", "3B"],
        standing="5",
        owner=4,
        out=[3],
        finish=[0],
        headless=[3],
    )
    play(hand, "5 pass, 1 8")
    assert asked(hand) == "2 ordinary, 4 deadly"
    play(hand, f"2 {last}")
    assert hand.finish == [0, 1, 2]
    assert asked(hand) == expected
    play(hand, f"4 {'silent' if last == '2' else 'pass'}, 5 pass")
    assert (hand.question(), hand.phase) == ((3, "lead"), "melee")


def test_second_and_third_in_one_trick_whose_opponents_are_not_headless() -> None:
    """§5 makes only 头科's 对头 headless: 4, whose 对头 left second, is none in this trick."""
    hand = Hand.from_position(
        ["", "8", "T", "34", "322", "3B"], standing="5", owner=4, finish=[0], headless=[3]
    )
    play(hand, "5 pass, 1 8, 2 T, 3 pass, 4 2")
    # A 够级 set of 4: 0 and 2 are gone, 3 and 5 are out, and his 对头 is gone: nobody.
    assert (hand.question(), hand.phase) == ((4, "lead"), "melee")
    assert hand.state()["headless"] == [3]


def test_melee() -> None:
    hand = Hand.from_position(
        ["", "", "3AA", "449", "55BB", "3622"], leader=2, finish=[0, 1], duty=(2, 5)
    )
    assert hand.state()["duty"] is None  # a burner's duty ends
    assert hand.legal() == ["3", "A", "AA"]
    play(hand, "2 AA")
    # No 够级: in order, everybody.
    assert asked(hand) == "3 melee, 4 melee, 5 melee"
    assert hand.legal() == ["pass"]
    play(hand, "3 pass")
    assert hand.legal() == ["pass", "BB"]
    play(hand, "4 pass, 5 22")
    # A pass binds for one set only.
    assert asked(hand) == "2 melee, 3 melee, 4 melee"
    play(hand, "2 pass, 3 pass, 4 BB, 5 pass, 2 pass, 3 pass")
    assert hand.question() == (4, "lead")
    play(hand, "4 55, 5 pass")
    assert hand.finish == [0, 1, 4]
    # 4's 底牌 stands: the next player after him leads.
    play(hand, "2 pass, 3 pass")
    assert hand.question() == (5, "lead")


def test_melee_dead_set_and_the_last_player() -> None:
    hand = Hand.from_position(["", "", "3R", "9", "", ""], leader=2, finish=[0, 5, 4, 1])
    play(hand, "2 R")
    assert hand.question() == (2, "lead")
    play(hand, "2 3")
    # Nobody is asked: one player is left.
    assert (hand.phase, hand.finish) == ("over", [0, 5, 4, 1, 2, 3])
    assert hand.scores == [2, -2, 2, -2, 2, -2]  # 4 + 0 - 2 against 2 + 0 - 4


def test_end_when_a_side_is_out_or_one_player_is_left() -> None:
    hands = ["", "34", "", "35", "36", ""]
    hand = Hand.from_position(hands, leader=4, finish=[0, 2, 5])
    play(hand, "4 3, 1 pass, 3 5, 4 6")
    assert (hand.phase, hand.finish) == ("over", [0, 2, 5, 4])
    assert (hand.scores, hand.recorded) == ([6, -6, 6, -6, 6, -6], [6, 0])
    hand = Hand.from_position(hands, leader=4, finish=[0, 2, 5], options=LAST_PLAYER)
    play(hand, "4 3, 1 pass, 3 5, 4 6")
    assert hand.phase == "melee"
    play(hand, "1 pass, 3 pass, 1 3, 3 pass, 1 4")
    assert hand.finish == [0, 2, 5, 4, 1, 3]
    assert hand.recorded == [6, 0]


def test_string_of_three() -> None:
    hand = Hand.from_position(["", "34", "", "35", "R", "39"], leader=4, finish=[0, 2])
    play(hand, "4 R")
    assert hand.recorded == [12, 0]
    assert hand.scores == [12, -12, 12, -12, 12, -12]


def revolution(left: int, **state: object) -> Hand:
    """Seat 0 has revolted; seat 3 has `left` 够死级 and leads."""
    hands = ["", "34BB", "3522", "AAKK22223", "3633", "37BR"]
    headless = [] if left else [3]
    return Hand.from_position(
        hands,
        leader=3,
        revolter=0,
        revolution_left=left,
        headless=headless,
        **state,  # type: ignore[arg-type]
    )


def test_the_three_gousiji_of_the_revolters_opponent() -> None:
    hand = revolution(3)
    play(hand, "3 KK")
    # Burners only: his mates 5 and 1, then 4 and 2.
    assert asked(hand) == "5 burn, 1 burn, 4 burn, 2 burn"
    play(hand, "5 silent, 1 silent, 4 silent, 2 silent")
    assert (hand.question(), hand.revolution_left) == ((3, "lead"), 2)
    # An ordinary set is none of the three; he has no 对头.
    play(hand, "3 3")
    assert asked(hand) == "4 ordinary, 5 ordinary, 1 ordinary, 2 ordinary"
    play(hand, "4 6, 5 7, 1 pass, 2 pass")
    # An answer counts: a single 2.
    play(hand, "3 2")
    assert (hand.revolution_left, hand.state()["headless"]) == (1, [])
    assert asked(hand) == "5 burn, 4 burn"
    play(hand, "5 silent, 4 silent, 3 22")
    assert (hand.revolution_left, hand.state()["headless"]) == (0, [3])
    assert asked(hand) == "5 burn, 1 burn, 4 burn, 2 burn"
    play(hand, "5 silent, 1 silent, 4 silent, 2 silent, 3 AA")
    assert asked(hand) == "4 open, 5 open, 1 open, 2 open"


def test_before_his_three_are_over_he_answers_gouji_sets_by_burning_only() -> None:
    hands = ["", "AA34", "35", "22B6", "36", "37"]
    hand = Hand.from_position(hands, leader=1, revolter=0, revolution_left=2)
    play(hand, "1 AA")
    # Seat 3 is a mate of 1 and asked as a burner; not in step 2.
    assert asked(hand) == "3 burn, 5 burn, 2 burn, 4 gouji"
    play(hand, "3 22")
    assert (hand.revolution_left, hand.state()["duty"]) == (1, [3, 1])
    assert asked(hand) == "5 burn, 1 burn, 4 burn, 2 burn"  # no 解烧: his 对头 has gone
    hand = Hand.from_position(hands, leader=1, revolter=0, revolution_left=0, headless=[3])
    play(hand, "1 AA")
    assert asked(hand) == "5 burn, 2 burn, 3 headless, 4 gouji"


def test_a_dead_set_counts_among_the_three() -> None:
    hands = ["", "AA34", "35", "22R69", "36", "37"]
    hand = Hand.from_position(hands, leader=3, revolter=0, revolution_left=1)
    play(hand, "3 6R")
    assert (hand.question(), hand.revolution_left) == ((3, "lead"), 0)
    assert hand.state()["headless"] == [3]


def test_he_may_beat_a_headless_players_gouji_set_in_order() -> None:
    """Seat 4, 头科's 对头, leads; seat 3 still has two 够死级. §5 goes before §6 here."""
    hands = ["", "", "35", "22B6", "AA36", "37"]
    hand = Hand.from_position(
        hands, leader=4, revolter=0, revolution_left=2, finish=[1], headless=[4]
    )
    play(hand, "4 AA")
    assert asked(hand) == "5 open, 2 open, 3 open"
    play(hand, "5 pass, 2 pass, 3 22")
    assert (hand.revolution_left, hand.state()["duty"]) == (1, None)
    # Burners only: the headless 4 would be asked in step 2, and is not; 5 and 2 have passed.
    assert hand.question() == (3, "lead")


def test_melee_after_a_revolution_has_three_players() -> None:
    hand = Hand.from_position(
        ["", "9", "35", "37", "36", ""],
        leader=1,
        revolter=0,
        revolution_left=3,
        finish=[5],
        headless=[2],
    )
    play(hand, "1 9, 2 pass, 3 pass, 4 pass")
    assert (hand.phase, hand.question(), hand.finish) == ("melee", (2, "lead"), [5, 1])


def test_a_revolter_whose_mates_are_first_and_second_is_third() -> None:
    hand = Hand.from_position(
        ["", "34", "", "37", "9", "35"], leader=4, revolter=0, revolution_left=3, finish=[2]
    )
    play(hand, "4 9")
    # His side is out.
    assert (hand.phase, hand.finish) == ("over", [2, 4])
    assert hand.recorded == [12, 0]
    assert hand.state()["revolter"] == 0
