"""The oracle's roles by marks (rules/baohuang.md §4.3), worked out by hand."""

from typing import Any

import pytest

from tests.oracle.by_hand import play, say, small
from tests.oracle.hand import Hand
from tests.oracle.qingdao import OracleError


def table(both: bool = False, **options: Any) -> Hand:
    """Seat 1 has R*, seat 3 (or with `both` seat 1) has B*."""
    return small(
        *("7s 8s", "R* 9s B*" if both else "R* 9s B", "7h 8h", "B 9h" if both else "B* B", "Ts Th"),
        rules={"preset": "weihai", **options},
    )


def declined(both: bool = False, **options: Any) -> Hand:
    return play(table(both, **options), say("12340", "decline"))


def poll(hand: Hand) -> tuple[str, int | None, list[str]]:
    return hand.phase, hand.seat, hand.legal()


def playing(hand: Hand) -> tuple[str, int | None, int]:
    return hand.phase, hand.seat, hand.multiplier


# ---- 1 明度


def test_open_solo_asks_all_five_from_the_crown_on() -> None:
    hand = table(both=True)
    for seat in (1, 2, 3, 4, 0):
        assert poll(hand) == ("solo", seat, ["solo", "decline"])
        play(hand, f"{seat} decline")
    assert poll(hand) == ("abandon", 1, ["keep", "abandon"])


def test_open_soloist_leads_and_marks_lose_their_meaning() -> None:
    hand = play(table(), "1 decline, 2 decline, 3 solo")
    assert (hand.emperor, hand.guard, hand.solo, hand.role_public) == (3, None, "open", True)
    assert hand.crown == 1  # R* stays where it is
    assert poll(hand) == ("solo_ti", 4, ["ti", "silent"])
    play(hand, "4 silent, 0 ti, 1 silent")
    assert poll(hand) == ("solo_ti", 2, ["ti", "silent"])
    play(hand, "2 ti")
    assert playing(hand) == ("play", 3, 2)
    assert hand.cards_of(3) == ["B", "B"]
    play(hand, "3 play B B")
    assert hand.scores == [-12, -12, -12, 48, -12]


def test_open_solo_ti_fails_or_ends_early() -> None:
    hand = play(table(), "1 solo, 2 ti, 3 silent, 4 silent, 0 silent")
    assert playing(hand) == ("play", 1, 1)
    hand = play(table(), "1 solo, 2 ti, 3 ti")
    assert playing(hand) == ("play", 1, 2)


# ---- 2 弃皇


def test_abandon_needs_both_marks() -> None:
    hand = declined()
    assert poll(hand) == ("abandon", 1, ["keep"])
    with pytest.raises(OracleError):
        hand.apply("abandon")


def test_abandoned_crown_is_offered_and_accepted() -> None:
    hand = play(declined(both=True), "1 abandon")
    assert poll(hand) == ("offer", 3, ["accept", "refuse"])  # +2
    play(hand, "3 refuse, 4 refuse, 0 accept")
    assert (hand.emperor, hand.guard, hand.solo, hand.role_public) == (0, 1, None, True)
    assert (hand.crown, hand.cards_of(0)) == (0, ["7s", "8s", "R"])
    assert hand.cards_of(1) == ["9s", "B"]  # B* is ordinary: everybody knows
    # 明 and 反 are asked all the same, and double
    assert poll(hand) == ("declare", 1, ["declare", "silent"])
    declared = play(declined(both=True), "1 abandon, 3 refuse, 4 refuse, 0 accept, 1 declare")
    assert (declared.phase, declared.multiplier, declared.queue) == ("niu", 2, [2, 3, 4])
    play(hand, say("1234", "silent"))
    assert poll(hand) == ("oppose", 1, ["silent"])
    play(hand, "1 silent, 2 oppose, 3 oppose")
    assert (hand.phase, hand.multiplier, hand.queue) == ("niu", 2, [0, 1])


@pytest.mark.parametrize(("options", "loss"), [({}, 12), ({"abandon_penalty": 20}, 20)])
def test_nobody_accepts(options: dict[str, Any], loss: int) -> None:
    hand = play(declined(both=True, **options), "1 abandon", say("3402", "refuse"))
    assert (hand.phase, hand.emperor, hand.guard, hand.solo) == ("over", 1, None, None)
    assert (hand.finish, hand.seat, hand.legal()) == ([], None, [])
    each = loss // 4
    assert hand.scores == [each, -loss, each, each, each]


# ---- 3 明, 4 反


def test_everybody_is_asked_and_only_the_guard_may_declare() -> None:
    hand = play(declined(), "1 keep")
    assert poll(hand) == ("declare", 2, ["silent"])
    play(hand, "2 silent")
    assert poll(hand) == ("declare", 3, ["declare", "silent"])
    play(hand, "3 silent, 4 silent, 0 silent")
    for seat, moves in ((2, ["oppose", "silent"]), (3, ["silent"]), (4, ["oppose", "silent"])):
        assert poll(hand) == ("oppose", seat, moves)
        play(hand, f"{seat} silent")
    play(hand, "0 oppose")
    assert playing(hand) == ("play", 1, 1)  # one 反 is no 造反
    assert not hand.role_public
    assert hand.cards_of(3) == ["B*", "B"]
    play(hand, "1 play 9s, 2 pass, 3 play B")
    assert not hand.role_public
    assert "play B*" in play(hand, say("4012", "pass")).legal()
    play(hand, "3 play B*")
    assert hand.role_public


