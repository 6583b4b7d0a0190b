"""``lupai replay``: a recorded hand step by step, in the terminal or as a page."""

from __future__ import annotations

import argparse
import io
import sys
from typing import Any, Final

from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.records import load_record
from lupai.envs.replay import Replay
from lupai.train.cli.common import (
    UsageError,
    lines,
    one_line,
    positive,
    reading,
    whole,
    writing,
)  # fmt: skip
from lupai.train.cli.play import check_seat, choose_language
from lupai.train.cli.table import show_open, show_table
from lupai.train.cli.tables import table_of
from lupai.train.cli.words import LANGUAGES, Words, clean, flow

EXAMPLES: Final = """examples:
  lupai replay hands.jsonl
  lupai replay hands.jsonl --hand 12 --seat 3      only what seat 3 could know
  lupai replay hands.jsonl --all | less
  lupai replay hands.jsonl --html hand.html
  lupai replay hands.jsonl --belief grounded,tactical --seat 3
  lupai replay hands.jsonl --belief grounded --html hand.html
  lupai replay hands.jsonl --belief grounded --plot hand.svg

Keys, each with Enter: n or nothing for the next step, p for the one before, a number for that
step, f and l for the first and the last, ? for help, q to leave.
Exit status: 0; 1 if the record is not a possible hand: it is shown as far as it is one.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "replay",
        help="step through a recorded hand",
        description="Step through a recorded hand, forward and back.",
        epilog=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="records; - is standard input")
    parser.add_argument("--hand", type=positive, default=1, help="number of its line (%(default)s)")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("--seat", type=whole, help="what this seat could know")
    view.add_argument("--open", action="store_true", help="all cards open (default)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--all", action="store_true", help="print all steps and ask nothing")
    how.add_argument("--html", metavar="OUT", help="write a page that needs nothing else")
    parser.add_argument(
        "--belief", metavar="PREDICTORS",
        help="Baohuang: who is guard, say these (commas between), from the seat's view or a "
        "spectator's",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="OUT", help="with --belief: draw it as SVG and leave")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the hand."""
    if arguments.file == "-" and not (arguments.all or arguments.html):
        raise UsageError("with - the keys cannot come from standard input too: --all or --html")
    if arguments.plot is not None and arguments.belief is None:
        raise UsageError("--plot draws what predictors say: name them with --belief")
    if arguments.plot is not None and arguments.html is not None:
        raise UsageError("--plot and --html: one of them")
    replay = read_hand(arguments.file, arguments.hand)
    engine = replay.engine
    check_seat(engine, arguments.seat)
    if arguments.belief is not None and engine.game != "baohuang":
        raise UsageError(f"--belief: a hidden guard is Baohuang's; this is a hand of {engine.game}")
    shown = arguments.lang if arguments.html else choose_language(arguments.lang, engine.game)
    words = Words(shown, engine.game)
    beliefs = None
    if arguments.belief is not None:
        from lupai.train.cli.replay_belief import beliefs_of, load_all

        predictors = load_all(arguments.belief.split(","), str(engine.rules))
        beliefs = beliefs_of(replay, predictors, arguments.seat)
    if arguments.plot is not None:
        _plot(arguments.plot, beliefs, arguments.seat)
    elif arguments.html is not None:
        from lupai.train.cli.replay_page import make_page

        told = {arguments.seat: beliefs} if beliefs is not None else {}
        if told and arguments.seat is None:  # each view has what that seat could think
            told |= {s: beliefs_of(replay, predictors, s) for s in range(engine.seats)}
        page = make_page(replay, arguments.seat, words, told)
        with writing(arguments.html) as out:
            out.write(page.encode("ascii", "xmlcharrefreplace"))
    else:
        for stream in (sys.stdin, sys.stdout):  # a slip of the keyboard is no reason to stop
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        if arguments.all:
            for number in range(len(replay)):
                shown = show_step(replay, number, arguments.seat, words, beliefs)
                print("\n".join(shown) + "\n")
        else:
            _browse(replay, arguments.seat, words, beliefs)
    return 0 if replay.fault is None else 1


def read_hand(path: str, number: int) -> Replay:
    """The hand in a line of a file.

    Raises:
        LupaiError: there is no such line, or nothing can be shown of it; names file and line.
    """
    last = 0
    with reading(path) as stream:
        for chunk in lines(stream):
            for at, line in chunk:
                last = at
                if at == number:
                    try:
                        if isinstance(line, LupaiError):
                            raise line
                        return Replay(load_record(line))
                    except LupaiError as error:
                        raise RecordError(f"{path}:line {number}: {one_line(error)}") from None
    raise UsageError(f"{path}: {last} hands, so there is no --hand {number}")


