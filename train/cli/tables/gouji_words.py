"""What only Gouji says, in English and Chinese."""

from __future__ import annotations

from typing import Final

VERBS: Final = {
    "pass": "过牌", "yield": "让牌", "silent": "不说", "revolt": "革命", "waive": "放弃够死级",
    "take": "收下", "refuse": "不收", "offer": "还牌",
}  # fmt: skip
NAMED: Final = {
    "过": "pass", "让": "yield", "不烧": "silent", "不革命": "silent", "不放弃": "silent",
    "收": "take",
}  # fmt: skip
PHASES: Final = {
    "offer": "还贡", "answer_offer": "收还贡", "revolt": "革命", "waive": "够死级", "play": "出牌",
    "over": "结束",
}  # fmt: skip
PLACES_ZH: Final = ("头科", "二科", "三科", "四科", "二落", "大落")

TEXTS: Final = {
    "title": ("Gouji", "够级"),
    "even": ("even", "双号"),
    "odd": ("odd", "单号"),
    "many": (">{} cards", "超过{}张"),
    "melee": ("four in disorder", "四人乱缠"),
    "leads_first": ("leads first", "上班"),
    "revolution": ("revolution: {}", "革命：{}"),
    "previous": ("the hand before ended: {}", "上一局的名次：{}"),
    "headless": ("headless", "无头"),
    "duty": ("burns on", "烧牌中"),
    "deaths": ("{} death sets left", "还有{}次够死级"),
    "owes": ("returns {}", "还欠{}张"),
    "place": ("out, place {}", "走了，第{}"),
    "revolted": ("revolted, place {}", "革命，第{}"),
    "laid_down": ("revolted", "革命"),
    "gouji": (" (gouji)", "（够级）"),
    "death": (" (death: burners only)", "（够死级，只能烧）"),
    "to_beat": ("to beat: {} by {}{}", "要上的牌：{}，{}{}"),
    "lead_duty": (
        "you lead and burn on: a set with a joker, or your last",
        "你发牌，烧牌要烧到底：每套都带王，最后一套除外",
    ),
    "ask_burn": ("burn {} by {}{}?", "烧不烧：{}，{}{}？"),
    "ask_offer": ("tribute: which card do you return to {}?", "还贡：还给{}哪张？"),
    "ask_answer_offer": ("tribute: {} is offered in return: take it?", "还贡：还你{}，收吗？"),
    "ask_revolt": ("revolution: lay your cards down and be place 4?", "革命（四科）吗？"),
    "ask_waive": (
        "give up your three death sets, and be headless at once?",
        "放弃三次够死级，马上无头吗？",
    ),
    "burn_asked": ("whether he burns", "烧不烧"),
    "offered": ("offered: {}", "要还的牌：{}"),
    "redeal": ("two or more revolted: the cards are dealt anew", "两家以上革命，重新发牌"),
    "void": ("two or more revolted: no scores", "两家以上革命，不计分"),
    "recorded": ("the {} side records {}", "{}一方记{}分"),
    "draw": ("no side records points", "双方都不记分"),
    "sweep": (" (places 1, 2 and 3)", "（串三户）"),
    "help": (
        "  a number       that move of the list\n"
        "  KK2B, play KK2B  a set: naturals, then attached 2s, then B (small jokers),\n"
        "                 then R (big jokers)\n"
        "  pass, yield, silent, offer 9 ...  a move by its name\n"
        "  h              a hint\n"
        "  m              list all moves\n"
        "  ?              this help\n"
        "  q              leave",
        "  序号           列表里的那一手\n"
        "  KK2B, play KK2B  一套牌：先点数，再贴的 2，再 B（小王），再 R（大王）；T 是 10\n"
        "  过牌, 让牌, 不烧, offer 9 ...  直接说\n"
        "  h              提示\n"
        "  m              列出全部\n"
        "  ?              本说明\n"
        "  q              离开",
    ),
}
