"""Rewards: what every seat is paid sums to its score, whatever the kind, the rules and the play."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.scoring import SOLO_VALUE
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.train.config import ConfigError, load_config
from lupai.train.games.baohuang import placement_credit, potential
from lupai.train.rewards import Rewards, coefficient
from lupai.train.sampling.payroll import Payroll
from lupai.train.sampling.tables import Tables
from tests.train.paying import check_payment, check_telescoping, mover, paid

pytestmark = pytest.mark.train

RULES = [
    "qingdao",
    "shiwei",
    "weihai",
    "qingdao;end=camp_out",
    "qingdao;end=decided",
    "shiwei;end=last_player",
    "weihai;end=last_player",
    "weihai;abandon_penalty=40",
]
KINDS = ["score", "placement", "potential"]


@pytest.mark.parametrize("play", ["random", "greedy"])
@pytest.mark.parametrize("rules", RULES)
def test_every_seat_is_paid_its_score(rules, play):
    done, scores = paid(rules, KINDS, play)
    assert len(scores) > 15
    assert not any(some.sum() for some in scores.values())
    check_payment(done, scores, seats=5, least=15)


@pytest.mark.parametrize("play", ["random", "greedy"])
@pytest.mark.parametrize("rules", RULES)
def test_places_are_paid_when_they_are_taken(rules, play):
    """Credit against a plain reading of the rules, place by place."""
    engine = Engine(rules)
    state = engine.reset(np.arange(100))
    move = mover(play, engine)
    credit = placement_credit(state, engine.rules)
    assert not credit.any()
    seen, steps = defaultdict(int), 0
    while not state.over.all():
        tables = np.flatnonzero(~state.over)
        part = state.take(tables)
        places = state.places.copy()
        engine.step(state, move(part, engine.legal(part)), tables)
        now = placement_credit(state, engine.rules)
        gained, credit = now - credit, now
        assert not gained[~(state.places != places).any(axis=1) & ~state.over].any()
        for table in np.flatnonzero((state.places != places).any(axis=1) & ~state.over):
            (seat,) = np.flatnonzero(state.places[table] != places[table])
            assert gained[table].tolist() == plain(state, table, int(seat), engine.rules)
            seen["alone" if state.guard[table] < 0 else "pair"] += 1
        steps += 1
    assert (credit == engine.scores(state)).all()
    assert seen["alone"] + seen["pair"] > 100
    assert seen["pair"] > 50 or play == "random"


def plain(state, table, seat, rules):
    """Points of all seats for the place that ``seat`` has just taken."""
    emperor, guard = int(state.emperor[table]), int(state.guard[table])
    m, place = int(state.multiplier[table]), int(state.places[table, seat])
    value = (3 - place) * m
    if guard < 0:
        if seat != emperor:
            return [0] * 5
        alone = int(SOLO_VALUE[rules.roles_by][state.solo[table], place]) * m
        return [alone if s == emperor else -alone // 4 for s in range(5)]
    if seat in (emperor, guard):
        share = (value * 3 // 2,) * 2 if m >= 4 else (2 * value, value)
        return [share[0] if s == emperor else share[1] if s == guard else 0 for s in range(5)]
    return [0 if s in (emperor, guard) else value for s in range(5)]


@pytest.mark.parametrize("rules", ["qingdao", "shiwei", "weihai"])
def test_the_potential_is_zero_sum_bounded_and_over_with_the_hand(rules):
    engine = Engine(rules)
    state = engine.reset(np.arange(60))
    move = mover("greedy", engine)
    largest = 0.0
    while not state.over.all():
        tables = np.flatnonzero(~state.over)
        part = state.take(tables)
        engine.step(state, move(part, engine.legal(part)), tables)
        phi = potential(state, engine.rules)
        assert not phi[state.phase != PHASE_PLAY].any()
        assert np.abs(phi.sum(axis=1)).max() < 1e-9
        alone = (state.guard < 0)[:, None]
        limit = np.where(alone, 40, 6 * 1.0) * state.multiplier[:, None]
        assert (np.abs(phi) <= limit + 1e-9).all()
        largest = max(largest, float(np.abs(phi).max()))
    assert largest > 3


def chances(sizes, seat):
    """Chances of a seat's places 1 … 5, by going through all orders."""
    out = np.zeros(5)
    for order in itertools.permutations(range(5)):
        p, left = 1.0, list(order)
        for who in order:
            p *= (1 / sizes[who]) / sum(1 / sizes[s] for s in left)
            left.remove(who)
        out[order.index(seat)] += p
    return out


