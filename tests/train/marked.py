"""The real command line in processes that can be found again, with all that they start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import yaml

from tests.train.conftest import TINY

MARK = "LUPAI_TEST_MARK"


class Marked:
    """A folder for temporary files, and processes that carry a mark in their environment.

    Args:
        home: folder of the user, so that what is left there is seen too.
    """

    def __init__(self, home):
        self.mark = uuid.uuid4().hex
        self.home = home
        self.scratch = Path(tempfile.mkdtemp(prefix="l"))  # short: Ray's sockets lie below it
        self.env = {
            **os.environ,
            MARK: self.mark,
            "TMPDIR": str(self.scratch),
            "HOME": str(home),
            "RAY_AUTH_MODE": "disabled",
        }

    def start(self, *words):
        """``lupai`` with these words."""
        return self._start("lupai.train.cli", *words)

    def cluster(self, *words):
        """The same on two Ray nodes that are started for it."""
        return self._start("tests.train.cluster", *words)

    def _start(self, module, *words):
        return subprocess.Popen(
            [sys.executable, "-m", module, *map(str, words)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def lupai(self, *words, timeout=200):
        """The same to its end: status, stdout, stderr."""
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            process.kill()
        return process.returncode, out, err

    def processes(self, word=""):
        """Numbers of the living processes with the mark, and ``word`` in their command line."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() not in (entry / "environ").read_bytes():
                    continue
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if word in line:
                found.append(int(entry.name))
        return found

    def gone(self, seconds):
        """Wait until no process is left; whether that is so."""
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            time.sleep(0.3)
        return not self.processes()

    def left(self):
        """What lies in the temporary folder; torch's cache, which is there for all, aside."""
        return [p.name for p in self.scratch.iterdir() if not p.name.startswith("torchinductor")]

    def close(self):
        """End what a failed test has left."""
        for number in self.processes():
            os.kill(number, 9)
        shutil.rmtree(self.scratch, ignore_errors=True)


def config_file(folder, **sections):
    """A tiny config that runs until it is stopped, as a file."""
    data = {**TINY, "runs": str(folder / "runs"), "stop": {"minutes": 30}, **sections}
    file = folder / "tiny.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


def lines(run):
    """Metrics of a run so far."""
    file = run / "metrics.jsonl"
    text = file.read_text() if file.is_file() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def wait_for(process, condition, seconds=120):
    """Wait until something holds while a process runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.1)
