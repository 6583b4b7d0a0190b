"""The AEC environment: PettingZoo's own tests, and what they do not see."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test

from lupai.envs import baohuang_v0
from lupai.envs.aec import CardGameEnv
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.errors import IllegalMoveError, LupaiError, RulesError, SeedError
from lupai.envs.records import dump_record, load_record, verify_record
from tests.oracle.qingdao import play_record
from tests.oracle.random_play import biased_deal, biased_move, small_deck

AGENTS = [f"player_{seat}" for seat in range(5)]
PRESETS = ("qingdao", "shiwei", "weihai")
JOKER = {"preset": "shiwei", "guard_by": "marked_small_joker"}


def play_out(env: Any, rng: np.random.Generator, seed: int | None = None) -> dict[str, float]:
    """Play one hand at random with the standard loop; what ``last()`` paid to each agent."""
    env.reset(seed=seed)
    paid: dict[str, float] = dict.fromkeys(AGENTS, 0)
    for agent in env.agent_iter():
        obs, reward, term, trunc, _ = env.last()
        paid[agent] += reward
        legal = obs["action_mask"].nonzero()[0]
        env.step(None if term or trunc else int(rng.choice(legal)))
    return paid


def some_way_in(seed: int, moves: int, rules: Any = "qingdao") -> CardGameEnv:
    """A raw environment after some random moves."""
    env = baohuang_v0.raw_env(rules, render_mode="ansi")
    env.reset(seed=seed)
    rng = random.Random(seed)
    for _ in range(moves):
        if env.terminations["player_0"]:
            break
        env.step(env.action_of(rng.choice(env.legal_moves())))
    return env


@pytest.mark.smoke
@pytest.mark.parametrize("rules", PRESETS)
def test_api_test_of_pettingzoo(rules: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(baohuang_v0.env(rules), num_cycles=1000)
        api_test(baohuang_v0.raw_env(rules), num_cycles=1000)


@pytest.mark.smoke
@pytest.mark.parametrize("cycles", [500])
@pytest.mark.parametrize("rules", PRESETS)
def test_seed_test_of_pettingzoo(rules: str, cycles: int) -> None:
    seed_test(functools.partial(baohuang_v0.env, rules), num_cycles=cycles)


def test_seed_0_is_a_seed() -> None:
    hands = []
    for seed in (0, 0, 1):
        env = baohuang_v0.raw_env()
        env.reset(seed=seed)
        hands.append(env.record()["hands"])
    assert hands[0] == hands[1] != hands[2]


def test_reset_without_a_seed_deals_the_next_hand_of_the_running_seed() -> None:
    first, second = baohuang_v0.raw_env(), baohuang_v0.raw_env()
    first.reset(seed=5)
    second.reset(seed=5)
    seen = {first.record()["seed"]}
    for _ in range(3):
        first.reset()
        second.reset()
        record = first.record()
        assert record == second.record()
        seen.add(record["seed"])
        again = baohuang_v0.raw_env()
        again.reset(seed=record["seed"])
        assert again.record()["hands"] == record["hands"]
    assert len(seen) == 4


def test_two_environments_without_a_seed_differ_and_global_numpy_is_left_alone() -> None:
    before = np.random.get_state()[1].tobytes()  # type: ignore[union-attr]  # noqa: NPY002
    a, b = baohuang_v0.raw_env(), baohuang_v0.raw_env()
    a.reset()
    b.reset()
    play_out(a, np.random.default_rng(0))
    after = np.random.get_state()[1].tobytes()  # type: ignore[union-attr]  # noqa: NPY002
    assert after == before
    assert a.record()["hands"] != b.record()["hands"]


@pytest.mark.parametrize("seed", [-1, 1 << 64, True, "7", 1.5])
def test_a_bad_seed_is_refused(seed: Any) -> None:
    env = baohuang_v0.raw_env()
    with pytest.raises(SeedError, match="seed"):
        env.reset(seed=seed)


@pytest.mark.parametrize("rules", PRESETS)
def test_every_seat_gets_its_whole_score_once_whoever_acts_last(rules: str) -> None:
    env = baohuang_v0.env(rules)
    rng = np.random.default_rng(1)
    for seed in range(12 if rules == "qingdao" else 6):
        paid = play_out(env, rng, seed)
        record = env.unwrapped.record()
        assert list(paid.values()) == record["scores"] == play_record(record).scores
        assert sum(paid.values()) == 0
        assert env.agents == []


@pytest.mark.parametrize("rules", PRESETS)
def test_all_five_end_together_and_a_finished_seat_is_never_asked(rules: str) -> None:
    for seed in range(8 if rules == "qingdao" else 5):
        env = some_way_in(seed, 0, rules)
        rng = random.Random(seed)
        while not env.terminations["player_0"]:
            assert env.agents == AGENTS
            assert not any(env.terminations.values())
            assert not any(env.truncations.values())
            assert set(env.rewards.values()) == {0}
            seat = AGENTS.index(env.agent_selection)
            assert env._state.sizes[0, seat] > 0
            env.step(env.action_of(rng.choice(env.legal_moves())))
        assert all(env.terminations.values())
        assert len(env.terminations) == 5
        assert not any(env.truncations.values())
        info = env.infos["player_3"]
        assert len(set(info["finish"])) == len(info["finish"])
        if rules == "qingdao":
            assert sorted(info["finish"]) == [0, 1, 2, 3, 4]
        assert info["phase"] == "over"
        assert [env.rewards[a] for a in AGENTS] == info["scores"]


def test_masks_and_observations_fit_their_spaces_and_only_the_actor_has_a_mask() -> None:
    for seed, moves in ((0, 0), (0, 3), (1, 40), (2, 200), (3, 10_000)):
        env = some_way_in(seed, moves)
        legal = [env.action_of(m) for m in env.legal_moves()]
        for agent in AGENTS:
            obs = env.observe(agent)
            space = env.observation_space(agent)
            assert space is env.observation_space(agent)
            assert env.action_space(agent) is env.action_space(agent)
            assert space.contains(obs), agent
            assert obs["observation"].dtype == obs["action_mask"].dtype == np.int8
            mine = agent == env.agent_selection and not env.terminations[agent]
            assert obs["action_mask"].nonzero()[0].tolist() == (sorted(legal) if mine else [])
        assert env.state_space.contains(env.state())


def test_sampling_with_the_mask_gives_legal_moves() -> None:
    env = some_way_in(4, 12)
    space = env.action_space(env.agent_selection)
    assert isinstance(space, spaces.Discrete)
    mask = env.observe(env.agent_selection)["action_mask"]
    for _ in range(20):
        assert env.move_of(int(space.sample(mask))) in env.legal_moves()


def test_arrays_given_out_are_never_changed_afterwards() -> None:
    env = some_way_in(6, 20)
    agent = env.agent_selection
    obs, state = env.observe(agent), env.state()
    kept = [a.copy() for a in (*obs.values(), state)]
    view = env.view(agent)
    text, hand = str(view), list(view.hand)
    rng = random.Random(0)
    for _ in range(40):
        env.step(env.action_of(rng.choice(env.legal_moves())))
        env.state()
        for name in AGENTS:
            env.observe(name)
            for before, now in zip(kept, (*obs.values(), state), strict=True):
                assert np.array_equal(before, now)
    env.reset()
    for before, now in zip(kept, (*obs.values(), state), strict=True):
        assert np.array_equal(before, now)
    assert (str(view), view.hand) == (text, hand)


@pytest.mark.parametrize("moves", [300, 10_000])
def test_nothing_is_left_over_from_the_last_episode(moves: int) -> None:
    used, fresh = some_way_in(8, moves), baohuang_v0.raw_env(render_mode="ansi")
    used.reset(seed=9)
    fresh.reset(seed=9)
    for agent in AGENTS:
        for key, array in used.observe(agent).items():
            assert np.array_equal(array, fresh.observe(agent)[key])
    assert used.record() == fresh.record()
    assert used.infos == fresh.infos
    assert used.rewards == fresh.rewards
    assert used._cumulative_rewards == fresh._cumulative_rewards
    assert used.render() == fresh.render()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("make", [baohuang_v0.env, baohuang_v0.raw_env])
def test_copies_in_the_middle_of_a_hand_are_equal_and_independent(clone: Any, make: Any) -> None:
    env = make()
    env.reset(seed=3)
    rng = random.Random(3)

    def moves(e: Any, count: int, r: random.Random) -> None:
        for _ in range(count):
            if e.unwrapped.terminations["player_0"]:
                e.reset()  # the random state must have been copied too
            e.step(e.unwrapped.action_of(r.choice(e.unwrapped.legal_moves())))

    moves(env, 60, rng)
    twin, before = clone(env), env.unwrapped.record()
    assert twin.unwrapped.record() == before
    moves(twin, 700, random.Random(1))
    assert env.unwrapped.record() == before
    moves(env, 700, random.Random(1))
    assert env.unwrapped.record() == twin.unwrapped.record()
    assert env.agent_selection == twin.agent_selection


TABLES: dict[str, tuple[Any, set[str]]] = {
    "qingdao": ("qingdao", {"grab", "call", "forced_call", "declare", "play"}),
    "shiwei": ("shiwei", {"grab", "call", "forced_call", "declare", "play"}),
    "weihai": (
        "weihai",
        {"solo", "solo_ti", "abandon", "offer", "declare", "oppose", "niu", "ti", "play"},
    ),
    "joker": (JOKER, {"grab", "open", "declare", "play"}),
}


def in_every_phase(rules: Any, phases: set[str], clones: int = 2) -> Iterator[CardGameEnv]:
    """Small hands at random, stopped some times in each phase, and once at the end."""
    left = dict.fromkeys((*phases, "over"), clones)
    for seed in range(300):
        rng = random.Random(seed)
        options = {"preset": rules} if isinstance(rules, str) else dict(rules)
        options["deck"] = small_deck(rng, options)
        hands, start = biased_deal(rng, rules=options)
        env = baohuang_v0.raw_env(options, render_mode="ansi")
        env.reset(seed=seed)  # so that there is a running seed as well
        env.reset(options={"hands": [" ".join(hand) for hand in hands], "start": start})
        over = False
        while not over:
            over = env.terminations["player_0"]
            phase = env.infos["player_0"]["phase"]
            assert phase in left
            if left[phase]:
                left[phase] -= 1
                yield env
            if not over:
                env.step(env.action_of(biased_move(env.legal_moves(), rng)))
        if not any(left.values()):
            return
    pytest.fail(f"phases that never came: {left}")


@pytest.mark.parametrize("table", TABLES)
def test_copies_in_every_phase_are_equal_and_independent(table: str) -> None:
    """deepcopy and pickle, in each phase: the same to the last byte, then on by themselves."""
    for env in in_every_phase(*TABLES[table]):
        before = everything(env)
        for clone in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            assert everything(clone) == before
            for _ in range(12):
                if clone.terminations["player_0"]:
                    clone.reset()
                clone.step(clone.action_of(clone.legal_moves()[-1]))
            assert everything(env) == before


def everything(env: CardGameEnv) -> tuple[Any, ...]:
    """All that an environment says."""
    views = [
        (obs["observation"].tobytes(), obs["action_mask"].tobytes(), str(env.view(agent)))
        for agent in AGENTS
        for obs in (env.observe(agent),)
    ]
    return (
        env.agent_selection, views, env.infos, env.rewards, env.terminations, env.record(),
        env.legal_moves(), env.state().tobytes(),
    )  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_phases_have_names_in_info_and_observation(table: str) -> None:
    """The one-hot of `phase` is the info's word, for everybody, in each phase."""
    rules, phases = TABLES[table]
    seen = set()
    for env in in_every_phase(rules, phases, clones=1):
        layout = env.engine.observation_layout
        for agent in AGENTS:
            name = env.infos[agent]["phase"]
            one_hot = layout.section(env.observe(agent)["observation"], "phase")
            assert one_hot.tolist() == [int(phase == name) for phase in env.engine.phases]
            assert env.view(agent).phase == name
            seen.add(name)
            assert env.observation_space(agent).contains(env.observe(agent))
        assert env.state_space.contains(env.state())
    assert seen == phases | {"over"}


