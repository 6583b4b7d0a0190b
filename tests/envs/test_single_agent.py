"""One seat against fixed agents: gymnasium's own checks, and what they do not see."""

from __future__ import annotations

import copy
import hashlib
import io
import os
import pickle
import random
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import lupai.agents
import lupai.envs
from lupai.agents.random_agent import RandomAgent
from lupai.envs import baohuang_v0
from lupai.envs.records import verify_record
from tests.envs.redeal import Story
from tests.envs.test_leaks import put_world
from tests.oracle.random_play import small_deck

ID = baohuang_v0.GYMNASIUM_ID
PRESETS = ("qingdao", "shiwei", "weihai")
ROLES = ("emperor", "guard", "rebel")
PLACES = (0, 3, "random", *ROLES)
ROOT = Path(__file__).resolve().parents[2]
Bytes = np.ndarray[Any, np.dtype[np.int8]]


def pick(ids: Any, observation: Bytes) -> int:
    """A move that depends on nothing but what the seat sees."""
    return int(ids[int(observation.astype(np.int64) @ np.arange(observation.size)) % len(ids)])


class Scripted:
    """Plays :func:`pick`, view by view."""

    name = "scripted"

    def reset(self, seed: int | None = None) -> None:
        """Nothing to forget."""

    def act(self, view: Any) -> str:
        return str(view.move_of(pick(view.legal_ids, view.observation)))


class ScriptedBatch(Scripted):
    """The same for many views."""

    def act_batch(self, views: Any) -> Any:
        ids, offsets = views.legal.ids()
        return np.array(
            [
                pick(ids[offsets[i] : offsets[i + 1]], views.observation[i])
                for i in range(len(views))
            ],
            np.int32,
        )


def play(env: Any, seed: int | None, options: Any = None) -> tuple[bytes, float, dict[str, Any]]:
    """Play a hand; everything that was observed, the reward, and the last info."""
    observation, info = env.reset(seed=seed, options=options)
    seen, total, over = b"", 0.0, False
    while not over:
        seen += observation["observation"].tobytes() + observation["action_mask"].tobytes()
        observation, reward, over, truncated, info = env.step(
            pick(info["legal_ids"], observation["observation"])
        )
        assert truncated is False
        assert over or reward == 0
        total += reward
    return seen, total, info


def middle(rules: str = "qingdao", seed: int = 0) -> dict[str, Any]:
    """The rules with fewer cards, for many hands in little time; some can be called."""
    rng = random.Random(seed)
    while True:
        deck = small_deck(rng, {"preset": rules}, 40)
        if sum(deck.count(card) == 4 for card in set(deck)) > 2:
            return {"preset": rules, "deck": deck}


def digest() -> str:
    """Of some hands against agents that draw."""
    out = hashlib.sha256()
    for place in ("random", "guard", "rebel"):
        env = lupai.envs.single_agent_env(
            place, ["random", "greedy", "random", "random"], middle("weihai")
        )
        for hand in range(2):
            out.update(repr(play(env, 0 if hand == 0 else None)).encode())
    return out.hexdigest()


# --- gymnasium -----------------------------------------------------------------------------------


@pytest.mark.smoke
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rules": "shiwei", "opponents": "random"},
        {"rules": "weihai", "seat_or_role": "guard", "render_mode": "ansi"},
        {"seat_or_role": 2, "skip_forced": True},
    ],
    ids=repr,
)
def test_check_env_of_gymnasium(options: dict[str, Any]) -> None:
    """It plays unmasked actions, which is what ``illegal_reward`` is for."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, illegal_reward=-10, **options).unwrapped)


def test_made_environments_play_with_masks_under_the_passive_checker() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, opponents="random")
        observation, info = env.reset(seed=3)
        env.action_space.seed(3)
        over = False
        while not over:
            mask = observation["action_mask"]
            assert mask.nonzero()[0].tolist() == info["legal_ids"]
            masks = env.get_wrapper_attr("action_masks")()
            assert masks.dtype == bool
            assert (masks == mask).all()
            observation, _, over, _, info = env.step(env.action_space.sample(mask))
        assert not observation["action_mask"].any()
        assert observation in env.observation_space


@pytest.mark.parametrize("place", ["random", "guard"])
def test_the_vector_env_is_gymnasiums_of_single_ones(place: str) -> None:
    """Step by step: observations, rewards, ends, infos, and the opponents' draws."""
    options: dict[str, Any] = {
        "seat_or_role": place, "opponents": ["random", "greedy", "random", "random"],
        "skip_forced": True, "rules": middle("weihai"),
    }  # fmt: skip
    count = 3
    fast = gymnasium.make_vec(ID, num_envs=count, **options)
    assert fast.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    slow = gymnasium.make_vec(
        ID, num_envs=count, vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}, **options,
    )  # fmt: skip
    assert fast.single_observation_space == slow.single_observation_space
    assert fast.observation_space == slow.observation_space
    assert fast.action_space == slow.action_space
    got, expected = fast.reset(seed=5), slow.reset(seed=5)
    ended = 0
    for _ in range(40):
        same(got, expected)
        observation = got[0]
        masks = observation["action_mask"]
        assert (masks == fast.unwrapped.action_masks()).all()
        seen = observation["observation"]
        actions = np.array([pick(np.flatnonzero(masks[i]), seen[i]) for i in range(count)])
        got, expected = fast.step(actions), slow.step(actions)
        ended += int(got[2].sum())
    assert ended > 2 * count
    same(fast.reset(), slow.reset())


