"""One seat against fixed agents in Gouji: seats only, no roles."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import lupai.envs
from lupai.envs import gouji_v0
from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.records import verify_record

ID = gouji_v0.GYMNASIUM_ID


def play(env: Any, seed: int | None) -> tuple[float, dict[str, Any]]:
    """A hand in which the learner takes the legal move of the middle."""
    _, info = env.reset(seed=seed)
    over, reward = False, 0.0
    while not over:
        ids = info["legal_ids"]
        _, reward, over, _, info = env.step(ids[len(ids) // 2])
    return reward, info


def test_a_hand_of_one_seat_is_a_hand_of_the_game() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, seat_or_role=4, opponents=["random", "greedy", *["random"] * 3])
        seen = []
        for seed in (7, None):
            reward, info = play(env, seed)
            assert info["seat"] == 4
            assert info["role"] is None
            assert reward == info["scores"][4]
            assert info["revolter"] in range(-1, 6)
            assert "roles" not in info
            record = env.unwrapped.record()
            assert record["game"] == "gouji"
            assert verify_record(record) == []
            seen.append((reward, info["scores"], record["moves"]))
    again = lupai.envs.single_agent_env(
        4, ["random", "greedy", *["random"] * 3], "shandong", game="gouji"
    )
    reward, info = play(again, 7)
    assert (reward, info["scores"], again.record()["moves"]) == seen[0]


def test_many_tables_are_many_single_ones() -> None:
    count, options = 3, {"opponents": "greedy", "skip_forced": True}
    fast = gymnasium.make_vec(ID, num_envs=count, **options)
    slow = gymnasium.make_vec(
        ID, num_envs=count, vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}, **options,
    )  # fmt: skip
    (got, told), (expected, _) = fast.reset(seed=5), slow.reset(seed=5)
    ended = 0
    for _ in range(60):
        masks = got["action_mask"]
        assert (masks == expected["action_mask"]).all()
        assert (got["observation"] == expected["observation"]).all()
        actions = np.array([np.flatnonzero(mask)[-1] for mask in masks])
        got, rewards, over, _, told = fast.step(actions)
        expected, others, ends, _, info = slow.step(actions)
        assert (rewards == others).all()
        assert (over == ends).all()
        for row in np.flatnonzero(over):
            final = told["final_info"]
            assert final["scores"][row] == info["final_info"]["scores"][row]
            assert final["revolter"][row] == info["final_info"]["revolter"][row]
        ended += int(over.sum())
    assert ended


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("guard",), {}, LupaiError, "allowed: a seat 0 … 5, 'random'$"),
        ((6,), {}, LupaiError, "a seat 0 … 5"),
        (("random", "bayes"), {}, LupaiError, "'bayes' plays baohuang, not gouji"),
        (("random", "greedy", "shandong"), {"game": "baohuang"}, RulesError, "preset of gouji"),
        (("random", "greedy", "qingdao;end=camp_out"), {}, RulesError, "preset of baohuang"),
    ],
)
def test_what_is_of_the_other_game_is_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    words = {"game": "gouji"} | options
    if len(arguments) < 3:
        words["rules"] = "shandong"
    with pytest.raises(error, match=message):
        lupai.envs.single_agent_env(*arguments, **words)