@pytest.mark.parametrize("table", TABLES)
def test_info_at_the_end(table: str) -> None:
    """Roles, finish, scores and the multiplier, as the oracle has them; before that none of it."""
    rules = TABLES[table][0]
    multipliers, ends, redeals = set(), set(), 0
    for seed in range(40):
        rng = random.Random(seed)
        options = {"preset": rules} if isinstance(rules, str) else dict(rules)
        options["deck"] = small_deck(rng, options)
        env = baohuang_v0.env(options)
        if seed % 5:
            hands, start = biased_deal(rng, rules=options)
            env.reset(options={"hands": [" ".join(hand) for hand in hands], "start": start})
        else:
            env.reset(seed=seed)
        raw = env.unwrapped
        while not env.terminations["player_0"]:
            assert all(set(env.infos[a]) == {"rules", "phase", "redeals"} for a in AGENTS)
            env.step(raw.action_of(biased_move(raw.legal_moves(), rng)))
        record = raw.record()
        oracle = play_record(record)
        roles = {"emperor": oracle.emperor, "guard": oracle.guard, "solo": oracle.solo}
        for agent in AGENTS:
            info = env.infos[agent]
            assert info == {
                "rules": str(raw.engine.rules), "phase": "over", "redeals": record["redeals"],
                "roles": roles, "finish": oracle.finish, "scores": oracle.scores,
                "multiplier": oracle.multiplier,
            }  # fmt: skip
            assert json.loads(json.dumps(info)) == info
            assert env.rewards[agent] == info["scores"][AGENTS.index(agent)]
        redeals += record["redeals"]
        multipliers.add(oracle.multiplier)
        ends.add(oracle.solo or ("guard" if oracle.guard is not None else "nobody"))
    assert multipliers == ({1, 2, 4, 8} if table == "weihai" else {1, 2})
    assert {"guard", "secret", "open"} <= ends
    assert redeals or table in ("weihai", "joker")  # there nothing is ever void


