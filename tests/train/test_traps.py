"""What RLlib 2.60 gets silently wrong in games like this; one test for each trap that was met.

T1 checker plays unmasked moves; T2 runners with stale weights; T3 dead runners go unnoticed; T4
whole episodes waste games; T5 observations for seats that do not act; T6 threads; T7 a resumed run
deals the same hands; T8 early finishers lose their reward; T9 stale values on runners; T10 modules
lost on restore; T11 flags that RLlib wants; T12 rows without a legal move; T13 order of the agents.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("ray")
import torch

from lupai.agents.network import pack_legal, packed_width
from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.errors import IllegalMoveError
from lupai.train.rllib.env import LupaiEnv
from lupai.train.rllib.setup import algorithm_config
from lupai.train.rllib.trainer import train_once
from lupai.train.run_folder import TrainingError
from lupai.train.sampling.tables import Tables
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray")]


def legal_ids(obs):
    return np.flatnonzero(np.unpackbits(obs["legal"])[: ACTIONS.size])


def play(env, rng, seed=None):
    """Random hand; every step's five results, and who acted."""
    obs, _ = env.reset(seed=seed)
    steps = []
    while True:
        (agent,) = obs
        move = int(rng.choice(legal_ids(obs[agent])))
        result = env.step({agent: move})
        steps.append((agent, result))
        obs = result[0]
        if result[2]["__all__"]:
            return steps


def weights(module):
    return {k: torch.as_tensor(np.asarray(v)) for k, v in module.get_state().items()}


def test_t1_the_checker_is_off_because_it_plays_illegal_moves():
    config = algorithm_config(tiny(workers={"sampler": "rllib"}))
    assert config.disable_env_checking
    env = LupaiEnv({})
    obs, _ = env.reset(seed=0)
    (agent,) = obs
    illegal = next(a for a in range(ACTIONS.size) if a not in set(legal_ids(obs[agent])))
    with pytest.raises(IllegalMoveError):
        env.step({agent: illegal})


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_t2_runners_play_with_the_weights_just_learned(name, request):
    built = request.getfixturevalue(name)
    before = weights(built.env_runner_group.local_env_runner.module["shared"])
    built.train()
    learned = weights(built.learner_group._learner.module["shared"].unwrapped())
    played = weights(built.env_runner_group.local_env_runner.module["shared"])
    assert any(not torch.equal(before[k], played[k]) for k in played)
    for key, value in played.items():
        assert torch.equal(value, learned[key]), key


def test_t3_a_fault_of_the_engine_stops_the_run(ray_session, monkeypatch):
    """In the trainer's process it is named; without samples an iteration is an error too."""
    config = algorithm_config(tiny())
    assert not config.restart_failed_env_runners
    built = config.build_algo()
    try:
        train_once(built)

        def broken(self, actions):
            raise RuntimeError("engine fault: planted")

        monkeypatch.setattr(Tables, "step", broken)
        with pytest.raises(TrainingError, match="planted"):
            train_once(built)
    finally:
        built.stop()


def test_t3_no_samples_is_an_error():
    class Empty:
        def train(self):
            return {"env_runners": {}, "learners": {}}

    with pytest.raises(TrainingError, match="no game was played"):
        train_once(Empty())


def test_t3_a_dead_remote_runner_stops_the_run(ray_session):
    import ray

    built = algorithm_config(tiny(workers={"runners": 1})).build_algo()
    try:
        train_once(built)
        built.env_runner_group.foreach_env_runner(
            lambda runner: setattr(runner, "_play", None), local_env_runner=False
        )
        with pytest.raises(TrainingError):
            train_once(built)
        assert ray.is_initialized()
    finally:
        built.stop()


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_t4_no_step_is_thrown_away(name, request):
    built = request.getfixturevalue(name)
    assert built.config.batch_mode == "truncate_episodes"
    assert not built.config.episodes_to_numpy
    built.train()  # takes with it what other tests have sampled by hand
    result = built.train()
    sampled = result["env_runners"]["num_env_steps_sampled"]
    assert 512 <= sampled < 512 + 8
    assert sampled == result["env_runners"]["num_module_steps_sampled"]["shared"] or name == "stock"