def same(got: Any, expected: Any) -> None:
    """Equal up to the lists of ids, which the fast one gives by a method."""
    if isinstance(expected, dict):
        lists = set() if "legal_ids" in got else {"legal_ids", "_legal_ids"}
        keys = set(expected) - lists
        assert set(got) == keys
        for key in keys:
            same(got[key], expected[key])
    elif isinstance(expected, tuple | list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            same(a, b)
    elif isinstance(expected, np.ndarray):
        assert got.shape == expected.shape
        assert got.dtype == expected.dtype
        if expected.dtype == object:
            same(got.tolist(), expected.tolist())
        else:
            assert np.array_equal(got, expected)
    else:
        assert got == expected


def test_environments_in_processes_of_their_own_play_the_same() -> None:
    options: dict[str, Any] = {"seat_or_role": 1, "opponents": "greedy", "rules": middle()}
    made = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="async", **options)
    alone = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", **options)
    try:
        got, expected = made.reset(seed=1), alone.reset(seed=1)
        for _ in range(30):
            same(got, expected)
            # Both go to the next hand a step after the end, where nothing is legal.
            actions = [int(mask.argmax()) for mask in got[0]["action_mask"]]
            got, expected = made.step(actions), alone.step(actions)
    finally:
        made.close()


# --- the same game as elsewhere ------------------------------------------------------------------


@pytest.mark.parametrize("full", [True, False], ids=["full deck", "fewer cards"])
@pytest.mark.parametrize("rules", PRESETS)
def test_it_is_the_aec_env_with_the_others_played(rules: str, full: bool) -> None:
    """Same deals, same moves: the same bytes at the same decisions, and the same score."""
    table = rules if full else middle(rules)
    other = baohuang_v0.raw_env(table)
    for seat in (1,) if full else (0, 4):
        env = lupai.envs.single_agent_env(seat, ScriptedBatch() if full else Scripted(), table)
        for hand in range(1 if full else 2):
            seen, reward, info = play(env, 11 if hand == 0 else None)
            record = env.record()
            other.reset(seed=record["seed"])
            agent, expected = f"player_{seat}", b""
            while not other.terminations[agent]:
                observation = other.observe(other.agent_selection)
                if other.agent_selection == agent:
                    expected += observation["observation"].tobytes()
                    expected += observation["action_mask"].tobytes()
                ids = np.flatnonzero(observation["action_mask"])
                other.step(pick(ids, observation["observation"]))
            assert seen == expected
            assert reward == other.rewards[agent]
            assert record == other.record()
            final = other.infos[agent]
            roles = {k: -1 if v is None and k != "solo" else v for k, v in final["roles"].items()}
            told = {k: v for k, v in info.items() if k not in ("seat", "role", "legal_ids")}
            assert told == final | {"roles": roles}