def test_an_illegal_action_raises_and_changes_nothing_in_raw_env() -> None:
    env = some_way_in(2, 30)
    state = env._state.copy()
    legal = {env.action_of(m) for m in env.legal_moves()}
    seat = env.agent_selection[-1]
    for action in (-1, env.engine.actions.size, 10**9, *range(0, 10_628, 97)):
        if action in legal:
            continue
        with pytest.raises(IllegalMoveError, match=rf"seat {seat}.*legal: "):
            env.step(action)
    for nonsense in ("pass", None, 1.5):
        with pytest.raises(IllegalMoveError):
            env.step(nonsense)  # type: ignore[arg-type]
    assert env._state.equals(state)


def test_an_illegal_action_ends_the_hand_in_env() -> None:
    env = baohuang_v0.env()
    env.reset(seed=2)
    offender = env.agent_selection
    mask = env.observe(offender)["action_mask"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env.step(int(np.flatnonzero(mask == 0)[0]))
    assert all(env.terminations.values())
    assert env.rewards[offender] == -1
    assert sum(env.rewards.values()) == -1


def test_an_injected_deal_is_played_and_recorded_without_a_seed() -> None:
    source = some_way_in(11, 0).record()
    env = baohuang_v0.raw_env()
    env.reset(options={"hands": source["hands"], "start": source["start"]})
    record = env.record()
    assert (record["hands"], record["start"]) == (source["hands"], source["start"])
    assert record["seed"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hands": ["3s"] * 5}, "both options"),
        ({"hands": ["3s"] * 5, "start": 0}, "the deck 4"),
        ({"hands": ["3s"] * 4, "start": 0}, "5 hands"),
        ({"hands": ["3s"] * 5, "start": 5}, "no seat"),
        ({"hands": "3s", "start": 0}, "5 hands"),
        ({"hands": ["3s", "3x", "", "", ""], "start": 0}, "unreadable card '3x'"),
        ({"hands": ["9c*", "", "", "", ""], "start": 0}, "star"),
    ],
)
def test_a_bad_deal_is_refused(options: dict[str, Any], message: str) -> None:
    env = baohuang_v0.raw_env()
    with pytest.raises(LupaiError, match=message):
        env.reset(options=options)


