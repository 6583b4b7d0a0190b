"""Ragged softmax against torch's dense distributions; networks see moves by features only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from lupai.agents.network import (  # noqa: E402
    MOST_ACTIONS,
    MoveScorer,
    NetworkConfig,
    ValueNetwork,
    in_parts,
    in_words,
    move_table,
    offsets_to_rows,
    pack_legal,
    pack_words,
    packed_width,
    segment_argmax,
    segment_chosen,
    segment_entropy,
    segment_log_softmax,
    segment_sample,
    table_of,
    unpack_legal,
    unpack_words,
)
from lupai.envs.baohuang.engine import Engine  # noqa: E402
from lupai.envs.game import GAMES, make_game, rules_class  # noqa: E402

pytestmark = pytest.mark.train

RAGGED = st.lists(
    st.lists(st.floats(-50, 50, width=32), min_size=0, max_size=9), min_size=1, max_size=7
)


def flatten(rows_of_logits):
    logits = torch.tensor([v for row in rows_of_logits for v in row], dtype=torch.float32)
    counts = torch.tensor([len(row) for row in rows_of_logits])
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
    return logits, offsets_to_rows(offsets), offsets


@settings(max_examples=150, deadline=None)
@given(RAGGED)
def test_rows_agree_with_dense_categorical(data):
    logits, rows, offsets = flatten(data)
    count = len(data)
    log_probs = segment_log_softmax(logits, rows, count)
    entropy = segment_entropy(log_probs, rows, count)
    best = segment_argmax(logits, rows, count)
    assert log_probs.isfinite().all()
    assert entropy.isfinite().all()
    for i, row in enumerate(data):
        if not row:
            assert entropy[i] == 0
            assert best[i] == -1
            continue
        dense = torch.distributions.Categorical(logits=torch.tensor(row))
        part = slice(int(offsets[i]), int(offsets[i + 1]))
        torch.testing.assert_close(log_probs[part], dense.logits, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(entropy[i], dense.entropy(), atol=1e-4, rtol=1e-4)
        assert int(best[i]) - part.start == int(np.argmax(row))


@settings(max_examples=100, deadline=None)
@given(RAGGED, st.integers(0, 2**31))
def test_chosen_and_gradients_agree_with_dense(data, seed):
    logits, rows, offsets = flatten(data)
    logits.requires_grad_()
    rng = np.random.default_rng(seed)
    ids = torch.cat([torch.arange(len(row)) for row in data]).to(torch.int64)
    chosen = torch.tensor([int(rng.integers(len(row))) if row else 0 for row in data])
    log_probs = segment_log_softmax(logits, rows, len(data))
    picked = segment_chosen(log_probs, rows, ids, chosen)
    (picked.sum() + segment_entropy(log_probs, rows, len(data)).sum()).backward()
    assert logits.grad.isfinite().all()
    for i, row in enumerate(data):
        if not row:
            assert picked[i] == 0
            continue
        dense_logits = torch.tensor(row, requires_grad=True)
        dense = torch.distributions.Categorical(logits=dense_logits)
        (dense.log_prob(chosen[i]) + dense.entropy()).backward()
        part = slice(int(offsets[i]), int(offsets[i + 1]))
        torch.testing.assert_close(logits.grad[part], dense_logits.grad, atol=1e-4, rtol=1e-3)


def test_all_rows_empty():
    empty, rows = torch.zeros(0), torch.zeros(0, dtype=torch.int64)
    log_probs = segment_log_softmax(empty, rows, 3)
    assert segment_argmax(empty, rows, 3).tolist() == [-1, -1, -1]
    assert (
        segment_sample(log_probs, rows, 3, torch.rand(3, dtype=torch.float64)).tolist() == [-1] * 3
    )
    assert segment_entropy(log_probs, rows, 3).tolist() == [0, 0, 0]


def test_samples_have_the_right_frequencies_and_are_legal():
    data = [[0.0, 1.0, 2.0], [], [3.0], [0.0] * 5, [-40.0, 40.0]]
    logits, rows, _offsets = flatten(data)
    log_probs = segment_log_softmax(logits, rows, len(data))
    generator = torch.Generator().manual_seed(0)
    seen = torch.zeros(len(logits))
    draws = 20_000
    for _ in range(draws):
        uniform = torch.rand(len(data), dtype=torch.float64, generator=generator)
        place = segment_sample(log_probs, rows, len(data), uniform)
        assert place[1] == -1
        seen[place[place >= 0]] += 1
    torch.testing.assert_close(seen / draws, log_probs.exp(), atol=0.012, rtol=0)
    assert seen[-2] == 0


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_extreme_draws_stay_in_their_row(uniform):
    logits, rows, offsets = flatten([[0.1] * 7, [0.3] * 3, [5.0, -5.0, 1.0]])
    log_probs = segment_log_softmax(logits, rows, 3)
    place = segment_sample(log_probs, rows, 3, torch.full((3,), uniform, dtype=torch.float64))
    assert (place >= offsets[:-1]).all()
    assert (place < offsets[1:]).all()


SOME_IDS = st.one_of(st.integers(1, 60), st.integers(1, 11_000)).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.sets(st.integers(0, size - 1), max_size=30), max_size=5)
    )
)


def ragged(rows_of_ids):
    ids = [sorted(row) for row in rows_of_ids]
    flat = np.array([i for row in ids for i in row], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in ids])]).astype(np.int64)
    return ids, flat, offsets


@settings(max_examples=60, deadline=None)
@given(SOME_IDS)
def test_packed_legal_moves_come_back(case):
    size, rows_of_ids = case
    ids, flat, offsets = ragged(rows_of_ids)
    packed = pack_legal(flat, offsets, size)
    assert packed.shape == (len(ids), packed_width(size))
    rows, back = unpack_legal(torch.from_numpy(packed))
    assert back.tolist() == flat.tolist()
    assert rows.tolist() == np.repeat(np.arange(len(ids)), np.diff(offsets)).tolist()
    bits = np.unpackbits(packed, axis=1)[:, :size]
    assert [np.flatnonzero(row).tolist() for row in bits] == ids


@settings(max_examples=60, deadline=None)
@given(SOME_IDS, st.integers(0, 3))
@example((MOST_ACTIONS, [{0, 15, 16, MOST_ACTIONS - 1}, set()]), 1)
def test_words_of_legal_moves_come_back(case, wider):
    size, rows_of_ids = case
    ids, flat, offsets = ragged(rows_of_ids)
    packed = pack_words(flat, offsets)
    assert packed.shape == (len(ids), max((len({i >> 4 for i in row}) for row in ids), default=0))
    packed = np.pad(packed, ((0, 0), (0, wider)))  # beside wider rows
    rows, back = unpack_words(torch.from_numpy(packed))
    assert rows.dtype == back.dtype == torch.int64
    assert back.tolist() == flat.tolist()
    assert rows.tolist() == np.repeat(np.arange(len(ids)), np.diff(offsets)).tolist()
    for action in {0, size - 1, *flat[:20].tolist()}:
        asked = np.full(len(ids), action)
        assert in_words(packed, asked).tolist() == [action in row for row in ids]


@pytest.mark.parametrize("name", GAMES)
def test_ids_of_every_game_fit_into_words(name):
    assert make_game(name, rules_class(name).default).actions.size <= MOST_ACTIONS


@pytest.fixture(scope="module")
def game():
    engine = Engine("qingdao")
    table = move_table(engine.observation_layout)
    torch.manual_seed(0)
    config = NetworkConfig(hidden=(32,), move_hidden=16, value_hidden=(16,))
    return engine, table, MoveScorer(table, config), ValueNetwork(table, config)


def positions(engine, tables=24, plies=60):
    """Decisions of random play: ``(observation, ids, offsets, state)``."""
    state = engine.reset(np.arange(tables, dtype=np.uint64))
    rng = np.random.default_rng(0)
    for _ in range(plies):
        alive = np.flatnonzero(~state.over)
        ids, offsets = engine.legal(state, alive).ids()
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], alive)
    alive = np.flatnonzero(~state.over)
    ids, offsets = engine.legal(state, alive).ids()
    observation = engine.observe(state, state.actor[alive], alive)
    return observation, ids.astype(np.int64), offsets, state.take(alive)


def test_a_move_is_scored_alike_alone_and_among_others(game):
    engine, _, scorer, _ = game
    observation, ids, offsets, _ = positions(engine)
    rows = offsets_to_rows(torch.from_numpy(offsets))
    together = scorer(torch.from_numpy(observation), rows, torch.from_numpy(ids))
    for i in range(len(observation)):
        part = torch.from_numpy(ids[offsets[i] : offsets[i + 1]])
        alone = scorer(torch.from_numpy(observation[i : i + 1]), torch.zeros_like(part), part)
        torch.testing.assert_close(
            alone, together[offsets[i] : offsets[i + 1]], atol=1e-5, rtol=1e-4
        )


def test_more_moves_than_the_table_has_take_the_other_way_to_the_same_numbers(game):
    engine, table, scorer, _ = game
    observation, _, _, _ = positions(engine)
    every = torch.arange(len(table.features))
    rows = torch.arange(2).repeat_interleave(len(every))
    both = scorer(torch.from_numpy(observation[:2]), rows, every.repeat(2))
    first = scorer(torch.from_numpy(observation[:1]), torch.zeros_like(every), every)
    torch.testing.assert_close(both[: len(every)], first, atol=1e-5, rtol=1e-4)
    assert both.isfinite().all()


def test_dynamic_features_tell_what_is_left_in_the_hand(game):
    engine, _, scorer, _ = game
    observation, ids, offsets, state = positions(engine)
    rows = offsets_to_rows(torch.from_numpy(offsets))
    columns = scorer.constants.dynamic(torch.from_numpy(observation), rows, torch.from_numpy(ids))
    for row, action, found in zip(rows.tolist(), ids.tolist(), columns.tolist(), strict=True):
        move = engine.actions.decode(action)
        if move.cards is None:
            assert found == [0.0] * 6
            continue
        hand = state.ranks[row, state.actor[row]].astype(int).copy()
        if move.cards.n:
            hand[move.cards.rank] -= move.cards.n
        hand[13] -= move.cards.b
        hand[14] -= move.cards.r
        left = hand[move.cards.rank] if move.cards.n else 0
        wanted = [
            left / 8,
            float(move.cards.n > 0 and left == 0),
            hand[13] / 4,
            hand[14] / 4,
            hand.sum() / 44,
            float(hand.sum() == 0),
        ]
        assert found == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["baohuang", "gouji"])
def test_features_of_moves_are_kept_in_bytes_to_the_last_bit(name):
    engine = make_game(name, rules_class(name).default)
    features = table_of(engine).features
    numbers, parts = in_parts(features)
    assert numbers.dtype == np.uint8
    assert (numbers.astype(np.float32) / parts).tobytes() == features.tobytes()


@pytest.mark.parametrize("odd", [-1.0, 256.0, 0.1234567])
def test_features_that_are_no_parts_stay_as_they_are(odd):
    features = np.array([[1, 0.25], [0, odd]], np.float32)
    kept, parts = in_parts(features)
    assert kept.tobytes() == features.tobytes()
    assert parts.tolist() == [1, 1]


def test_values_are_finite_and_constants_are_not_saved(game):
    engine, _, scorer, value = game
    observation, _, _, _ = positions(engine)
    assert value(torch.from_numpy(observation)).isfinite().all()
    assert not [name for name in scorer.state_dict() if "constants" in name]


@pytest.mark.parametrize(
    "data",
    [
        {"hidden": [], "move_hidden": 8, "value_hidden": [8]},
        {"hidden": [8], "move_hidden": 0, "value_hidden": [8]},
        {"hidden": [8], "move_hidden": 8, "value_hidden": [8], "depth": 3},
    ],
)
def test_network_sizes_without_sense_are_refused(data):
    with pytest.raises(ValueError, match=r"network|positive"):
        NetworkConfig.from_json(data)
