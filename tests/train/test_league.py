"""The league without Ray: who is drawn how often, who stays, and what opponents play."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import lupai.agents
from lupai.agents.streams import agent_seed, table_lanes
from lupai.envs.view import Views
from lupai.train.league.lineups import Lineups
from lupai.train.league.matchmaking import Plan, draw_seats, opponent_shares
from lupai.train.league.population import (
    LeagueError,
    Member,
    Population,
    dump_league,
    parse_league,
)
from lupai.train.sampling.tables import Tables
from tests.tiny_agent import save_tiny_agent

EVEN = (1.0, 1.0, 1.0, 1.0)


class Lowest:
    """Plays the lowest legal id."""

    name = "lowest"

    def reset(self, seed=None):
        """Nothing."""

    def act(self, view):
        return view.legal[0]

    def act_batch(self, views):
        ids, offsets = views.legal.ids()
        return ids[offsets[:-1]]


def lineups_of(plan, agents, tables=24, worker=0, seating="drawn"):
    lineups = Lineups(tables, worker, seating, seed=5)
    lineups.take(plan, {name: pickle.dumps(agent) for name, agent in agents.items()})
    return lineups


def lowest(tables):
    ids, offsets = tables.legal.take(tables.rows).ids()
    return ids[offsets[:-1]]


# --- matchmaking ------------------------------------------------------------------------------


def test_shares_are_those_of_the_formula():
    # worked by hand: exp(0), exp(-1), exp(2) for temperature 2, and a fifth spread evenly
    weights = np.array([1.0, 0.36787944, 7.3890561])
    expected = 0.2 / 3 + 0.8 * weights / weights.sum()
    assert opponent_shares([0.0, 2.0, -4.0], 2.0, 0.2) == pytest.approx(expected)
    assert opponent_shares([-40.0, 40.0], 0.01, 0.5) == pytest.approx([0.75, 0.25])
    assert opponent_shares([3.0, -7.0], 1.0, 1.0) == pytest.approx([0.5, 0.5])


def test_hands_are_seated_as_often_as_the_plan_says():
    shares = (0.5, 0.3, 0.0, 0.2)
    plan = Plan(("a", "b", "c", "d"), shares, 0.4, (4.0, 0.0, 1.0, 3.0), 7)
    hands = 200_000
    opponents, learner = draw_seats(plan, hands, np.random.default_rng(3))

    def near(count, probability, of):
        error = np.sqrt(max(probability * (1 - probability), 1e-12) * of)
        assert abs(count - probability * of) <= 4.5 * error

    near(np.count_nonzero(opponents == -1), 0.4, hands)
    met = opponents >= 0
    assert learner[~met].all()
    for i, share in enumerate(shares):
        near(np.count_nonzero(opponents == i), 0.6 * share, hands)
    number = learner[met].sum(axis=1)
    for k, weight in enumerate((4, 0, 1, 3), start=1):
        near(np.count_nonzero(number == k), weight / 8, met.sum())
    for k in (1, 3, 4):  # every set of seats of a size is equally likely
        sets, counts = np.unique(learner[met][number == k], axis=0, return_counts=True)
        assert len(sets) == {1: 5, 3: 10, 4: 5}[k]
        for count in counts:
            near(count, 1 / len(sets), counts.sum())
    # opponent and seats have nothing to do with each other
    near(np.count_nonzero((opponents == 0) & learner[:, 2]), 0.6 * 0.5 * 0.475, hands)


def test_line_ups_depend_on_plan_and_worker_alone():
    def seats(word, worker):
        plan = Plan(("low",), (1.0,), 0.3, EVEN, word)
        lineups = lineups_of(plan, {"low": Lowest()}, tables=64, worker=worker)
        np.random.seed(word)  # noqa: NPY002 - the global generator must not matter
        Tables("qingdao", "idle", [1], 64, lineups)
        return lineups.learner.tolist()

    assert seats(1, 0) == seats(1, 0)
    assert seats(1, 0) != seats(2, 0)
    assert seats(1, 0) != seats(1, 1)


# --- population -------------------------------------------------------------------------------


def grown(most, count=200, hard_old=False):
    """A league whose learner improves all the time, after ``count`` snapshots."""
    population = Population([Member("random", "random"), Member("greedy", "greedy")])
    for number in range(1, count + 1):
        time = 10 * number
        for member in population.snapshots:
            age = time - member.iteration
            member.hands, member.points = 1000.0, (-5.0 if hard_old else 5.0) * age
        gone = population.add(Member(f"s{time}", f"s{time}", time), most, 50)
        assert len(population.snapshots) == min(number, most)
        assert [m.name for m in population.anchors] == ["random", "greedy"]
        assert population.snapshots[0].iteration == 10  # the first
        assert population.snapshots[-1].iteration == time  # the newest
        assert len(gone) == (number > most)
    return [member.iteration for member in population.snapshots]


@pytest.mark.parametrize("hard_old", [False, True])
@pytest.mark.parametrize("most", [6, 8, 20])
def test_pruning_keeps_anchors_first_and_newest_and_a_spread_over_time(most, hard_old):
    times = grown(most, hard_old=hard_old)
    even = (times[-1] - times[0]) / (most - 1)
    assert max(np.diff(times)) < 2.5 * even
    newest = list(range(10 * (201 - most), 2001, 10))
    assert len(set(times) & set(newest)) <= most // 2  # not the newest ones
    assert sum(time < 1000 for time in times) >= most // 4


def test_of_two_in_dense_places_the_easier_one_goes():
    for scores, gone in (((3, 1), "s30"), ((1, 3), "s40"), ((2, 2), "s30")):
        easy, hard = scores
        snapshots = [
            Member("s10", "", 10), Member("s30", "", 30, 1000, 1000 * easy),
            Member("s40", "", 40, 1000, 1000 * hard), Member("s50", "", 50, 1000, 9000),
            Member("s90", "", 90),
        ]  # fmt: skip
        # gaps: s30 30, s40 20, s50 50, s90 60
        population = Population([], snapshots)
        assert [m.name for m in population.add(Member("s110", "", 110), 5, 50)] == [gone]


def test_fewer_places_after_a_resume_are_filled_by_the_same_rule():
    population = Population([], [Member(f"s{t}", "", t) for t in range(1, 9)])
    assert len(population.add(Member("s9", "", 9), 3, 50)) == 6
    assert [m.iteration for m in population.snapshots][::2] == [1, 9]


def test_scores_run_over_a_window_and_start_at_zero():
    member = Member("a", "a")
    assert member.score(50) == 0
    member.record(50, 200.0, 100)
    assert member.score(50) == pytest.approx(2.0)
    for _ in range(20):
        member.record(100, -300.0, 100)
    assert member.hands == 100
    assert member.points / member.hands == pytest.approx(-3, abs=1e-4)


def test_a_league_file_gives_back_every_bit():
    population = Population(
        [Member("random", "random", 0, 12.0, 0.1 + 0.2)],
        [Member("s", "league/s", 25, 1e-3, -1 / 3)],
    )
    rng = np.random.default_rng(9)
    rng.integers(3, dtype=np.uint32)  # leaves half a word behind
    text = dump_league(population, dict(rng.bit_generator.state))
    again, state = parse_league(text, "here")
    assert [vars(m) for m in again.members] == [vars(m) for m in population.members]
    other = np.random.default_rng(0)
    other.bit_generator.state = state
    assert (other.integers(1 << 60, size=8) == rng.integers(1 << 60, size=8)).all()
    assert dump_league(again, state) == text


def damage(change):
    population = Population([Member("random", "random")], [Member("s", "league/s", 25)])
    data = json.loads(dump_league(population, {}))
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "its format is None"),
        ('{"format": "lupai-league/9"}', "lupai-league/9"),
        (damage(lambda d: d.pop("rng")), "rng: Field required"),
        (damage(lambda d: d["members"][0].update(hands="many")), "members.0.hands"),
        (damage(lambda d: d["members"][0].update(points=float("nan"))), "members.0.points"),
        (damage(lambda d: d["members"][1].update(iteration=-1)), "members.1.iteration"),
        (damage(lambda d: d["members"].append(d["members"][1])), "not one for each"),
    ],
)
def test_a_damaged_league_file_is_one_clear_error(text, why):
    with pytest.raises(LeagueError, match="copy it again") as caught:
        parse_league(text, "runs/x/league.json")
    assert str(caught.value).startswith("runs/x/league.json: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


# --- at the tables ----------------------------------------------------------------------------


def test_only_the_learner_is_asked_and_its_scores_are_counted():
    names = ("random", "low")
    agents = {"random": lupai.agents.load("random"), "low": Lowest()}
    lineups = lineups_of(Plan(names, (0.5, 0.5), 0.3, EVEN, 1), agents, tables=64)
    tables = Tables("qingdao", "idle", [4], 64, lineups)
    sums = {name: [0, 0.0] for name in names}
    alone = mixed = 0
    for _ in range(900):
        assert 2 * len(tables.rows) >= 64
        assert lineups.learner[tables.rows, tables.seats].all()
        before = lineups.learner.copy(), lineups._against.copy()
        ends = tables.step(lowest(tables))
        first = {}  # a table may end twice in a step: only its first hand is known from before
        for end in ends:
            if first.setdefault(end.table, end) is end:
                assert (end.learner == before[0][end.table]).all()
                number = before[1][end.table]
                alone += number < 0
                mixed += number >= 0
                assert end.learner.all() == (number < 0)
                if number >= 0:
                    name = sums[names[number]]
                    name[0] += 1
                    name[1] += end.scores[end.learner].mean()
        assert len(first) == len(ends)
    assert alone > 10
    assert mixed > 30
    found = lineups.collect()
    assert {n: v[0] for n, v in found.items()} == {n: v[0] for n, v in sums.items()}
    for name, (_, points) in found.items():
        assert points == pytest.approx(sums[name][1])
    assert lineups.collect() == {}


@pytest.mark.train
@pytest.mark.parametrize("name", ["random", "greedy", "tactical", "trained"])
def test_opponents_play_what_the_agent_plays_alone(name, tmp_path, monkeypatch):
    if name == "trained":
        pytest.importorskip("torch")
        from lupai.agents.checkpoint import load_agent

        folder = save_tiny_agent(tmp_path / "agent")
        agent, alone = (load_agent(folder, sample=True) for _ in range(2))
    else:
        agent, alone = (lupai.agents.load(name) for _ in range(2))
    lineups = lineups_of(Plan(("it",), (1.0,), 0.0, EVEN, 3), {"it": agent}, tables=8)
    alone.reset(agent_seed(5, 0))
    answer, seen = lineups.answer, SimpleNamespace(asked=0, forced=0)

    def watched(engine, state, rows, legal, counts, moves):
        theirs = answer(engine, state, rows, legal, counts, moves)
        for i in np.flatnonzero(theirs):
            table = state.take([rows[i]])
            views = Views(engine, table, table.actor)
            lane = table_lanes(table.seeds[:, 0], table.actor)
            if counts[i] == 1:
                wanted = views.legal.ids()[0]
                seen.forced += 1
            elif hasattr(alone, "act_lanes"):
                wanted = alone.act_lanes(views, lane)
            else:
                wanted = alone.act_batch(views)
            assert moves[i] == wanted[0]
            seen.asked += 1
        return theirs

    monkeypatch.setattr(lineups, "answer", watched)
    tables = Tables("qingdao", "idle", [2], 8, lineups)
    for _ in range(60):
        tables.step(lowest(tables))
    assert seen.asked > 150
    assert 0 < seen.forced < seen.asked


def test_what_the_learner_sees_does_not_tell_who_sits_there():
    """The same deals and moves, the same bytes: alone, and with others in some of the seats."""
    seen = []
    for share in (1.0, 0.0):
        plan = Plan(("low",), (1.0,), share, EVEN, 1)
        lineups = lineups_of(plan, {"low": Lowest()}, tables=4)
        tables = Tables("qingdao", "none", [6], 4, lineups)
        deals = set(tables.state.seeds[:, 0].tolist())
        rows = {}
        for _ in range(700):
            observation, legal = tables.observe()
            for i, row in enumerate(tables.rows.tolist()):
                hand = int(tables.state.seeds[row, 0])
                if hand in deals:
                    key = hand, int(tables.state.redeals[row]), int(tables.state.moves[row])
                    words = legal[i][legal[i] != 0]  # as wide as those of the other tables
                    rows[key] = (int(tables.seats[i]), observation[i].tobytes(), words.tobytes())
            tables.step(lowest(tables))
        seen.append(rows)
    alone, beside = seen
    assert 200 < len(beside) < len(alone)
    assert all(alone[key] == value for key, value in beside.items())


@pytest.mark.parametrize("seating", ["emperor_camp", "rebel_camp"])
def test_a_camp_is_the_learners_after_neutral_calls(seating):
    plan = Plan(("low",), (1.0,), 0.0, (1.0, 0.0, 0.0, 0.0), 1)
    lineups = lineups_of(plan, {"low": Lowest()}, tables=32, seating=seating)
    tables = Tables("qingdao", "idle", [1], 32, lineups)
    ended = 0
    playing = tables.engine.phases.index("play")
    for _ in range(600):
        assert (tables.state.phase[tables.rows] == playing).all()
        for end in tables.step(lowest(tables)):
            camp = np.isin(end.roles, [1, 2, 4])  # emperor, guard, alone
            assert (end.learner == (camp if seating == "emperor_camp" else ~camp)).all()
            ended += 1
    assert ended > 20


@pytest.mark.parametrize("rules", ["shiwei", "weihai"])
@pytest.mark.parametrize("seating", ["drawn", "rebel_camp"])
def test_other_rules_are_played_too(rules, seating):
    plan = Plan(("random", "greedy"), (0.5, 0.5), 0.2, EVEN, 1)
    agents = {name: lupai.agents.load(name) for name in plan.names}
    lineups = lineups_of(plan, agents, tables=24, seating=seating)
    tables = Tables(rules, "idle", [1], 24, lineups)
    rng = np.random.default_rng(2)
    ended = 0
    for _ in range(500):
        assert lineups.learner[tables.rows, tables.seats].all()
        ids, offsets = tables.engine.legal(tables.state, tables.rows).ids()
        ended += len(tables.step(ids[rng.integers(offsets[:-1], offsets[1:])]))
    assert ended > 20
    assert set(lineups.collect()) == {"random", "greedy"}


def test_hands_keep_their_line_up_when_plans_change_and_old_agents_go():
    one = Plan(("low",), (1.0,), 0.0, EVEN, 1)
    lineups = lineups_of(one, {"low": Lowest()}, tables=16)
    tables = Tables("qingdao", "idle", [1], 16, lineups)
    before = lineups.learner.copy()
    two = Plan(("random",), (1.0,), 0.0, EVEN, 2)
    assert lineups.lacks(two.names) == ["random"]
    lineups.take(two, {"random": pickle.dumps(lupai.agents.load("random"))})
    assert (lineups.learner == before).all()
    assert lineups.lacks(("low", "random")) == []  # still played against
    for _ in range(1200):
        tables.step(lowest(tables))
    assert set(lineups.collect()) == {"low", "random"}
    lineups.take(two, {})
    assert lineups.lacks(("low", "random")) == ["low"]


def test_without_a_plan_all_seats_are_the_learners():
    tables = Tables("qingdao", "idle", [1], 16, Lineups(16))
    plain = Tables("qingdao", "idle", [1], 16)
    assert (tables.state.hands == plain.state.hands).all()
    for _ in range(50):
        tables.step(lowest(tables))
    assert tables.lineups.learner.all()
    assert tables.lineups.collect() == {}


def test_a_plan_with_a_stranger_waits_until_he_comes():
    """A sampler that was started between two questions of the trainer."""
    lineups = Lineups(8)
    plan = Plan(("low",), (1.0,), 0.0, EVEN, 1)
    lineups.take(plan, {})
    Tables("qingdao", "idle", [1], 8, lineups)
    assert lineups.learner.all()
    lineups.take(plan, {"low": pickle.dumps(Lowest())})
    Tables("qingdao", "idle", [1], 8, lineups)
    assert not lineups.learner.all(axis=1).any()


def test_an_unknown_seating_is_refused():
    with pytest.raises(ValueError, match="drawn, emperor_camp, rebel_camp"):
        Lineups(4, 0, "guard")
