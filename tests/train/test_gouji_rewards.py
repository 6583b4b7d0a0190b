"""Rewards of Gouji: every kind sums to the score of the seat's side, whatever is played."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import numpy as np
import pytest

from lupai.envs.cards import KIND_B, NUM_KINDS
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import Phase, State
from lupai.train.config import ConfigError, parse_config
from lupai.train.games import gouji, plackett_luce
from lupai.train.games.gouji import placement_credit, potential
from lupai.train.rewards import Rewards
from lupai.train.sampling.payroll import Payroll
from lupai.train.sampling.tables import Tables
from tests.train.paying import check_payment, check_telescoping, mover, paid

pytestmark = pytest.mark.train

KINDS = ["score", "placement", "potential"]
SEATS = range(6)
EVEN, ODD = (0, 2, 4), (1, 3, 5)
VALUE = {1: 4, 2: 2, 3: 0, 4: 0, 5: -2, 6: -4}
OPTIONS = {
    "revolution": ("true", "false"),
    "burn_fail": ("null", "last_place"),
    "tribute": ("false", "true"),
    "end": ("side_out", "last_player"),
}  # `hand_sizes` changes only what is displayed
RULES = [
    ";".join(["shandong", *(f"{k}={v}" for k, v in zip(OPTIONS, some, strict=True))])
    for some in itertools.product(*OPTIONS.values())
]


# Random play under all of them; `greedy` finds it harder to be odd.
PLAYS = [
    *((rules, "random") for rules in RULES),
    *((rules, "greedy") for rules in (RULES[0], RULES[7], RULES[-1])),
]


def deals(rng, count):
    """Deals in which much happens that is rare: up to two seats hold neither 2s nor jokers and can
    make a revolution, up to two hold two ranks and four jokers, with which they can burn."""
    starts = rng.integers(6, size=count)
    codes = np.empty((count, 4 * NUM_KINDS), np.int64)
    for code, start in zip(codes, starts, strict=True):
        pool = rng.permutation(np.repeat(np.arange(NUM_KINDS), 4))
        rich, bare = [7, 10][: rng.integers(3)], rng.integers(3)
        for nth, seat in enumerate(rng.permutation(6)):
            which = np.arange(36)
            if nth < len(rich):
                jokers = np.flatnonzero(pool >= KIND_B)[:4]
                which = np.append(jokers, np.flatnonzero((pool // 4 - rich[nth]) // 2 == 0))
            elif nth < len(rich) + bare:
                which = np.flatnonzero(pool < KIND_B - 4)[:36]
            code[np.flatnonzero((start + np.arange(len(code))) % 6 == seat)] = pool[which]
            pool = np.delete(pool, which)
    return codes, starts


def dealt(engine, rng, count):
    """Tables with such deals, each with a hand before it where the rules have tribute."""
    codes, starts = deals(rng, count)
    before = rng.permuted(np.tile(np.arange(6), (count, 1)), axis=1)
    return engine.reset_deals(codes, starts, before if engine.rules.tribute else None)


@pytest.fixture
def odd_deals(monkeypatch):
    """Samplers deal so."""
    monkeypatch.setattr(
        Tables, "_deal", lambda self, rows: dealt(self.engine, self._deals, len(rows))
    )


# --- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "play"), PLAYS)
def test_every_seat_is_paid_its_score(rules, play, odd_deals):
    done, scores = paid(rules, KINDS, play, rounds=(60, 7, 130), game="gouji", before=1.0)
    assert len(scores) > 15
    check_payment(done, scores, seats=6, least=10)


def test_the_hands_of_these_tests_have_all_that_is_rare():
    """Revolutions, voids, sweeps, burners who fail: else the sums above would prove little."""
    seen = Counter()

    def failing(before, state, tables):
        goes_on = tables[~state.over[tables]]
        now = state.places[goes_on]
        seen["failed"] += int(((now >= 5) & (now != before.places[goes_on])).sum())

    for rules in (RULES[0], RULES[7], RULES[-1]):
        state, engine = played(rules, 100, check=failing if "last_place" in rules else None)
        seen["revolution"] += int((state.revolter >= 0).sum())
        seen["void"] += int((state.void != 0).sum())
        seen["sweep"] += int((np.abs(engine.scores(state)) == 12).any(axis=1).sum())
        seen["sweep by revolution"] += sum(
            plain_worth(places, revolter) in (12, -12) and {places[s] for s in side} == {1, 2, 4}
            for places, revolter in zip(state.places.tolist(), state.revolter.tolist(), strict=True)
            for side in (EVEN, ODD)
            if 0 not in places
        )
        seen["open"] += int((state.places[state.void == 0] == 0).any(axis=1).sum())
    assert all(seen[what] >= 5 for what in ("revolution", "void", "open", "sweep", "failed")), seen
    assert seen["sweep by revolution"] >= 1


# --- credit --------------------------------------------------------------------------------------


def played(rules, count, play="random", seed=4, check=None):
    """Hands from the deal to the end; ``check(state before, state after, tables)`` at each step."""
    engine = Engine(rules)
    state = dealt(engine, np.random.default_rng(seed), count)
    move = mover(play, engine, before=1.0)
    while not state.over.all():
        tables = np.flatnonzero(~state.over)
        before = state.take(np.arange(count))
        part = state.take(tables)
        engine.step(state, move(part, engine.legal(part)), tables)
        if check is not None:
            check(before, state, tables)
    return state, engine


@pytest.mark.parametrize(("rules", "play"), PLAYS)
def test_places_are_paid_when_they_are_taken(rules, play):
    """Credit against a plain reading, place by place: half of a place to both sides."""
    paid_places = Counter()

    def check(before, state, tables):
        gained = placement_credit(state, None) - placement_credit(before, None)
        for table in tables[~state.over[tables]]:
            due = 0
            for seat in np.flatnonzero(state.places[table] != before.places[table]):
                place = int(state.places[table, seat])
                paid_places[place] += 1
                due += (1 if seat % 2 == 0 else -1) * VALUE[place] // 2
            assert gained[table].tolist() == [due, -due] * 3

    state, engine = played(rules, 40, play, check=check)
    credit = placement_credit(state, engine.rules)
    assert credit.dtype == np.int64
    assert (credit == engine.scores(state)).all()
    assert min(paid_places[1], paid_places[2]) >= 20
    if "burn_fail=last_place" in rules and play == "random":
        assert paid_places[6] > 0  # from the end, while the hand goes on


# --- potential -----------------------------------------------------------------------------------


def plain_worth(places, revolter):
    """What the even side is worth, by §6 and §7, of places 1 … 6 by seat."""
    for side, sign in ((EVEN, 1), (ODD, -1)):
        mine = {places[seat] for seat in side}
        if mine == {1, 2, 3} or (revolter in side and mine == {1, 2, 4}):
            return sign * 12
    return sum(VALUE[places[seat]] for seat in EVEN)


def plain_potential(sizes, places, revolter):
    """Its expectation, by going through all orders of the seats still in."""
    racing = [seat for seat in SEATS if places[seat] == 0]
    left_open = [place for place in VALUE if place not in places]
    expected = 0.0
    for order in itertools.permutations(racing):
        chance, still = 1.0, list(order)
        for seat in order:
            chance *= (1 / sizes[seat]) / sum(1 / sizes[s] for s in still)
            still.remove(seat)
        ends = list(places)
        for seat, place in zip(order, left_open, strict=True):
            ends[seat] = place
        expected += chance * plain_worth(ends, revolter)
    return expected


def situations():
    """``(sizes, places, revolter)``: every set of places taken, by whom is drawn."""
    rng = np.random.default_rng(8)
    for first, failed in itertools.product(range(5), range(3)):
        for revolter in (-1, *SEATS):
            taken = [4] if revolter >= 0 else []
            free = [place for place in VALUE if place not in taken]
            if first + failed + 2 > len(free):
                continue
            for _ in range(6):
                others = [int(s) for s in rng.permutation(6) if s != revolter]
                sizes, places = rng.integers(1, 37, size=6), [0] * 6
                if revolter >= 0:
                    places[revolter] = 4
                for place in free[:first]:  # out: no cards
                    seat = others.pop()
                    places[seat], sizes[seat] = place, 0
                for place in free[len(free) - failed :]:  # burners who failed hold some
                    places[others.pop()] = place
                yield sizes.tolist(), places, revolter


def tables_of(cases):
    state = State(len(cases))
    state.phase = Phase.PLAY
    for name, column in zip(("sizes", "places"), list(zip(*cases, strict=True))[:2], strict=True):
        getattr(state, name)[:] = column
    state.revolter = np.array([revolter for *_, revolter in cases])
    return state


def test_the_potential_is_the_expected_score_over_all_orders():
    cases = list(situations())
    found = potential(tables_of(cases), None)
    due = np.array([plain_potential(*case) for case in cases])
    sides = np.where(np.arange(6) % 2 == 0, 1, -1) * due[:, None]
    np.testing.assert_allclose(found, sides, rtol=0, atol=1e-10)
    assert len(cases) > 300
    assert (np.abs(due) == 12).sum() >= 5  # a sweep that is certain
    assert len({case[2] for case in cases}) == 7


def test_a_small_case_by_hand():
    """2 of the even side are out as first and second; the third has 1 card, the others 1, 2, 2."""
    case = ([0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 0, 0], -1)
    # third with 1 / (1 + 1 + 1/2 + 1/2): then 12; else 6 by the two, and third to last for him.
    state = tables_of([case])
    third = 1 / 3
    # fourth: first goes seat 1 (1/3), then 1 of 2; or a seat with two cards (1/6 each), 1 of 2.5
    fourth = 1 / 3 * 1 / 2 + 2 * (1 / 6 * 1 / 2.5)
    # last: all of the odd side before him
    last = sum(
        a * b * c
        for a, b, c in (
            (1 / 3, 1 / 4, 1 / 3), (1 / 3, 1 / 4, 1 / 3),  # seat 1, then one with two cards
            (1 / 6, 1 / 2.5, 1 / 3), (1 / 6, 1 / 2.5, 1 / 3),
            (1 / 6, 0.5 / 2.5, 1 / 2), (1 / 6, 0.5 / 2.5, 1 / 2),
        )
    )  # fmt: skip
    fifth = 1 - third - fourth - last
    due = 12 * third + 6 * fourth + 4 * fifth + 2 * last
    assert potential(state, None)[0, 0] == pytest.approx(due)


PLANTED = {
    "values": (gouji, "_LATER_VALUE", lambda old: old * 1.01),
    "no sweep": (gouji, "_SWEEP_EXTRA", lambda old: 0.0),
    "a sweep of one side": (gouji, "_chance_of_sweep", lambda old: lambda p, c, r, side, other: (
        old(p, c, r, side, other) * (side[0] == 0)
    )),
    "a revolter is no third": (gouji, "_chance_of_sweep", lambda old: lambda p, c, r, s, o: (
        old(p, c, np.full_like(r, -1), s, o)
    )),
    "weights as the cards": (plackett_luce, "_weights", lambda old: lambda sizes: sizes),
    "one seat off": (gouji, "chances_of_later", lambda old: lambda sizes, seats: (
        old(sizes, (seats + 1) % 6)
    )),
    "the other way round": (gouji, "chances_of_later", lambda old: lambda sizes, seats: (
        old(sizes, seats)[:, ::-1]
    )),
}  # fmt: skip


@pytest.mark.parametrize("wrong", PLANTED)
def test_a_wrong_potential_is_noticed(wrong, monkeypatch):
    module, name, change = PLANTED[wrong]
    monkeypatch.setattr(module, name, change(getattr(module, name)))
    with pytest.raises(AssertionError):
        test_the_potential_is_the_expected_score_over_all_orders()


WRONG_CREDITS = {
    "only the seat itself is paid": lambda state: np.where(
        state.over[:, None],
        gouji.scoring.scores(state),
        gouji.scoring.VALUES[state.places] // 2,
    ),
    "the whole of a place": lambda state: (
        gouji.placement_credit(state, None) * (2 - state.over)[:, None]
    ),
    "to the other side": lambda state: gouji.placement_credit(state, None) * (
        np.where(state.over, 1, -1)[:, None]
    ),
    "nothing before the end": lambda state: gouji.scoring.scores(state),
    "a string of three is forgotten": lambda state: gouji.scoring.by_seat(
        gouji.scoring.VALUES[state.places][:, ::2].sum(axis=1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_CREDITS)
def test_a_wrong_credit_is_noticed(wrong, monkeypatch):
    credit = WRONG_CREDITS[wrong]
    monkeypatch.setitem(globals(), "placement_credit", lambda state, rules: credit(state))
    with pytest.raises(AssertionError):
        test_places_are_paid_when_they_are_taken("shandong;end=last_player", "random")


@pytest.mark.parametrize("wrong", [1, 2, 5, 6])
def test_a_wrong_value_of_a_place_is_noticed(wrong, monkeypatch):
    """By when it is paid: the sum at the end is the score, with whatever values."""
    values = gouji.scoring.VALUES.copy()
    values[wrong] += 2
    monkeypatch.setattr(gouji.scoring, "VALUES", values)
    with pytest.raises(AssertionError):
        test_places_are_paid_when_they_are_taken("shandong;burn_fail=last_place", "random")


@pytest.mark.parametrize("rules", [RULES[0], RULES[-1]])
def test_the_potential_is_zero_sum_bounded_and_over_with_the_hand(rules):
    largest = []

    def check(before, state, tables):
        phi = potential(state, None)
        assert not phi[state.phase != Phase.PLAY].any()
        assert (phi == np.where(np.arange(6) % 2 == 0, 1, -1) * phi[:, :1]).all()
        assert np.abs(phi).max() <= 12 + 1e-9
        largest.append(np.abs(phi).max())

    played(rules, 40, "greedy", check=check)
    assert max(largest) > 8


@pytest.mark.parametrize("gamma", [0.9, 0.99])
def test_shaping_telescopes_under_a_discount(gamma, odd_deals):
    (done,), scores = paid(
        "shandong", ["potential"], "greedy", gamma=gamma, rounds=(100, 150), game="gouji"
    )
    check_telescoping(done, scores, gamma)


# --- the order of going out ----------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 5, 6])
def test_chances_of_orders_for_any_number_of_seats(seats):
    rng = np.random.default_rng(seats)
    sizes = rng.integers(1, 30, size=(20, seats)).astype(float)
    sizes[10:, rng.integers(seats)] = 0
    who = np.array([rng.choice(np.flatnonzero(row)) for row in sizes])
    later = plackett_luce.chances_of_later(sizes, who)
    split = 1 + seats // 3
    before = plackett_luce.chance_of_all_before(sizes[:, :split], sizes[:, split:])
    for row in range(20):
        due, ahead = np.zeros(seats), 0.0
        racing = [int(s) for s in np.flatnonzero(sizes[row])]
        for order in itertools.permutations(racing):
            chance, left = 1.0, list(order)
            for seat in order:
                chance *= (1 / sizes[row, seat]) / sum(1 / sizes[row, s] for s in left)
                left.remove(seat)
            due[len(order) - 1 - order.index(who[row])] += chance
            ahead += chance * (list(order) == sorted(order, key=lambda s: s >= split))
        np.testing.assert_allclose(later[row], due, atol=1e-12)
        assert before[row] == pytest.approx(ahead, abs=1e-12)


# --- what nobody sees, and the config ------------------------------------------------------------


def test_play_and_observations_do_not_depend_on_the_kind(odd_deals):
    """The engine never hears of rewards, and neither does anything a seat sees."""
    seen, credits = [], []
    for kind in KINDS:
        tables = Tables("shandong", "idle", [3], 24, game="gouji")
        payroll = Payroll(Rewards(tables.engine.rules, kind, coefficient=1.0, game="gouji"), 24)
        move = mover("random", tables.engine, before=1.0)
        shown = b""
        for _ in range(120):
            columns = payroll.columns(tables.waiting, tables.seats, tables.rows)
            credits.append(columns["credit"].any())
            observation, legal = tables.observe()
            shown += observation.tobytes() + legal.tobytes() + tables.seats.tobytes()
            shown += b"".join(part.tobytes() for part in tables.privileged().values())
            for end in tables.step(move(tables.state, tables.legal)):
                payroll.close(end.table, 0, end.scores)
        seen.append(shown)
    assert seen[0] == seen[1] == seen[2]
    assert any(credits)


@pytest.mark.parametrize("kind", KINDS)
def test_the_config_takes_every_kind(kind):
    base = {"name": "x", "rules": "shandong", "stop": {"minutes": 1}}
    assert parse_config(base, [f"reward.kind={kind}"]).reward.kind == kind


def test_a_kind_that_a_game_has_not_is_refused(monkeypatch):
    poor = dataclasses.replace(gouji.GAME, credits={}, potential=None)
    monkeypatch.setattr("lupai.train.config.training_game", lambda name: poor)
    base = {"name": "x", "rules": "shandong", "stop": {"minutes": 1}}
    assert parse_config(base).reward.kind == "score"
    with pytest.raises(ConfigError, match="placement is not of gouji; it has score"):
        parse_config(base, ["reward.kind=placement"])
