"""The oracle reproduces every case, and the tables of rules/baohuang.md §3 by hand.

Its other tests: test_oracle_scores.py (§6), test_oracle_called.py and test_oracle_marks.py (§4),
test_oracle_play.py (§5), test_oracle_random.py (random rules and hands).
"""

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.options import deck_of, options_of
from tests.oracle.qingdao import OracleError, beats, legal_play, play_record
from tests.oracle.sets import NATURAL, RANKS, all_sets, parse_cards, set_of

CASES = Path(__file__).parent / "cases"
PRESETS = ("qingdao", "shiwei", "weihai")


def read_cases(kind: str) -> list[Any]:
    return [
        pytest.param(json.loads(line), id=f"{preset}-{number}")
        for preset in PRESETS
        for number, line in enumerate(
            (CASES / f"{kind}_{preset}.jsonl").read_text("utf-8").splitlines(), 1
        )
    ]


LEGAL, HANDS = read_cases("legal"), read_cases("hands")


# ---- the cases


def test_no_case_is_left_out() -> None:
    assert (len(LEGAL), len(HANDS)) == (3 * 60, 3 * 16)


@pytest.mark.parametrize("case", LEGAL)
def test_legal_case(case: dict[str, Any]) -> None:
    hand = parse_cards(case["hand"])
    assert any("*" in card for card in hand) == case["identity"]
    moves = legal_play(
        hand, case["standing"], case["circle"], case["claimable"], case["public"], case["rules"]
    )
    assert moves == case["legal"]


@pytest.mark.parametrize("record", HANDS)
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
        ("3R", "4X 2X BX RX", True),
        ("3R", "3X 4R", False),
        ("2R", "RX", True),
        ("2R", "2X BR", False),
        ("RR", "RX 3X RR", False),
        ("3X", "4R RR 2R 4X RX", False),
        ("X", "R 2 X", False),
        ("R", "X", True),
        ("BR", "RX", True),
        ("BR", "BX 2X RR", False),
        ("BBR", "RRX", True),
        ("BBR", "BRX", False),
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


@pytest.mark.parametrize(
    "text", ["", "9T", "BR9", "RB", "99*", "9**9", "9*B*", "XX", "XR", "X*", "1"]
)
def test_not_a_set(text: str) -> None:
    with pytest.raises(OracleError):
        beats(text, "9")


def test_set_of_cards() -> None:
    assert set_of(["9d", "9c*", "B"]) == "9*9B"
    assert set_of(["R", "B*", "B", "5h"]) == "5B*BR"
    assert set_of(["9c*", "8h"], supreme=True) == "8X"
    assert set_of(["R*", "R"], supreme=True) == "RX"
    assert set_of(["9c*"], supreme=True) == "X"
    for bad in (["9d", "Td"], [], ["9c*", "9d*"]):
        with pytest.raises(OracleError):
            set_of(bad)
    with pytest.raises(OracleError):  # X never stands at its natural rank, but it is no 9 either
        set_of(["9c*", "9d", "8d"], supreme=True)


def test_three_twos_beat_one_big_joker() -> None:
    for standing, answer, expected in (
        ("R", "222", True),
        ("R", "2*22", True),
        ("R", "22", False),
        ("R", "2222", False),
        ("R", "22B", False),
        ("R", "333", False),
        ("RR", "222", False),
        ("B", "222", False),
        ("X", "222", False),
        ("222", "R", False),
    ):
        assert beats(standing, answer, three_twos=True) is expected, (standing, answer)
        assert not (expected and beats(standing, answer))
    hand = parse_cards("2s 2h 2c 2d 3s")
    rules = {"preset": "qingdao", "three_twos_beat_big": True}
    assert legal_play(hand, "R", rules=rules) == ["pass", "yield", "play 222"]
    assert legal_play(hand, "R") == ["pass", "yield"]
    starred = parse_cards("2s 2h 2c 2d*")
    assert legal_play(starred, "R", rules=rules)[2:] == ["play 222", "play 2*22"]
    supreme = {**rules, "guard_card": "supreme"}
    assert legal_play(starred, "R", rules=supreme)[2:] == ["play X", "play 222"]
    assert legal_play(starred[1:], "R", rules=supreme)[2:] == ["play X"]  # X is no third 2


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


