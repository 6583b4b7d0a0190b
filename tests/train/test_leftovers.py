"""However a run ends, its work is saved as far as it can be, and nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")

import lupai.agents
from lupai.train.runs import read_run
from tests.train.marked import Marked, config_file, lines, wait_for

pytestmark = [
    pytest.mark.train,
    pytest.mark.slow,
    pytest.mark.xdist_group("ray commands"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc"),
]
WORKERS = {"runners": 1, "envs_per_runner": 8}


@pytest.fixture
def marked(tmp_path):
    place = Marked(tmp_path)
    yield place
    place.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_exits_0_and_leaves_nothing(tmp_path, marked, number):
    run = tmp_path / "runs" / "tiny"
    process = marked.start("train", config_file(tmp_path, workers=WORKERS))
    wait_for(process, lambda: len(lines(run)) >= 2)
    assert marked.processes("BatchEnvRunner")
    assert read_run(run).state == "running"
    code, _, err = marked.lupai("train", "--resume", run)
    assert code == 2, err
    assert f"process {process.pid} on " in err
    assert err.count("\n") == 1
    if number == signal.SIGINT:  # Ctrl-C reaches the whole group, Ray's processes too
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert out.startswith(f"run folder: {run}")
    assert "stopping" in err
    assert lupai.agents.load(run).card.provenance["iteration"] == len(lines(run))
    assert read_run(run).state == "stopped"
    assert marked.left() == []
    assert marked.gone(20)
    assert not (tmp_path / "ray_results").exists()


def test_kill_9_loses_what_was_not_saved_and_the_next_start_cleans_up(tmp_path, marked):
    run = tmp_path / "runs" / "tiny"
    file = config_file(tmp_path, workers=WORKERS, checkpoint={"every_minutes": 1e-6, "keep": 2})
    process = marked.start("train", file)
    wait_for(process, lambda: (run / "latest.json").is_file() and len(lines(run)) >= 3)
    process.kill()
    process.communicate()
    assert read_run(run).state == "crashed"
    (orphan,) = (name for name in marked.left() if name.startswith("lupai-"))
    orphans = set(marked.processes())
    assert orphans  # Ray's agents need a minute to notice

    done = len(lines(run))
    steps = 512 * (done + 2)
    code, out, err = marked.lupai("train", "--resume", run, f"stop.steps={steps}")
    assert (code, out.count("\n")) == (0, 2), err
    assert marked.left() == [], orphan
    # Most were killed at once; on a busy machine one was seen to go only when it noticed by itself.
    until = time.monotonic() + 90
    while orphans & set(marked.processes()) and time.monotonic() < until:
        time.sleep(0.5)
    assert not orphans & set(marked.processes())
    rows = lines(run)
    assert [row["iteration"] for row in rows] == list(range(1, done + 3))
    assert [row["steps"] for row in rows] == [512 * (i + 1) for i in range(done + 2)]
    assert read_run(run).state == "finished"

    # What cannot be read is one line, and leaves nothing either.
    newest = run / "checkpoints" / f"{done + 2:06d}"
    (newest / "rllib" / "algorithm_state.pkl").write_bytes(b"nothing of RLlib")
    code, _, err = marked.lupai("train", "--resume", run, "stop.steps=100000")
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith(f"lupai: error: {newest}/rllib: cannot be read")
    assert "Traceback" not in err
    assert read_run(run).state == "finished"  # nothing of it was changed
    assert marked.left() == []
    assert marked.gone(20)


def test_no_room_for_the_workers_is_said_at_once(tmp_path, marked):
    file = config_file(tmp_path, workers={"runners": 3, "cpus": 2, "wait_minutes": 0})
    code, _, err = marked.lupai("train", file)
    assert code == 2
    assert "only 2 of 3 runners fit on the nodes; needed: 3 runners with 1 CPUs" in err
    assert err.count("\n") == 1
    assert marked.left() == []
    code, _, err = marked.lupai("train", file, "--address", "127.0.0.1:1")
    assert code == 2
    assert "--address 127.0.0.1:1: no Ray cluster to be used there" in err
    assert err.count("\n") == 1
    code, _, err = marked.lupai("train", file, "--address", "head")
    assert (code, err.count("\n")) == (2, 1)
    assert "should be auto, or HOST:PORT" in err
    assert marked.gone(20)
