"""The oracle's roles by a called card (rules/baohuang.md §4.1, §4.2), worked out by hand.

Small decks: only the kinds that a test says come four times.
"""

import copy
from collections import Counter

import pytest

from tests.oracle.by_hand import play, say, small
from tests.oracle.hand import Hand
from tests.oracle.qingdao import OracleError

DECLINES = ["1 decline", "0 decline", "4 decline", "3 decline", "2 decline"]
CEDES = ["1 cede", "0 cede", "4 cede", "3 cede", "2 cede"]


def triple() -> Hand:
    """Seat 1 has R*, seat 0 three 9c, seat 3 the fourth."""
    return small("9c 9c 9c 4h", "R* 4s", "5s 6s", "9c 9d", "7s 8s")


def test_grab_moves_the_crown_and_skips_to_play() -> None:
    hand = triple()
    assert (hand.phase, hand.seat, hand.legal()) == ("grab", 1, ["grab", "decline"])
    play(hand, "1 decline", "0 decline", "4 grab")
    assert (hand.phase, hand.seat, hand.emperor, hand.guard) == ("play", 4, 4, None)
    assert (hand.solo, hand.role_public, hand.crown) == ("grab", True, 4)
    assert hand.hands[4] == Counter({"7s": 1, "8s": 1, "R": 1})
    assert hand.hands[1] == Counter({"4s": 1})
    assert hand.legal()[0] == "play 7"


def test_call_cede_and_declare() -> None:
    hand = play(triple(), *DECLINES)
    assert (hand.phase, hand.seat, hand.legal()) == ("call", 1, ["cede"])
    play(hand, "1 cede")
    assert (hand.seat, hand.legal(), hand.hands[0]["R"]) == (0, ["call 9c", "cede"], 1)
    play(hand, "0 call 9c")
    assert (hand.emperor, hand.guard, hand.solo, hand.role_public) == (0, 3, None, False)
    assert (hand.phase, hand.seat, hand.legal()) == ("declare", 1, ["silent"])
    play(hand, "1 silent", "2 silent")
    assert hand.legal() == ["declare", "silent"]
    declared, hidden = copy.deepcopy(hand), hand
    play(declared, "3 declare")
    assert (declared.phase, declared.seat, declared.multiplier) == ("play", 0, 2)
    assert declared.role_public
    assert "*" not in " ".join(declared.cards_of(3))
    play(hidden, "3 silent", "4 silent")
    assert (hidden.phase, hidden.seat, hidden.multiplier) == ("play", 0, 1)
    assert hidden.cards_of(3) == ["9c*", "9d"]


def test_hidden_identity_is_played_by_choice_only() -> None:
    start = play(triple(), *DECLINES, "1 cede", "0 call 9c")
    play(start, *(f"{seat} silent" for seat in (1, 2, 3, 4)), "0 play 4h", "1 pass", "2 pass")
    assert start.legal() == ["pass", "yield", "play 9", "play 9*"]
    for bad in ("3 play 9c", "3 play 9d*", "3 play 9s", "4 pass", "3 play 9d 9c*", "3 play 9d 5s"):
        with pytest.raises(OracleError):
            play(copy.deepcopy(start), bad)
    plain, starred = copy.deepcopy(start), copy.deepcopy(start)
    plain.apply("play 9")
    assert (plain.hands[3], plain.role_public) == (Counter({"9c": 1}), False)
    starred.apply("play 9*")
    assert (starred.hands[3], starred.role_public) == (Counter({"9d": 1}), True)
    assert starred.multiplier == 1  # revealed, but not 明保


def test_four_copies_are_a_solo() -> None:
    hand = small("9c 9c 9c 9c 9s", "R* 4s", "5s 6s", "9d 9d", "7s 8s")
    play(hand, *DECLINES, "1 cede")
    assert hand.legal() == ["call 9c open", "call 9c secret", "cede"]
    with pytest.raises(OracleError):
        hand.apply("call 9c")
    opened, secret = copy.deepcopy(hand), hand
    play(opened, "0 call 9c open")
    assert (opened.phase, opened.solo, opened.role_public) == ("play", "open", True)
    play(secret, "0 call 9c secret")
    assert (secret.phase, secret.solo, secret.role_public) == ("declare", "secret", False)
    for seat in (1, 2, 3, 4):
        assert secret.legal() == ["silent"]
        play(secret, f"{seat} silent")
    assert "play 9999" in secret.legal()
    assert "play 9*9999" in secret.legal()
    assert "play 99999" not in secret.legal()
    kept = copy.deepcopy(secret)
    kept.apply("play 9999")  # 9s first, then three of the four 9c
    assert (kept.hands[0], kept.role_public) == (Counter({"9c": 1, "R": 1}), False)
    play(secret, "0 play 9c* 9s")
    assert (secret.hands[0], secret.role_public) == (Counter({"9c": 3, "R": 1}), True)


