"""What an advice has to say of one decision, written plainly; for tests of any game."""

import numpy as np

from lupai.agents.advice import OF_PRICE


def check_told(ids, features, legal, prices, terms, *, passes, sure, floor=-np.inf):
    """Candidates are the best-priced legal moves, the first of equals, one pass only and none at
    or below ``floor``; a price from ``sure`` on stands alone.

    Args:
        ids, features: ``[K]`` and ``[K, F]`` of the decision. legal, prices, terms: of its moves.
        passes: ids of the ways to pass. sure: None before play.

    Returns:
        Places of the candidates among the legal moves, and whether one stands alone.
    """
    order, met = [], False
    for place in sorted(range(len(legal)), key=lambda k: (-prices[k], k)):
        if int(legal[place]) in passes:
            if met:
                continue
            met = True
        if prices[place] > floor:
            order.append(place)
    alone = sure is not None and prices[order[0]] >= sure
    order = order[:1] if alone else order[:8]
    there = ids >= 0
    assert ids[there].tolist() == legal[order].tolist()
    assert not features[~there].any()
    got = features[there].astype(np.float64)
    behind = prices[order] - prices[order[0]]
    np.testing.assert_allclose(got[:, 0], np.maximum(behind, -4), atol=2e-3)
    np.testing.assert_array_equal(got[:, 1], np.arange(len(order)) == 0)
    np.testing.assert_allclose(got[:, 2], np.maximum(4 * behind, -2), atol=2e-3)
    np.testing.assert_allclose(got[:, 3], prices[order].clip(-4, 4) / 2, atol=2e-3)
    np.testing.assert_allclose(got[:, OF_PRICE:], terms[order], atol=4e-3)
    return order, alone
