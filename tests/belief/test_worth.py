"""The experiment that tells players who is guard."""

import numpy as np
import pytest

from lupai.agents.rollout import rollout
from lupai.agents.tactical import TacticalAgent, heuristic
from lupai.envs.baohuang.engine import Engine
from lupai.train.arena.packs import load_pack
from lupai.train.belief.worth import (
    BELIEFS,
    SUBJECTS,
    Oracle,
    flat,
    hidden_hands,
    interventions,
    play_on,
    price,
    subjects,
)

PRESETS = ("qingdao", "shiwei", "weihai")


def hands(preset, deals=12):
    engine = Engine(preset)
    return engine, hidden_hands(engine, load_pack("dev", preset), deals)


@pytest.mark.parametrize("preset", PRESETS)
def test_beliefs_say_what_their_names_say(preset):
    engine, start = hands(preset, 60)
    assert len(start) > 40
    assert (start.public == 0).all()
    oracle, rows = Oracle(start), np.arange(len(start))
    for who in ("emperor", "rebel"):
        told = subjects(start, who)
        assert (told.sum(axis=1) == 1).all()
        viewers = told.argmax(axis=1)
        masked = engine.mask_hidden(start, viewers)
        assert not masked.seeds.any()
        masked.seeds[:, 0] = rows
        guard = np.where(start.guard < 0, 5, start.guard)
        assert (viewers != guard).all()
        truth = oracle.truth(engine.rules, masked, viewers)
        assert (truth[rows, guard] == 1).all()
        wrong = oracle.wrong(engine.rules, masked, viewers)
        assert (wrong.sum(axis=1) == 1).all()
        said = wrong.argmax(axis=1)
        assert ((said != guard) & (said != viewers) & (said != start.emperor) & (said < 5)).all()
        alike = flat(engine.rules, masked, viewers)
        np.testing.assert_allclose(alike.sum(axis=1), 1)
        assert (alike[rows, viewers] == 0).all()
    assert (subjects(start, "rebel") & subjects(start, "emperor")).sum() == 0


def test_with_the_usual_belief_nothing_changes():
    engine, start = hands("weihai")
    nobody = np.zeros((len(start), 5), bool)
    plain = rollout(TacticalAgent(), start, engine)
    assert (play_on(engine, start, flat, nobody, heuristic) == plain).all()
    assert (play_on(engine, start, heuristic, ~nobody, flat) == plain).all()


def test_what_is_told_reaches_the_player():
    engine, start = hands("qingdao", 30)
    everybody = np.ones((len(start), 5), bool)
    oracle = Oracle(start)
    told = play_on(engine, start, oracle.truth, everybody, heuristic)
    other = play_on(engine, start, oracle.wrong, everybody, heuristic)
    assert (told != other).any()
    assert (told == play_on(engine, start, oracle.truth, everybody, heuristic)).all()


def test_rows_are_differences_of_means_and_sum_to_nothing_over_the_table():
    engine, start = hands("weihai")
    rows = price(engine, start)
    assert [row.who for row in rows] == ["emperor", "guard", "rebels", "camp"]
    for row in rows:
        assert row.after - row.before == pytest.approx(row.mean)
        assert row.low <= row.mean <= row.high
    again = price(engine, start)
    assert rows == again


@pytest.mark.slow
def test_every_belief_is_given_to_every_subject():
    engine, start = hands("weihai", 8)
    rows = interventions(engine, start)
    assert [(row.who, row.what) for row in rows] == [(w, b) for w in SUBJECTS for b in BELIEFS]
    assert all(row.hands == len(start) for row in rows)
