"""Commands in processes of their own, some at once, that a Ctrl-C ends cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

__all__ = ["Job", "run_queue"]

_LOOK: Final = 0.2  # seconds between looks at the processes
_LINES: Final = 60.0  # seconds between progress lines where there is no terminal
_NAMED: Final = 4  # running jobs that a progress line names


class Job(Protocol):
    """Something to be done by one command after another."""

    name: str
    log: Path  # what its commands print

    def command(self) -> list[str] | None:
        """What to run next; None: all is done."""

    def share(self) -> float:
        """The part of it that is done, 0 to 1."""


def run_queue(jobs: Sequence[Job], at_once: int, out: TextIO | None = None) -> dict[str, str]:
    """Do all jobs.

    Commands run with one thread each, away from the terminal: a Ctrl-C reaches this process only,
    which passes it on once and waits.

    Args:
        jobs: in this order.
        at_once: how many commands run at the same time.
        out: where the progress line goes; None: nowhere.

    Returns:
        The reason by name, of jobs that failed; the others are done all the same.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM; all processes have ended.
    """
    waiting, running = list(jobs), dict[Any, tuple[Job, list[str]]]()
    failed: dict[str, str] = {}
    line = _ProgressLine(jobs, out)

    def start(job: Job, before: list[str] | None = None) -> None:
        command = job.command()
        if command is None:
            return
        if command == before:  # it ended well and has not done what it should
            failed[job.name] = f"ended before its limit; see {job.log}"
            return
        job.log.parent.mkdir(parents=True, exist_ok=True)
        with job.log.open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=os.environ | {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"},
            )  # fmt: skip
        running[process] = job, command

    old = _stop_signals()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                start(waiting.pop(0))
            for process in [p for p in running if p.poll() is not None]:
                job, command = running.pop(process)
                if process.returncode:
                    failed[job.name] = f"status {process.returncode}: {_last_line(job.log)}"
                else:
                    start(job, command)
            line.show([job for job, _ in running.values()], len(waiting), failed)
            if running:
                time.sleep(_LOOK)
    finally:
        _end(list(running))
        line.close()
        for number, handler in old.items():
            signal.signal(number, handler)
    return failed


def _stop_signals() -> dict[int, Any]:
    """Make Ctrl-C and SIGTERM a KeyboardInterrupt; the handlers before.

    Ctrl-C too: a shell's ``&`` makes it ignored, by us and by all that we start.
    """

    def handle(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    old: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread: whoever runs us there handles signals
        for number in (signal.SIGINT, signal.SIGTERM):
            old[number] = signal.signal(number, handle)
    return old


def _end(processes: list[Any]) -> None:
    """Ask all to stop, and wait; each further Ctrl-C asks again."""
    if processes:
        print("\nstopping; the runs save a checkpoint", file=sys.stderr)
    while processes:
        for process in processes:
            with suppress(OSError):
                process.send_signal(signal.SIGINT)
        try:
            for process in processes:
                process.wait()
            return
        except KeyboardInterrupt:
            continue


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
    return f"{last.rsplit(chr(13), 1)[-1].strip()} ({log})"


class _ProgressLine:
    """``3 of 15 done; base-2 40 %, placement-2 12 %; 1 h 05 min left``."""

    def __init__(self, jobs: Sequence[Job], out: TextIO | None) -> None:
        self._jobs, self._out = jobs, out
        self._live = out is not None and out.isatty()
        self._begin, self._first = time.monotonic(), sum(job.share() for job in jobs)
        self._last, self._shown = float("-inf"), ""

    def show(self, running: list[Job], waiting: int, failed: dict[str, str]) -> None:
        """Print it, now and then."""
        now = time.monotonic()
        if self._out is None or now - self._last < (2.0 if self._live else _LINES):
            return
        self._last = now
        done = len(self._jobs) - len(running) - waiting - len(failed)
        shares = [(job.name, job.share()) for job in running]
        parts = [f"{done} of {len(self._jobs)} done"]
        if failed:
            parts.append(f"{len(failed)} failed")
        if shares:
            named = ", ".join(f"{name} {share:.0%}" for name, share in shares[:_NAMED])
            parts.append(named + (", …" if len(shares) > _NAMED else ""))
        sofar = done + len(failed) + sum(share for _, share in shares)
        rate = (sofar - len(failed) - self._first) / max(now - self._begin, 1e-9)
        if rate > 0 and now - self._begin > 5:
            parts.append(f"{duration((len(self._jobs) - sofar) / rate)} left")
        text = "; ".join(parts)
        if self._live:
            self._out.write("\r" + text + " " * max(0, len(self._shown) - len(text)))
        else:
            self._out.write(text + "\n")
        self._out.flush()
        self._shown = text

    def close(self) -> None:
        """Leave the line."""
        if self._live and self._out is not None and self._shown:
            self._out.write("\n")


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``1 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
