"""Sets: ids, text, beating, and the move generator's tables, each rebuilt by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lupai.envs import seats, sets
from lupai.envs.baohuang import moves as generator
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.sets import (
    MAX_SIZE,
    NUM_SETS,
    PARTS,
    SET_SIZE,
    X_ALONE,
    CardSet,
    beats,
    format_set,
    parse_set,
    star_rank,
)
from lupai.envs.cards import RANK_B, RANK_LETTERS, RANK_R, RANKS
from lupai.envs.errors import NotationError
from lupai.envs.sets import COMBOS

COMBO = [(b, r) for b in range(5) for r in range(5)]
ALL = [CardSet(rank, n, b, r) for rank in range(13) for n in range(1, 17) for b, r in COMBO]
ALL += [CardSet(13, 0, b, r) for b, r in COMBO if b + r]
WITH_X = [CardSet(s.rank, s.n, s.b, s.r, x=1) for s in ALL] + [CardSet(13, 0, x=1)]

any_set = st.sampled_from(ALL + WITH_X)


# ---- ids


def test_counts_in_closed_form() -> None:
    # a rank 1..16 times with 5 x 5 jokers; jokers alone; X may hang on each of them or be alone
    assert len(ALL) == NUM_SETS == 13 * 16 * 25 + 24 == 5224
    assert len(WITH_X) == 5225
    assert X_ALONE == NUM_SETS
    assert max(s.size for s in WITH_X) == MAX_SIZE == 25


def test_ids_are_the_enumeration() -> None:
    assert [s.id for s in ALL] == list(range(NUM_SETS))
    assert [s.id for s in WITH_X] == list(range(NUM_SETS + 1))
    assert PARTS.tolist() == [[s.rank, s.n, s.b, s.r] for s in WITH_X]
    assert SET_SIZE.tolist() == [s.size for s in ALL] + [0]
    assert not PARTS.flags.writeable


def test_the_largest_lead() -> None:
    """A hand of k naturals in any ranks with b, r jokers leads (k + 1)(b + 1)(r + 1) - 1 sets."""
    ranks = np.zeros((1, 15), np.int8)
    ranks[0, [0, 5, 12, RANK_B, RANK_R]] = (16, 15, 5, 4, 4)
    no_verb = np.zeros(1, np.uint32)
    moves = generator.play_moves(ranks, np.array([-1]), np.array([-1]), no_verb, load_rules())
    ids, offsets = moves.ids()
    assert len(ids) == offsets[1] == moves.counts()[0] == 37 * 25 - 1 == 924
    ranks[0, 12] = 6  # not 44 cards: one more
    moves = generator.play_moves(ranks, np.array([12]), np.array([-1]), no_verb, load_rules())
    # unstarred as with five 2s; starred: 1..6 of them with any jokers
    assert moves.counts()[0] == 924 + 6 * 25


# ---- beating


def cards_of(s: CardSet) -> list[int]:
    """Ranks from high to low: X, R, B, naturals."""
    return [15] * s.x + [14] * s.r + [13] * s.b + [s.rank] * s.n


def literally_beats(answer: CardSet, standing: CardSet) -> bool:
    """S1: the same number of cards, each strictly higher than the one at the same place."""
    high, low = cards_of(answer), cards_of(standing)
    return len(high) == len(low) and all(a > b for a, b in zip(high, low, strict=True))


def test_beats_is_the_definition_on_all_small_sets() -> None:
    some = [
        CardSet(rank, n, b, r, x)
        for rank in (0, 6, 12)
        for n in range(4)
        for b in range(5)
        for r in range(5)
        for x in (0, 1)
        if n + b + r + x and (n or rank == 0)
    ]
    some = [CardSet(s.rank if s.n else 13, s.n, s.b, s.r, s.x) for s in some]
    pairs = 0
    for answer, standing in itertools.product(some, repeat=2):
        if answer.size == standing.size:
            assert beats(answer, standing) is literally_beats(answer, standing)
            pairs += 1
        else:
            assert not beats(answer, standing)
    assert pairs > 10_000


@given(any_set, any_set)
def test_beats_is_the_definition(answer: CardSet, standing: CardSet) -> None:
    assert beats(answer, standing) is literally_beats(answer, standing)


@settings(max_examples=300)
@given(st.integers(1, 25), st.data())
def test_beats_is_the_definition_for_one_size(size: int, data: st.DataObject) -> None:
    same = [s for s in ALL[::3] + WITH_X[::5] if s.size == size] or [CardSet(0, 16, 4, 4, 1)]
    pick = st.sampled_from(same)
    answer, standing = data.draw(pick), data.draw(pick)
    assert beats(answer, standing) is literally_beats(answer, standing)


def test_beating_is_a_strict_order_within_a_size() -> None:
    triples = [s for s in ALL + WITH_X if s.size == 3]
    above = {s: {t for t in triples if beats(t, s)} for s in triples}
    for s in triples:
        assert s not in above[s]
        for t in above[s]:
            assert above[t] <= above[s]


# ---- text


def test_text_round_trip_over_all_sets() -> None:
    texts = set()
    for s in ALL + WITH_X:
        text = format_set(s)
        assert parse_set(text) == s
        assert star_rank(text) is None
        texts.add(text)
    assert len(texts) == 5224 + 5225


def test_text_round_trip_over_all_starred_sets() -> None:
    texts = set()
    for s in ALL:
        starred = CardSet(s.rank, s.n, s.b, s.r, starred=True)
        inside = {s.rank: s.n, RANK_B: s.b, RANK_R: s.r} if s.n else {RANK_B: s.b, RANK_R: s.r}
        for identity in range(15):
            if inside.get(identity):
                text = format_set(starred, identity)
                assert parse_set(text) == starred
                assert star_rank(text) == identity
                texts.add(text)
            else:
                with pytest.raises(ValueError, match="identity"):
                    format_set(starred, identity)
    # one place for the star at each of the ranks that a set holds
    assert len(texts) == 13 * 16 * (25 + 20 + 20) + 20 + 20


def test_readable_texts_are_exactly_the_written_ones() -> None:
    """Every string of up to four letters of a small alphabet, against what format_set writes."""
    alphabet = "3TBRX*"
    written = {format_set(s) for s in ALL + WITH_X}
    for s in ALL:
        for identity in {s.rank if s.n else RANK_B, RANK_B, RANK_R}:
            try:
                text = format_set(CardSet(s.rank, s.n, s.b, s.r, starred=True), identity)
            except ValueError:
                continue
            written.add(text)
    readable = 0
    for length in range(5):
        for letters in itertools.product(alphabet, repeat=length):
            text = "".join(letters)
            try:
                parse_set(text)
            except NotationError:
                assert text not in written, text
            else:
                assert text in written, text
                readable += 1
    assert readable > 100


def assert_reads_or_says_why(text: str) -> None:
    try:
        s = parse_set(text)
    except NotationError:
        return
    assert format_set(s, star_rank(text)) == text


@given(st.text())
def test_any_text_is_read_or_a_notation_error(text: str) -> None:
    assert_reads_or_says_why(text)


@settings(max_examples=400)
@given(st.text(alphabet=RANK_LETTERS + "* x3B*", max_size=30))
def test_set_like_text_is_read_or_a_notation_error(text: str) -> None:
    assert_reads_or_says_why(text)


@pytest.mark.parametrize(
    "text",
    ["", "*", "9**", "99*", "*9", "X*", "XX", "9*X", "BBBBB", "RRRRR", "3" * 17, "9T", "BR9", "RB",
     "10", "9c", "9 9", "b", "９"],
)  # fmt: skip
def test_unreadable_sets(text: str) -> None:
    with pytest.raises(NotationError):
        parse_set(text)


# ---- tables of the move generator


def word(combos: list[tuple[int, int]]) -> int:
    """Bit b * 5 + r for each combo."""
    return sum(1 << b * 5 + r for b, r in combos)


def test_joker_table() -> None:
    for have_b, have_r in COMBO:
        fits = [(b, r) for b, r in COMBO if b <= have_b and r <= have_r]
        assert sets.joker_table()[have_b, have_r] == word(fits)


def test_fit_table() -> None:
    assert sets.fit_table().shape == (MAX_SIZE + 1, 17)
    for size in range(MAX_SIZE + 1):
        for count in range(17):
            fits = {(s.b, s.r) for s in ALL if s.rank == 0 and s.size == size and s.n <= count}
            assert sets.fit_table()[size, count] == word(sorted(fits)), (size, count)


def test_only_table() -> None:
    for size in range(MAX_SIZE + 1):
        fits = [(b, r) for b, r in COMBO if b + r == size]
        assert sets.only_table()[size] == word(fits)


def test_answer_table() -> None:
    """Joker parts that beat some standing set with this joker part, by the definition."""
    for x in (0, 1):
        for b, r in COMBO:
            standing = CardSet(0, 16, b, r)
            wins = []
            for own_b, own_r in COMBO:
                n = standing.size - own_b - own_r - x  # may exceed 16: the definition does not care
                if n >= 0 and literally_beats(CardSet(1, n, own_b, own_r, x), standing):
                    wins.append((own_b, own_r))
            assert sets.answer_table()[x, b * 5 + r] == word(wins)


def test_small_words() -> None:
    assert word([c for c in COMBO if c[0]]) == sets.COMBOS_WITH_B == generator._STAR_COMBOS[RANK_B]
    assert word([c for c in COMBO if c[1]]) == sets.COMBOS_WITH_R == generator._STAR_COMBOS[RANK_R]
    assert word(COMBO) == sets.ALL_COMBOS == (1 << COMBOS) - 1
    assert all(generator._STAR_COMBOS[rank] == sets.ALL_COMBOS for rank in range(len(RANKS)))


@pytest.mark.parametrize("count", [5, 6])
@pytest.mark.parametrize("step", [1, -1])
def test_next_seat_and_members(count: int, step: int) -> None:
    table = seats.next_seat(count, step)
    for mask, seat in itertools.product(range(1 << count), range(count)):
        inside = [s for s in range(count) if mask >> s & 1]
        walk = [(seat + step * d) % count for d in range(1, count + 1)]
        assert table[mask, seat] == next((s for s in walk if s in inside), seats.NOBODY)
        assert seats.members(count)[mask].tolist() == [int(s in inside) for s in range(count)]
