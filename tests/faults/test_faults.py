"""The suite notices each planted fault: it is put into a copy, and the copy's tests must fail.

By hand, over the whole suite instead of the one test: ``python -m tests.faults.test_faults``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.faults import FAULTS, GOUJI_FAULTS, RULE_FAULTS, Fault

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "src").is_dir(), reason="needs a checkout"),
]
_LEAVE = shutil.ignore_patterns("__pycache__", "train", "cli", "agents", "faults", "*.pyc")


def copy_project(where: Path) -> None:
    """The engine, its tests, and the settings of pytest, importable from ``where``."""
    package = where / "lupai"
    shutil.copytree(ROOT / "src" / "lupai", package)
    shutil.copytree(ROOT / "envs", package / "envs", ignore=_LEAVE)
    shutil.copytree(ROOT / "tests", where / "tests", ignore=_LEAVE)
    shutil.copy(ROOT / "pyproject.toml", where)


def plant(where: Path, fault: Fault) -> None:
    """Edit the copy; every text must stand in its file exactly once."""
    for file, old, new in fault.edits:
        path = where / "lupai" / file
        source = path.read_text(encoding="utf-8")
        assert source.count(old) == 1, f"{file}: {source.count(old)} times {old!r}"
        path.write_text(source.replace(old, new), encoding="utf-8")


# In the process of the tests, so that it is surely what they import.
_RUN = """\
import pathlib, sys
import lupai, pytest
if pathlib.Path(lupai.__file__).resolve().parent != pathlib.Path("lupai").resolve():
    sys.exit("not the copy: " + lupai.__file__)
sys.exit(pytest.main(sys.argv[1:]))
"""


def run_tests(where: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run some of the copy's tests in a fresh process that imports the copy."""
    env = os.environ | {"PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-c", _RUN, "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "not soak", "--timeout=120", *tests]
    done = subprocess.run(
        command, cwd=where, env=env, text=True, capture_output=True, check=False, timeout=600
    )
    assert "not the copy" not in done.stderr, done.stderr
    return done


ALL = (*FAULTS, *RULE_FAULTS, *GOUJI_FAULTS)


def test_there_are_26_faults_and_those_of_single_rules() -> None:
    assert len({fault.name for fault in FAULTS}) == 26
    assert len({fault.name for fault in ALL}) == len(ALL) == 26 + 17 + 31


NOTICING = sorted({fault.noticed_by for fault in ALL})


@pytest.mark.timeout(600)
def test_the_copy_without_a_fault_passes(tmp_path: Path) -> None:
    """One case of each test: that all of them pass is seen outside of the copy."""
    copy_project(tmp_path)
    listed = run_tests(tmp_path, "--collect-only", *NOTICING)
    cases = re.findall(r"^tests/.*::.*$", listed.stdout, re.MULTILINE)
    first = {case.split("[")[0]: case for case in reversed(cases)}
    assert set(first) == {test.split("[")[0] for test in NOTICING}
    done = run_tests(tmp_path, *first.values())
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.soak
def test_the_copy_without_a_fault_passes_all_of_them(tmp_path: Path) -> None:
    copy_project(tmp_path)
    done = run_tests(tmp_path, *NOTICING)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", ALL, ids=[re.sub(r"\W+", "-", f.name) for f in ALL])
def test_fault_is_noticed(fault: Fault, tmp_path: Path) -> None:
    copy_project(tmp_path)
    plant(tmp_path, fault)
    done = run_tests(tmp_path, fault.noticed_by)
    # 1 is pytest's "tests failed"; a copy that cannot be collected proves nothing
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"\d+ failed", done.stdout), done.stdout[-3000:]


def main() -> int:
    """Plant each fault in turn and run all of the copy's tests."""
    import tempfile

    missed = []
    for fault in ALL:
        with tempfile.TemporaryDirectory() as folder:
            copy_project(Path(folder))
            plant(Path(folder), fault)
            done = run_tests(Path(folder), "tests")
        first = re.search(r"FAILED (\S+)", done.stdout)
        print(f"{fault.name}: {first.group(1) if first else 'MISSED'}", flush=True)
        missed += [] if done.returncode == 1 else [fault.name]
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
