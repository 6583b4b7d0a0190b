"""Metrics that run over many iterations, and those of one."""

from __future__ import annotations

import io
import json
from collections import Counter
from contextlib import closing

import pytest

pytest.importorskip("ray")

import lupai.agents
from lupai.train.games.baohuang import ROLES
from lupai.train.learning.windows import GUESSES as LEAST_GUESSES
from lupai.train.learning.windows import HANDS, Window, Windows
from lupai.train.rllib.callbacks import log_hand
from lupai.train.rllib.metrics import metrics
from lupai.train.rllib.role_check import GROUNDED_LOSS, GUESSES, GUESSES_LOSS
from lupai.train.rllib.trainer import RLlibTrainer
from lupai.train.run_folder import Progress
from tests.train.conftest import tiny

pytestmark = [pytest.mark.train]


def result(hands=0, points=0.0, seats=0, decisions=0, solo=0, guesses=(), timers=None, busy=None):
    """What RLlib returns; what was not logged in an iteration is NaN there."""
    played = {"num_env_steps_sampled": 100, "hands_ended": hands or float("nan")}
    if seats:
        played |= {"role_points": {"rebel": points}, "role_seats": {"rebel": seats}}
        played |= {"decisions": decisions, "solo_hands": solo}
    if busy:
        played |= dict(zip(("sampling_seconds", "inference_seconds"), busy, strict=True))
    learned = dict(zip((GUESSES, GUESSES_LOSS, GROUNDED_LOSS), guesses, strict=False))
    return {"env_runners": played, "learners": {"shared": learned}, "timers": timers or {}}


def test_a_window_holds_whole_iterations_and_no_more_than_it_must():
    window = Window(10)
    for count, total in ((4, 8.0), (0, 99.0), (5, 5.0)):
        window.add(count, {"x": total})
    assert window.mean("x") == pytest.approx(13 / 9)
    window.add(4, {"x": 0.0})
    assert window.mean("x") == pytest.approx(13 / 13)  # 9 without the oldest: too few
    window.add(1, {"x": 0.0})
    assert window.mean("x") == pytest.approx(5 / 10)
    window.add(30, {"x": 60.0, "y": 3.0, "n": 6.0})
    assert (window.mean("x"), window.mean("y", "n"), window.names("")) == (
        2.0,
        0.5,
        {"x", "y", "n"},
    )
    assert Window(10).mean("x") is window.mean("x", "never") is None


def test_hands_of_an_imitated_agent_are_forgotten_when_it_is_over(ray_session):
    """For a thousand hands the curve was the teacher's in part."""
    config = tiny(imitation={"agent": "greedy", "steps": 10})
    progress = Progress()
    with closing(RLlibTrainer(config, progress, teacher=lupai.agents.load("greedy"))) as trainer:
        trainer.train()
        trainer._windows.hands.add(10**6, {"decisions": 0.0})
        progress.steps = 512
        row = trainer.train()
        assert "play/decisions_per_hand" not in row or row["play/decisions_per_hand"] > 1


def test_scores_are_means_over_many_hands_and_not_over_the_few_of_an_iteration():
    windows = Windows()
    row = metrics(result(10, points=-30.0, seats=30, decisions=800, solo=1), windows)
    assert (row["hands"], row["score/rebel"]) == (10, -1.0)
    row = metrics(result(30, points=90.0, seats=90, decisions=2000, solo=2), windows)
    assert row["score/rebel"] == pytest.approx(60 / 120)
    assert row["play/decisions_per_hand"] == pytest.approx(2800 / 40)
    assert row["play/solo_share"] == pytest.approx(3 / 40)
    row = metrics(result(), windows)
    assert (row["hands"], row["score/rebel"]) == (0, 0.5)
    row = metrics(result(HANDS, points=10.0, seats=5), windows)
    assert row["score/rebel"] == 2.0  # enough for a window of its own