def test_deck_without_four_copies_of_a_kind() -> None:
    hand = small("9c 9c 9c 4h", "R* 4s", "5s 6s", "9d 9d", "7s 8s")
    assert play(hand, *DECLINES, "1 cede").legal() == ["cede"]


def test_big_jokers_marked_or_not_are_one_kind() -> None:
    hand = small("4h 4h", "R* R R", "5s 6s", "R 9d", "7s 8s")
    assert play(hand, *DECLINES).legal() == ["call R", "cede"]
    play(hand, "1 call R", *(f"{seat} silent" for seat in (2, 3, 4, 0)))
    assert hand.guard == 3
    assert hand.cards_of(1) == ["R", "R", "R"]
    assert hand.cards_of(3) == ["9d", "R*"]


def test_forced_call_skips_and_counts_the_crown() -> None:
    # Going -1 from seat 1: no triple; seat 0 has a four only; seat 4 has two R, three with R*.
    hand = small("9c 9c 9c 9c", "R* 4s", "5s 5s 5s", "5s R 8d", "R R 8s")
    play(hand, *DECLINES, *CEDES)
    assert (hand.phase, hand.seat, hand.crown) == ("forced_call", 4, 4)
    assert hand.legal() == ["call R"]
    play(hand, "4 call R")
    assert (hand.emperor, hand.guard, hand.phase, hand.seat) == (4, 3, "declare", 0)


def test_forced_call_may_name_a_four() -> None:
    hand = small("9c 9c 9c 9c 5s 5s 5s", "R* 4s", "5s", "8d 8d", "8s")
    play(hand, *DECLINES, *CEDES)
    assert (hand.phase, hand.seat) == ("forced_call", 0)
    assert sorted(hand.legal()) == ["call 5s", "call 9c open", "call 9c secret"]


def test_void() -> None:
    hand = small("9c 9c 9c 9c", "R* 4s", "5s 5s", "5s 8d", "5s 8s")
    play(hand, *DECLINES, *CEDES)
    assert (hand.phase, hand.void, hand.seat, hand.scores) == ("over", True, None, [0] * 5)
    assert (hand.emperor, hand.finish, hand.legal()) == (None, [], [])
    with pytest.raises(OracleError):
        hand.apply("pass")


@pytest.mark.parametrize("end", ["cede", "void"])
def test_without_grab_or_forced_call(end: str) -> None:
    rules = {"preset": "qingdao", "grab": False, "forced_call": False}
    hand = small("9c 9c 9c 4h", "R* 4s", "5s 6s", "9c 9d", "7s 8s", rules=rules)
    assert (hand.phase, hand.seat) == ("call", 1)
    if end == "cede":
        play(hand, "1 cede, 0 call 9c")
        assert (hand.phase, hand.guard) == ("declare", 3)
    else:
        play(hand, *CEDES)  # seat 0 could be forced, but is not
        assert (hand.phase, hand.void, hand.scores) == ("over", True, [0] * 5)


def test_without_declaration() -> None:
    hand = small(
        *("9c 9c 9c 4h", "R* 4s", "5s 6s", "9c 9d", "7s 8s"),
        rules={"preset": "qingdao", "declare": False},
    )
    play(hand, *DECLINES, "1 cede, 0 call 9c")
    assert (hand.phase, hand.seat, hand.cards_of(3)) == ("play", 0, ["9c*", "9d"])


# ---- 贴牌 (§4.1.2)

TRIBUTE = {"preset": "qingdao", "tribute_on_cede": True}


def test_tribute_from_the_second_who_cedes_on() -> None:
    hand = small(
        "Kh Ks Ks 4h",  # 2nd: two Ks, one Kh: Kh
        "R* 2s 2s 2h B",  # 1st: nothing
        "B B R",  # 5th: no natural card
        "9c Jd 9c R",  # 4th: from his own hand, though K and Q lie with him
        "Qd Qc B",  # 3rd: one of each, h before c before d: Qc
        rules=TRIBUTE,
    )
    play(hand, *DECLINES, "1 cede")
    assert hand.pile == Counter()
    play(hand, "0 cede")
    assert (hand.pile, hand.crown) == (Counter({"Kh": 1}), 4)
    assert hand.hands[0] == Counter({"Ks": 2, "4h": 1})
    assert hand.hands[4] == Counter({"Qd": 1, "Qc": 1, "B": 1, "R": 1, "Kh": 1})
    play(hand, "4 cede")
    assert hand.pile == Counter({"Kh": 1, "Qc": 1})
    play(hand, "3 cede")
    assert hand.pile == Counter({"Kh": 1, "Qc": 1, "Jd": 1})
    assert hand.hands[3] == Counter({"9c": 2, "R": 1})
    assert hand.hands[2] == Counter({"B": 2, "R": 2, "Kh": 1, "Qc": 1, "Jd": 1})
    play(hand, "2 cede")
    assert (hand.void, hand.pile.total()) == (True, 3)


