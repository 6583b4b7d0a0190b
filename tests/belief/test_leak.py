"""What moves tell of the guard: beside loops in plain Python, and on players who tell or do not."""

from dataclasses import replace

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, load_predictor
from lupai.agents.belief.features import (
    CONTEXTS,
    MOVE_KINDS,
    RESPONSES,
    context_names,
    move_kinds,
    response_names,
)
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.game import make_game
from lupai.train.belief.bayes import fit_naive_bayes
from lupai.train.belief.data import make_data
from lupai.train.belief.decisions import OBSERVERS, decisions_of
from lupai.train.belief.leak import KINDS, MOVERS, SHOWS, leak_data, leaks_of, summary
from lupai.train.belief.playing import Plan, Population
from lupai.train.belief.scores import FLOOR
from tests.belief.hands import decisions, some_bayes

GUARD, REBEL, EMPEROR = range(3)


def asked(rules, observer):
    found = decisions(rules)
    views = found.views(observer)
    chances = some_bayes(rules).predict(views)
    return found, chances, views.grounded, leaks_of(found, observer, chances, views.grounded)


@pytest.mark.parametrize("observer", OBSERVERS)
@pytest.mark.parametrize("rules", ["qingdao", "weihai"])
def test_each_move_is_what_a_loop_finds(rules, observer):
    found, said, known, leaks = asked(rules, observer)
    chances, grounded = (np.maximum(c, FLOOR) for c in (said, known))
    rows = found.rows(observer)
    at = 0
    for i, d in enumerate(rows):
        guard, mover, king = found.label[d], found.state.actor[d], found.state.emperor[d]
        own = {"rebel": found.rebel[found.hand[d]], "emperor": king}.get(observer)
        ends = i + 1 == len(rows) or found.hand[rows[i + 1]] != found.hand[d]
        shows = ends and found.ends_public[found.hand[d]]
        if guard == 5 or mover == own or (ends and not shows):
            continue
        assert leaks.hand[at] == found.hand[d]
        role = EMPEROR if mover == king else GUARD if mover == guard else REBEL
        assert leaks.mover[at] == role
        assert (leaks.kind[at] == SHOWS) == shows
        if shows:
            assert leaks.change[at] == pytest.approx(-np.log(chances[i, guard]))
            assert not leaks.leak[at]
            assert not leaks.control[at].any()
            assert not leaks.weight[at].any()
        else:
            told = [
                np.log(chances[i + 1, c] / chances[i, c] * grounded[i, c] / grounded[i + 1, c])
                if known[i + 1, c] > 0 else 0.0
                for c in range(5)
            ]  # fmt: skip
            change = np.log(chances[i + 1, guard] / chances[i, guard])
            assert leaks.change[at] == pytest.approx(change)
            assert leaks.leak[at] == pytest.approx(told[guard], abs=1e-9)
            if found.number[d] % 7 == 0:  # who is guard is redrawn
                sums, weights = np.zeros(3), np.zeros(3)
                for c in range(5):
                    then = EMPEROR if mover == king else GUARD if mover == c else REBEL
                    weight = known[i + 1, c] / known[i + 1, :5].sum()
                    sums[then] += weight * told[c]
                    weights[then] += weight
                np.testing.assert_allclose(leaks.control[at], sums, atol=1e-9)
                np.testing.assert_allclose(leaks.weight[at], weights, atol=1e-9)
        at += 1
    assert at == len(leaks) > 100


def test_moves_of_all_sum_up_to_the_change_over_the_hand():
    found, chances, _, leaks = asked("shiwei", "spectator")
    chances = np.maximum(chances, FLOOR)
    for hand in np.unique(leaks.hand):
        rows = np.flatnonzero(found.hand == hand)
        first, last = chances[rows[[0, -1]], found.label[rows[0]]]
        mine = (leaks.hand == hand) & (leaks.kind != SHOWS)
        assert leaks.change[mine].sum() == pytest.approx(np.log(last / first))


def test_rows_are_means_of_moves():
    *_, leaks = asked("weihai", "rebel")
    told = summary(leaks, 1, 50)
    rows = {(r["mover"], r["kind"], tuple(r["tricks"] or ())): r for r in told["rows"]}
    assert told["hands"] == len(np.unique(leaks.hand))
    hides = leaks.kind != SHOWS
    for number, mover in enumerate(MOVERS):
        his = leaks.mover == number
        total = rows[mover, None, ()]
        assert total["moves"] == (his & hides).sum()
        assert total["leak"]["value"] == pytest.approx(leaks.leak[his & hides].mean())
        assert total["per_hand"]["value"] * told["hands"] == pytest.approx(leaks.leak[his].sum())
        kinds = [r for k, r in rows.items() if k[0] == mover and k[1] not in (None, KINDS[SHOWS])]
        assert sum(r["moves"] for r in kinds) == total["moves"]
        tricks = [r for k, r in rows.items() if k[0] == mover and k[2]]
        assert sum(r["moves"] for r in tricks) == total["moves"]
        part = leaks.control[hides, number].sum() / leaks.weight[hides, number].sum()
        assert total["control"]["value"] == pytest.approx(part)
    shown = rows["guard", KINDS[SHOWS], ()]
    at = (leaks.kind == SHOWS) & (leaks.mover == GUARD)
    assert shown["change"]["value"] == pytest.approx(leaks.change[at].mean())
    assert "leak" not in shown
    assert told == summary(leaks, 1, 50)


