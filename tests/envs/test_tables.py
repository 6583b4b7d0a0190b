"""The hot path's lookup tables, each rebuilt by brute force, and what reads them."""

import itertools

import numpy as np
import pytest

from lupai.envs.baohuang import play, tables
from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.legal import Legal
from lupai.envs.baohuang.sets import CardSet, beats
from tests.envs.side_by_side import PRESETS

COMBO = [(b, r) for b in range(5) for r in range(5)]
RANKS = range(13)
SEATS = range(5)


def word(combos: list[tuple[int, int]]) -> int:
    """Bit b * 5 + r for each combo."""
    return sum(1 << b * 5 + r for b, r in combos)


def standing_sets() -> list[tuple[int, CardSet]]:
    """Every set that can lie on the table: without a flag, or with an X."""
    plain = [(a, ACTIONS.decode(a).cards) for a in range(SET, SET_IDENTITY)]
    with_x = [(a, ACTIONS.decode(a, supreme=True).cards) for a in range(SET_IDENTITY, ACTIONS.size)]
    return [(a, s) for a, s in plain + with_x if s is not None]


def test_what_a_standing_set_asks_for() -> None:
    """Words of answers from hands with all cards, against `beats`, for a sample of all sets."""
    assert tables.FITS.shape == (27 * 17,)
    for have_b, have_r in COMBO:
        fits = [(b, r) for b, r in COMBO if b <= have_b and r <= have_r]
        assert tables.JOKERS[have_b * 5 + have_r] == word(fits)
    rng = np.random.default_rng(0)
    for action, standing in standing_sets():
        assert tables.STANDING_SIZE[action] == standing.size
        assert tables.ABOVE[action].tolist() == [int(rank > standing.rank) for rank in RANKS]
        if rng.random() < 0.97:
            continue
        for x in (0, 1):
            for rank, count in itertools.product((0, 5, 12), (0, 1, 4, 16)):
                if rank <= standing.rank:
                    continue
                wins = {
                    (b, r)
                    for n in range(1, count + 1)
                    for b, r in COMBO
                    if beats(CardSet(rank, n, b, r, x), standing)
                }
                fits = tables.FITS[tables.FIT_ROW[x][action] + count]
                assert fits & tables.ANSWERS[x][action] == word(sorted(wins))
            wins = {
                (b, r) for b, r in COMBO if b + r + x and beats(CardSet(13, 0, b, r, x), standing)
            }
            assert tables.ALONE[x][action] == word(sorted(wins))


def test_a_lead_asks_for_nothing() -> None:
    """The last row: all combos beside one natural or more; jokers alone are at least one card."""
    assert tables.STANDING_SIZE[-1] == 0
    assert tables.ABOVE[-1].tolist() == [1] * 13
    for x in (0, 1):
        row = tables.FITS[tables.FIT_ROW[x][-1] + np.arange(17)]
        assert row.tolist() == [0] + [word(COMBO)] * 16
        assert tables.ANSWERS[x][-1] == word(COMBO)
        assert tables.ALONE[x][-1] == word(COMBO if x else COMBO[1:])


def test_units_and_bits_are_the_ids() -> None:
    assert tables.UNITS == 29
    assert tables.IS_RANK.tolist() == [u not in (0, 14, 28) for u in range(29)]
    assert tables.UNIT_OF.shape == tables.BIT_OF.shape == (ACTIONS.size,)
    for action in range(ACTIONS.size):
        cards = ACTIONS.decode(action).cards
        unit, bit = tables.UNIT_OF[action], int(tables.BIT_OF[action])
        if cards is None:
            assert unit == 0
            assert bit == (action if action < 17 else 31)
            assert tables.NATURALS_OF[action] == tables.SIZE_OF[action] == 0
            continue
        flag = action >= SET_IDENTITY
        assert unit == tables.unit_of(cards.rank, flag=flag) == 1 + 14 * flag + cards.rank
        assert tables.NATURALS_OF[action] == cards.n
        assert tables.SIZE_OF[action] == cards.n + cards.b + cards.r
        if cards.n:
            assert bit == cards.b * 5 + cards.r
        assert tables.FIRST_ID[unit] + 25 * cards.n + bit == action
    ids = [a for a in range(ACTIONS.size) if not 17 <= a < SET]
    keys = [(tables.UNIT_OF[a], tables.NATURALS_OF[a], tables.BIT_OF[a]) for a in ids]
    assert keys == sorted(set(keys))


