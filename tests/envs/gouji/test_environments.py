"""gouji_v0: PettingZoo's checks, records, many tables against one, reset options."""

import functools
import json
import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from lupai.envs import gouji_v0
from lupai.envs.errors import IllegalMoveError, RulesError
from lupai.envs.records import dump_record, load_record, verify_record
from lupai.envs.verify import verify_records

RULES = ("shandong", "shandong;burn_fail=last_place;end=last_player", "shandong;tribute=true")
BEFORE = [3, 1, 0, 2, 4, 5]  # 4 gives one card to 1; 5 and 3 are mates


def play_out(env, rng):
    """Random legal moves to the end."""
    while not all(env.terminations.values()):
        ids = np.flatnonzero(env.last()[0]["action_mask"])
        env.step(int(rng.choice(ids)))


@pytest.mark.parametrize("rules", RULES)
def test_api_test_of_pettingzoo(rules):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(gouji_v0.env(rules), num_cycles=400)
        api_test(gouji_v0.raw_env(rules), num_cycles=400)


@pytest.mark.parametrize("rules", RULES)
def test_seed_test_of_pettingzoo(rules):
    seed_test(functools.partial(gouji_v0.env, rules), num_cycles=60)


@pytest.mark.parametrize("rules", RULES)
def test_a_record_of_an_episode_is_a_possible_hand(rules):
    env, rng = gouji_v0.raw_env(rules), np.random.default_rng(1)
    options = {"previous_finish": BEFORE} if "tribute" in rules else None
    records = []
    for seed in range(4):
        env.reset(seed=seed, options=options)
        play_out(env, rng)
        record = load_record(dump_record(env.record()))
        assert list(record)[:9] == [
            "format", "game", "rules", "seed", "start", "hands", "moves", "revolter", "recorded",
        ]  # fmt: skip
        assert record["game"] == "gouji"
        assert "roles" not in record
        assert verify_record(record) == []
        records.append(record)
    assert verify_records(records) == [[]] * 4
    if options:
        assert records[0]["meta"]["lupai"]["previous_finish"] == BEFORE
        offers = [move for record in records for move in record["moves"] if " offer " in move]
        assert offers
        for move in offers:  # the very card
            assert move.split(" ")[2] in {c for hand in record["hands"] for c in hand.split(" ")}


@pytest.mark.parametrize("field", ["recorded", "scores", "finish", "revolter", "hands"])
def test_a_record_that_says_something_else_is_refused(field):
    env = gouji_v0.raw_env()
    env.reset(seed=5)
    play_out(env, np.random.default_rng(5))
    record = env.record()
    wrong = {
        "recorded": [7, 0], "scores": [1, -1] * 3, "finish": record["finish"][::-1], "revolter": 3,
        "hands": [record["hands"][1], record["hands"][0], *record["hands"][2:]],
    }  # fmt: skip
    (verdict,) = verify_records([load_record(json.dumps(record | {field: wrong[field]}))])
    assert field in str(verdict) or field == "hands"
    assert isinstance(verdict, Exception)


@pytest.mark.parametrize(
    "order",
    [[0, 1, 2, 3, 4], [0, 0, 1, 2, 3, 4], "012345", [0, 1, 2, 3, 4, 6], 7],
)
def test_a_wrong_order_of_the_previous_hand_is_one_clear_error(order):
    env = gouji_v0.raw_env("shandong;tribute=true")
    with pytest.raises(RulesError, match=r"previous_finish .*: give all six seats 0 … 5"):
        env.reset(seed=1, options={"previous_finish": order})


def test_an_order_without_tribute_is_refused():
    with pytest.raises(RulesError, match="there is no tribute under these rules"):
        gouji_v0.raw_env().reset(seed=1, options={"previous_finish": BEFORE})


def test_an_unknown_option_is_named_with_those_there_are():
    with pytest.warns(UserWarning, match="'previous'; known: hands, start, previous_finish"):
        gouji_v0.raw_env().reset(seed=1, options={"previous": BEFORE})


def test_an_illegal_action_changes_nothing():
    env = gouji_v0.raw_env()
    env.reset(seed=2)
    before = env.state()
    with pytest.raises(IllegalMoveError, match=r"phase revolt.*legal: silent"):
        env.step(env.action_of("pass"))
    assert (env.state() == before).all()


def test_a_hand_given_in_deal_order_is_the_hand_of_the_seed():
    env = gouji_v0.raw_env()
    env.reset(seed=11)
    record, first = env.record(), env.state()
    env.reset(options={"hands": record["hands"], "start": record["start"]})
    assert (env.state() == first).all()


@pytest.mark.parametrize("rules", RULES[:2])
def test_many_tables_play_the_hands_of_single_ones(rules):
    count, steps = 6, 700
    many = gouji_v0.vector_env(count, rules, seed=30)
    seen, _ = many.reset()
    single = [gouji_v0.raw_env(rules) for _ in range(count)]
    for i, env in enumerate(single):
        env.reset(seed=30 + i)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        flat, offsets = many.legal_ids()
        actions = flat[rng.integers(offsets[:-1], offsets[1:])]
        for i, env in enumerate(single):
            mine = env.last()[0]
            assert (mine["observation"] == seen["observation"][i]).all()
            ids = np.flatnonzero(mine["action_mask"])
            assert (ids == flat[offsets[i] : offsets[i + 1]]).all()
            env.step(int(actions[i]))
        seen, rewards, ended, _, _ = many.step(actions)
        for i, env in enumerate(single):
            assert all(env.terminations.values()) == ended[i]
            assert [env.rewards[a] for a in env.possible_agents] == rewards[i].tolist()
            if ended[i]:
                env.reset()


def _hands_through_aec(seeds):
    env, rng = gouji_v0.env(), np.random.default_rng(seeds.start)
    for seed in seeds:
        env.reset(seed=seed)
        total = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            seen, reward, done, cut, _ = env.last()
            total[agent] += reward
            assert not cut
            legal = np.flatnonzero(seen["action_mask"])
            env.step(None if done else int(legal[int(rng.random() * len(legal))]))
        assert sum(total.values()) == 0
        assert len({abs(value) for value in total.values()}) == 1


def test_hands_through_the_wrapped_environment():
    _hands_through_aec(range(12))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_hands_through_the_wrapped_environment(part):
    _hands_through_aec(range(1000 * part, 1000 * (part + 1)))
