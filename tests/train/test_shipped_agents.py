"""The agents that come with lupai: they play as their cards say, by torch and by onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

import lupai.agents
from lupai.agents.onnx_agent import load_onnx
from lupai.agents.registry import ONNX_FILE
from lupai.agents.shipped import shipped_folder, shipped_names
from lupai.envs.game import make_game
from lupai.train.evaluate import evaluate
from tests.train.test_onnx import positions

pytestmark = pytest.mark.train

NAMES = shipped_names()


def test_there_is_one_for_each_preset():
    rules = [lupai.agents.load(name).card.rules for name in NAMES]
    assert sorted(rules) == ["qingdao", "shandong", "shiwei", "weihai"]


def compare(name, count):
    by_torch, by_onnx = lupai.agents.load(name), load_onnx(shipped_folder(name) / ONNX_FILE)
    same = [
        by_torch.act_batch(views) == by_onnx.act_batch(views)
        for views in positions(make_game(by_torch.card.game, by_torch.card.rules), count)
    ]
    assert np.concatenate(same).all()
    assert sum(map(len, same)) >= count


@pytest.mark.parametrize("name", NAMES)
def test_both_files_decide_alike(name):
    compare(name, 1000)


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_both_files_decide_alike_ten_thousand_times(name):
    compare(name, 10_000)


@pytest.mark.parametrize("name", NAMES)
def test_it_beats_greedy_clearly(name):
    card = lupai.agents.load(name).card
    team = "camp" if card.game == "baohuang" else "side"
    result = evaluate(
        name, ["greedy"], formats=[team], hands=60, seed=5, game=card.game, rules=card.rules
    )
    found = next(match for match in result["matches"] if match["format"] == team)
    assert found["low"] > 1