def _plot(path: str, beliefs: Any, seat: int | None) -> None:
    from lupai.train.belief.plots import need_matplotlib, posterior_plot

    need_matplotlib()
    if not len(beliefs.steps):
        raise UsageError("--plot: at no step of this hand is there anything to guess")
    label = beliefs.label if seat is None else None  # what the seat could know and nothing else
    with writing(path) as out:
        text = posterior_plot(beliefs.steps, beliefs.chances, beliefs.emperor, label)
        out.write(text.encode())


def show_step(
    replay: Replay, number: int, seat: int | None, words: Words, beliefs: Any = None
) -> list[str]:
    """A step as lines of at most 80 columns, for the view of a seat or open, with what predictors
    say (:class:`~lupai.train.cli.replay_belief.Beliefs`) if there is anything."""
    engine, step = replay.engine, replay.steps[number]
    where = words("open_cards") if seat is None else words("view_of", words("seat", seat))
    out = flow([words("step", number, len(replay) - 1), where], indent="")
    out += flow([move_text(replay, number, seat, words)], indent="  ")
    if seat is None:
        out += show_open(engine, step.state, words)
    else:
        out += show_table(replay.view(number, seat), words)
    out += flow(status(replay, number, words), indent="", gap="; ")
    if beliefs is not None:
        out += beliefs.lines(number, words)
    if number == len(replay) - 1:
        out += end_text(replay, seat, words)
    return out


def move_text(replay: Replay, number: int, seat: int | None, words: Words) -> str:
    """The move that led to a step, with the name of who made it, as a seat saw it."""
    step = replay.steps[number]
    if step.move is None:
        return words("dealt")
    who = int(step.move.partition(" ")[0])
    text = step.move if seat is None or seat == who else step.public
    return f"{player(replay, who, words)}: {words.move(str(text).partition(' ')[2])}"


def player(replay: Replay, seat: int, words: Words) -> str:
    """A seat with its player's name, of which only harmless characters are shown."""
    name = clean(replay.players[seat]) if seat < len(replay.players) else ""
    return f"{words('seat', seat)} ({name})" if name else words("seat", seat)


def status(replay: Replay, number: int, words: Words) -> list[str]:
    """Who is asked what; public."""
    state = replay.steps[number].state
    phase = words.phase(replay.engine.phases[state.phase[0]])
    if state.over[0]:
        return [words("over")]
    asked = words("asked", words("seat", state.actor[0]), phase)
    return [asked, *table_of(replay.engine).beat(state, words)]


def end_text(replay: Replay, seat: int | None, words: Words) -> list[str]:
    """Result of the hand, or why it goes no further."""
    out = []
    if replay.outcome is not None:
        table = table_of(replay.engine)
        out += table.result(replay.steps[-1].state, replay.outcome, seat, words)
    if replay.fault is not None:
        hidden = seat is not None  # the reason may name cards that the seat cannot see
        text = words("fault_hidden") if hidden else words("fault", clean(replay.fault, 2000))
        out += flow(text.split(" "), indent="", gap=" ")
    return out


def _browse(replay: Replay, seat: int | None, words: Words, beliefs: Any) -> None:
    at, last = 0, len(replay) - 1
    print("\n".join(show_step(replay, at, seat, words, beliefs)))
    while True:
        try:
            typed = input(words("replay_prompt", at, last)).strip()
        except EOFError:
            print()
            return
        if not sys.stdin.isatty():
            print(typed)  # what a terminal would have shown
        if typed in ("q", "quit", "exit"):
            return
        if typed in ("?", "h", "help", "？"):
            print(words("replay_help"))
            continue
        to = _target(typed, at, last)
        if to is None:
            print(words("replay_help"))
            continue
        if not 0 <= to <= last:
            print(words("no_step", to))
            continue
        at = to
        print("\n" + "\n".join(show_step(replay, at, seat, words, beliefs)))


_KEYS: Final = {"": 1, "n": 1, "next": 1, "p": -1, "b": -1, "back": -1}


def _target(typed: str, at: int, last: int) -> int | None:
    """Number of the step that is meant; there may be none of that number."""
    if typed in _KEYS:
        return at + _KEYS[typed]
    if typed in ("f", "first"):
        return 0
    if typed in ("l", "last"):
        return last
    return int(typed[:9]) if typed.isascii() and typed.isdigit() else None
