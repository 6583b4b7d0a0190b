"""Choosing among ragged moves by numbers: as a plain loop does it, and the same in any company."""

import itertools

import numpy as np
import pytest

from lupai.agents.ragged import best_places, drawn_places

pytestmark = pytest.mark.smoke


def ragged(seed, rows=60):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, rows))])
    return rng, offsets, rng.normal(size=offsets[-1]).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_is_the_first_of_the_greatest(seed):
    _, offsets, outputs = ragged(seed)
    outputs = np.round(outputs)  # many equals
    expected = [a + int(outputs[a:b].argmax()) for a, b in itertools.pairwise(offsets)]
    assert best_places(outputs, offsets).tolist() == expected


def test_what_differs_by_rounding_is_equal():
    """Two calls of one rank look the same to a network; which was taken was a matter of rounding,
    and so of the other tables in the batch."""
    nearly = np.nextafter(np.float32(0.3), np.float32(1))
    offsets = np.array([0, 3, 6])
    outputs = np.array([0.1, 0.3, nearly, -nearly, -0.3, -0.31], np.float32)
    assert best_places(outputs, offsets).tolist() == [1, 3]
    assert best_places(np.array([0.3, 0.3001, 0.2], np.float32), np.array([0, 3])).tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
def test_draws_are_the_inverse_of_the_distribution(seed):
    rng, offsets, outputs = ragged(seed)
    draws = rng.random(len(offsets) - 1)
    expected = []
    for (a, b), draw in zip(itertools.pairwise(offsets), draws, strict=True):
        weights = np.exp(outputs[a:b].astype(float))
        expected.append(a + int(np.searchsorted(np.cumsum(weights / weights.sum()), draw)))
    assert drawn_places(outputs, offsets, draws).tolist() == expected


def test_draws_stay_in_their_rows():
    _, offsets, outputs = ragged(1)
    for draw in (0.0, 1 - 2**-53):
        places = drawn_places(outputs * 300, offsets, np.full(len(offsets) - 1, draw))
        assert (offsets[:-1] <= places).all()
        assert (places < offsets[1:]).all()