def test_pile_counts_for_calling_and_stays_with_the_emperor() -> None:
    hand = small("Kh Ks Ks", "R* 4s", "5s 6s", "Kh 9d", "Kh Kh 8s 8s", rules=TRIBUTE)
    play(hand, *DECLINES, "1 cede, 0 cede")
    assert hand.legal() == ["call Kh", "cede"]  # two of his own and one of the pile
    play(hand, "4 call Kh")
    assert (hand.emperor, hand.guard) == (4, 3)
    assert hand.hands[4] == Counter({"Kh": 3, "8s": 2, "R": 1})
    play(hand, say("0123", "silent"))
    assert "play KKKR" in hand.legal()


def test_rarest_suit_is_counted_without_the_pile() -> None:
    hand = small("Ks 3s", "R* 4s", "5s", "6s 7s", "Ks Kh Kh 8s", rules=TRIBUTE)
    play(hand, *DECLINES, "1 cede, 0 cede, 4 cede")
    # His own Ks is one, the Kh are two; with the pile's Ks it would be a tie.
    assert hand.pile == Counter({"Ks": 2})


def test_pile_travels_with_the_forced_question() -> None:
    # First holder 1. Going -1: 1, 0 and 4 have no three; 3 has two Kh, and the pile's Kh.
    hand = small("Kh 3s", "R* 4s", "4d 4h", "Kh Kh 2s 9d", "Kh 8s", rules=TRIBUTE)
    play(hand, *DECLINES, "1 cede, 0 cede")
    assert hand.pile == Counter({"Kh": 1})
    play(hand, "4 cede")
    assert hand.pile == Counter({"Kh": 2})
    assert hand.legal() == ["call Kh open", "call Kh secret", "cede"]
    play(hand, "3 cede, 2 cede")
    # In the pile: Kh Kh 2s 4h. With it seat 3 has four Kh, which is not exactly three.
    assert (hand.pile, hand.void) == (Counter({"Kh": 2, "2s": 1, "4h": 1}), True)


def test_forced_call_with_the_pile() -> None:
    hand = small("Kh 3s", "R* 4s", "4d 4h", "Kh Kh 2s 9d", "Ac Kh 8s", rules=TRIBUTE)
    play(hand, *DECLINES, *CEDES)
    # In the pile: Kh Ac 2s 4h.
    assert (hand.phase, hand.seat, hand.legal()) == ("forced_call", 3, ["call Kh"])
    assert hand.hands[1] == Counter({"4s": 1})
    play(hand, "3 call Kh")
    assert (hand.guard, hand.hands[3]["Ac"], hand.hands[3]["R"]) == (4, 1, 1)


# ---- 特画 (§4.2)


def supreme(*hands: str) -> Hand:
    return play(small(*hands, rules="shiwei"), *DECLINES)


def test_supreme_of_the_guard_stays_a_joker_when_declared() -> None:
    hand = supreme("9c 9c 9c R", "R* 4s", "5s 6s", "9c 9d 9d", "7s 8s")
    play(hand, "1 cede, 0 call 9c, 1 silent, 2 silent")
    declared, hidden = copy.deepcopy(hand), play(hand, "3 silent, 4 silent")
    play(declared, "3 declare")
    for one in (declared, hidden):
        assert one.cards_of(3) == ["9c*", "9d", "9d"]
        play(one, "0 play R, 1 pass, 2 pass")
        assert one.legal() == ["pass", "play X"]
        for bad in ("3 play 9c", "3 play 9d*"):
            with pytest.raises(OracleError):
                play(copy.deepcopy(one), bad)
        play(one, "3 play 9c*")
        assert (one.role_public, one.standing, one.cards_of(3)) == (True, "X", ["9d", "9d"])
        play(one, "4 pass, 0 pass, 1 pass, 2 pass")
        assert one.legal() == ["play 9", "play 99"]
    assert (declared.multiplier, hidden.multiplier) == (2, 1)


def test_supreme_hangs_on_naturals_of_its_own_rank_as_a_joker() -> None:
    hand = supreme("9c 9c 9c", "R* 4s 4s", "5s 6s", "9c 9d 9d", "7s 8s")
    play(hand, "1 cede, 0 call 9c", say("1234", "silent"), "0 play 9c 9c, 1 pass, 2 pass")
    assert hand.legal() == ["pass"]  # 9X is no pair above 99: its 9 is not higher
    play(hand, "3 pass, 4 pass, 0 play 9c, 1 pass, 2 pass, 3 play 9c*")
    assert hand.role_public


