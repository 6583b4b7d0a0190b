"""Deep Monte Carlo: the learning step, what is played and what is learned from it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from lupai.agents.trained import CheckpointAgent
from lupai.train.config import ConfigError, load_config
from lupai.train.dmc.decisions import SCORE, Waiting, one_of_each
from lupai.train.dmc.learner import Learner
from lupai.train.dmc.sampler import ACTION, OBSERVATION, Sampler
from lupai.train.dmc.schedule import epsilon, learning_rate
from lupai.train.dmc.tally import Tally
from lupai.train.export import agent_of
from lupai.train.games.baohuang import GAME, ROLES
from lupai.train.learning.heads import FEW_LABELS
from lupai.train.learning.windows import Windows
from lupai.train.privileged import FEATURES, PRIVILEGED, UNLABELLED
from lupai.train.run_folder import TrainingError
from lupai.train.sampling import tables as sampling
from lupai.train.sampling.advised import ADVICE, ADVISED
from lupai.train.sampling.judged import CANDIDATES, STAKES, WORTH, set_judging
from lupai.train.sampling.tables import Finished
from tests.arena.players import SMALL
from tests.train.conftest import tiny

pytestmark = pytest.mark.train

PRESETS = ("qingdao", "shiwei", "weihai")


def dmc(rules=SMALL, **sections):
    """A tiny config of Deep Monte Carlo."""
    section = {"batch_size": 256, "minibatch_size": 64} | sections.pop("dmc", {})
    return tiny(algorithm="dmc", rules=rules, dmc=section, **sections)


def weights(learner):
    return {k: v.detach().numpy() for k, v in learner.policy.state_dict().items()}


def ready(config, learner=None, share=0.1, **kwargs):
    """A sampler with the weights of a learner."""
    sampler = Sampler(config, **kwargs)
    sampler.take(weights(learner or Learner(config)), share)
    return sampler


# --- the learning step ----------------------------------------------------------------------------


BOTH = {"heads": "both", "win_loss": 0.3, "win_weight": 0.5}


def stir_win_heads(policy):
    """Give win heads weights: they begin with none, and send no gradient further."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, value in policy.named_parameters():
            if "win_head" in name:
                value.normal_(generator=generator)


def values_of(policy, observation, actions):
    """``[N]`` output for one move of each observation."""
    return policy(observation, torch.arange(len(actions)), actions)


