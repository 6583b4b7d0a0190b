"""Measure what beliefs are worth: `python tools/make_worth.py` (some ten minutes on one core).

Plays the first deals of the pack `dev` of each preset with other beliefs (see
lupai.train.belief.worth), leaves the numbers in docs/belief/worth.json and fills
docs/belief-worth.md. `--page` measures nothing: it fills from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

import make_docs

from lupai.agents.tactical import grounded, heuristic
from lupai.envs.baohuang.engine import Engine
from lupai.train.arena.packs import load_pack
from lupai.train.belief.worth import hidden_hands, interventions, price

FILE = make_docs.ROOT / "docs" / "belief" / "worth.json"
PAGE = make_docs.ROOT / "docs" / "belief-worth.md"
PRESETS = ("qingdao", "shiwei", "weihai")
PLAYERS = {"tactical": heuristic, "bayes": grounded}


def main(argv: list[str] | None = None) -> int:
    """Measure, fill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="from the file, without measuring")
    parser.add_argument("--deals", type=int, default=1000, help="of each pack (default 1000)")
    options = parser.parse_args(argv)
    if not options.page:
        data: dict[str, Any] = {
            "command": f"python tools/make_worth.py --deals {options.deals}",
            "pack": "dev",
            "deals": options.deals,
            "presets": {},
        }
        for preset in PRESETS:  # what was measured is kept if somebody stops the rest
            engine = Engine(preset)
            start = hidden_hands(engine, load_pack("dev", preset), options.deals)
            data["presets"][preset] = {
                "hands": len(start),
                "interventions": [asdict(row) for row in interventions(engine, start)],
                "price": {
                    name: [asdict(row) for row in price(engine, start, belief=belief)]
                    for name, belief in PLAYERS.items()
                },
            }
            FILE.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
            print(preset, "done", flush=True)
    PAGE.write_text(make_docs.fill(PAGE.read_text("utf-8"), consoles=False), "utf-8")
    print(f"wrote {FILE.relative_to(make_docs.ROOT)} and {PAGE.relative_to(make_docs.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
