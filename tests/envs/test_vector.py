"""The vector environment plays what the AEC environment plays, and skips without a trace."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

from lupai.envs import baohuang_v0
from lupai.envs.errors import IllegalMoveError, LupaiError, SeedError

PRESETS = ("qingdao", "shiwei", "weihai")
I32 = np.ndarray[Any, np.dtype[np.int32]]


def pick(ids: I32, observation: np.ndarray[Any, Any]) -> int:
    """A move that depends on what the seat sees only, so that two runs can be compared."""
    return int(ids[int(observation.astype(np.int64) @ np.arange(observation.size)) % len(ids)])


def choose(env: Any, seen: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    flat, offsets = env.legal_ids()
    out = np.zeros(env.num_envs, np.int64)
    for i in range(env.num_envs):
        ids = flat[offsets[i] : offsets[i + 1]]
        out[i] = pick(ids, seen[i]) if len(ids) else -1
    return out


def aec_hands(rules: Any, seed: int, hands: int) -> list[tuple[bytes, list[float]]]:
    """Every observation and the scores of some hands of one seed, by the AEC environment."""
    env = baohuang_v0.raw_env(rules)
    out = []
    for number in range(hands):
        env.reset(seed=seed if number == 0 else None)
        seen = b""
        while not env.terminations["player_0"]:
            obs = env.observe(env.agent_selection)
            ids = np.flatnonzero(obs["action_mask"])
            seen += obs["observation"].tobytes()
            env.step(pick(ids, obs["observation"]))
        out.append((seen, list(env.rewards.values())))
    return out


def compare(rules: Any, tables: int, hands: int, first_seed: int) -> int:
    env = baohuang_v0.vector_env(tables, rules, seed=first_seed)
    obs, info = env.reset()
    played: list[list[tuple[bytes, list[float]]]] = [[] for _ in range(tables)]
    running = [b""] * tables
    while min(len(p) for p in played) < hands:
        seen = obs["observation"]
        for i in range(tables):
            running[i] += seen[i].tobytes()
        obs, rewards, terminated, truncated, info = env.step(choose(env, seen))
        assert not truncated.any()
        assert (rewards[~terminated] == 0).all()
        for i in np.flatnonzero(terminated):
            assert info["final_info"][i]["scores"] == rewards[i].tolist()
            played[i].append((running[i], rewards[i].tolist()))
            running[i] = b""
    for i in range(tables):
        assert played[i][:hands] == aec_hands(rules, first_seed + i, hands)
    return tables * hands


@pytest.mark.parametrize("rules", PRESETS)
def test_table_i_plays_the_hands_of_the_aec_env_with_its_seed(rules: str) -> None:
    assert compare(rules, tables=5, hands=2, first_seed=11) == 10


@pytest.mark.soak
@pytest.mark.parametrize("rules", PRESETS)
def test_1000_hands_equal_those_of_the_aec_env(rules: str) -> None:
    assert compare(rules, tables=200, hands=5, first_seed=1000) == 1000


@pytest.mark.parametrize(
    "rules",
    [*PRESETS, {"preset": "weihai", "open_solo": False}, {"preset": "qingdao", "yield": False}],
)
def test_who_was_skipped_is_no_part_of_any_observation(rules: Any) -> None:
    """With and without ``skip_forced``, decisions that are decisions look the same."""
    tables = 12
    plain = baohuang_v0.vector_env(tables, rules, seed=3, autoreset=False)
    quick = baohuang_v0.vector_env(tables, rules, seed=3, autoreset=False, skip_forced=True)
    seen: list[list[list[bytes]]] = []
    scores = []
    for env in (plain, quick):
        obs, _ = env.reset()
        mine: list[list[bytes]] = [[] for _ in range(tables)]
        total = np.zeros((tables, 5))
        forced = 0
        while not env.state.over.all():
            counts = env.legal.counts()
            forced += int((counts == 1).sum())
            for i in np.flatnonzero(counts > 1):
                seat = obs["acting_seat"][i]
                mine[i].append(bytes([seat]) + obs["observation"][i].tobytes())
            obs, rewards, *_ = env.step(choose(env, obs["observation"]))
            total += rewards
        seen.append(mine)
        scores.append(total)
        assert (forced == 0) == env.skip_forced
    assert seen[0] == seen[1]
    assert np.array_equal(scores[0], scores[1])


def test_a_table_that_is_over_rests_without_autoreset() -> None:
    env = baohuang_v0.vector_env(4, "weihai", seed=0, autoreset=False)
    obs, _ = env.reset()
    paid = np.zeros((4, 5))
    ends = np.zeros(4, int)
    for _ in range(3000):
        obs, rewards, terminated, _, _ = env.step(choose(env, obs["observation"]))
        paid += rewards
        ends += terminated
        for i in np.flatnonzero(env.state.over):
            assert obs["acting_seat"][i] == -1
            assert not obs["observation"][i].any()
            assert env.legal.counts()[i] == 0
        if env.state.over.all():
            break
    assert ends.tolist() == [1] * 4
    assert (paid.sum(axis=1) == 0).all()
    again, *_ = env.step(np.full(4, 10**6))
    assert not again["observation"].any()


def test_observations_fit_the_spaces_and_are_fresh() -> None:
    env = baohuang_v0.vector_env(3, seed=5)
    obs, info = env.reset()
    assert env.observation_space.contains(obs)
    kept = obs["observation"].copy()
    for _ in range(60):
        actions = choose(env, obs["observation"])
        assert env.action_space.contains(actions)
        assert (env.action_mask()[np.arange(3), actions] == 1).all()
        fresh, *_ = env.step(actions)
        assert np.array_equal(obs["observation"], kept)
        obs, kept = fresh, fresh["observation"].copy()
    assert set(info) == {"rules", "phase", "redeals", "episode"}


def given_out(result: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of what reset or step returned."""
    obs, rest = result[0], result[1:-1]
    return [obs["observation"], obs["acting_seat"], *rest]


