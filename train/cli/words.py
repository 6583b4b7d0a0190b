"""Names of cards, moves and roles for people, in English and Chinese."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from lupai.envs.cards import shorten

WIDTH: Final = 80
LANGUAGES: Final = ("en", "zh")

VERBS: Final = {
    "pass": "过牌", "yield": "让牌", "claim": "申请接风", "grab": "抢庄", "decline": "不要",
    "cede": "让庄", "declare": "明保", "silent": "不说", "solo": "明度", "ti": "踢", "niu": "扭",
    "keep": "留皇", "abandon": "弃皇", "accept": "接皇", "refuse": "不接", "oppose": "反",
    "open": "亮", "call": "叫庄",
}  # fmt: skip
_SUITS: Final = {"s": "♠", "h": "♥", "c": "♣", "d": "♦"}
_JOKERS: Final = {"B": "小王", "R": "大王", "X": "特画"}
PHASES: Final = {
    "grab": "抢庄", "call": "叫庄", "forced_call": "逼庄", "open": "亮牌", "solo": "明度",
    "solo_ti": "踢明度", "abandon": "弃皇", "offer": "接皇", "declare": "明保", "oppose": "反",
    "niu": "扭", "ti": "踢", "play": "出牌", "over": "结束",
}  # fmt: skip
_WAYS: Final = {"open": "明独", "secret": "暗独"}

TEXTS: Final = {
    "title": ("Baohuang", "保皇"),
    "emperor": ("emperor", "皇帝"),
    "guard": ("guard", "保"),
    "rebel": ("rebel", "革命党"),
    "unknown": ("?", "?"),
    "no_role": ("-", "-"),
    "seat": ("seat {}", "{}号"),
    "you": ("you", "你"),
    "cards": ("{} cards", "{}张"),
    "place": ("out, place {}", "走了，第{}"),
    "crown": ("holds R*", "持皇"),
    "passed": ("passed", "已过"),
    "yielded": ("yielded", "已让"),
    "claimed": ("claims the lead", "要接风"),
    "called": ("called card: {}", "叫的牌：{}"),
    "multiplier": ("score x{}", "得分×{}"),
    "alone_grab": ("the emperor grabbed the crown and plays alone", "皇帝抢庄，独打四家"),
    "alone_open": ("the emperor plays alone, openly", "明独（明度）"),
    "alone_secret": ("you secretly play alone", "你是暗独（暗度）"),
    "alone_hidden": ("the emperor secretly plays alone", "暗独（暗度）"),
    "alone_known": ("the emperor plays alone; it was a secret", "暗独（暗度），已露"),
    "to_beat": ("to beat: {} by {} (circle {})", "上家的牌：{}，{}（第{}圈）"),
    "lead": ("you lead: any set", "你发牌：任意一套"),
    "ask_grab": ("grab the crown and play alone against four?", "抢庄（独打四家）吗？"),
    "ask_call": ("you hold R*: call a card, or cede", "你持皇：叫庄，或让给上家"),
    "ask_forced_call": ("everybody ceded: you must call", "逼庄：你必须叫"),
    "ask_open": ("show both marks and play alone openly?", "双皇保：亮牌明独吗？"),
    "ask_solo": ("play alone against four, openly?", "明度（独打四家）吗？"),
    "ask_solo_ti": ("double against the open soloist?", "踢明度吗？"),
    "ask_abandon": ("keep the crown, or give it up?", "留皇，还是弃皇？"),
    "ask_offer": ("the crown is offered to you: take it?", "有人弃皇：接吗？"),
    "ask_declare": ("say anything before the first lead?", "要明保吗？"),
    "ask_oppose": ("oppose, which doubles the score?", "反吗（加倍）？"),
    "ask_niu": ("double back?", "扭吗（再加倍）？"),
    "ask_ti": ("double once more?", "踢吗（再加倍）？"),
    "votes": ("votes so far: {}", "已有{}家"),
    "pile": ("cards laid to R* by ceders: {}", "贴牌：{}"),
    "asked": ("{} is asked ({})", "轮到{}（{}）"),
    "beat": ("to beat: {} by {}, circle {}", "要上的牌：{}，{}，第{}圈"),
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
    "redeal": ("nobody could call: the cards are dealt anew", "黄庄，重新发牌"),
    "result": ("result", "结果"),
    "void": ("nobody could call: no scores", "流局，不计分"),
    "refused": ("the crown was given up and nobody took it", "弃皇，无人接"),
    "still_in": ("still in", "未走完"),
    "again": ("the same deal again: --seed {}", "同样的牌再来：--seed {}"),
    "both": (
        "{0!r} is number {0} ({1}) and also the set {0}: type 0{0} or play {0}",
        "{0!r} 既是序号 {0}（{1}）也是牌 {0}：请输入 0{0} 或 play {0}",
    ),
    "no_number": ("there is no move number {}", "没有序号 {}"),
    "illegal": ("{} is not legal now", "现在不能：{}"),
    "which": ("which of these? {}", "哪一个？{}"),
    "help": (
        "  a number       that move of the list\n"
        "  99B, play 99B  a set: naturals, then B (small jokers), then R (big jokers);\n"
        "                 9*99 holds the hidden identity card, 999 does not;\n"
        "                 44X holds X, the guard's card above R where there is one\n"
        "  pass, yield, call 9c ...  a move by its name\n"
        "  h              a hint\n"
        "  m              list all moves\n"
        "  ?              this help\n"
        "  q              leave",
        "  序号           列表里的那一手\n"
        "  99B, play 99B  一套牌：先点数，再 B（小王），再 R（大王）；\n"
        "                 9*99 含暗保牌，999 不含；44X 含特画；T 是 10\n"
        "  过牌, 让牌, call 9c ...  直接说\n"
        "  h              提示\n"
        "  m              列出全部\n"
        "  ?              本说明\n"
        "  q              离开",
    ),
}
PLACES_ZH: Final = ("头科", "二科", "三科", "二落", "大落")


class Words:
    """Everything that is shown, in one language.

    Args:
        language: ``en`` or ``zh``.
    """

    def __init__(self, language: str) -> None:
        self.zh = language == "zh"

    def __call__(self, name: str, *values: object) -> str:
        """A text with its values put in."""
        return TEXTS[name][self.zh].format(*values)

    def place(self, number: int) -> str:
        """Name of a finishing place 1 … 5."""
        return PLACES_ZH[number - 1] if self.zh else f"place {number}"

    def phase(self, name: str) -> str:
        """Name of a phase."""
        return PHASES[name] if self.zh else name.replace("_", " ")

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
            return f"{VERBS[verb]} {self.card(card)} {_WAYS.get(way, '')}".rstrip()
        return VERBS[verb]


def _suited(cards: str) -> bool:
    return any(suit in cards for suit in _SUITS) or " " in cards


def _rank(letter: str) -> str:
    return "10" if letter == "T" else letter


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