@pytest.mark.parametrize(
    ("baseline", "loss", "policies", "judged", "advice", "heads"),
    [
        ("none", "squared", "shared", False, "none", {}),
        ("observation", "huber", "role", False, "none", {}),
        ("perfect", "squared", "shared", True, "none", {}),
        ("none", "squared", "role", True, "tactical", {}),
        ("observation", "squared", "shared", False, "tactical", {}),
        ("observation", "squared", "role", True, "tactical", {}),
        ("perfect", "squared", "role", True, "tactical", {}),
        ("none", "huber", "shared", True, "none", BOTH),
        ("perfect", "squared", "role", True, "tactical", BOTH),
    ],
)
def test_a_step_is_that_of_the_formulas_row_by_row(baseline, loss, policies, judged, advice, heads):
    section = {"baseline": baseline, "loss": loss, "minibatch_size": 256, "grad_clip": 0.3}
    config = dmc(
        "qingdao",
        dmc=section | heads,
        distillation={"steps": 1000 * judged, "weight": 0.7, "scores": 0.4},
        selfplay={"policies": policies},
        network={"role_head": 0.2, "advice": advice},
        workers={"envs_per_runner": 24},  # most hands have a soloist with advice,
    )
    sampler = ready(config)
    set_judging(SimpleNamespace(each_sampler=lambda call: [call(sampler)]), config, 0)
    data, _ = sampler.sample(3000)
    labelled = data[PRIVILEGED][:, FEATURES] != UNLABELLED
    some = np.argsort(~labelled, kind="stable")[: min(9, labelled.sum())]
    some = np.concatenate([some, np.setdiff1d(np.arange(len(labelled)), some)])[:40]
    data = {name: column[some] for name, column in data.items()}
    data[SCORE] = np.linspace(-40, 40, 40).astype(np.float32)
    if heads:
        data[SCORE][[7, 8]] = 0  # draws
    if advice != "none":
        data[ACTION][5] = 0  # no candidate: somebody else plays
    if judged:
        data[STAKES] = np.linspace(1, 4, 40).astype(np.float32)
    learner, plain = Learner(config), Learner(config)
    if heads:
        for one in (learner, plain):
            stir_win_heads(one.policy)
    got = learner.learn(data, 0.01, np.random.default_rng(0))

    played = [i for i in range(40) if advice == "none" or i != 5]
    total, value_loss, win_loss, guesses, apart = 0.0, 0.0, 0.0, [], []
    for i in range(40):
        observation = torch.from_numpy(data[OBSERVATION][i : i + 1])
        features = None
        if advice != "none":
            ids = data[ADVISED][i]
            features = torch.from_numpy(data[ADVICE][i][ids >= 0])
            ids = torch.from_numpy(ids[ids >= 0].astype(np.int64))
        else:
            ids = [data[ACTION][i], *(data[CANDIDATES][i] if judged else ())]
            ids = torch.tensor([int(a) for a in ids if a >= 0])
        row = torch.zeros(len(ids), dtype=torch.int64)
        if heads:
            every = plain.policy.heads(
                plain.policy.embed(observation), observation, row, ids, features
            )
            outputs, chances = every[:, 0], every[:, 1:].log_softmax(1)
        else:
            outputs = plain.policy(observation, row, ids, features)
        reward = float(data[SCORE][i]) * 0.1
        target = reward
        if baseline != "none":
            god = [torch.from_numpy(data[PRIVILEGED][i : i + 1])] if baseline == "perfect" else []
            expected = plain.baseline(observation, *god)[0]
            target = reward - expected.item()
            value_loss = value_loss + (expected - reward) ** 2 / 40
        if i in played:
            place = (ids == int(data[ACTION][i])).nonzero()[0]
            value = outputs[place][0]
            if heads:
                win_loss = win_loss - chances[place][0, 1 + int(np.sign(reward))] / len(played)
            error = (value - target).abs()
            each = (
                error**2 if loss == "squared" else torch.where(error < 1, error**2 / 2, error - 0.5)
            )
            total = total + each / len(played)
        label = int(data[PRIVILEGED][i, FEATURES])
        if label != UNLABELLED:
            which = plain.policy.which(observation)
            logits = plain.role_head(plain.policy.embed(observation), which)
            guesses.append(-logits.log_softmax(1)[0, label])
        if judged and data[CANDIDATES][i, 0] >= 0:
            some = data[CANDIDATES][i] >= 0
            found = outputs if advice != "none" else outputs[1:]
            assert len(found) == some.sum()
            error = found / (0.1 * float(data[STAKES][i])) - torch.from_numpy(data[WORTH][i][some])
            apart.append((error - error.mean()).square().mean())
    assert got["dmc/loss"] == pytest.approx(total.item(), rel=1e-4)
    assert ("dmc/win_log_loss" in got) == bool(heads)
    whole = total + value_loss
    if judged:
        assert 20 < len(apart) <= 40
        mean = sum(apart) / len(apart)
        assert got["loss/distillation"] == pytest.approx(mean.item(), rel=1e-4)
        whole = 0.4 * total + 0.7 * mean + value_loss
    if heads:  # what is distilled changes nothing about it
        assert got["dmc/win_log_loss"] == pytest.approx(win_loss.item(), rel=1e-4)
        whole = whole + 0.3 * win_loss
    assert 0 < len(guesses) < FEW_LABELS  # so few count less
    whole = whole + 0.2 * sum(guesses) / FEW_LABELS
    assert got["role/log_loss"] == pytest.approx(sum(guesses).item() / len(guesses), rel=1e-4)
    whole.backward()
    for name, network in plain.networks.items():
        each = list(network.parameters())
        norm = sum(float(p.grad.square().sum()) for p in each if p.grad is not None) ** 0.5
        for old, new in zip(each, learner.networks[name].parameters(), strict=True):
            if old.grad is None:
                gradient = torch.zeros_like(old)
            else:
                gradient = old.grad * min(1.0, 0.3 / (norm + 1e-6))
            # Adam's first step: both means are unbiased to the gradient and its square
            moved = old.detach() - 0.01 * gradient / (gradient.abs() + 1e-8)
            sure = gradient.abs() > 1e-5  # where it is nothing but rounding, its sign is chance
            torch.testing.assert_close(new.detach()[sure], moved[sure], rtol=0, atol=2e-4)


