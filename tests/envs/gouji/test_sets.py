"""Sets of Gouji: places, text, 够级牌, and beating against the matching of sorted cards."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.errors import NotationError
from lupai.envs.gouji import sets
from lupai.envs.gouji.sets import (
    DEAD,
    HAS_JOKER,
    IS_GOUJI,
    NUM_SETS,
    PARTS,
    SIZE,
    GoujiSet,
    beats,
    set_place,
)
from tests.envs.gouji.definition import cards_of, literally_beats, sets_within

ALL = sets_within([16] * 13 + [4, 4])
LETTERS = "3456789TJQKA2BR"


def test_counts_in_closed_form() -> None:
    # 12 ranks of 1..16 naturals with 0..16 2s and 5 x 5 jokers; 1..16 2s; jokers alone
    assert len(ALL) == NUM_SETS == 12 * 16 * 17 * 25 + 16 * 25 + 24 == 82_024
    assert sets.MAX_SIZE == max(s.size for s in ALL) == 16 + 16 + 4 + 4


def test_places_are_the_enumeration() -> None:
    assert sorted(ALL) == ALL
    assert [s.place for s in ALL] == list(range(NUM_SETS))
    assert PARTS.tolist() == [[s.row, s.n, s.t, s.b, s.r] for s in ALL]
    assert PARTS.dtype == np.int8
    assert np.array_equal(set_place(*PARTS.astype(np.int64).T), np.arange(NUM_SETS))
    assert GoujiSet.at(NUM_SETS - 1) == GoujiSet(13, b=4, r=4)


def test_tables_by_place() -> None:
    assert SIZE.tolist() == [s.size for s in ALL]
    assert HAS_JOKER.tolist() == [s.b + s.r > 0 for s in ALL]
    assert DEAD.tolist() == [s.r > 0 for s in ALL]
    for table in (PARTS, SIZE, HAS_JOKER, DEAD, IS_GOUJI, sets.BASE, sets.GOUJI_FROM):
        assert not table.flags.writeable


def test_gouji_by_the_page() -> None:
    """One 2, two A, two K, three Q, four J, five T, attached 2s counted; or any joker."""
    least = {"2": 1, "A": 2, "K": 2, "Q": 3, "J": 4, "T": 5}
    for s, found in zip(ALL, IS_GOUJI.tolist(), strict=True):
        naturals = s.text.rstrip("BR")
        own = naturals[:1]
        assert found == (len(naturals) < s.size or len(naturals) >= least.get(own, 99)), s.text


@pytest.mark.parametrize(
    ("text", "gouji"),
    [("A", False), ("A2", True), ("2", True), ("TTT2", False), ("TTT22", True), ("9" * 16, False),
     ("9222222", False), ("3B", True), ("B", True), ("QQ2", True), ("JJ2", False)],
)  # fmt: skip
def test_gouji_of_some_sets(text: str, gouji: bool) -> None:
    assert IS_GOUJI[GoujiSet.parse(text).place] == gouji


# ---- beating


def test_beats_is_the_definition_on_all_small_sets() -> None:
    some = [s for s in ALL if s.row in (0, 5, 11, 12, 13) and s.n <= 2 and s.t <= 2 and s.size <= 5]
    places = np.array([s.place for s in some])
    found = beats(places[:, None], places)
    expected = [[literally_beats(answer, standing) for answer in some] for standing in some]
    assert found.tolist() == expected
    assert found.sum() > 500


def test_beats_is_the_definition_on_many_pairs_of_one_size() -> None:
    """Half a million pairs out of all sets, as the matching of padded rows of sorted cards."""
    cards = np.full((NUM_SETS, sets.MAX_SIZE), -1, np.int8)
    for s, row in zip(ALL, cards, strict=True):
        row[: s.size] = cards_of(s)
    rng = np.random.default_rng(0)
    by_size = np.argsort(SIZE, kind="stable")
    place = rng.integers(0, NUM_SETS, 500_000)
    other = np.clip(place + rng.integers(-3000, 3000, len(place)), 0, NUM_SETS - 1)
    standing, answer = by_size[place], by_size[other]
    small = rng.random(len(place)) < 0.5  # the larger half of the sizes is dead or nearly so
    standing, answer = (np.where(small, p % 2000 * 41, p) for p in (standing, answer))
    inside = cards[standing] >= 0
    higher = ((cards[answer] > cards[standing]) | ~inside).all(axis=1)
    expected = (SIZE[standing] == SIZE[answer]) & higher
    found = beats(standing, answer)
    assert np.array_equal(found, expected)
    assert found.sum() > 5_000
    # a set that beats a 够级牌 is one itself
    assert IS_GOUJI[answer[found & IS_GOUJI[standing]]].all()


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_beats_is_the_definition(answer: GoujiSet, standing: GoujiSet) -> None:
    assert beats(standing.place, answer.place) == literally_beats(answer, standing)


@pytest.mark.parametrize(
    ("standing", "answer", "wins"),
    [
        ("999BB", "JJJRR", True),
        ("999BB", "JJJBR", False),
        ("9992", "TTTT", True),  # the 2 counts as a 9
        ("TTTT", "9992", False),
        ("TTTT", "JJ22", True),
        ("A2", "22", True),
        ("22", "A2", False),
        ("22", "BB", True),
        ("22", "2B", False),
        ("BB", "RR", True),
        ("BB", "BR", False),
        ("3R", "RR", False),
    ],
)
def test_beats_by_hand(standing: str, answer: str, wins: bool) -> None:
    places = GoujiSet.parse(standing).place, GoujiSet.parse(answer).place
    assert beats(*places) == wins


# ---- text


def test_text_round_trip_over_all_sets() -> None:
    texts = [s.text for s in ALL]
    assert len(set(texts)) == NUM_SETS
    assert [GoujiSet.parse(text) for text in texts] == ALL


def test_readable_texts_are_exactly_the_written_ones() -> None:
    """Every string of up to five letters of a small alphabet."""
    written = {s.text for s in ALL if s.size <= 5}
    readable = 0
    for length in range(6):
        for letters in itertools.product("3T2BR", repeat=length):
            text = "".join(letters)
            try:
                GoujiSet.parse(text)
            except NotationError:
                assert text not in written, text
            else:
                assert text in written, text
                readable += 1
    assert readable == sum(not set(text) - set("3T2BR") for text in written) > 100


@given(st.one_of(st.text(), st.text(alphabet=LETTERS + "*X x"), st.text(alphabet="K2BR")))
def test_any_text_is_read_or_a_notation_error(text: str) -> None:
    try:
        s = GoujiSet.parse(text)
    except NotationError:
        return
    assert s.text == text
    assert s == GoujiSet.at(s.place)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no card"),
        ("9c", "'c' is no rank"),
        ("10", "'1' is no rank"),
        ("9*9", r"'\*' is no rank"),
        ("44X", "'X' is no rank"),
        ("k", "'k' is no rank"),
        ("9T", "two natural ranks below 2 do not mix"),
        ("T9", "cards are out of order"),
        ("2K", "cards are out of order"),
        ("RB", "cards are out of order"),
        ("BBBBB", "5 cards B, at most 4 exist"),
        ("9RRRRR", "5 cards R, at most 4 exist"),
        ("3" * 17, "17 cards of a rank, at most 16 exist"),
        ("3" + "2" * 17, "17 cards of a rank, at most 16 exist"),
    ],
)
def test_unreadable_sets_say_why(text: str, why: str) -> None:
    with pytest.raises(NotationError, match=f": {why}; a set is naturals of one rank, then 2s"):
        GoujiSet.parse(text)


def test_a_long_text_is_cut() -> None:
    with pytest.raises(NotationError) as error:
        GoujiSet.parse("9" * 100_000)
    assert len(str(error.value)) < 300
