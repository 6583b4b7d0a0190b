"""The tables of docs/belief.md are those of the files beside it."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from lupai.train.belief.scores import METRICS

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for kind in ("table", "matrix", "recovery")
    for path in (ROOT / "docs" / "belief").glob(f"{kind}-*.json")
)


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec = importlib.util.spec_from_file_location(
            "make_belief", ROOT / "tools" / "make_belief.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_the_page_is_filled(tool):
    text = (ROOT / "docs" / "belief.md").read_text("utf-8")
    assert tool.fill(text) == text


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_scores_are_whole_and_hold_no_paths(file):
    text = file.read_text("utf-8")
    assert str(ROOT) not in text
    for result in json.loads(text)["results"]:
        for row in result["results"]:
            assert set(row["scores"]) >= set(METRICS) - {"recovered", "ece_before"}
            for told in row["scores"].values():
                assert told["low"] is None or told["low"] <= told["high"]
