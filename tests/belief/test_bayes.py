"""Naive Bayes: its counts against a plain loop, what it learns, and its folder."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, load_predictor
from lupai.agents.belief.features import (
    CONTEXTS,
    RESPONSES,
    context_names,
    response_names,
)
from lupai.agents.belief.files import write_folder
from lupai.agents.belief.naive_bayes import ROLES, NaiveBayes, ratios, reweigh
from lupai.envs.baohuang.sets import parse_set
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.train.belief.bayes import count_moves, fit_weights, lowest
from tests.belief.hands import RULES, decisions, some_bayes


def named(rules):
    """Feature of each hidden decision in words, by reading the table and the move's text."""
    found = decisions(rules)
    sizes = ("1 card", "2 cards", "3 cards or more")
    for row in range(len(found)):
        state, record = found.state.take([row]), found.records[found.hand[row]]
        emperor, number = int(state.emperor[0]), int(state.moves[0])
        seat, _, move = record["moves"][number].partition(" ")
        seat = int(seat)
        earlier = record["moves"][:number]
        verb = move.split(" ")[0]
        if verb == "play":
            cards = move.split(" ")[1:]
            plain = [card for card in cards if card[0] not in "BR"]
            response = sizes[min(len(cards), 3) - 1]
            response += " with jokers" * (len(plain) < len(cards))
            if any("*" in card for card in cards):
                response = "the identity card"
        else:
            response = "call" if verb == "call" else verb
        if state.phase[0] != PHASE_PLAY:
            said = sum(m.startswith(f"{seat} ") for m in earlier)
            context = f"before play, answer {min(said, 5) + 1}"
        elif state.standing[0] < 0:
            near = "comes next" if (seat + 1) % 5 == emperor else "comes later"
            few = "few" if state.sizes[0, emperor] <= 5 else "many"
            context = f"lead, the emperor {near}, he has {few} cards"
        else:
            owner = int(state.owner[0])
            standing = parse_set(found.engine.move_text(state, 0, int(state.standing[0]))[5:])
            if standing.size > standing.n:
                height = "with jokers"
            else:
                height = ("up to 10", "J to A", "2")[(standing.rank > 7) + (standing.rank > 11)]
            whose = "another's set"
            if owner == emperor:
                whose = "the emperor's set"
            elif owner in foes_of(found, record, emperor, number):
                whose = "a set of who beat him before"
            size = sizes[min(standing.size, 3) - 1]
            context = f"{whose}, {height}, {size}, circle {state.circle[0]}"
        if seat == emperor:
            role = "emperor_alone" if found.label[row] == 5 else "emperor"
        else:
            role = "guard" if seat == found.label[row] else "rebel"
        yield role, context, response


def foes_of(found, record, emperor, number):
    """Who has played a set on the emperor's before move ``number``."""
    foes, owner = set(), None
    for k, move in enumerate(record["moves"][:number]):
        seat, verb = move.split(" ")[:2]
        if verb == "play":
            if owner == emperor and int(seat) != emperor and k not in leads_of(found, record):
                foes.add(int(seat))
            owner = int(seat)
    return foes


LEADS: dict[str, set[int]] = {}


def leads_of(found, record):
    from lupai.envs.records import replay

    key = json.dumps(record["moves"])
    if key not in LEADS:
        states = replay(record, found.engine)
        LEADS[key] = {k for k, state in enumerate(states) if state.standing[0] < 0}
    return LEADS[key]


@pytest.mark.parametrize("rules", RULES)
def test_counts_are_those_of_reading_the_hands(rules):
    contexts, responses = context_names(), response_names()
    assert (len(set(contexts)), len(set(responses))) == (CONTEXTS, RESPONSES)
    expected = np.zeros((len(ROLES), CONTEXTS, RESPONSES))
    for role, context, response in named(rules):
        expected[ROLES.index(role), contexts.index(context), responses.index(response)] += 1
    assert (count_moves(decisions(rules)) == expected).all()


