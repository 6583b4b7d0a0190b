"""``lupai play``: a person at the table, the other seats played by agents."""

from __future__ import annotations

import argparse
import io
import secrets
import sys
from typing import Any, Final

from lupai.agents.base import Agent, check_plays
from lupai.agents.by_game import Greedy
from lupai.agents.registry import load
from lupai.agents.streams import agent_seed
from lupai.envs.game import Game
from lupai.envs.view import View
from lupai.train.cli.common import UsageError, add_game, read_game, whole
from lupai.train.cli.records import read_seed
from lupai.train.cli.table import shortlist, show_moves, show_question, show_table
from lupai.train.cli.tables import table_of
from lupai.train.cli.words import LANGUAGES, Words, can_show, flow, pad, seat_name

EXAMPLES: Final = """examples:
  lupai play
  lupai play --against random --lang zh
  lupai play --rules weihai --option open_solo=false
  lupai play --against runs/quick --seat 2 --seed 7
  lupai play --game gouji --against tactical

At your turn type the number of a move, a set such as 99B, h for a hint, ? for help, q to leave.
"""


class Left(Exception):
    """The person has had enough."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "play",
        help="play a hand against agents in the terminal",
        description="Play a hand against agents in the terminal.",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "--against",
        default="greedy",
        metavar="AGENT",
        help="a name (see `lupai agents`), the folder of a run or an ONNX file; or one for "
        "each of the others with commas (%(default)s)",
    )
    add_game(parser)
    parser.add_argument("--seat", type=whole, default=0, help="(%(default)s)")
    parser.add_argument("--seed", help="of deal and agents (default: another one each time)")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play one hand."""
    from lupai.envs.aec import CardGameEnv

    engine = read_game(arguments.game, arguments.rules, arguments.option)
    check_seat(engine, arguments.seat)
    env = CardGameEnv(engine, f"{engine.game}_v0")
    seed = secrets.randbits(32) if arguments.seed is None else read_seed(arguments.seed)
    agents = _opponents(arguments.against, arguments.seat, seed, engine)
    words = Words(choose_language(arguments.lang, engine.game), engine.game)
    for stream in (sys.stdin, sys.stdout):  # a slip of the keyboard is no reason to stop
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    env.reset(seed=seed)
    me = env.possible_agents[arguments.seat]
    table = _Table(words)
    try:
        while not env.terminations[me]:
            view = env.view()
            seat = view.seat
            move = _ask(view, words) if seat == arguments.seat else agents[seat].act(view)
            env.step(view.action_of(move))
            table.tell(env.view(me))
    except (Left, EOFError):
        print(f"\n{words('bye')}")
        return 0
    end = table_of(engine).result(env.view(me).state, env.infos[me], arguments.seat, words)
    print("\n".join(end))
    print(words("again", seed))
    return 0


def check_seat(engine: Game, seat: int | None) -> None:
    """Refuse a seat that the game has not.

    Raises:
        UsageError: names those it has.
    """
    if seat is not None and seat >= engine.seats:
        raise UsageError(f"--seat {seat}: the seats of {engine.game} are 0 … {engine.seats - 1}")


def _opponents(text: str, seat: int, seed: int, engine: Game) -> dict[int, Agent]:
    names, count = text.split(","), engine.seats - 1
    if len(names) == 1:
        names *= count
    if len(names) != count or not all(names):
        raise UsageError(f"--against {text!r}: one agent for all, or {count} with commas")
    others = [s for s in range(engine.seats) if s != seat]
    agents = {}
    for other, name in zip(others, names, strict=True):
        agents[other] = load(name, str(engine.rules))
        check_plays(agents[other], engine.game)
        agents[other].reset(agent_seed(seed, other))
    return agents


def choose_language(wanted: str, game: str = "baohuang") -> str:
    """The language that is wanted, or English where the terminal cannot show it."""
    if wanted == "zh" and not can_show(Words("zh", game).everything, sys.stdout.encoding):
        print(
            f"lupai: note: this terminal's encoding, {sys.stdout.encoding}, has no Chinese; "
            f"going on in English (PYTHONUTF8=1 may help)",
            file=sys.stderr,
        )
        return "en"
    return wanted


class _Table:
    """Tells a person what happened since he last heard, from his view."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._told = 0
        self._redeals = 0

    def tell(self, view: View) -> None:
        """Print the new public events."""
        words = self._words
        if (redeals := int(view.state.redeals[0])) != self._redeals:
            self._redeals, self._told = redeals, 0
            print(words("redeal"))
        for event in view.history[self._told :]:
            seat, _, move = event.partition(" ")
            name = pad(seat_name(words, int(seat), view.seat), 14)
            print("\n".join(flow([name + words.move(move)], indent="  ")))
        self._told = len(view.history)


def _ask(view: View, words: Words) -> str:
    """Show the table and ask until a legal move comes."""
    print()
    print("\n".join(show_table(view, words)))
    legal = view.legal
    listed = shortlist(legal)
    print(show_question(view, words))
    print("\n".join(show_moves(listed, words)))
    if len(listed) < len(legal):
        print("  " + words("more", len(legal) - len(listed)))
    while True:
        typed = input(words("prompt")).strip()
        if not sys.stdin.isatty():
            print(typed)  # what a terminal would have shown
        if typed in ("q", "quit", "exit"):
            raise Left
        if typed in ("?", "help", "？"):
            print(words("help"))
        elif typed in ("m", "more"):
            listed = legal
            print("\n".join(show_moves(listed, words)))
        elif typed in ("h", "hint"):
            print(words("hint", words.move(Greedy().act(view))))
        elif typed:
            move, answer = read_choice(typed, listed, legal, words)
            if move is not None:
                return move
            print("\n".join(flow(answer.split(" "), indent="", gap=" ")))


def read_choice(
    typed: str, listed: list[str], legal: list[str], words: Words
) -> tuple[str | None, str]:
    """What a person means by a line: a legal move, or None and what to tell him.

    A number means the list and a set means its cards; where ``9`` could be both nothing is played.
    """
    text = " ".join(typed.split())[:80]
    digits = text.removeprefix("#")
    number = int(digits) if digits.isascii() and digits.isdigit() else 0
    if 0 < number <= len(listed):
        if text[0] not in "#0" and f"play {text}" in legal and listed[number - 1] != f"play {text}":
            return None, words("both", text, words.move(listed[number - 1]))
        return listed[number - 1], ""
    verb, _, rest = text.partition(" ")
    verb = words.named.get(verb, verb.lower())
    cards = text.removeprefix("play ").removeprefix("offer ").replace(" ", "").upper()
    for move in (f"{verb} {rest}".rstrip(), f"play {cards}", f"call {text}", f"offer {cards}"):
        if move in legal:
            return move, ""
    longer = (f"{verb} {rest}".rstrip() + " ", f"call {text} ")  # call 9c: open or secret?
    if near := [move for move in legal if move.startswith(longer)]:
        return None, words("which", ", ".join(near[:8]))
    if number and set(text) & set("012#"):
        return None, words("no_number", text)
    return None, words("illegal", text)
