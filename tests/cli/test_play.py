"""`lupai play`, scripted: whole hands, both languages, 80 columns, and what a person may type."""

import re

import pytest

from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.envs import baohuang_v0
from lupai.envs.baohuang.actions import VERBS as ACTION_VERBS
from lupai.envs.baohuang.state import PHASE_NAMES, Phase, Solo, State
from lupai.envs.view import View
from lupai.train.cli.play import read_choice
from lupai.train.cli.table import SHOWN, shortlist, show_question, show_table
from lupai.train.cli.tables import baohuang_words
from lupai.train.cli.tables.baohuang import TABLE
from lupai.train.cli.tables.baohuang_words import PHASES, VERBS
from lupai.train.cli.words import TEXTS, Words, flow, width
from tests.cli.running import lupai, process

FIRST = b"1\n" * 600  # always the first move of the list


@pytest.mark.smoke
@pytest.mark.parametrize("against", ["random", "greedy"])
def test_a_whole_hand(against):
    done = lupai("play", "--seed", "3", "--against", against, stdin=FIRST)
    assert (done.status, done.err) == (0, "")
    *_, last = done.out.splitlines()
    assert last == "the same deal again: --seed 3"
    tail = done.out[done.out.index("\nresult\n") :]
    row = r"^  seat (\d)( \(you\))? +(emperor|guard|rebel) +place \d +([+-]\d+)$"
    rows = re.findall(row, tail, re.MULTILINE)
    assert [row[0] for row in rows] == list("01234")
    assert [row[1] != "" for row in rows] == [True] + [False] * 4
    assert sum(int(row[3]) for row in rows) == 0


RULES = (
    "shiwei", "weihai", "weihai;open_solo=false", "qingdao;guard_by=marked_small_joker",
    "qingdao;grab=false",
)  # fmt: skip


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_whole_hands_under_all_rules(rules, lang):
    """With every key now and then; the second move of a list says yes, the first says no."""
    script = b"?\nh\nm\n2\n1\n1\n" * 200
    for seed in range(3):
        words = ("--rules", rules, "--lang", lang, "--seed", str(seed), "--seat", str(seed))
        done = lupai("play", *words, "--against", "random", stdin=script)
        assert (done.status, done.err) == (0, "")
        assert max(width(line) for line in done.out.splitlines()) <= 80
        assert done.out.splitlines()[-1].endswith(f"--seed {seed}")
        assert rules in done.out


@pytest.mark.parametrize("rules", RULES)
def test_every_phase_has_its_question(rules):
    """In both languages, for whoever is asked; random players come into nearly every phase."""
    env, seen = baohuang_v0.raw_env(rules), set()
    agent = RandomAgent(3)
    for seed in range(25):
        env.reset(seed=seed)
        while not env.terminations["player_0"] and env.infos["player_0"]["phase"] != "play":
            view = env.view()
            for language in ("en", "zh"):
                words = Words(language)
                assert show_question(view, words)
                assert show_table(view, words)
                assert all(words.move(move) for move in view.legal)
                assert words.phase(view.phase)
            seen.add(view.phase)
            moves = [m for m in view.legal if m not in ("grab", "solo")]
            env.step(view.action_of(agent.act(view) if seed % 2 else moves[-1 if seed % 3 else 0]))
    assert len(seen) >= 2
    assert "call" in seen or "abandon" in seen or "open" in seen


def test_all_phases_and_verbs_have_words():
    for phase in PHASE_NAMES:
        assert phase in PHASES
        if phase not in ("play", "over"):
            assert f"ask_{phase}" in baohuang_words.TEXTS
    assert set(VERBS) == {*ACTION_VERBS, "call"}


def test_tributes_are_told():
    """What ceders laid to R* lies open on the table."""
    env = baohuang_v0.raw_env("shiwei;grab=false")
    env.reset(seed=2)
    for _ in range(3):
        env.step(env.action_of("cede"))
    laid = [line for line in show_table(env.view(), Words("en")) if line.startswith("cards laid")]
    assert len(laid) == 1
    assert len(laid[0].partition(": ")[2].split()) == 2


