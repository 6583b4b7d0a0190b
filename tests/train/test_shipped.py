"""Every config that ships with lupai trains, in small: its rules, its kind of run, its parts."""

from __future__ import annotations

import io
import json
from importlib import resources

import pytest

pytest.importorskip("ray")

import lupai.agents
from lupai.envs.baohuang.rules import load_rules
from lupai.train.config import load_config
from lupai.train.trainer import run

pytestmark = [pytest.mark.train, pytest.mark.slow, pytest.mark.xdist_group("ray commands")]
SHIPPED = sorted(
    entry.name.removesuffix(".yaml")
    for entry in resources.files("lupai.configs").iterdir()
    if entry.name.endswith(".yaml")
)
SMALL = (
    "network.hidden=[16]", "network.move_hidden=8", "network.value_hidden=[8]",
    "network.history_units=4", "dmc.batch_size=256", "dmc.minibatch_size=128",
    "ppo.batch_size=256", "ppo.minibatch_size=128", "ppo.epochs=1",
    "workers.runners=0", "workers.envs_per_runner=8", "selfplay.every=1", "exploit.every=1",
    "exploit.deals=2", "exploit.confirm_deals=2", "watch.every=2", "watch.deals=2",
    "watch.anchors=[greedy]", "stop.minutes=null", "stop.steps=512",
)  # fmt: skip


@pytest.mark.parametrize("preset", ["qingdao", "shiwei", "weihai"])
def test_each_preset_has_a_recipe_of_minutes_and_one_of_hours(preset):
    quick, full = (load_config(f"{preset}_{size}") for size in ("quick", "full"))
    for config in (quick, full):
        assert load_rules(config.rules_string) == load_rules(preset)
    assert quick.stop.minutes <= 10
    assert full.stop.minutes >= 60
    assert full.selfplay.mode == "league"
    assert set(full.selfplay.anchors) == {"random", "greedy", "tactical"}
    assert full.ppo.lr_end < full.ppo.lr
    assert full.imitation.steps + full.ppo.lr_steps <= full.stop.steps
    assert full.reward.anneal_steps < full.stop.steps
    assert 128 <= full.workers.envs_per_runner <= 256


def test_gouji_has_a_recipe_of_hours_that_pays_the_side_for_its_places():
    full = load_config("gouji_full")
    assert full.rules_string == "shandong"
    assert full.reward.kind == "placement"
    assert full.imitation.agent == "tactical"
    assert full.stop.minutes >= 60
    assert full.selfplay.mode == "league"
    assert 0 < full.imitation.steps < full.imitation.steps + full.ppo.lr_steps <= full.stop.steps


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_config_trains_some_iterations(name, ray_session, tmp_path):
    config = load_config(name, [*SMALL, f"runs={tmp_path}"])
    folder = run(config, out=io.StringIO())
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert len(rows) >= 2
    assert rows[-1]["steps"] >= 512
    assert all(row["play/illegal_actions"] == 0 for row in rows)
    assert "eval/greedy/seat" in rows[-1]
    assert lupai.agents.load(folder).card.rules == config.rules_string
