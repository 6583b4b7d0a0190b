"""What networks are told of ``tactical``'s opinion."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import numpy as np
import pytest

from lupai.agents.advice import ADVISING, Adviser, advice_hash
from lupai.agents.tactical.agent import TacticalAgent
from lupai.agents.tactical.weights import TERMS, WEIGHTS
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.view import Views
from tests.agents.test_tactical import TABLES, moves_in_two_worlds, with_small_deck
from tests.agents.told import check_told

PRESETS = ("qingdao", "shiwei", "weihai")


def decisions(rules, hands, steps, seed=1):
    """Views of whoever is asked, at tables where ``tactical`` and chance play."""
    engine, rng, agent = Engine(rules), np.random.default_rng(seed), TacticalAgent()
    state = engine.reset(rng.integers(0, 1 << 63, hands, dtype=np.uint64))
    for _ in range(steps):
        rows = np.flatnonzero(~state.over)
        if not len(rows):
            return
        views = Views(engine, state, state.actor[rows].astype(np.intp), rows)
        yield views
        wild = rng.random(len(rows)) < 0.2
        moves = np.where(wild, views.legal.pick(rng.random(len(rows))), agent.act_batch(views))
        engine.step(state, moves, rows)


def advice_of(views, count=8):
    ids, offsets = views.legal.ids()
    return Adviser(count, views.engine.game).advise(
        views.engine.rules, views.state, views.seats, ids, offsets
    )


@pytest.mark.parametrize("rules", PRESETS)
def test_candidates_are_the_best_priced_moves_with_their_own_numbers(rules):
    agent, passes = TacticalAgent(), {VERB_ID[verb] for verb in ("pass", "yield", "claim")}
    seen = Counter()
    for views in decisions(rules, 4, 240):
        advice = advice_of(views)
        assert advice.ids.shape == (len(views), 8)
        assert advice.features.shape == (len(views), 8, ADVISING["baohuang"].features)
        best = agent.act_batch(views)
        np.testing.assert_array_equal(advice.ids[:, 0], best)
        for i, view in enumerate(views):
            ids, state = view.legal_ids, view.state
            terms = np.zeros((len(ids), len(TERMS)), np.float32)
            me = np.array([view.seat])
            prices = agent.prices(
                views.engine.rules, state, me, ids, np.array([0, len(ids)]), terms
            )
            plays = int(state.phase[0]) == PHASE_PLAY
            _, alone = check_told(
                advice.ids[i], advice.features[i], ids, prices, terms, passes=passes,
                sure=ADVISING["baohuang"].sure if plays else None,
            )  # fmt: skip
            seen["sure"] += alone
            seen["play" if plays else "bid"] += 1
            if plays:  # the terms are those that make the price
                which = "alone" if state.solo[0] else "terms"
                weights = getattr(WEIGHTS[views.engine.rules.preset], which)
                price = sum(terms[:, k] * weights[name] for k, name in enumerate(TERMS))
                np.testing.assert_allclose(price, prices, rtol=1e-5, atol=1e-3)
            else:
                assert not terms.any()
    assert min(seen["bid"], seen["play"]) > 5
    assert seen["sure"] > 0


def test_best_priced_of_hand_made_rows():
    pass_, claim = VERB_ID["pass"], VERB_ID["claim"]
    ids = np.array([900, pass_, claim, 901, 902, pass_, 903], np.int32)
    prices = np.array([1.0, 3.0, 2.0, 3.0, 5.0, 5.0, 1.0])
    offsets = np.array([0, 4, 7])
    best_priced = ADVISING["baohuang"].best_priced
    assert best_priced(ids, prices, offsets, 3).tolist() == [[1, 3, 0], [4, 5, 6]]
    assert best_priced(ids, prices, offsets, 4).tolist() == [[1, 3, 0, -1], [4, 5, 6, -1]]
    assert best_priced(ids, prices, offsets, 1).tolist() == [[1], [4]]
    assert best_priced(ids[:0], prices[:0], np.zeros(1, int), 2).shape == (0, 2)


@pytest.mark.parametrize("table", TABLES)
def test_advice_does_not_depend_on_what_is_hidden(table):
    rng, count = random.Random(9), Counter()

    def told(view):
        found = advice_of(Views(view.engine, view.state, view.seat))
        return found.ids.tobytes() + found.features.tobytes()

    rules = TABLES[table]
    moves_in_two_worlds(rng, rules, 40, count, told)
    for _ in range(60):
        moves_in_two_worlds(rng, with_small_deck(rng, rules), 3, count, told)
        if count["worlds"] > 50 and count["roles"] > 5:
            return
    pytest.fail(f"too few other worlds: {count}")


def test_a_decision_alone_gets_the_advice_that_it_gets_among_others():
    for views in decisions("shiwei", 9, 12):
        every = advice_of(views)
        for i, view in enumerate(views):
            alone = advice_of(Views(view.engine, view.state, view.seat))
            assert alone.ids[0].tobytes() == every.ids[i].tobytes()
            assert alone.features[0].tobytes() == every.features[i].tobytes()


@pytest.mark.parametrize(
    ("preset", "weights", "sample"),
    [
        ("qingdao", "a11bb73e41c4ccba", "e696d751bb0798d3"),
        ("shiwei", "d565ccd08b3e5972", "7e64b3899f17fefe"),
        ("weihai", "cb92e798534fe85b", "879476cfd96bc6aa"),
    ],
)
def test_advice_is_what_shipped_networks_know(preset, weights, sample):
    """Who changes it has to train the shipped agents again: they know no other advice."""
    digest = hashlib.sha256()
    for views in decisions(preset, 16, 40):
        advice = advice_of(views)
        digest.update(advice.ids.tobytes())
        # as thick as differences between machines are not
        digest.update(np.rint(advice.features.astype(np.float64) * 16).astype(np.int16).tobytes())
    assert advice_hash(load_rules(preset), "baohuang") == weights
    assert digest.hexdigest()[:16] == sample
