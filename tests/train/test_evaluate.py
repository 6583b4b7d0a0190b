"""Evaluation: reproducible, fair to both sides, and honest about its intervals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lupai.agents.random_agent import RandomAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.view import Views
from lupai.train import evaluate as ev

CAMPS = ("emperor_camp", "rebel_camp")


def matches(result):
    return {(m["format"], m["opponent"]): m for m in result["matches"]}


def test_equal_seeds_give_equal_results_and_others_not():
    results = [ev.evaluate("random", ["greedy"], hands=40, seed=seed) for seed in (0, 0, 1)]
    for result in results:
        result.pop("seconds")
    assert results[0] == results[1]
    assert results[0]["matches"] != results[2]["matches"]


def test_how_many_tables_advance_together_does_not_matter(monkeypatch):
    whole = ev.evaluate("random", ["greedy"], hands=30, seed=4)["matches"]
    monkeypatch.setattr(ev, "TABLES_AT_ONCE", 7)
    assert ev.evaluate("random", ["greedy"], hands=30, seed=4)["matches"] == whole


def test_formats_rotate_and_count_as_they_say():
    result = ev.evaluate("random", ["random"], hands=52, seed=2)
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


@pytest.mark.parametrize("name", ["seat", *CAMPS])
def test_both_sides_together_score_zero(name, monkeypatch):
    """What an agent wins its opponents lose: read off every final score of a match."""
    engine, plan = Engine(), ev._plan(name, 20, 5)
    finals = []
    original = Engine.scores

    def scores(self, state):
        finals.append(original(self, state))
        return finals[-1]

    monkeypatch.setattr(Engine, "scores", scores)

    class Bar:
        def update(self, n):
            assert n >= 0

    mine = ev._play(engine, plan, RandomAgent(1), RandomAgent(2), 5, Bar())
    final = np.concatenate(finals)
    assert len(final) == len(mine)
    assert not final.sum(axis=1).any()
    if name == "seat":
        assert (mine == final[np.arange(len(final)), plan.seats]).all()


def test_camps_meet_in_the_same_roles():
    """Both camp formats play the same deals with the same emperor and guard."""
    seen = []
    original = ev._in_camp

    def spy(state, rows, seats):
        seen.append(state)
        return original(state, rows, seats)

    class Bar:
        def update(self, n):
            pass

    roles = []
    for name in CAMPS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ev, "_in_camp", spy)
            ev._play(Engine(), ev._plan(name, 80, 5), RandomAgent(8), RandomAgent(9), 6, Bar())
        state = seen[-1]
        roles.append((state.emperor.tolist(), state.guard.tolist(), state.solo.tolist()))
        assert (state.guard >= 0).mean() > 0.8  # the neutral caller seeks a guard
        assert not (state.solo == 1).any()  # and never grabs
    assert roles[0] == roles[1]


def test_the_neutral_caller_draws_by_deal_and_move_alone():
    engine, caller = Engine(), ev.NeutralCaller(7)
    state = engine.reset(np.arange(30, dtype=np.uint64))
    deals = np.arange(30)
    while True:
        rows = np.flatnonzero(state.phase != engine.phases.index("play"))
        if not len(rows):
            break
        views = Views(engine, state, state.actor[rows], rows)
        chosen = caller.choose(views, deals[rows], state.moves[rows])
        half = rows[::2]
        part = caller.choose(
            Views(engine, state, state.actor[half], half), deals[half], state.moves[half]
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
    assert result["agent"] == {"name": "slow"}

    class Cheat(Slow):
        def act(self, view):
            return "grab" if "grab" not in view.legal else "yield"

    with pytest.raises(ValueError, match=r"slow.*legal"):
        ev.evaluate(Cheat(), ["random"], formats=["seat"], hands=5)


def test_agents_streams_have_nothing_to_do_with_the_deals():
    words = {ev._word(1, which) for which in range(4)}
    deals = set(ev._stream(1, 0).generate_state(50, np.uint64).tolist())
    assert len(words) == 4
    assert not {ev._word(1, 2), ev._word(1, 3)} & deals


def test_intervals_are_over_deals():
    values = np.array([1.0, 3.0, 5.0, 7.0])
    found = ev._interval(values)
    half = 3.182446 * values.std(ddof=1) / 2  # Student's t for 3 degrees of freedom
    assert found["mean"] == 4
    assert found["high"] - 4 == pytest.approx(half, rel=0.02)
    assert ev._student(10) == pytest.approx(2.228139, rel=1e-3)
    assert ev._student(1000) == pytest.approx(1.962339, rel=1e-4)
    assert math.isfinite(ev._interval(np.array([2.0]))["low"])


def test_result_file_and_table(tmp_path, capsys):
    path = tmp_path / "deep" / "result.json"
    result = ev.evaluate("random", ["random"], hands=10, seed=0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    ev.write_json(path, result)
    assert max(map(len, ev.table(result).splitlines())) <= 80
    stored = json.loads(path.read_text())
    assert stored == json.loads(json.dumps(result))
    assert {
        "format", "lupai", "rules", "action_layout", "observation_layout", "seed", "deals",
        "rotation", "calling", "agent", "opponents", "matches",
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
    with pytest.raises(ev.EvaluationError, match=part):
        ev.evaluate("random", **{"opponents": ["random"], **options})
