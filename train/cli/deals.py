"""``lupai deals``: make packs of deals, and look at them."""

from __future__ import annotations

import argparse
from typing import Any, Final

from lupai.envs.game import GAMES
from lupai.train.cli.common import (
    add_game,
    add_progress,
    game_of,
    positive,
    progress_bar,
    read_game,
    writing,
)
from lupai.train.cli.records import read_seed

EXAMPLES: Final = """examples:
  lupai deals make --deals 5000 --seed 7 -o mine.json
  lupai deals make --rules weihai --only solo --deals 500 --seed 1 -o alone.json
  lupai deals show mine.json
  lupai deals show dev
  lupai deals make --game gouji --deals 500 -o six.json

`lupai arena --pack mine.json` plays them. A pack of certain deals is played from the first lead on:
what comes before it is played by the neutral caller, whose calls made the deals what they are.
"""
MAKE_EXAMPLES: Final = """examples:
  lupai deals make --deals 5000 --seed 7 -o mine.json
  lupai deals make --only secret_guard --deals 500 --seed 1 -o guard.json

--only: secret_guard (a guard whom the others do not know), solo (the emperor secretly alone),
grab (a seat, drawn by the deal, grabbed the crown); of Gouji revolution (one seat, and no other,
may revolt). The same command writes the same bytes.
"""
SHOW_EXAMPLES: Final = """examples:
  lupai deals show dev
  lupai deals show mine.json

The digest is checked: a pack that was altered is refused.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "deals",
        help="make and check packs of deals for `lupai arena`",
        description="Make and check packs of deals.",
        epilog=EXAMPLES,
    )
    ways = parser.add_subparsers(dest="way", metavar="COMMAND", required=True)
    make = ways.add_parser("make", help="write a pack", epilog=MAKE_EXAMPLES)
    add_game(make)
    make.add_argument("--deals", type=positive, required=True, help="how many")
    make.add_argument("--seed", default="0", help="which (%(default)s)")
    make.add_argument(
        "--only", help="secret_guard, solo, grab or revolution: only deals that are so"
    )
    make.add_argument("-o", "--out", required=True, help="file; - is standard output")
    add_progress(make)
    make.set_defaults(run=run_make)
    show = ways.add_parser("show", help="check a pack and say what it holds", epilog=SHOW_EXAMPLES)
    show.add_argument("pack", metavar="PACK", help="dev, test, or a file")
    show.add_argument("--game", choices=tuple(GAMES), help="for dev and test (baohuang)")
    show.add_argument("--rules", help="for dev and test: preset (the first of the game)")
    show.set_defaults(run=run_show)


def run_make(arguments: argparse.Namespace) -> int:
    """Write a pack."""
    from lupai.train.arena.packs import make_pack

    engine = read_game(arguments.game, arguments.rules, arguments.option)
    with (
        writing(arguments.out) as out,
        progress_bar(arguments.progress, total=arguments.deals, unit=" deals") as bar,
    ):
        pack = make_pack(
            engine.rules, arguments.deals, read_seed(arguments.seed), arguments.only,
            game=engine.game, progress=bar.update,
        )  # fmt: skip
        out.write(pack.to_text().encode())
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Check a pack."""
    from lupai.train.arena.games import arena_game, title
    from lupai.train.arena.games.base import PLAYERS
    from lupai.train.arena.packs import load_pack

    rules, game = arguments.rules, arguments.game
    pack = load_pack(arguments.pack, rules, game if rules is None else game_of(game, rules))
    print(f"{pack.name}: {pack.count:,} deals of rules {title(pack.game, pack.rules)}")
    if pack.seeds is None:
        print(f"episodes {pack.start:,} … {pack.start + pack.count - 1:,} of seed {pack.seed}")
    if pack.only is not None:
        text = arena_game(pack.game).only[pack.only].text
        caller = "the players" if pack.calling == PLAYERS else f"caller {pack.calling!r}"
        print(f"only {pack.only}: {text}; what comes before play: {caller}")
    print(f"sha256 {pack.sha256}")
    return 0
