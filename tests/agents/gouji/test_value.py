"""The value network of Gouji: inputs and scores against brute force, symmetry, and whether it knows
more of hands than their sizes do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lupai.agents.gouji import GreedyAgent, TacticalAgent
from lupai.agents.gouji import value as values
from lupai.agents.gouji.value import expected_scores, features
from lupai.agents.search.judge import Judge
from lupai.agents.search.network import load_value
from lupai.agents.search.options import Options
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.orders import SEATS, pack, unpack
from lupai.envs.gouji.rules import load_rules
from lupai.envs.gouji.sets import GOUJI_FROM, PARTS, GoujiSet, beats
from lupai.envs.gouji.state import Phase, State
from lupai.envs.seats import NOBODY
from tests.agents.gouji.tables import table

BITS = ("passed", "headless", "alive", "revolts")
WHO = ("actor", "owner", "duty", "burned", "start", "first_leader", "revolter")


def tables(count, seed=0, most=200, rules="shandong"):
    """Tables in play, each after a number of moves of ``greedy``, one in five at random."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(np.arange(count) + 10_000 * seed)
    stop, agent = rng.integers(0, most, count), GreedyAgent()
    while (rows := np.flatnonzero(~state.over & (state.moves < stop))).size:
        legal = engine.legal(state, rows)
        moves = agent.choose(engine, state, legal, rows, rows)
        drawn = legal.pick(rng.random(len(rows)))
        engine.step(state, np.where(rng.random(len(rows)) < 0.2, drawn, moves), rows)
    return engine, state.take(np.flatnonzero(state.phase == Phase.PLAY))


def revolted(count):
    """The same, all with a revolter."""
    engine, state = tables(20 * count, seed=7, most=60)
    free = (state.places == 0).all(axis=1) & (state.actor != 2) & (state.owner != 2)
    state = state.take(np.flatnonzero(free & (state.standing == NOBODY)))
    state.revolter, state.deaths = 2, 3
    state.places[:, 2] = 4
    state.alive &= ~(1 << 2)
    return engine, state.take(np.arange(min(count, len(state))))


# --- the inputs ----------------------------------------------------------------------------------


def answers_by_hand(ranks, standing):
    """Whether a hand beats a set with naturals of one rank, with 2s too, with jokers too: by
    trying every set that it holds."""
    *own, small, big = (int(x) for x in ranks)
    found = [False] * 3
    for rank in range(12):
        for n, t, b, r in itertools.product(
            range(own[rank] + 1), range(own[12] + 1), range(small + 1), range(big + 1)
        ):
            if n + t + b + r != GoujiSet.at(standing).size:
                continue
            row = rank if n else 12 if t else 13
            if beats(standing, GoujiSet(row, n, t, b, r).place):
                found[2] |= b + r > 0
                found[1] |= b + r == 0
                found[0] |= b + r == 0 and not (n and t)
    return found


def reach_by_hand(ranks, above):
    """Cards of the largest set over a rank that a hand can make."""
    own = [int(x) for x in ranks]
    jokers = own[13] + own[14]
    with_twos = [own[rank] + own[12] for rank in range(above + 1, 12) if own[rank]]
    return jokers + max([*with_twos, own[12] if above < 12 else 0])


