"""One seat against fixed agents: wrong use, given deals, rendering, and the example."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lupai.envs
from lupai.agents.random_agent import RandomAgent
from lupai.agents.registry import UnknownAgentError
from lupai.envs import baohuang_v0
from lupai.envs.errors import IllegalMoveError, LupaiError, NotationError, RulesError, SeedError
from tests.envs.test_single_agent import play

ROOT = Path(__file__).resolve().parents[2]


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = lupai.envs.single_agent_env(0, "random")
    _, info = env.reset(seed=2)
    before = env._tables.state.copy()
    for action in (-1, 10**9, 9000, *set(range(0, 10_628, 997)) - set(info["legal_ids"])):
        with pytest.raises(IllegalMoveError):
            env.step(action)
    for nonsense in ("pass", None, 1.5):
        with pytest.raises(IllegalMoveError, match="no integer"):
            env.step(nonsense)
    assert env._tables.state.equals(before)
    env.step(info["legal_ids"][0])


def test_an_illegal_action_can_end_the_hand_instead() -> None:
    env = lupai.envs.single_agent_env(0, "random", illegal_reward=-8)
    env.reset(seed=2)
    observation, reward, terminated, truncated, info = env.step(10_000)
    assert (reward, terminated, truncated, info["illegal"]) == (-8.0, True, False, 10_000)
    assert "scores" not in info
    assert not observation["action_mask"].any()
    with pytest.raises(LupaiError, match="call reset"):
        env.step(0)
    _, info = env.reset()
    assert env.step(info["legal_ids"][0])[4].get("illegal") is None

    many = lupai.envs.single_agent_vector_env(3, 0, "random", illegal_reward=-8)
    many.reset(seed=2)
    ids, offsets = many.legal_ids()
    actions = ids[offsets[:-1]].astype(int)
    actions[1] = 10_000
    first = many._tables.hands.copy()
    _, rewards, terminated, _, info = many.step(actions)
    assert rewards.tolist() == [0, -8, 0]
    assert terminated.tolist() == [False, True, False]
    assert (many._tables.hands != first).tolist() == [False, True, False]
    assert info["final_info"]["illegal"].tolist() == [0, 10_000, 0]


def test_the_vector_env_refuses_an_illegal_action_at_any_table() -> None:
    env = lupai.envs.single_agent_vector_env(3, 0, "random")
    with pytest.raises(LupaiError, match="before reset"):
        env.step(np.zeros(3, int))
    env.reset(seed=2)
    before = env._tables.state.copy()
    ids, offsets = env.legal_ids()
    actions = ids[offsets[:-1]].astype(int)
    actions[2] = 10_000
    with pytest.raises(IllegalMoveError, match="table 2: seat 0"):
        env.step(actions)
    with pytest.raises(ValueError, match="expected"):
        env.step(actions[:2])
    assert env._tables.state.equals(before)
    with pytest.raises(LupaiError, match="no options"):
        env.reset(options={"seat": 1})
    with pytest.raises(LupaiError, match="2 seeds for 3 tables"):
        env.reset(seed=[1, 2])
    for count in (0, True, 1.5):
        with pytest.raises(LupaiError, match="num_envs"):
            lupai.envs.single_agent_vector_env(count)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seat_or_role": 5}, LupaiError, "allowed: a seat 0 … 4, 'random', 'emperor'"),
        ({"seat_or_role": -1}, LupaiError, "allowed: a seat"),
        ({"seat_or_role": True}, LupaiError, "allowed: a seat"),
        ({"seat_or_role": "king"}, LupaiError, "'king'"),
        ({"seat_or_role": None}, LupaiError, "None"),
        ({"opponents": ["random"] * 3}, LupaiError, "3 given"),
        ({"opponents": []}, LupaiError, "0 given"),
        ({"opponents": "nobody"}, UnknownAgentError, "nobody"),
        ({"opponents": None}, LupaiError, "no agent"),
        ({"opponents": RandomAgent}, LupaiError, "no agent"),
        ({"opponents": ["random", "random", "greedy", 7]}, LupaiError, "7 is no agent"),
        ({"rules": "beijing"}, RulesError, "presets"),
        ({"illegal_reward": float("nan")}, LupaiError, "finite"),
        ({"illegal_reward": "raise"}, LupaiError, "finite"),
        ({"render_mode": "rgb_array"}, LupaiError, "ansi"),
        ({"game": "mahjong"}, RulesError, "unknown game"),
    ],
    ids=repr,
)
def test_bad_arguments_name_what_is_allowed(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        lupai.envs.single_agent_env(**options)
    if "render_mode" not in options:
        with pytest.raises(error, match=message):
            lupai.envs.single_agent_vector_env(2, **options)


@pytest.mark.parametrize(
    ("place", "options", "error", "message"),
    [
        (0, {"hand": []}, LupaiError, "unknown option 'hand'; known: hands, start, seat"),
        (0, {"hands": []}, LupaiError, "both options"),
        (0, {"hands": ["3s"] * 5, "start": 0}, RulesError, "the deck 4"),
        (0, {"hands": ["3x", "", "", "", ""], "start": 0}, NotationError, "3x"),
        (0, {"seat": 5}, LupaiError, "seats are 0 … 4"),
        (0, {"seat": True}, LupaiError, "seats are 0 … 4"),
        ("guard", {"seat": 1}, LupaiError, "where the guard is"),
    ],
)
def test_a_bad_reset_is_refused_and_the_hand_goes_on(
    place: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    env = lupai.envs.single_agent_env(place, "greedy")
    _, info = env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.reset(seed=3, options=options)
    with pytest.raises(SeedError):
        env.reset(seed=-1)
    env.step(info["legal_ids"][0])


def test_a_deal_can_be_given_and_the_seat_for_one_hand() -> None:
    source = baohuang_v0.raw_env()
    source.reset(seed=11)
    deal = {key: source.record()[key] for key in ("hands", "start")}
    env = lupai.envs.single_agent_env(0, "greedy")
    _, info = env.reset(seed=1, options=deal | {"seat": 3})
    assert info["seat"] == 3
    record = env.record()
    assert (record["hands"], record["seed"]) == (deal["hands"], None)
    assert env.reset()[1]["seat"] == 0
    _, info = lupai.envs.single_agent_env("emperor").reset(options=deal)
    assert info["role"] == "emperor"


# Nobody can hold a card three times: there is no call, no emperor and no guard.
VOID = {"preset": "qingdao", "deck": ["R*", "3s", "3s", "4s", "4s", "5s", "5s", "6s", "6s", "7s"]}


def test_a_given_deal_without_a_decision_for_the_learner_is_refused() -> None:
    env = lupai.envs.single_agent_env("guard", "random", VOID)
    deal = {"hands": ["R* 3s", "3s 4s", "4s 5s", "5s 6s", "6s 7s"], "start": 0}
    with pytest.raises(LupaiError, match=r"given deal there is no decision .*'guard'"):
        env.reset(options=deal)
    with pytest.raises(LupaiError, match="call reset"):
        env.step(0)


def test_rules_without_a_role_are_found_out() -> None:
    env = lupai.envs.single_agent_env("guard", "random", VOID)
    with pytest.raises(LupaiError, match=r"no decision for the learner \('guard'\) under rules"):
        env.reset(seed=0)


def test_what_needs_a_hand_says_so() -> None:
    env = lupai.envs.single_agent_env()
    for call in (lambda: env.step(0), env.view, env.record):
        with pytest.raises(LupaiError, match="call reset"):
            call()


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    text = lupai.envs.single_agent_env(0, "greedy", render_mode="ansi")
    text.reset(seed=1)
    assert "seat 0 (you)" in str(text.render())
    assert capsys.readouterr().out == ""
    human = lupai.envs.single_agent_env(0, "greedy", render_mode="human")
    _, info = human.reset(seed=1)
    assert "seat 0 (you)" in capsys.readouterr().out
    human.step(info["legal_ids"][0])
    assert "seat 0 (you)" in capsys.readouterr().out
    assert lupai.envs.single_agent_env().render() is None


# --- the example ---------------------------------------------------------------------------------


@pytest.mark.train
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_the_example_trains_and_leaves_an_agent(tmp_path: Path) -> None:
    script = ROOT / "notebooks" / "single_agent_ppo.py"
    folder = tmp_path / "agent"
    args = {"minutes": 0.05, "tables": 8, "evaluate": 8, "seat": "guard", "save": folder}
    words = [word for key, value in args.items() for word in (f"--{key}", str(value))]
    done = subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "before: " in done.stdout
    assert "after:  " in done.stdout
    env = lupai.envs.single_agent_env(0, str(folder))
    assert play(env, 1)[2]["phase"] == "over"