def test_the_roles_losses_are_means_over_many_guesses():
    windows = Windows()
    assert "role/check_log_loss" not in metrics(result(), windows)
    metrics(result(guesses=(3, 9.0, 4.0)), windows)
    row = metrics(result(guesses=(1, 0.0, 2.0)), windows)
    assert row["role/check_log_loss"] == pytest.approx(9 / 4)
    assert row["role/grounded_log_loss"] == pytest.approx(6 / 4)
    assert not any(name.startswith("loss/") for name in row)
    nan = float("nan")
    assert metrics(result(guesses=(nan, nan, nan)), windows)["role/check_log_loss"] == 9 / 4
    row = metrics(result(guesses=(LEAST_GUESSES, 2.0 * LEAST_GUESSES, 0.0)), windows)
    assert row["role/check_log_loss"] == 2.0


def test_windows_go_on_from_a_checkpoint():
    windows, again = Windows(), Windows()
    metrics(result(10, points=-30.0, seats=30, decisions=800, guesses=(3, 9.0, 4.0)), windows)
    again.restore(json.loads(json.dumps(windows.save(None))), None)
    later = result(7, points=21.0, seats=21, decisions=100, solo=1, guesses=(1, 0.0, 2.0))
    assert metrics(later, again) == metrics(later, windows)


def test_shares_are_of_the_iterations_own_seconds():
    timers = {"env_runner_sampling_timer": 3.0, "learner_update_timer": 5.0}
    timers |= {"training_iteration": 10.0}
    row = metrics(result(timers=timers, busy=(6.0, 2.0)), Windows())  # two samplers at a time
    assert (row["time/sampling"], row["time/learning"]) == (3.0, 5.0)
    assert (row["time/sampling_share"], row["time/learning_share"]) == (0.3, 0.5)
    assert row["time/inference_share"] == pytest.approx(0.1)


def test_only_the_learners_seats_are_counted_by_role():
    class Sums(Counter):
        def log_value(self, name, value, *, reduce):
            assert reduce == "sum"
            self[name] += value

    sums, rebel = Sums(), ROLES.index("rebel")
    roles = [ROLES.index("emperor"), ROLES.index("guard"), rebel, rebel, rebel]
    log_hand(sums, roles, [2, 1, -1, -1, -1], 9, [False, True, True, False, True])
    assert sums["role_seats", "rebel"] == 2
    assert sums["role_points", "rebel"] == -2.0
    assert ("role_seats", "emperor") not in sums
    assert (sums["hands_ended"], sums["solo_hands"], sums["decisions"]) == (1, 0, 9)
    with pytest.raises(RuntimeError, match="do not sum to zero"):
        log_hand(sums, roles, [2, 1, -1, -1, 0], 9)


@pytest.mark.xdist_group("ray")
@pytest.mark.parametrize("sampler", ["batch", "rllib"])
def test_a_resumed_run_shows_the_same_curve(ray_session, tmp_path, sampler):
    """Its first point once stood for a handful of hands."""
    from lupai.train.trainer import resume, run
    from tests.arena.players import SMALL
    from tests.train.conftest import tiny

    config = tiny(rules=SMALL, runs=str(tmp_path), workers={"sampler": sampler})
    folder = run(config, out=io.StringIO())
    resume(folder, ("stop.steps=1536",), out=io.StringIO())
    before, after = [
        json.loads((folder / "checkpoints" / name / "trainer.json").read_text())["states"]
        for name in ("000002", "000003")
    ]
    kept = before["windows"]["hands"]
    assert kept
    assert after["windows"]["hands"][: len(kept)] == kept
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    hands = [number for number, _ in after["windows"]["hands"]]
    assert sum(hands) == rows[-1]["hands"]
    seats = sum(sums["seats/rebel"] for _, sums in after["windows"]["hands"])
    points = sum(sums["points/rebel"] for _, sums in after["windows"]["hands"])
    assert rows[-1]["score/rebel"] == pytest.approx(points / seats, abs=1e-6)
    assert all(0 < row["time/sampling_share"] < 1 for row in rows)
    assert all(row["time/sampling"] + row["time/learning"] <= row["time/seconds"] for row in rows)