def features_by_hand(state, t):
    """The inputs of one table, as `OF_SEAT` and `OF_TABLE` say."""
    out, actor = [], int(state.actor[t])
    standing = int(state.standing[t])
    there = standing != NOBODY
    bit = lambda mask, seat: int(mask) >> seat & 1  # noqa: E731
    for seat in [(actor + j) % SEATS for j in range(SEATS)]:
        held = [int(n) for n in state.ranks[t, seat]]
        out += [n / 4 for n in held]
        own = held[:13]
        out += [n >= least for least in (1, 2, 3, 4) for n in own]
        foes = [(seat + d) % SEATS for d in (1, 3, 5)]
        leads = []
        for against, reach in itertools.product((False, True), ([(seat + 3) % SEATS], foes)):
            most = [
                max(
                    reach_by_hand(state.ranks[t, o], rank)
                    if against
                    else max((int(n) for n in state.ranks[t, o, rank + 1 : 13]), default=0)
                    for o in reach
                )
                for rank in range(13)
            ]
            leads.append([n - m for n, m in zip(own, most, strict=True)])
        for lead in leads:
            out += [(more if n else 0) / 4 for n, more in zip(own, lead, strict=True)]
        for lead in leads[:2]:
            out += [n > 0 and more > 0 for n, more in zip(own, lead, strict=True)]
        out += [sum(n > 0 for n in own) / 8]
        for lead in leads:
            out += [sum(n > 0 >= more for n, more in zip(own, lead, strict=True)) / 8]
        out += [own[rank] >= GOUJI_FROM[rank] for rank in range(7, 13)]
        out += answers_by_hand(held, standing) if there else [False] * 3
        out += [held[13] + held[14] >= sum(n > 0 for n in own[:12]) - 1]
        size = int(state.sizes[t, seat])
        out += [size / 36, size <= 2, size <= 5, size <= 10, bit(state.alive[t], seat)]
        out += [state.places[t, seat] == place for place in range(1, 7)]
        out += [bit(state.passed[t], seat), seat in unpack(int(state.queue[t]))]
        out += [bit(state.headless[t], seat)]
        out += [getattr(state, who)[t] == seat for who in ("owner", "duty", "burned", "revolter")]
    row, n, twos, small, big = PARTS[standing].tolist() if there else (14, 0, 0, 0, 0)
    out += [row == i for i in range(15)] + [(n + twos) / 4, small / 4, big / 4]
    out += [there and state.kind[t] == kind for kind in range(3)]
    out += [state.burning[t], state.bottom[t] == 1, state.bottom[t] == 2, state.yielded[t]]
    return [*map(float, out), state.melee[t], state.deaths[t] / 4]


def test_features_by_hand():
    _, state = tables(60, seed=1)
    _, other = revolted(40)
    seen = np.zeros(values.FEATURES, bool)
    for some in (state, other):
        assert len(some) > 5
        found = features(some)
        assert found.shape == (len(some), values.FEATURES)
        for t in range(len(some)):
            np.testing.assert_allclose(found[t], features_by_hand(some, t), rtol=1e-5)
        seen |= found.any(axis=0)
    assert seen.mean() > 0.9


@pytest.mark.parametrize(
    ("standing", "hand", "expected"),
    [
        ("QQ", "KK", [True, True, False]),
        ("QQ", "K2", [False, True, False]),
        ("QQ", "QB", [False, False, False]),
        ("QQ", "KB", [False, False, True]),
        ("AB", "2R", [False, False, True]),
        ("AB", "2B", [False, False, False]),
        ("22", "BB", [False, False, True]),
        ("BB", "RR", [False, False, True]),
        ("BB", "2RA", [False, False, False]),
        ("KR", "RR2", [False, False, False]),
    ],
)
def test_who_can_answer(standing, hand, expected):
    state = table([hand, "33", "44", "55", "66", "77"])
    state.standing, state.owner = GoujiSet.parse(standing).place, 5
    at = dict(
        zip(
            [name for name, _ in values.OF_SEAT],
            np.cumsum([0, *(w for _, w in values.OF_SEAT)]),
            strict=False,
        )
    )
    first = at["can beat the standing set with naturals, with 2s added, with jokers added"]
    assert features(state)[0, first : first + 3].astype(bool).tolist() == expected
    assert answers_by_hand(state.ranks[0, 0], int(state.standing[0])) == expected


# --- scores --------------------------------------------------------------------------------------


def noise(rng, n):
    """Chances that say nothing."""
    return rng.dirichlet(np.ones(SEATS), (n, SEATS)), rng.dirichlet(np.ones(values.OUTCOMES), n)


def test_places_that_are_taken_give_the_final_scores():
    """All orders of finishing, without and with a revolution, whatever the network says."""
    engine, rng = Engine(), np.random.default_rng(0)
    for revolter in (NOBODY, 0, 3):
        orders = np.array(list(itertools.permutations(range(1, 7))), np.int8)
        if revolter != NOBODY:
            orders = orders[orders[:, revolter] == 4]
        state = State(len(orders))
        state.phase, state.places, state.revolter = Phase.OVER, orders, revolter
        state.actor = rng.integers(0, SEATS, len(orders))
        found = expected_scores(state, *noise(rng, len(orders)), engine.rules)
        np.testing.assert_array_equal(found, engine.scores(state))
        assert (np.abs(found[:, 0]) == 12).any()


