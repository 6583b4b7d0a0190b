"""The oracle reproduces every case, and the tables of rules/baohuang.md §3 and §6 by hand."""

import copy
import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.qingdao import Hand, OracleError, beats, legal_play, play_record, score
from tests.oracle.random_play import biased_deal, biased_move, small_deck
from tests.oracle.sets import NATURAL, RANKS, all_sets, full_deck, parse_cards, set_of

CASES = Path(__file__).parent / "cases"


def read_cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


LEGAL = read_cases("legal_qingdao.jsonl")
HANDS = read_cases("hands_qingdao.jsonl")


# ---- the cases


@pytest.mark.parametrize("case", LEGAL, ids=range(1, len(LEGAL) + 1))
def test_legal_case(case: dict[str, Any]) -> None:
    hand = parse_cards(case["hand"])
    assert any("*" in card for card in hand) == (case["identity"] and not case["public"])
    moves = legal_play(hand, case["standing"], case["circle"], case["claimable"], case["public"])
    assert moves == case["legal"]


@pytest.mark.parametrize("record", HANDS, ids=range(1, len(HANDS) + 1))
def test_hand_case(record: dict[str, Any]) -> None:
    hand = play_record(record)
    assert hand.finish == record["finish"]
    assert hand.scores == record["scores"]


# ---- §3


@pytest.mark.parametrize(
    ("standing", "answers", "expected"),
    [
        ("999BB", "JJJRR JJRRR JJRRB RRRRR", True),
        ("999BB", "JJJRB 888RR JJJBB", False),
        ("99999", "JJJBB TTTTT BBBBB 222RB", True),
        ("99999", "88BBB 3RRRR 99BBB", False),
        ("9B", "RB RR JR", True),
        ("BB", "RR", True),
        ("BB", "RB", False),
        ("9", "99 TT BB", False),  # same number of cards only
        ("R", "3 2 B R", False),
        ("R", "222", False),  # three_twos_beat_big is off
        ("3R", "4R 2R BR RR", False),
        ("RR", "RR BB", False),
    ],
)
def test_beating_table(standing: str, answers: str, expected: bool) -> None:
    for answer in answers.split():
        # The page writes jokers in any order; notation has B before R.
        answer = "".join(sorted(answer, key=RANKS.index))
        assert beats(standing, answer) is expected, answer


def test_beating_equals_the_closed_form_of_section_3() -> None:
    texts = [
        rank * n + "B" * b + "R" * r
        for rank in "39K2"
        for n in range(4)
        for b in range(4)
        for r in range(4)
        if 0 < n + b + r <= 5
    ]
    for low, high in itertools.product(sorted(set(texts)), repeat=2):
        n_low = sum(c in NATURAL for c in low)
        n_high = sum(c in NATURAL for c in high)
        closed = (
            len(low) == len(high)
            and low.count("R") == 0
            and high.count("R") >= low.count("B")
            and (n_high == 0 or (n_low > 0 and NATURAL.index(high[0]) > NATURAL.index(low[0])))
        )
        assert beats(low, high) is closed, (low, high)


@pytest.mark.parametrize("text", ["", "9T", "BR9", "RB", "99*", "9**9", "9*B*", "X", "1"])
def test_not_a_set(text: str) -> None:
    with pytest.raises(OracleError):
        beats(text, "9")


def test_set_of_cards() -> None:
    assert set_of(["9d", "9c*", "B"]) == "9*9B"
    assert set_of(["R", "B*", "B", "5h"]) == "5B*BR"
    with pytest.raises(OracleError):
        set_of(["9d", "Td"])


# ---- notation: the examples of formats.md


def test_hidden_guard_with_three_nines() -> None:
    assert all_sets(["9c*", "9s", "9h"]) == ["9", "9*", "99", "9*9", "9*99"]


def test_example_hand_when_leading() -> None:
    moves = legal_play(["9c*", "9d", "9s", "5h", "B", "B", "R"])
    assert moves[:6] == ["play 5", "play 9", "play 9*", "play R", "play B", "play 5R"]
    # By B count first: R has none, so it comes before B.
    assert moves[-1] == "play 9*99BBR"
    # 5: 1*3*2 sets; 9: (2 unstarred + 3 starred)*3*2; jokers alone 3*2-1
    assert len(moves) == 6 + 30 + 5


def test_hidden_joker() -> None:
    assert all_sets(["5s", "B*", "B"]) == ["5", "B", "B*", "5B", "5B*", "B*B", "5B*B"]


def test_legal_errors() -> None:
    for bad in (
        {"public": True},
        {"circle": 2},
        {"claimable": True},
        {"standing": "8", "circle": 2, "claimable": True},
        {"standing": "8T"},
        {"circle": 3},
    ):
        with pytest.raises(OracleError):
            legal_play(["9c*", "9d"], **bad)
    with pytest.raises(OracleError):
        legal_play(["9c*", "9d*"])
    with pytest.raises(OracleError):
        legal_play([])


# ---- §6


@pytest.mark.parametrize(
    ("places", "multiplier", "emperor", "guard", "rebel"),
    # places of emperor and guard; T = v(e) + v(g): 2Tm, Tm, -Tm
    [
        ((1, 2), 1, 6, 3, -3),
        ((2, 1), 1, 6, 3, -3),
        ((1, 3), 1, 4, 2, -2),
        ((1, 4), 1, 2, 1, -1),
        ((5, 1), 1, 0, 0, 0),
        ((2, 3), 1, 2, 1, -1),
        ((2, 4), 1, 0, 0, 0),
        ((2, 5), 1, -2, -1, 1),
        ((3, 4), 1, -2, -1, 1),
        ((3, 5), 1, -4, -2, 2),
        ((5, 4), 1, -6, -3, 3),
        ((1, 2), 2, 12, 6, -6),
        ((4, 5), 2, -12, -6, 6),
        ((1, 5), 2, 0, 0, 0),
    ],
)
def test_scores_with_guard(
    places: tuple[int, int], multiplier: int, emperor: int, guard: int, rebel: int
) -> None:
    finish = [2, 3, 4]  # rebels; emperor is seat 0, guard seat 1
    for place, seat in sorted(zip(places, (0, 1), strict=True)):
        finish.insert(place - 1, seat)
    expected = [emperor, guard, rebel, rebel, rebel]
    assert score(0, 1, None, multiplier, finish) == expected


