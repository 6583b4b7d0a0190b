"""Run the command line inside this process, or as a process of its own."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lupai.train.cli import main

COMMAND = (sys.executable, "-m", "lupai.train.cli")
CASES = Path(__file__).resolve().parents[1] / "cases"
PRESETS = ("qingdao", "shiwei", "weihai")
LEGAL_CASES = CASES / "legal_qingdao.jsonl"
HAND_CASES = CASES / "hands_qingdao.jsonl"


@dataclass
class Done:
    """What a command left: exit status, standard output and standard error."""

    status: int
    out: str
    err: str


def lupai(*words: str | Path, stdin: bytes = b"", encoding: str = "utf-8") -> Done:
    """Run in this process, with streams of its own."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding=encoding, write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
    try:
        status = main([str(word) for word in words])
        sys.stdout.flush()
    finally:
        mine = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = before
    result = Done(status, out.getvalue().decode(encoding), err.getvalue().decode())
    del mine
    return result


def process(
    *words: str | Path, stdin: bytes = b"", **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run as a process of its own, with environment variables."""
    command = [*COMMAND, *(str(word) for word in words)]
    env = os.environ | variables
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=120)