def test_a_baseline_takes_noise_away_and_leaves_the_order_of_moves():
    found = {}
    for baseline in ("none", "perfect"):
        config = dmc(
            "qingdao",
            dmc={"baseline": baseline, "minibatch_size": 64, "batch_size": 128},
            network={"hidden": [32], "move_hidden": 32, "value_hidden": [32]},
        )
        data, _ = ready(config).sample(1)
        lead = int(np.flatnonzero(data[OBSERVATION].any(1))[0])
        one = {name: np.repeat(column[lead : lead + 1], 128, 0) for name, column in data.items()}
        moves = np.array([3000, 3001])  # two sets
        better = np.arange(128) % 2 == 0
        lucky = np.arange(128) // 2 % 2 == 0  # a hidden card that decides most
        one[ACTION] = np.where(better, *moves).astype(np.int32)
        one[PRIVILEGED][:, 20:70] = 4 * lucky[:, None]
        one[SCORE] = (20.0 * np.where(lucky, 1, -1) + 3.0 * better).astype(np.float32)
        learner, rng = Learner(config), np.random.default_rng(0)
        for _ in range(80):
            row = learner.learn(one, 3e-3, rng)
        observation = torch.from_numpy(one[OBSERVATION][:2])
        with torch.no_grad():
            values = values_of(learner.policy, observation, torch.from_numpy(moves)).tolist()
        found[baseline] = row["dmc/loss"]
        assert values[0] > values[1]
    assert found["perfect"] < 0.2 * found["none"]


def test_a_loss_that_is_no_number_stops_the_run():
    config = dmc()
    data, _ = ready(config).sample(100)
    data[SCORE][0] = np.nan
    with pytest.raises(TrainingError, match=r"diverged.*dmc\.lr"):
        Learner(config).learn(data, 1e-3, np.random.default_rng(0))


# --- what is played -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_ten_thousand_decisions_are_legal_and_paid_what_their_hand_ended_with(rules):
    config = dmc(rules, workers={"envs_per_runner": 64})
    sampler = ready(config)
    tables, step, decide = sampler.tables, sampler.tables.step, sampler._decide
    running = [[] for _ in range(64)]
    wanted = []

    def watch_decision(tables, tally):
        rows, seats = tables.rows.copy(), tables.seats
        seen = tables.observation()
        moves = decide(tables, tally)
        assert tables.asked.contains(moves).all()
        for i, row in enumerate(rows):
            running[row].append((seats[i], moves[i], seen[i].tobytes()))
        return moves

    def watch_end(moves):
        ends = step(moves)
        for end in ends:
            for seat, move, seen in running[end.table]:
                wanted.append((seat, move, seen, end.scores[seat]))
            running[end.table] = []
        return ends

    sampler._decide, tables.step = watch_decision, watch_end
    got, made = [], 0
    for _ in range(3):
        data, tally = sampler.sample(3500)
        assert tally.illegal == 0
        assert len(data[SCORE]) >= 3500
        assert len(data[SCORE]) == tally.decided
        made += tally.made
        for i in range(len(data[SCORE])):
            seen = data[OBSERVATION][i].tobytes()
            got.append((data["seat"][i], data[ACTION][i], seen, data[SCORE][i]))
    assert made > 10_000
    key = [(int(s), int(m), o, float(p)) for s, m, o, p in got]
    assert sorted(key) == sorted((int(s), int(m), o, float(p)) for s, m, o, p in wanted)


def test_without_exploration_it_plays_what_its_agent_plays():
    config = dmc("shiwei", workers={"envs_per_runner": 16})
    learner = Learner(config)
    sampler = ready(config, learner, 0.0)
    agent = agent_of(learner.policy, config, sampler.tables.engine)
    assert isinstance(agent, CheckpointAgent)
    decide, seen = sampler._decide, 0

    def compare(tables, tally):
        nonlocal seen
        alone = agent.act_batch(tables.views())
        moves = decide(tables, tally)
        np.testing.assert_array_equal(moves, alone)
        seen += len(moves)
        return moves

    sampler._decide = compare
    _, tally = sampler.sample(500)
    assert seen == tally.made == tally.greedy


def test_random_moves_come_as_often_as_they_should():
    config = dmc("qingdao", workers={"envs_per_runner": 64})
    shares = {}
    for share in (0.2, 1.0):
        _, tally = ready(config, share=share).sample(6000)
        shares[share] = 1 - tally.greedy / tally.made
    # A random move is sometimes the best one.
    assert 0.1 < shares[0.2] <= 0.2 + 0.02
    assert shares[1.0] > 0.5
    assert tally.metrics(Windows())["dmc/greedy_share"] == pytest.approx(1 - shares[1.0])


