"""Measure what docs/performance.md tells, and fill the page: `python tools/make_performance.py`.

Runs `lupai bench --peers` and `lupai bench --growth` (some minutes; the extra `bench` must be
installed, the machine idle), leaves their numbers and the picture in docs/performance/, and puts
the tables into the page. Options that it does not know go to both commands. `--page` measures
nothing: it draws and fills from the files that are there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import make_docs

FOLDER = make_docs.ROOT / "docs" / "performance"
PAGE = make_docs.ROOT / "docs" / "performance.md"


def main(argv: list[str] | None = None) -> int:
    """Measure, draw, fill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="from the files, without measuring")
    parser.add_argument("--only", choices=("peers", "growth"), help="measure one of the two")
    arguments, more = parser.parse_known_args(argv)
    if arguments.page and (more or arguments.only):
        parser.error("--page measures nothing")
    FOLDER.mkdir(exist_ok=True)
    for name in () if arguments.page else ("peers", "growth"):
        if arguments.only in (None, name):
            command = [sys.executable, "-m", "lupai.train.cli", "bench", f"--{name}", *more]
            done = subprocess.run([*command, "--json", str(FOLDER / f"{name}.json")], check=False)
            if done.returncode:
                return done.returncode
    draw()
    PAGE.write_text(make_docs.fill(PAGE.read_text("utf-8"), consoles=False), "utf-8")
    print(f"wrote {PAGE.relative_to(make_docs.ROOT)}")
    return 0


def draw() -> None:
    """The picture; left as it is where matplotlib is missing."""
    from lupai.train.bench import growth

    try:
        picture = growth.draw(json.loads((FOLDER / "growth.json").read_text("utf-8")))
    except ImportError:
        print("matplotlib is not installed: growth.svg is left as it is", file=sys.stderr)
        return
    (FOLDER / "growth.svg").write_bytes(picture)


if __name__ == "__main__":
    raise SystemExit(main())
