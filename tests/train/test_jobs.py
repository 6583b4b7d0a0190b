"""Work in parts on several processes: order, errors, and what is left behind."""

import math
import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from functools import partial

import pytest

from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.game import make_game
from lupai.train.jobs import JobError, run_jobs


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_in_order_and_progress_of_each_part(jobs):
    done = []
    parts = [0.2, *[0.001 * i for i in range(30)]]  # the first takes longest
    results = list(run_jobs(operator.methodcaller("hex"), parts, jobs, done.append))
    assert results == [part.hex() for part in parts]
    assert sorted(done) == sorted(parts)
    assert list(run_jobs(abs, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_comes_after_the_results_before_it(jobs):
    got = []
    with pytest.raises(ValueError, match="math domain error"):  # noqa: PT012
        for result in run_jobs(math.sqrt, [4, 9, -1, 16, -1, "x"], jobs):
            got.append(result)  # noqa: PERF402
    assert got == [2, 3]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_parts_comes_after_them(jobs):
    def parts():
        yield from (-1, -2, -3)
        raise RulesError("no more")

    got = []
    with pytest.raises(RulesError, match="no more"):  # noqa: PT012
        for result in run_jobs(abs, parts(), jobs):
            got.append(result)  # noqa: PERF402
    assert got == [1, 2, 3]


def test_errors_keep_their_class_text_and_place():
    with pytest.raises(RulesError, match="unknown game 'chess'") as caught:
        list(run_jobs(partial(make_game, rules=None), ["chess"], 2))
    assert "in make_game" in caught.value.__notes__[0]
    with pytest.raises(JobError, match="in a worker process: Own: what"):
        list(run_jobs(exec, ["class Own(Exception): pass\nraise Own('what')"], 2))


def test_a_process_that_ends_is_one_clear_error():
    with pytest.raises(JobError, match="ended with exit status 3 before its part was done"):
        list(run_jobs(os._exit, [3], 2))
    with pytest.raises(JobError, match="ended by signal 9 before its part was done"):
        list(run_jobs(exec, ["import os; os.kill(os.getpid(), 9)"], 2))


@pytest.mark.parametrize("jobs", [0, -1, 257])
def test_jobs_out_of_range(jobs):
    with pytest.raises(LupaiError, match=f"{jobs} jobs: a number of processes is in 1 … 256"):
        run_jobs(abs, [], jobs)


def test_parts_are_taken_as_they_are_needed():
    taken = []
    with closing(run_jobs(abs, (taken.append(i) or i for i in range(1000)), 2)) as results:
        for result in results:
            assert len(taken) <= result + 1 + 4 * 2
            if result == 40:
                break
    assert multiprocessing.active_children() == []


def test_a_process_gets_the_function_once():
    """What it loads for one part serves the next."""
    shared = (
        "import os; os.counter = getattr(os, 'counter', 0) + 1; os.write(1, b'%d ' % os.counter)"
    )
    code = f"""
from lupai.train.jobs import run_jobs
if __name__ == "__main__":
    list(run_jobs(exec, [{shared!r}] * 9, 2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.stderr == b""
    counts = [int(word) for word in done.stdout.split()]
    assert len(counts) == 9
    assert counts.count(1) <= 2


LONG = r"""
import os, sys
from lupai.train.jobs import run_jobs
work = "import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
for _ in run_jobs(exec, [work] * 5, 3):
    pass
"""


def gone(numbers):
    """Wait until no such process is left."""
    deadline = time.monotonic() + 20
    while left := [n for n in numbers if os.path.exists(f"/proc/{n}") and not zombie(n)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def zombie(number):
    try:
        with open(f"/proc/{number}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks for processes in /proc")
@pytest.mark.parametrize("group", [True, False])
def test_ctrl_c_leaves_no_process(group):
    """To the whole group, as from a terminal, and to the first process alone."""
    with subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as running:  # fmt: skip
        numbers = [int(running.stdout.readline()) for _ in range(3)]
        if group:
            os.killpg(running.pid, signal.SIGINT)
        else:
            running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=20)
    assert errors.count("Traceback") == 1
    assert errors.strip().endswith("KeyboardInterrupt")
    gone(numbers)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks for processes in /proc")
def test_a_killed_parent_leaves_no_process():
    code = LONG.replace("time.sleep(60)", "time.sleep(1)").replace("* 5", "* 500")
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        numbers = [int(running.stdout.readline()) for _ in range(3)]
        running.kill()
        _, errors = running.communicate(timeout=20)
    assert errors == ""
    gone(numbers)
