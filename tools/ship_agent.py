"""Put a trained agent into the package, as ``lupai/NAME``, with a model card.

    python tools/ship_agent.py runs/qingdao_dmc/best qingdao-v1 --results match.json

The weights are taken as they are, bit for bit: what is shipped is what was measured. Beside them
come the ONNX file, which is compared with torch's decisions first, the run's recipe, and README.md.
Its strength table is read from results of ``lupai arena -o`` (or ``lupai evaluate -o``); a result
of other weights is refused. Measured again, the card is written anew by the same command.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lupai.agents.checkpoint import (
    CARD_FILE,
    ROLE_HEAD_FILE,
    WEIGHTS_FILE,
    find_agent,
    load_agent,
    read_card,
)
from lupai.agents.registry import ONNX_FILE
from lupai.envs.errors import LupaiError
from lupai.train.arena.results import read_result
from lupai.train.files import write_whole, writing_folder
from lupai.train.onnx_export import export_agent
from lupai.train.run_folder import CARD_FILE as RUN_FILE
from lupai.train.run_folder import CONFIG_FILE

HOME = Path(__file__).resolve().parents[1] / "agents" / "shipped"
MOST_BYTES = 10_000_000  # of a folder
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-v[1-9][0-9]*")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|work|tmp|root|usr|opt|mnt|var|data|Users)/")
LIMITS = (
    "It plays the rules named above and no others, not even with one option changed.",
    "It learned from games among agents; people play otherwise, and it was not measured against "
    "any.",
    "It does not bluff or adapt on purpose: it takes the move with the highest output, so the same "
    "position gets the same answer.",
    "How much a player trained against it can win is not known unless a line above says so.",
)


def main(argv: list[str] | None = None) -> int:
    """Ship; 2 and one line where it cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("agent", help="run or agent folder")
    parser.add_argument("name", help="such as qingdao-v1")
    parser.add_argument("--results", nargs="*", default=[], metavar="JSON", help="of lupai arena")
    parser.add_argument(
        "--limit", action="append", default=[], help="a sentence more on its limits"
    )
    parser.add_argument("--home", type=Path, default=HOME, help="folder of the agents")
    options = parser.parse_args(argv)
    try:
        folder = ship(options.agent, options.name, options.results, options.limit, options.home)
    except (LupaiError, OSError) as error:
        print(f"ship_agent: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"lupai/{options.name}: {folder}, {size:,} bytes")
    return 0


def ship(agent: str, name: str, results: list[str], limits: list[str], home: Path) -> Path:
    """Write the folder; it appears whole or not at all.

    Raises:
        LupaiError: no agent, a bad or taken name, a result of other weights, too large.
    """
    if not NAME.fullmatch(name):
        raise LupaiError(f"{name!r}: a name is of small letters and ends in its number: qingdao-v1")
    source = find_agent(agent)
    card = read_card(source)
    target = home / name
    if target.exists() and identity(read_card(target).to_json()) != identity(card.to_json()):
        raise LupaiError(f"lupai/{name} has other weights; a better agent gets the next number")
    trained_as = card.provenance.get("run", card.provenance.get("name", "unnamed"))
    known = {**session(Path(agent)), **card.provenance, "name": name, "run": trained_as}
    card = replace(card, provenance=known)
    matches = [
        match for path in results for match in strength(path, identity(card.to_json()), name)
    ]
    recipe = next(
        (
            p
            for p in (Path(agent), Path(agent).resolve().parent, source)
            if (p / CONFIG_FILE).is_file()
        ),
        None,
    )
    with writing_folder(target) as new:
        new.mkdir()
        for file in (WEIGHTS_FILE, *([ROLE_HEAD_FILE] if card.role_head_sha256 else [])):
            shutil.copyfile(source / file, new / file)
        text = json.dumps(card.to_json(), indent=2, ensure_ascii=False) + "\n"
        write_whole(new / CARD_FILE, text)
        if recipe is not None:
            lines = (recipe / CONFIG_FILE).read_text("utf-8").splitlines(keepends=True)
            kept = [line for line in lines if not line.startswith("runs:")]  # a folder
            write_whole(new / CONFIG_FILE, "".join(kept))
        page = model_card(name, card, matches, [*limits, *LIMITS], recipe is not None)
        write_whole(new / "README.md", page)
        for path in (CARD_FILE, CONFIG_FILE, "README.md"):
            if (new / path).is_file() and (
                found := MACHINE_PATH.search((new / path).read_text("utf-8"))
            ):
                raise LupaiError(f"{path} would tell a path of this machine: {found.group()}…")
        export_agent(load_agent(new), new / ONNX_FILE)
        size = sum(path.stat().st_size for path in new.iterdir())
        if size > MOST_BYTES:
            raise LupaiError(f"{agent}: {size:,} bytes; at most {MOST_BYTES:,} are shipped")
        new.chmod(0o755)
    return target


def session(folder: Path) -> dict[str, object]:
    """Machine and commit as the run tells them (of ``RUN/best`` the run); {} if it does not."""
    for place in (folder, folder.resolve().parent):
        if (place / RUN_FILE).is_file():
            last = json.loads((place / RUN_FILE).read_text("utf-8"))["sessions"][-1]
            return {"machine": last["machine"], "commit": last["versions"]["commit"]}
    return {}


def identity(card: Mapping[str, object]) -> tuple[object, object]:
    """What makes an agent another one: its weights, and what they are played under."""
    return card.get("weights_sha256"), card.get("rules")


def strength(path: str, agent: tuple[object, object], name: str) -> list[tuple[str, ...]]:
    """Rows of the table from a result: opponent, format, deals, hands, score, command.

    Raises:
        LupaiError: no result, or one without these weights under these rules.
    """
    result = read_result(Path(path))
    about = {agent["label"]: agent for agent in result["agents"]}
    mine = [
        label for label, known in about.items() if identity(known.get("checkpoint", {})) == agent
    ]
    if not mine:
        raise LupaiError(
            f"{path}: none of its agents ({', '.join(about)}) has these weights and rules"
        )
    said = command(result, about, mine, name)
    return [
        (
            spelled(about.get(m["opponent"], {"name": m["opponent"]})),
            m["format"],
            f"{m['deals']:,}",
            f"{m['hands']:,}",
            f"{m['mean']:+.2f} [{m['low']:+.2f}, {m['high']:+.2f}]",
            said,
        )
        for m in result["matches"]
        if m["player"] in mine
    ]


def spelled(agent: dict[str, object]) -> str:
    """An agent as the command line takes it; a folder of this machine by its name in runs/."""
    source = str(agent.get("source", agent["name"]))
    return f"runs/{Path(source).name}" if "/" in source and ":" not in source else source


def command(result: dict, about: dict, mine: list[str], name: str) -> str:
    """The command that gives a result again."""

    def names(labels: list[str]) -> str:
        return ",".join(f"lupai/{name}" if x in mine else spelled(about[x]) for x in labels)

    pack = result["pack"]
    words = ["lupai arena", f"--players {names(result['players'])}"]
    words += [f"--against {names(result['opponents'])}"] if result["opponents"] else []
    words += [f"--format {','.join(result['formats'])}", f"--rules '{result['rules']}'"]
    words += [f"--pack {pack['name']}"] if pack["name"] != "deals" else []
    words += [f"--deals {max(m['deals'] for m in result['matches'])}", f"--seed {result['seed']}"]
    words += [f"--time-limit {result['limit']:g}"] if result["limit"] else []
    return " ".join(words)


def model_card(name, card, matches, limits, recipe) -> str:
    """README.md of the folder."""
    known = card.provenance
    network = card.network
    facts = [
        ("game", f"`{card.game}`"),
        ("rules", f"`{card.rules}`"),
        ("algorithm", {"dmc": "Deep Monte Carlo", "ppo": "PPO"}.get(known.get("algorithm"))),
        ("network", f"hidden {list(network.hidden)}, moves {network.move_hidden}, history "
                    f"`{network.history}`, policies `{network.policies}`, advice "
                    f"`{network.advice}`" + (f", win head with weight {network.win_weight:g}"
                                             if network.heads == "both" else "")),
        *([("trust", f"{known['trust']:g} points for a unit of the price of `tactical`, added "
            "after the training (`tools/trust_price.py`)")] if "trust" in known else []),
        ("data", "games of agents among themselves, played for this; no games of people"),
        ("decisions", _count(known.get("steps"))),
        ("hands", _count(known.get("hands"))),
        ("wall time of training", _minutes(known.get("minutes"))),
        ("machine", known.get("machine")),
        ("seed", known.get("seed")),
        ("lupai", _with_commit(known.get("lupai"), known.get("commit"))),
        ("torch, python", f"{known.get('torch', '?')}, {known.get('python', '?')}"),
        ("trained as", f"`{known.get('run')}`" + (", recipe in `config.yaml`" * recipe)),
        ("weights, SHA-256", f"`{card.weights_sha256}`"),
        ("licence", "MIT, as lupai"),
    ]  # fmt: skip
    lines = [
        f"# lupai/{name}", "",
        "```python", "import lupai.agents", "", f'agent = lupai.agents.load("lupai/{name}")', "```",
        "", "```sh", f"lupai play --against lupai/{name} --rules '{card.rules}'", "```", "",
        "| | |", "|---|---|",
        *(f"| {key} | {'not recorded' if value is None else value} |" for key, value in facts),
        "", "## Strength", "",
    ]  # fmt: skip
    if matches:
        lines += ["Points per hand with 95 % intervals over deals; 0 in `camp` or `side` is equal "
                  "strength."]  # fmt: skip
        lines += ["", "| against | format | deals | hands | score |", "|---|---|---|---|---|"]
        lines += [f"| {' | '.join(row[:-1])} |" for row in matches]
        lines += ["", "Measured by", "", "```sh", *dict.fromkeys(row[-1] for row in matches), "```"]
    else:
        lines += ["Not measured yet."]
    lines += ["", "## Limits", "", *(f"- {text}" for text in limits)]
    return "\n".join(lines) + "\n"


def _count(value: object) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None


def _minutes(value: object) -> str | None:
    return f"{value:.0f} minutes" if isinstance(value, int | float) else None


def _with_commit(version: object, commit: object) -> str | None:
    return None if version is None else f"{version}" + (f", commit `{commit}`" if commit else "")


if __name__ == "__main__":
    sys.exit(main())