@pytest.mark.parametrize(
    ("solo", "by_place"),
    [
        ("secret", (16, 4, 0, -4, -16)),
        ("open", (32, 8, 0, -8, -32)),
        ("grab", (40, -40, -40, -40, -40)),
    ],
)
def test_scores_solo(solo: str, by_place: tuple[int, ...]) -> None:
    for place, value in enumerate(by_place):
        finish = [0, 1, 2, 4]
        finish.insert(place, 3)
        other = -value // 4
        assert score(3, None, solo, 1, finish) == [other, other, other, value, other]


def test_scores_sum_to_zero_and_follow_the_rhymes() -> None:
    for finish in itertools.permutations(range(5)):
        for m in (1, 2):
            scores = score(0, 1, None, m, list(finish))
            assert sum(scores) == 0
            camp = {finish.index(0) + 1, finish.index(1) + 1}
            if 1 in camp:
                assert (scores[0] > 0) == (5 not in camp)
                assert scores[0] >= 0
            elif 2 in camp:
                sign = {3: 1, 4: 0, 5: -1}[max(camp)]
                assert (scores[0] > 0) - (scores[0] < 0) == sign
            else:
                assert scores[0] < 0
        for solo in ("grab", "open", "secret"):
            assert sum(score(0, None, solo, 1, list(finish))) == 0


# ---- §4.1 by hand, on a small deck: only 9c (and where said 5s, R) come four times


def small(*hands: str, start: int = 0) -> Hand:
    return Hand([parse_cards(text) for text in hands], start)


def play(hand: Hand, *moves: str) -> Hand:
    for move in moves:
        hand.apply_record_move(move)
    return hand


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


# ---- §5 by hand


def grabbed() -> Hand:
    """Seat 0 has grabbed and leads; no hidden card."""
    hand = small("R* 3s 4s 4s", "5s 5s 8s", "6s 6s 9s", "7s 7s Ts", "8h 8h Js")
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


# ---- records that are not possible hands


def test_play_record_finds_what_is_wrong() -> None:
    good = HANDS[0]

    def change(**fields: Any) -> dict[str, Any]:
        return {**copy.deepcopy(good), **fields}

    moves = good["moves"]
    hands = good["hands"]
    bad = [
        change(moves=moves[:-1]),
        change(moves=[*moves, "4 pass"]),
        change(moves=["0 decline", *moves[1:]]),
        change(moves=[move.replace("*", "") for move in moves]),
        change(scores=good["scores"][::-1]),
        change(finish=good["finish"][::-1]),
        change(roles={**good["roles"], "guard": 4}),
        change(start=4),
        change(hands=[hands[0].replace("Kd", "Ks", 1), *hands[1:]]),
        change(hands=[*hands[1:], hands[0]]),
        change(rules={"preset": "shiwei"}),
        change(extra=1),
        change(redeals=-1),
        change(moves=[move.replace(" ", "  ", 1) for move in moves]),
    ]
    for record in bad:
        with pytest.raises(OracleError):
            play_record(record)


# ---- random hands


def record_move(hand: Hand, move: str) -> str:
    """A move of the hand as a record has it, with the cards the oracle picks."""
    if move.startswith("play "):
        return f"{hand.seat} play {' '.join(hand.pick(move[5:]))}"
    return f"{hand.seat} {move}"


def random_record(rng: random.Random, deck: list[str] | None) -> tuple[Hand, dict[str, Any]]:
    deal, start = biased_deal(rng, deck)
    hand = Hand(deal, start)
    moves: list[str] = []
    while hand.seat is not None:
        legal = hand.legal()
        assert legal
        assert len(set(legal)) == len(legal)
        move = biased_move(legal, rng)
        moves.append(record_move(hand, move))
        hand.apply(move)
    record = {
        "format": "lupai/1",
        "game": "baohuang",
        "rules": {"preset": "qingdao"} if deck is None else {"preset": "qingdao", "deck": deck},
        "seed": None,
        "start": start,
        "hands": [" ".join(cards) for cards in deal],
        "moves": moves,
        "roles": {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo},
        "finish": hand.finish,
        "scores": hand.scores,
        "redeals": 0,
        "players": ["random"] * 5,
        "meta": {},
    }
    return hand, record


def test_random_records_replay_and_reach_the_rare_branches() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(seed)
        hand, record = random_record(rng, small_deck(rng) if seed % 10 else None)
        again = play_record(json.loads(json.dumps(record)))
        assert again.hands == hand.hands
        assert hand.scores is not None
        assert sum(hand.scores) == 0
        seen[hand.solo or ("void" if hand.void else "guard")] += 1
        text = " ".join(record["moves"])
        for word in ("claim", "yield", "declare", "*"):
            seen[word] += word in text
        seen["forced"] += text.count("cede") == 5 and not hand.void
    for branch in ("grab", "guard", "open", "secret", "void", "forced", "declare", "claim", "*"):
        assert seen[branch] >= 5, (branch, seen)
    assert len(full_deck()) == 216
