"""Legal moves of Gouji against their definition, and every way to read them against each other."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERB_ID, VERBS
from lupai.envs.gouji.legal import BURNING, DUTY, FREE, NO_SETS, Legal, sets_of, verb_mask
from lupai.envs.gouji.sets import NUM_SETS, PARTS, GoujiSet
from tests.envs.gouji.definition import legal_sets, random_hands, sets_within

MODES = (FREE, BURNING, DUTY, NO_SETS)


def of_row(legal: Legal, row: int = 0) -> list[int]:
    flat, offsets = legal.ids()
    return flat[offsets[row] : offsets[row + 1]].tolist()


def one(ranks: list[int], standing: GoujiSet | None, mode: int) -> Legal:
    place = -1 if standing is None else standing.place
    return sets_of(np.array([ranks], np.int8), np.array([place]), np.array([mode], np.int8))


def hand(text: str) -> list[int]:
    return [text.count(letter) for letter in "3456789TJQKA2BR"]


# ---- the definition

hands = st.one_of(
    # a few cards of few ranks: last sets, burns
    st.lists(st.sampled_from([0, 1, 5, 10, 11, 12, 12, 13, 13, 14]), max_size=9),
    st.lists(st.sampled_from(range(15)), max_size=16),
    st.lists(st.sampled_from([3, 8, 12, 12, 12, 13, 14]), max_size=24),
).map(lambda cards: [min(cards.count(k), 16 if k < 13 else 4) for k in range(15)])


@settings(max_examples=250)
@given(hands, st.sampled_from(MODES), st.data())
def test_sets_are_those_of_the_definition(ranks: list[int], mode: int, data: st.DataObject) -> None:
    # something near what is held, so that it can be beaten; or anything; or a lead
    own = sets_within(ranks)
    lower = [s for s in own if s.r == 0]
    near = st.sampled_from(lower).map(
        lambda s: GoujiSet(max(s.row - 2, 0), s.n, s.t, s.b) if s.n else s
    )
    anything = st.integers(0, NUM_SETS - 1).map(GoujiSet.at)
    standing = data.draw(st.one_of(st.none(), anything, *([near, near] if lower else [])))
    expected = [SET + s.place for s in legal_sets(ranks, standing, mode)]
    single = one(ranks, standing, mode)
    place = -1 if standing is None else standing.place
    both = sets_of(np.array([ranks] * 2, np.int8), np.full(2, place), np.full(2, mode))
    some = data.draw(st.lists(st.integers(0, ACTIONS.size - 1), max_size=10))
    some += [SET + s.place for s in own[:: max(len(own) // 30, 1)]] + expected[:30]
    for legal in (single, both):  # a single table goes other ways
        assert of_row(legal) == expected
        assert legal.counts().tolist() == [len(expected)] * len(legal)
        for action in some:
            found = legal.contains(np.full(len(legal), action))
            assert found.tolist() == [action in expected] * len(legal)


def positions(tables: int, seed: int, most: int = 36) -> tuple[npt.NDArray[np.int8], ...]:
    """Hands, standing sets (leads, sets like those that are played, any set) and modes."""
    rng = np.random.default_rng(seed)
    ranks = random_hands(rng, tables, most)
    low = np.flatnonzero((PARTS[:, 4] == 0) & (PARTS[:, 1:].sum(axis=1) <= 5))
    standing = rng.choice(low, tables)
    kind = rng.random(tables)
    standing[kind < 0.25] = -1
    anything = kind > 0.95
    standing[anything] = rng.integers(0, NUM_SETS, anything.sum())
    mode = np.where(rng.random(tables) < 0.6, 0, rng.integers(0, 4, tables)).astype(np.int8)
    return ranks, standing, mode


def test_many_tables_at_once_are_those_of_the_definition() -> None:
    ranks, standing, mode = positions(250, seed=1, most=20)
    flat, offsets = sets_of(ranks, standing, mode).ids()
    found = 0
    for row in range(250):
        on_table = None if standing[row] < 0 else GoujiSet.at(int(standing[row]))
        expected = legal_sets(ranks[row].tolist(), on_table, int(mode[row]))
        own = flat[offsets[row] : offsets[row + 1]]
        assert own.tolist() == [SET + s.place for s in expected]
        found += len(expected)
    assert found > 1_000


def test_leads_in_closed_form() -> None:
    """Naturals in any ranks, T 2s, b and r jokers: (naturals (T + 1) + T + 1)(b + 1)(r + 1) - 1."""
    full = [16] * 13 + [4, 4]
    assert one(full, None, FREE).counts().tolist() == [(12 * 16 * 17 + 17) * 25 - 1]
    assert of_row(one(full, None, FREE)) == list(range(SET, ACTIONS.size))
    rng = np.random.default_rng(2)
    ranks = random_hands(rng, 300).astype(np.int64)
    naturals, (twos, b, r) = ranks[:, :12].sum(axis=1), ranks[:, 12:].T
    expected = (naturals + 1) * (twos + 1) * (b + 1) * (r + 1) - 1
    lead, free = np.full(300, -1), np.zeros(300, np.int8)
    assert sets_of(ranks.astype(np.int8), lead, free).counts().tolist() == expected.tolist()


def test_the_largest_lead() -> None:
    """36 cards with 8 jokers: 28 naturals and 2s, best 15 and 13 or 14 and 14: 15 * 15 * 25 - 1."""
    most = max((28 - twos + 1) * (twos + 1) * 25 - 1 for twos in range(17))
    assert most == 15 * 15 * 25 - 1 == 5624
    ranks = [14] + [0] * 11 + [14, 4, 4]
    assert one(ranks, None, FREE).counts().tolist() == [most]


def test_a_dead_set_is_not_beaten() -> None:
    full = [16] * 13 + [4, 4]
    for text in ("R", "3R", "BR", "K2BR", "22RR"):
        assert of_row(one(full, GoujiSet.parse(text), FREE)) == []


# ---- 烧牌


@pytest.mark.parametrize(
    ("held", "standing", "mode", "texts"),
    [
        # two ranks besides what is played need one joker after it
        ("5599BKA", "A", BURNING, ""),
        ("5599BK", "A", FREE, "B"),
        ("5599BK", "A", BURNING, ""),  # 5, 9, K stay and no joker
        ("55BRA", "K", BURNING, "A B R"),  # A leaves 5 and two jokers
        ("55RR2", "KK", BURNING, "2R RR"),  # after RR: 55 and 2, of which the 2 attaches
        ("22BB", "AA", BURNING, "22 2B BB"),  # only 2s left count as one
        ("229BB", "AAA", BURNING, "22B 2BB"),
        ("JJJ4B", "TTT", BURNING, "JJJ"),  # JJB would leave J and 4 without a joker
        # the duty: a joker in it, unless it is the last set
        ("55BR", None, DUTY, "5B 5R 5BR 55B 55R 55BR B R BR"),
        ("55", None, DUTY, "55"),
        ("5522", None, DUTY, "5522"),
        ("22", None, DUTY, "22"),
        ("55", "4", DUTY, ""),
        ("5", "4", DUTY, "5"),
        ("55", "44", DUTY, "55"),
        ("2", "3", DUTY, "2"),
        ("22", "3", DUTY, ""),
        ("5", "6", DUTY, ""),
        ("5", "B", DUTY, ""),
        ("59", None, DUTY, ""),  # broken before: nothing is left but to pass
        ("59B", None, DUTY, "5B 9B"),  # B alone would leave two ranks
        ("59B2", None, DUTY, "5B 52B 9B 92B"),  # the 2 attaches to what stays
        ("B", "2", DUTY, "B"),
        ("", None, DUTY, ""),
        ("55BR", None, NO_SETS, ""),
    ],
)
def test_burning_by_hand(held: str, standing: str | None, mode: int, texts: str) -> None:
    on_table = None if standing is None else GoujiSet.parse(standing)
    found = [ACTIONS.text(a).removeprefix("play ") for a in of_row(one(hand(held), on_table, mode))]
    assert sorted(found) == sorted(texts.split())


def test_after_a_legal_burn_the_duty_can_be_kept_to_the_end() -> None:
    """Any play under the promise, led freely: there is always a legal set until the hand is out."""
    rng = np.random.default_rng(3)
    ranks, standing, _ = positions(2000, seed=4, most=14)
    legal = sets_of(ranks, standing, np.full(2000, BURNING, np.int8))
    live = np.flatnonzero(legal.counts())
    assert len(live) > 50
    turns = 0
    while len(live):
        chosen = legal.take(live).pick(rng.random(len(live))) - SET
        for row, place in zip(live.tolist(), chosen.tolist(), strict=True):
            s = GoujiSet.at(place)
            for rank, count in ((s.row, s.n), (12, s.t), (13, s.b), (14, s.r)):
                if count:
                    ranks[row, rank] -= count
        assert (ranks >= 0).all()
        live = live[ranks[live].any(axis=1)]
        legal = sets_of(ranks, np.full(2000, -1), np.full(2000, DUTY, np.int8))
        assert (legal.counts()[live] > 0).all()
        turns += 1
    assert turns > 3


# ---- reading legal moves


def with_words(legal: Legal, seed: int) -> Legal:
    """Random verbs and offers beside the sets, at least one move at every table."""
    rng = np.random.default_rng(seed)
    n = len(legal)
    legal.verbs[:] = rng.integers(0, 1 << 7, n) & rng.integers(0, 1 << 7, n)
    legal.offers[:] = np.where(rng.random(n) < 0.1, rng.integers(0, 1 << 15, n), 0)
    nothing = legal.counts() == 0
    legal.verbs[nothing] = 1 << rng.integers(0, 7, int(nothing.sum()))
    return legal


@pytest.mark.parametrize("tables", [1, 2, 300])
@pytest.mark.parametrize("seed", range(3))
def test_ids_mask_count_idle_and_pick_agree(tables: int, seed: int) -> None:
    legal = with_words(sets_of(*positions(tables, seed)), seed)
    flat, offsets = legal.ids()
    count = np.diff(offsets)
    assert flat.dtype == np.int32
    assert len(legal) == tables
    assert np.array_equal(legal.counts(), count)
    keys = np.repeat(np.arange(tables), count) * ACTIONS.size + flat
    assert (np.diff(keys) > 0).all()
    mask = legal.dense()
    assert mask.dtype == np.int8
    assert mask.max() == 1
    assert np.array_equal(np.flatnonzero(mask), keys)
    pas, yields, silent = (mask[:, VERB_ID[verb]] for verb in ("pass", "yield", "silent"))
    idle = (pas + yields + silent == count) & (pas + silent > 0)
    assert np.array_equal(legal.idle(), idle)
    assert np.array_equal(legal.idle(count), idle)
    rng = np.random.default_rng(seed)
    for draws in (rng.random(tables), np.zeros(tables), np.full(tables, 1 - 2**-53)):
        expected = flat[offsets[:-1] + (draws * count).astype(np.int64)]
        chosen = legal.pick(draws)
        assert chosen.dtype == np.int32
        assert np.array_equal(chosen, expected)
        assert legal.contains(chosen).all()


def test_pick_finds_each_of_the_ids() -> None:
    legal = with_words(sets_of(*positions(300, seed=5)), seed=5)
    flat, offsets = legal.ids()
    for row in range(0, 300, 7):
        ids = flat[offsets[row] : offsets[row + 1]]
        draws = (np.arange(len(ids)) + 0.5) / len(ids)
        assert np.array_equal(legal.take(np.full(len(ids), row)).pick(draws), ids)


def test_contains_knows_every_id() -> None:
    legal = with_words(sets_of(*positions(60, seed=6)), seed=6)
    mask = legal.dense()
    for row in range(60):
        asked = legal.take(np.full(ACTIONS.size, row))
        found = asked.contains(np.arange(ACTIONS.size))
        assert np.array_equal(found, mask[row] == 1)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_what_is_no_id_is_not_legal(dtype: type) -> None:
    full = [16] * 13 + [4, 4]
    legal = one(full, None, FREE).take(np.zeros(3, np.intp))
    legal.verbs[:] = verb_mask(*VERBS)
    legal.offers[:] = (1 << 15) - 1
    numbers = [-1, -22, np.iinfo(dtype).min]
    assert not legal.contains(np.array(numbers, dtype)).any()
    if dtype is not np.int16:
        numbers = [ACTIONS.size, ACTIONS.size + 1, np.iinfo(dtype).max]
        assert not legal.contains(np.array(numbers, dtype)).any()


def test_empty_take_and_put() -> None:
    empty = Legal.empty(4)
    assert len(empty) == 4
    assert empty.counts().tolist() == [0] * 4
    assert not empty.idle().any()
    assert not empty.dense().any()
    assert empty.ids()[1].tolist() == [0] * 5
    legal = with_words(sets_of(*positions(300, seed=7)), seed=7)
    rows = np.array([5, 17, 250, 30])
    some = legal.take(rows)
    for place, row in enumerate(rows.tolist()):
        assert of_row(some, place) == of_row(legal, row)
    whole = Legal.empty(300)
    order = np.random.default_rng(0).permutation(300)
    for part in np.array_split(order, 7):
        whole.put(part, legal.take(part))
    for own, other in zip(whole.ids(), legal.ids(), strict=True):
        assert np.array_equal(own, other)
    some.verbs[:] = 0
    assert np.array_equal(legal.dense(), whole.dense())  # a copy


def test_words() -> None:
    legal = Legal.empty(4)
    legal.verbs[:] = [verb_mask("pass"), verb_mask("silent", "yield"), verb_mask("yield"), 0]
    legal.offers[3] = 1 << 14 | 1
    assert of_row(legal, 1) == [1, 2]
    assert of_row(legal, 3) == [OFFER, OFFER + 14]
    assert legal.idle().tolist() == [True, True, False, False]
    assert legal.pick(np.array([0.0, 0.5, 0.9, 0.6])).tolist() == [0, 2, 1, OFFER + 14]