def test_what_is_hidden_changes_no_move(monkeypatch):
    config = dmc("qingdao", workers={"envs_per_runner": 16})
    learner = Learner(config)
    plain, _ = ready(config, learner).sample(500)
    noise = np.random.default_rng(1)

    def lies(state, seats):
        return noise.integers(-1, 4, (len(seats), plain[PRIVILEGED].shape[1])).astype(np.int8)

    liar = replace(GAME, privileged_rows=lies)
    monkeypatch.setattr(sampling, "training_game", lambda name: liar)
    other, _ = ready(config, learner).sample(500)
    assert (other[PRIVILEGED] != plain[PRIVILEGED]).any()
    for name in (OBSERVATION, ACTION, "seat", SCORE):
        np.testing.assert_array_equal(plain[name], other[name])


def test_the_role_head_learns_one_decision_of_a_seat_in_a_hand():
    """It once learned all of them, and the few hands of an iteration by heart."""
    sampler = ready(dmc("qingdao", workers={"envs_per_runner": 4}))
    pay, hands = sampler._waiting.pay, []

    def keep(numbers, scores):
        data = pay(numbers, scores)
        hands.append((data["hand"], data["seat"], data[PRIVILEGED][:, FEATURES].copy()))
        return data

    sampler._waiting.pay = keep
    data, _ = sampler.sample(300)
    (numbers, seats, before), labels = hands[0], data[PRIVILEGED][:, FEATURES]
    kept, there = labels != UNLABELLED, before != UNLABELLED
    assert (labels[kept] == before[kept]).all()
    whose = list(zip(numbers[kept], seats[kept], strict=True))
    assert len(whose) == len(set(whose)) < there.sum()
    assert set(whose) == set(zip(numbers[there], seats[there], strict=True))


def test_one_of_each_seats_decisions_is_drawn_alike():
    hands, seats = np.array([7, 7, 7, 7, 2, 2, 7]), np.array([1, 1, 1, 0, 1, 1, 1])
    some = np.array([True, True, False, True, False, False, True])
    rng, found = np.random.default_rng(0), np.zeros(7)
    for _ in range(600):
        kept = one_of_each(hands, seats, some, rng.random(7))
        assert kept[3]
        assert kept[[0, 1, 6]].sum() == 1
        assert not kept[[2, 4, 5]].any()
        found += kept
    assert found[[0, 1, 6]] == pytest.approx(200, abs=60)  # five standard deviations
    nobody = one_of_each(hands, seats, np.zeros(7, bool), rng.random(7))
    assert not nobody.any()


def test_hidden_columns_are_made_only_where_they_are_learned_from():
    config = dmc(dmc={"baseline": "observation"}, network={"role_head": 0})
    data, _ = ready(config).sample(100)
    assert set(data) == {OBSERVATION, ACTION, "seat", SCORE}


def test_a_share_of_the_decisions_is_learned_and_the_play_is_the_same():
    learner = Learner(dmc())
    every, all_of_it = ready(dmc(), learner, 0.0).sample(4000)
    sampler = ready(dmc(dmc={"share": 0.25}), learner, 0.0)
    some, tally = sampler.sample(1000)
    assert 0.2 < len(some[SCORE]) / tally.decided < 0.3
    assert tally.metrics(Windows())["play/decisions_per_hand"] == pytest.approx(
        all_of_it.metrics(Windows())["play/decisions_per_hand"], rel=0.15
    )
    known = {
        row.tobytes() + bytes([s]) for row, s in zip(every[OBSERVATION], every["seat"], strict=True)
    }
    met = [
        r.tobytes() + bytes([s]) in known
        for r, s in zip(some[OBSERVATION], some["seat"], strict=True)
    ]
    assert np.mean(met) > 0.8  # the longer run has the hands of the shorter one


# --- bookkeeping ----------------------------------------------------------------------------------