def test_t5_only_the_acting_seat_observes():
    env, rng = LupaiEnv({"skip": "none"}), np.random.default_rng(0)
    for _, (obs, rewards, terminated, _, _) in play(env, rng, seed=1)[:-1]:
        assert len(obs) == 1
        assert obs.keys() == rewards.keys()
        assert not terminated["__all__"]


def test_t5_one_row_is_learned_for_one_decision(stock):
    episodes = stock.env_runner_group.local_env_runner.sample(num_timesteps=600)
    decisions = sum(e.env_steps() for e in episodes)
    rows = sum(len(seat) for e in episodes for seat in e.agent_episodes.values())
    assert rows <= decisions + 8 * 5


def test_t6_and_t13_threads_and_agents_in_fresh_processes():
    code = (
        "import lupai.train.rllib.env as e, torch;"
        "print(torch.get_num_threads(), *e.LupaiEnv({}).agents, *e.LupaiEnv({}).possible_agents)"
    )
    plain = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**plain, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in ("1", "2")
    ]
    seen = {process.communicate()[0] for process in running}
    names = [f"player_{i}" for i in range(5)]
    assert seen == {" ".join(["1", *names, *names]) + "\n"}


def test_t7_resumed_runs_and_neighbours_deal_other_hands():
    def hands(key, seed=None, count=40):
        tables = Tables("qingdao", "none", key, count)
        return {tuple(h) for h in tables.state.hands[:, 0]}

    groups = [hands([7, iteration, worker]) for iteration in (0, 1, 5) for worker in (0, 1, 2)]
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert hands([7, 0, 0]) == hands([7, 0, 0])
    config = tiny()
    assert algorithm_config(config, 4).seed == config.seed + 4
    assert algorithm_config(config, 4).env_config["stream"] == [config.seed, 4]


def test_t7_envs_of_neighbouring_seeds_and_workers_deal_other_hands():
    """RLlib seeds env i of worker w with seed + w + i, which repeats."""
    from ray.rllib.env.env_context import EnvContext

    seen = []
    for worker in (1, 2):
        for place in range(3):
            context = EnvContext({"stream": [7, 0]}, worker_index=worker)
            env = LupaiEnv(context)
            env.reset(seed=7 + worker + place)
            for _ in range(3):
                seen.append(env._state.hands.tobytes())
                env.reset()
    assert len(set(seen)) == len(seen)


def test_t8_every_seat_gets_its_whole_score_once():
    env, rng = LupaiEnv({"skip": "none", "reward": {"scale": 0.5}}), np.random.default_rng(0)
    early = 0
    for seed in range(12):
        steps = play(env, rng, seed=seed)
        total = dict.fromkeys(env.possible_agents, 0.0)
        for _, (_, rewards, *_) in steps:
            for agent, reward in rewards.items():
                total[agent] += reward
        *_, infos = steps[-1][1]
        scores = infos["player_0"]["scores"]
        assert [total[a] for a in env.possible_agents] == [0.5 * s for s in scores]
        assert sum(scores) == 0
        last = {a: max(i for i, (b, _) in enumerate(steps) if a == b) for a, _ in steps}
        early += min(last.values()) < len(steps) - 30
        assert env.agents == env.possible_agents
    assert early > 3  # seats did leave long before the end


def test_t8_rllib_receives_these_scores(stock):
    runner = stock.env_runner_group.local_env_runner
    done = 0
    while done < 8:
        for episode in runner.sample(num_timesteps=1600):
            if not episode.is_terminated:
                continue
            infos = episode.get_infos(-1)
            returns = {a: e.get_rewards()[-1] for a, e in episode.agent_episodes.items()}
            for agent, info in infos.items():
                assert returns[agent] == pytest.approx(0.1 * info["scores"][int(agent[-1])])
            done += 1


@pytest.mark.parametrize("name", ["algorithm", "stock"])
def test_t9_runners_have_no_value_network_to_go_stale(name, request):
    built = request.getfixturevalue(name)
    played = built.env_runner_group.local_env_runner.module["shared"]
    learned = built.learner_group._learner.module["shared"].unwrapped()
    assert not hasattr(played, "vf")
    assert hasattr(learned, "vf")
    assert not [k for k in played.get_state() if k.startswith("vf")]


