"""The oracle's play and ends (rules/baohuang.md §5), worked out by hand."""

import copy
from typing import Any

import pytest

from tests.oracle.by_hand import play, say, small
from tests.oracle.hand import Hand


def grabbed(**options: Any) -> Hand:
    """Seat 0 has grabbed and leads; no hidden card."""
    rules = {"preset": "qingdao", **options}
    hand = small("R* 3s 4s 4s", "5s 5s 8s", "6s 6s 9s", "7s 7s Ts", "8h 8h Js", rules=rules)
    return play(hand, "0 grab")


def test_circle_two_asks_those_who_yielded_in_order() -> None:
    hand = play(grabbed(), "0 play 3s")
    play(hand, "1 pass", "2 yield", "3 pass", "4 yield")
    assert (hand.circle, hand.seat) == (2, 2)
    assert hand.legal() == ["pass", "play 6", "play 9"]
    play(hand, "2 pass")
    assert hand.seat == 4
    play(hand, "4 play 8h")  # a new set: circle 1 for everybody, those who passed included
    assert (hand.circle, hand.seat) == (1, 0)
    assert hand.legal() == ["pass", "yield", "play R"]
    play(hand, "0 pass", "1 pass", "2 play 9s", "3 pass", "4 pass", "0 pass", "1 pass")
    assert (hand.standing, hand.seat) == (None, 2)
    assert hand.legal() == ["play 6", "play 66"]


def test_claim_and_jiefeng() -> None:
    hand = play(grabbed(), "0 play 4s 4s", "1 play 5s 5s", "2 pass", "3 pass", "4 pass", "0 pass")
    play(hand, "1 play 8s")
    assert hand.finish == [1]
    assert hand.legal() == ["pass", "yield", "claim", "play 9"]  # seat 2, next with cards
    play(hand, "2 claim")
    assert hand.legal() == ["pass", "yield", "play T"]  # only seat 2 may claim
    play(hand, "3 yield", "4 pass", "0 pass")
    assert (hand.circle, hand.seat) == (2, 3)  # a claim is a pass: seat 2 is not asked again
    play(hand, "3 pass")
    assert (hand.seat, hand.standing) == (2, None)


def test_hand_ends_with_one_player_left() -> None:
    hand = small("R* 3s", "5s", "6s", "7s", "8s")
    play(hand, "0 grab", "0 play R", *(f"{s} pass" for s in (1, 2, 3, 4)), "0 play 3s")
    assert (hand.finish, hand.phase) == ([0], "play")
    play(hand, "1 play 5s", "2 play 6s", "3 play 7s")
    assert (hand.phase, hand.finish) == ("over", [0, 1, 2, 3, 4])
    assert hand.scores == [40, -10, -10, -10, -10]


def test_without_yield_and_claim() -> None:
    hand = play(grabbed(claim=False), "0 play 4s 4s, 1 play 5s 5s", say("2340", "pass"))
    play(hand, "1 play 8s")
    assert hand.legal() == ["pass", "yield", "play 9"]
    play(hand, say("2340", "pass"))
    assert (hand.seat, hand.standing) == (2, None)  # 接风 all the same
    assert play(grabbed(**{"yield": False}), "0 play 3s").legal()[:2] == ["pass", "play 5"]


def test_passing_binds_for_one_set_or_for_the_trick() -> None:
    by_set, by_trick = grabbed(), grabbed(pass_scope="trick")
    for hand in (by_set, by_trick):
        play(hand, "0 play 3s, 1 pass, 2 play 6s")
    play(by_set, "3 pass, 4 pass, 0 pass")
    assert by_set.seat == 1
    play(by_trick, "3 yield, 4 pass, 0 pass")
    assert (by_trick.circle, by_trick.seat) == (2, 3)  # seat 1 is out, seat 3 has yielded
    play(by_trick, "3 play Ts")
    assert by_trick.queue == [2]  # whose own set was beaten; the others have passed
    play(by_trick, "2 pass, 3 play 7s, 4 play 8h")
    assert (by_trick.seat, by_trick.legal()) == (0, ["pass", "yield", "play R"])  # a new trick


def test_a_trick_that_everybody_has_left_is_closed_at_once() -> None:
    rules = {"preset": "qingdao", "pass_scope": "trick"}
    hand = small("R* 3s", "5s 5s", "6s", "Ts Jh", "8h 8h", rules=rules)
    play(hand, "0 grab, 0 play 3s, 1 pass, 2 play 6s, 3 yield, 4 pass, 0 pass, 3 play Ts")
    assert (hand.finish, hand.standing, hand.queue) == ([2], None, [3])


def test_a_pass_in_circle_two_is_for_the_trick_too() -> None:
    hand = play(grabbed(pass_scope="trick"), "0 play 3s, 1 yield, 2 yield, 3 yield, 4 pass")
    play(hand, "1 pass, 2 play 6s")  # circle 1 anew, for seats 3 and 0 only
    assert (hand.circle, hand.queue) == (1, [3, 0])


