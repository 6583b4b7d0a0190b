"""The networks: nothing hidden, no looking ahead, all seats alike; that they learn; folders."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from lupai.agents.belief import BeliefError, ask_predictor, load_predictor
from lupai.agents.belief.base import ALONE
from lupai.agents.belief.course import course_of, hands_of
from lupai.agents.belief.files import write_folder
from lupai.agents.belief.network import KINDS, BeliefNet, NetworkPredictor
from lupai.agents.belief.sequences import EVENT_FIELDS, TABLE_FIELDS, events, priors, tables
from lupai.agents.belief.views import PublicLog
from lupai.envs.baohuang.rules import load_rules
from lupai.train.belief.data import make_data
from lupai.train.belief.decisions import OBSERVERS
from lupai.train.belief.networks import calibration, train_network
from lupai.train.belief.playing import Plan
from lupai.train.belief.scoring import check_causal, score_data
from tests.belief.hands import RULES, decisions
from tests.belief.test_predictors import chances_in_two_worlds
from tests.envs.side_by_side import engine_of
from tests.envs.test_leaks import TABLES
from tests.envs.test_leaks import small as with_small_deck

pytestmark = pytest.mark.train


def some_network(kind, rules, seed=0):
    """A network that has learned nothing but says something."""
    torch.manual_seed(seed)
    net = BeliefNet(kind, 16, 2)
    for value in net.head.parameters():
        torch.nn.init.normal_(value, std=0.5)
    return NetworkPredictor(net, str(load_rules(rules)), 1.5)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_chances_are_chances_and_do_not_look_ahead(kind, rules):
    predictor = some_network(kind, rules)
    for observer in OBSERVERS:
        views = decisions(rules).views(observer)
        chances = ask_predictor(predictor, views)
        assert ((chances > 0) <= (views.grounded > 0)).all()
        assert np.abs(chances - views.grounded).max() > 0.02  # it does say something
        check_causal(predictor, views)


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_alone_and_in_a_batch_is_told_the_same(kind):
    predictor, views = some_network(kind, "weihai"), decisions("weihai").views("rebel")
    whole = ask_predictor(predictor, views)
    for row in range(0, len(views), 97):
        alone = ask_predictor(predictor, views.take([row]))[0]
        assert np.allclose(alone, whole[row], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_has_learned_nothing_says_what_is_grounded(kind):
    views = decisions("shiwei").views("emperor")
    predictor = NetworkPredictor(BeliefNet(kind, 16), "shiwei")
    assert np.allclose(predictor.predict(views), views.grounded, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_chances_do_not_depend_on_what_is_hidden(kind):
    rng, count = random.Random(3), Counter()
    for _ in range(60):
        small = with_small_deck(rng, TABLES["weihai"])
        chosen = [some_network(kind, str(engine_of(small).rules))]
        chances_in_two_worlds(rng, small, 2, count, chosen)
        if count["worlds"] > 30 and count["roles"] > 5:
            break
    else:
        pytest.fail(f"too few other worlds: {count}")


@pytest.mark.parametrize("kind", KINDS)
def test_seats_are_alike(kind):
    """With all seats turned by two, chances turn too: one network reads all subjects."""
    found = decisions("qingdao")
    views = found.views("spectator")
    predictor = some_network(kind, "qingdao")
    straight = predictor.predict(views)
    turned = views.take(np.arange(len(views)))
    turned.__dict__.pop("grounded", None)
    state, log = turned.state, views.log
    for name in ("sizes", "played", "said", "places", "added", "hands"):
        setattr(state, name, np.roll(getattr(state, name), 2, axis=1))
    for name in ("emperor", "crown", "first_holder", "start", "owner", "actor"):
        column = getattr(state, name)
        setattr(state, name, np.where(column >= 0, (column + 2) % 5, column))
    turned.log = PublicLog(np.where(log.seats >= 0, (log.seats + 2) % 5, -1), log.actions)
    said = predictor.predict(turned)
    assert np.allclose(said[:, :5], np.roll(straight[:, :5], 2, axis=1), atol=1e-4)
    assert np.allclose(said[:, ALONE], straight[:, ALONE], atol=1e-4)


def test_the_called_rank_and_the_own_cards_are_read():
    found = decisions("qingdao")
    views = found.views("rebel")
    emperor, dealt = hands_of(views)
    made = events(views.log, course_of(views.log, dealt, views.engine.rules), emperor)
    called, at = "called_rank", {name: i for i, name in enumerate(EVENT_FIELDS)}
    seen = set()
    for hand in np.unique(views.hand):
        expected = 0.0
        length = int((views.log.seats[hand] >= 0).sum())
        for k, move in enumerate(found.records[hand]["moves"][:length]):
            _, verb, *cards = move.split(" ")
            if verb == "call":
                expected = ("3456789TJQKA2BR".index(cards[0][0]) + 1) / 13
            assert np.allclose(made[hand, :, k, at[called]], expected)
        seen.add(expected)
        rows = np.flatnonzero(views.hand == hand)
        table = tables(views.take(rows))
        assert np.allclose(table[..., TABLE_FIELDS.index(called)], expected)
    assert len(seen) > 3
    view, row = views[5], tables(views.take([5]))[0, 0]
    for rank in "3456789TJQKA2":
        count = sum(card[0] == rank for card in view.hand)
        assert row[TABLE_FIELDS.index(f"own_{rank}")] == count / 4


def test_events_and_tables_by_hand():
    """Some moves of a record, read off its text."""
    found = decisions("weihai")
    views = found.views("rebel")
    emperor, dealt = hands_of(views)
    course = course_of(views.log, dealt, views.engine.rules)
    made = events(views.log, course, emperor)
    at = {name: i for i, name in enumerate(EVENT_FIELDS)}
    for hand in np.unique(views.hand)[:4]:
        king = emperor[hand]
        length = int((views.log.seats[hand] >= 0).sum())
        for k, move in enumerate(found.records[hand]["moves"][:length]):
            seat, verb, *cards = move.split(" ")
            seat = int(seat)
            for subject in range(5):
                row = made[hand, subject, k]
                distance = (seat - subject) % 5
                assert row[at[f"seat_is_subject_{distance}"]] == 1
                assert sum(row[at[f"seat_is_subject_{i}"]] for i in range(5)) == 1
                assert row[at[f"seat_is_emperor_{(seat - king) % 5}"]] == 1
                assert row[at["subject_is_emperor"]] == (subject == king)
                assert row[at["play"]] == (verb == "play")
                if verb == "play":
                    assert row[at["b"]] == sum(card[0] == "B" for card in cards)
                    assert row[at["r"]] == sum(card[0] == "R" for card in cards)
                elif verb != "call":
                    assert row[at[verb]] == 1
        assert not made[hand, :, length:].any()
    table = tables(views)
    prior = priors(views)
    seats = np.asarray(views.seats)
    row = np.arange(len(views))
    at = {name: i for i, name in enumerate(TABLE_FIELDS)}
    assert (table[row, seats, at["viewer_is_subject_0"]] == 1).all()
    assert (table[..., at["rebel"]] == 1).all()
    assert np.allclose(prior.sum(axis=1), 1, atol=1e-6)
    kings = views.state.emperor.astype(int)
    assert np.allclose(prior[row, kings], views.grounded[:, ALONE])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Hands of few cards of players who play for their camp."""
    naturals = [f"{rank}s" for rank in "789TJQKA" for _ in range(4)]
    deck = " ".join(["R*", "R", "R", "R", "B*", "B", "B", "B", *naturals])
    rules = str(load_rules(f"weihai;deck={deck}"))
    plan = Plan(rules, ("tactical",), calling="neutral", hands=400, seed=1)
    return make_data(plan, tmp_path_factory.mktemp("network") / "data")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kind", "epochs"), [("gru", 8), ("transformer", 3)])