def test_kinds_say_what_features_say():
    contexts, responses = context_names(), response_names()
    which = np.arange(CONTEXTS * RESPONSES)
    kinds = move_kinds(which)
    for number, kind in zip(which.tolist(), kinds.tolist(), strict=True):
        context, response = contexts[number // RESPONSES], responses[number % RESPONSES]
        name = MOVE_KINDS[kind]
        if context.startswith("before play"):
            assert name == "before play"
        elif response == "claim" and not context.startswith("lead"):
            assert name == "claims the lead"
        elif context.startswith("lead"):
            assert name == "leads" + " with jokers" * response.endswith(" with jokers")
        else:
            owner = context.partition(",")[0]
            words = name.replace(owner, "{}")
            if response in ("pass", "yield"):
                assert words == "passes over {}"
            else:
                assert words == "beats {}" + " with jokers" * response.endswith(" with jokers")
    assert move_kinds(np.array([-1])).tolist() == [-1]


# --- players ------------------------------------------------------------------------------------


def excess(rules, players, predictor, hands):
    """Mean and standard error over hands of what guards' moves tell, less its control."""
    plan = Plan(str(load_rules(rules)), players, calling="neutral", hands=hands, seed=3)
    found = decisions_of(make_game("baohuang", rules), list(Population(plan).play(0)))
    views = found.views("spectator")
    leaks = leaks_of(found, "spectator", predictor.predict(views), views.grounded)
    his = leaks.leak * (leaks.mover == GUARD) - leaks.control[:, GUARD]
    each = np.bincount(leaks.hand, his)[np.unique(leaks.hand)]
    return each.mean(), each.std() / np.sqrt(len(each))


@pytest.mark.parametrize("seed", [0, 1])
def test_players_who_ignore_roles_tell_nothing_whatever_is_read_into_their_moves(seed):
    """The predictor takes all kinds of moves for signs, and is wrong."""
    predictor = some_bayes("weihai", seed)
    mean, error = excess("weihai", ("random",), predictor, 120)
    assert abs(mean) < 3 * error
    assert 0 < error < 0.5


@pytest.fixture(scope="module")
def faithful(tmp_path_factory):
    players = ("tests.belief.telling:Faithful",)
    plan = Plan("weihai", players, calling="neutral", hands=110, seed=4)
    return make_data(plan, tmp_path_factory.mktemp("leak") / "data")


def rows_of(result, observer="spectator", mover="guard"):
    (found,) = [row for row in result["results"] if row["observer"] == observer]
    return {row["kind"]: row for row in found["rows"]
            if row["mover"] == mover and row["tricks"] is None}  # fmt: skip


def test_who_always_spares_the_emperor_is_found_out(faithful):
    bayes = fit_naive_bayes([faithful])
    rows = rows_of(leak_data([("bayes", bayes)], faithful, "train", resamples=200))
    total, passes = rows[None], rows["passes over the emperor's set"]
    assert total["per_hand"]["low"] > 0.3  # nats
    assert total["leak"]["low"] > total["control"]["high"]
    assert passes["leak"]["low"] > 0
    assert passes["leak"]["value"] > 2 * total["leak"]["value"]


def test_nothing_is_told_to_who_learned_from_redrawn_roles(faithful):
    control = fit_naive_bayes([faithful], redraw=1)
    assert control.counts.sum() == fit_naive_bayes([faithful]).counts.sum()
    assert (control.counts != fit_naive_bayes([faithful], redraw=2).counts).any()
    result = leak_data([("control", control)], faithful, "train", resamples=50)
    for mover in MOVERS:
        total = rows_of(result, mover=mover)[None]
        assert abs(total["per_hand"]["value"]) < 0.15  # nats; from true roles it is more than 0.3
        assert abs(total["control"]["value"]) < 0.005


def test_who_shows_himself_tells_all_that_is_left(tmp_path):
    plan = Plan("qingdao", ("tests.belief.telling:Open",), hands=12, seed=1)
    data = make_data(plan, tmp_path / "data")
    uniform = load_predictor("uniform")
    rows = rows_of(leak_data([("uniform", uniform)], data, "train", resamples=50))
    shows = rows["shows the role"]
    assert shows["moves"] >= 3
    for name in ("value", "low", "high"):
        assert shows["change"][name] == pytest.approx(np.log(5))  # four seats and nobody


def test_hands_without_a_guard_are_refused(faithful):
    with pytest.raises(BeliefError, match="no hand of split 'dev' has a guard"):
        leak_data([("grounded", load_predictor("grounded"))], faithful, "dev", limit=0)


def test_one_observers_answers_do_not_depend_on_the_hands_beside_it():
    found, chances, grounded, leaks = asked("qingdao", "spectator")
    one = decisions_of(found.engine, found.records[1:2])
    views = one.views("spectator")
    alone = leaks_of(one, "spectator", some_bayes("qingdao").predict(views), views.grounded, 1)
    mine = leaks.hand == 1
    for name in leaks.__dataclass_fields__:
        np.testing.assert_allclose(getattr(alone, name), getattr(leaks, name)[mine], atol=1e-9)
    assert len(replace(alone, hand=alone.hand)) == mine.sum() > 0
    assert chances.shape == grounded.shape
