"""Build the wheel, install it alone (no torch, no ray) and run the smoke tests against it.

Everything happens in a temporary folder, so that neither the checkout nor an old build/ can
stand in for what the wheel lacks.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv*", ".typing", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info",
    "build", "dist", "runs",
)  # fmt: skip
NOT_SHIPPED = {".md", ".ipynb", ".pyc"}  # notes beside the code stay in the repository
TEST_TOOLS = ["pytest", "pytest-timeout", "hypothesis"]

WHERE = """
import importlib.util, sysconfig, lupai, lupai.envs
for module in (lupai, lupai.envs):
    assert module.__file__.startswith(sysconfig.get_path("purelib")), module.__file__
for absent in ("torch", "ray"):
    assert importlib.util.find_spec(absent) is None, f"{absent} came with the base install"
print("lupai", lupai.__version__, "from the wheel")
"""


def run(*command: str | Path, cwd: Path) -> None:
    """Run `command` and stop this script with its exit status if it fails."""
    # A PYTHONPATH from outside could put a checkout in front of the wheel.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    status = subprocess.run([str(c) for c in command], cwd=cwd, env=env).returncode
    if status:
        sys.exit(status)


def missing_from(wheel: Path, source: Path) -> list[str]:
    """Files of the package folders that the wheel should hold and does not."""
    settings = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))
    expected = {
        package.replace(".", "/") + "/" + path.relative_to(source / folder).as_posix()
        for package, folder in settings["tool"]["setuptools"]["package-dir"].items()
        for path in (source / folder).rglob("*")
        if path.is_file() and path.suffix not in NOT_SHIPPED
    }
    return sorted(expected - set(zipfile.ZipFile(wheel).namelist()))


def main() -> None:
    """Exit 0 if the wheel is whole and passes the smoke tests."""
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    with tempfile.TemporaryDirectory(prefix="lupai-wheel-") as name:
        work = Path(name)
        source = work / "source"
        shutil.copytree(ROOT, source, ignore=NOT_SOURCE, symlinks=True)
        run(sys.executable, "-m", "build", "-q", "--wheel", "--outdir", work, source, cwd=work)
        (wheel,) = work.glob("lupai-*.whl")
        if missing := missing_from(wheel, source):
            sys.exit("the wheel lacks:\n  " + "\n  ".join(missing))

        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        lock = ROOT / "constraints.txt"
        run(python, "-m", "pip", "install", "-q", "-c", lock, wheel, *TEST_TOOLS, cwd=work)

        # pyproject.toml comes along for pytest's settings; the packages' folders do not.
        bench = work / "bench"
        shutil.copytree(ROOT / "tests", bench / "tests", ignore=NOT_SOURCE)
        shutil.copy(ROOT / "pyproject.toml", bench)
        run(python, "-c", WHERE, cwd=bench)
        # Only the files that name the marker: others may import torch, which is not there.
        files = sorted(
            path.relative_to(bench)
            for path in (bench / "tests").rglob("test_*.py")
            if "mark.smoke" in path.read_text("utf-8")
        )
        run(python, "-m", "pytest", "-m", "smoke", *files, cwd=bench)


if __name__ == "__main__":
    main()