def test_a_side_that_is_out_has_its_score():
    """Also while the others play on (``end=last_player``)."""
    engine, rng = Engine("shandong;end=last_player"), np.random.default_rng(1)
    for out in itertools.permutations(range(1, 6), 3):
        state = State(1)
        state.places[0, 1::2] = out
        others = [place for place in range(1, 6) if place not in out]  # place 6 is open, and one
        state.places[0, [0, 2][: len(others)]] = others
        state.actor = 4
        found = expected_scores(state, *noise(rng, 1), engine.rules)
        state.places[0, 4] = 6
        state.phase = Phase.OVER
        np.testing.assert_array_equal(found, engine.scores(state))


def test_what_cannot_be_any_more_has_no_chance():
    """Two foes are first: no sweep of either side, and the rest is between −6 and 2."""
    rng = np.random.default_rng(2)
    for odd in (1, 3, 5):
        state = State(1)
        state.places[0, [0, odd]] = 1, 2
        state.actor = 2
        chances, _ = noise(rng, 1)
        scores = [expected_scores(state, chances, np.eye(3)[[i]])[0] for i in range(3)]
        np.testing.assert_allclose(scores[0], scores[1])
        np.testing.assert_allclose(scores[2], scores[1])
        # 头科 of side 0 and 二科 of the other: 4 - 2 + what is left, from -6 to 0 … or the mirror
        assert -4 <= scores[0][0] <= 8
    state = State(1)
    state.places[0, [0, 2]] = 1, 2
    state.actor = 4
    certain = np.zeros((1, SEATS, SEATS))
    certain[0, [4, 1, 3, 5], [2, 3, 4, 5]] = 1
    for outcome, worth in ((0, 12), (1, 6)):
        found = expected_scores(state, certain, np.eye(3)[[outcome]])
        np.testing.assert_allclose(found[0], worth * np.where(np.arange(SEATS) % 2, -1, 1))
    found = expected_scores(state, certain, np.eye(3)[[2]])  # not theirs: all else is left
    np.testing.assert_allclose(found[0, 0], 9, atol=1e-4)


# --- the network ---------------------------------------------------------------------------------


def test_it_is_there_for_rules_that_leave_values_alone():
    for rules, there in (
        ("shandong", True), ("shandong;hand_sizes=always;revolution=false", True),
        ("shandong;tribute=true;end=last_player", True), ("shandong;burn_fail=last_place", False),
    ):  # fmt: skip
        assert (load_value("gouji", load_rules(rules)) is not None) == there, rules


def test_a_table_is_worth_the_same_alone_and_among_others():
    engine, state = tables(80, seed=3)
    network = load_value("gouji", engine.rules)
    whole = network.scores(state, engine.rules)
    places, outcomes = network.chances(features(state))
    np.testing.assert_allclose(places.sum(axis=2), 1, atol=1e-5)
    np.testing.assert_allclose(outcomes.sum(axis=1), 1, atol=1e-5)
    for rows in ([0], [7], np.arange(3, 30), np.arange(len(state))[::-1]):
        np.testing.assert_array_equal(network.scores(state.take(rows), engine.rules), whole[rows])
    np.testing.assert_array_equal(whole[:, ::2], -whole[:, 1::2])
    assert (np.abs(whole) <= 12).all()


def test_sums_of_the_network_are_exact():
    """Else other machines, or other numbers of tables, would see other last bits."""
    engine, state = tables(80, seed=4)
    network, x = load_value("gouji", engine.rules), features(state)
    exact = x.astype(np.float64)
    for i, (weights, bias) in enumerate(network.layers):
        exact = np.rint(exact * 64) / 64 @ weights.astype(np.float64) + bias
        exact = exact if i == len(network.layers) - 1 else np.maximum(exact, 0)
    np.testing.assert_array_equal(network._logits(x), exact)


def turned(state, by):
    """The same tables with every seat ``by`` further on."""
    new = state.copy()
    for name, array in state.arrays().items():
        if array.ndim > 1 and array.shape[1] == SEATS:
            setattr(new, name, np.roll(array, by, axis=1))
    for name in WHO:
        seat = getattr(state, name)
        setattr(new, name, np.where(seat == NOBODY, NOBODY, (seat + by) % SEATS))
    for name in BITS:
        mask = getattr(state, name)
        setattr(new, name, (mask << by | mask >> (SEATS - by)) & (1 << SEATS) - 1)
    new.queue = [pack([(s + by) % SEATS for s in unpack(int(q))]) for q in state.queue]
    return new