def test_t10_a_restored_run_has_every_module_and_its_optimiser(algorithm, tmp_path):
    algorithm.save_to_path(str(tmp_path / "saved"))
    other = algorithm_config(tiny(seed=11), 1).build_algo()
    try:
        other.restore_from_path(str(tmp_path / "saved"))
        old, new = (a.learner_group._learner for a in (algorithm, other))
        assert set(new.module.keys()) == set(old.module.keys()) == {"shared"}
        for key, value in weights(old.module["shared"].unwrapped()).items():
            assert torch.equal(value, weights(new.module["shared"].unwrapped())[key])
        steps = [
            {
                int(s["step"])
                for s in learner._named_optimizers["shared_default_optimizer"].state.values()
            }
            for learner in (old, new)
        ]
        assert steps[0] == steps[1]
        assert min(steps[0]) > 0
        assert other.training_iteration == algorithm.training_iteration
    finally:
        other.stop()


def test_t11_both_flags_are_always_there_and_hands_end_by_termination():
    env, rng = LupaiEnv({}), np.random.default_rng(0)
    steps = play(env, rng, seed=2)
    for i, (_, (obs, rewards, terminated, truncated, infos)) in enumerate(steps):
        assert "__all__" in terminated
        assert truncated == {"__all__": False}
        if i == len(steps) - 1:
            everybody = set(env.possible_agents)
            assert set(obs) == set(rewards) == set(infos) == everybody
            assert terminated == {**dict.fromkeys(everybody, True), "__all__": True}
            assert not any(len(legal_ids(o)) for o in obs.values())


def test_t12_rows_without_legal_moves_train_as_nothing_and_never_play(algorithm):
    module = algorithm.learner_group._learner.module["shared"].unwrapped()
    tables = Tables("qingdao", "idle", [1], 6)
    observation = tables.observation()
    ids, offsets = tables.legal.ids()
    legal = pack_legal(ids, offsets, ACTIONS.size)
    legal[2:4] = 0
    obs = {"observation": torch.from_numpy(observation), "legal": torch.from_numpy(legal)}
    batch = {"obs": obs, "actions": torch.from_numpy(ids[offsets[:-1]].astype(np.int64))}
    out = module._forward_train(batch)
    module.zero_grad()
    (out["lupai_log_prob"].sum() + out["lupai_entropy"].sum()).backward()
    assert out["lupai_log_prob"].isfinite().all()
    assert out["lupai_log_prob"][2:4].tolist() == out["lupai_entropy"][2:4].tolist() == [0, 0]
    assert (out["lupai_log_prob"][[0, 1, 4, 5]] < 0).all()
    for parameter in module.pi.parameters():
        assert parameter.grad.isfinite().all()
    module.zero_grad()
    for forward in (module._forward_exploration, module._forward_inference):
        with pytest.raises(RuntimeError, match="without any legal move"):
            forward({"obs": obs})


def test_t12_the_env_asserts_a_legal_move(monkeypatch):
    env = LupaiEnv({})
    _obs, _ = env.reset(seed=0)
    from lupai.envs.baohuang.legal import Legal

    monkeypatch.setattr(env.engine, "legal", lambda state, tables=None: Legal.empty(1))
    with pytest.raises(RuntimeError, match="no legal move"):
        env.reset()


def test_masked_rows_do_not_move_the_loss(stock):
    """The bootstrap rows' advantages are rubbish; the loss must not see them."""
    learner = stock.learner_group._learner
    episodes = stock.env_runner_group.local_env_runner.sample(num_timesteps=400)
    batch = learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
    )["shared"]
    module = learner.module["shared"].unwrapped()
    assert not batch["loss_mask"].all()
    losses = []
    for fill in (0.0, 1e6, float("inf")):
        mask = batch["loss_mask"]
        batch["advantages"] = torch.where(mask, batch["advantages"], torch.tensor(fill))
        losses.append(
            learner.compute_loss_for_module(
                module_id="shared",
                config=stock.config.get_config_for_module("shared"),
                batch=batch,
                fwd_out=module._forward_train(batch),
            ).item()
        )
    assert losses[0] == losses[1] == losses[2]
    assert np.isfinite(losses[0])


def test_what_crosses_process_borders_is_small():
    env = LupaiEnv({})
    obs, _ = env.reset(seed=0)
    (one,) = obs.values()
    assert sum(part.nbytes for part in one.values()) < 3000
    assert one["legal"].shape == (packed_width(ACTIONS.size),)
    for name, space in env.observation_spaces["player_0"].items():
        assert space.contains(one[name])
