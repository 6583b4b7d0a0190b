"""What all subcommands share: parser, input by lines, output in one step, progress bars."""

from __future__ import annotations

import argparse
import io
import math
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from lupai.envs.baohuang.rules import DEFAULT_PRESET
from lupai.envs.cards import shorten
from lupai.envs.errors import LupaiError
from lupai.envs.game import GAMES, Game, game_of_preset, make_game, rules_class
from lupai.envs.rules_text import from_file, read_option
from lupai.train.files import writing_whole
from lupai.train.jobs import MAX_JOBS

LINE_LIMIT: Final = 1 << 20  # a line of a file is read whole; a longer one is no record
_CHUNK: Final = 1 << 18

Line = tuple[int, str | LupaiError]


class UsageError(LupaiError):
    """A command line that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """Argument parser that raises instead of printing its usage and leaving."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(*args, **options)

    def error(self, message: str) -> NoReturn:
        """Raise, so that every error of the command looks alike."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def whole(text: str) -> int:
    """An integer from 0 up, for argparse."""
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number from 0 up")
    return int(text)


def positive(text: str) -> int:
    """An integer from 1 up, for argparse."""
    value = whole(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def processes(text: str) -> int:
    """A number of processes, for argparse."""
    value = positive(text)
    if value > MAX_JOBS:
        raise argparse.ArgumentTypeError(f"at most {MAX_JOBS} processes, not {value}")
    return value


def seconds(text: str) -> float:
    """A time above 0, up to an hour, for argparse."""
    return _time(text, "seconds", 3600)


def minutes(text: str) -> float:
    """A time above 0, up to a week, for argparse."""
    return _time(text, "minutes", 10_080)


def chance(text: str) -> float:
    """A number from 0 to 1, for argparse."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no chance in 0 … 1")
    return value


def _time(text: str, unit: str, most: int) -> float:
    value = _number(text)
    if not 0 < value <= most:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time in {unit}, up to {most}")
    return value