@pytest.mark.parametrize("how", ["open", "secret"])
def test_supreme_of_a_soloist_is_his_fourth_copy(how: str) -> None:
    hand = supreme("9c 9c 9c 9c 9s", "R* 4s", "5s 6s", "9d 9d", "7s 8s")
    play(hand, f"1 cede, 0 call 9c {how}")
    if how == "secret":
        play(hand, say("1234", "silent"))
    assert hand.cards_of(0) == ["9s", "9c*", "9c", "9c", "9c", "R"]
    moves = hand.legal()
    assert "play 9999X" in moves
    assert "play 99999" not in moves
    assert hand.pick("99X") == ["9s", "9c", "9c*"]
    play(hand, "0 play 9c 9c*")
    assert (hand.role_public, hand.standing) == (True, "9X")
    assert hand.cards_of(0) == ["9s", "9c", "9c", "R"]


def test_supreme_may_be_a_big_joker() -> None:
    hand = supreme("4h 4h", "R* R R", "5s 6s", "R 9d", "7s 8s")
    play(hand, "1 call R", say("2340", "silent"), "1 play R R, 2 pass")
    assert hand.cards_of(3) == ["9d", "R*"]
    assert hand.legal() == ["pass"]
    play(hand, "3 pass, 4 pass, 0 pass, 1 play R, 2 pass")
    assert hand.legal() == ["pass", "play X"]
    play(hand, "3 play R*")
    assert (hand.standing, hand.role_public) == ("X", True)


def test_no_supreme_after_a_grab() -> None:
    hand = small("9c 9c 9c 9c", "R* 4s", "5s 6s", "9d 9d", "7s 8s", rules="shiwei")
    play(hand, "1 decline, 0 grab")
    assert hand.cards_of(0) == ["9c", "9c", "9c", "9c", "R"]
    assert hand.legal()[-1] == "play 9999R"


# ---- the marked small joker (§4.2)

MARKED = {"preset": "shiwei", "guard_by": "marked_small_joker"}


def test_marked_small_joker_in_another_hand() -> None:
    hand = small("9c 9c 9c 9c", "R* 4s", "5s", "B* B", "7s 8s", rules=MARKED)
    play(hand, *DECLINES)  # no call: the emperor is asked at once
    assert (hand.phase, hand.seat, hand.legal()) == ("open", 1, ["silent"])
    assert (hand.emperor, hand.guard) == (1, 3)
    play(hand, "1 silent, 2 silent")
    assert (hand.phase, hand.legal()) == ("declare", ["declare", "silent"])
    declared, hidden = copy.deepcopy(hand), play(hand, "3 silent, 4 silent, 0 silent")
    play(declared, "3 declare")
    assert (declared.multiplier, declared.cards_of(3)) == (2, ["B", "B"])
    assert hidden.cards_of(3) == ["B*", "B"]
    play(hidden, "1 play 4s, 2 play 5s")
    assert hidden.legal() == ["pass", "play B", "play B*"]  # an ordinary B, no X
    play(hidden, "3 play B*")
    assert hidden.role_public


def test_marked_small_joker_double_holder() -> None:
    hand = small("9c 9c", "R* B* 4s", "5s 6s", "B", "7s 8s", rules=MARKED)
    play(hand, *DECLINES)
    assert hand.legal() == ["open", "silent"]
    opened, secret = copy.deepcopy(hand), hand
    play(opened, "1 open")
    assert (opened.phase, opened.solo, opened.guard) == ("play", "open", None)
    assert opened.cards_of(1) == ["4s", "B", "R"]
    play(secret, "1 silent")
    assert (secret.phase, secret.seat, secret.solo) == ("declare", 2, "secret")
    play(secret, say("2340", "silent"))
    assert secret.cards_of(1) == ["4s", "B*", "R"]
    play(secret, "1 play B* R")
    assert secret.role_public


def test_marked_small_joker_grab_and_no_grab() -> None:
    hands = ("9c 9c", "R* 4s", "5s 6s", "B*", "7s 8s")
    hand = play(small(*hands, rules=MARKED), "1 decline, 0 grab")
    assert (hand.phase, hand.guard, hand.solo, hand.cards_of(3)) == ("play", None, "grab", ["B"])
    hand = small(*hands, rules={**MARKED, "grab": False})
    assert (hand.phase, hand.seat) == ("open", 1)
    with pytest.raises(OracleError):
        small(*hands, rules="shiwei")  # a B* that has no meaning