def test_legal_errors_of_other_rules() -> None:
    for rules, bad in (
        ("shiwei", {"standing": "8", "circle": 2}),
        ("shiwei", {"standing": "8", "claimable": True}),
        ("weihai", {"standing": "8", "circle": 2}),
        ("weihai", {}),  # 9c* is no mark
        ({"preset": "qingdao", "guard_by": "marked_small_joker"}, {}),
        ("qingdao", {"standing": "8X"}),
        ("shiwei", {"standing": "8*"}),
        ("qingdau", {}),
        ({"preset": "qingdao", "yeild": True}, {}),
    ):
        with pytest.raises(OracleError):
            legal_play(["9c*", "9d"], **bad, rules=rules)


def test_supreme_hangs_and_stands_alone_hidden_or_public() -> None:
    hand = parse_cards("9c* 9d 8s B R")
    for public in (False, True):
        moves = legal_play(hand, public=public, rules="shiwei")
        assert moves[:6] == [f"play {text}" for text in ("8", "9", "X", "R", "B", "8X")]
        assert "play 99" not in moves
        assert moves[-1] == "play 9BRX"
    assert legal_play(hand, "2R", rules="shiwei") == ["pass", "play RX", "play BX"]
    assert all_sets(["R*", "R"], supreme=True) == ["X", "R", "RX"]


def test_held_sixes_leave_in_the_last_set() -> None:
    def sets(text: str) -> list[str]:
        return all_sets(parse_cards(text), hold_sixes=True)

    assert sets("6s 6h") == ["66"]
    assert sets("6s 6h 9c") == ["9"]
    assert sets("6s 6h B R") == ["R", "B", "BR", "66BR"]
    assert sets("6s 6h* 6c") == ["6*66"]  # emptying the hand, the identity card goes too
    assert sets("6s B* B") == ["B", "B*", "B*B", "6B*B"]
    assert all_sets(parse_cards("6s 6h*"), supreme=True, hold_sixes=True) == ["X", "6X"]
    assert all_sets(parse_cards("9s 6h*"), supreme=True, hold_sixes=True) == ["9", "X", "9X"]
    assert legal_play(parse_cards("6s 6h 9c"), "5", rules="weihai") == ["pass", "play 9"]
    assert legal_play(parse_cards("6s 6h"), "55", rules="weihai") == ["pass", "play 66"]


# ---- options


@pytest.mark.parametrize(
    "bad",
    [
        {"preset": "guandan"},
        {"colour": "red"},
        {"yield": 1},
        {"votes_needed": True},
        {"votes_needed": 4},
        {"votes_needed": "2"},
        {"abandon_penalty": 10},
        {"abandon_penalty": -4},
        {"pass_scope": "hand"},
        {"end": None},
        {"preset": "weihai", "guard_card": "supreme"},
        {"preset": "shiwei", "roles_by": "marks"},
        {"preset": "weihai", "roles_by": "called_card"},
        {"preset": "qingdao", "deck": "weihai165"},
        {"preset": "weihai", "guard_by": "marked_small_joker"},
    ],
    ids=str,
)
def test_options_that_make_no_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(OracleError):
        options_of(bad)


def test_decks() -> None:
    assert len(deck_of("qingdao")) == len(deck_of("shiwei")) == 216
    weihai = deck_of("weihai")
    assert (len(weihai), sum(card[0] == "6" for card in weihai)) == (165, 13)
    assert (weihai.count("6c"), weihai.count("6s"), weihai.count("B*")) == (4, 3, 1)
    marked = deck_of({"preset": "shiwei", "guard_by": "marked_small_joker"})
    assert (len(marked), marked.count("B"), marked.count("B*")) == (216, 3, 1)
    assert deck_of({"deck": "R* 9c 9d"}) == deck_of({"deck": ["R*", "9c", "9d"]})
    for deck in ("full", ["R*", "B*"], ["R", "B"], ["R*", "R*"], ["R*", "Zc"], 7, [7]):
        with pytest.raises(OracleError):
            deck_of({"deck": deck})
    with pytest.raises(OracleError):
        deck_of({"preset": "weihai", "deck": ["R*", "B"]})


# ---- records that are not possible hands


def test_play_record_finds_what_is_wrong() -> None:
    good = HANDS[0].values[0]

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
        change(rules={"preset": "shiwei"}),  # 贴牌 moves cards, and nobody yields
        change(rules={"preset": "weihai"}),
        change(rules={"preset": "qingdao", "end": "later"}),
        change(rules={}),
        change(extra=1),
        change(redeals=-1),
        change(moves=[move.replace(" ", "  ", 1) for move in moves]),
    ]
    for record in bad:
        with pytest.raises(OracleError):
            play_record(record)