def _number(text: str) -> float:
    """NaN, which no bound lets through, where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def one_line(error: BaseException) -> str:
    """An error's message on one line."""
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def stdout() -> BinaryIO:
    """Standard output as bytes; text written before comes first."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    sys.stdout.flush()
    return getattr(sys.stdout, "buffer", None) or _TextOut()


class _TextOut(io.BytesIO):
    """Bytes to a standard output that takes text only, as in a notebook."""

    def write(self, data: Any) -> int:
        sys.stdout.write(bytes(data).decode("utf-8"))
        return len(data)


@contextmanager
def reading(path: str) -> Iterator[BinaryIO]:
    """A file, or with ``-`` the standard input, as bytes."""
    if path == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed")
        buffer = getattr(sys.stdin, "buffer", None)
        yield buffer if buffer is not None else io.BytesIO(sys.stdin.read().encode("utf-8"))
        return
    with open(path, "rb") as file:
        yield file


def lines(stream: BinaryIO) -> Iterator[list[Line]]:
    """Numbered lines, as many at once as have arrived: a pipe gets its answers without delay.

    A line that is too long or no UTF-8 comes as its error. Memory stays bounded.
    """
    rest, number, skipping = b"", 0, False
    read = getattr(stream, "read1", stream.read)
    while data := read(_CHUNK):
        *whole_lines, rest = (rest + data).split(b"\n")
        out: list[Line] = []
        for line in whole_lines:
            if skipping:
                skipping = False
                continue
            number += 1
            out.append((number, _text(line, number)))
        if len(rest) > LINE_LIMIT:
            if not skipping:
                number += 1
                out.append((number, LupaiError(f"the line is longer than {LINE_LIMIT} bytes")))
            rest, skipping = b"", True
        if out:
            yield out
    if rest and not skipping:
        yield [(number + 1, _text(rest, number + 1))]


def _text(line: bytes, number: int) -> str | LupaiError:
    if len(line) > LINE_LIMIT:
        return LupaiError(f"the line is longer than {LINE_LIMIT} bytes")
    try:
        return line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return LupaiError(f"no UTF-8: {error.reason} at byte {error.start + 1}")


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """A file that appears whole or not at all, or with ``-`` the standard output.

    The bytes go to a temporary file beside it, which replaces it at the end. A pipe or device is
    written directly.
    """
    if path == "-":
        out = stdout()
        yield out
        out.flush()
        return
    if not path:
        raise UsageError("the name of the file to write is empty")
    target = Path(path).resolve()  # a link stays a link
    old = target.stat() if target.exists() else None
    if target.is_dir():
        raise UsageError(f"{path}: is a folder; give the name of a file")
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as file:
            yield file
        return
    if not target.parent.is_dir():
        raise UsageError(f"{path}: the folder {str(target.parent)!r} does not exist")
    with writing_whole(target) as file:
        yield file


def add_game(parser: argparse.ArgumentParser) -> None:
    """Options ``--game``, ``--rules`` and ``--option``; :func:`read_game` reads them."""
    parser.add_argument(
        "--game", choices=tuple(GAMES), help="which one (that of the rules; without them baohuang)"
    )
    parser.add_argument(
        "--rules",
        metavar="RULES",
        help="a preset, a rules string such as 'qingdao;yield=false', or a YAML file; see "
        "`lupai rules` (the first preset of the game)",
    )
    add_option(parser)


def read_game(game: str | None, source: str | None, changes: Sequence[str] = ()) -> Game:
    """Engine of ``--game`` and ``--rules`` with the changes of ``--option``.

    Raises:
        RulesError: see :func:`read_rules`.
        UsageError: the preset is one of another game.
    """
    game = game_of(game, source)
    source = rules_class(game).default if source is None else source
    return make_game(game, read_rules(source, changes, game))


def game_of(game: str | None, source: str | None) -> str:
    """The game that is meant: the one named, or that of the preset of some rules.

    Raises:
        UsageError: the preset is one of another game.
    """
    preset = None
    if source is not None:
        file = source.endswith((".yaml", ".yml"))
        found = from_file(source) if file else {"preset": source.partition(";")[0].strip()}
        preset = found.get("preset")
    of = game_of_preset(preset)
    if of is not None and game not in (None, of):
        raise UsageError(f"--game {game}: {preset} is a preset of {of}")
    return of or game or next(iter(GAMES))


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Options ``--rules`` and ``--option``; :func:`read_rules` reads them."""
    parser.add_argument(
        "--rules",
        default=DEFAULT_PRESET,
        metavar="RULES",
        help="a preset, a rules string such as 'qingdao;yield=false', or a YAML file; see "
        "`lupai rules` (%(default)s)",
    )
    add_option(parser)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Option ``--option``."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change one option of the rules; may be given again",
    )


def read_rules(source: str, changes: Sequence[str], game: str = "baohuang") -> Any:
    """Rules of ``--rules`` with the changes of ``--option``.

    Raises:
        RulesError: a preset, option or value that does not exist, or that makes no sense here.
        UsageError: a change that cannot be read, or stands twice.
    """
    load = rules_class(game).load
    rules = load(source)
    given: dict[str, Any] = {}
    for text in changes:
        name, value = read_option(text)
        if name == "preset" or name in given:
            why = "--rules names the preset" if name == "preset" else f"{name} stands twice"
            raise UsageError(f"--option {shorten(text)}: {why}")
        given[name] = value
    return load(rules.differing() | given) if given else rules


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Option ``--progress`` / ``--no-progress``."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="show a progress bar on standard error (default: if that is a terminal)",
    )


def add_jobs(parser: argparse.ArgumentParser, what: str) -> None:
    """Option ``--jobs``; ``what`` is the same for every number of processes."""
    parser.add_argument(
        "--jobs",
        type=processes,
        default=1,
        metavar="N",
        help=f"work on N processes; {what} for every N (%(default)s)",
    )


def progress_bar(wanted: bool | None, **options: Any) -> Any:
    """A tqdm bar on standard error."""
    from tqdm import tqdm

    there = sys.stderr is not None  # else it is closed
    show = there and (sys.stderr.isatty() if wanted is None else wanted)
    return tqdm(disable=not show, file=sys.stderr, dynamic_ncols=True, **options)
