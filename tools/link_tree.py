"""Make `.typing/lupai`, a view of links that shows mypy the package as it is once installed.

The folders envs/, agents/, ... are sub-packages of lupai only by pyproject.toml's package-dir,
which type checkers do not read.
"""

import argparse
import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VIEW = ROOT / ".typing"


def main() -> None:
    """Make the view anew: a link to a folder that is gone misleads mypy."""
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    package_dir = project["tool"]["setuptools"]["package-dir"]
    shutil.rmtree(VIEW, ignore_errors=True)
    (VIEW / "lupai").mkdir(parents=True)
    for name in ("__init__.py", "py.typed"):
        (VIEW / "lupai" / name).symlink_to(ROOT / package_dir["lupai"] / name)
    for package, folder in package_dir.items():
        if package != "lupai":
            (VIEW / package.replace(".", "/")).symlink_to(ROOT / folder, target_is_directory=True)


if __name__ == "__main__":
    main()