def test_nobody_can_declare_against_a_secret_soloist() -> None:
    hand = play(declined(both=True), "1 keep")
    assert (hand.emperor, hand.guard, hand.solo) == (1, None, "secret")
    for seat in (2, 3, 4, 0):
        assert poll(hand) == ("declare", seat, ["silent"])
        play(hand, f"{seat} silent")
    assert poll(hand) == ("oppose", 2, ["oppose", "silent"])
    play(hand, say("2340", "silent"))
    assert playing(hand) == ("play", 1, 1)
    assert hand.cards_of(1) == ["9s", "B*", "R"]


# ---- 5 扭, 6 踢


def after_declare(**options: Any) -> Hand:
    return play(declined(**options), "1 keep, 2 silent, 3 declare")


def after_oppose(both: bool = False, **options: Any) -> Hand:
    hand = play(declined(both, **options), "1 keep", say("2340", "silent"), "2 oppose")
    return play(hand, "3 oppose") if both else play(hand, "3 silent, 4 oppose")


def test_after_declaration_the_rebels_niu_and_the_camp_ti() -> None:
    hand = after_declare()
    assert hand.role_public
    assert poll(hand) == ("niu", 2, ["niu", "silent"])
    play(hand, "2 silent, 4 niu")  # seat 3 is the guard
    assert poll(hand) == ("niu", 0, ["niu", "silent"])
    play(hand, "0 niu")
    assert poll(hand) == ("ti", 1, ["ti", "silent"])
    assert hand.multiplier == 4
    play(hand, "1 silent")
    assert poll(hand) == ("ti", 3, ["ti", "silent"])
    play(hand, "3 ti")
    assert playing(hand) == ("play", 1, 8)


def test_after_declaration_no_niu_or_no_ti() -> None:
    assert playing(play(after_declare(), say("240", "silent"))) == ("play", 1, 2)
    assert playing(play(after_declare(), "2 niu, 4 silent, 0 silent")) == ("play", 1, 2)
    hand = play(after_declare(), "2 niu, 4 niu, 1 silent, 3 silent")
    assert playing(hand) == ("play", 1, 4)
    assert playing(play(after_declare(), "2 niu, 4 niu, 1 ti")) == ("play", 1, 8)


def test_after_opposition_the_camp_niu_and_the_rebels_ti() -> None:
    hand = after_oppose()
    assert hand.role_public
    assert hand.cards_of(3) == ["B", "B"]
    assert poll(hand) == ("niu", 1, ["niu", "silent"])
    play(hand, "1 silent")
    assert poll(hand) == ("niu", 3, ["niu", "silent"])
    play(hand, "3 niu")
    assert poll(hand) == ("ti", 2, ["ti", "silent"])
    play(hand, "2 ti, 4 silent")
    assert poll(hand) == ("ti", 0, ["ti", "silent"])
    play(hand, "0 ti")
    assert playing(hand) == ("play", 1, 8)
    assert playing(play(after_oppose(), "1 silent, 3 silent")) == ("play", 1, 2)
    failed = play(after_oppose(), "1 niu, 2 ti, 4 silent, 0 silent")
    assert playing(failed) == ("play", 1, 4)


def test_after_opposition_a_secret_soloist_alone_is_asked_for_ti() -> None:
    for word, multiplier in (("ti", 4), ("silent", 2)):
        hand = after_oppose(both=True)
        assert (hand.role_public, hand.solo, hand.multiplier) == (True, "secret", 2)
        assert poll(hand) == ("ti", 1, ["ti", "silent"])
        play(hand, f"1 {word}")
        assert playing(hand) == ("play", 1, multiplier)
        assert hand.cards_of(1) == ["9s", "B", "R"]


# ---- options


def test_without_open_solo_oppose_declare_doubling() -> None:
    assert poll(table(open_solo=False)) == ("abandon", 1, ["keep"])
    hand = play(declined(oppose=False), "1 keep", say("2340", "silent"))
    assert playing(hand) == ("play", 1, 1)
    hand = play(declined(declare=False), "1 keep")
    assert poll(hand) == ("oppose", 2, ["oppose", "silent"])
    hand = play(declined(declare=False, oppose=False), "1 keep")
    assert playing(hand) == ("play", 1, 1)
    assert playing(after_declare(doubling=False)) == ("play", 1, 2)
    assert playing(after_oppose(doubling=False)) == ("play", 1, 2)
    assert playing(after_oppose(both=True, doubling=False)) == ("play", 1, 2)
    assert playing(play(table(doubling=False), "1 decline, 2 solo")) == ("play", 2, 1)


def test_votes_needed_holds_for_the_larger_camp() -> None:
    one = play(declined(votes_needed=1), "1 keep", say("2340", "silent"), "2 oppose")
    assert one.phase == "niu"
    play(one, "1 silent, 3 niu, 2 ti")
    assert playing(one) == ("play", 1, 8)
    assert playing(play(table(votes_needed=1), "1 solo, 2 ti")) == ("play", 1, 2)
    assert play(after_declare(votes_needed=1), "2 niu").phase == "ti"
    three = play(after_declare(votes_needed=3), "2 niu, 4 niu")
    assert poll(three) == ("niu", 0, ["niu", "silent"])
    assert play(three, "0 niu").queue == [1, 3]
    assert playing(play(three, "1 ti")) == ("play", 1, 8)
    three = play(declined(votes_needed=3), "1 keep", say("2340", "silent"), "2 oppose, 3 silent")
    play(three, "4 oppose, 0 oppose, 1 niu, 2 ti, 4 ti, 0 silent")
    assert playing(three) == ("play", 1, 4)


def test_qingdao_dressed_in_marks() -> None:
    hand = small(
        *("7s 8s", "R* 9s B", "7h 8h", "B* B", "Ts Th"),
        rules={"preset": "qingdao", "roles_by": "marks"},
    )
    play(hand, say("12340", "decline"), "1 keep", say("2340", "silent"), say("2340", "silent"))
    play(hand, "1 play 9s")
    assert hand.legal() == ["pass", "yield"]