def test_reset_goes_on_with_the_hands_of_the_seed() -> None:
    env, other = lupai.envs.single_agent_env(0, "greedy"), baohuang_v0.raw_env()
    for seed in (5, None, None, 8, None):
        env.reset(seed=seed)
        other.reset(seed=seed)
        assert env.record()["seed"] == other.record()["seed"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rules", PRESETS)
def test_the_reward_is_the_score_of_the_learners_seat(rules: str, place: int | str) -> None:
    env = lupai.envs.single_agent_env(place, "random", middle(rules), skip_forced=True)
    for seed in (0, 1):
        _, reward, info = play(env, seed)
        record = env.record()
        assert verify_record(record) == []
        assert reward == record["scores"][info["seat"]] == info["scores"][info["seat"]]
        assert sum(info["scores"]) == 0


def test_opponents_sit_in_play_order_from_the_learners_next_seat() -> None:
    class Sitting(Scripted):
        def __init__(self) -> None:
            self.seats: set[int] = set()

        def act(self, view: Any) -> str:
            self.seats.add(view.seat)
            return super().act(view)

    players = [Sitting() for _ in range(4)]
    env = lupai.envs.single_agent_env("random", players, middle())
    for seed in range(4):
        info = play(env, seed)[2]
        assert [p.seats for p in players] == [{(info["seat"] + i) % 5} for i in range(1, 5)]
        for player in players:
            player.seats.clear()


def test_an_opponent_reads_the_public_history() -> None:
    class Reader(Scripted):
        def act(self, view: Any) -> str:
            said.append((len(view.history), view.history))
            return super().act(view)

    said: list[tuple[int, tuple[str, ...]]] = []
    env = lupai.envs.single_agent_env(0, Reader(), middle())
    play(env, 4)
    moves = [m.removesuffix(" secret") for m in env.record()["moves"]]
    assert len(said) > 20
    for length, history in said:
        assert list(history) == moves[:length]


def test_decisions_without_a_choice_are_left_out_without_a_trace() -> None:
    every, some = (
        lupai.envs.single_agent_env(1, "random", middle(), skip_forced=skip)
        for skip in (False, True)
    )
    for seed in range(4):
        kept = []
        observation, info = every.reset(seed=seed)
        over = False
        while not over:
            if len(info["legal_ids"]) > 1:
                kept.append(observation["observation"].tobytes())
            action = pick(info["legal_ids"], observation["observation"])
            observation, reward, over, _, info = every.step(action)
        short = []
        observation, info = some.reset(seed=seed)
        over = False
        while not over:
            assert len(info["legal_ids"]) > 1
            short.append(observation["observation"].tobytes())
            action = pick(info["legal_ids"], observation["observation"])
            observation, again, over, _, info = some.step(action)
        assert short == kept
        assert again == reward


# --- seats and roles -----------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("rules", PRESETS)
def test_the_learner_has_the_role_and_begins_in_play(rules: str, role: str) -> None:
    env = lupai.envs.single_agent_env(role, "random", rules)
    seats = set()
    for hand in range(6):
        _, info = env.reset(seed=0 if hand == 0 else None)
        assert (info["role"], info["phase"]) == (role, "play")
        roles = env.record()["roles"]
        held = {roles["emperor"]: "emperor", roles["guard"]: "guard"}
        assert held.get(info["seat"], "rebel") == role
        assert role != "guard" or roles["solo"] is None
        seats.add(info["seat"])
    assert len(seats) > 1


@pytest.mark.parametrize("rules", PRESETS)
def test_which_rebel_learns_says_nothing_about_the_guard(rules: str) -> None:
    """Seen from the learner the guard sits as he sits seen from any rebel of the same hands."""
    env = lupai.envs.single_agent_vector_env(2000, "rebel", "random", rules)
    env.reset(seed=0)
    state, seats = env._tables.state, env._tables.seats
    rows = np.flatnonzero(state.guard >= 0)
    guard, emperor = state.guard[rows].astype(int), state.emperor[rows].astype(int)

    def places(viewer: Any) -> Any:
        return ((guard - viewer) % 5) * 5 + (emperor - viewer) % 5

    expected = np.zeros(25)
    for seat in range(5):
        rebels = (guard != seat) & (emperor != seat)
        expected += np.bincount(places(seat)[rebels], minlength=25) / 3
    found = np.bincount(places(seats[rows]), minlength=25)
    used = expected > 0
    chi2 = ((found - expected)[used] ** 2 / expected[used]).sum()
    assert found[~used].sum() == 0
    assert used.sum() == 12
    assert chi2 < 31.3  # 99.9 % quantile at 11 degrees of freedom


def test_a_random_seat_is_drawn_for_each_hand_from_the_seed_alone() -> None:
    seats = []
    for opponent in ("random", "greedy"):
        env = lupai.envs.single_agent_env("random", opponent)
        seats.append([env.reset(seed=7 if i == 0 else None)[1]["seat"] for i in range(40)])
    assert seats[0] == seats[1]
    assert set(seats[0]) == set(range(5))


@pytest.mark.parametrize("rules", PRESETS)
def test_hands_that_end_before_the_learner_is_asked_are_left_out(rules: str) -> None:
    rng = random.Random(1)
    for _ in range(12):
        table = {"preset": rules, "deck": small_deck(rng, {"preset": rules})}
        env = lupai.envs.single_agent_env(2, "random", table, skip_forced=True)
        for hand in range(4):
            _, info = env.reset(seed=0 if hand == 0 else None)
            assert len(info["legal_ids"]) > 1
            assert info["phase"] != "over"


# --- seeds and copies ----------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    here = digest()
    code = "from tests.envs.test_single_agent import digest; print(digest())"
    for hash_seed in ("0", "123"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True,
            timeout=200, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == here


def test_seed_0_is_a_seed_and_hands_differ_in_deal_and_draws() -> None:
    env = lupai.envs.single_agent_env(0, "random", middle())
    assert len({play(env, seed)[0] for seed in (0, 0, 1, None)}) == 3
    env.reset(seed=5)
    deal = {key: env.record()[key] for key in ("hands", "start")}
    told = [play(env, seed, deal)[0] for seed in (1, 1, 2, None)]
    assert told[0] == told[1]
    assert len(set(told)) == 3  # the same deal, other draws of the opponents


def test_without_a_seed_two_environments_differ() -> None:
    a, b = lupai.envs.single_agent_env(), lupai.envs.single_agent_env()
    a.reset()
    b.reset()
    assert a.record()["hands"] != b.record()["hands"]


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_a_copy_goes_on_with_the_same_game(how: str) -> None:
    players = ["random", "greedy", "random", RandomAgent(3)]
    env = lupai.envs.single_agent_env("random", players, middle())
    observation, info = env.reset(seed=9)
    for _ in range(4):
        observation, *_, info = env.step(pick(info["legal_ids"], observation["observation"]))
    twin = copy.deepcopy(env) if how == "deepcopy" else pickle.loads(pickle.dumps(env))

    def rest(env: Any) -> Any:
        seen, now, told, over = [], observation, info, False
        while not over:
            now, reward, over, _, told = env.step(pick(told["legal_ids"], now["observation"]))
            seen.append((now["observation"].tobytes(), reward))
        return seen, env.record(), play(env, None)

    assert rest(env) == rest(twin)


def test_what_was_given_out_is_not_changed_afterwards() -> None:
    env = lupai.envs.single_agent_env(0, "greedy")
    observation, info = env.reset(seed=1)
    kept = copy.deepcopy((observation, info))
    env.step(info["legal_ids"][0])
    assert info == kept[1]
    for key, array in observation.items():
        assert (array == kept[0][key]).all()


# --- what is hidden ------------------------------------------------------------------------------


class Leaky:
    """What ``put_world`` asks for."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self._state = env._tables.state

    def _ask(self) -> None:
        self.env._tables.legal = None
        self.seen = told(self.env, self.env._answer(asked=True))


def told(env: Any, answer: Any) -> Any:
    observation, info = answer
    return (
        observation["observation"].tobytes(), observation["action_mask"].tobytes(), repr(info),
        env.action_masks().tobytes(), str(env.view()), env.render(), env.view().history,
    )  # fmt: skip


@pytest.mark.parametrize("place", ["random", "guard", "rebel"])
@pytest.mark.parametrize("rules", PRESETS)
def test_redealt_hidden_cards_change_nothing_that_the_learner_gets(rules: str, place: str) -> None:
    rng, moved = random.Random(3), 0
    for seed in range(2):
        table = middle(rules, seed)
        env = lupai.envs.single_agent_env(place, "random", table, render_mode="ansi")
        answer = env.reset(seed=seed)
        dealt, over = None, False
        while not over:
            record = env.record()
            if dealt != record["hands"]:
                dealt = record["hands"]
                hands = [hand.split(" ") if hand else [] for hand in dealt]
                story = Story(table, hands, record["start"])
            for move in record["moves"][len(story.moves) :]:
                story.tell(move)
            here = told(env, answer)
            for _ in range(3):
                world = story.redeal(answer[1]["seat"], rng)
                if world is not None:
                    other = Leaky(copy.deepcopy(env))
                    put_world(other, world, rng)  # type: ignore[arg-type]
                    assert other.seen == here
                    moved += world.hand.hands != story.hand.hands
            observation, info = answer
            observation, _, over, _, info = env.step(rng.choice(info["legal_ids"]))
            answer = observation, info
    assert moved > 20
