"""Measure what moves tell of the guard: `python tools/make_leak.py` (some minutes on one core).

Makes hands of `tactical` for each preset, and for one of `greedy`, who ignores roles; trains naive
Bayes on each, and once on redrawn roles; measures the leak on the split `test`, leaves the numbers
in docs/belief/leak.json and fills docs/belief-leak.md. What is finished in the work folder is not
done again. `--page` measures nothing: it fills from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import make_docs
from make_belief import lupai, small

from lupai.envs.baohuang.rules import PRESETS
from lupai.train.files import write_whole

FILE = make_docs.ROOT / "docs" / "belief" / "leak.json"
PAGE = make_docs.ROOT / "docs" / "belief-leak.md"
POPULATIONS = dict.fromkeys(PRESETS, ("tactical",)) | {"qingdao": ("tactical", "greedy")}
ROLES = {"true": (), "redrawn": ("--redraw-roles",)}


def main(argv: list[str] | None = None) -> int:
    """Make, train, measure, fill."""
    given = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hands", type=int, default=2000, help="of each population (%(default)s)")
    parser.add_argument("--work", type=Path, default=make_docs.ROOT / "runs" / "belief")
    parser.add_argument("--page", action="store_true", help="from the file, without measuring")
    arguments = parser.parse_args(given)
    if not arguments.page:
        results = []
        for rules in PRESETS:
            for players in POPULATIONS[rules]:
                work = arguments.work / f"{rules}-{arguments.hands}"
                if not measure(rules, players, arguments.hands, work):
                    return 1
                (result,) = json.loads((work / f"leak-{players}.json").read_text("utf-8"))
                for found in result["results"]:
                    found["roles"] = Path(found.pop("predictor")).name.rpartition("-")[2]
                    if found["roles"] == "redrawn":
                        found["rows"] = [row for row in found["rows"] if "per_hand" in row]
                results.append(result)
        command = f"python tools/make_leak.py --hands {arguments.hands}"
        write_whole(FILE, small({"command": command, "results": results}))
    PAGE.write_text(make_docs.fill(PAGE.read_text("utf-8"), consoles=False), "utf-8")
    print(f"wrote {PAGE.relative_to(make_docs.ROOT)}")
    return 0


def measure(rules: str, players: str, hands: int, work: Path) -> bool:
    """One population under one preset; False where something failed."""
    file = work / f"leak-{players}.json"
    if file.is_file():
        return True
    work.mkdir(parents=True, exist_ok=True)
    data = work / players
    if not lupai(
        "make-data", "--rules", rules, "--players", players, "--calling", "neutral",
        "--hands", hands, "--seed", 20, "-o", data,
    ):  # fmt: skip
        return False
    trained = []
    for roles, words in ROLES.items():
        out = work / f"leak-{players}-{roles}"
        trained.append(str(out))
        if not (out / "belief.json").is_file() and not lupai(
            "train", "naive_bayes", "--data", data, *words, "-o", out
        ):
            return False
    return lupai("leak", ",".join(trained), "--data", data, "--json", file)


if __name__ == "__main__":
    raise SystemExit(main())
