"""Run folders without Ray: checkpoints that survive kill -9 and full disks, locks, run.json."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

import lupai
from lupai.envs.errors import LupaiError
from lupai.train import run_folder
from lupai.train.checkpoints import find_checkpoint, mark_best, restore_parts, save_checkpoint
from lupai.train.config import load_config
from lupai.train.files import write_whole, writing_folder, writing_whole
from lupai.train.locks import lock_state
from lupai.train.loop import train_loop
from lupai.train.run_folder import Progress, RunLock, TrainingError, check_start
from lupai.train.runs import read_run
from tests.train.conftest import tiny
from tests.train.plain import Counter, PlainTrainer

pytestmark = [pytest.mark.train]


def train(path, config, trainer=None, existing="refuse", stopped=lambda: False, out=None):
    """What lupai.train.trainer.run does, with a trainer that needs no Ray."""
    trainer = trainer or PlainTrainer()
    with RunLock(path) as lock:
        start = check_start(path, config, existing)

        def begin():
            lock.begun = True
            start.commit()

        train_loop(trainer, start, stopped, out or io.StringIO(), begin)
    return trainer


def rows(path, name="metrics.jsonl"):
    return [json.loads(line) for line in (path / name).read_text().splitlines()]


def names(path):
    return sorted(p.name for p in (path / "checkpoints").iterdir())


def saves(path, *iterations, keep=2):
    config = tiny(checkpoint={"keep": keep})
    for i in iterations:
        save_checkpoint(path, config, Progress(i, 100 * i, i, 0.1 * i), {"counter": Counter(i)})
    return config


# --- files ----------------------------------------------------------------------------------------


def test_a_file_appears_whole_with_the_permissions_it_had_or_those_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "ä")
        (tmp_path / "old").write_text("old")
        (tmp_path / "old").chmod(0o604)
        write_whole(tmp_path / "old", b"new")
    finally:
        os.umask(old)
    assert (tmp_path / "new").read_bytes() == "ä".encode()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o604

    def half():
        with writing_whole(tmp_path / "old") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (tmp_path / "old").read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "old"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="names of open files")
def test_a_folder_is_on_the_disk_with_its_names_before_it_appears(tmp_path, monkeypatch):
    """Snapshots and anchors of a league were renamed as they were: a power cut left empty files."""
    events, seen = [], {}
    fsync, rename = os.fsync, Path.rename

    def watched(handle):
        path = os.readlink(f"/proc/self/fd/{handle}")
        events.append(path.replace(str(seen.get("new")), "NEW").removeprefix(str(tmp_path)))
        fsync(handle)

    def renamed(self, target):
        events.append(f"{self.name == seen['new'].name and 'NEW'} to {Path(target).name}")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(Path, "rename", renamed)
    with writing_folder(tmp_path / "made" / "agent") as new:
        seen["new"] = new
        (new / "inner").mkdir(parents=True)
        (new / "inner" / "file").write_text("x")
    assert set(events[:3]) == {"NEW/inner", "NEW/inner/file", "NEW"}
    assert events[3:] == ["NEW to agent", "/made"]

    def half():
        with writing_folder(tmp_path / "made" / "agent") as new:
            new.mkdir()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (tmp_path / "made" / "agent" / "inner" / "file").read_text() == "x"
    with writing_folder(tmp_path / "made" / "agent") as seen["new"]:
        seen["new"].mkdir()
    assert [p.name for p in (tmp_path / "made").iterdir()] == ["agent"]
    assert not list((tmp_path / "made" / "agent").iterdir())


# --- checkpoints ----------------------------------------------------------------------------------


def test_the_newest_and_the_best_stay(tmp_path):
    config = saves(tmp_path, 1, 2)
    mark_best(tmp_path, tmp_path / "checkpoints" / "000002", {"score": 1.5})
    saves(tmp_path, 3, 4, 5)
    assert names(tmp_path) == ["000002", "000004", "000005"]
    assert find_checkpoint(tmp_path, config) == (
        tmp_path / "checkpoints" / "000005",
        Progress(5, 500, 5, 0.5),
    )
    best = json.loads((tmp_path / "best" / "latest.json").read_text())
    assert best == {"checkpoint": "../checkpoints/000002", "score": 1.5}
    mark_best(tmp_path, tmp_path / "checkpoints" / "000005", {"score": 2})
    saves(tmp_path, 6)
    assert names(tmp_path) == ["000005", "000006"]


def test_what_lies_after_the_checkpoint_that_a_run_goes_on_from_never_displaces_it(tmp_path):
    """Killed between writing 000005 and pointing to it, or pointed back by hand."""
    config = saves(tmp_path, 1, 2, 5, keep=3)
    (tmp_path / "latest.json").write_text('{"checkpoint": "checkpoints/000001"}')
    saves(tmp_path, 2, 3, keep=1)
    assert names(tmp_path) == ["000003"]
    assert find_checkpoint(tmp_path, config)[1].iteration == 3


def test_parts_go_on_from_their_values_and_files(tmp_path):
    config = saves(tmp_path, 7)
    checkpoint, _ = find_checkpoint(tmp_path, config)
    known, new = Counter(), Counter(-1)
    restore_parts(checkpoint, {"counter": known, "later": new})
    assert (known.value, new.value) == (7, -1)


KILL = """
import os, signal, sys
from pathlib import Path
from lupai.train import checkpoints, files
from lupai.train.run_folder import Progress, TrainingError
from tests.train.conftest import tiny
from tests.train.plain import Counter