def test_evidence_adds_up_move_by_move():
    found, bayes = decisions("weihai"), some_bayes("weihai")
    views = found.views("spectator")
    evidence = bayes.evidence(views)
    contexts, responses = context_names(), response_names()
    table = ratios(bayes.counts).reshape(2, CONTEXTS, RESPONSES)
    sums, hand = np.zeros(6), -1
    for row, (_, context, response) in enumerate(named("weihai")):
        if found.hand[row] != hand:
            hand, sums = found.hand[row], evidence[row].copy()  # what was said before it was hidden
        assert np.allclose(evidence[row], sums, atol=1e-9)
        seat, king = int(found.state.actor[row]), int(found.state.emperor[row])
        told = table[int(seat == king), contexts.index(context), responses.index(response)]
        sums[5 if seat == king else seat] += told


def test_without_counts_it_is_grounded():
    views = decisions("qingdao").views("rebel")
    none = NaiveBayes("qingdao", np.zeros((len(ROLES), CONTEXTS, RESPONSES)))
    assert np.allclose(none.predict(views), views.grounded, atol=1e-12)


def test_reweigh():
    prior = np.array([[0.5, 0.25, 0.25, 0, 0, 0]])
    told = reweigh(prior, np.array([[0, math.log(4), 0, 50, 0, -700.0]]))
    assert np.allclose(told, [[2 / 7, 4 / 7, 1 / 7, 0, 0, 0]])


def test_ratios_are_those_of_smoothed_shares():
    counts = np.zeros((len(ROLES), CONTEXTS, RESPONSES))
    counts[0, 3, 7], counts[0, 3, 8], counts[1, 3, 7] = 30, 10, 20
    told = ratios(counts, smoothing=10.0).reshape(2, CONTEXTS, RESPONSES)
    both = [51, 11, *[1] * (RESPONSES - 2)]
    prior = [10 * b / sum(both) for b in both]
    rebel, guard = (30 + prior[0]) / 50, (20 + prior[0]) / 30
    assert told[0, 3, 7] == pytest.approx(math.log(guard / rebel))
    assert not told[0, 4].any()
    assert not told[1].any()


def test_the_strongest_moves_in_words():
    counts = np.zeros((len(ROLES), CONTEXTS, RESPONSES))
    context = context_names().index("the emperor's set, up to 10, 1 card, circle 1")
    counts[0, context, :4] = [10, 80, 5, 5]
    counts[1, context, :4] = [90, 2, 4, 4]
    told = NaiveBayes("qingdao", counts).strongest(2)
    assert [(c, r, n) for c, r, _, n in told] == [
        ("the emperor's set, up to 10, 1 card, circle 1", "yield", 82),
        ("the emperor's set, up to 10, 1 card, circle 1", "pass", 100),
    ]
    assert told[0][2] < 0 < told[1][2]


