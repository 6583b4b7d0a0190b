"""``lupai agents`` and ``lupai export``: which agents there are, and a trained one as one file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from lupai.agents.base import Agent
from lupai.agents.card import AgentCard, read_object
from lupai.agents.registry import AGENTS, agent_path
from lupai.agents.shipped import CARD_FILE, shipped_folder, shipped_names
from lupai.envs.errors import LupaiError
from lupai.envs.game import GAMES
from lupai.train.cli.common import UsageError, stdout

EXAMPLES: Final = """examples:
  lupai agents
  lupai agents --json
"""
EXPORT_EXAMPLES: Final = """examples:
  lupai export runs/quick quick.onnx
  lupai export runs/quick/best quick.onnx
  lupai play --against quick.onnx

The file needs onnxruntime (pip install "lupai[onnx]") and neither torch nor ray. It is written
after it has decided a few hundred times as the agent does. Needs the extras `train` and `export`.
"""
HEADS: Final = ("agent", "game", "rules", "trained")
ANY: Final = "any"
WRITERS: Final = ("torch", "onnx", "onnxscript", "onnxruntime")


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "agents",
        help="list the agents that come with lupai",
        description="List the agents that come with lupai; their names are taken everywhere.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run_agents)
    parser = commands.add_parser(
        "export",
        help="write a trained agent as one ONNX file",
        description="Write a trained agent as one ONNX file, which plays without torch.",
        epilog=EXPORT_EXAMPLES,
    )
    parser.add_argument("agent", metavar="AGENT", help="a run or agent folder, or lupai/NAME")
    parser.add_argument("file", metavar="OUT.onnx", help="file to write")
    parser.set_defaults(run=run_export)


def run_agents(arguments: argparse.Namespace) -> int:
    """Print the list."""
    rows: list[dict[str, Any]] = [
        {"agent": name, "games": _games(make()), "rules": None, "provenance": None}
        for name, make in AGENTS.items()
    ]
    for name in shipped_names():
        folder = shipped_folder(name)
        assert folder is not None
        text = (folder / CARD_FILE).read_text("utf-8")
        card = AgentCard.from_json(read_object(text, folder), folder)
        rows.append(
            {
                "agent": name,
                "games": [card.game],
                "rules": card.rules,
                "provenance": dict(card.provenance),
            }
        )
    if arguments.json:
        stdout().write((json.dumps(rows, indent=1) + "\n").encode())
        return 0
    table = [HEADS] + [
        (
            r["agent"],
            ANY if len(r["games"]) == len(GAMES) else ", ".join(r["games"]),
            r["rules"] or ANY,
            _trained(r["provenance"]),
        )
        for r in rows
    ]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADS))]
    for row in table:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _games(agent: Agent) -> list[str]:
    """Names of the games that an agent plays."""
    return list(getattr(agent, "games", GAMES))


def _trained(provenance: Any) -> str:
    """Where the agent's play comes from."""
    if provenance is None:
        return "no: by rules"
    parts = [str(provenance.get("algorithm", "yes"))]
    if isinstance(steps := provenance.get("steps"), int):
        parts.append(f"{steps:,} decisions")
    if isinstance(minutes := provenance.get("minutes"), int | float):
        parts.append(f"{minutes:.0f} minutes")
    return ", ".join(parts)


def run_export(arguments: argparse.Namespace) -> int:
    """Write the file."""
    from importlib.util import find_spec

    if missing := [name for name in WRITERS if find_spec(name) is None]:
        raise LupaiError(f'export needs {", ".join(missing)}: pip install "lupai[train,export]"')
    target = Path(arguments.file)
    if target.is_dir():
        raise UsageError(f"{target}: is a folder; give the name of a file")
    if not target.resolve().parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist")
    path = agent_path(arguments.agent)
    if path is None or not path.is_dir():
        raise UsageError(
            f"agent {arguments.agent!r}: no folder of a trained agent; give a run or agent folder, "
            f"such as runs/quick, or the name of a trained agent of `lupai agents`"
        )
    from lupai.agents.checkpoint import load_agent
    from lupai.train.onnx_export import export_agent

    agent = load_agent(path)
    size = export_agent(agent, target)
    print(f"{target}: {agent.name}, rules {agent.card.rules}, {size:,} bytes")
    print(f"play it: lupai play --against {target} --rules '{agent.card.rules}'")
    return 0
