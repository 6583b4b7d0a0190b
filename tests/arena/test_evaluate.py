"""Evaluation: reproducible, fair to both sides, and honest about its intervals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lupai.agents.caller import NeutralCaller
from lupai.agents.random_agent import RandomAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.deals import hand_seeds
from lupai.envs.view import Views
from lupai.train import evaluate as ev
from lupai.train.arena import results, terminal
from lupai.train.arena.asking import Asker
from lupai.train.arena.packs import make_pack
from lupai.train.arena.plans import ArenaError, Match
from lupai.train.arena.play import play_deals
from lupai.train.arena.statistics import bootstrap, student
from lupai.train.arena.work import Plan
from tests.arena.players import SMALL

CAMPS = ("emperor_camp", "rebel_camp")


def matches(result):
    return {(m["format"], m["opponent"]): m for m in result["matches"]}


def test_equal_seeds_give_equal_results_and_others_not():
    found = [
        ev.evaluate("random", ["greedy"], hands=20, seed=seed, rules=SMALL) for seed in (0, 0, 1)
    ]
    assert results.to_json(found[0]) == results.to_json(found[1])
    assert found[0]["matches"] != found[2]["matches"]


def test_how_many_tables_advance_together_does_not_matter(monkeypatch):
    whole = ev.evaluate("random", ["greedy"], hands=15, seed=4, rules=SMALL)["matches"]
    monkeypatch.setattr("lupai.train.arena.run.HANDS_OF_PART", 7)
    assert ev.evaluate("random", ["greedy"], hands=15, seed=4, rules=SMALL)["matches"] == whole


def test_formats_rotate_and_count_as_they_say():
    result = ev.evaluate("random", ["random"], hands=52, seed=2, rules=SMALL)
    found = matches(result)
    seat = found["seat", "random"]
    assert (seat["deals"], seat["hands"]) == (11, 55)
    assert len(seat["mean_by_seat"]) == 5
    assert np.mean(seat["mean_by_seat"]) == pytest.approx(seat["mean"], abs=1e-3)
    for name in CAMPS:
        assert (found[name, "random"]["deals"], found[name, "random"]["hands"]) == (52, 52)
    both = found["camp", "random"]
    means = [found[name, "random"]["mean"] for name in CAMPS]
    assert both["mean"] == pytest.approx(np.mean(means), abs=1e-3)


def test_an_agent_without_chance_against_itself_draws_exactly():
    """greedy draws nothing, so its duplicate matches against itself are 0 to the last point."""
    found = matches(ev.evaluate("greedy", ["greedy"], hands=60, seed=3))
    assert found["seat", "greedy"]["mean"] == 0
    assert found["camp", "greedy"]["mean"] == 0
    assert found["camp", "greedy"]["deviation"] == 0
    assert found["emperor_camp", "greedy"]["mean"] == -found["rebel_camp", "greedy"]["mean"]


def test_the_better_agent_wins_in_every_format():
    for match in ev.evaluate("greedy", ["random"], hands=60, seed=3)["matches"]:
        assert match["low"] > 0
    for match in ev.evaluate("random", ["greedy"], hands=60, seed=3)["matches"]:
        assert match["high"] < 0


def played(name, deals, seeds=(1, 2), agents=None, rules=SMALL, only=None, **options):
    """Hands of a match of two random agents, or of those given."""
    agents = agents or [RandomAgent(), RandomAgent()]
    askers = [Asker(agent, agent.name) for agent in agents]
    for asker, seed in zip(askers, seeds, strict=True):
        asker.start(seed)
    pack = make_pack(rules, deals, 5, only)
    return play_deals(
        Engine(rules), pack, Match(name, (0, 1), deals), range(deals), askers, 5, **options
    )


@pytest.mark.parametrize("name", ["seat", *CAMPS])
def test_both_sides_together_score_zero(name):
    """What an agent wins its opponents lose, and its seats are those that the format says."""
    hands = played(name, 20)
    assert not hands.scores.sum(axis=1).any()
    mine = hands.lineups == 0
    if name == "seat":
        assert (np.flatnonzero(mine.ravel()) % 5 == hands.rotations).all()
        assert (hands.rotations.reshape(20, 5) == np.arange(5)).all()
    else:
        seats = np.arange(5)
        camp = (hands.emperor[:, None] == seats) | (hands.guard[:, None] == seats)
        assert (mine == (camp == (name == "emperor_camp"))).all()


def test_camps_meet_in_the_same_roles():
    """Both camp formats play the same deals with the same emperor and guard."""
    one = played("emperor_camp", 60, (1, 2), rules="qingdao")
    other = played("rebel_camp", 60, (3, 4), rules="qingdao")
    for hands in (one, other):
        assert (hands.guard >= 0).mean() > 0.8  # the neutral caller seeks a guard
        assert not (hands.solo == 1).any()  # and never grabs
    for name in ("emperor", "guard", "solo"):
        assert (getattr(one, name) == getattr(other, name)).all()


def test_the_neutral_caller_draws_by_deal_and_move_alone():
    engine, caller = Engine(), NeutralCaller()
    state = engine.reset(np.arange(30, dtype=np.uint64))
    while True:
        rows = np.flatnonzero(state.phase != engine.phases.index("play"))
        if not len(rows):
            break
        seeds = state.seeds[:, 0]
        views = Views(engine, state, state.actor[rows], rows)
        chosen = caller.choose(views, seeds[rows], state.moves[rows])
        half = rows[::2]
        part = caller.choose(
            Views(engine, state, state.actor[half], half), seeds[half], state.moves[half]
        )
        assert (chosen[::2] == part).all()
        engine.step(state, chosen, rows)


def test_agents_that_only_act_get_history_and_must_play_legally():
    class Slow:
        name = "slow"
        lengths: list[int] = []  # noqa: RUF012

        def reset(self, seed=None):
            pass

        def act(self, view):
            assert len(view.history) == int(view.state.moves[0])
            self.lengths.append(len(view.history))
            return view.legal[0]

    result = ev.evaluate(Slow(), ["random"], formats=["seat"], hands=5, seed=0)
    assert max(Slow.lengths) > 50
    assert result["agents"][0] == {"label": "slow", "name": "slow"}

    class Cheat(Slow):
        def act(self, view):
            return "grab" if "grab" not in view.legal else "yield"

    with pytest.raises(ValueError, match=r"slow.*legal"):
        ev.evaluate(Cheat(), ["random"], formats=["seat"], hands=5)


def test_agents_streams_have_nothing_to_do_with_the_deals():
    plan = Plan(make_pack("qingdao", 50, 1), 1, ("a", "b"), ("a", "b"), ())
    words = {plan.agent_seed(0), plan.agent_seed(1), plan.agent_seed(0, 3, 7), 1}
    deals = hand_seeds(np.full(50, 1, np.uint64), np.arange(1, 51))
    assert len(words) == 4
    assert not words & set(deals.tolist())


def test_intervals_are_over_deals():
    values = np.array([1.0, 3.0, 5.0, 7.0] * 12)[:, None]
    mean, low, high = (v[0] for v in bootstrap(values, np.ones_like(values), 3))
    half = student(47) * values.std(ddof=1) / math.sqrt(48)
    assert mean == 4
    assert high - 4 == pytest.approx(half, rel=0.08)
    assert 4 - low == pytest.approx(half, rel=0.08)
    assert student(10) == pytest.approx(2.228139, rel=1e-3)
    assert student(1000) == pytest.approx(1.962339, rel=1e-4)
    assert math.isnan(bootstrap(values[:1], np.ones((1, 1)), 3)[1][0])  # one deal says nothing


def test_result_file_and_table(tmp_path, capsys):
    path = tmp_path / "deep" / "result.json"
    result = ev.evaluate("random", ["random"], hands=10, seed=0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    results.write_json(path, result)
    assert max(map(len, terminal.table(result).splitlines())) <= 80
    stored = json.loads(path.read_text())
    assert stored == json.loads(json.dumps(result))
    assert {
        "format", "lupai", "rules", "action_layout", "observation_layout", "seed", "pack",
        "formats", "players", "opponents", "agents", "matches", "commit", "numpy",
    } <= set(stored)  # fmt: skip
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"formats": ["seats"]}, "seat, emperor_camp, rebel_camp"),
        ({"hands": 0}, "at least one hand"),
        ({"opponents": []}, "opponent"),
    ],
)
def test_mistakes_are_named(options, part):
    with pytest.raises(ArenaError, match=part):
        ev.evaluate("random", **{"opponents": ["random"], **options})
