"""Matches against the anchors while training, and the watchdog."""

from __future__ import annotations

import io
import json
from contextlib import suppress

import pytest

pytest.importorskip("torch")

import lupai.agents
from lupai.train.arena.run import run_arena
from lupai.train.config import ConfigError
from lupai.train.games.baohuang import RATES
from lupai.train.watch import SEED, Watch
from lupai.train.watchdog import Watchdog, bands_of, rates_of, wilson
from tests.arena.players import SMALL
from tests.cli.running import lupai as command
from tests.train.conftest import tiny
from tests.train.plain import PlainTrainer
from tests.train.test_run_folder import names, rows, train

pytestmark = [pytest.mark.train]


def watched(**values):
    section = {"every": 2, "deals": 3, "anchors": ["random", "greedy"], **values}
    return {"rules": SMALL, "watch": section}


def test_the_figures_are_the_arenas():
    watch = Watch(tiny(**watched() | {"rules": "qingdao"}))
    row = watch.measure(lupai.agents.load("tactical"))
    assert row.pop("time/watching") > 0
    result = run_arena(
        ["tactical"], ["random", "greedy"], formats=("seat", "camp"), deals=3, seed=SEED
    ).result
    for match in result["matches"]:
        if match["format"] in ("seat", "camp"):
            place = f"eval/{match['opponent']}/{match['format']}"
            assert [row.pop(place + end) for end in ("", "_low", "_high")] == [
                match[key] for key in ("mean", "low", "high")
            ]
        if match["format"] == "seat":
            for role, found in match["roles"].items():
                assert row.pop(f"eval/{match['opponent']}/{role}") == found["value"]
    seats = [m for m in result["matches"] if m["format"] == "seat"]
    calls = [m["behaviour"]["call"] for m in seats]
    cases = sum(c["n"] for c in calls)
    called = sum(c["n"] * c["value"] for c in calls)
    assert row.pop("rates/call") == pytest.approx(called / cases)
    assert row.pop("rates/cede") == pytest.approx(1 - called / cases)
    assert all(name.startswith("rates/") and 0 <= share <= 1 for name, share in row.items())
    assert {"rates/grab", "rates/declare", "rates/reveal", "rates/alone"} <= set(row)


def test_a_policy_that_plays_an_illegal_move_is_found_out():
    class Cheat(type(lupai.agents.load("greedy"))):
        act_lanes = None

        def act_batch(self, views):
            return super().act_batch(views) * 0

    with pytest.raises(Exception, match="legal"):
        Watch(tiny(**watched())).measure(Cheat())


def test_it_measures_every_k_iterations_and_at_the_end_and_the_best_stays(tmp_path):
    path = tmp_path / "run"
    trainer = PlainTrainer(agent="greedy")
    agents = iter(["random", "greedy", "random"])  # iterations 2, 4 and the last, 5
    trainer.agent = lambda: lupai.agents.load(next(agents))
    config = tiny(stop={"steps": 500}, checkpoint={"keep": 1}, **watched())
    train(path, config, trainer)
    found = [row["iteration"] for row in rows(path) if "eval/greedy/seat" in row]
    assert found == [2, 4, 5]
    assert names(path) == ["000004", "000005"]
    best = json.loads((path / "best" / "latest.json").read_text())
    assert best["checkpoint"] == "../checkpoints/000004"
    assert (best["against"], best["deals"], best["score"]) == ("greedy", 3, 0.0)

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    assert [e.step for e in events.Scalars("eval/greedy/seat_low")] == [2, 4, 5]

    # Going on, a policy that is no better leaves the best where it was; a better one takes it.
    agents = iter(["random", "tactical"])
    again = PlainTrainer()
    again.agent = lambda: lupai.agents.load(next(agents))
    train(path, tiny(stop={"steps": 700}, checkpoint={"keep": 1}, **watched()), again, "resume")
    best = json.loads((path / "best" / "latest.json").read_text())
    assert best["checkpoint"] == "../checkpoints/000007"
    assert names(path) == ["000004", "000007"]  # the old best goes at the next save


def test_what_is_watched_does_not_change_what_is_measured(tmp_path):
    """Same seed, same bytes: every measurement of the same policy is the same."""
    watch = Watch(tiny(**watched()))
    first, second = (watch.measure(lupai.agents.load("greedy")) for _ in range(2))
    for row in (first, second):
        row.pop("time/watching")
    assert first == second


def test_entropy_is_warned_about_once_for_each_collapse():
    dog = Watchdog({}, entropy_min=0.01, entropy_share=0.1)
    told = [dog.entropy(value) for value in (2.0, 1.5, 0.3, 0.19, 0.05, 0.5, 0.1)]
    assert [len(texts) for texts in told] == [0, 0, 0, 1, 0, 0, 1]
    assert "collapsed to 0.1900 nats (it began with 2.000; limit 0.2000)" in told[3][0]
    assert Watchdog({}, entropy_min=0.5).entropy(0.4) != []