def test_decisions_wait_until_their_hand_has_ended():
    rng, waiting = np.random.default_rng(3), Waiting()
    every, paid, scores, first = [], [], {}, 0
    for call in range(6):
        for _ in range(4):
            hand = rng.integers(first, first + 5, 7)
            seat, mark = rng.integers(0, 5, 7).astype(np.int8), rng.integers(0, 1 << 30, 7)
            waiting.add({"hand": hand, "seat": seat, "mark": mark})
            every += zip(hand.tolist(), seat.tolist(), mark.tolist(), strict=True)
        over = np.arange(first, first + 5 if call == 5 else first + 2)[::-1]
        points = rng.integers(-30, 30, (len(over), 5))
        scores |= dict(zip(over.tolist(), points.tolist(), strict=True))
        out = waiting.pay(over, points)
        paid += zip(out["mark"].tolist(), out["score"].tolist(), strict=True)
        first += 2
    assert len(waiting.columns["hand"]) == 0
    assert sorted(paid) == sorted((mark, float(scores[h][s])) for h, s, mark in every)


def test_a_tally_counts_the_learners_seats_only_and_adds_up():
    hand = Finished(
        0,
        np.array([8, 4, -4, -4, -4]),
        np.array(
            [ROLES.index(r) for r in ("emperor", "guard", "rebel", "rebel", "rebel")], np.int8
        ),
        np.array([True, False, True, True, False]),
    )
    one, windows = Tally(), Windows()
    one.end(hand, 30)
    row = (one + one).metrics(windows)
    assert row["score/emperor"] == 8
    assert row["score/rebel"] == -4
    assert "score/guard" not in row
    assert (row["hands"], row["play/decisions_per_hand"], row["play/solo_share"]) == (2, 30, 0)
    other = Tally()
    other.end(replace(hand, scores=np.array([-4, 2, 2, 0, 0])), 12)
    row = other.metrics(windows)  # an iteration has few hands, so its means are over more
    assert row["score/emperor"] == pytest.approx((8 + 8 - 4) / 3)
    assert (row["hands"], row["play/decisions_per_hand"]) == (1, 24)


def test_exploration_and_learning_rate_fall_in_straight_lines():
    config = dmc(dmc={"epsilon": 0.5, "epsilon_end": 0.1, "epsilon_steps": 100})
    found = [epsilon(config, steps) for steps in (0, 50, 100, 1000)]
    assert found == pytest.approx([0.5, 0.3, 0.1, 0.1])
    assert [learning_rate(config, steps) for steps in (0, 10**9)] == [1e-3, 1e-3]
    section = {"lr": 1e-3, "lr_end": 1e-4, "lr_steps": 90}
    config = dmc(dmc=section, imitation={"steps": 10, "lr": 3e-3})
    rates = [learning_rate(config, steps) for steps in (0, 5, 10, 55, 100, 101)]
    assert rates == pytest.approx([3e-3, 2e-3, 1e-3, 5.5e-4, 1e-4, 1e-4])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["dmc.baseline=god"], r"dmc\.baseline = 'god' is not allowed"),
        (["dmc.epsilon_end=0.5"], r"dmc: epsilon_end \(0\.5\) must not exceed epsilon \(0\.05\)"),
        (["dmc.minibatch_size=99999"], r"minibatch_size \(99999\) must not exceed batch_size"),
        (["dmc.gamma=1"], r"unknown key 'dmc\.gamma'"),
        (["dmc.heads=win"], r"dmc\.heads = 'win' is not allowed; allowed: 'score' or 'both'"),
        (["dmc.win_weight=1"], r"dmc: win_weight \(1\.0\) needs heads both, not score"),
        (
            ["dmc.heads=both", "algorithm=ppo"],
            r"dmc\.heads both needs algorithm dmc, not ppo.*leave dmc\.heads out",
        ),
        (["reward.kind=potential"], r"algorithm dmc needs reward\.kind score, not potential"),
        (["workers.sampler=rllib"], r"needs workers\.sampler batch, not rllib"),
        (["network.critic=observation"], r"give dmc\.baseline=observation, and leave network\.c"),
        (["learners.num=1"], r"algorithm dmc learns in the trainer"),
        (["imitation.log_loss=1"], r"unknown key 'imitation\.log_loss'"),
        (["rules=qingdao;guard_by=marked_small_joker"], r"distillation needs a value network"),
        (["algorithm=dqn"], r"algorithm = 'dqn' is not allowed; allowed: 'ppo' or 'dmc'"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(values, told):
    with pytest.raises(ConfigError, match=told) as error:
        load_config("qingdao_dmc", values)
    assert "\n" not in str(error.value)