def test_claim_and_trick_scope() -> None:
    def last_set(word: str) -> Hand:
        hand = small(
            *("R* 3s 3s", "5s", "6s 6s 9s", "7s 7s Ts", "8h 8h Js"),
            rules={"preset": "qingdao", "pass_scope": "trick"},
        )
        play(hand, "0 grab, 0 play 3s, 1 pass, 2 pass, 3 pass, 4 pass, 0 play 3s")
        return play(hand, f"1 play 5s, 2 {word}")

    hand = last_set("claim")  # he has announced it and stays out
    play(hand, "3 play 7s, 4 play 8h, 0 pass")
    assert (hand.queue, hand.claim_seat) == ([3], None)
    play(hand, "3 pass")
    assert hand.seat == 4
    # The next player is out of the trick: nobody may claim, and he inherits the lead.
    hand = small(
        *("R* 9s", "3s 5s", "6s 6s 4s", "7s", "8h 8h Js"),
        rules={"preset": "qingdao", "pass_scope": "trick"},
    )
    play(hand, "0 decline, 4 decline, 3 decline, 2 decline, 1 grab, 1 play 3s, 2 play 4s")
    play(hand, "3 yield, 4 pass, 0 yield, 1 play 5s, 2 pass, 3 play 7s")
    assert (hand.finish, hand.queue, hand.claim_seat) == ([3], [0, 1], None)
    assert hand.legal() == ["pass", "yield", "play 9"]
    play(hand, "0 pass, 1 pass")
    assert (hand.standing, hand.seat) == (None, 4)


def test_held_sixes_of_a_leader() -> None:
    rules = {"preset": "qingdao", "hold_sixes": True}
    hand = small("R* 6s 6h 9s", "5s 5s", "7s 6d", "7s 7s", "8h 8h", rules=rules)
    play(hand, "0 grab")
    assert hand.legal() == ["play 9", "play R", "play 9R"]
    play(hand, "0 play 9s", say("1234", "pass"))
    assert hand.legal() == ["play R", "play 66R"]
    play(hand, "0 play R", say("1234", "pass"), "0 play 6s 6h")
    assert hand.finish == [0]


def test_three_twos_on_a_big_joker() -> None:
    rules = {"preset": "qingdao", "three_twos_beat_big": True}
    hand = small("R* 3s", "2s 2h 2c", "2d 2d 2d", "7s 7s", "8h 8h", rules=rules)
    play(hand, "0 grab, 0 play R, 1 play 2s 2h 2c")
    assert (hand.standing, hand.legal()) == ("222", ["pass", "yield", "claim"])


# ---- the end


def ending(end: str, preset: str = "qingdao") -> Hand:
    """Seat 0 has three 9c, seat 1 the fourth; the rebels have one card each."""
    hand = small(*("9c 9c 9c R*", "9c 4s", "5s", "6s", "7s"), rules={"preset": preset, "end": end})
    return play(hand, say("04321", "decline"), "0 call 9c", say("1234", "silent"))


def test_end_camp_out_and_decided() -> None:
    for end in ("camp_out", "decided", "last_player"):
        hand = play(ending(end), "0 play 9c 9c 9c R", say("1234", "pass"))
        assert hand.finish == [0]
        play(hand, "1 play 4s")
        assert hand.phase == "play"
        before = copy.deepcopy(hand)
        # The guard goes out second: only the rebels are left.
        play(hand, "2 pass, 3 pass, 4 pass, 1 play 9c*")
        if end == "last_player":
            assert hand.phase == "play"
            play(hand, "2 pass, 3 pass, 4 pass, 2 play 5s, 3 play 6s")
            assert hand.finish == [0, 1, 2, 3, 4]
        else:
            assert (hand.phase, hand.finish) == ("over", [0, 1])
        assert hand.scores == [6, 3, -3, -3, -3]
        # All rebels before the guard: who is last is clear to all three.
        play(before, "2 play 5s, 3 play 6s, 4 play 7s")
        assert (before.finish, before.scores) == ([0, 2, 3, 4, 1], [0, 0, 0, 0, 0])


def test_decided_is_earlier_than_camp_out() -> None:
    for end, over in (("decided", True), ("camp_out", False), ("last_player", False)):
        hand = small("R* 3s 4s", "5s", "6s", "7s 7s", "8h 8h", rules={"end": end})
        play(hand, "0 grab, 0 play 3s, 1 play 5s")
        # A grab is lost as soon as somebody else is first.
        assert (hand.phase == "over") is over
        if over:
            assert (hand.finish, hand.scores) == ([1], [-40, 10, 10, 10, 10])


def test_two_who_are_left_may_still_decide_the_score() -> None:
    hand = small(
        *("9c 9c 9c R* 3s", "9c 4s", "5s", "6s", "7s 7s"),
        rules={"preset": "qingdao", "end": "decided"},
    )
    play(hand, say("04321", "decline"), "0 call 9c", say("1234", "silent"))
    play(hand, "0 play 3s, 1 play 4s, 2 play 5s, 3 play 6s, 4 pass, 0 pass, 1 play 9c*")
    # Out: 2, 3, 1. The guard is third; the emperor fourth (T = -1) or fifth (T = -2).
    assert (hand.finish, hand.phase) == ([2, 3, 1], "play")


def test_secret_solo_and_camp_out() -> None:
    hand = small(
        *("9c 9c 9c 9c R* 3s", "4s", "5s", "6s", "7s"),
        rules={"preset": "qingdao", "end": "camp_out"},
    )
    play(hand, say("04321", "decline"), "0 call 9c secret", say("1234", "silent"))
    play(hand, "0 play 3s, 1 play 4s, 2 play 5s, 3 play 6s")
    assert hand.phase == "play"
    play(hand, "4 play 7s")
    assert (hand.finish, hand.scores) == ([1, 2, 3, 4, 0], [-16, 4, 4, 4, 4])


@pytest.mark.parametrize("end", ["camp_out", "decided"])
def test_a_lone_emperor_who_is_out_ends_the_hand(end: str) -> None:
    hand = small("R* 3s", "5s 5s", "6s 6s", "7s 7s", "8h 8h", rules={"end": end})
    play(hand, "0 grab, 0 play R", say("1234", "pass"), "0 play 3s")
    assert (hand.phase, hand.finish) == ("over", [0])
    assert hand.scores == [40, -10, -10, -10, -10]
