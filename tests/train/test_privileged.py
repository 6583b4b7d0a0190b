"""What only a critic may see, against the engine's own answers; both samplers give the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("ray")

from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.observation import STATE
from lupai.envs.cards import count_ranks
from lupai.train.privileged import (
    FEATURES,
    GROUNDED,
    MOST_CHECKS,
    NOBODY_IS_GUARD,
    PRIVILEGED,
    PRIVILEGED_LAYOUT,
    UNLABELLED,
    learner_columns,
    privileged_rows,
    role_labels,
)
from lupai.train.rllib.env import LupaiEnv
from lupai.train.sampling.tables import Tables

pytestmark = pytest.mark.train

PRESETS = ("qingdao", "shiwei", "weihai")
SECRET = np.zeros(ACTIONS.size, bool)
SECRET[ACTIONS.offsets["call_secret"] : SET] = True
LOUD = np.zeros(ACTIONS.size, bool)  # what tells who is guard
LOUD[[VERB_ID[v] for v in ("grab", "declare", "solo", "open", "oppose", "niu", "ti")]] = True
LOUD[ACTIONS.offsets["call_open"] : SET] = LOUD[SET_IDENTITY:] = True


def quiet_positions(rules, tables=80, plies=90):
    """Engine and states of play; at three tables of four roles stay hidden where that is legal."""
    engine = Engine(rules)
    state = engine.reset(np.arange(tables, dtype=np.uint64) + 7)
    rng = np.random.default_rng(0)
    for ply in range(plies):
        alive = np.flatnonzero(~state.over)
        if ply % 5 == 0:
            yield engine, state.take(alive)
        ids, offsets = engine.legal(state, alive).ids()
        chosen = []
        for i, table in enumerate(alive):
            moves = ids[offsets[i] : offsets[i + 1]]
            if table % 4:
                for wanted in (SECRET[moves], ~LOUD[moves]):
                    if wanted.any():
                        moves = moves[wanted]
                        break
            chosen.append(rng.choice(moves))
        engine.step(state, np.array(chosen), alive)


@pytest.mark.parametrize("rules", PRESETS)
def test_labels_say_who_is_guard_to_those_who_do_not_know(rules):
    kinds = Counter()
    for engine, state in quiet_positions(rules):
        for seats in (state.actor.astype(int), np.full(len(state), 2)):
            labels = role_labels(state, seats)
            masked = engine.mask_hidden(state, seats)
            for i, outcome in enumerate(engine.outcomes(state)):
                roles, seat = outcome["roles"], seats[i]
                if roles["emperor"] is None:
                    kind, wanted = "before", UNLABELLED
                elif masked.public[i]:
                    kind, wanted = "public", UNLABELLED
                elif masked.solo[i] or masked.guard[i] >= 0:
                    kind, wanted = "knows", UNLABELLED
                elif roles["solo"] == "secret":
                    kind, wanted = "nobody", NOBODY_IS_GUARD
                else:
                    kind, wanted = "somebody", (roles["guard"] - seat) % 5 - 1
                kinds[kind] += 1
                assert labels[i] == wanted, (kind, outcome, seat)
    needed = {"qingdao": 5, "shiwei": 4, "weihai": 4}[rules]
    assert len(kinds) >= needed, kinds
    assert kinds["somebody"] > 100


@pytest.mark.parametrize("rules", PRESETS)
def test_rows_are_the_referees_view_counted_from_the_seat(rules):
    phases = set()
    for engine, state in quiet_positions(rules, tables=40):
        seats = np.arange(len(state)) % 5
        rows = privileged_rows(state, seats)
        truth = engine.state_vector(state)
        phases |= set(state.phase.tolist())
        assert (rows >= PRIVILEGED_LAYOUT.low).all()
        assert (rows <= PRIVILEGED_LAYOUT.high).all()
        for i, seat in enumerate(seats):
            order = (seat + np.arange(5)) % 5
            part = {s: PRIVILEGED_LAYOUT.section(rows[i], s) for s in PRIVILEGED_LAYOUT.by_name}
            hands = STATE.section(truth[i], "hands")
            assert (part["ranks"] == count_ranks(hands)[order]).all()
            for name in ("roles", "identity_seat", "marked_b"):
                assert (part[name] == STATE.section(truth[i], name)[order]).all(), name
            assert (part["solo"] == STATE.section(truth[i], "solo")).all()
            assert part["role_label"] == role_labels(state.take([i]), [seat])
    assert len(phases) > 2  # also before there are roles


def test_grounded_chances_stand_in_the_order_of_the_labels():
    seen = 0
    for engine, state in quiet_positions("qingdao", tables=60):
        seats = state.actor.astype(int)
        columns = learner_columns(engine, state, seats, np.ones(len(state)))
        assert columns[GROUNDED].dtype == np.float32
        assert (~np.isnan(columns[GROUNDED][:, 0])).sum() <= MOST_CHECKS
        for i, chances in enumerate(columns[GROUNDED]):
            label = int(columns[PRIVILEGED][i, FEATURES])
            if np.isnan(chances).all():
                continue
            seen += 1
            assert label != UNLABELLED
            whole = engine.guard_chances(state, seats[i], [i])[0]
            others = [whole[(seats[i] + k) % 5] for k in (1, 2, 3, 4)]
            assert chances == pytest.approx([*others, whole[5]])
            assert chances[label] > 0  # the truth is never excluded
            assert chances.sum() == pytest.approx(1)
    assert seen > 20


def test_both_samplers_give_the_same_rows_for_the_same_hands():
    """One table of ours and RLlib's env, on the same stream of deals."""
    env = LupaiEnv({"stream": [5], "privileged": True})
    tables = Tables("qingdao", "idle", [5, 0, 9], 1)
    obs, infos = env.reset(seed=9)
    rng = np.random.default_rng(0)
    hands = 0
    for _ in range(600):
        (agent,) = obs
        assert agent == f"player_{tables.seats[0]}"
        assert (obs[agent]["observation"] == tables.observe()[0][0]).all()
        columns = tables.privileged()
        assert set(infos) == {agent}
        assert set(columns) == set(infos[agent]) == {PRIVILEGED}
        assert (infos[agent][PRIVILEGED] == columns[PRIVILEGED][0]).all()
        move = int(rng.choice(tables.legal.ids()[0]))
        tables.step(np.array([move]))
        obs, _, terminated, _, infos = env.step({agent: move})
        if terminated["__all__"]:
            hands += 1
            assert not any(PRIVILEGED in info for info in infos.values())
            obs, infos = env.reset()
    assert hands > 2