def test_a_rate_is_outside_only_if_chance_does_not_explain_it():
    dog = Watchdog({"call": (0.4, 0.9)})
    assert dog.rates({"call": (0.0, 3)}) == []
    assert (
        "call rate is 0.10 in 60 cases, outside of its band 0.40 … 0.90"
        in (dog.rates({"call": (0.1, 60)})[0])
    )
    assert dog.rates({"call": (0.0, 60)}) == []  # told already
    assert dog.rates({"call": (0.5, 60)}) == []
    assert len(dog.rates({"call": (1.0, 60)})) == 1
    assert dog.rates({"other": (0.0, 60)}) == dog.rates({}) == []


def test_a_watchdog_goes_on_where_it_stopped():
    dog, other = Watchdog({"call": (0.4, 0.9)}, 0.1), Watchdog({"call": (0.4, 0.9)}, 0.1)
    assert dog.entropy(0.05)
    assert dog.rates({"call": (0.0, 60)})
    other.restore(json.loads(json.dumps(dog.state())))
    assert other.entropy(0.05) == other.rates({"call": (0.0, 60)}) == []


def test_wilson_against_known_values():
    # Wilson (1927) by hand: 8 of 10; none of 10: 0 to z²/(n + z²).
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 3.8415 / 13.8415), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("preset", sorted(RATES))
def test_the_rule_agents_are_inside_of_the_bands(preset):
    section = {"every": 1, "deals": 12, "anchors": ["greedy", "tactical"]}
    for name in ("greedy", "tactical"):
        watch = Watch(tiny(rules=preset, watch=section))
        row = watch.measure(lupai.agents.load(name, preset))
        assert watch.warnings(row) == []
        measured = {key.removeprefix("rates/") for key in row if key.startswith("rates/")}
        assert measured <= {*rates_of(preset)}
        assert set(bands_of(preset)) <= {
            *(key.removeprefix("rates/") for key in row),
            "accept", "ti", "niu", "secret_solo",  # rarely offered
        }  # fmt: skip


def test_a_band_of_no_rate_is_refused():
    """A typo was taken, and never warned of anything."""
    for rules, name, why in (
        (
            "qingdao",
            "cal",
            r"under qingdao; did you mean 'call'\?.*known here: alone, call",
        ),
        ("weihai", "call", r"no rate 'call' under weihai.*known here: abandon, accept, alone"),
        ("qingdao;grab=false", "oppose", r"under qingdao;grab=false.*secret_solo"),
    ):
        with pytest.raises(ConfigError, match=why):
            tiny(rules=rules, watch={"bands": {name: [0.1, 0.9]}})
    for rules in RATES:
        bands = {name: [0.1, 0.9] for name in rates_of(rules)}
        assert set(tiny(rules=rules, watch={"bands": bands}).watch.bands) == set(bands)
        assert set(bands_of(rules)) <= set(bands)


def test_warnings_reach_screen_file_and_runs(tmp_path):
    path, screen = tmp_path / "runs" / "tiny", io.StringIO()
    trainer = PlainTrainer(entropy=lambda n: 1.0 if n < 3 else 0.001)
    train(
        path, tiny(stop={"steps": 500}, **watched(bands={"grab": [0.9, 1.0]})), trainer, out=screen
    )
    told = rows(path, "warnings.jsonl")
    assert [(line["iteration"], line["warning"][:7]) for line in told] == [
        (2, "the gre"),
        (3, "entropy"),
    ]
    assert "warning: iteration 3: entropy has collapsed" in screen.getvalue()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    assert [e.step for e in events.Tensors("warnings/text_summary")] == [2, 3]

    listed = json.loads(command("runs", tmp_path / "runs", "--json").out)
    (run,) = listed
    assert (run["state"], run["iteration"], run["steps"], run["warnings"]) == (
        "finished",
        5,
        500,
        2,
    )
    assert run["last"] == {"random": rows(path)[-1]["eval/random/seat"], "greedy": 0.0}
    text = command("runs", tmp_path / "runs").out
    assert "greedy +0.00 (+0.00)" in text
    assert "finished" in text


def test_runs_tells_stopped_running_crashed_and_unreadable(tmp_path):
    folder = tmp_path / "runs"
    config = tiny(stop={"steps": 1000})
    for name in ("a", "b", "c", "d"):
        asked = iter([False, True])
        train(folder / name, config, stopped=lambda asked=asked: next(asked))
    from lupai.train.run_folder import RunLock

    with suppress(KeyboardInterrupt), RunLock(folder / "c") as lock:
        lock.begun = True
        raise KeyboardInterrupt
    (folder / "d" / "config.yaml").write_text("name: [1")
    (folder / "notes").mkdir()
    with RunLock(folder / "b"):
        done = command("runs", folder)
    lines = done.out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["a", "(tiny)"], ["b", "(tiny)"]]
    states = [line.replace(" (tiny)", "").split()[1] for line in lines[1:5]]
    assert states == ["stopped", "running", "crashed", "unreadable"]
    assert "not YAML" in lines[5]
    assert "none yet" in lines[1]
    assert command("runs", folder / "a").out.splitlines()[1].split()[0] == "a"
    assert "no runs" in command("runs", folder / "notes").out
    missing = command("runs", tmp_path / "nowhere")
    assert (missing.status, missing.err.count("\n")) == (2, 1)