def test_order_of_answers() -> None:
    """By id: an answer has size - b - r naturals, and ids grow with them, then with the combo."""
    by_id = sorted(range(25), key=lambda c: (-sum(COMBO[c]), c))
    assert tables.BY_ANSWER.tolist() == by_id
    assert tables.JOKERS_OF.tolist() == [b + r for b, r in COMBO]
    words = np.random.default_rng(1).integers(0, 1 << 25, 500).astype(np.uint32)
    for w, permuted in zip(words.tolist(), tables.permuted(words).tolist(), strict=True):
        assert [w >> c & 1 for c in by_id] == [permuted >> i & 1 for i in range(25)]


def test_kth_bit() -> None:
    words = np.random.default_rng(2).integers(1, 1 << 25, 500).astype(np.uint32)
    places = [[i for i in range(25) if w >> i & 1] for w in words.tolist()]
    for k in range(25):
        rows = [i for i, p in enumerate(places) if len(p) > k]
        found = tables.kth_bit(words[rows], np.full(len(rows), k, np.int16))
        assert found.tolist() == [places[i][k] for i in rows]


def test_verbs_of_a_trick() -> None:
    """Every circle, set of players in, owner and actor, as the options say."""
    for yields, claims in itertools.product((False, True), repeat=2):
        words = play.verb_table(yields, claims)
        for circle, alive, owner, actor in itertools.product(
            (1, 2), range(32), range(-1, 5), SEATS
        ):
            verbs = set()
            if owner >= 0:
                verbs.add("pass")
                if circle == 1 and yields:
                    verbs.add("yield")
                after = [(owner + d) % 5 for d in range(1, 6)]
                first = next((seat for seat in after if alive >> seat & 1), None)
                if circle == 1 and claims and not alive >> owner & 1 and first == actor:
                    verbs.add("claim")
            word_of = words[((circle * 32 + alive) * 6 + owner) * 5 + actor]
            assert word_of == sum(1 << VERB_ID[v] for v in verbs)


def test_who_leads_after_a_set() -> None:
    for alive, seat in itertools.product(range(32), SEATS):
        walk = [(seat + d) % 5 for d in range(5)]
        leader = next((s for s in walk if alive >> s & 1), -1)
        assert play._LEADER[alive * 5 + seat] == play._ONE[1][alive * 5 + seat] == leader


# ---- reading legal moves


def every_id(legal: Legal, row: int) -> list[int]:
    """Legal ids of a row by asking for each id whether it is legal."""
    asked = legal.take(np.full(ACTIONS.size, row))
    return np.flatnonzero(asked.contains(np.arange(ACTIONS.size))).tolist()


@pytest.mark.parametrize("preset", PRESETS)
def test_ids_mask_count_idle_and_pick_agree(preset: str) -> None:
    engine = Engine(preset)
    state = engine.reset(range(40))
    rng = np.random.default_rng(0)
    for turn in range(240):
        tables_left = np.flatnonzero(~state.over)
        legal = engine.legal(state, tables_left)
        flat, offsets = legal.ids()
        count = np.diff(offsets)
        assert np.array_equal(legal.counts(), count)
        rows = np.repeat(np.arange(len(legal)), count)
        keys = rows * ACTIONS.size + flat
        assert (np.diff(keys) > 0).all()
        mask = legal.dense()
        assert np.array_equal(np.flatnonzero(mask), keys)
        calm = mask.reshape(len(legal), -1)[:, [VERB_ID[v] for v in ("pass", "yield", "claim")]]
        idle = (calm.sum(axis=1) == count) & (calm[:, 0] == 1)
        assert np.array_equal(legal.idle(), idle)
        assert np.array_equal(legal.idle(count), idle)
        if turn % 40 == 0:
            for row in range(0, len(legal), 13):
                assert every_id(legal, row) == flat[offsets[row] : offsets[row + 1]].tolist()
        for draws in (
            rng.random(len(legal)),
            np.zeros(len(legal)),
            np.full(len(legal), 1 - 2**-53),
        ):
            expected = flat[offsets[:-1] + (draws * count).astype(np.int64)]
            assert np.array_equal(legal.pick(draws), expected)
        engine.step(state, legal.pick(rng.random(len(legal))), tables_left, legal=legal)


def test_pick_finds_each_of_the_ids() -> None:
    """The k-th draw gives the k-th id, at leads, answers, with stars and X, and at calls."""
    for preset in PRESETS:
        engine = Engine(preset)
        state = engine.reset(range(60))
        rng = np.random.default_rng(3)
        for _ in range(60):
            live = np.flatnonzero(~state.over)
            legal = engine.legal(state, live)
            row = int(rng.integers(len(live)))
            flat, offsets = legal.ids()
            ids = flat[offsets[row] : offsets[row + 1]]
            draws = (np.arange(len(ids)) + 0.5) / len(ids)
            assert np.array_equal(legal.take(np.full(len(ids), row)).pick(draws), ids)
            engine.step(state, legal.pick(rng.random(len(live))), live, legal=legal)