path, config = Path(sys.argv[1]), tiny(checkpoint={"keep": 1})
WATCHED = {"open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "shutil.rmtree", "os.scandir"}

def die_at(number):
    seen = 0
    def hook(event, arguments):
        nonlocal seen
        if event in WATCHED and any(str(path) in str(a) or ".new-" in str(a) for a in arguments):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

number, finished = 0, False
while not finished:
    number += 1
    child = os.fork()
    if child == 0:
        die_at(number)
        i = 10 + number
        checkpoints.save_checkpoint(path, config, Progress(i, i, i, 0.0), {"counter": Counter(i)})
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    finished = os.WIFEXITED(status)
    assert finished or os.WTERMSIG(status) == signal.SIGKILL
    checkpoint, progress = checkpoints.find_checkpoint(path, config)
    part = Counter()
    checkpoints.restore_parts(checkpoint, {"counter": part})
    assert part.value == progress.iteration == int(checkpoint.name)
    assert part.value in (10, *range(11, 11 + number)), part.value
print(number, part.value)
"""


def test_kill_at_any_moment_of_a_save_leaves_a_whole_checkpoint(tmp_path):
    """A process is killed at the first, second, … file operation of a save, until one gets through;
    each finds the leftovers of all before."""
    saves(tmp_path, 10, keep=1)
    done = subprocess.run(
        [sys.executable, "-c", KILL, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    kills, last = map(int, done.stdout.split())
    assert kills > 15
    assert last == 10 + kills
    assert names(tmp_path) == [f"{last:06d}"]


def fail_writing(monkeypatch, number, code=errno.ENOSPC):
    """The n-th file that is written whole meets a full disk."""
    seen = 0
    real = os.fsync

    def fsync(handle):
        nonlocal seen
        seen += 1
        if seen >= number:
            raise OSError(code, os.strerror(code))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_full_disk_is_one_clear_error_and_the_checkpoint_before_stays(
    tmp_path, monkeypatch, number
):
    config = saves(tmp_path, 1)
    with monkeypatch.context() as patch:
        fail_writing(patch, number)
        with pytest.raises(
            TrainingError, match=r"no space is left.*000001 is whole.*--resume"
        ) as e:
            saves(tmp_path, 2)
    assert "\n" not in str(e.value)
    checkpoint, progress = find_checkpoint(tmp_path, config)
    assert (checkpoint.name, progress.iteration) == ("000001", 1)
    assert not list((tmp_path / "checkpoints").glob(".new*"))
    saves(tmp_path, 2)
    assert find_checkpoint(tmp_path, config)[1].iteration == 2


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE as a full disk")
def test_a_part_that_meets_the_end_of_the_disk(tmp_path):
    """Really: the process may write files of 4 KB only."""
    saves(tmp_path, 1)
    code = (
        "import resource, signal, sys; from pathlib import Path;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from lupai.train.checkpoints import save_checkpoint;"
        "from lupai.train.run_folder import Progress;"
        "from tests.train.conftest import tiny; from tests.train.plain import Counter;"
        "save_checkpoint(Path(sys.argv[1]), tiny(), Progress(2), {'c': Counter('x' * 9000)})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert "TrainingError: run" in done.stderr
    assert "File too large" in done.stderr
    assert names(tmp_path) == ["000001"]


def test_bad_checkpoints_are_one_line_errors(tmp_path):
    config = saves(tmp_path, 3)
    folder, latest = tmp_path / "checkpoints" / "000003", tmp_path / "latest.json"
    state = folder / "trainer.json"
    good, whole = latest.read_text(), state.read_text()

    def refused(match, **changes):
        with pytest.raises(TrainingError, match=match) as e:
            find_checkpoint(tmp_path, tiny(**changes))
        assert "\n" not in str(e.value)

    refused("trained|has 'shiwei'", rules="shiwei")
    latest.write_text('{"checkpoint": "checkpoints/000009"}')
    refused("'checkpoints/000009', which is not there")
    latest.write_text("{")
    refused("cannot be read")
    latest.write_text("[]")
    refused("no JSON object")
    latest.write_text(good)
    state.write_text(whole[:40])
    refused("not whole")
    state.write_text(whole.replace('"iteration"', '"round"'))
    refused("'progress' is")
    state.unlink()
    refused("is missing.*not whole")
    state.write_text(whole)
    (folder / "counter" / "more.txt").write_text("other")
    with pytest.raises(TrainingError, match=r"cannot be read.*damaged, or of another run"):
        restore_parts(folder, {"counter": Counter()})
    latest.unlink()
    refused("nothing to go on from")
    assert config.rules_string == "qingdao"


# --- the folder -----------------------------------------------------------------------------------


def test_run_json_tells_rules_versions_commit_seeds_and_sessions(tmp_path):
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    train(path, tiny(stop={"steps": 500}, seed=9), existing="resume")
    card = json.loads((path / "run.json").read_text())
    assert (card["name"], card["rules"], card["algorithm"]) == ("tiny", "qingdao", "ppo")
    first, second = card["sessions"]
    assert (first["seed"], first["streams"], first["from"]["iteration"]) == (3, [3, 0], 0)
    assert (second["seed"], second["streams"], second["from"]["iteration"]) == (9, [9, 3], 3)
    known = first["versions"]
    assert known["lupai"] == lupai.__version__
    assert set(known) == {"lupai", "commit", "python", "torch", "ray", "numpy", "tensorboard"}
    assert str(tmp_path) not in (path / "run.json").read_text()


def test_a_run_goes_on_with_counters_parts_and_curves(tmp_path):
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    with open(path / "metrics.jsonl", "a") as file:
        file.write('{"iteration": 4, "steps": 400}\n{"iter')
    second = train(path, tiny(stop={"steps": 500}), existing="resume")
    assert second.counter.value == 5
    assert [row["steps"] for row in rows(path)] == [100, 200, 300, 400, 500]
    assert names(path) == ["000003", "000005"]
    assert not (path / "run.lock").exists()


def test_stopping_saves_what_was_done(tmp_path):
    asked = iter([False, False, True])
    train(tmp_path / "run", tiny(stop={"steps": 10_000}), stopped=lambda: next(asked))
    assert names(tmp_path / "run") == ["000002"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk")
def test_a_full_disk_while_logging_is_the_same_error(tmp_path):
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 100}))
    (path / "metrics.jsonl").unlink()
    (path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(TrainingError, match=r"no space is left; 000001 is whole"):
        train(path, tiny(stop={"steps": 300}), existing="resume")


def test_an_oserror_of_training_is_not_told_as_a_full_disk(tmp_path):
    """Any of them was: a lost connection, a file that an agent did not find."""
    for number, error in enumerate((FileNotFoundError(errno.ENOENT, "gone", "book.txt"),
                                    ConnectionResetError("a worker"))):  # fmt: skip

        def fail(_, error=error):
            raise error

        with pytest.raises(type(error)) as caught:
            train(tmp_path / str(number), tiny(), PlainTrainer(fail=fail))
        assert caught.value is error


def test_a_lost_connection_while_saving_is_not_told_as_a_full_disk(tmp_path):
    class Lost(Counter):
        def save(self, folder):
            raise TimeoutError("a worker did not answer")

    with pytest.raises(TimeoutError, match="did not answer"):
        save_checkpoint(tmp_path, tiny(), Progress(1), {"counter": Lost()})


def test_two_processes_never_share_a_run_folder(tmp_path):
    path = tmp_path / "run"
    code = (
        "import sys, time; from pathlib import Path;"
        "from lupai.train.run_folder import RunLock;"
        "lock = RunLock(Path(sys.argv[1])).__enter__(); print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "held\n"
        assert lock_state(path / "run.lock") == "held"
        with pytest.raises(TrainingError, match=f"process {other.pid} on .* is training in it"):
            train(path, tiny())
    finally:
        other.kill()
        other.wait()
    assert lock_state(path / "run.lock") == "left"
    train(path, tiny(stop={"steps": 100}))  # a stale lock keeps nobody out
    assert lock_state(path / "run.lock") == "free"


def test_a_lock_that_was_removed_by_its_holder_is_no_lock(tmp_path):
    with RunLock(tmp_path):
        (tmp_path / "run.lock").unlink()
        with RunLock(tmp_path):
            assert lock_state(tmp_path / "run.lock") == "held"


def content(path):
    """Every file below, byte for byte, and every folder."""
    return {
        str(p.relative_to(path)): p.read_bytes() if p.is_file() else None for p in path.rglob("*")
    }


class Fussy(PlainTrainer):
    """Cannot restore its counter."""

    def parts(self):
        def restore(state, folder):
            raise ValueError("other sizes")

        self.counter.restore = restore
        return super().parts()


@pytest.mark.parametrize(
    ("changes", "trainer", "why"),
    [
        ({"rules": "shiwei"}, PlainTrainer, "cannot go on from it"),
        ({"network": {"move_hidden": 9}}, PlainTrainer, "a resumed run keeps it"),
        ({"watch": {"every": 1, "anchors": ["gready"]}}, PlainTrainer, "gready"),
        ({"seed": 8}, Fussy, "cannot be read .*other sizes"),
    ],
)
@pytest.mark.parametrize("crashed", [False, True])
def test_a_refused_resume_changes_nothing_and_the_next_one_goes_on(
    tmp_path, changes, trainer, why, crashed
):
    """It was stored in the folder, and each later resume failed by it."""
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    with open(path / "metrics.jsonl", "a") as file:
        file.write('{"iteration": 4, "steps": 400}\n')
    if crashed:
        (path / "run.lock").write_text('{"pid": 1}\n')
    before, state = content(path), read_run(path).state
    assert (state == "crashed") is crashed
    with pytest.raises(LupaiError, match=why):
        train(path, tiny(**{"stop": {"steps": 900}, **changes}), trainer(), existing="resume")
    assert content(path) == before
    assert read_run(path).state == state  # a crashed run was called stopped from here on
    train(path, load_config(path / "config.yaml", ["stop.steps=500"]), existing="resume")
    assert [row["iteration"] for row in rows(path)] == [1, 2, 3, 4, 5]
    assert read_run(path).state == "finished"


def test_a_crashed_run_that_is_not_replaced_has_crashed(tmp_path):
    """`lupai runs` called it stopped, since the refused command took the lock file away."""
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    (path / "run.lock").write_text('{"pid": 1}\n')
    with pytest.raises(TrainingError, match="not empty"):
        train(path, tiny())
    assert read_run(path).state == "crashed"
    assert (path / "run.lock").read_text() == '{"pid": 1}\n'


def test_a_damaged_run_json_is_told_before_anything_is_written(tmp_path):
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    (path / "run.json").write_text("[")
    before = content(path)
    with pytest.raises(TrainingError, match=r"run\.json: cannot be read"):
        train(path, tiny(stop={"steps": 900}), existing="resume")
    assert content(path) == before


def test_a_replacement_that_is_refused_leaves_the_old_run(tmp_path):
    path = tmp_path / "run"
    train(path, tiny(stop={"steps": 300}))
    before = content(path)
    wrong = tiny(watch={"every": 1, "anchors": ["gready"]})
    with pytest.raises(LupaiError, match="gready"):
        train(path, wrong, existing="replace")
    assert content(path) == before
    train(path, tiny(stop={"steps": 100}), existing="replace")
    assert names(path) == ["000001"]


def test_a_run_that_is_refused_leaves_no_folder(tmp_path):
    with pytest.raises(LupaiError, match="gready"):
        train(tmp_path / "run", tiny(watch={"every": 1, "anchors": ["gready"]}))
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ends_with_an_error_has_crashed(tmp_path):
    def fail(number):
        raise TrainingError("no game was played")

    with pytest.raises(TrainingError, match="no game"):
        train(tmp_path, tiny(), PlainTrainer(fail=fail))
    assert read_run(tmp_path).state == "crashed"


def test_a_folder_that_a_refused_run_removes_is_made_again_for_the_next(tmp_path, monkeypatch):
    """It goes between the making of the folder and that of the lock in it."""
    taken = []
    honest = run_folder.take_lock

    def late(path):
        if not taken:
            path.parent.rmdir()
        taken.append(honest(path))
        return taken[-1]

    monkeypatch.setattr(run_folder, "take_lock", late)
    train(tmp_path / "run", tiny(stop={"steps": 100}))
    assert taken[0] is None
    assert names(tmp_path / "run") == ["000001"]


def test_a_run_that_never_began_does_not_block_its_name(tmp_path):
    path = tmp_path / "run"
    check_start(path, tiny(seed=1), "refuse").commit()
    check_start(path, tiny(seed=2), "refuse").commit()
    train(path, tiny(stop={"steps": 100}))
    with pytest.raises(TrainingError, match="not empty"):
        check_start(path, tiny(), "refuse")


def test_the_loop_and_what_it_uses_know_nothing_of_ray():
    code = (
        "import sys, lupai.train.loop, lupai.train.watch, lupai.train.monitor, lupai.train.runs;"
        "assert not {'ray', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_an_iteration_with_an_illegal_action_ends_the_run(tmp_path):
    trainer = PlainTrainer()
    honest = trainer.train
    trainer.train = lambda: honest() | {"play/illegal_actions": 2}
    with pytest.raises(TrainingError, match="2 illegal actions"):
        train(tmp_path / "run", tiny(), trainer)


def test_what_follows_an_iteration_counts_as_no_minutes_of_training(tmp_path):
    """Gates and snapshots ate the minutes of a run, and its steps a second."""
    trainer, told = PlainTrainer(), []

    def after(progress):
        told.append(progress.iteration)
        time.sleep(0.2)
        return {"time/league": 0.2}

    trainer.after = after
    train(tmp_path / "run", tiny(stop={"steps": 300}), trainer)
    found = rows(tmp_path / "run")
    assert told == [row["iteration"] for row in found] == [1, 2, 3]
    assert all(row["time/league"] == 0.2 and row["time/seconds"] < 0.1 for row in found)
    assert 60 * found[-1]["minutes"] < 0.3


def test_an_unknown_anchor_is_an_error_before_anything_is_trained(tmp_path):
    trainer = PlainTrainer()
    with pytest.raises(LupaiError, match="nobody"):
        train(tmp_path / "run", tiny(watch={"every": 1, "anchors": ["nobody"]}), trainer)
    assert trainer.counter.value == 0


def test_waiting_for_a_lock_is_short(tmp_path):
    begin = time.monotonic()
    with RunLock(tmp_path), pytest.raises(TrainingError), RunLock(tmp_path):
        pass
    assert time.monotonic() - begin < 5
    assert Path(tmp_path).is_dir()
