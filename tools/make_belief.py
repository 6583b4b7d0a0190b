"""Measure what docs/belief.md tells: `python tools/make_belief.py`.

Makes data of `tactical` (and of a mixed population, for the matrix) for each preset, trains naive
Bayes, the GRU and the transformer on it, scores all predictors on the split `test`, leaves the
scores in docs/belief/, and fills the tables of the page. With `--mini` it does so in mini-games of
a `tactical` that errs now and then, where the exact posterior tells how much there is to be known.
What is finished in the work folder is not done again. `--page` measures nothing: it fills from the
files that are there.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_docs

from lupai.agents.belief.base import OBSERVERS
from lupai.envs.baohuang.rules import PRESETS
from lupai.train.belief.scores import Interval
from lupai.train.belief.tables import SHOWN, with_interval
from lupai.train.files import write_whole

FOLDER = make_docs.ROOT / "docs" / "belief"
PAGE = make_docs.ROOT / "docs" / "belief.md"
SIMPLE = ("uniform", "grounded", "tactical")
TRAINED = ("naive_bayes", "gru", "transformer")
MATRIX_RULES = "qingdao"
# Few enough cards for the exact posterior; nobody grabs or declares, so that there is a guard who
# stays hidden for a while.
MINI = {
    "qingdao": "qingdao;deck=R* 3s 3s 3s 3s 9h 9h 9h 9h Kc Kc Kc Kc 2d B;grab=false;declare=false",
    "weihai": "weihai;deck=R* R B* B B 3s 3s 3s 3s 8h 8h 8h 8h;open_solo=false;declare=false"
    ";oppose=false",
}
MINI_NOISE = 0.05
MINI_EXACT = f"exact:agent=tactical+noise={MINI_NOISE}"
MINI_KINDS = ("naive_bayes", "gru")
POPULATIONS = {
    "tactical": ("--players", "tactical"),
    "mixed": ("--players", "tactical,greedy", "--mix", "seat", "--noise", "0.05"),
}


def main(argv: list[str] | None = None) -> int:
    """Make, train, score, fill."""
    given = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hands", type=int, default=2000, help="of each population (%(default)s)")
    parser.add_argument("--minutes", type=float, default=5, help="of each network (%(default)s)")
    parser.add_argument("--rules", nargs="+", help="presets (all that there are)")
    parser.add_argument(
        "--kinds", nargs="+", choices=TRAINED, default=list(TRAINED), help="to train (all)"
    )
    parser.add_argument(
        "--mini", action="store_true", help="mini-games, beside the exact posterior"
    )
    parser.add_argument(
        "--moments", type=int, default=4, help="of each mini-game that are scored (%(default)s)"
    )
    parser.add_argument(
        "--scored", type=int, help="hands of a mini-game that are scored (the whole split)"
    )
    parser.add_argument(
        "--epochs", type=int, default=8, help="of networks of mini-games (%(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that play (%(default)s)")
    parser.add_argument("--work", type=Path, default=make_docs.ROOT / "runs" / "belief")
    parser.add_argument("--page", action="store_true", help="from the files, without measuring")
    arguments = parser.parse_args(given)
    if not arguments.page:
        command = shlex.join(["python", "tools/make_belief.py", *given])
        ways = (MINI, measure_mini) if arguments.mini else (PRESETS, measure)
        for rules in arguments.rules or ways[0]:
            if not ways[1](rules, arguments, command):
                return 1
    PAGE.write_text(fill(PAGE.read_text("utf-8")), "utf-8")
    print(f"wrote {PAGE.relative_to(make_docs.ROOT)}")
    return 0


def lupai(*words: object) -> bool:
    """Run `lupai belief` with these words; whether it went well."""
    command = [sys.executable, "-m", "lupai.train.cli", "belief", *map(str, words)]
    print("lupai belief " + shlex.join(map(str, words)), file=sys.stderr, flush=True)
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0


def measure(rules: str, arguments: argparse.Namespace, command: str) -> bool:
    """Everything for one preset; False where something failed."""
    work, hands = arguments.work / f"{rules}-{arguments.hands}", arguments.hands
    work.mkdir(parents=True, exist_ok=True)
    populations = ["tactical"] + ["mixed"] * (rules == MATRIX_RULES)
    for name in populations:
        made = lupai(
            "make-data", "--rules", rules, *POPULATIONS[name], "--calling", "neutral",
            "--hands", hands, "--seed", 20, "--jobs", arguments.jobs, "-o", work / name,
        )  # fmt: skip
        if not made:
            return False
    for kind in arguments.kinds:
        for name in populations:
            out = work / f"{kind}-{name}"
            if name != "tactical" and kind == "transformer":
                continue
            if not (out / "belief.json").is_file() and not lupai(
                "train", kind, "--data", work / name, "--minutes", arguments.minutes, "-o", out
            ):
                return False
    chosen = [*SIMPLE, *(work / f"{kind}-tactical" for kind in arguments.kinds)]
    runs = {"table": (chosen, [work / "tactical"])}
    if len(populations) > 1:
        cheap = [kind for kind in arguments.kinds if kind != "transformer"]
        both = ["grounded", *(work / f"{k}-{p}" for k in cheap for p in populations)]
        runs["matrix"] = (both, [work / name for name in populations])
    for what, (predictors, data) in runs.items():
        file = work / f"{what}.json"
        if not lupai(
            "score", ",".join(map(str, predictors)), "--data", ",".join(map(str, data)),
            "--json", file,
        ):  # fmt: skip
            return False
        results = json.loads(file.read_text("utf-8"))
        for result in results:
            for row in result["results"]:
                row["predictor"] = Path(row["predictor"]).name
                if what != "table":  # the rest is in the file of the table
                    for name in ("tricks", "time_to_identify", "bins"):
                        del row[name]
        FOLDER.mkdir(exist_ok=True)
        told = {"command": command, "results": results}
        write_whole(FOLDER / f"{what}-{rules}.json", small(told))
    return True


def measure_mini(preset: str, arguments: argparse.Namespace, command: str) -> bool:
    """Learned predictors beside the exact posterior, for a mini-game; False where it failed."""
    work, hands = arguments.work / f"mini-{preset}-{arguments.hands}", arguments.hands
    work.mkdir(parents=True, exist_ok=True)
    if not lupai(
        "make-data", "--rules", MINI[preset], "--players", "tactical", "--noise", MINI_NOISE,
        "--hands", hands, "--seed", 20, "--jobs", arguments.jobs, "-o", work / "tactical",
    ):  # fmt: skip
        return False
    kinds = [kind for kind in MINI_KINDS if kind in arguments.kinds]
    for kind in kinds:
        out = work / kind
        if not (out / "belief.json").is_file() and not lupai(
            "train", kind, "--data", work / "tactical", "--epochs", arguments.epochs, "-o", out
        ):
            return False
    scored = () if arguments.scored is None else ("--limit", arguments.scored)
    results = None
    for observer in OBSERVERS:  # one by one, so that what was done is not lost
        file = work / f"recovery-{observer}.json"
        if not file.is_file() and not lupai(
            "score", ",".join(["grounded", *(str(work / kind) for kind in kinds), MINI_EXACT]),
            "--data", work / "tactical", "--reference", MINI_EXACT, "--observers", observer,
            "--moments", arguments.moments, *scored, "--json", file,
        ):  # fmt: skip
            return False
        (part,) = json.loads(file.read_text("utf-8"))
        if results is None:
            results = part
        else:
            results["results"] += part["results"]
    assert results is not None
    for row in results["results"]:
        row["predictor"] = Path(row["predictor"]).name
        for name in ("tricks", "time_to_identify", "bins"):
            del row[name]
    told = {"command": command, "results": [results]}
    write_whole(FOLDER / f"recovery-{preset}.json", small(told))
    return True


def small(told: Any) -> str:
    """JSON on one line, with six decimals: a repository is no place for more."""
    return json.dumps(json.loads(json.dumps(told), parse_float=lambda t: round(float(t), 6))) + "\n"


# --- the page -------------------------------------------------------------------------------------


def fill(text: str) -> str:
    """The page with its tables between the marks."""
    blocks = {
        "table": score_tables(),
        "matrix": matrix_table(),
        "recovery": recovery_tables(),
    }
    for name, made in blocks.items():
        begin, end = f"<!-- belief:{name} -->\n", f"<!-- /belief:{name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{PAGE}: the marks {begin.strip()} … {end} are not there")
        text = before + begin + made + end + after
    return text


def _results(what: str) -> list[tuple[str, list[dict[str, Any]]]]:
    found = []
    for rules in PRESETS:
        file = FOLDER / f"{what}-{rules}.json"
        if file.is_file():
            data = json.loads(file.read_text("utf-8"))
            found.append((data["command"], data["results"]))
    return found


def _cell(told: Interval) -> str:
    return with_interval(told).replace("-", "−")


def score_tables() -> str:
    """A table for each preset: predictors in lines, observers in columns."""
    blocks = []
    for command, (result,) in _results("table"):
        rows = {(r["predictor"], r["observer"]): r for r in result["results"]}
        sizes = ", ".join(
            f"{rows['grounded', o]['hands']:,} hands and {rows['grounded', o]['decisions']:,} "
            f"decisions of the {o}"
            for o in OBSERVERS
        )
        lines = [
            f"**{result['rules']}**, {result['population']}, split {result['split']}: {sizes} "
            f"(`{command}`; data {result['data_sha256'][:16]}).",
            "",
            "| predictor | observer | log loss, nats | gain over grounded | recovered at "
            "least | Brier | ECE | AUROC | identified |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for (name, observer), row in rows.items():
            scores = row["scores"]
            cells = [_cell(scores[name]) if name in scores else "–" for name in SHOWN]
            share = 100 * row["time_to_identify"]["identified"]
            shown = name.removesuffix("-tactical")
            lines.append(f"| {shown} | {observer} | {' | '.join(cells)} | {share:.0f} % |")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def matrix_table() -> str:
    """Gains of predictors trained on one population, on hands of another."""
    blocks = []
    for command, results in _results("matrix"):
        names = [result["population"] for result in results]
        lines = [
            f"**{results[0]['rules']}** (`{command}`).",
            "",
            "| trained | observer | " + " | ".join(f"on {name}" for name in names) + " |",
            "|---|---|" + "---|" * len(names),
        ]
        for row in results[0]["results"]:
            key = row["predictor"], row["observer"]
            cells = [
                _cell(other["scores"]["gain"])
                for result in results
                for other in result["results"]
                if (other["predictor"], other["observer"]) == key
            ]
            if row["predictor"] != "grounded":
                lines.append(f"| {key[0]} | {key[1]} | {' | '.join(cells)} |")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def recovery_tables() -> str:
    """How much of what the exact posterior knows was learned, a table for each mini-game."""
    blocks = []
    for command, (result,) in _results("recovery"):
        lines = [
            f"`{result['rules']}`, {result['population']}, split {result['split']}, "
            f"{result['moments']} decisions of each hand (`{command}`; data "
            f"{result['data_sha256'][:16]}).",
            "",
            "| predictor | observer | hands | log loss, nats | gain over grounded | recovered | "
            "ECE before | ECE |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for row in result["results"]:
            names = ("log_loss", "gain", "recovered", "ece_before", "ece")
            scores = row["scores"]
            cells = [_cell(scores[name]) if name in scores else "–" for name in names]
            told = f"| {row['predictor']} | {row['observer']} | {row['hands']:,} |"
            lines.append(f"{told} {' | '.join(cells)} |")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