def test_weights_are_those_of_the_least_loss():
    """Of chances that are right once the logarithms of prior and evidence are weighed so."""
    rng = np.random.default_rng(0)
    prior, says = rng.dirichlet(np.ones(6), 20_000), rng.normal(0, 2, (20_000, 6))
    true = reweigh(prior, 1.4 / 0.5 * says, 1 / 0.5)
    assert np.allclose(true, reweigh(prior**0.5, 1.4 * says))
    label = (true.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    of_prior, of_evidence = fit_weights(prior, says, label[:, None], 20_000)
    assert of_prior == pytest.approx(0.5, abs=0.03)
    assert of_evidence == pytest.approx(1.4, abs=0.05)


def test_few_hands_do_not_move_the_weight_of_the_prior_far():
    rng = np.random.default_rng(0)
    prior, says = rng.dirichlet(np.ones(6), 300), np.zeros((300, 6))
    label = prior.argmax(axis=1)[:, None]  # as if it should be trusted without limit
    few, many = (fit_weights(prior, says, label, hands)[0] for hands in (1, 10_000))
    assert 1 < few < 2 < many


def test_what_is_saved_has_the_temperature(folder):
    card, arrays = some_bayes("shiwei").card({})
    cool = NaiveBayes("shiwei", arrays["counts"], 0.3, temperatures=[2.0, 3.0, 4.0])
    views = decisions("shiwei").views("rebel")
    loaded = load_predictor(write_folder(folder, *cool.card({})))
    assert (loaded.predict(views) == cool.predict(views)).all()
    assert loaded.temperatures.tolist() == [2, 3, 4]
    squared = loaded.predict(views) ** 2
    warm = load_predictor(write_folder(folder, card, arrays)).predict(views)
    assert np.allclose(squared / squared.sum(axis=1, keepdims=True), warm)
    path = folder / "belief.json"  # of before there was one
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": {"exponent": 0.3}}))
    assert (load_predictor(folder).predict(views) == warm).all()


def test_lowest_finds_the_ends_too():
    assert lowest(lambda x: x, 0, 2) == pytest.approx(0, abs=1e-5)
    assert lowest(lambda x: -x, 0, 2) == pytest.approx(2, abs=1e-5)


# --- its folder -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    card, arrays = some_bayes("shiwei").card({"seed": 3})
    return write_folder(tmp_path / "bayes", card, arrays)


def test_saved_and_loaded_it_says_the_same(folder):
    views = decisions("shiwei").views("emperor")
    loaded = load_predictor(folder, "shiwei")
    assert loaded.name == "naive_bayes"
    assert (loaded.predict(views) == some_bayes("shiwei").predict(views)).all()
    assert (load_predictor(folder / "belief.json").predict(views) == loaded.predict(views)).all()


def test_another_predictor_takes_its_place_and_nothing_else_is_replaced(folder):
    card, arrays = some_bayes("shiwei", 1).card({})
    write_folder(folder, card, arrays)
    assert sorted(p.name for p in folder.parent.iterdir()) == ["bayes"]
    other = folder.parent / "notes"
    other.mkdir()
    with pytest.raises(BeliefError, match="holds no predictor"):
        write_folder(other, card, arrays)


def test_other_rules_are_refused(folder):
    with pytest.raises(BeliefError, match="trained under rules 'shiwei', needed are 'qingdao'"):
        load_predictor(folder, "qingdao")
    with pytest.raises(BeliefError, match="trained under rules 'shiwei'"):
        load_predictor(folder).predict(decisions("qingdao").views("rebel"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "lupai-belief/9"}, "format 'lupai-belief/9' is not known"),
        ({"kind": "oracle"}, "kind 'oracle' is none of"),
        ({"rules": 3}, "'rules' is 3; it should be a text"),
        ({"settings": []}, "'settings' is .*; it should be an object"),
        ({"action_layout": "00"}, "of another version of lupai"),
        ({"inputs": "00"}, "made for inputs 00"),
        ({"weights_sha256": "00"}, "with SHA-256 .* the file is damaged"),
        (
            {"settings": {}},
            "bayes: exponent is None; it should be a number, or one for each",
        ),
        ({"settings": {"exponent": "1"}}, "exponent is '1'"),
        ({"settings": {"exponent": [1, 1]}}, r"exponent is \[1, 1\]"),
        ({"settings": {"exponent": 1, "temperature": [1, 0, 1]}}, r"temperature is \[1, 0, 1\]"),
    ],
)
def test_altered_cards_are_refused(folder, change, why):
    path = folder / "belief.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BeliefError, match=why):
        load_predictor(folder, None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_cards_that_are_none_are_refused(folder, content):
    (folder / "belief.json").write_bytes(content)
    with pytest.raises(BeliefError):
        load_predictor(folder)


def test_weights_that_run_code_are_not_read(folder):
    """A pickle in the weights, with the right hash, is refused unread."""
    import hashlib

    evil = np.empty(1, object)
    evil[0] = {"x": 1}
    np.savez(folder / "weights.npz", counts=evil)
    path = folder / "belief.json"
    digest = hashlib.sha256((folder / "weights.npz").read_bytes()).hexdigest()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weights_sha256": digest}))
    with pytest.raises(BeliefError, match="no arrays"):
        load_predictor(folder)
    (folder / "weights.npz").unlink()
    with pytest.raises(BeliefError, match="cannot be read"):
        load_predictor(folder)