@pytest.mark.parametrize("autoreset", [True, False])
def test_results_of_earlier_steps_never_change(autoreset: bool) -> None:
    env = baohuang_v0.vector_env(3, "weihai", seed=5, autoreset=autoreset)
    results = [env.reset()]
    before = [[array.copy() for array in given_out(results[0])]]
    infos = [copy.deepcopy(results[0][-1])]
    for _ in range(400):
        results.append(env.step(choose(env, results[-1][0]["observation"])))
        before.append([array.copy() for array in given_out(results[-1])])
        infos.append(copy.deepcopy(results[-1][-1]))
    assert any("final_info" in info for info in infos)
    for result, arrays, info in zip(results, before, infos, strict=True):
        for mine, then in zip(given_out(result), arrays, strict=True):
            assert np.array_equal(mine, then)
        assert result[-1].keys() == info.keys()
        for key, value in info.items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(result[-1][key], value)
            else:
                assert result[-1][key] == value
    arrays = [array for result in results for array in given_out(result)]
    spans = sorted((a.__array_interface__["data"][0], a.nbytes) for a in arrays)
    assert all(at + size <= after for (at, size), (after, _) in itertools.pairwise(spans))


@pytest.mark.parametrize("autoreset", [True, False])
def test_without_copy_the_same_bytes_come_in_the_same_memory(autoreset: bool) -> None:
    plain, thrifty = (
        baohuang_v0.vector_env(5, "weihai", seed=5, autoreset=autoreset, copy=copied)
        for copied in (True, False)
    )
    memory: dict[int, np.ndarray[Any, Any]] = {}
    mine = theirs = None
    ends = 0
    for step in range(600):
        if mine is None or theirs is None or step == 400:
            mine, theirs = thrifty.reset(), plain.reset()
        else:
            actions = choose(plain, theirs[0]["observation"])
            mine, theirs = thrifty.step(actions), plain.step(actions)
            ends += int(theirs[2].sum())
        for a, b in zip(given_out(mine), given_out(theirs), strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        assert str(mine[-1]) == str(theirs[-1])
        for place, array in enumerate(given_out(mine)):
            assert memory.setdefault(place, array) is array
    assert ends >= 5


def test_the_packed_mask_is_the_mask() -> None:
    env = baohuang_v0.vector_env(6, "shiwei", seed=2, autoreset=False)
    obs, _ = env.reset()
    for step in range(500):
        if step % 5 == 0 or env.state.over.all():
            packed = env.packed_mask()
            assert packed.dtype == np.uint8
            assert np.array_equal(packed, np.packbits(env.action_mask(), axis=1))
        obs, *_ = env.step(choose(env, obs["observation"]))
    assert env.state.over.all()


def test_seeds() -> None:
    one = baohuang_v0.vector_env(3, seed=7)
    many = baohuang_v0.vector_env(3, seed=[7, 8, 9])
    assert np.array_equal(one.reset()[0]["observation"], many.reset()[0]["observation"])
    zero = baohuang_v0.vector_env(2, seed=0).reset()[0]["observation"]
    assert np.array_equal(zero, baohuang_v0.vector_env(2, seed=0).reset()[0]["observation"])
    a, b = (baohuang_v0.vector_env(2).reset()[0]["observation"] for _ in range(2))
    assert not np.array_equal(a, b)
    first = one.reset(seed=7)[0]["observation"]
    assert not np.array_equal(first, one.reset()[0]["observation"])  # the next episode
    for bad in (-1, 1 << 64, True, "7", [1, 2]):
        with pytest.raises(LupaiError):
            baohuang_v0.vector_env(3, seed=bad)  # type: ignore[arg-type]
    with pytest.raises(SeedError):
        baohuang_v0.vector_env(2, seed=(1 << 64) - 1)


def test_bad_calls_say_what_is_wrong_and_change_nothing() -> None:
    for bad in (0, -1, 1.5, True, 1 << 30):
        with pytest.raises(LupaiError, match="num_envs"):
            baohuang_v0.vector_env(bad)  # type: ignore[arg-type]
    env = baohuang_v0.vector_env(2, seed=1)
    with pytest.raises(LupaiError, match="before reset"):
        env.step([0, 0])
    obs, _ = env.reset()
    with pytest.raises(LupaiError, match="no options"):
        env.reset(options={"hands": []})
    with pytest.raises(ValueError, match="expected"):
        env.step([0])
    before = env.state.take([0, 1])
    actions = choose(env, obs["observation"])
    with pytest.raises(IllegalMoveError):
        env.step([actions[0], 10_000])
    assert before.equals(env.state)