def test_bad_arguments_name_what_is_allowed() -> None:
    with pytest.raises(LupaiError, match="allowed: score"):
        baohuang_v0.env(reward="money")
    with pytest.raises(LupaiError, match="allowed: ansi, human"):
        baohuang_v0.env(render_mode="rgb_array")
    with pytest.raises(RulesError, match="presets: qingdao"):
        baohuang_v0.env(rules="beijing")


def test_text_and_ids_of_all_legal_moves_round_trip() -> None:
    for seed, moves in ((0, 0), (0, 8), (5, 90), (7, 250)):
        env = some_way_in(seed, moves)
        texts = env.legal_moves()
        assert [env.move_of(env.action_of(t)) for t in texts] == texts
        assert len(set(texts)) == len(texts)


def test_info_holds_public_facts_only() -> None:
    env = some_way_in(3, 60)
    for agent in AGENTS:
        assert set(env.infos[agent]) == {"rules", "phase", "redeals"}
    env.infos["player_0"]["phase"] = "mine"
    assert env.infos["player_1"]["phase"] != "mine"


def test_moves_written_late_are_those_written_at_once() -> None:
    """Text is made when somebody asks: at every step, now and then, or at the end."""
    for seed in (0, 1, 2):
        envs = [baohuang_v0.raw_env(PRESETS[seed]) for _ in range(3)]
        rng = np.random.default_rng(seed)
        for env in envs:
            env.reset(seed=seed)
        texts: list[str] = []
        while envs[0].agents and not envs[0].terminations["player_0"]:
            mask = envs[0].observe(envs[0].agent_selection)["action_mask"]
            action = int(rng.choice(np.flatnonzero(mask)))
            text, public, _ = envs[0].engine.record_move(envs[0]._state, 0, action)
            seat, redeals = envs[0]._state.actor[0], envs[0]._state.redeals[0]
            for env in envs:
                env.step(action)
            if envs[0]._state.redeals[0] != redeals:
                texts = []
            else:
                texts.append(f"{seat} {text}")
                assert envs[0]._log.history[-1] == f"{seat} {public}"
            assert envs[0]._log.moves == texts
            if len(texts) % 7 == 3:
                assert envs[1].view().history == envs[0].view().history
        assert envs[0].record() == envs[1].record() == envs[2].record()
        assert envs[2].view("player_3").history == envs[0].view("player_3").history


