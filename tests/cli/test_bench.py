"""`lupai bench` prints every case, and writes what it printed."""

import json

import pytest

from tests.cli.running import PRESETS, lupai


@pytest.mark.smoke
@pytest.mark.parametrize("rules", PRESETS)
def test_bench(tmp_path, rules):
    path = tmp_path / "bench.json"
    words = ("--rules", rules, "--repeats", "2", "--seconds", "0.001", "--json", path)
    done = lupai("bench", *words)
    assert (done.status, done.err) == (0, "")
    data = json.loads(path.read_text("utf-8"))
    names = [result["case"] for result in data["results"]]
    assert names[0] == "AEC env() loop"
    assert [name for name in names if "+" not in name][1:] == [
        "engine B=1", "engine B=64", "engine B=1024",
    ]  # fmt: skip
    assert {name.partition(" + ")[2] for name in names} == {"", "observation", "mask"}
    assert all(len(r["steps_per_second"]) == 2 for r in data["results"])
    assert all(rate > 0 for r in data["results"] for rate in r["steps_per_second"])
    assert all(name in done.out for name in names)
    assert {"processor", "cores", "python", "numpy", "lupai"} <= set(data["machine"])
    assert data["machine"]["processor"] in done.out
    assert data["rules"] == rules
    assert f"rules: {rules}\n" in done.out