@pytest.mark.parametrize("solo", [False, True])
def test_the_potential_is_the_expected_score_over_all_orders(solo):
    engine = Engine("weihai")
    state = engine.reset([1])
    sizes = np.array([7, 2, 11, 1, 30])
    state.phase, state.emperor, state.multiplier = PHASE_PLAY, 2, 2
    state.sizes[0] = sizes
    state.solo, state.guard = (3, -1) if solo else (0, 4)
    table = SOLO_VALUE["marks"][3, 1:] if solo else 3 - np.arange(1, 6)
    expected = 2 * chances(sizes, 2) @ table
    if solo:
        due = [-expected / 4] * 2 + [expected] + [-expected / 4] * 2
    else:
        camp = expected + 2 * chances(sizes, 4) @ table
        due = [-camp, -camp, 2 * camp, -camp, camp]
    assert potential(state, engine.rules)[0] == pytest.approx(due)


def test_the_potential_counts_who_is_out_at_his_place():
    engine = Engine("qingdao")
    state = engine.reset([1])
    state.phase, state.emperor, state.guard = PHASE_PLAY, 0, 1
    state.sizes[0] = [0, 5, 5, 5, 0]
    state.places[0] = [2, 0, 0, 0, 1]
    # v = 1 for the emperor; the guard is 3rd, 4th or 5th with the same chance, v = -1.
    assert potential(state, engine.rules)[0] == pytest.approx(np.zeros(5))
    state.guard, state.solo = -1, 1  # alone, second: all is lost
    assert potential(state, engine.rules)[0] == pytest.approx([-40, 10, 10, 10, 10])


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_shaping_telescopes_under_a_discount(gamma):
    (done,), scores = paid("qingdao", ["potential"], "greedy", gamma=gamma)
    check_telescoping(done, scores, gamma)


def test_no_shaping_is_left_at_coefficient_0():
    (shaped, plainly), _ = paid("weihai", ["potential", "score"], "greedy", c=0.0)
    for key, (rewards, _) in shaped.items():
        assert (rewards == plainly[key][0]).all()


def test_the_coefficient_falls_linearly_to_zero():
    assert [coefficient(0.8, 1000, steps) for steps in (0, 250, 1000, 5000)] == pytest.approx(
        [0.8, 0.6, 0, 0]
    )


def test_play_and_observations_do_not_depend_on_the_kind():
    """The engine never hears of rewards, and neither does anything a seat sees."""
    seen = []
    for kind in KINDS:
        tables = Tables("qingdao", "idle", [3], 8)
        payroll = Payroll(Rewards(tables.engine.rules, kind, coefficient=1.0), 8)
        move = mover("random", tables.engine)
        shown = b""
        for _ in range(150):
            payroll.columns(tables.waiting, tables.seats, tables.rows)
            observation, legal = tables.observe()
            shown += observation.tobytes() + legal.tobytes() + tables.seats.tobytes()
            for end in tables.step(move(tables.state, tables.legal)):
                payroll.close(end.table, 0, end.scores)
        seen.append(shown)
    assert seen[0] == seen[1] == seen[2]


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="score, placement, potential"):
        Rewards(Engine().rules, "money")
    with pytest.raises(ConfigError, match=r"reward\.kind"):
        load_config("qingdao_quick", ["reward.kind=money"])
    assert load_config("qingdao_quick", ["reward.kind=placement"]).reward.scale == 0.1
