"""What is shown to people, in English and Chinese; what only one game says is in ``tables``."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from types import ModuleType
from typing import Final

from lupai.envs.cards import shorten
from lupai.train.cli.tables import baohuang_words, gouji_words

WIDTH: Final = 80
LANGUAGES: Final = ("en", "zh")
_OWN: Final[dict[str, ModuleType]] = {"baohuang": baohuang_words, "gouji": gouji_words}

_SUITS: Final = {"s": "♠", "h": "♥", "c": "♣", "d": "♦"}
_JOKERS: Final = {"B": "小王", "R": "大王", "X": "特画"}
_WAYS: Final = {"open": "明独", "secret": "暗独"}

TEXTS: Final = {
    "seat": ("seat {}", "{}号"),
    "you": ("you", "你"),
    "cards": ("{} cards", "{}张"),
    "passed": ("passed", "已过"),
    "lead": ("you lead: any set", "你发牌：任意一套"),
    "asked": ("{} is asked ({})", "轮到{}（{}）"),
    "dealt": ("as dealt", "刚发完牌"),
    "step": ("step {} of {}", "第{}步，共{}步"),
    "open_cards": ("all cards open", "明牌"),
    "view_of": ("view of {}", "{}的视角"),
    "over": ("the hand is over", "这局打完了"),
    "fault": ("not possible: {}", "不可能：{}"),
    "fault_hidden": (
        "the record is not a possible hand from here on; lupai verify says why",
        "记录从这里起不成立，lupai verify 会说明原因",
    ),
    "belief": ("guard, says {}:", "谁是保（{}）："),
    "belief_bar": ("guard {} % ({})", "保 {}%（{}）"),
    "belief_nobody": ("nobody", "无人"),
    "no_step": ("there is no step {}", "没有第{}步"),
    "replay_help": (
        "  n, Enter   next step\n  p          step before\n  12         step 12\n"
        "  f, l       first, last step\n  q          leave",
        "  n，回车    下一步\n  p          上一步\n  12         第 12 步\n"
        "  f，l       第一步，最后一步\n  q          离开",
    ),
    "replay_prompt": ("[{}/{}] n p f l q ? > ", "[{}/{}] n p f l q ? > "),
    "hand": ("your hand ({}):", "你的牌（{}张）："),
    "moves": ("your moves:", "可以："),
    "more": ("{} more: m lists all, or type a set like 99B", "还有{}种：m 全列，或直接输入如 99B"),
    "prompt": ("move (? help)> ", "出牌（? 帮助）> "),
    "hint": ("hint: {}", "提示：{}"),
    "bye": ("bye; the hand is not finished", "再见，这局没打完"),
    "result": ("result", "结果"),
    "still_in": ("still in", "未走完"),
    "again": ("the same deal again: --seed {}", "同样的牌再来：--seed {}"),
    "both": (
        "{0!r} is number {0} ({1}) and also the set {0}: type 0{0} or play {0}",
        "{0!r} 既是序号 {0}（{1}）也是牌 {0}：请输入 0{0} 或 play {0}",
    ),
    "no_number": ("there is no move number {}", "没有序号 {}"),
    "illegal": ("{} is not legal now", "现在不能：{}"),
    "which": ("which of these? {}", "哪一个？{}"),
}


class Words:
    """Everything that is shown, in one language.

    Args:
        language: ``en`` or ``zh``.
        game: whose table it is.

    Attributes:
        zh: whether it is Chinese.
        named: other names that a person may type for a verb.
    """

    def __init__(self, language: str, game: str = "baohuang") -> None:
        self.zh = language == "zh"
        own = _OWN[game]
        self._texts: dict[str, tuple[str, str]] = TEXTS | own.TEXTS
        self._verbs: dict[str, str] = own.VERBS
        self._phases: dict[str, str] = own.PHASES
        self._places: tuple[str, ...] = own.PLACES_ZH
        self.named: dict[str, str] = {zh: verb for verb, zh in own.VERBS.items()} | own.NAMED

    def __call__(self, name: str, *values: object) -> str:
        """A text with its values put in."""
        return self._texts[name][self.zh].format(*values)

    @property
    def everything(self) -> str:
        """All characters of the Chinese texts."""
        texts = [zh for _, zh in self._texts.values()]
        return "".join([*texts, *self._verbs.values(), *self._phases.values(), *_SUITS.values()])

    def place(self, number: int) -> str:
        """Name of a finishing place, from 1."""
        return self._places[number - 1] if self.zh else f"place {number}"

    def phase(self, name: str) -> str:
        """Name of a phase."""
        return self._phases[name] if self.zh else name.replace("_", " ")

    def card(self, text: str) -> str:
        """A card of the notation, its star kept."""
        if not self.zh:
            return text
        star = "*" if text.endswith("*") else ""
        plain = text.removesuffix("*")
        if plain in _JOKERS:
            return _JOKERS[plain] + star
        return _SUITS[plain[1]] + _rank(plain[0]) + star

    def cards(self, text: str) -> str:
        """A set of the notation (``99B``)."""
        if not self.zh:
            return text
        out = ""
        for letter in text:
            if letter in _JOKERS:
                out += _JOKERS[letter]
            else:
                out += (" " if letter == "T" and out and out[-1] != "*" else "") + _rank(letter)
        return out

    def move(self, text: str) -> str:
        """A move, its cards suit-free or as in a record."""
        verb, _, rest = text.partition(" ")
        if verb == "play":
            if not self.zh:
                return rest
            if _suited(rest):
                return " ".join(self.card(c) for c in rest.split(" "))
            return self.cards(rest)
        if not self.zh:
            return text
        if verb == "call":
            card, _, way = rest.partition(" ")
            return f"{self._verbs[verb]} {self.card(card)} {_WAYS.get(way, '')}".rstrip()
        if verb == "offer":
            return f"{self._verbs[verb]} {self.card(rest) if _suited(rest) else self.cards(rest)}"
        return self._verbs[verb]


def _suited(cards: str) -> bool:
    return any(suit in cards for suit in _SUITS) or " " in cards


def _rank(letter: str) -> str:
    return "10" if letter == "T" else letter


def seat_name(words: Words, seat: int, me: int | None) -> str:
    """A seat by its number, oneself marked."""
    name = words("seat", seat)
    return f"{name} ({words('you')})" if seat == me else name


def clean(text: str, limit: int = 24) -> str:
    """A text from outside, cut, without what could steer a terminal."""
    return shorten("".join(c if c.isprintable() else "?" for c in text), limit)


def width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def pad(text: str, columns: int) -> str:
    """Text filled with spaces."""
    return text + " " * max(0, columns - width(text))


def flow(items: Iterable[str], indent: str = "  ", gap: str = "  ") -> list[str]:
    """Items side by side on lines of at most 80 columns."""
    out, line = [], indent
    for item in items:
        if line != indent and width(line) + len(gap) + width(item) > WIDTH:
            out.append(line)
            line = indent
        line += (gap if line != indent else "") + item
    return [*out, line] if line != indent else out


def can_show(text: str, encoding: str | None) -> bool:
    """Whether an output of this encoding can show a text."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