def test_it_learns(kind, epochs, data):
    lines = []
    net, told = train_network(
        kind, [data], name="mine", seed=4, epochs=epochs, units=16, say=lines.append
    )
    assert len(lines) == epochs
    assert lines[0].startswith("epoch 1: dev log loss")
    assert told.startswith("280 hands, ")
    result = score_data([("mine", net)], data, "train", resamples=20)
    gains = [row["scores"]["gain"]["value"] for row in result["results"]]
    assert min(gains) > 0.005, gains


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_learns_the_same(kind, data):
    nets = [
        train_network(kind, [data], seed=seed, epochs=1, units=16, limit=40)[0]
        for seed in (4, 4, 5)
    ]
    same, again, other = (net.net.state_dict() for net in nets)
    assert all(torch.equal(value, again[key]) for key, value in same.items())
    assert (nets[0].temperatures == nets[1].temperatures).all()
    assert any(not torch.equal(value, other[key]) for key, value in same.items())


def test_calibration_finds_temperature_and_factor_of_nobody():
    """Labels drawn from honest chances; what is told of them is spread, and nobody doubled."""
    rng = np.random.default_rng(3)
    honest = rng.normal(0, 2, (40_000, 5))
    labels = (honest + rng.gumbel(size=honest.shape)).argmax(axis=1)
    alone = np.zeros(honest.shape, bool)
    alone[np.arange(len(alone)), rng.integers(5, size=len(alone))] = True
    temperature, factor = calibration(1.6 * honest + alone * np.log(2), labels, alone)
    assert temperature == pytest.approx(1.6, rel=0.04)
    assert factor == pytest.approx(0.5, rel=0.1)
    excluded = np.where(alone, -np.inf, honest)
    labels = (excluded + rng.gumbel(size=honest.shape)).argmax(axis=1)
    temperature, factor = calibration(2 * excluded, labels, alone)
    assert temperature == pytest.approx(2, rel=0.04)
    assert factor == 1