def test_a_secret_solo_is_told_apart():
    engine = baohuang_v0.Engine("weihai")
    state = State(1)
    state.phase, state.actor, state.emperor, state.solo = Phase.PLAY, 0, 1, Solo.SECRET
    state.identity_kind, state.identity_seat, state.marked_b, state.crown = 52, 1, 1, 1
    texts = {
        seat: " ".join(show_table(View.of(engine, state, seat), Words("en"))) for seat in (0, 1)
    }
    assert "alone" not in texts[0]
    assert "you secretly play alone" in texts[1]
    state.public, state.identity_seat = 1, -1
    for seat in (0, 1):
        text = " ".join(show_table(View.of(engine, state, seat), Words("en")))
        assert "the emperor plays alone; it was a secret" in text


def test_nobody_took_the_crown():
    """The end of a hand without a lead, and of one that stopped early."""
    roles = {"emperor": 2, "guard": None, "solo": None}
    info = {"roles": roles, "finish": [], "scores": [3, 3, -12, 3, 3]}
    text = "\n".join(TABLE.result(None, info, 0, Words("en")))
    assert "nobody took it" in text
    assert "place" not in text
    info = {"roles": roles, "finish": [4], "scores": [6, 6, -24, 6, 6]}
    text = "\n".join(TABLE.result(None, info, 0, Words("zh")))
    assert text.count("未走完") == 4
    assert "头科" in text