def test_seats_are_alike():
    """Turned by a seat the sides change places, turned by two they stay."""
    engine = Engine()
    network = load_value("gouji", engine.rules)
    for state in (tables(60, seed=5)[1], revolted(60)[1]):
        scores = network.scores(state, engine.rules)
        for by in range(1, SEATS):
            other = network.scores(turned(state, by), engine.rules)
            np.testing.assert_allclose(other, np.roll(scores, by, axis=1), atol=1e-12)
            np.testing.assert_allclose(other, scores * (-1) ** by, atol=1e-12)


def hands_of(agent, seeds):
    """``(state, final scores of the asked seat)``: some tables of hands that an agent plays."""
    engine, rng = Engine(), np.random.default_rng(0)
    state = engine.reset(seeds)
    kept, owner = [], []
    while (rows := np.flatnonzero(~state.over)).size:
        pick = rows[(state.phase[rows] == Phase.PLAY) & (rng.random(len(rows)) < 0.1)]
        kept.append(state.take(pick))
        owner.append(pick)
        legal = engine.legal(state, rows)
        engine.step(state, agent.choose(engine, state, legal, rows, rows), rows, legal=legal)
    whole = State(sum(map(len, kept)))
    whole.put(np.arange(len(whole)), _joined(kept))
    return engine, whole, engine.scores(state)[np.concatenate(owner), whole.actor]


def _joined(parts):
    out = State(0)
    for name in out.arrays():
        setattr(out, name, np.concatenate([getattr(part, name) for part in parts]))
    return out


def test_it_knows_more_than_hand_sizes():
    """Squared error on fresh hands: below that of a constant, and of a line through sizes and
    places that was fitted to these very hands."""
    engine, state, points = hands_of(GreedyAgent(), np.arange(600) + 77_000_000)
    row = np.arange(len(state))
    said = load_value("gouji", engine.rules).scores(state, engine.rules)[row, state.actor]
    order = (state.actor[:, None] + np.arange(SEATS)) % SEATS
    x = np.concatenate(
        [state.sizes[row[:, None], order], state.places[row[:, None], order] == 0,
         state.places[row[:, None], order], np.ones((len(row), 1))], axis=1
    ).astype(float)  # fmt: skip
    line = x @ np.linalg.lstsq(x, points.astype(float), rcond=None)[0]
    error, by_line, constant = (
        ((guess - points) ** 2).mean() for guess in (said, line, points.mean())
    )
    assert len(points) > 5000
    assert error < 0.75 * constant
    assert error < 0.85 * by_line


# --- the judge -----------------------------------------------------------------------------------


def test_the_judge_goes_on_to_the_first_lead_and_keeps_what_is_sure():
    engine = Engine()
    judge = Judge(engine, Options(), TacticalAgent())
    fresh = engine.reset(np.arange(40))
    assert (fresh.phase == Phase.REVOLT).all()
    lanes = np.zeros(40, int)
    scores = judge.scores(fresh, lanes)
    assert (fresh.phase == Phase.PLAY).all()
    assert (fresh.played.sum(axis=(1, 2)) == 0).all()
    np.testing.assert_allclose(
        scores, load_value("gouji", engine.rules).scores(fresh, engine.rules), atol=1e-3
    )
    for row in (0, 13):
        alone = judge.scores(engine.reset([row]), lanes[:1])
        np.testing.assert_array_equal(alone[0], scores[row])
    agent, state = GreedyAgent(), engine.reset(np.arange(30))
    for _ in range(220):
        rows = np.flatnonzero(~state.over)
        if rows.size:
            legal = engine.legal(state, rows)
            engine.step(state, agent.choose(engine, state, legal, rows, rows), rows)
    over = np.flatnonzero(state.over)
    assert 0 < len(over) < len(state)
    found = judge.scores(state.copy(), np.zeros(len(state), int))
    np.testing.assert_array_equal(found[over], engine.scores(state)[over])
    assert (found[~state.over] != 0).any(axis=1).all()
