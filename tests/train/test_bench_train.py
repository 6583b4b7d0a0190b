"""``lupai bench --train``: both samplers measured in one run."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("ray")

from lupai.envs.game import GAMES, make_game, rules_class
from lupai.train.bench import training
from lupai.train.cli import main
from lupai.train.dmc.trainer import DMCTrainer
from lupai.train.run_folder import Progress

pytestmark = [pytest.mark.train, pytest.mark.xdist_group("ray commands")]


@pytest.mark.parametrize("game", GAMES)
def test_both_samplers_are_measured(ray_session, tmp_path, monkeypatch, capsys, game):
    monkeypatch.setattr(training, "BATCH", 512)
    monkeypatch.setattr(training, "STOCK_TABLES", 8)
    file = tmp_path / "bench.json"
    words = ["bench", "--train", "--game", game, "--repeats", "1", "--seconds", "0.01"]
    assert main([*words, "--tables", "32", "--json", str(file)]) == 0
    data = json.loads(file.read_text())
    assert [row["case"] for row in data["rows"]] == [
        "sampling", "batch and advantages", "whole iteration",
        "DMC: sampling", "DMC: learning", "DMC: whole iteration",
    ]  # fmt: skip
    for row in data["rows"]:
        (ours,), (peer,), (ratio,) = row["ours"], row["peer"], row["ratio"]
        assert ratio == pytest.approx(ours / peer, rel=1e-4)
        assert ours > 0 < peer
    assert data["config"] == training.RECIPES[game][0]
    assert data["tables"] == 32
    assert data["stock_tables"] == 8
    assert data["ray"]
    assert "RLlib's own runner" in capsys.readouterr().out


def test_every_game_has_recipes():
    assert training.RECIPES.keys() == GAMES.keys()


@pytest.mark.parametrize(("game", "rules"), [("baohuang", "weihai"), ("gouji", "shandong")])
def test_both_sides_have_the_same_network_rules_and_batch(game, rules):
    engine = make_game(game, rules)
    ours, stock = training.configs(engine, 32)
    assert (ours.workers.sampler, stock.workers.sampler) == ("batch", "rllib")
    assert (ours.game, ours.rules_string) == (game, rules)
    assert ours.imitation.steps == 0
    for section in ("game", "network", "ppo", "env", "reward", "rules"):
        assert getattr(ours, section) == getattr(stock, section)
    dmc = training.dmc_config(engine, 32)
    for section in ("game", "network", "env", "reward", "rules"):
        assert getattr(ours, section) == getattr(dmc, section)
    assert dmc.imitation.steps == 0
    assert dmc.workers.envs_per_runner == ours.workers.envs_per_runner
    assert dmc.dmc.batch_size == ours.ppo.batch_size


def test_deep_monte_carlo_is_measured_without_the_imitation_of_its_recipe():
    """It once came to grief over an imitated agent that nobody had loaded."""
    config = training.dmc_config(make_game("baohuang", "qingdao"), 8)
    assert (config.imitation.steps, config.distillation.steps) == (0, 0)
    trainer = DMCTrainer(config, Progress())
    try:
        trainer._play(0)
        assert len(trainer._played()[0]["seat"]) >= training.BATCH
    finally:
        trainer.close()


@pytest.mark.parametrize("game", GAMES)
def test_deep_monte_carlo_learns_as_much_as_it_plays(monkeypatch, game):
    """Its tables were in step once: a repeat learned five times what was played in it."""
    monkeypatch.setattr(training, "BATCH", 512)
    engine = make_game(game, rules_class(game).default)
    trainer = DMCTrainer(training.dmc_config(engine, 64), Progress())
    try:
        training._spread(trainer)
        assert len(np.unique(trainer.samplers.sampler.tables.state.sizes.sum(axis=1))) > 30
        made = learned = 0
        for _ in range(6):
            trainer._play(0)
            columns, tally = trainer._played()
            made, learned = made + tally.made, learned + len(columns["seat"])
        assert 0.5 < learned / made < 2
    finally:
        trainer.close()


def test_work_is_counted_by_its_own_time():
    """Ten units of work at a known cost, by the clock of the process."""
    clock = iter(range(100))

    def work():
        return 10

    patch = pytest.MonkeyPatch()
    patch.setattr(training.time, "process_time", lambda: float(next(clock)))
    try:
        assert training._timed(work)(3.0) == pytest.approx(10.0)
    finally:
        patch.undo()