def test_wrappers_give_what_the_environment_has() -> None:
    env: Any = baohuang_v0.env()
    names = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")
    for name in names:
        with pytest.raises(AttributeError, match="before reset"):
            getattr(env, name)
    env.reset(seed=1)
    for wrapper in (env, env.env, env.env.env):
        for name in (*names, "_cumulative_rewards"):
            assert getattr(wrapper, name) is getattr(env.unwrapped, name)
    assert str(env) == str(env.unwrapped) == "baohuang_v0"
    env.env.rewards = {}  # a value of the wrapper's own comes first
    assert env.env.rewards == {}
    twin = copy.deepcopy(env)
    twin.step(VERB_ID["decline"])
    assert twin.agent_selection != env.agent_selection
    with pytest.raises(AttributeError, match="private"):
        _ = env._state


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    env = some_way_in(3, 60)
    text = env.render()
    assert text is not None
    assert "GOD" not in text
    assert "Your hand" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.isascii()
    assert "GOD'S EYE" in env.render_gods_eye()
    assert capsys.readouterr().out == ""
    human = baohuang_v0.raw_env(render_mode="human")
    human.reset(seed=0)
    human.step(human.action_of("decline"))
    assert "Baohuang" in capsys.readouterr().out
    silent = baohuang_v0.raw_env()
    silent.reset(seed=0)
    assert silent.render() is None


@pytest.mark.parametrize("rules", PRESETS)
def test_records_of_random_hands_are_possible_hands_for_engine_and_oracle(rules: str) -> None:
    env = baohuang_v0.env(rules)
    rng = np.random.default_rng(5)
    for seed in range(6 if rules == "qingdao" else 3):
        play_out(env, rng, seed)
        record = load_record(dump_record(env.unwrapped.record()))
        assert verify_record(record) == []
        play_record(record)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rules", PRESETS)
def test_10_000_random_hands(rules: str) -> None:
    env = baohuang_v0.env(rules)
    rng = np.random.default_rng(10)
    for hand in range(10_000):
        paid = play_out(env, rng, 0 if hand == 0 else None)
        assert sum(paid.values()) == 0
