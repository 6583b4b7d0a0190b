"""Trajectories: sorted, cut, put together, and their advantages, against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lupai.train.sampling.trajectories import (
    ENDED,
    Recorder,
    Trajectories,
    generalised_advantages,
)

pytestmark = pytest.mark.train


def played(seed, rounds=40, tables=6, calls=3):
    """Random hands: what a recorder gives back, and every decision by hand and seat."""
    rng = np.random.default_rng(seed)
    record, hands, next_hand, number = Recorder(), np.arange(tables), tables, 0
    story, out, over = {}, [], set()
    for _ in range(calls):
        ended = []
        record.begin(rounds * tables)
        for _ in range(rounds):
            seats = rng.integers(0, 5, tables)
            numbers = number + np.arange(tables)
            number += tables
            record.add(hand=hands, seat=seats, number=numbers, rewards=numbers / 7)
            for hand, seat, value in zip(hands, seats, numbers, strict=True):
                story.setdefault((int(hand), int(seat)), []).append(int(value))
            for table in np.flatnonzero(rng.random(tables) < 0.05):
                ended.append(int(hands[table]))
                hands[table], next_hand = next_hand, next_hand + 1
        over |= set(ended)
        out.append(record.finish(np.array(ended, int)))
    return out, story, over, record.waiting


def rows(data):
    """``[(hand, seat, numbers, number of the decision that follows or None)]``."""
    number = data.columns["number"]
    return [
        (
            int(data.hands[i]),
            int(data.seats[i]),
            number[data.offsets[i] : data.offsets[i + 1]].tolist(),
            None if data.following[i] == ENDED else int(number[data.following[i]]),
        )
        for i in range(len(data.hands))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_recorder_gives_every_decision_once_by_seat_in_order(seed):
    out, story, over, waiting = played(seed)
    pieces = {}
    for data in out:
        for hand, seat, numbers, after in rows(data):
            assert numbers
            pieces.setdefault((hand, seat), []).append((numbers, after))
    given = 0
    for key, parts in pieces.items():
        joined = [n for numbers, _ in parts for n in numbers]
        given += len(joined)
        if key[0] in over:
            assert joined == story[key]
        else:
            assert joined == story[key][:-1]
        for (_, after), (numbers, _) in itertools.pairwise(parts):
            assert after == numbers[0]
        last = None if key[0] in over else story[key][-1]
        assert parts[-1][1] == last
    assert given + waiting == sum(map(len, story.values()))
    assert len(over) > 5


def test_parts_are_cut_and_put_together_again():
    (data, other, _), *_ = played(7)
    whole = rows(data)
    both = Trajectories.concat([data, other])
    assert rows(both) == whole + rows(other)
    assert len(both) == len(data) + len(other)
    for cut in (0, 1, 17, len(data) // 2, len(data) - 1, len(data)):
        left, right = data[:cut], data.slice(slice(cut, None), len_lookback_buffer=0)
        assert (len(left), len(right)) == (cut, len(data) - cut)
        joined = []
        for hand, seat, numbers, after in rows(left) + rows(right):
            if joined and joined[-1][:2] == [hand, seat] and joined[-1][3] == numbers[0]:
                joined[-1][2:] = [joined[-1][2] + numbers, after]
            else:
                joined.append([hand, seat, numbers, after])
        assert [tuple(part) for part in joined] == whole
    with pytest.raises(ValueError, match="without a step"):
        data[::2]


def test_one_decision_of_each_trajectory_is_drawn_and_any_may_be():
    (data, *_), *_ = played(5)
    some = data.columns["number"][: len(data)] % 3 > 0
    generator, drawn = np.random.default_rng(0), np.zeros(len(data), int)
    trajectory = np.repeat(np.arange(len(data.hands)), np.diff(data.offsets))
    has = np.bincount(trajectory, some) > 0
    for _ in range(200):
        one = data.draw(some, generator)
        assert not (one & ~some).any()
        assert (np.bincount(trajectory, one) == has).all()
        drawn += one
    assert (drawn[some] > 0).all()
    size = np.bincount(trajectory, some)[trajectory]
    assert drawn[some & (size == 4)].mean() == pytest.approx(50)
    assert not data.draw(np.zeros(len(data), bool), generator).any()


@pytest.mark.parametrize(("gamma", "lambda_"), [(1.0, 0.95), (0.9, 0.8), (1.0, 1.0), (0.7, 0.0)])
def test_advantages_are_those_of_a_plain_loop(gamma, lambda_):
    (data, *_), *_ = played(3)
    values = np.random.default_rng(0).normal(size=len(data.columns["number"]))
    advantages, targets = generalised_advantages(data, values, gamma, lambda_)
    for i in range(len(data.hands)):
        advantage, after = 0.0, 0.0
        if data.following[i] != ENDED:
            after = values[data.following[i]]
        for row in reversed(range(data.offsets[i], data.offsets[i + 1])):
            error = data.columns["rewards"][row] + gamma * after - values[row]
            advantage = error + gamma * lambda_ * advantage
            after = values[row]
            assert advantages[row] == pytest.approx(advantage)
            assert targets[row] == pytest.approx(advantage + values[row])


def test_a_decision_with_other_columns_is_refused():
    record, hand = Recorder(), np.arange(3)
    record.begin(6)
    record.add(hand=hand, seat=hand, number=hand, rewards=hand / 7)
    for columns in ({"number": hand}, {"number": hand, "rewards": hand / 7, "more": hand}):
        with pytest.raises(ValueError, match=r"the ones before had .*'number', 'rewards'"):
            record.add(hand=hand, seat=hand, **columns)


def test_rows_may_be_wider_at_one_call_than_at_another():
    """A row has the numbers that it was stored with, then zeros, also where it waited and where
    the memory had other numbers before."""
    rng = np.random.default_rng(3)
    record, parts = Recorder(), []
    for call in range(3):
        record.begin(8 * 6)
        for number in range(8):
            hand = call * 6 + np.arange(6)
            wide = rng.integers(1, 6) + 3 * (call == 1)
            sizes = rng.integers(0, wide + 1, 6)
            words = np.where(np.arange(wide) < sizes[:, None], hand[:, None] * 9 + number + 1, 0)
            record.add(hand=hand, seat=hand % 5, size=sizes, words=words, word=words.max(axis=1))
        parts.append(record.finish(call * 6 + np.arange(3)))
    widths = [part.columns["words"].shape[1] for part in parts]
    assert widths[0] < widths[1] == widths[2]
    for data in (*parts, Trajectories.concat(parts), Trajectories.concat(parts[::-1])):
        words, size = data.columns["words"], data.columns["size"]
        filled = np.arange(words.shape[1]) < size[:, None]
        assert (words == np.where(filled, data.columns["word"][:, None], 0)).all()
        assert len(data) >= 6 * 7