def test_the_same_seed_is_the_same_hand():
    outs = [lupai("play", "--seed", "9", "--seat", "2", stdin=FIRST).out for _ in range(2)]
    assert outs[0] == outs[1]
    assert "seat 2 (you)" in outs[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("seed", range(4))
def test_eighty_columns_and_every_list(lang, seed):
    script = b"?\nh\nm\n\n1\n" * 200
    done = lupai("play", "--lang", lang, "--seed", str(seed), "--seat", str(seed), stdin=script)
    assert done.status == 0
    assert max(width(line) for line in done.out.splitlines()) <= 80
    assert TEXTS["hint"][lang == "zh"].split("{")[0] in done.out


def test_chinese_names_cards_and_terms():
    done = lupai("play", "--lang", "zh", "--seed", "3", "--against", "random", stdin=FIRST)
    for word in ("皇帝", "革命党", "大王", "♠", "10", "过牌", "头科", "大落", "你的牌"):
        assert word in done.out
    assert "emperor" not in done.out


def test_a_terminal_without_chinese_gets_english():
    done = lupai("play", "--lang", "zh", "--seed", "3", stdin=b"q\n", encoding="ascii")
    assert done.status == 0
    assert "your hand" in done.out
    assert "has no Chinese" in done.err
    done = process("play", "--lang", "zh", stdin=b"\xff\xfe\nq\n", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("script", [b"", b"q\n", b"quit\n", b"1", b"\x80\x80\n\nh\n"])
def test_leaving_at_any_time(script):
    done = lupai("play", "--seed", "1", "--lang", "zh", stdin=script)
    assert done.status == 0
    assert done.out.endswith(TEXTS["bye"][1] + "\n")


def test_only_the_own_cards_are_shown():
    """All that is printed before anybody has played: 43 or 44 cards, the person's own."""
    done = lupai("play", "--seed", "5", "--seat", "4", stdin=b"2\nq\n")
    env = baohuang_v0.raw_env()
    env.reset(seed=5)
    own = sorted(env.record()["hands"][4].replace("R*", "R").split(" "))
    tables = done.out.split("your hand")[1:]
    cards = r"(?<![\w)])(?:[3-9TJQKA2][shcd]|B|R)(?![\w*])"
    shown = re.findall(cards, tables[0].split("grab the")[0])
    assert sorted(shown) == own


def test_hint_is_what_greedy_would_do():
    done = lupai("play", "--seed", "3", stdin=b"h\nq\n")
    env = baohuang_v0.raw_env()
    env.reset(seed=3)
    while env.agent_selection != "player_0":
        view = env.view()
        env.step(view.action_of(GreedyAgent().act(view)))
    hint = GreedyAgent().act(env.view()).removeprefix("play ")
    assert f"hint: {hint}\n" in done.out


def test_all_words_exist_in_both_languages():
    assert all(len(pair) == 2 and all(pair) for pair in TEXTS.values())
    for name, (english, chinese) in TEXTS.items():
        assert english.isascii(), name
        assert sorted(re.findall(r"\{.*?\}", english)) == sorted(re.findall(r"\{.*?\}", chinese))
    assert len(set(VERBS.values())) == len(VERBS)


SETS = ["3", "9", "9*", "99", "9*9", "TT", "99BR"]
LEGAL = ["pass", "yield", *(f"play {cards}" for cards in SETS)]
CALLS = ["call 9c", "call B open", "call B secret", "cede"]


@pytest.mark.parametrize(
    ("typed", "move"),
    [
        ("1", "pass"),
        ("4", "play 9"),
        ("#4", "play 9"),
        ("04", "play 9"),
        ("3", "play 3"),  # number and set agree
        ("play 9", "play 9"),
        ("PLAY 9", "play 9"),
        ("99", "play 99"),
        ("9 9", "play 99"),
        ("9*9", "play 9*9"),
        ("tt", "play TT"),
        ("99br", "play 99BR"),
        ("pass", "pass"),
        ("Pass", "pass"),
        ("过牌", "pass"),
        ("让", "yield"),
        ("0", None),
        ("10", None),
        ("88", None),
        ("9", None),  # number 9 and also a set: nothing is played
        ("grab", None),
        ("9c", None),
        ("²", None),
        ("1" * 5000, None),
        ("\x00 {} %s", None),
    ],
)
def test_what_a_person_types(typed, move):
    words = Words("en")
    chosen, answer = read_choice(typed, LEGAL, LEGAL, words)
    assert chosen == move
    assert (answer == "") == (move is not None)


def test_number_or_set_is_asked_back():
    _, answer = read_choice("9", LEGAL, LEGAL, Words("en"))
    assert answer == "'9' is number 9 (99BR) and also the set 9: type 09 or play 9"
    assert read_choice("09", LEGAL, LEGAL, Words("en"))[0] == "play 99BR"


@pytest.mark.parametrize(
    ("typed", "move", "says"),
    [
        ("9c", "call 9c", ""),
        ("call 9c", "call 9c", ""),
        ("叫庄 9c", "call 9c", ""),
        ("B open", "call B open", ""),
        ("call B", None, "which of these? call B open, call B secret"),
        ("B", None, "which of these? call B open, call B secret"),
        ("7c", None, "7c is not legal now"),
    ],
)
def test_calls_by_name(typed, move, says):
    assert read_choice(typed, CALLS, CALLS, Words("en")) == (move, says)


def test_shortlist_is_short_and_keeps_the_verbs():
    env = baohuang_v0.raw_env()
    for seed in range(5):
        env.reset(seed=seed)
        for step in range(120):
            legal = env.legal_moves()
            if not legal:
                break
            listed = shortlist(legal)
            assert 1 <= len(listed) <= SHOWN
            assert set(listed) <= set(legal)
            assert [m for m in legal if " " not in m][:SHOWN] == [m for m in listed if " " not in m]
            env.step(env.action_of(legal[(step * 7919) % len(legal)]))


def test_flow_breaks_wide_characters():
    lines = flow(["皇帝"] * 40)
    assert max(width(line) for line in lines) <= 80
    assert sum(line.count("皇帝") for line in lines) == 40