def test_the_factor_of_nobody_is_his_alone():
    views = decisions("weihai").views("spectator")
    net, rules = some_network("gru", "weihai").net, str(load_rules("weihai"))
    said = [NetworkPredictor(net, rules, nobody=factor).predict(views) for factor in (1, 3)]
    odds = [p[:, ALONE] / (1 - p[:, ALONE]) for p in said]
    assert (odds[0] > 0).any()
    np.testing.assert_allclose(odds[1], 3 * odds[0], rtol=1e-6)


# --- folders ----------------------------------------------------------------------------------


@pytest.fixture(params=KINDS)
def folder(request, tmp_path):
    card, arrays = some_network(request.param, "weihai").card({"seed": 0})
    return write_folder(tmp_path / "net", card, arrays)


def test_saved_and_loaded_it_says_the_same(folder):
    views = decisions("weihai").views("spectator")
    loaded = load_predictor(folder, "weihai")
    same = some_network(loaded.name, "weihai").predict(views)
    told = json.loads((folder / "belief.json").read_text("utf-8"))
    assert loaded.weights_sha256 == told["weights_sha256"]
    assert (loaded.predict(views) == same).all()
    with pytest.raises(BeliefError, match="needed are 'qingdao'"):
        load_predictor(folder, "qingdao")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"units": 24, "layers": 2, "temperature": 1}, "no weights of this network"),
        ({"units": "16", "layers": 2, "temperature": 1}, "no settings of a network"),
        ({"units": 10**9, "layers": 2, "temperature": 1}, "no settings of a network"),
        ({"units": 16, "layers": 0, "temperature": 1}, "no settings of a network"),
        ({"units": 16, "layers": 2, "temperature": 0}, "no settings of a network"),
        ({"units": 16, "layers": 2, "temperature": [1, 2]}, "no settings of a network"),
        ({"units": 16, "layers": 2, "temperature": 1, "nobody": 0}, "no settings of a network"),
        ({}, "no settings of a network"),
    ],
)
def test_settings_that_do_not_fit_are_refused(folder, settings, why):
    path = folder / "belief.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": settings}))
    with pytest.raises(BeliefError, match=why):
        load_predictor(folder)