def test_with_opponents_the_rows_are_of_the_tables_that_wait():
    import pickle

    import lupai.agents
    from lupai.train.league.lineups import Lineups
    from lupai.train.league.matchmaking import Plan

    lineups = Lineups(24)
    plan = Plan(("random",), (1.0,), 0.3, (1.0, 1.0, 1.0, 1.0), 3)
    lineups.take(plan, {"random": pickle.dumps(lupai.agents.load("random"))})
    tables = Tables("qingdao", "idle", [2], 24, lineups)
    layout, fewer, rng = tables.engine.observation_layout, 0, np.random.default_rng(0)
    for _ in range(80):
        observation = tables.observe()[0]
        columns = tables.privileged(np.ones(len(tables.rows), bool))
        rows = columns[PRIVILEGED]
        assert len(rows) == len(columns[GROUNDED]) == len(tables.rows)
        own = count_ranks(layout.section(observation, "own_hand").astype(np.int8))
        assert (PRIVILEGED_LAYOUT.section(rows, "ranks")[:, 0] == own).all()
        checked = np.flatnonzero(~np.isnan(columns[GROUNDED][:, 0]))
        assert (rows[checked, FEATURES] != UNLABELLED).all()
        fewer += len(tables.rows) < len(tables)
        ids, offsets = tables.legal.take(tables.rows).ids()
        tables.step(ids[rng.integers(offsets[:-1], offsets[1:])])
    assert fewer > 20


def test_without_the_option_nothing_privileged_is_made():
    env = LupaiEnv({})
    _, infos = env.reset(seed=0)
    assert infos == {}
