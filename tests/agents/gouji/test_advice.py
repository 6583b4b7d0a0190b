"""What networks of Gouji are told of ``tactical``'s opinion."""

from collections import Counter

import numpy as np

from lupai.agents.advice import ADVISING, OF_PRICE, Adviser, advice_hash
from lupai.agents.gouji import TacticalAgent
from lupai.agents.gouji.tactical.agent import NO_LOOK
from lupai.agents.gouji.tactical.weights import TERMS, WEIGHTS
from lupai.envs.baohuang import rules as baohuang
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.rules import load_rules
from lupai.envs.gouji.state import Phase
from lupai.envs.view import Views
from tests.agents.gouji.tables import new_engine, other_worlds, turns
from tests.agents.told import check_told

ADVISED = ADVISING["gouji"]
RULES = "shandong;tribute=true"


def advice_of(views, count=8):
    ids, offsets = views.legal.ids()
    adviser = Adviser(count, views.engine.game)
    return adviser.advise(views.engine.rules, views.state, views.seats, ids, offsets)


def test_candidates_are_the_best_priced_moves_with_their_own_numbers():
    agent, seen = TacticalAgent(), Counter()
    passes = {VERB_ID[verb] for verb in ("pass", "yield")}
    for _, _, views, actions in turns(new_engine(RULES), agent, 6):
        advice = advice_of(views)
        assert advice.features.shape == (len(views), 8, OF_PRICE + len(TERMS))
        np.testing.assert_array_equal(advice.ids[:, 0], actions)
        for i, view in enumerate(views):
            ids, playing = view.legal_ids, int(view.state.phase[0]) == Phase.PLAY
            terms = np.zeros((len(ids), len(TERMS)), np.float32)
            me, offsets = np.array([view.seat]), np.array([0, len(ids)])
            prices = agent.prices(view.engine.rules, view.state, me, ids, offsets, terms)
            order, alone = check_told(
                advice.ids[i], advice.features[i], ids, prices, terms, passes=passes,
                sure=500 if playing else None, floor=NO_LOOK,
            )  # fmt: skip
            seen["sure"] += alone
            if playing:  # the terms are those that make the price
                weights = WEIGHTS.melee if view.state.melee[0] == 1 else WEIGHTS.race
                price = sum(terms[order, k] * weights[name] for k, name in enumerate(TERMS))
                np.testing.assert_allclose(price, prices[order], rtol=1e-5, atol=1e-3)
                seen["melee" if view.state.melee[0] == 1 else "race"] += 1
                seen["not looked at"] += int((prices == NO_LOOK).any())
            else:
                assert not terms.any()
                seen["before"] += 1
    for what in ("sure", "race", "melee", "before", "not looked at"):
        assert seen[what] > 5, seen


def test_best_priced_leaves_out_what_was_not_looked_at():
    pass_, yield_ = VERB_ID["pass"], VERB_ID["yield"]
    ids = np.array([900, pass_, yield_, 901, 902, 903], np.int32)
    prices = np.array([1.0, 3.0, 3.002, NO_LOOK, NO_LOOK, 2.0])
    found = ADVISED.best_priced(ids, prices, np.array([0, 4, 6]), 3)
    assert found.tolist() == [[2, 0, -1], [5, -1, -1]]


def test_advice_does_not_depend_on_what_is_hidden():
    """Where nobody has shown cards: any deal of what is unseen agrees with the seat's knowledge."""
    rng, seen = np.random.default_rng(5), 0
    for step, (state, rows, views, _) in enumerate(
        turns(new_engine("shandong;revolution=false"), TacticalAgent(), 6)
    ):
        if step % 9:
            continue
        seats = state.actor[rows].astype(np.intp)
        world = other_worlds(state.take(rows), seats, rng)
        other = Views(views.engine, world, seats, np.arange(len(rows)))
        assert advice_of(other).ids.tobytes() == advice_of(views).ids.tobytes()
        assert advice_of(other).features.tobytes() == advice_of(views).features.tobytes()
        seen += len(rows)
    assert seen > 60


def test_the_hash_knows_the_game():
    mine = advice_hash(load_rules("shandong"), "gouji")
    assert mine != advice_hash(baohuang.load_rules("qingdao"), "baohuang")
    assert mine == advice_hash(load_rules(RULES), "gouji")  # one set of weights for all rules
