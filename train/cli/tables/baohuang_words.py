"""What only Baohuang says, in English and Chinese."""

from __future__ import annotations

from typing import Final

VERBS: Final = {
    "pass": "过牌", "yield": "让牌", "claim": "申请接风", "grab": "抢庄", "decline": "不要",
    "cede": "让庄", "declare": "明保", "silent": "不说", "solo": "明度", "ti": "踢", "niu": "扭",
    "keep": "留皇", "abandon": "弃皇", "accept": "接皇", "refuse": "不接", "oppose": "反",
    "open": "亮", "call": "叫庄",
}  # fmt: skip
NAMED: Final = {
    "过": "pass",
    "让": "yield",
    "不抢": "decline",
    "不踢": "silent",
    "不扭": "silent",
    "不反": "silent",
}
PHASES: Final = {
    "grab": "抢庄", "call": "叫庄", "forced_call": "逼庄", "open": "亮牌", "solo": "明度",
    "solo_ti": "踢明度", "abandon": "弃皇", "offer": "接皇", "declare": "明保", "oppose": "反",
    "niu": "扭", "ti": "踢", "play": "出牌", "over": "结束",
}  # fmt: skip
PLACES_ZH: Final = ("头科", "二科", "三科", "二落", "大落")

TEXTS: Final = {
    "title": ("Baohuang", "保皇"),
    "emperor": ("emperor", "皇帝"),
    "guard": ("guard", "保"),
    "rebel": ("rebel", "革命党"),
    "unknown": ("?", "?"),
    "no_role": ("-", "-"),
    "place": ("out, place {}", "走了，第{}"),
    "crown": ("holds R*", "持皇"),
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
    "beat": ("to beat: {} by {}, circle {}", "要上的牌：{}，{}，第{}圈"),
    "redeal": ("nobody could call: the cards are dealt anew", "黄庄，重新发牌"),
    "void": ("nobody could call: no scores", "流局，不计分"),
    "refused": ("the crown was given up and nobody took it", "弃皇，无人接"),
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
